// The program as a tree of rows: ops, loops, repeats and groups of minor ops, with the instructions of each row.
import type { Columns } from "./data";

export const enum RowKind { Op, Start, Done, Loop, Conditional, Part, Call, Minor, NoWork, Repeat }

export class Rows {
  readonly count: number;
  readonly kind: Uint8Array;
  readonly parent: Int32Array;
  readonly label: Uint32Array;
  readonly repeats: Uint32Array;
  readonly memberEnd: Uint32Array;
  readonly members: Uint32Array;
  /** The index after the last row below this one. */
  readonly end: Uint32Array;
  readonly depth: Uint16Array;
  /** The row of each instruction; -1: it is fused or part of another op. */
  readonly rowOfInstr: Int32Array;

  constructor(columns: Columns, instructions: number) {
    this.kind = columns.u8("kind");
    this.parent = columns.i32("parent");
    this.label = columns.u32("label");
    this.repeats = columns.u32("repeats");
    this.memberEnd = columns.u32("member_end");
    this.members = columns.u32("member");
    this.count = this.kind.length;
    this.end = new Uint32Array(this.count);
    this.depth = new Uint16Array(this.count);
    this.rowOfInstr = new Int32Array(instructions).fill(-1);
    for (let row = 0; row < this.count; ++row) {
      const parent = this.parent[row]!;
      this.depth[row] = parent < 0 ? 0 : Math.min(this.depth[parent]! + 1, 60000);
      for (let member = this.memberStart(row); member < this.memberEnd[row]!; ++member) this.rowOfInstr[this.members[member]!] = row;
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

  /** For each row, the sum over its instructions and those of all rows below it. */
  sums(values: Float64Array): Float64Array {
    const sums = new Float64Array(this.count);
    for (let row = this.count - 1; row >= 0; --row) {
      for (let member = this.memberStart(row); member < this.memberEnd[row]!; ++member) sums[row]! += values[this.members[member]!]!;
      const parent = this.parent[row]!;
      if (parent >= 0) sums[parent]! += sums[row]!;
    }
    return sums;
  }
}
