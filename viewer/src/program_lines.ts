// Which lines Program shows: rows of the program, and instructions inside fusions that were opened.
import { count } from "./format";
import { Kind } from "./instructions";
import type { Model } from "./model";
import { RowKind } from "./rows";

export const filters = ["important", "communication", "computation", "all"];
export const figures = ["flops", "bytes", "wire", "seconds", "measured"] as const;
export type Figure = (typeof figures)[number];
export type Sums = { [figure in Figure]: Float64Array };

/** Whether anything is known of it. */
export function hasFigure(model: Model, figure: Figure): boolean {
  return figure === "seconds" ? model.hasTime : figure === "measured" ? model.hasMeasured : true;
}

export interface LineOptions { filter: string; heaviest: boolean; hits: Uint8Array | null; names: boolean }

export class ProgramLines {
  /** Figures of all rows, with those below them. */
  readonly sums: Sums;
  /** The largest figure of a line that is not open: the whole length of a bar. */
  most: { [figure in Figure]: number } = { flops: 0, bytes: 0, wire: 0, seconds: 0, measured: 0 };
  rows: number[] = [];
  /** The instruction inside a fusion that a line shows; -1: the line is the row itself. */
  inside: number[] = [];
  depths: number[] = [];
  readonly open = new Set<number>();
  readonly openFusions = new Set<number>();
  /** Grows when the lines change. */
  version = 0;
  private lineOfRow = new Map<number, number>();
  private lineOfInstr = new Map<number, number>();
  private readonly loops: Map<number, number>;
  private options: LineOptions = { filter: "important", heaviest: false, hits: null, names: false };

  constructor(readonly model: Model, given: string | undefined) {
    const { rows, instr } = model;
    this.loops = new Map(model.about.loops);
    this.sums = Object.fromEntries(figures.map((figure) => [figure, rows.sums(instr[figure])])) as Sums;
    if (given !== undefined) for (const row of given.split(".").filter((each) => /^\d+$/.test(each))) this.open.add(Number(row));
    else this.openAtFirst();
  }

  /** What holds little, and loops, are open at first: a page of lines says more than ten. */
  private openAtFirst(): void {
    const { rows } = this.model;
    const children = new Uint32Array(rows.count);
    for (let row = 0; row < rows.count; ++row) if (rows.parent[row]! >= 0) ++children[rows.parent[row]!]!;
    const holders: number[] = [RowKind.Loop, RowKind.Call, RowKind.Conditional, RowKind.Part, RowKind.Repeat];
    for (let row = 0; row < rows.count; ++row) if (holders.includes(rows.kind[row]!) && rows.depth[row]! < 6 && children[row]! <= 400) this.open.add(row);
  }

  get count(): number { return this.rows.length; }
  /** The instruction that a line is about; -1: several. */
  instrOf(line: number): number { return this.inside[line]! >= 0 ? this.inside[line]! : this.model.rows.first(this.rows[line]!); }
  lineOf(row: number): number { return this.lineOfRow.get(row) ?? -1; }
  lineOfInstruction(id: number): number { return this.lineOfInstr.get(id) ?? this.lineOfRow.get(this.model.rowOf(id)) ?? -1; }

  weight(row: number): number {
    return this.model.hasTime ? this.sums.seconds[row]! : this.sums.flops[row]! + 100 * (this.sums.bytes[row]! + this.sums.wire[row]!);
  }

  private wanted(row: number): boolean {
    const { rows, instr } = this.model;
    const kind = rows.kind[row]!;
    const { filter } = this.options;
    if (filter === "all") return true;
    if (kind === RowKind.Quiet || (rows.parent[row]! >= 0 && rows.kind[rows.parent[row]!] === RowKind.Quiet)) return false;
    const first = rows.first(row);
    const work = first < 0 ? Kind.Elementwise : instr.kind[first]!;
    // What holds others is shown where something below is.
    if (rows.end[row]! > row + 1 && kind !== RowKind.Light && kind !== RowKind.Start) return false;
    return filter === "communication" ? work === Kind.Collective : filter !== "computation" || work !== Kind.Collective;
  }

  allowedFor(options: LineOptions): Uint8Array {
    this.options = options;
    return this.allowed();
  }
  /** Which rows may be shown: those wanted, and what holds them. */
  private allowed(): Uint8Array {
    const { rows, instr } = this.model;
    const { hits } = this.options;
    const allowed = new Uint8Array(rows.count);
    if (hits) {
      for (let id = 0; id < instr.count; ++id) {
        const row = hits[id] ? this.model.rowOf(id) : -1;
        if (row >= 0) allowed[row] = 1;
      }
    } else {
      for (let row = 0; row < rows.count; ++row) allowed[row] = this.wanted(row) ? 1 : 0;
    }
    for (let row = rows.count - 1; row >= 0; --row) if (allowed[row] && rows.parent[row]! >= 0) allowed[rows.parent[row]!] = 1;
    return allowed;
  }

  /** The lines anew; without options, with those it had. */
  flatten(options = this.options): void {
    this.options = options;
    const { rows } = this.model;
    const { hits, heaviest } = options;
    const allowed = this.allowed();
    ++this.version;
    this.rows = []; this.inside = []; this.depths = [];
    this.lineOfRow.clear(); this.lineOfInstr.clear();
    // Rows are walked with a stack: a text may nest deeper than the browser's.
    const todo: number[] = [];
    const pushChildren = (from: number, end: number) => {
      const children: number[] = [];
      for (let row = from; row < end; row = rows.end[row]!) if (allowed[row]) children.push(row);
      if (heaviest) children.sort((a, b) => this.weight(a) - this.weight(b)); else children.reverse();
      for (const child of children) todo.push(child);
    };
    pushChildren(0, rows.count);
    while (todo.length > 0) {
      const row = todo.pop()!;
      this.add(row, -1, rows.depth[row]!);
      if ((hits || this.open.has(row)) && rows.end[row]! > row + 1) pushChildren(row + 1, rows.end[row]!);
      const first = rows.first(row);
      if (first >= 0 && this.holdsFused(first) && (hits || this.openFusions.has(first))) this.addFused(row, first, rows.depth[row]! + 1);
    }
    this.findMost();
  }

  private add(row: number, id: number, depth: number): void {
    if (id < 0) this.lineOfRow.set(row, this.rows.length);
    else this.lineOfInstr.set(id, this.rows.length);
    this.rows.push(row); this.inside.push(id); this.depths.push(depth);
  }
  private addFused(row: number, id: number, depth: number): void {
    const { hits } = this.options;
    for (const computation of this.model.calls(id)) {
      const [first, end] = this.model.bodyOf(computation);
      for (let inner = first; inner < end; ++inner) {
        if (this.model.rows.ofInstr[inner]! >= 0 || (hits && !hits[inner])) continue;
        this.add(row, inner, depth);
        if (this.openFusions.has(inner) || hits) this.addFused(row, inner, depth + 1);
      }
    }
  }
  private findMost(): void {
    this.most = { flops: 0, bytes: 0, wire: 0, seconds: 0, measured: 0 };
    for (let line = 0; line < this.rows.length; ++line) {
      if (this.inside[line]! >= 0 || this.isOpen(line)) continue;
      for (const figure of figures) this.most[figure] = Math.max(this.most[figure], this.sums[figure][this.rows[line]!]!);
    }
  }

  private holdsFused(id: number): boolean {
    const calls = this.model.calls(id);
    return calls.length > 0 && this.model.rows.ofInstr[this.model.bodyOf(calls[0]!)[0]] === -1;
  }
  holdsRows(line: number): boolean { return this.inside[line]! < 0 && this.model.rows.end[this.rows[line]!]! > this.rows[line]! + 1; }
  canOpen(line: number): boolean {
    const id = this.instrOf(line);
    return this.holdsRows(line) || (id >= 0 && this.holdsFused(id));
  }
  isOpen(line: number): boolean {
    if (this.options.hits) return this.holdsRows(line);
    return this.holdsRows(line) ? this.open.has(this.rows[line]!) : this.openFusions.has(this.instrOf(line));
  }

  /** Folds or unfolds a line, and all below it if asked. */
  toggle(line: number, all: boolean, to?: boolean): void {
    if (line < 0 || !this.canOpen(line) || this.options.hits) return;
    const row = this.rows[line]!;
    const isRow = this.holdsRows(line);
    const set = isRow ? this.open : this.openFusions;
    const key = isRow ? row : this.instrOf(line);
    const open = to ?? !set.has(key);
    if (open) set.add(key); else set.delete(key);
    if (all && isRow) for (let below = row; below < this.model.rows.end[row]!; ++below) if (open) this.open.add(below); else this.open.delete(below);
    this.flatten();
  }

  /** Opens what folds an instruction away. */
  reveal(id: number): void {
    const { rows } = this.model;
    const own = this.model.rowOf(id);
    for (let row = own < 0 ? -1 : rows.parent[own]!; row >= 0; row = rows.parent[row]!) this.open.add(row);
    this.flatten();
  }

  /** The words of a line: what it is, and over which axis. */
  words(line: number): [string, string] { return this.wordsOf(this.rows[line]!, this.inside[line]!); }
  wordsOf(row: number, inside: number): [string, string] {
    const { rows } = this.model;
    const fused = inside >= 0;
    const id = fused ? inside : rows.first(row);
    const kind = fused ? RowKind.Op : rows.kind[row]!;
    if (kind === RowKind.Repeat) return [`× ${count(rows.repeats[row]!)} alike`, ""];
    if (id < 0) return [this.model.string(rows.words[row]!), ""];
    if (this.options.names) return [this.model.name(id), this.model.words(id)];
    let words = this.model.words(id);
    if (kind === RowKind.Start && !words.endsWith("-start")) words += " start";
    if (kind === RowKind.Done && !words.endsWith("-done")) words += " done";
    words = words.replace(/-(start|done)$/, " $1");
    if (kind === RowKind.Loop) {
      const trips = this.loops.get(id) ?? -1;
      words = trips >= 0 ? `while, ${count(trips)} round${trips === 1 ? "" : "s"}` : "while, ? rounds";
    }
    const members = fused ? 1 : rows.memberCount(row);
    if (members > 1 && !this.options.hits && (rows.parent[row]! < 0 || rows.kind[rows.parent[row]!] !== RowKind.Repeat)) words += ` × ${count(members)}`;
    return [words, this.model.axisOf.get(id) ?? ""];
  }

  /** How often the instructions of a row run in a step. */
  times(line: number): number {
    const { rows, instr } = this.model;
    if (this.inside[line]! >= 0) return instr.times[this.inside[line]!]!;
    const row = this.rows[line]!;
    if (rows.kind[row] === RowKind.Repeat || rows.first(row) < 0 || rows.kind[row] === RowKind.Done) return 0;
    let times = 0;
    for (let at = rows.memberStart(row); at < rows.memberEnd[row]!; ++at) times += instr.times[rows.members[at]!]!;
    return times;
  }
}
