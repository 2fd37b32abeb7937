// Traces: lanes of slices. Prefix sums give the busy time of a range of slices without iteration.
import { Columns } from "./data";
import type { Model } from "./model";
import { type LoopPart, type PlacedSlice, unfoldLoops } from "./trace_loops";

export const sliceKinds = ["matmul, convolution", "collective", "elementwise, reduce", "data movement", "library call", "loop", "waiting"];
export const kWaiting = 6;
const kKinds = 7;

/** The slices of one stream in order of their start, without overlap. Times are in seconds. */
export class Lane {
  readonly count: number;
  /** For each kind, the total seconds of the slices before slice i. */
  private readonly secondsBefore: Float64Array[];
  /** Number of slices before slice i that are on the critical path. */
  private readonly criticalBefore: Uint32Array | null;
  /** `parts`: for each folded loop, its work by label and kind, which counts instead of the slice itself. */
  constructor(readonly device: string, readonly stream: string, readonly first: number, readonly start: Float64Array, readonly duration: Float64Array, readonly instr: Int32Array, readonly label: Uint32Array, readonly kind: Uint8Array, readonly critical: Uint8Array | null, readonly parts = new Map<number, LoopPart[]>(), private readonly lane = 0) {
    this.count = start.length;
    this.secondsBefore = Array.from({ length: kKinds }, () => new Float64Array(this.count + 1));
    for (let i = 0; i < this.count; ++i) {
      for (let k = 0; k < kKinds; ++k) this.secondsBefore[k]![i + 1] = this.secondsBefore[k]![i]!;
      const loopParts = parts.get(i)?.filter((part) => part.lane === this.lane);
      for (const { kind: k, seconds } of loopParts ?? [{ kind: kind[i]!, seconds: duration[i]! }]) this.secondsBefore[k]![i + 1]! += seconds;
    }
    this.criticalBefore = critical ? new Uint32Array(this.count + 1) : null;
    if (this.criticalBefore) for (let i = 0; i < this.count; ++i) this.criticalBefore[i + 1] = this.criticalBefore[i]! + critical![i]!;
  }

  /** The first slice that ends after `time`. */
  firstEndingAfter(time: number): number {
    let low = 0, high = this.count;
    while (low < high) { const middle = (low + high) >> 1; if (this.start[middle]! + this.duration[middle]! > time) high = middle; else low = middle + 1; }
    return low;
  }
  /** The slice that contains `time`, or -1. */
  sliceAt(time: number): number {
    const i = this.firstEndingAfter(time);
    return i < this.count && this.start[i]! <= time ? i : -1;
  }
  /** Total seconds of one kind in the slices [from, to). */
  busy(kind: number, from: number, to: number): number { return this.secondsBefore[kind]![to]! - this.secondsBefore[kind]![from]!; }
  isCritical(from: number, to: number): boolean { return this.criticalBefore !== null && this.criticalBefore[to]! > this.criticalBefore[from]!; }
}

export interface Trace {
  name: string; predicted: boolean; lanes: Lane[]; labels: string[];
  start: Float64Array; duration: Float64Array; end: number;
  /** Pairs of a slice and a slice that waits for it. */
  flows: [number, number][];
  /** Number of training steps in the trace. */
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
  const critical = columns.has("critical") && columns.u8("critical").length > 0 ? columns.u8("critical") : null;
  const laneOf = new Uint32Array(start.length);
  end.forEach((to, lane) => laneOf.fill(lane, lane === 0 ? 0 : end[lane - 1]!, to));
  const [flowFrom, flowTo] = [columns.u32("flow_from"), columns.u32("flow_to")];
  const pairs = Array.from(flowFrom, (from, i) => [from, flowTo[i]!] as [number, number]);
  const [loopSlices, iterations] = columns.has("loop_slice") ? [columns.u32("loop_slice"), columns.f64("loop_iterations")] : [[], []];
  const { slices, flows, parts } = unfoldLoops({ device, laneOf, start, duration, label, instr, kind }, pairs, loopSlices, iterations);
  const inLanes: PlacedSlice[][] = Array.from(end, () => []);
  for (const slice of slices) inLanes[slice.lane]!.push(slice);
  const placed = inLanes.flatMap((lane) => lane.sort((x, y) => x.start - y.start || x.source - y.source));
  const index = new Map(placed.map((slice, i) => [slice, i]));
  const allStart = Float64Array.from(placed, (slice) => slice.start);
  const allDuration = Float64Array.from(placed, ({ source }) => duration[source]!);
  let first = 0;
  const lanes = inLanes.map((lane, i) => {
    const [from, to] = [first, (first += lane.length)];
    const column = <T>(values: { subarray(from: number, to: number): T }) => values.subarray(from, to);
    const loops = new Map(lane.flatMap(({ source }, k) => (parts.has(source) ? [[k, parts.get(source)!] as [number, LoopPart[]]] : [])));
    return new Lane(about.devices[device[i]!] ?? `device ${device[i]}`, about.streams[stream[i]!] ?? `stream ${stream[i]}`, from, column(allStart), column(allDuration),
      Int32Array.from(lane, ({ source }) => instr[source]!), Uint32Array.from(lane, ({ source }) => label[source]!), Uint8Array.from(lane, ({ source }) => kind[source]!),
      critical && Uint8Array.from(lane, ({ source }) => critical[source]!), loops, i);
  });
  let lastEnd = 0;
  for (let i = 0; i < allStart.length; ++i) lastEnd = Math.max(lastEnd, allStart[i]! + allDuration[i]!);
  return { name: about.name, predicted: about.predicted, lanes, labels: columns.strings("labels"), start: allStart, duration: allDuration, end: lastEnd, flows: flows.map(([from, to]) => [index.get(from)!, index.get(to)!] as [number, number]), steps: about.steps ?? 1 };
}
