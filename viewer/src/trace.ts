// Traces: lanes of slices, and sums over any stretch of them without looking at each.
import { Columns } from "./data";
import type { Model } from "./model";

export const sliceKinds = ["matrix product", "collective", "elementwise, reduce", "moves data", "library call", "other", "waiting"];
export const kWaiting = 6;
const kKinds = 7;

/** Slices of one stream, by start; they do not overlap. Seconds. */
export class Lane {
  readonly count: number;
  /** Of each kind: seconds of the slices before number i. */
  private readonly before: Float64Array[];
  /** Slices before number i that are on the critical path. */
  private readonly criticalBefore: Uint32Array | null;
  constructor(readonly device: string, readonly stream: string, readonly first: number, readonly start: Float64Array, readonly duration: Float64Array, readonly instr: Int32Array, readonly label: Uint32Array, readonly kind: Uint8Array, readonly critical: Uint8Array | null) {
    this.count = start.length;
    this.before = Array.from({ length: kKinds }, () => new Float64Array(this.count + 1));
    for (let i = 0; i < this.count; ++i) for (let k = 0; k < kKinds; ++k) this.before[k]![i + 1] = this.before[k]![i]! + (kind[i] === k ? duration[i]! : 0);
    this.criticalBefore = critical ? new Uint32Array(this.count + 1) : null;
    if (this.criticalBefore) for (let i = 0; i < this.count; ++i) this.criticalBefore[i + 1] = this.criticalBefore[i]! + critical![i]!;
  }

  /** The first slice that ends after `time`. */
  after(time: number): number {
    let low = 0, high = this.count;
    while (low < high) { const middle = (low + high) >> 1; if (this.start[middle]! + this.duration[middle]! > time) high = middle; else low = middle + 1; }
    return low;
  }
  /** The slice at a moment, or -1. */
  at(time: number): number {
    const i = this.after(time);
    return i < this.count && this.start[i]! <= time ? i : -1;
  }
  /** Seconds of a kind between two slices, the second not included. */
  busy(kind: number, from: number, to: number): number { return this.before[kind]![to]! - this.before[kind]![from]!; }
  isCritical(from: number, to: number): boolean { return this.criticalBefore !== null && this.criticalBefore[to]! > this.criticalBefore[from]!; }
}

export interface Trace {
  name: string; predicted: boolean; lanes: Lane[]; labels: string[];
  start: Float64Array; duration: Float64Array; end: number;
  /** From a slice to one that waits for it. */
  flows: [number, number][];
  /** How many steps it holds. */
  steps: number;
}

export async function loadTraces(model: Model): Promise<Trace[]> {
  const names = model.data.names().filter((each) => each.startsWith(`${model.prefix}trace.`)).sort();
  return Promise.all(names.map(async (each) => readTrace(await model.data.section(each))));
}

function readTrace(columns: Columns): Trace {
  const about = JSON.parse(columns.strings("json")[0]!) as { name: string; predicted: boolean; steps?: number; devices: string[]; streams: string[] };
  const [device, stream, end] = [columns.u32("lane_device"), columns.u32("lane_stream"), columns.u32("lane_end")];
  const [start, duration, instr, label, kind] = [columns.f64("start"), columns.f64("duration"), columns.i32("instr"), columns.u32("label"), columns.u8("kind")];
  const critical = columns.has("critical") ? columns.u8("critical") : null;
  const lanes: Lane[] = [];
  end.forEach((to, i) => {
    const from = i === 0 ? 0 : end[i - 1]!;
    lanes.push(new Lane(about.devices[device[i]!] ?? `device ${device[i]}`, about.streams[stream[i]!] ?? `stream ${stream[i]}`, from, start.subarray(from, to), duration.subarray(from, to), instr.subarray(from, to), label.subarray(from, to), kind.subarray(from, to), critical && critical.length > 0 ? critical.subarray(from, to) : null));
  });
  let last = 0;
  for (let i = 0; i < start.length; ++i) last = Math.max(last, start[i]! + duration[i]!);
  const [flowFrom, flowTo] = [columns.u32("flow_from"), columns.u32("flow_to")];
  return { name: about.name, predicted: about.predicted, lanes, labels: columns.strings("labels"), start, duration, end: last, flows: Array.from(flowFrom, (from, i) => [from, flowTo[i]!] as [number, number]), steps: about.steps ?? 1 };
}
