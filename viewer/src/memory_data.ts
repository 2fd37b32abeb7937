// Buffer live ranges as segments that never overlap within a block, and the stacked sums of these segments.
import { bufferKinds, type Buffers, type Model } from "./model";
import { RowKind } from "./rows";

/** Grouping of the stacked chart. "identical": buffers of the same op and type. */
export type StackBy = "kind" | "identical" | "scope" | "line";
export interface Group { label: string; maxBytes: number; count: number; isArguments: boolean }
export interface LiveEntry { buffer: number; bytes: number }
export interface ProgramSpan { from: number; to: number; label: string; row: number }

export class MemoryData {
  readonly steps: number;
  readonly total: Float64Array;
  readonly stepInstr: Uint32Array;
  readonly peak: number;
  /** Segments in order of their start. At any step, at most one segment of a block is live. */
  readonly segStart: Uint32Array;
  readonly segEnd: Uint32Array;
  readonly segBuffer: Uint32Array;
  private maxLength = 0;

  private constructor(readonly model: Model, readonly buffers: Buffers, stepInstr: Uint32Array, total: Float64Array) {
    this.stepInstr = stepInstr;
    this.total = total;
    this.steps = total.length;
    let peak = 0;
    for (let step = 1; step < total.length; ++step) if (total[step]! > total[peak]!) peak = step;
    this.peak = peak;
    const segments = this.segments();
    this.segStart = Uint32Array.from(segments, (each) => each[0]);
    this.segEnd = Uint32Array.from(segments, (each) => each[1]);
    this.segBuffer = Uint32Array.from(segments, (each) => each[2]);
    for (const [start, end] of segments) this.maxLength = Math.max(this.maxLength, end - start);
  }

  static async load(model: Model): Promise<MemoryData> {
    const [buffers, steps] = await Promise.all([model.buffers(), model.data.section(`${model.prefix}steps`)]);
    return new MemoryData(model, buffers, steps.u32("instr"), steps.f64("bytes"));
  }

  /** Within a block, the live range that began last owns the bytes. */
  private segments(): [number, number, number][] {
    const b = this.buffers;
    const order = Array.from({ length: b.count }, (_, i) => i);
    order.sort((x, y) => b.block[x]! - b.block[y]! || b.start[x]! - b.start[y]! || x - y);
    const out: [number, number, number][] = [];
    let stack: number[] = [];
    let step = 0;
    // Emits segments for the buffers on the stack from `step` up to `until`, exclusive.
    const advance = (until: number) => {
      while (stack.length > 0 && step < until) {
        const top = stack[stack.length - 1]!;
        const end = Math.min(b.end[top]! + 1, until);
        if (end > step) { out.push([step, end - 1, top]); step = end; }
        if (b.end[top]! + 1 <= step) stack.pop();
      }
    };
    for (let i = 0; i < order.length; ++i) {
      const buffer = order[i]!;
      if (i > 0 && b.block[buffer] !== b.block[order[i - 1]!]) { advance(Infinity); stack = []; }
      advance(b.start[buffer]!);
      step = b.start[buffer]!;
      stack.push(buffer);
    }
    advance(Infinity);
    return out.sort((x, y) => x[0] - y[0]);
  }

  /** The live buffers at a step, the largest first. */
  liveAt(step: number): LiveEntry[] {
    const live: LiveEntry[] = [];
    // No segment that starts before `earliest` can still be live.
    let low = 0, high = this.segStart.length;
    const earliest = step - this.maxLength;
    while (low < high) { const middle = (low + high) >> 1; if (this.segStart[middle]! < earliest) low = middle + 1; else high = middle; }
    for (let i = low; i < this.segStart.length && this.segStart[i]! <= step; ++i)
      if (this.segEnd[i]! >= step) live.push({ buffer: this.segBuffer[i]!, bytes: this.buffers.bytes[this.segBuffer[i]!]! });
    return live.sort((x, y) => y.bytes - x.bytes || x.buffer - y.buffer);
  }

  /** The start of each step on the x axis: its index, or the total predicted time of the steps before it. */
  positions(byTime: boolean): Float64Array {
    const out = new Float64Array(this.steps + 1);
    const { seconds } = this.model.instr;
    for (let step = 0; step < this.steps; ++step) out[step + 1] = out[step]! + (byTime ? seconds[this.stepInstr[step]!]! : 1);
    return out;
  }

  label(buffer: number): string {
    const id = this.buffers.instr[buffer]!;
    return id < 0 ? "constants inside ops" : this.model.name(id) + this.model.string(this.buffers.index[buffer]!);
  }

  groupLabel(buffer: number, grouping: StackBy): string {
    const kind = this.buffers.kind[buffer]!;
    if (kind === 0) return "arguments";
    const id = this.buffers.instr[buffer]!;
    if (grouping === "kind") return kind !== 3 ? `${bufferKinds[kind]}s` : `temporaries${id >= 0 ? ` of ${["matmuls, convolutions", "collectives", "elementwise, reduce", "data movement", "library calls", "loops, calls", "other"][this.model.instr.kind[id]!]}` : ""}`;
    if (id < 0) return "constants";
    if (grouping === "line") { const source = this.model.source(id); return source.slice(source.lastIndexOf("/") + 1) || "(no source line)"; }
    if (grouping === "scope") return this.model.scope(id).split("/").slice(0, -1).slice(-3).join("/") || "(no scope)";
    return `${kind === 1 ? "output " : kind === 2 ? "constant " : ""}${this.model.label(id)} ${this.model.string(this.buffers.type[buffer]!)}`;
  }

  /** Live bytes per group and step. series[0] to [7] are the eight groups with the largest maxima, series[8] is the
   * arguments, series[9] all other groups. `order` lists the series from the bottom of the chart. */
  stack(grouping: StackBy): { groups: Group[]; groupOf: Uint32Array; colorOf: Int8Array; series: Float64Array[]; order: number[] } {
    const groupIndex = new Map<string, number>();
    const groups: Group[] = [];
    const groupOf = new Uint32Array(this.buffers.count);
    for (let buffer = 0; buffer < this.buffers.count; ++buffer) {
      const label = this.groupLabel(buffer, grouping);
      let index = groupIndex.get(label);
      if (index === undefined) { groupIndex.set(label, (index = groups.length)); groups.push({ label, maxBytes: 0, count: 0, isArguments: label === "arguments" }); }
      groupOf[buffer] = index;
      ++groups[index]!.count;
    }
    const liveBytes = new Float64Array(groups.length);
    this.sweep((buffer, delta) => {
      const group = groupOf[buffer]!;
      liveBytes[group]! += delta;
      if (liveBytes[group]! > groups[group]!.maxBytes) groups[group]!.maxBytes = liveBytes[group]!;
    });
    const largest = groups.map((_, i) => i).filter((i) => !groups[i]!.isArguments).sort((x, y) => groups[y]!.maxBytes - groups[x]!.maxBytes).slice(0, 8);
    const colorOf = new Int8Array(groups.length).fill(9);
    largest.forEach((group, color) => { colorOf[group] = color; });
    groups.forEach((group, i) => { if (group.isArguments) colorOf[i] = 8; });
    const series = Array.from({ length: 10 }, () => new Float64Array(this.steps + 1));
    for (let i = 0; i < this.segStart.length; ++i) {
      const buffer = this.segBuffer[i]!;
      const values = series[colorOf[groupOf[buffer]!]!]!;
      values[this.segStart[i]!]! += this.buffers.bytes[buffer]!;
      values[this.segEnd[i]! + 1]! -= this.buffers.bytes[buffer]!;
    }
    for (const values of series) for (let step = 1; step <= this.steps; ++step) values[step]! += values[step - 1]!;
    // Long-lived groups are at the bottom, so that short-lived ones do not shift them.
    const sums = series.map((values) => values.reduce((sum, each) => sum + each, 0));
    const order = [8, ...Array.from({ length: 8 }, (_, color) => color).sort((x, y) => sums[y]! - sums[x]!), 9];
    return { groups, groupOf, colorOf, series, order };
  }

  private sweep(visit: (buffer: number, delta: number) => void): void {
    const ends = Array.from(this.segEnd.keys()).sort((x, y) => this.segEnd[x]! - this.segEnd[y]!);
    let ended = 0;
    for (let i = 0; i < this.segStart.length; ++i) {
      for (; ended < ends.length && this.segEnd[ends[ended]!]! < this.segStart[i]!; ++ended) visit(this.segBuffer[ends[ended]!]!, -this.buffers.bytes[this.segBuffer[ends[ended]!]!]!);
      visit(this.segBuffer[i]!, this.buffers.bytes[this.segBuffer[i]!]!);
    }
  }

  /** Loops, calls and repeated layers with their ranges of steps, to label the x axis. */
  programSpans(): ProgramSpan[] {
    const { rows, instr } = this.model;
    const out: ProgramSpan[] = [];
    for (let row = 0; row < rows.count; row = rows.end[row]!) {
      const kind = rows.kind[row]!;
      if (rows.end[row]! === row + 1 || kind === RowKind.Minor || kind === RowKind.NoWork || kind === RowKind.Start) continue;
      let from = Infinity, to = -1;
      for (let member = rows.memberStart(row); member < rows.memberEnd[rows.end[row]! - 1]!; ++member) {
        const step = instr.step[rows.members[member]!]!;
        if (step >= 0) { from = Math.min(from, step); to = Math.max(to, step); }
      }
      if (to < 0) continue;
      const first = rows.first(row);
      const label = kind === RowKind.Repeat ? `repeated × ${rows.repeats[row]}` : first < 0 ? this.model.string(rows.label[row]!) : this.model.name(first);
      out.push({ from, to, label, row });
    }
    return out.sort((x, y) => x.from - y.from);
  }
}
