// A module's cost as a tree: by scope, by module of the model, by source line, or by program structure.
import { MemoryData } from "./memory_data";
import type { Model } from "./model";
import { RowKind } from "./rows";

export type Grouping = "scope" | "module" | "line" | "skeleton";
export type Metric = "flops" | "bytes" | "wire" | "seconds" | "memory";

/** `value` includes the children; `instructions` are those of the node itself. */
/** A kind besides those of instructions: custom calls whose cost is unknown. */
export const kUnknownCall = 7;

export interface TreeNode { name: string; parent: TreeNode | null; children: Map<string, TreeNode>; value: number; instructions: number[]; byKind: Float64Array }

function makeNode(label: string, parent: TreeNode | null): TreeNode {
  return { name: label, parent, children: new Map(), value: 0, instructions: [], byKind: new Float64Array(kUnknownCall + 1) };
}
function addValue(node: TreeNode, value: number, kind: number): void {
  node.value += value;
  node.byKind[kind]! += value;
}

/** Sums `values`, the metric of each instruction, into a tree whose leaves are op labels. */
export function buildCostTree(model: Model, grouping: Grouping, values: Float64Array): TreeNode {
  const root = makeNode("all", null);
  const { instr } = model;
  for (let id = 0; id < instr.count; ++id) {
    const value = values[id]!;
    if (!(value > 0)) continue;
    let node = root;
    const kind = instr.isUnknown(id) ? kUnknownCall : instr.kind[id]!;
    addValue(node, value, kind);
    for (const part of treePath(model, grouping, id)) {
      let child = node.children.get(part);
      if (!child) node.children.set(part, (child = makeNode(part, node)));
      node = child;
      addValue(node, value, kind);
    }
    node.instructions.push(id);
  }
  return root;
}

function treePath(model: Model, grouping: Grouping, id: number): string[] {
  const leaf = model.label(id);
  if (grouping === "line") {
    const source = model.source(id);
    if (!source) return ["(no source line)", leaf];
    const colon = source.lastIndexOf(":");
    return [source.slice(source.lastIndexOf("/") + 1, colon), `line ${source.slice(colon + 1)}`, leaf];
  }
  if (grouping === "scope" || grouping === "module") {
    const scope = grouping === "scope" ? model.scope(id) : model.modulePath(id);
    return scope ? [...scope.split("/").filter((each) => each !== "").slice(0, 40), leaf] : [`(no ${grouping})`, leaf];
  }
  const out: string[] = [];
  const { rows } = model;
  for (let row = model.rowOf(id); row >= 0 && out.length < 60; row = rows.parent[row]!) {
    const first = rows.first(row);
    const kind = rows.kind[row]!;
    if (kind === RowKind.Repeat) out.push(`repeated × ${rows.repeats[row]} #${row}`);
    else if (first < 0) out.push(`${model.string(rows.label[row]!)} #${row}`);
    else out.push(kind === RowKind.Op || kind === RowKind.Start || kind === RowKind.Done ? model.label(first) : model.name(first));
  }
  return out.reverse();
}

/** The name without the suffix " #ROW" that distinguishes rows with equal labels. */
export function displayName(text: string): string { return text.replace(/ #\d+$/, ""); }

const kSeparator = "\u203a";
/** The path from the root to a node, for the setting `at` of the page's address. */
export function treeAddress(node: TreeNode): string {
  const parts: string[] = [];
  for (let ancestor: TreeNode | null = node; ancestor?.parent; ancestor = ancestor.parent) parts.push(ancestor.name);
  return parts.reverse().join(kSeparator);
}
/** The node at an address. Path components that do not exist are skipped. */
export function findNode(root: TreeNode, address: string): TreeNode {
  let node = root;
  for (const part of address.split(kSeparator).filter((each) => each !== "")) node = node.children.get(part) ?? node;
  return node;
}
/** Ids of all instructions in a subtree. */
export function instructionsUnder(root: TreeNode): number[] {
  const ids: number[] = [];
  const pending = [root];
  while (pending.length > 0) { const node = pending.pop()!; for (const id of node.instructions) ids.push(id); pending.push(...node.children.values()); }
  return ids;
}

/** For each instruction, the bytes of its results that are live at the peak. */
export async function liveBytesAtPeak(model: Model): Promise<Float64Array> {
  const data = await MemoryData.load(model);
  const out = new Float64Array(model.instr.count);
  if (data.steps > 0) for (const { buffer, bytes } of data.liveAt(data.peak)) if (data.buffers.instr[buffer]! >= 0) out[data.buffers.instr[buffer]!]! += bytes;
  return out;
}
