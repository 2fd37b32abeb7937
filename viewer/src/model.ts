// One module of the page: its tables, and values derived from them.
import { Columns, PageData } from "./data";
import { Instructions } from "./instructions";
import { Rows } from "./rows";

export interface Axis { name: string; size: number; stride: number }
export interface Machine { name: string; step_seconds: number; device_seconds: number; mfu: number; capacity: number; peak_flops: number; bandwidth: number; by_kind: { name: string; seconds: number }[] }
export interface About {
  name: string; role: string; line: string; file: string; scheduled: boolean; backend: string; devices: number; devices_from: string;
  devices_per_node: number; mesh: Axis[];
  totals: { flops: number; transcendentals: number; read: number; written: number; wire: number };
  memory: { arguments: number; outputs: number; aliased: number; constants: number; temporaries: number; live: number; peak: number };
  needed: number; budget: number; at_peak: number | null; loops: [number, number][]; assumptions: string[];
  machines?: Machine[];
}

export interface Collectives {
  count: number;
  hlo: Uint32Array; start: Uint32Array; done: Uint32Array; kind: Uint32Array; participants: Uint32Array; nodes: Uint32Array; group: Uint32Array;
  times: Float64Array; payload: Float64Array; ring: Float64Array; direct: Float64Array;
  interNodeRing: Float64Array; interNodeDirect: Float64Array; overlap: Int32Array; overlapFlops: Float64Array;
}
/** The device groups of a collective, or the pairs of a permute. Both are empty if they are too large to be listed. */
export interface Participants { axis: string; pattern: string; size: number; groups: Uint32Array[]; pairs: [number, number][] }

export interface Buffers {
  count: number;
  instr: Int32Array; index: Uint32Array; type: Uint32Array; kind: Uint8Array; space: Uint8Array;
  start: Uint32Array; end: Uint32Array; block: Uint32Array; offset: Float64Array; bytes: Float64Array;
}
export const bufferKinds = ["argument", "output", "constant", "temporary"];

export class Model {
  readonly axisOf = new Map<number, string>();
  /** With two modules, the diff mark of each instruction: 0 unchanged, 1 changed, 2 only in this module. */
  marks: Uint8Array | null = null;
  hasMeasured = false;
  private users_: { end: Uint32Array; list: Uint32Array } | undefined;
  private lines_: Promise<{ text: string; lower: string; start: Uint32Array }> | undefined;
  private collectives_: Promise<Collectives> | undefined;
  private participantTable_: Promise<Participants[]> | undefined;
  private constructor(
    readonly data: PageData, readonly prefix: string, readonly about: About, readonly strings: string[],
    readonly instr: Instructions, readonly rows: Rows, readonly computationNames: string[], readonly firstInstr: Uint32Array) {}

  static async load(data: PageData, prefix: string): Promise<Model> {
    const [about, strings, instr, computations, rows] = await Promise.all(
      ["about", "strings", "instr", "computations", "rows"].map((each) => data.section(prefix + each))) as [Columns, Columns, Columns, Columns, Columns];
    const table = new Instructions(instr);
    const all = strings.strings("string");
    const counts = computations.u32("instructions");
    const first = new Uint32Array(counts.length + 1);
    counts.forEach((each, i) => { first[i + 1] = first[i]! + each; });
    const names = Array.from(computations.u32("name"), (stringId) => all[stringId]!);
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
    const [collectives, participantTable] = await Promise.all([this.collectives(), this.participantTable()]);
    for (let i = 0; i < collectives.count; ++i) {
      const participants = participantTable[collectives.participants[i]!]!;
      const axis = participants.pattern ? `${participants.axis}, ${participants.pattern}` : participants.axis;
      for (const id of [collectives.start[i]!, collectives.done[i]!, collectives.hlo[i]!]) this.axisOf.set(id, axis);
    }
  }

  string(index: number): string { return this.strings[index] ?? ""; }
  name(id: number): string { return this.instr.names[id]!; }
  type(id: number): string { return this.string(this.instr.type[id]!); }
  label(id: number): string { return this.string(this.instr.label[id]!); }
  opcode(id: number): string { return this.string(this.instr.opcode[id]!); }
  scope(id: number): string { return this.string(this.instr.scope[id]!); }
  /** The Python stack: "model.py:12 in layer", innermost frame first. */
  stack(id: number): string[] { return this.string(this.instr.stack[id]!).split("\n").filter((each) => each !== ""); }
  modulePath(id: number): string { return this.string(this.instr.module[id]!); }
  source(id: number): string { return this.string(this.instr.source[id]!); }
  computation(id: number): string { return this.computationNames[this.instr.computation[id]!]!; }
  operands(id: number): Uint32Array { return this.instr.operands.subarray(id === 0 ? 0 : this.instr.operandEnd[id - 1]!, this.instr.operandEnd[id]!); }
  calls(id: number): Uint32Array { return this.instr.calls.subarray(id === 0 ? 0 : this.instr.callEnd[id - 1]!, this.instr.callEnd[id]!); }
  /** Ids of a computation's instructions: [first, end). */
  bodyOf(computation: number): [number, number] { return [this.firstInstr[computation]!, this.firstInstr[computation + 1]!]; }
  get hasTime(): boolean { return (this.about.machines?.length ?? 0) > 0; }
  get capacity(): number { return this.about.budget >= 0 ? this.about.budget : (this.about.machines?.[0]?.capacity ?? -1); }

  users(id: number): number[] {
    if (!this.users_) {
      const end = new Uint32Array(this.instr.count + 1);
      for (const operand of this.instr.operands) ++end[operand + 1]!;
      for (let i = 0; i < this.instr.count; ++i) end[i + 1]! += end[i]!;
      const next = end.slice();
      const list = new Uint32Array(this.instr.operands.length);
      for (let user = 0; user < this.instr.count; ++user) for (const operand of this.operands(user)) list[next[operand]!++] = user;
      this.users_ = { end, list };
    }
    return [...new Set(this.users_.list.subarray(this.users_.end[id]!, this.users_.end[id + 1]!))];
  }

  /** The first instruction in the text that calls a computation; -1: none. */
  callerOf(computation: number): number {
    if (!this.callers) {
      this.callers = new Int32Array(this.computationNames.length).fill(-1);
      for (let id = this.instr.count - 1; id >= 0; --id) for (const callee of this.calls(id)) this.callers[callee] = id;
    }
    return this.callers[computation]!;
  }
  private callers: Int32Array | undefined;

  /** The row that shows an instruction: its own, or that of the op that contains it. */
  rowOf(id: number): number {
    for (let ancestor = id, depth = 0; ancestor >= 0 && depth < 100; ++depth) {
      if (this.rows.rowOfInstr[ancestor]! >= 0) return this.rows.rowOfInstr[ancestor]!;
      ancestor = this.callerOf(this.instr.computation[ancestor]!);
    }
    return -1;
  }

  /** HLO text, one line per instruction. `start[i]` is the offset of line i. */
  lines(): Promise<{ text: string; lower: string; start: Uint32Array }> {
    return (this.lines_ ??= this.data.section(this.prefix + "text").then((columns) => {
      const text = columns.strings("lines")[0] ?? "";
      const start = new Uint32Array(this.instr.count + 1);
      let offset = 0;
      for (let i = 0; i < this.instr.count; ++i) {
        start[i] = offset;
        offset = text.indexOf("\n", offset) + 1;
      }
      start[this.instr.count] = offset;
      const lower = text.toLowerCase();
      return { text, lower: lower.length === text.length ? lower : text, start };
    }));
  }

  collectives(): Promise<Collectives> {
    return (this.collectives_ ??= this.data.section(this.prefix + "comm").then((c) => ({
      count: c.u32("hlo").length, hlo: c.u32("hlo"), start: c.u32("start"), done: c.u32("done"), kind: c.u32("kind"), participants: c.u32("participants"),
      nodes: c.u32("nodes"), group: c.u32("group"), times: c.f64("times"), payload: c.f64("payload"), ring: c.f64("ring"), direct: c.f64("direct"),
      interNodeRing: c.f64("inter_node_ring"), interNodeDirect: c.f64("inter_node_direct"), overlap: c.i32("overlap"), overlapFlops: c.f64("overlap_flops"),
    })));
  }

  participantTable(): Promise<Participants[]> {
    return (this.participantTable_ ??= this.data.section(this.prefix + "participants").then((c) => {
      const [axis, pattern, size, groupEnd, memberEnd, member, pairEnd, source, target] =
        ["axis", "pattern", "size", "group_end", "member_end", "member", "pair_end", "source", "target"].map((each) => c.u32(each)) as Uint32Array[] as
          [Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array, Uint32Array];
      return Array.from(axis, (axisId, i) => {
        const groups: Uint32Array[] = [];
        for (let g = i === 0 ? 0 : groupEnd[i - 1]!; g < groupEnd[i]!; ++g) groups.push(member.subarray(g === 0 ? 0 : memberEnd[g - 1]!, memberEnd[g]!));
        const pairs: [number, number][] = [];
        for (let p = i === 0 ? 0 : pairEnd[i - 1]!; p < pairEnd[i]!; ++p) pairs.push([source[p]!, target[p]!]);
        return { axis: this.string(axisId), pattern: this.string(pattern[i]!), size: size[i]!, groups, pairs };
      });
    }));
  }

  buffers(): Promise<Buffers> {
    return this.data.section(this.prefix + "buffers").then((c) => ({
      count: c.u32("start").length, instr: c.i32("instr"), index: c.u32("index"), type: c.u32("type"), kind: c.u8("kind"), space: c.u8("space"),
      start: c.u32("start"), end: c.u32("end"), block: c.u32("block"), offset: c.f64("offset"), bytes: c.f64("bytes"),
    }));
  }

  /** The instruction at "COMPUTATION/NAME" or "NAME"; -1: none. */
  find(address: string): number {
    const slash = address.lastIndexOf("/");
    const computation = address.slice(0, Math.max(slash, 0));
    const name = address.slice(slash + 1);
    const computationIndex = slash < 0 ? -1 : this.computationNames.indexOf(computation);
    const [from, to] = computationIndex >= 0 ? this.bodyOf(computationIndex) : [0, this.instr.count];
    for (let id = from; id < to; ++id) if (this.instr.names[id] === name) return id;
    return -1;
  }
  address(id: number): string { return `${this.computation(id)}/${this.name(id)}`; }
}
