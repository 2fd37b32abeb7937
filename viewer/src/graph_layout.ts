// The layout of Graph: layers around one instruction, or a whole computation. An expanded node contains its called
// computations.
import { formatCount } from "./format";
import type { Model } from "./model";

export const kWidth = 168, kHeight = 40, kGapX = 18, kGapY = 58, kPad = 12, kTitle = 18;
const kMaxNodes = 60, kAutoHops = 2;      // nodes of a neighbourhood; hops that are expanded without a click
const kMaxBodySize = 300, kMaxDepth = 8;  // instructions and nesting depth of a computation that is drawn whole

export interface Edge { from: number; to: number; bytes: number }
/** An instruction. If id is -1, a stub for further operands (`up`) or users of `owner`. x, y: top left corner. */
export interface Node { id: number; x: number; y: number; width: number; height: number; callees: CalleeLayout[]; stub: string; owner: number; up: boolean }
/** A computation called by an expanded node. x and y are relative to the node; `layout`: null if too large. */
export interface CalleeLayout { title: string; x: number; y: number; width: number; height: number; layout: Layout | null }
export interface Layout { nodes: Node[]; edges: Edge[]; width: number; height: number }

interface LayeredNode extends Node { layer: number; centre: number }

export class GraphLayout {
  private readonly sizes = new Map<string, number>();
  constructor(private readonly model: Model, private readonly expanded: ReadonlySet<number>, private readonly neighbourLimits: ReadonlyMap<string, number>) {}

  /** Bytes of an instruction's result: the weight of the edges to its users. */
  private bytesOf(id: number): number {
    const type = this.model.type(id);
    let bytes = this.sizes.get(type);
    if (bytes === undefined) this.sizes.set(type, (bytes = bytesOfType(type)));
    return bytes;
  }
  private neighbours(id: number, up: boolean): number[] { return up ? [...new Set(this.model.operands(id))] : this.model.users(id); }

  /** Lays out at most kMaxNodes nodes in layers around the centre. Stubs, which can be expanded, replace the others. */
  layoutNeighbourhood(centre: number): Layout {
    const nodes = [this.node(centre, 0, 0)];
    const seen = new Set([centre]);
    const edges: Edge[] = [];
    for (const up of [true, false]) {
      let frontier = [nodes[0]!];
      for (let hop = 1; hop <= kAutoHops + 4 && frontier.length > 0; ++hop) frontier = frontier.flatMap((from) => this.expand(from, up, hop, nodes, seen, edges));
    }
    return this.assignPositions(nodes, dedupe(edges));
  }

  /** Adds the neighbours of `from` in one direction, with a stub for omitted ones. Returns the new nodes. */
  private expand(from: LayeredNode, up: boolean, hop: number, nodes: LayeredNode[], seen: Set<number>, edges: Edge[]): LayeredNode[] {
    const layer = from.layer + (up ? -1 : 1);
    const all = this.neighbours(from.id, up);
    const chosenLimit = this.neighbourLimits.get(`${from.id} ${up}`);
    const limit = chosenLimit ?? (hop > kAutoHops ? 0 : hop === 1 ? 10 : 4);
    const weight = (id: number) => this.model.instr.bytes[id]! + this.model.instr.flops[id]! / 100 + this.bytesOf(id);
    const visibleIds = new Set([...all].sort((x, y) => weight(y) - weight(x)).slice(0, limit));
    const newNodes: LayeredNode[] = [];
    let hiddenCount = 0;
    for (const id of all) {
      const isNew = !seen.has(id);
      if (isNew && (!visibleIds.has(id) || seen.size >= kMaxNodes + (chosenLimit ?? 0))) { ++hiddenCount; continue; }
      edges.push(up ? { from: id, to: from.id, bytes: this.bytesOf(id) } : { from: from.id, to: id, bytes: this.bytesOf(from.id) });
      if (!isNew) continue;
      seen.add(id);
      newNodes.push(this.node(id, layer, 0));
    }
    nodes.push(...newNodes);
    if (hiddenCount > 0) nodes.push({ ...this.node(-1, layer, 0), stub: `+ ${formatCount(hiddenCount)} ${up ? "operand" : "user"}${hiddenCount === 1 ? "" : "s"}`, owner: from.id, up });
    return newNodes;
  }

  /** A whole computation, each instruction below its operands; null if it has more than kMaxBodySize instructions. */
  layoutComputation(computation: number, depth = 0): Layout | null {
    const [first, end] = this.model.bodyOf(computation);
    if (end - first > kMaxBodySize || depth > kMaxDepth) return null;
    const layers = new Map<number, number>();
    const nodes: LayeredNode[] = [];
    const edges: Edge[] = [];
    for (let id = first; id < end; ++id) {
      let layer = 0;
      for (const operand of this.model.operands(id)) layer = Math.max(layer, (layers.get(operand) ?? -1) + 1);
      layers.set(id, layer);
      nodes.push(this.node(id, layer, depth));
      for (const operand of new Set(this.model.operands(id))) if (layers.has(operand)) edges.push({ from: operand, to: id, bytes: this.bytesOf(operand) });
    }
    return this.assignPositions(nodes, edges);
  }

  /** Creates a node. An expanded node includes the layouts of its called computations. */
  private node(id: number, layer: number, depth: number): LayeredNode {
    const node: LayeredNode = { id, layer, centre: 0, x: 0, y: 0, width: kWidth, height: kHeight, callees: [], stub: "", owner: -1, up: false };
    if (id < 0 || !this.expanded.has(id)) return node;
    let x = kPad, height = 0;
    for (const computation of this.model.calls(id)) {
      const layout = this.layoutComputation(computation, depth + 1);
      const [first, end] = this.model.bodyOf(computation);
      const title = `${this.model.computationNames[computation]}${layout ? "" : `: ${formatCount(end - first)} instructions, too many to draw; see Program`}`;
      const callee = { title, x, y: kHeight, width: Math.max(layout?.width ?? 0, layout ? 150 : 340), height: (layout?.height ?? 0) + kTitle, layout };
      node.callees.push(callee);
      x += callee.width + kPad;
      height = Math.max(height, callee.height);
    }
    if (node.callees.length > 0) { node.width = Math.max(x, kWidth); node.height = kHeight + height + kPad; }
    return node;
  }

  /** Assigns coordinates. A few sweeps sort the nodes of each layer by the mean x of their neighbours. */
  private assignPositions(nodes: LayeredNode[], edges: Edge[]): Layout {
    const layers = new Map<number, LayeredNode[]>();
    for (const node of nodes) (layers.get(node.layer) ?? layers.set(node.layer, []).get(node.layer)!).push(node);
    const numbers = [...layers.keys()].sort((a, b) => a - b);
    const byId = new Map(nodes.filter((node) => node.id >= 0).map((node) => [node.id, node]));
    const neighboursOf = new Map<number, LayeredNode[]>();
    const link = (a: number, b: number) => { const other = byId.get(b); if (other) (neighboursOf.get(a) ?? neighboursOf.set(a, []).get(a)!).push(other); };
    for (const { from, to } of edges) { link(from, to); link(to, from); }
    const placeRow = (row: LayeredNode[], middle: number) => {
      let x = middle - (row.reduce((sum, node) => sum + node.width + kGapX, 0) - kGapX) / 2;
      for (const node of row) { node.x = x; node.centre = x + node.width / 2; x += node.width + kGapX; }
    };
    for (const row of layers.values()) placeRow(row, 0);
    for (let sweep = 0; sweep < 4; ++sweep)
      for (const number of sweep % 2 === 0 ? numbers : [...numbers].reverse()) {
        const row = layers.get(number)!;
        const targetX = new Map<LayeredNode, number>();
        for (const node of row) {
          const centres = node.id < 0 ? [byId.get(node.owner)!.centre + 1] : (neighboursOf.get(node.id) ?? []).filter((other) => other.layer !== node.layer).map((other) => other.centre);
          targetX.set(node, centres.length > 0 ? centres.reduce((a, b) => a + b, 0) / centres.length : node.centre);
        }
        row.sort((x, y) => targetX.get(x)! - targetX.get(y)!);
        placeRow(row, row.reduce((sum, node) => sum + targetX.get(node)!, 0) / row.length);
      }
    let y = 0;
    for (const number of numbers) {
      const row = layers.get(number)!;
      for (const node of row) node.y = y;
      y += Math.max(...row.map((node) => node.height)) + kGapY;
    }
    const left = Math.min(...nodes.map((node) => node.x));
    for (const node of nodes) node.x -= left;
    return { nodes, edges, width: Math.max(...nodes.map((node) => node.x + node.width)), height: y - kGapY };
  }
}

function dedupe(edges: Edge[]): Edge[] { return [...new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()]; }

/** Bytes of a type: "bf16[4,1024]" → 8192. For a tuple, the sum of its elements. */
function bytesOfType(type: string): number {
  let total = 0;
  for (const [, element, dims] of type.matchAll(/([a-z]+\d*[a-z0-9]*)\[([0-9,<=?]*)\]/g)) {
    const bits = element === "pred" ? 8 : Number(/\d+/.exec(element!)?.[0] ?? 0);
    let elements = 1;
    for (const dim of dims!.split(",")) if (dim !== "") elements *= Number(dim.replace(/[^0-9]/g, "")) || 0;
    total += (elements * Math.max(bits, 1)) / 8;
  }
  return total;
}
