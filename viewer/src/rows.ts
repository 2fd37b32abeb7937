// The program as a tree of rows: loops, repeats, light ops; what each stands for, and its sums.
import type { Columns } from "./data";

export const enum RowKind { Op, Start, Done, Loop, Conditional, Part, Call, Light, Quiet, Repeat }

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
