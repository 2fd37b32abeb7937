// Search. All terms of a query must match. A term is a word in the HLO line, field:word, >1GiB or >1ms.
import { parseBytes } from "./format";
import type { Model } from "./model";

type Predicate = (id: number) => boolean;

/** 1 for each matching instruction, 0 for the others; null for an empty query. */
export async function search(model: Model, query: string): Promise<Uint8Array | null> {
  const terms = query.toLowerCase().split(/\s+/).filter((term) => term !== "");
  if (terms.length === 0) return null;
  const hits = new Uint8Array(model.instr.count).fill(1);
  for (const term of terms) {
    const predicate = fieldPredicate(model, term);
    if (predicate) {
      for (let id = 0; id < hits.length; ++id) if (hits[id] && !predicate(id)) hits[id] = 0;
    } else {
      await keepMatchingLines(model, term, hits);
    }
  }
  return hits;
}

function fieldPredicate(model: Model, term: string): Predicate | null {
  const field = /^(name|opcode|scope|line|type|axis):(.*)$/.exec(term);
  const instr = model.instr;
  if (field) {
    const word = field[2]!;
    switch (field[1]) {
      case "name": return (id) => instr.names[id]!.toLowerCase().includes(word);
      case "axis": return (id) => (model.axisOf.get(id) ?? "").toLowerCase().includes(word);
      default: {
        // Strings are interned, so each is tested once.
        const matches = new Uint8Array(model.strings.length);
        model.strings.forEach((text, i) => { matches[i] = text !== "" && text.toLowerCase().includes(word) ? 1 : 0; });
        const column = { opcode: instr.opcode, scope: instr.scope, line: instr.source, type: instr.type }[field[1] as "opcode"];
        return (id) => matches[column[id]!] === 1;
      }
    }
  }
  const bound = /^>\s*([0-9.]+)\s*(s|ms|us|µs|ns)$/.exec(term);
  if (bound) {
    const minSeconds = Number(bound[1]) * { s: 1, ms: 1e-3, us: 1e-6, "µs": 1e-6, ns: 1e-9 }[bound[2] as "s"];
    return (id) => instr.seconds[id]! > minSeconds;
  }
  const minBytes = term.startsWith(">") ? parseBytes(term.slice(1)) : undefined;
  if (minBytes !== undefined) return (id) => instr.bytes[id]! > minBytes || instr.wire[id]! > minBytes;
  return null;
}

/** Clears the hits of all lines that do not contain `word`. */
async function keepMatchingLines(model: Model, word: string, hits: Uint8Array): Promise<void> {
  const { lower, start } = await model.lines();
  let line = 0;
  for (let offset = lower.indexOf(word); ; offset = lower.indexOf(word, start[line]!)) {
    const next = offset < 0 ? hits.length : lineContaining(start, offset, line);
    hits.fill(0, line, next);
    if (offset < 0) return;
    line = next + 1;
    if (line >= hits.length) return;
  }
}

/** The last line that begins at or before `offset`. The search starts at line `first`. */
function lineContaining(start: Uint32Array, offset: number, first: number): number {
  let low = first, high = start.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (start[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
