// Where the nodes of Graph stand: layers around an instruction, or a whole computation; an open node holds what it calls.
import { count } from "./format";
import type { Model } from "./model";

export const kWidth = 168, kHeight = 40, kGapX = 18, kGapY = 58, kPad = 12, kTitle = 18;
const kMost = 60, kSteps = 2;
const kMostInside = 300, kDeepest = 8;

export interface Edge { from: number; to: number; bytes: number }
/** An instruction, or a stub that stands for more neighbours of its owner. x, y: the left top corner. */
export interface Node { id: number; x: number; y: number; width: number; height: number; inside: Inside[]; stub: string; owner: number; up: boolean }
/** A computation that an open node calls; its place is counted from the node's. */
export interface Inside { title: string; x: number; y: number; width: number; height: number; layout: Layout | null }
export interface Layout { nodes: Node[]; edges: Edge[]; width: number; height: number }

interface Layered extends Node { layer: number; centre: number }

export class GraphLayout {
  private readonly sizes = new Map<string, number>();
  constructor(private readonly model: Model, private readonly open: ReadonlySet<number>, private readonly opened: ReadonlyMap<string, number>) {}

  /** What an edge carries: bytes of the operand. */
  private size(id: number): number {
    const type = this.model.type(id);
    let size = this.sizes.get(type);
    if (size === undefined) this.sizes.set(type, (size = bytesOfType(type)));
    return size;
  }
  private neighbours(id: number, up: boolean): number[] { return up ? [...new Set(this.model.operands(id))] : this.model.users(id); }

  /** Layers around the centre, at most kMost nodes; the rest are stubs that open. */
  around(centre: number): Layout {
    const nodes = [this.node(centre, 0, 0)];
    const seen = new Set([centre]);
    const edges: Edge[] = [];
    for (const up of [true, false]) {
      let frontier = [nodes[0]!];
      for (let step = 1; step <= kSteps + 4 && frontier.length > 0; ++step) frontier = frontier.flatMap((from) => this.grow(from, up, step, nodes, seen, edges));
    }
    return this.placed(nodes, dedupe(edges));
  }

  private grow(from: Layered, up: boolean, step: number, nodes: Layered[], seen: Set<number>, edges: Edge[]): Layered[] {
    const layer = from.layer + (up ? -1 : 1);
    const all = this.neighbours(from.id, up);
    const asked = this.opened.get(`${from.id} ${up}`);
    const most = asked ?? (step > kSteps ? 0 : step === 1 ? 10 : 4);
    const heavy = (id: number) => this.model.instr.bytes[id]! + this.model.instr.flops[id]! / 100 + this.size(id);
    const shown = new Set([...all].sort((x, y) => heavy(y) - heavy(x)).slice(0, most));
    const made: Layered[] = [];
    let rest = 0;
    for (const id of all) {
      const isNew = !seen.has(id);
      if (isNew && (!shown.has(id) || seen.size >= kMost + (asked ?? 0))) { ++rest; continue; }
      edges.push(up ? { from: id, to: from.id, bytes: this.size(id) } : { from: from.id, to: id, bytes: this.size(from.id) });
      if (!isNew) continue;
      seen.add(id);
      made.push(this.node(id, layer, 0));
    }
    nodes.push(...made);
    if (rest > 0) nodes.push({ ...this.node(-1, layer, 0), stub: `+ ${count(rest)} ${up ? "operand" : "user"}${rest === 1 ? "" : "s"}`, owner: from.id, up });
    return made;
  }

  /** A whole computation, each instruction below its operands; null if it has too many. */
  whole(computation: number, depth = 0): Layout | null {
    const [first, end] = this.model.bodyOf(computation);
    if (end - first > kMostInside || depth > kDeepest) return null;
    const layers = new Map<number, number>();
    const nodes: Layered[] = [];
    const edges: Edge[] = [];
    for (let id = first; id < end; ++id) {
      let layer = 0;
      for (const operand of this.model.operands(id)) layer = Math.max(layer, (layers.get(operand) ?? -1) + 1);
      layers.set(id, layer);
      nodes.push(this.node(id, layer, depth));
      for (const operand of new Set(this.model.operands(id))) if (layers.has(operand)) edges.push({ from: operand, to: id, bytes: this.size(operand) });
    }
    return this.placed(nodes, edges);
  }

  /** A node with what it holds if it is open. */
  private node(id: number, layer: number, depth: number): Layered {
    const node: Layered = { id, layer, centre: 0, x: 0, y: 0, width: kWidth, height: kHeight, inside: [], stub: "", owner: -1, up: false };
    if (id < 0 || !this.open.has(id)) return node;
    let x = kPad, height = 0;
    for (const computation of this.model.calls(id)) {
      const layout = this.whole(computation, depth + 1);
      const [first, end] = this.model.bodyOf(computation);
      const title = `${this.model.computationNames[computation]}${layout ? "" : `: ${count(end - first)} instructions; Program shows them folded`}`;
      const inside = { title, x, y: kHeight, width: Math.max(layout?.width ?? 0, layout ? 150 : 340), height: (layout?.height ?? 0) + kTitle, layout };
      node.inside.push(inside);
      x += inside.width + kPad;
      height = Math.max(height, inside.height);
    }
    if (node.inside.length > 0) { node.width = Math.max(x, kWidth); node.height = kHeight + height + kPad; }
    return node;
  }

  /** Each layer in the order of the mean place of its neighbours, after a few sweeps. */
  private placed(nodes: Layered[], edges: Edge[]): Layout {
    const layers = new Map<number, Layered[]>();
    for (const node of nodes) (layers.get(node.layer) ?? layers.set(node.layer, []).get(node.layer)!).push(node);
    const numbers = [...layers.keys()].sort((a, b) => a - b);
    const byId = new Map(nodes.filter((node) => node.id >= 0).map((node) => [node.id, node]));
    const beside = new Map<number, Layered[]>();
    const join = (a: number, b: number) => { const other = byId.get(b); if (other) (beside.get(a) ?? beside.set(a, []).get(a)!).push(other); };
    for (const { from, to } of edges) { join(from, to); join(to, from); }
    const spread = (list: Layered[], middle: number) => {
      let x = middle - (list.reduce((sum, node) => sum + node.width + kGapX, 0) - kGapX) / 2;
      for (const node of list) { node.x = x; node.centre = x + node.width / 2; x += node.width + kGapX; }
    };
    for (const list of layers.values()) spread(list, 0);
    for (let sweep = 0; sweep < 4; ++sweep)
      for (const number of sweep % 2 === 0 ? numbers : [...numbers].reverse()) {
        const list = layers.get(number)!;
        const wish = new Map<Layered, number>();
        for (const node of list) {
          const near = node.id < 0 ? [byId.get(node.owner)!.centre + 1] : (beside.get(node.id) ?? []).filter((other) => other.layer !== node.layer).map((other) => other.centre);
          wish.set(node, near.length > 0 ? near.reduce((a, b) => a + b, 0) / near.length : node.centre);
        }
        list.sort((x, y) => wish.get(x)! - wish.get(y)!);
        spread(list, list.reduce((sum, node) => sum + wish.get(node)!, 0) / list.length);
      }
    let y = 0;
    for (const number of numbers) {
      const list = layers.get(number)!;
      for (const node of list) node.y = y;
      y += Math.max(...list.map((node) => node.height)) + kGapY;
    }
    const left = Math.min(...nodes.map((node) => node.x));
    for (const node of nodes) node.x -= left;
    return { nodes, edges, width: Math.max(...nodes.map((node) => node.x + node.width)), height: y - kGapY };
  }
}

function dedupe(edges: Edge[]): Edge[] { return [...new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()]; }

/** "bf16[4,1024]" → 8192; tuples are summed. */
function bytesOfType(type: string): number {
  let sum = 0;
  for (const [, element, dims] of type.matchAll(/([a-z]+\d*[a-z0-9]*)\[([0-9,<=?]*)\]/g)) {
    const bits = element === "pred" ? 8 : Number(/\d+/.exec(element!)?.[0] ?? 0);
    let elements = 1;
    for (const dim of dims!.split(",")) if (dim !== "") elements *= Number(dim.replace(/[^0-9]/g, "")) || 0;
    sum += (elements * Math.max(bits, 1)) / 8;
  }
  return sum;
}
