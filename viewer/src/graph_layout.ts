// The layout of Graph: the neighbourhood of one instruction, or a whole computation with its scopes as nested boxes. An
// expanded node contains its called computations.
import { formatCount } from "./format";
import { arrange, type BoxEdge } from "./graph_layers";
import { groupByScope, type ScopeGroup } from "./graph_scopes";
import { Kind } from "./instructions";
import type { Model } from "./model";

export const kWidth = 168, kHeight = 40, kPad = 12, kTitle = 18;
const kMaxNodes = 60, kAutoHops = 2;      // nodes of a neighbourhood; hops that are expanded without a click
const kMaxBodySize = 300, kMaxDepth = 8;  // instructions and nesting depth of a computation that is drawn whole
const kMaxOpen = 60;                      // scopes are open in computations of up to this number of instructions

/** `ids`: the operands and users that the edge stands for. `from` and `to` are indices of nodes or ports. */
export interface Edge extends BoxEdge { ids: [number, number][]; bytes: number }
/** An instruction, a scope, or, if `stub` is not empty, further operands (`up`) or users of `owner`. */
export interface Node { id: number; x: number; y: number; width: number; height: number; callees: CalleeLayout[]; stub: string; owner: number; up: boolean; scope: ScopeBox | null }
/** `key`: for opening and closing; `layout`: null if the scope is closed. */
export interface ScopeBox { name: string; key: string; ids: number[]; layout: Layout | null }
/** A computation called by an expanded node. x and y are relative to the node; `layout`: null if too large. */
export interface CalleeLayout { title: string; x: number; y: number; width: number; height: number; layout: Layout | null }
/** `input`, `output`: where edges from and to the outside of a scope cross its border; -1: none. */
export interface Layout { nodes: Node[]; edges: Edge[]; width: number; height: number; input: number; output: number }

export class GraphLayout {
  private readonly sizes = new Map<string, number>();
  /** `toggled`: keys of scopes that are closed instead of open, or open instead of closed. */
  constructor(private readonly model: Model, private readonly expanded: ReadonlySet<number>, private readonly neighbourLimits: ReadonlyMap<string, number>, private readonly toggled: ReadonlySet<string>) {}

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
    const nodes = [this.node(centre, 0)];
    const edges = new EdgeList();
    const seen = new Map([[centre, 0]]);
    for (const up of [true, false]) {
      let frontier = [centre];
      for (let hop = 1; hop <= kAutoHops + 4 && frontier.length > 0; ++hop) frontier = frontier.flatMap((from) => this.expand(from, up, hop, nodes, seen, edges));
    }
    return finish(nodes, edges, false);
  }

  /** Adds the neighbours of `from` in one direction, with a stub for omitted ones. Returns the new instructions. */
  private expand(from: number, up: boolean, hop: number, nodes: Node[], seen: Map<number, number>, edges: EdgeList): number[] {
    const all = this.neighbours(from, up);
    const chosenLimit = this.neighbourLimits.get(`${from} ${up}`);
    const limit = chosenLimit ?? (hop > kAutoHops ? 0 : hop === 1 ? 10 : 4);
    const weight = (id: number) => this.model.instr.bytes[id]! + this.model.instr.flops[id]! / 100 + this.bytesOf(id);
    const visibleIds = new Set([...all].sort((x, y) => weight(y) - weight(x)).slice(0, limit));
    const fromNode = seen.get(from)!;
    const added: number[] = [];
    let hiddenCount = 0;
    for (const id of all) {
      const isNew = !seen.has(id);
      if (isNew && (!visibleIds.has(id) || seen.size >= kMaxNodes + (chosenLimit ?? 0))) { ++hiddenCount; continue; }
      if (isNew) { seen.set(id, nodes.length); nodes.push(this.node(id, 0)); added.push(id); }
      const [operand, user] = up ? [id, from] : [from, id];
      edges.add(seen.get(operand)!, seen.get(user)!, operand, user, this.bytesOf(operand));
    }
    if (hiddenCount > 0) {
      edges.add(up ? nodes.length : fromNode, up ? fromNode : nodes.length, -1, -1, 0);
      nodes.push({ ...this.node(-1, 0), stub: `+ ${formatCount(hiddenCount)} ${up ? "operand" : "user"}${hiddenCount === 1 ? "" : "s"}`, owner: from, up });
    }
    return added;
  }

  /** A whole computation, each instruction below its operands; null if it has more than kMaxBodySize instructions. */
  layoutComputation(computation: number, depth = 0): Layout | null {
    const [first, end] = this.model.bodyOf(computation);
    if (end - first > kMaxBodySize || depth > kMaxDepth) return null;
    const ids = Array.from({ length: end - first }, (_, i) => first + i);
    const scopes = this.scopesOf(ids);
    const groups = groupByScope(ids, (id) => scopes.get(id)!, (id) => [...this.model.operands(id)]);
    return this.layoutGroups(groups, { depth, nesting: 0, isOpen: ids.length <= kMaxOpen });
  }

  /** The scopes of instructions without the part that all have in common. Constants have the scope of their users. */
  private scopesOf(ids: number[]): Map<number, string[]> {
    const { model } = this;
    const own = (id: number) => model.scope(id).split("/").filter((each) => each !== "").slice(0, -1);
    const named = ids.filter((id) => model.scope(id) !== "");
    const shared = named.length > 0 ? own(named[0]!) : [];
    for (const id of named) { const parts = own(id); while (shared.some((each, i) => each !== parts[i])) shared.pop(); }
    const scopes = new Map(ids.map((id) => [id, own(id).slice(shared.length)]));
    for (const id of [...ids].reverse()) {
      if (model.instr.kind[id] !== Kind.None || model.operands(id).length > 0 || model.opcode(id) === "parameter") continue;
      const users = model.users(id).map((user) => scopes.get(user) ?? []);
      if (users.length > 0 && users.every((each) => each.join("/") === users[0]!.join("/"))) scopes.set(id, users[0]!);
    }
    return scopes;
  }

  /** Lays out groups and the edges between them. Edges from or to the outside of a scope end at its border. */
  private layoutGroups(groups: ScopeGroup[], at: { depth: number; nesting: number; isOpen: boolean }): Layout {
    const boxOf = new Map<number, number>();
    const nodes = groups.map((group, i) => {
      for (const id of instructionsOf(group)) boxOf.set(id, i);
      return group.members.length === 0 ? this.node(group.id, at.depth) : this.scopeNode(group, at);
    });
    const [input, output] = [nodes.length, nodes.length + 1];
    const edges = new EdgeList();
    for (const [id, box] of boxOf) {
      for (const operand of new Set(this.model.operands(id))) if (at.nesting > 0 || boxOf.has(operand)) edges.add(boxOf.get(operand) ?? input, box, operand, id, this.bytesOf(operand));
      if (at.nesting > 0) for (const user of this.model.users(id)) if (!boxOf.has(user)) edges.add(box, output, id, user, this.bytesOf(id));
    }
    return finish(nodes, edges, at.nesting > 0);
  }

  private scopeNode(group: ScopeGroup, at: { depth: number; nesting: number; isOpen: boolean }): Node {
    const ids = instructionsOf(group);
    const key = `${ids[0]}.${at.nesting}`;
    const isOpen = at.isOpen !== this.toggled.has(key);
    const layout = isOpen ? this.layoutGroups(group.members, { ...at, nesting: at.nesting + 1 }) : null;
    const node = this.node(-1, 0);
    node.scope = { name: group.name, key, ids, layout };
    if (layout) { node.width = Math.max(layout.width + 2 * kPad, kWidth); node.height = kTitle + layout.height + 2 * kPad; }
    return node;
  }

  /** Creates a node. An expanded node includes the layouts of its called computations. */
  private node(id: number, depth: number): Node {
    const node: Node = { id, x: 0, y: 0, width: kWidth, height: kHeight, callees: [], stub: "", owner: -1, up: false, scope: null };
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
}

/** Edges without duplicates: those between the same boxes become one. */
class EdgeList {
  readonly all = new Map<string, Edge>();
  add(from: number, to: number, operand: number, user: number, bytes: number): void {
    if (from === to) return;
    const key = `${from} ${to}`;
    const edge = this.all.get(key) ?? { from, to, path: "", ids: [], bytes: 0 };
    if (!edge.ids.some(([each]) => each === operand)) edge.bytes += bytes;
    edge.ids.push([operand, user]);
    this.all.set(key, edge);
  }
}

/** Assigns coordinates. With `hasPorts`, boxes of size 0 at the top and bottom stand for the outside. */
function finish(nodes: Node[], list: EdgeList, hasPorts: boolean): Layout {
  const edges = [...list.all.values()];
  const port = () => ({ x: 0, y: 0, width: 2, height: 0 });
  const [input, output] = [port(), port()];
  const [top, bottom] = [nodes.length, nodes.length + 1];
  const hasInput = edges.some(({ from }) => from === top), hasOutput = edges.some(({ to }) => to === bottom);
  if (!hasPorts || (!hasInput && !hasOutput)) return { nodes, edges, ...arrange(nodes, edges), input: -1, output: -1 };
  // Invisible edges keep the ports above and below everything else.
  const connects = (side: "from" | "to", i: number) => edges.some((edge) => edge[side] === i);
  const invisible = [...nodes.flatMap((_, i) => [...(connects("to", i) ? [] : [{ from: top, to: i, path: "" }]), ...(connects("from", i) ? [] : [{ from: i, to: bottom, path: "" }])])];
  const size = arrange([...nodes, input, output], [...edges, ...invisible]);
  return { nodes, edges, ...size, input: hasInput ? input.x + 1 : -1, output: hasOutput ? output.x + 1 : -1 };
}

export function instructionsOf(group: ScopeGroup): number[] { return group.members.length === 0 ? [group.id] : group.members.flatMap(instructionsOf); }

/** All instructions of a layout, also those inside open scopes. */
export function nodesOf(layout: Layout): Node[] { return layout.nodes.flatMap((node) => (node.scope ? (node.scope.layout ? nodesOf(node.scope.layout) : []) : [node])); }

/** Bytes of a type: "bf16[4,1024]" → 8192. For a tuple, the sum of its elements. */
export function bytesOfType(type: string): number {
  let total = 0;
  for (const [, element, dims] of type.matchAll(/([a-z]+\d*[a-z0-9]*)\[([0-9,<=?]*)\]/g)) {
    const bits = element === "pred" ? 8 : Number(/\d+/.exec(element!)?.[0] ?? 0);
    let elements = 1;
    for (const dim of dims!.split(",")) if (dim !== "") elements *= Number(dim.replace(/[^0-9]/g, "")) || 0;
    total += (elements * Math.max(bits, 1)) / 8;
  }
  return total;
}
