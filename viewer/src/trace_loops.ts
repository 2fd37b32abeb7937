// Unfolds the loops of a predicted trace. A prediction simulates two iterations of a loop; one slice stands for the later
// ones. It is replaced by copies of the second iteration, unless there would be too many of them.

const kMaxSlices = 100_000;  // of a trace after unfolding
const kTolerance = 1e-13;    // seconds

/** A slice of the result: slice `source` of the data, `shift` seconds later. */
export interface PlacedSlice { source: number; lane: number; start: number }
/** The slices of one instruction inside a loop that is not unfolded. */
export interface LoopPart { label: number; instr: number; kind: number; lane: number; count: number; seconds: number }
/** The slices of one trace, as columns. `device[lane]` is the device of a lane. */
export interface SliceColumns { device: Uint32Array; laneOf: Uint32Array; start: Float64Array; duration: Float64Array; label: Uint32Array; instr: Int32Array; kind: Uint8Array }
/** `slices` and `flows` (pairs of slices) replace those of the data. `parts`: for each loop that stays folded, by `source`. */
export interface Unfolded { slices: PlacedSlice[]; flows: [PlacedSlice, PlacedSlice][]; parts: Map<number, LoopPart[]> }

export function unfoldLoops(columns: SliceColumns, flows: [number, number][], loopSlices: ArrayLike<number>, iterations: ArrayLike<number>): Unfolded {
  const all: PlacedSlice[] = Array.from(columns.start, (start, source) => ({ source, lane: columns.laneOf[source]!, start }));
  const out: Unfolded = { slices: [...all], flows: flows.map(([from, to]) => [all[from]!, all[to]!]), parts: new Map() };
  // An inner loop ends before the later iterations of the outer loop begin, so it is unfolded before it is copied.
  const order = Array.from({ length: loopSlices.length }, (_, i) => i).sort((x, y) => columns.start[loopSlices[x]!]! - columns.start[loopSlices[y]!]!);
  for (const loop of order) unfold(columns, out, all[loopSlices[loop]!]!, iterations[loop]!);
  return out;
}

/** Unfolds one loop, whose second iteration ends where `folded` starts. */
function unfold(columns: SliceColumns, out: Unfolded, folded: PlacedSlice, iterations: number): void {
  const period = columns.duration[folded.source]! / iterations;
  const device = columns.device[folded.lane]!;
  const body = out.slices.filter(({ start, lane }) => columns.device[lane] === device && start >= folded.start - period - kTolerance && start < folded.start - kTolerance);
  if (!(period > 0) || out.slices.length + body.length * iterations > kMaxSlices) {
    out.parts.set(folded.source, partsOf(columns, out, body, iterations));
    return;
  }
  out.slices.splice(out.slices.indexOf(folded), 1);
  const inBody = new Set(body);
  const innerFlows = out.flows.filter(([from, to]) => inBody.has(from) && inBody.has(to));
  for (let i = 1; i <= iterations; ++i) {
    const copies = new Map(body.map((slice) => [slice, { ...slice, start: slice.start + i * period }]));
    for (const copy of copies.values()) out.slices.push(copy);
    for (const [from, to] of innerFlows) out.flows.push([copies.get(from)!, copies.get(to)!]);
  }
}

/** The work of `iterations` iterations, whose slices are `body`. */
function partsOf(columns: SliceColumns, { parts }: Unfolded, body: PlacedSlice[], iterations: number): LoopPart[] {
  const sums = new Map<string, LoopPart>();
  const add = (part: LoopPart) => {
    const key = `${part.label} ${part.instr} ${part.kind} ${part.lane}`;
    const sum = sums.get(key) ?? { ...part, count: 0, seconds: 0 };
    sum.count += part.count * iterations;
    sum.seconds += part.seconds * iterations;
    sums.set(key, sum);
  };
  for (const { source, lane } of body) {
    const inner = parts.get(source);
    if (inner) inner.forEach(add);
    else add({ label: columns.label[source]!, instr: columns.instr[source]!, kind: columns.kind[source]!, lane, count: 1, seconds: columns.duration[source]! });
  }
  return [...sums.values()];
}
