// Layered layout of a directed graph. Every edge runs between adjacent layers or through gaps that are reserved for it, so
// no edge crosses a node.

export const kGapX = 18, kGapY = 44;
const kSweeps = 8;
const kBendWeight = 4;  // long edges are kept straight more strongly than short ones

/** A box of the graph. x, y: its top left corner, assigned by arrange(). */
export interface Box { x: number; y: number; width: number; height: number }
/** `path`: the SVG path of the edge, assigned by arrange(). */
export interface BoxEdge { from: number; to: number; path: string }

/** A box or a gap for an edge that passes through its layer (`box` is null). */
interface Slot { box: Box | null; layer: number; width: number; centre: number; above: Slot[]; below: Slot[] }

/** Places boxes in layers, each below those that it has edges from. Edges are indices of boxes. Returns the total size. */
export function arrange(boxes: Box[], edges: BoxEdge[]): { width: number; height: number } {
  const layers = layersOf(boxes.length, edges);
  const slots: Slot[] = boxes.map((box, i) => ({ box, layer: layers[i]!, width: box.width, centre: 0, above: [], below: [] }));
  const chains = edges.map((edge) => chainOf(edge, slots));
  const rows: Slot[][] = [];
  for (const slot of slots) (rows[slot.layer] ??= []).push(slot);
  placeRows(rows);
  const tops = rowTops(rows);
  const left = Math.min(...slots.map((slot) => slot.centre - slot.width / 2), 0);
  for (const slot of slots) {
    slot.centre -= left;
    if (slot.box) { slot.box.x = slot.centre - slot.width / 2; slot.box.y = tops[slot.layer]!.top; }
  }
  edges.forEach((edge, i) => { edge.path = pathOf(chains[i]!, tops); });
  return { width: Math.max(...slots.map((slot) => slot.centre + slot.width / 2), 0), height: tops.length > 0 ? tops[tops.length - 1]!.bottom : 0 };
}

/** The layer of each box: below all boxes with an edge to it, and as close as possible to those that it has edges to. */
function layersOf(count: number, edges: BoxEdge[]): number[] {
  const out: number[][] = Array.from({ length: count }, () => []), missing = new Array<number>(count).fill(0);
  for (const { from, to } of edges) { out[from]!.push(to); ++missing[to]!; }
  const layers = new Array<number>(count).fill(0);
  const order = missing.flatMap((n, i) => (n === 0 ? [i] : []));
  for (let at = 0; at < order.length; ++at)
    for (const to of out[order[at]!]!) {
      layers[to] = Math.max(layers[to]!, layers[order[at]!]! + 1);
      if (--missing[to]! === 0) order.push(to);
    }
  for (const i of order.reverse()) if (out[i]!.length > 0) layers[i] = Math.min(...out[i]!.map((to) => layers[to]!)) - 1;
  const first = Math.min(...layers, Infinity);
  return layers.map((layer) => layer - first);
}

/** The slots of an edge from top to bottom. Adds those that the edge needs in the layers between its ends. */
function chainOf({ from, to }: BoxEdge, slots: Slot[]): Slot[] {
  const [first, last] = [slots[from]!, slots[to]!];
  const chain = [first];
  for (let layer = first.layer + 1; layer < last.layer; ++layer) {
    const slot: Slot = { box: null, layer, width: 2, centre: 0, above: [], below: [] };
    slots.push(slot);
    chain.push(slot);
  }
  chain.push(last);
  for (let i = 0; i + 1 < chain.length; ++i) { chain[i]!.below.push(chain[i + 1]!); chain[i + 1]!.above.push(chain[i]!); }
  return chain;
}

/** Orders each row by the mean position of its neighbours in the rows above and below, alternately. */
function placeRows(rows: Slot[][]): void {
  for (const row of rows) placeRow(row, row.map(() => 0));
  for (let sweep = 0; sweep < kSweeps; ++sweep) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      const isLast = sweep >= kSweeps - 2;
      const target = new Map(row.map((slot) => {
        const neighbours = isLast ? [...slot.above, ...slot.below] : down ? slot.above : slot.below;
        return [slot, neighbours.length > 0 ? neighbours.reduce((sum, { centre }) => sum + centre, 0) / neighbours.length : slot.centre] as [Slot, number];
      }));
      if (!isLast) row.sort((a, b) => target.get(a)! - target.get(b)!);
      placeRow(row, row.map((slot) => target.get(slot)!));
    }
  }
}

/** Places the slots of a row without overlap, in their order, as close to their targets as possible (least squares). */
function placeRow(row: Slot[], targets: number[]): void {
  let offset = 0;
  const blocks: { mean: number; weight: number; count: number }[] = [];
  const offsets = row.map((slot, i) => {
    const own = offset + slot.width / 2;
    offset += slot.width + kGapX;
    let block = { mean: targets[i]! - own, weight: slot.box ? 1 : kBendWeight, count: 1 };
    for (let last = blocks[blocks.length - 1]; last && last.mean >= block.mean; last = blocks[blocks.length - 1]) {
      const weight = last.weight + block.weight;
      block = { mean: (last.mean * last.weight + block.mean * block.weight) / weight, weight, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
    return own;
  });
  let i = 0;
  for (const { mean, count } of blocks) for (const end = i + count; i < end; ++i) row[i]!.centre = mean + offsets[i]!;
}

function rowTops(rows: Slot[][]): { top: number; bottom: number }[] {
  let y = 0;
  return rows.map((row) => {
    const top = y, bottom = top + Math.max(...row.map((slot) => slot.box?.height ?? 0));
    y = bottom + kGapY;
    return { top, bottom };
  });
}

/** Vertical inside the rows, curved in the gaps between them. */
function pathOf(chain: Slot[], tops: { top: number; bottom: number }[]): string {
  const first = chain[0]!;
  const parts = [`M${first.centre.toFixed(1)} ${(tops[first.layer]!.top + first.box!.height).toFixed(1)}V${tops[first.layer]!.bottom}`];
  for (let i = 1; i < chain.length; ++i) {
    const [x, nextX] = [chain[i - 1]!.centre.toFixed(1), chain[i]!.centre.toFixed(1)];
    const y = tops[chain[i - 1]!.layer]!.bottom, { top, bottom } = tops[chain[i]!.layer]!;
    parts.push(`C${x} ${(y + top) / 2} ${nextX} ${(y + top) / 2} ${nextX} ${top}`);
    if (i + 1 < chain.length) parts.push(`V${bottom}`);
  }
  return parts.join("");
}
