// The instruction table that all views read: one typed array per column.
import type { Columns } from "./data";

export const enum Kind { Matmul, Collective, Elementwise, DataMovement, Library, Control, None }
export const kindNames = ["matmul, convolution", "collective", "elementwise, reduce", "data movement", "library call", "loop, call", "no work"];

export class Instructions {
  readonly count: number;
  readonly names: string[];
  readonly computation: Uint32Array;
  readonly opcode: Uint32Array;
  readonly label: Uint32Array;
  readonly kind: Uint8Array;
  readonly flags: Uint8Array;
  readonly type: Uint32Array;
  readonly scope: Uint32Array;
  readonly module: Uint32Array;
  readonly source: Uint32Array;
  readonly stack: Uint32Array;
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
  /** Predicted time per step that is not overlapped; for a collective, its exposed time. */
  seconds: Float64Array;
  /** Predicted time from start to done, per step. */
  asyncSeconds: Float64Array;
  /** Time per step in the first profile. */
  measured: Float64Array;

  /** True for a custom call whose cost is unknown. */
  isUnknown(id: number): boolean { return (this.flags[id]! & 1) !== 0; }

  constructor(columns: Columns) {
    this.names = columns.strings("name");
    this.count = this.names.length;
    this.computation = columns.u32("computation");
    this.opcode = columns.u32("opcode");
    this.label = columns.u32("label");
    this.kind = columns.u8("kind");
    this.flags = columns.u8("flags");
    this.type = columns.u32("type");
    this.scope = columns.u32("scope");
    this.module = columns.u32("module");
    this.source = columns.u32("source");
    this.stack = columns.has("stack") ? columns.u32("stack") : new Uint32Array(this.count);
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
    const operandBack = columns.u32("operand_back");
    this.operands = new Uint32Array(operandBack.length);
    for (let id = 0, operandIndex = 0; id < this.count; ++id)
      for (const end = this.operandEnd[id]!; operandIndex < end; ++operandIndex) this.operands[operandIndex] = (id - operandBack[operandIndex]!) >>> 0;
  }
}
