// What lives when: the buffers of a module as segments that never overlap in a block, and stacks of them.
import { type Buffers, bufferKinds, type Model } from "./model";
import { RowKind } from "./rows";

export type StackBy = "kind" | "alike" | "scope" | "line";
export interface Group { label: string; most: number; count: number; fixed: boolean }
export interface Held { life: number; bytes: number }
export interface Stretch { from: number; to: number; label: string; row: number }

export class MemoryData {
  readonly steps: number;
  readonly total: Float64Array;
  readonly stepInstr: Uint32Array;
  readonly peak: number;
  /** Segments by start: at a step, a block is in at most one. */
  readonly segStart: Uint32Array;
  readonly segEnd: Uint32Array;
  readonly segLife: Uint32Array;
  private longest = 0;

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
    this.segLife = Uint32Array.from(segments, (each) => each[2]);
    for (const [start, end] of segments) this.longest = Math.max(this.longest, end - start);
  }

  static async load(model: Model): Promise<MemoryData> {
    const [buffers, steps] = await Promise.all([model.buffers(), model.data.section(`${model.prefix}steps`)]);
    return new MemoryData(model, buffers, steps.u32("instr"), steps.f64("bytes"));
  }

  /** Of a block the life that began last counts. */
  private segments(): [number, number, number][] {
    const b = this.buffers;
    const order = Array.from({ length: b.count }, (_, i) => i);
    order.sort((x, y) => b.block[x]! - b.block[y]! || b.start[x]! - b.start[y]! || x - y);
    const out: [number, number, number][] = [];
    let stack: number[] = [];
    let at = 0;
    // Shows what is on the stack from `at` up to, not including, `until`.
    const advance = (until: number) => {
      while (stack.length > 0 && at < until) {
        const top = stack[stack.length - 1]!;
        const end = Math.min(b.end[top]! + 1, until);
        if (end > at) { out.push([at, end - 1, top]); at = end; }
        if (b.end[top]! + 1 <= at) stack.pop();
      }
    };
    for (let i = 0; i < order.length; ++i) {
      const life = order[i]!;
      if (i > 0 && b.block[life] !== b.block[order[i - 1]!]) { advance(Infinity); stack = []; }
      advance(b.start[life]!);
      at = b.start[life]!;
      stack.push(life);
    }
    advance(Infinity);
    return out.sort((x, y) => x[0] - y[0]);
  }

  /** What lives at a step, the largest first. */
  heldAt(step: number): Held[] {
    const held: Held[] = [];
    // Nothing that began before this can still be there.
    let low = 0, high = this.segStart.length;
    const earliest = step - this.longest;
    while (low < high) { const middle = (low + high) >> 1; if (this.segStart[middle]! < earliest) low = middle + 1; else high = middle; }
    for (let i = low; i < this.segStart.length && this.segStart[i]! <= step; ++i)
      if (this.segEnd[i]! >= step) held.push({ life: this.segLife[i]!, bytes: this.buffers.bytes[this.segLife[i]!]! });
    return held.sort((x, y) => y.bytes - x.bytes || x.life - y.life);
  }

  /** Where step i begins: at i, or where the predicted time of the steps before it ends. */
  positions(byTime: boolean): Float64Array {
    const out = new Float64Array(this.steps + 1);
    const { seconds } = this.model.instr;
    for (let step = 0; step < this.steps; ++step) out[step + 1] = out[step]! + (byTime ? seconds[this.stepInstr[step]!]! : 1);
    return out;
  }

  label(life: number): string {
    const id = this.buffers.instr[life]!;
    return id < 0 ? "constants inside ops" : this.model.name(id) + this.model.string(this.buffers.index[life]!);
  }

  groupLabel(life: number, by: StackBy): string {
    const kind = this.buffers.kind[life]!;
    if (kind === 0) return "arguments";
    const id = this.buffers.instr[life]!;
    if (by === "kind") return `${bufferKinds[kind]}${kind === 3 && id >= 0 ? ` of ${["matrix products", "collectives", "elementwise, reduce", "moves of data", "library calls", "loops, calls", "other"][this.model.instr.kind[id]!]}` : "s"}`;
    if (id < 0) return "constants";
    if (by === "line") { const source = this.model.source(id); return source.slice(source.lastIndexOf("/") + 1) || "(no line given)"; }
    if (by === "scope") return this.model.scope(id).split("/").slice(0, -1).slice(-3).join("/") || "(no scope given)";
    return `${kind === 1 ? "output " : kind === 2 ? "constant " : ""}${this.model.words(id)} ${this.model.string(this.buffers.type[life]!)}`;
  }

  /** The eight groups that are largest at any one step, for good; series[8] is arguments, series[9] the rest. */
  stack(by: StackBy): { groups: Group[]; groupOf: Uint32Array; colorOf: Int8Array; series: Float64Array[]; order: number[] } {
    const numbers = new Map<string, number>();
    const groups: Group[] = [];
    const groupOf = new Uint32Array(this.buffers.count);
    for (let life = 0; life < this.buffers.count; ++life) {
      const label = this.groupLabel(life, by);
      let number = numbers.get(label);
      if (number === undefined) { numbers.set(label, (number = groups.length)); groups.push({ label, most: 0, count: 0, fixed: label === "arguments" }); }
      groupOf[life] = number;
      ++groups[number]!.count;
    }
    const now = new Float64Array(groups.length);
    this.sweep((life, delta) => {
      const group = groupOf[life]!;
      now[group]! += delta;
      if (now[group]! > groups[group]!.most) groups[group]!.most = now[group]!;
    });
    const largest = groups.map((_, i) => i).filter((i) => !groups[i]!.fixed).sort((x, y) => groups[y]!.most - groups[x]!.most).slice(0, 8);
    const colorOf = new Int8Array(groups.length).fill(9);
    largest.forEach((group, color) => { colorOf[group] = color; });
    groups.forEach((group, i) => { if (group.fixed) colorOf[i] = 8; });
    const series = Array.from({ length: 10 }, () => new Float64Array(this.steps + 1));
    for (let i = 0; i < this.segStart.length; ++i) {
      const life = this.segLife[i]!;
      const one = series[colorOf[groupOf[life]!]!]!;
      one[this.segStart[i]!]! += this.buffers.bytes[life]!;
      one[this.segEnd[i]! + 1]! -= this.buffers.bytes[life]!;
    }
    for (const one of series) for (let step = 1; step <= this.steps; ++step) one[step]! += one[step - 1]!;
    // What stays for long lies low, so that what comes and goes does not lift it.
    const sums = series.map((one) => one.reduce((sum, each) => sum + each, 0));
    const order = [8, ...Array.from({ length: 8 }, (_, color) => color).sort((x, y) => sums[y]! - sums[x]!), 9];
    return { groups, groupOf, colorOf, series, order };
  }

  private sweep(visit: (life: number, delta: number) => void): void {
    const ends = Array.from(this.segEnd.keys()).sort((x, y) => this.segEnd[x]! - this.segEnd[y]!);
    let gone = 0;
    for (let i = 0; i < this.segStart.length; ++i) {
      for (; gone < ends.length && this.segEnd[ends[gone]!]! < this.segStart[i]!; ++gone) visit(this.segLife[ends[gone]!]!, -this.buffers.bytes[this.segLife[ends[gone]!]!]!);
      visit(this.segLife[i]!, this.buffers.bytes[this.segLife[i]!]!);
    }
  }

  /** Loops and repeats by name, so that a step means something. */
  stretches(): Stretch[] {
    const { rows, instr } = this.model;
    const out: Stretch[] = [];
    for (let row = 0; row < rows.count; row = rows.end[row]!) {
      const kind = rows.kind[row]!;
      if (rows.end[row]! === row + 1 || kind === RowKind.Light || kind === RowKind.Quiet || kind === RowKind.Start) continue;
      let from = Infinity, to = -1;
      for (let at = rows.memberStart(row); at < rows.memberEnd[rows.end[row]! - 1]!; ++at) {
        const step = instr.step[rows.members[at]!]!;
        if (step >= 0) { from = Math.min(from, step); to = Math.max(to, step); }
      }
      if (to < 0) continue;
      const first = rows.first(row);
      const label = kind === RowKind.Repeat ? `× ${rows.repeats[row]} alike` : first < 0 ? this.model.string(rows.words[row]!) : this.model.name(first);
      out.push({ from, to, label, row });
    }
    return out.sort((x, y) => x.from - y.from);
  }
}
