// The visible lines of Program: rows of the program, and instructions inside expanded fusions.
import { formatCount } from "./format";
import { Kind } from "./instructions";
import type { Model } from "./model";
import { RowKind } from "./rows";

export const filters = ["important", "communication", "computation", "all"];
export const rowMetrics = ["flops", "bytes", "wire", "seconds", "measured"] as const;
export type RowMetric = (typeof rowMetrics)[number];
export type Sums = { [metric in RowMetric]: Float64Array };

/** True if the module has values of a metric. */
export function hasMetric(model: Model, metric: RowMetric): boolean {
  return metric === "seconds" ? model.hasTime : metric === "measured" ? model.hasMeasured : true;
}

export interface LineOptions { filter: string; heaviestFirst: boolean; hits: Uint8Array | null; showNames: boolean }

export class ProgramLines {
  /** Metrics of each row, including those of the rows below it. */
  readonly sums: Sums;
  /** The largest value of each metric among folded lines: the full length of a bar. */
  maxima: { [metric in RowMetric]: number } = { flops: 0, bytes: 0, wire: 0, seconds: 0, measured: 0 };
  rows: number[] = [];
  /** For a line inside a fusion, its instruction; -1: the line shows a row. */
  fusedInstr: number[] = [];
  depths: number[] = [];
  readonly open = new Set<number>();
  readonly openFusions = new Set<number>();
  /** Incremented when the lines change. */
  version = 0;
  private lineOfRow = new Map<number, number>();
  private lineOfInstr = new Map<number, number>();
  private readonly loops: Map<number, number>;
  private options: LineOptions = { filter: "important", heaviestFirst: false, hits: null, showNames: false };

  constructor(readonly model: Model, openSetting: string | undefined) {
    const { rows, instr } = model;
    this.loops = new Map(model.about.loops);
    this.sums = Object.fromEntries(rowMetrics.map((metric) => [metric, rows.sums(instr[metric])])) as Sums;
    if (openSetting !== undefined) for (const row of openSetting.split(".").filter((each) => /^\d+$/.test(each))) this.open.add(Number(row));
    else this.openByDefault();
  }

  /** Opens loops, calls, conditionals and repeats, unless they are deep or have many children. */
  private openByDefault(): void {
    const { rows } = this.model;
    const children = new Uint32Array(rows.count);
    for (let row = 0; row < rows.count; ++row) if (rows.parent[row]! >= 0) ++children[rows.parent[row]!]!;
    const openKinds: number[] = [RowKind.Loop, RowKind.Call, RowKind.Conditional, RowKind.Part, RowKind.Repeat];
    for (let row = 0; row < rows.count; ++row) if (openKinds.includes(rows.kind[row]!) && rows.depth[row]! < 6 && children[row]! <= 400) this.open.add(row);
  }

  get count(): number { return this.rows.length; }
  /** The instruction that a line shows; -1: it shows several. */
  instrOf(line: number): number { return this.fusedInstr[line]! >= 0 ? this.fusedInstr[line]! : this.model.rows.first(this.rows[line]!); }
  lineOf(row: number): number { return this.lineOfRow.get(row) ?? -1; }
  lineOfInstruction(id: number): number { return this.lineOfInstr.get(id) ?? this.lineOfRow.get(this.model.rowOf(id)) ?? -1; }

  weight(row: number): number {
    return this.model.hasTime ? this.sums.seconds[row]! : this.sums.flops[row]! + 100 * (this.sums.bytes[row]! + this.sums.wire[row]!);
  }

  private matchesFilter(row: number): boolean {
    const { rows, instr } = this.model;
    const kind = rows.kind[row]!;
    const { filter } = this.options;
    if (filter === "all") return true;
    if (kind === RowKind.NoWork || (rows.parent[row]! >= 0 && rows.kind[rows.parent[row]!] === RowKind.NoWork)) return false;
    const first = rows.first(row);
    const workKind = first < 0 ? Kind.Elementwise : instr.kind[first]!;
    // A row with children is shown if one of them is shown.
    if (rows.end[row]! > row + 1 && kind !== RowKind.Minor && kind !== RowKind.Start) return false;
    return filter === "communication" ? workKind === Kind.Collective : filter !== "computation" || workKind !== Kind.Collective;
  }

  visibleRowsFor(options: LineOptions): Uint8Array {
    this.options = options;
    return this.visibleRows();
  }
  /** The rows that match the search or the filter, and their ancestors. */
  private visibleRows(): Uint8Array {
    const { rows, instr } = this.model;
    const { hits } = this.options;
    const visible = new Uint8Array(rows.count);
    if (hits) {
      for (let id = 0; id < instr.count; ++id) {
        const row = hits[id] ? this.model.rowOf(id) : -1;
        if (row >= 0) visible[row] = 1;
      }
    } else {
      for (let row = 0; row < rows.count; ++row) visible[row] = this.matchesFilter(row) ? 1 : 0;
    }
    for (let row = rows.count - 1; row >= 0; --row) if (visible[row] && rows.parent[row]! >= 0) visible[rows.parent[row]!] = 1;
    return visible;
  }

  /** Recomputes the lines, by default with the previous options. */
  flatten(options = this.options): void {
    this.options = options;
    const { rows } = this.model;
    const { hits, heaviestFirst } = options;
    const visible = this.visibleRows();
    ++this.version;
    this.rows = []; this.fusedInstr = []; this.depths = [];
    this.lineOfRow.clear(); this.lineOfInstr.clear();
    // Iterative, because a module may nest deeper than the browser's call stack.
    const pending: number[] = [];
    const pushChildren = (from: number, end: number) => {
      const children: number[] = [];
      for (let row = from; row < end; row = rows.end[row]!) if (visible[row]) children.push(row);
      if (heaviestFirst) children.sort((a, b) => this.weight(a) - this.weight(b)); else children.reverse();
      for (const child of children) pending.push(child);
    };
    pushChildren(0, rows.count);
    while (pending.length > 0) {
      const row = pending.pop()!;
      this.addLine(row, -1, rows.depth[row]!);
      if ((hits || this.open.has(row)) && rows.end[row]! > row + 1) pushChildren(row + 1, rows.end[row]!);
      const first = rows.first(row);
      if (first >= 0 && this.hasFusedBody(first) && (hits || this.openFusions.has(first))) this.addFusedLines(row, first, rows.depth[row]! + 1);
    }
    this.updateMaxima();
  }

  private addLine(row: number, id: number, depth: number): void {
    if (id < 0) this.lineOfRow.set(row, this.rows.length);
    else this.lineOfInstr.set(id, this.rows.length);
    this.rows.push(row); this.fusedInstr.push(id); this.depths.push(depth);
  }
  private addFusedLines(row: number, id: number, depth: number): void {
    const { hits } = this.options;
    for (const computation of this.model.calls(id)) {
      const [first, end] = this.model.bodyOf(computation);
      for (let inner = first; inner < end; ++inner) {
        if (this.model.rows.rowOfInstr[inner]! >= 0 || (hits && !hits[inner])) continue;
        this.addLine(row, inner, depth);
        if (this.openFusions.has(inner) || hits) this.addFusedLines(row, inner, depth + 1);
      }
    }
  }
  private updateMaxima(): void {
    this.maxima = { flops: 0, bytes: 0, wire: 0, seconds: 0, measured: 0 };
    for (let line = 0; line < this.rows.length; ++line) {
      if (this.fusedInstr[line]! >= 0 || this.isOpen(line)) continue;
      for (const metric of rowMetrics) this.maxima[metric] = Math.max(this.maxima[metric], this.sums[metric][this.rows[line]!]!);
    }
  }

  private hasFusedBody(id: number): boolean {
    const calls = this.model.calls(id);
    return calls.length > 0 && this.model.rows.rowOfInstr[this.model.bodyOf(calls[0]!)[0]] === -1;
  }
  hasChildRows(line: number): boolean { return this.fusedInstr[line]! < 0 && this.model.rows.end[this.rows[line]!]! > this.rows[line]! + 1; }
  canOpen(line: number): boolean {
    const id = this.instrOf(line);
    return this.hasChildRows(line) || (id >= 0 && this.hasFusedBody(id));
  }
  isOpen(line: number): boolean {
    if (this.options.hits) return this.hasChildRows(line);
    return this.hasChildRows(line) ? this.open.has(this.rows[line]!) : this.openFusions.has(this.instrOf(line));
  }

  /** Folds or unfolds a line; with `recursive`, also all rows below it. */
  toggle(line: number, recursive: boolean, expand?: boolean): void {
    if (line < 0 || !this.canOpen(line) || this.options.hits) return;
    const row = this.rows[line]!;
    const isRow = this.hasChildRows(line);
    const set = isRow ? this.open : this.openFusions;
    const key = isRow ? row : this.instrOf(line);
    const open = expand ?? !set.has(key);
    if (open) set.add(key); else set.delete(key);
    if (recursive && isRow) for (let child = row; child < this.model.rows.end[row]!; ++child) if (open) this.open.add(child); else this.open.delete(child);
    this.flatten();
  }

  /** Opens all rows that contain an instruction. */
  reveal(id: number): void {
    const { rows } = this.model;
    const ownRow = this.model.rowOf(id);
    for (let row = ownRow < 0 ? -1 : rows.parent[ownRow]!; row >= 0; row = rows.parent[row]!) this.open.add(row);
    this.flatten();
  }

  /** The label of a line and its detail, such as the mesh axis. */
  label(line: number): [string, string] { return this.labelOf(this.rows[line]!, this.fusedInstr[line]!); }
  labelOf(row: number, fusedInstr: number): [string, string] {
    const { rows } = this.model;
    const isFused = fusedInstr >= 0;
    const id = isFused ? fusedInstr : rows.first(row);
    const kind = isFused ? RowKind.Op : rows.kind[row]!;
    if (kind === RowKind.Repeat) return [`repeated × ${formatCount(rows.repeats[row]!)}`, ""];
    if (id < 0) return [this.model.string(rows.label[row]!), ""];
    if (this.options.showNames) return [this.model.name(id), this.model.label(id)];
    let label = this.model.label(id);
    if (kind === RowKind.Start && !label.endsWith("-start")) label += " start";
    if (kind === RowKind.Done && !label.endsWith("-done")) label += " done";
    label = label.replace(/-(start|done)$/, " $1");
    if (kind === RowKind.Loop) {
      const tripCount = this.loops.get(id) ?? -1;
      label = tripCount >= 0 ? `while, ${formatCount(tripCount)} iteration${tripCount === 1 ? "" : "s"}` : "while, unknown trip count";
    }
    const members = isFused ? 1 : rows.memberCount(row);
    if (members > 1 && !this.options.hits && (rows.parent[row]! < 0 || rows.kind[rows.parent[row]!] !== RowKind.Repeat)) label += ` × ${formatCount(members)}`;
    return [label, this.model.axisOf.get(id) ?? ""];
  }

  /** Number of executions of a row's instructions per training step; 0 leaves the column empty. */
  times(line: number): number {
    const { rows, instr } = this.model;
    if (this.fusedInstr[line]! >= 0) return instr.times[this.fusedInstr[line]!]!;
    const row = this.rows[line]!;
    if (rows.kind[row] === RowKind.Repeat || rows.first(row) < 0 || rows.kind[row] === RowKind.Done) return 0;
    let times = 0;
    for (let member = rows.memberStart(row); member < rows.memberEnd[row]!; ++member) times += instr.times[rows.members[member]!]!;
    return times;
  }
}
