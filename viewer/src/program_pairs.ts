// Two modules as one table: rows that are the same op in both stand in one line, with A, B and the change.
import { type Cell, exact } from "./cells";
import { visible } from "./dom";
import { Kind } from "./instructions";
import type { Model } from "./model";
import { type Figure, figures, type LineOptions, ProgramLines } from "./program_lines";
import { figureText, figureTitles, kIndent, lastPart, rowMarks } from "./program_table";
import { RowKind } from "./rows";
import { type Column, type TableSource, VirtualTable } from "./table";
import type { Page } from "./view";

const kNoMatch = 0xffffffff;

/** A row of A, of B, or of both; -1: it is not there. */
export interface Pair { a: number; b: number }

/** Of each row of A the row of B that has most of its instructions; -1: none has. */
function partners(a: Model, b: Model, bOf: Uint32Array): Int32Array {
  const out = new Int32Array(a.rows.count).fill(-1);
  const votes: Map<number, number>[] = Array.from({ length: a.rows.count }, () => new Map<number, number>());
  for (let row = a.rows.count - 1; row >= 0; --row) {
    const own = votes[row]!;
    for (let at = a.rows.memberStart(row); at < a.rows.memberEnd[row]!; ++at) {
      const other = bOf[a.rows.members[at]!]!;
      const found = other === kNoMatch ? -1 : b.rows.ofInstr[other]!;
      if (found >= 0) own.set(found, (own.get(found) ?? 0) + 1);
    }
    let best = 0;
    for (const [found, count] of own) if (count > best) { best = count; out[row] = found; }
    const parent = a.rows.parent[row]!;
    const above = out[row]! >= 0 ? b.rows.parent[out[row]!]! : -1;
    if (parent >= 0 && above >= 0 && a.rows.memberCount(parent) === 0) votes[parent]!.set(above, (votes[parent]!.get(above) ?? 0) + 1);
  }
  return out;
}

export class ProgramPairs implements TableSource {
  readonly table = new VirtualTable(this, "both programs");
  lines: Pair[] = [];
  depths: number[] = [];
  version = 0;
  private readonly sides: [ProgramLines, ProgramLines];
  private readonly partner: Int32Array;
  private readonly marks: [Uint8Array, Uint8Array];
  private readonly open = new Set<string>();
  private keys: string[] = [];
  private most = 1;

  constructor(private readonly page: Page, bOf: Uint32Array, private readonly act: { select(line: number): void; toggle(line: number, all: boolean): void }) {
    const [a, b] = [page.models[0]!, page.models[1]!];
    this.sides = [new ProgramLines(a, undefined), new ProgramLines(b, undefined)];
    this.partner = partners(a, b, bOf);
    this.marks = [rowMarks(a), rowMarks(b)];
    for (const row of this.sides[0].open) this.open.add(`a${row}`);
    for (const row of this.sides[1].open) this.open.add(`b${row}`);
  }

  private get figure(): Figure {
    const given = this.page.settings.get("of") as Figure | undefined;
    return given && figures.includes(given) ? given : this.page.models[0]!.hasTime ? "seconds" : "bytes";
  }
  private key(pair: Pair): string { return pair.a >= 0 ? `a${pair.a}` : `b${pair.b}`; }
  private children(side: 0 | 1, row: number, allowed: Uint8Array): number[] {
    const { rows } = this.page.models[side]!;
    const out: number[] = [];
    for (let at = row + 1; at < (row < 0 ? rows.count : rows.end[row]!); at = rows.end[at]!) if (allowed[at]) out.push(at);
    return out;
  }

  /** In A's order; what only B has stands where B has it. */
  private merged(pair: Pair, allowed: [Uint8Array, Uint8Array]): Pair[] {
    const inA = pair.a === -1 && pair.b >= 0 ? [] : this.children(0, pair.a, allowed[0]);
    const inB = pair.b === -1 && pair.a >= 0 ? [] : this.children(1, pair.b, allowed[1]);
    const wanted = new Map(inB.map((row, i) => [row, i]));
    const partnerOf = new Map<number, number>();
    const taken = new Set<number>();
    for (const row of inA) { const other = this.partner[row]!; if (wanted.has(other) && !taken.has(other)) { partnerOf.set(row, other); taken.add(other); } }
    const out: Pair[] = [];
    let next = 0;
    const upTo = (end: number) => { for (; next < end; ++next) if (!taken.has(inB[next]!)) out.push({ a: -1, b: inB[next]! }); };
    for (const row of inA) {
      const other = partnerOf.get(row) ?? -1;
      if (other >= 0) upTo(wanted.get(other)!);
      out.push({ a: row, b: other });
    }
    upTo(inB.length);
    return out;
  }

  flatten(options: LineOptions, hits: (Uint8Array | null)[]): void {
    ++this.version;
    const allowed = this.sides.map((side, i) => side.allowedFor({ ...options, hits: hits[i] ?? null })) as [Uint8Array, Uint8Array];
    this.lines = []; this.depths = [];
    const searching = hits.some((each) => each !== null);
    const todo: { pair: Pair; depth: number }[] = [];
    const push = (pair: Pair, depth: number) => {
      const below = this.merged(pair, allowed);
      if (options.heaviest) below.sort((x, y) => Math.abs(this.change(y)) - Math.abs(this.change(x)));
      for (const each of below.reverse()) todo.push({ pair: each, depth });
    };
    push({ a: -1, b: -1 }, 0);
    while (todo.length > 0) {
      const { pair, depth } = todo.pop()!;
      this.lines.push(pair);
      this.depths.push(depth);
      if (this.holds(pair) && (searching || this.open.has(this.key(pair)))) push(pair, depth + 1);
    }
    this.most = this.lines.reduce((most, pair) => (this.holds(pair) ? most : Math.max(most, this.value(0, pair.a), this.value(1, pair.b))), 1e-300);
  }

  private holds(pair: Pair): boolean {
    const below = (side: 0 | 1, row: number) => row >= 0 && this.page.models[side]!.rows.end[row]! > row + 1;
    return below(0, pair.a) || below(1, pair.b);
  }
  value(side: 0 | 1, row: number): number { return row < 0 ? 0 : this.sides[side].sums[this.figure][row]!; }
  change(pair: Pair): number { return this.value(1, pair.b) - this.value(0, pair.a); }
  /** Which module and row a line selects: A's where there is one. */
  target(line: number): { module: 0 | 1; row: number } {
    const pair = this.lines[line]!;
    return pair.a >= 0 ? { module: 0, row: pair.a } : { module: 1, row: pair.b };
  }
  lineOf(module: number, row: number): number { return this.lines.findIndex((pair) => (module === 0 ? pair.a : pair.b) === row); }
  canOpen(line: number): boolean { return this.holds(this.lines[line]!); }
  isOpen(line: number): boolean { return this.open.has(this.key(this.lines[line]!)); }
  toggle(line: number, to?: boolean): void {
    const key = this.key(this.lines[line]!);
    if (to ?? !this.open.has(key)) this.open.add(key); else this.open.delete(key);
  }
  mark(pair: Pair): string {
    if (pair.a < 0) return "+";
    if (pair.b < 0) return "−";
    return this.marks[0][pair.a] || this.marks[1][pair.b] ? "~" : "=";
  }

  // ---- the table
  columns(): Column[] {
    const title = figureTitles[this.figure];
    const columns: Column[] = [
      { key: "what", title: "what", width: 300, class: "what" }, { key: "type", title: "type", width: 0, class: "mono" },
      { key: "a", title: `A: ${title}`, width: 104, class: "num" }, { key: "b", title: `B: ${title}`, width: 104, class: "num" },
      { key: "change", title: "B − A", width: 92, class: "num" }, { key: "source", title: "source", width: 128, class: "left-cut" }];
    this.keys = columns.map((column) => column.key);
    return columns;
  }
  count(): number { return this.lines.length; }
  level(line: number): number { return this.depths[line]!; }
  expanded(line: number): boolean | undefined { return this.canOpen(line) ? this.isOpen(line) : undefined; }

  fillSum(cells: Cell[]): boolean {
    const totals = this.page.models.map((model, side) => { let sum = 0; for (let row = 0; row < model.rows.count; row = model.rows.end[row]!) sum += this.value(side as 0 | 1, row); return sum; });
    const text: { [key: string]: string } = { what: "per step", a: figureText(this.figure, totals[0]!), b: figureText(this.figure, totals[1]!), change: this.signed(totals[1]! - totals[0]!) };
    this.keys.forEach((key, i) => { cells[i]!.text(text[key] ?? ""); if (key === "what") cells[i]!.element.style.paddingLeft = "45px"; });
    return true;
  }
  private signed(value: number): string {
    return value === 0 ? "" : `${value > 0 ? "+" : "−"}${figureText(this.figure, Math.abs(value))}`;
  }

  fill(line: number, tr: HTMLElement, cells: Cell[]): void {
    const pair = this.lines[line]!;
    const { module, row } = this.target(line);
    const model = this.page.models[module]!;
    const id = model.rows.first(row);
    const kind = model.rows.kind[row]!;
    const work = kind === RowKind.Light ? Kind.Elementwise : kind === RowKind.Quiet ? Kind.None : id < 0 ? Kind.Control : model.instr.kind[id]!;
    const open = this.canOpen(line) && this.isOpen(line);
    tr.classList.toggle("bold", open && kind !== RowKind.Light && kind !== RowKind.Quiet);
    tr.classList.toggle("pale", kind === RowKind.Quiet || kind === RowKind.Done);
    const [words, aside] = this.sides[module].wordsOf(row, -1);
    const types = [[0, pair.a], [1, pair.b]].filter(([, at]) => at! >= 0).map(([side, at]) => { const first = this.page.models[side!]!.rows.first(at!); return first < 0 ? "" : this.page.models[side!]!.type(first); });
    const bar = (side: 0 | 1, at: number) => (open ? 0 : this.value(side, at) / this.most);
    const color = work === Kind.None || work === Kind.Control ? Kind.Move : work;
    for (let i = 0; i < this.keys.length; ++i) {
      const cell = cells[i]!;
      switch (this.keys[i]) {
        case "what": cell.what({ indent: 6 + kIndent * Math.min(this.depths[line]!, 12), mark: this.mark(pair), fold: this.canOpen(line) ? (open ? "▾" : "▸") : "", inner: false, kind: work, words, aside }); break;
        case "type": cell.text(visible([...new Set(types)].join(" → "), 120)); break;
        case "a": cell.number(pair.a < 0 ? "" : blank(figureText(this.figure, this.value(0, pair.a))), bar(0, pair.a), color); break;
        case "b": cell.number(pair.b < 0 ? "" : blank(figureText(this.figure, this.value(1, pair.b))), bar(1, pair.b), color); break;
        case "change": { const change = this.change(pair); cell.number(this.signed(change), open ? 0 : Math.abs(change) / this.most, change > 0 ? Kind.Collective : Kind.Product); break; }
        default: cell.text(id < 0 ? "" : visible(lastPart(model.source(id))));
      }
    }
  }
  hint(line: number, key: string): string {
    const pair = this.lines[line]!;
    if (key === "a") return exact(this.value(0, pair.a));
    if (key === "b") return exact(this.value(1, pair.b));
    return key === "change" ? exact(this.change(pair)) : "";
  }
  click(line: number, event: MouseEvent): void {
    if ((event.target as HTMLElement).classList.contains("fold")) this.act.toggle(line, event.shiftKey);
    else this.act.select(line);
  }

  csv(): (string | number)[][] {
    const name = (side: 0 | 1, row: number) => { const id = row < 0 ? -1 : this.page.models[side]!.rows.first(row); return id < 0 ? "" : this.page.models[side]!.name(id); };
    return [["level", "mark", "what", "a", "b", `a_${this.figure}`, `b_${this.figure}`, "change"], ...this.lines.map((pair, line): (string | number)[] => {
      const { module, row } = this.target(line);
      return [this.depths[line]!, { "=": "same", "~": "changed", "+": "only B", "−": "only A" }[this.mark(pair)]!, this.sides[module].wordsOf(row, -1).join(" ").trim(), name(0, pair.a), name(1, pair.b), this.value(0, pair.a), this.value(1, pair.b), this.change(pair)];
    })];
  }
}

const blank = (text: string) => (/^0( |$)/.test(text) ? "" : text);
