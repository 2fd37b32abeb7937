// Terms that must all hold: words anywhere in the HLO line, field:word, >1GiB, >1ms.
import { bytesNamed } from "./format";
import type { Model } from "./model";

type Test = (id: number) => boolean;

/** Of each instruction whether it is a hit; null for an empty query. */
export async function search(model: Model, query: string): Promise<Uint8Array | null> {
  const terms = query.toLowerCase().split(/\s+/).filter((term) => term !== "");
  if (terms.length === 0) return null;
  const hits = new Uint8Array(model.instr.count).fill(1);
  for (const term of terms) {
    const test = fieldTest(model, term);
    if (test) {
      for (let id = 0; id < hits.length; ++id) if (hits[id] && !test(id)) hits[id] = 0;
    } else {
      await keepLinesWith(model, term, hits);
    }
  }
  return hits;
}

function fieldTest(model: Model, term: string): Test | null {
  const field = /^(name|opcode|scope|line|type|axis):(.*)$/.exec(term);
  const instr = model.instr;
  if (field) {
    const word = field[2]!;
    switch (field[1]) {
      case "name": return (id) => instr.names[id]!.toLowerCase().includes(word);
      case "axis": return (id) => (model.axisOf.get(id) ?? "").toLowerCase().includes(word);
      default: {
        // Equal strings are one: each is looked at once.
        const known = new Uint8Array(model.strings.length);
        model.strings.forEach((text, i) => { known[i] = text !== "" && text.toLowerCase().includes(word) ? 1 : 0; });
        const column = { opcode: instr.opcode, scope: instr.scope, line: instr.source, type: instr.type }[field[1] as "opcode"];
        return (id) => known[column[id]!] === 1;
      }
    }
  }
  const bound = /^>\s*([0-9.]+)\s*(s|ms|us|µs|ns)$/.exec(term);
  if (bound) {
    const least = Number(bound[1]) * { s: 1, ms: 1e-3, us: 1e-6, "µs": 1e-6, ns: 1e-9 }[bound[2] as "s"];
    return (id) => instr.seconds[id]! > least;
  }
  const size = term.startsWith(">") ? bytesNamed(term.slice(1)) : undefined;
  if (size !== undefined) return (id) => instr.bytes[id]! > size || instr.wire[id]! > size;
  return null;
}

async function keepLinesWith(model: Model, word: string, hits: Uint8Array): Promise<void> {
  const { lower, start } = await model.lines();
  let line = 0;
  for (let at = lower.indexOf(word); ; at = lower.indexOf(word, start[line]!)) {
    const next = at < 0 ? hits.length : lineAt(start, at, line);
    hits.fill(0, line, next);
    if (at < 0) return;
    line = next + 1;
    if (line >= hits.length) return;
  }
}

/** The last line that begins at or before `at`, not before `from`. */
function lineAt(start: Uint32Array, at: number, from: number): number {
  let low = from, high = start.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (start[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
