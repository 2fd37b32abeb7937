// One module as the page knows it: a table of instructions, and what is derived from it.
import { Columns, PageData } from "./data";

export const enum Kind { Product, Collective, Elementwise, Move, Library, Control, None }
export const kindNames = ["matrix product", "collective", "elementwise, reduce", "moves data", "library call", "loop, call", "no work"];
export const enum RowKind { Op, Start, Done, Loop, Conditional, Part, Call, Light, Quiet, Repeat }

export interface Axis { name: string; size: number; stride: number }
export interface Machine { name: string; step_seconds: number; device_seconds: number; mfu: number; capacity: number; peak_flops: number; bandwidth: number; by_kind: { name: string; seconds: number }[] }
export interface About {
  name: string; file: string; scheduled: boolean; backend: string; devices: number; devices_from: string;
  devices_per_node: number; mesh: Axis[];
  totals: { flops: number; transcendentals: number; read: number; written: number; wire: number };
  memory: { arguments: number; outputs: number; aliased: number; constants: number; temporaries: number; live: number; peak: number };
  needed: number; budget: number; at_peak: number | null; loops: [number, number][]; assumptions: string[];
  machines?: Machine[];
}

export class Instructions {
  readonly count: number;
  readonly names: string[];
  readonly computation: Uint32Array;
  readonly opcode: Uint32Array;
  readonly words: Uint32Array;
  readonly kind: Uint8Array;
  readonly flags: Uint8Array;
  readonly type: Uint32Array;
  readonly scope: Uint32Array;
  readonly source: Uint32Array;
  readonly operandEnd: Uint32Array;
  readonly operands: Uint32Array;
  readonly callEnd: Uint32Array;
  readonly calls: Uint32Array;
  readonly times: Float64Array;
  readonly flops: Float64Array;
  readonly transcendentals: Float64Array;
  readonly read: Float64Array;
  readonly written: Float64Array;
  readonly bytes: Float64Array;
  readonly wire: Float64Array;
  readonly step: Int32Array;
  /** What the step waits for it; of a collective what nothing hides. */
  seconds: Float64Array;
  /** From start to done. */
  asyncSeconds: Float64Array;
  /** Per step, by the first profile. */
  measured: Float64Array;

  constructor(columns: Columns) {
    this.names = columns.strings("name");
    this.count = this.names.length;
    this.computation = columns.u32("computation");
    this.opcode = columns.u32("opcode");
    this.words = columns.u32("words");
    this.kind = columns.u8("kind");
    this.flags = columns.u8("flags");
    this.type = columns.u32("type");
    this.scope = columns.u32("scope");
    this.source = columns.u32("source");
    this.operandEnd = columns.u32("operand_end");
    this.callEnd = columns.u32("call_end");
    this.calls = columns.u32("call");
    this.times = columns.f64("times");
    this.flops = columns.f64("flops");
    this.transcendentals = columns.f64("transcendentals");
    this.read = columns.f64("read");
    this.written = columns.f64("written");
    this.wire = columns.f64("wire");
    this.step = columns.i32("step");
    this.bytes = this.read.map((read, i) => read + this.written[i]!);
    this.seconds = this.asyncSeconds = this.measured = new Float64Array(this.count);
    const back = columns.u32("operand_back");
    this.operands = new Uint32Array(back.length);
    for (let id = 0, at = 0; id < this.count; ++id)
      for (const end = this.operandEnd[id]!; at < end; ++at) this.operands[at] = (id - back[at]!) >>> 0;
  }
}

export class Rows {
  readonly count: number;
  readonly kind: Uint8Array;
  readonly parent: Int32Array;
  readonly words: Uint32Array;
  readonly repeats: Uint32Array;
  readonly memberEnd: Uint32Array;
  readonly members: Uint32Array;
  /** The row after the last one below it. */
  readonly end: Uint32Array;
  readonly depth: Uint16Array;
  /** Of an instruction; -1: it is fused, or part of another op. */
  readonly ofInstr: Int32Array;

  constructor(columns: Columns, instructions: number) {
    this.kind = columns.u8("kind");
    this.parent = columns.i32("parent");
    this.words = columns.u32("words");
    this.repeats = columns.u32("repeats");
    this.memberEnd = columns.u32("member_end");
    this.members = columns.u32("member");
    this.count = this.kind.length;
    this.end = new Uint32Array(this.count);
    this.depth = new Uint16Array(this.count);
    this.ofInstr = new Int32Array(instructions).fill(-1);
    for (let row = 0; row < this.count; ++row) {
      const parent = this.parent[row]!;
      this.depth[row] = parent < 0 ? 0 : Math.min(this.depth[parent]! + 1, 60000);
      for (let at = this.memberStart(row); at < this.memberEnd[row]!; ++at) this.ofInstr[this.members[at]!] = row;
    }
    for (let row = this.count - 1; row >= 0; --row) {
      if (this.end[row] === 0) this.end[row] = row + 1;
      const parent = this.parent[row]!;
      if (parent >= 0 && this.end[parent]! < this.end[row]!) this.end[parent] = this.end[row]!;
    }
  }

  memberStart(row: number): number { return row === 0 ? 0 : this.memberEnd[row - 1]!; }
  memberCount(row: number): number { return this.memberEnd[row]! - this.memberStart(row); }
  first(row: number): number { return this.memberCount(row) > 0 ? this.members[this.memberStart(row)]! : -1; }

  /** Of each row: what its own instructions and all below come to. */
  sums(values: Float64Array): Float64Array {
    const sums = new Float64Array(this.count);
    for (let row = this.count - 1; row >= 0; --row) {
      for (let at = this.memberStart(row); at < this.memberEnd[row]!; ++at) sums[row]! += values[this.members[at]!]!;
      const parent = this.parent[row]!;
      if (parent >= 0) sums[parent]! += sums[row]!;
    }
    return sums;
  }
}

export interface Collectives {
  count: number;
  hlo: Uint32Array; start: Uint32Array; done: Uint32Array; kind: Uint32Array; joins: Uint32Array; nodes: Uint32Array; alike: Uint32Array;
  times: Float64Array; payload: Float64Array; ring: Float64Array; direct: Float64Array;
  acrossRing: Float64Array; acrossDirect: Float64Array; overlap: Int32Array; overlapFlops: Float64Array;
}
export interface Join { axis: string; pattern: string; size: number; groups: Uint32Array[]; pairs: [number, number][] }

export interface Buffers {
  count: number;
  instr: Int32Array; index: Uint32Array; type: Uint32Array; kind: Uint8Array; space: Uint8Array;
  start: Uint32Array; end: Uint32Array; block: Uint32Array; offset: Float64Array; bytes: Float64Array;
}
export const bufferKinds = ["argument", "output", "constant", "temporary"];


export class Model {
  readonly axisOf = new Map<number, string>();
  /** Of two modules: 0 the same in both, 1 changed, 2 only here. */
  marks: Uint8Array | null = null;
  hasMeasured = false;
  private users_: { end: Uint32Array; list: Uint32Array } | undefined;
  private lines_: Promise<{ text: string; lower: string; start: Uint32Array }> | undefined;
  private collectives_: Promise<Collectives> | undefined;
  private joins_: Promise<Join[]> | undefined;
  private constructor(
    readonly data: PageData, readonly prefix: string, readonly about: About, readonly strings: string[],
    readonly instr: Instructions, readonly rows: Rows, readonly computationNames: string[], readonly firstOf: Uint32Array) {}

  static async load(data: PageData, prefix: string): Promise<Model> {
    const [about, strings, instr, computations, rows] = await Promise.all(
      ["about", "strings", "instr", "computations", "rows"].map((each) => data.section(prefix + each))) as [Columns, Columns, Columns, Columns, Columns];
    const table = new Instructions(instr);
    const all = strings.strings("string");
    const counts = computations.u32("instructions");
    const first = new Uint32Array(counts.length + 1);
    counts.forEach((each, i) => { first[i + 1] = first[i]! + each; });
    const names = Array.from(computations.u32("name"), (at) => all[at]!);
    const model = new Model(data, prefix, JSON.parse(about.strings("json")[0]!) as About, all, table, new Rows(rows, table.count), names, first);
    await model.loadAxes();
    if (data.has("diff")) model.marks = (await data.section("diff")).u8(prefix === "a." ? "a_mark" : "b_mark");
    if (data.has(prefix + "time")) {
      const time = await data.section(prefix + "time");
      table.seconds = time.f64("seconds");
      table.asyncSeconds = time.f64("async_seconds");
      if (time.has("measured")) { table.measured = time.f64("measured"); model.hasMeasured = true; }
    }
    return model;
  }

  private async loadAxes(): Promise<void> {
    const [collectives, joins] = await Promise.all([this.collectives(), this.joins()]);
    for (let i = 0; i < collectives.count; ++i) {
      const join = joins[collectives.joins[i]!]!;
      const axis = join.pattern ? `${join.axis}, ${join.pattern}` : join.axis;
      for (const id of [collectives.start[i]!, collectives.done[i]!, collectives.hlo[i]!]) this.axisOf.set(id, axis);
    }
  }

  string(at: number): string { return this.strings[at] ?? ""; }
  name(id: number): string { return this.instr.names[id]!; }
  type(id: number): string { return this.string(this.instr.type[id]!); }
  words(id: number): string { return this.string(this.instr.words[id]!); }
  opcode(id: number): string { return this.string(this.instr.opcode[id]!); }
  scope(id: number): string { return this.string(this.instr.scope[id]!); }
  source(id: number): string { return this.string(this.instr.source[id]!); }
  computation(id: number): string { return this.computationNames[this.instr.computation[id]!]!; }
  operands(id: number): Uint32Array { return this.instr.operands.subarray(id === 0 ? 0 : this.instr.operandEnd[id - 1]!, this.instr.operandEnd[id]!); }
  calls(id: number): Uint32Array { return this.instr.calls.subarray(id === 0 ? 0 : this.instr.callEnd[id - 1]!, this.instr.callEnd[id]!); }
  bodyOf(computation: number): [number, number] { return [this.firstOf[computation]!, this.firstOf[computation + 1]!]; }
  get hasTime(): boolean { return (this.about.machines?.length ?? 0) > 0; }
  get capacity(): number { return this.about.budget >= 0 ? this.about.budget : (this.about.machines?.[0]?.capacity ?? -1); }

  users(id: number): number[] {
    if (!this.users_) {
      const end = new Uint32Array(this.instr.count + 1);
      for (const operand of this.instr.operands) ++end[operand + 1]!;
      for (let i = 0; i < this.instr.count; ++i) end[i + 1]! += end[i]!;
      const at = end.slice();
      const list = new Uint32Array(this.instr.operands.length);
      for (let user = 0; user < this.instr.count; ++user) for (const operand of this.operands(user)) list[at[operand]!++] = user;
      this.users_ = { end, list };
    }
    return [...new Set(this.users_.list.subarray(this.users_.end[id]!, this.users_.end[id + 1]!))];
  }

  /** The instruction that calls a computation, first in the text; -1: none. */
  callerOf(computation: number): number {
    if (!this.callers) {
      this.callers = new Int32Array(this.computationNames.length).fill(-1);
      for (let id = this.instr.count - 1; id >= 0; --id) for (const callee of this.calls(id)) this.callers[callee] = id;
    }
    return this.callers[computation]!;
  }
  private callers: Int32Array | undefined;

  /** The row that shows an instruction: its own, or that of the op it is part of. */
  rowOf(id: number): number {
    for (let at = id, depth = 0; at >= 0 && depth < 100; ++depth) {
      if (this.rows.ofInstr[at]! >= 0) return this.rows.ofInstr[at]!;
      at = this.callerOf(this.instr.computation[at]!);
    }
    return -1;
  }

  /** HLO text, a line per instruction; `start[i]` is where line i begins. */
  lines(): Promise<{ text: string; lower: string; start: Uint32Array }> {
    return (this.lines_ ??= this.data.section(this.prefix + "text").then((columns) => {
      const text = columns.strings("lines")[0] ?? "";
      const start = new Uint32Array(this.instr.count + 1);
      let at = 0;
      for (let i = 0; i < this.instr.count; ++i) {
        start[i] = at;
        at = text.indexOf("\n", at) + 1;
      }
      start[this.instr.count] = at;
      const lower = text.toLowerCase();
      return { text, lower: lower.length === text.length ? lower : text, start };
    }));
  }

  collectives(): Promise<Collectives> {
    return (this.collectives_ ??= this.data.section(this.prefix + "comm").then((c) => ({
      count: c.u32("hlo").length, hlo: c.u32("hlo"), start: c.u32("start"), done: c.u32("done"), kind: c.u32("kind"), joins: c.u32("joins"),
      nodes: c.u32("nodes"), alike: c.u32("alike"), times: c.f64("times"), payload: c.f64("payload"), ring: c.f64("ring"), direct: c.f64("direct"),
      acrossRing: c.f64("across_ring"), acrossDirect: c.f64("across_direct"), overlap: c.i32("overlap"), overlapFlops: c.f64("overlap_flops"),
    })));
  }

  joins(): Promise<Join[]> {
    return (this.joins_ ??= this.data.section(this.prefix + "joins").then((c) => {
      const [axis, pattern, size, groupEnd, memberEnd, member, pairEnd, source, target] =
        ["axis", "pattern", "size", "group_end", "member_end", "member", "pair_end", "source", "target"].map((each) => c.u32(each)) as Uint32Array[] as
          [Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array];
      return Array.from(axis, (at, i) => {
        const groups: Uint32Array[] = [];
        for (let g = i === 0 ? 0 : groupEnd[i - 1]!; g < groupEnd[i]!; ++g) groups.push(member.subarray(g === 0 ? 0 : memberEnd[g - 1]!, memberEnd[g]!));
        const pairs: [number, number][] = [];
        for (let p = i === 0 ? 0 : pairEnd[i - 1]!; p < pairEnd[i]!; ++p) pairs.push([source[p]!, target[p]!]);
        return { axis: this.string(at), pattern: this.string(pattern[i]!), size: size[i]!, groups, pairs };
      });
    }));
  }

  buffers(): Promise<Buffers> {
    return this.data.section(this.prefix + "buffers").then((c) => ({
      count: c.u32("start").length, instr: c.i32("instr"), index: c.u32("index"), type: c.u32("type"), kind: c.u8("kind"), space: c.u8("space"),
      start: c.u32("start"), end: c.u32("end"), block: c.u32("block"), offset: c.f64("offset"), bytes: c.f64("bytes"),
    }));
  }

  find(address: string): number {
    const slash = address.lastIndexOf("/");
    const computation = address.slice(0, Math.max(slash, 0));
    const name = address.slice(slash + 1);
    const c = slash < 0 ? -1 : this.computationNames.indexOf(computation);
    const [from, to] = c >= 0 ? this.bodyOf(c) : [0, this.instr.count];
    for (let id = from; id < to; ++id) if (this.instr.names[id] === name) return id;
    return -1;
  }
  address(id: number): string { return `${this.computation(id)}/${this.name(id)}`; }
}
