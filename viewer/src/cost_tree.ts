// A module's cost as a tree: by scope, by source line, or by the program's own structure.
import { MemoryData } from "./memory_data";
import type { Model } from "./model";
import { RowKind } from "./rows";

export type By = "scope" | "line" | "skeleton";
export type Of = "flops" | "bytes" | "wire" | "seconds" | "memory";

export interface TreeNode { name: string; parent: TreeNode | null; children: Map<string, TreeNode>; value: number; own: number[]; byKind: Float64Array }

function node(label: string, parent: TreeNode | null): TreeNode {
  return { name: label, parent, children: new Map(), value: 0, own: [], byKind: new Float64Array(7) };
}
function add(at: TreeNode, value: number, kind: number): void {
  at.value += value;
  at.byKind[kind]! += value;
}

export function treeOf(model: Model, by: By, values: Float64Array): TreeNode {
  const root = node("all", null);
  const { instr } = model;
  for (let id = 0; id < instr.count; ++id) {
    const value = values[id]!;
    if (!(value > 0)) continue;
    let at = root;
    add(at, value, instr.kind[id]!);
    for (const part of pathOf(model, by, id)) {
      let child = at.children.get(part);
      if (!child) at.children.set(part, (child = node(part, at)));
      at = child;
      add(at, value, instr.kind[id]!);
    }
    at.own.push(id);
  }
  return root;
}

function pathOf(model: Model, by: By, id: number): string[] {
  const leaf = model.words(id);
  if (by === "line") {
    const source = model.source(id);
    if (!source) return ["(no line given)", leaf];
    const colon = source.lastIndexOf(":");
    return [source.slice(source.lastIndexOf("/") + 1, colon), `line ${source.slice(colon + 1)}`, leaf];
  }
  if (by === "scope") {
    const scope = model.scope(id);
    return scope ? [...scope.split("/").filter((each) => each !== "").slice(0, 40), leaf] : ["(no scope given)", leaf];
  }
  const out: string[] = [];
  const { rows } = model;
  for (let row = model.rowOf(id); row >= 0 && out.length < 60; row = rows.parent[row]!) {
    const first = rows.first(row);
    const kind = rows.kind[row]!;
    if (kind === RowKind.Repeat) out.push(`× ${rows.repeats[row]} alike #${row}`);
    else if (first < 0) out.push(`${model.string(rows.words[row]!)} #${row}`);
    else out.push(kind === RowKind.Op || kind === RowKind.Start || kind === RowKind.Done ? model.words(first) : model.name(first));
  }
  return out.reverse();
}

/** Without the number that keeps equal rows apart. */
export function shownName(text: string): string { return text.replace(/ #\d+$/, ""); }

const kSeparator = "\u203a";
export function addressOf(to: TreeNode): string {
  const parts: string[] = [];
  for (let at: TreeNode | null = to; at?.parent; at = at.parent) parts.push(at.name);
  return parts.reverse().join(kSeparator);
}
/** The node that an address names, or as much of the way as there is. */
export function nodeAt(root: TreeNode, address: string): TreeNode {
  let at = root;
  for (const part of address.split(kSeparator).filter((each) => each !== "")) at = at.children.get(part) ?? at;
  return at;
}
/** The instructions in it. */
export function ownOf(root: TreeNode): number[] {
  const own: number[] = [];
  const todo = [root];
  while (todo.length > 0) { const at = todo.pop()!; for (const id of at.own) own.push(id); todo.push(...at.children.values()); }
  return own;
}

/** Of each instruction the bytes that its results hold at the peak. */
export async function heldAtPeak(model: Model): Promise<Float64Array> {
  const data = await MemoryData.load(model);
  const out = new Float64Array(model.instr.count);
  if (data.steps > 0) for (const { life, bytes } of data.heldAt(data.peak)) if (data.buffers.instr[life]! >= 0) out[data.buffers.instr[life]!]! += bytes;
  return out;
}
