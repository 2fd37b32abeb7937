// Cost: an icicle chart by scope, by module of the model, by source line or by program structure. The width of a box is the selected metric.
// Two modules are drawn one below the other, on one scale.
import { elideToWidth, prepareCanvas } from "./axis";
import { buildCostTree, displayName, findNode, type Grouping, instructionsUnder, kUnknownCall, liveBytesAtPeak, type Metric, treeAddress, type TreeNode } from "./cost_tree";
import { chip, clear, displayText, glyph, h, nameElement } from "./dom";
import { formatBytes, formatCount, formatPercent, formatSeconds, formatSi, pluralize } from "./format";
import { Kind, kindNames } from "./instructions";
import type { Model } from "./model";
import { instrLink } from "./panel";
import { colors, kindColors, type Page, type View } from "./view";

const kRow = 22, kTop = 34, kLeft = 12, kHeading = 24;
const metrics: [Metric, string][] = [["flops", "flops"], ["bytes", "memory traffic"], ["wire", "wire"], ["seconds", "time"], ["memory", "live bytes at peak"]];

/** The box of a tree node. If `node` is null, it stands for `hiddenCount` siblings that are too narrow to draw. */
interface Box { node: TreeNode | null; module: number; x: number; y: number; width: number; hiddenCount: number; value: number }

export class CostView implements View {
  private page!: Page;
  private root!: HTMLElement;
  private canvas = h("canvas", { role: "img", tabindex: 0 });
  private crumbs = h("div", { class: "crumbs" });
  private scroll = h("div", { class: "icicle" });
  private tip = h("div", { class: "tip", hidden: true });
  private readonly trees = new Map<string, TreeNode>();
  private readonly memory = new Map<Model, Float64Array>();
  private boxes: Box[] = [];
  private headings: { text: string; y: number }[] = [];
  private selectedNode: TreeNode | null = null;

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.root = root;
    this.scroll.append(this.canvas);
    root.append(this.crumbs, this.scroll, this.tip);
    for (const model of page.models) this.memory.set(model, await liveBytesAtPeak(model));
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  private get model(): Model { return this.page.models[this.page.current]!; }
  private hasGrouping(grouping: Grouping): boolean {
    if (grouping === "skeleton") return true;
    return this.page.models.some(({ instr }) => (grouping === "scope" ? instr.scope : grouping === "module" ? instr.module : instr.source).some((each) => each !== 0));
  }
  private get grouping(): Grouping {
    const setting = this.page.settings.get("by") as Grouping | undefined;
    const preferred = setting === "line" || setting === "skeleton" || setting === "module" ? setting : "scope";
    return this.hasGrouping(preferred) ? preferred : "skeleton";
  }
  private get metric(): Metric {
    const setting = this.page.settings.get("of") as Metric | undefined;
    if (setting && metrics.some(([each]) => each === setting)) return setting;
    return this.model.hasTime ? "seconds" : "bytes";
  }
  private values(model: Model): Float64Array { return this.metric === "memory" ? this.memory.get(model)! : model.instr[this.metric]; }
  private formatValue(value: number): string { return this.metric === "flops" ? `${formatSi(value)}flop`.replace(/(\d)flop/, "$1 flop") : this.metric === "seconds" ? formatSeconds(value) : formatBytes(value); }
  private tree(module: number): TreeNode {
    const key = `${module} ${this.grouping} ${this.metric}`;
    let root = this.trees.get(key);
    if (!root) this.trees.set(key, (root = buildCostTree(this.page.models[module]!, this.grouping, this.values(this.page.models[module]!))));
    return root;
  }
  /** The node that the setting `at` addresses; the root by default. */
  private focus(module = this.page.current): TreeNode { return findNode(this.tree(module), this.page.settings.get("at") ?? ""); }
  private formatShare(value: number): string { return formatPercent(value / Math.max(this.tree(this.page.current).value, 1e-300)); }

  update(): void {
    const width = this.root.clientWidth;
    if (width === 0) return;
    this.drawCrumbs(this.focus());
    this.layout(width - 2 * kLeft);
    const height = Math.max(...this.boxes.map((box) => box.y + kRow), kRow) + 12;
    const context = prepareCanvas(this.canvas, width - 2, Math.max(height, this.root.clientHeight - kTop - 4));
    for (const box of this.boxes) this.drawBox(context, box);
    const c = colors();
    context.fillStyle = c.text!;
    context.font = "600 11.5px system-ui, sans-serif";
    for (const heading of this.headings) context.fillText(heading.text, kLeft, heading.y + kHeading / 2);
    context.font = "11px system-ui, sans-serif";
    const { value, name: title } = this.focus();
    if (value === 0) { context.fillStyle = c.muted!; context.fillText(`no ${metrics.find(([metric]) => metric === this.metric)![1]} here`, kLeft, 40); }
    this.canvas.setAttribute("aria-label", `icicle chart of ${this.metric} by ${this.grouping}: ${this.formatValue(value)} in ${displayText(title, 80)}`);
  }

  private drawBox(context: CanvasRenderingContext2D, box: Box): void {
    const c = colors();
    const kind = box.node ? box.node.byKind.indexOf(Math.max(...box.node.byKind)) : -1;
    const isUnknown = kind === kUnknownCall;
    context.fillStyle = kind < 0 ? c.line! : isUnknown ? c.grid! : kindColors()[kind]!;
    context.globalAlpha = kind < 0 || isUnknown ? 1 : box.node === this.selectedNode ? 0.5 : 0.24;
    context.fillRect(box.x, box.y, Math.max(box.width - 1, 0.6), kRow - 1);
    context.globalAlpha = 1;
    if (isUnknown && box.width > 4) {
      context.strokeStyle = c.muted!;
      context.setLineDash([3, 2]);
      context.strokeRect(box.x + 0.5, box.y + 0.5, box.width - 2, kRow - 2);
      context.setLineDash([]);
    }
    const textWidth = box.width - 10;
    const label = elideToWidth(context, displayText(box.node ? displayName(box.node.name) : `${formatCount(box.hiddenCount)} more`, 120), textWidth);
    if (label === "") return;
    context.fillStyle = c.text!;
    context.fillText(label, box.x + 5, box.y + kRow / 2);
    const value = this.formatValue(box.value);
    const valueWidth = context.measureText(value).width;
    if (textWidth - context.measureText(label).width > valueWidth + 12) context.fillText(value, box.x + box.width - 6 - valueWidth, box.y + kRow / 2);
  }

  private drawCrumbs(focus: TreeNode): void {
    clear(this.crumbs);
    const ancestors: TreeNode[] = [];
    for (let node: TreeNode | null = focus; node; node = node.parent) ancestors.unshift(node);
    ancestors.forEach((each, i) => {
      if (i > 0) this.crumbs.append(h("span", { class: "muted" }, " › "));
      this.crumbs.append(i === ancestors.length - 1 ? h("b", {}, nameElement(displayName(each.name))) : h("button", { class: "link", onclick: () => this.page.set("at", treeAddress(each)) }, nameElement(displayName(each.name))));
    });
    this.crumbs.append(h("span", { class: "muted" }, `  ${this.formatValue(focus.value)}, ${this.formatShare(focus.value)} of all`));
  }

  private layout(width: number): void {
    this.boxes = [];
    this.headings = [];
    const roots = this.page.models.map((_, module) => this.focus(module));
    const maxValue = Math.max(...roots.map((root) => root.value), 1e-300);
    let top = 0;
    roots.forEach((root, module) => {
      if (roots.length > 1) { this.headings.push({ text: `${module === 0 ? "A" : "B"}   ${this.formatValue(root.value)}`, y: top }); top += kHeading; }
      if (root.value > 0) this.layoutTree(root, module, top, (root.value / maxValue) * width);
      top = Math.max(top, ...this.boxes.map((box) => box.y + kRow)) + 10;
    });
  }
  private layoutTree(root: TreeNode, module: number, top: number, width: number): void {
    const pending: [TreeNode, number, number, number][] = [[root, kLeft, top, width]];
    while (pending.length > 0) {
      const [node, x, y, boxWidth] = pending.pop()!;
      this.boxes.push({ node, module, x, y, width: boxWidth, hiddenCount: 0, value: node.value });
      let childX = x, hiddenCount = 0, hiddenValue = 0;
      for (const child of [...node.children.values()].sort((a, b) => b.value - a.value)) {
        const childWidth = (child.value / node.value) * boxWidth;
        if (childWidth < 1) { ++hiddenCount; hiddenValue += child.value; continue; }
        pending.push([child, childX, y + kRow, childWidth]);
        childX += childWidth;
      }
      if (hiddenCount > 0) this.boxes.push({ node: null, module, x: childX, y: y + kRow, width: Math.max((hiddenValue / node.value) * boxWidth, 1), hiddenCount, value: hiddenValue });
    }
  }

  private boxAt(event: MouseEvent): Box | undefined {
    return this.boxes.find((box) => event.offsetX >= box.x && event.offsetX < box.x + box.width && event.offsetY >= box.y && event.offsetY < box.y + kRow);
  }
  private click(event: MouseEvent): void {
    const box = this.boxAt(event);
    if (!box?.node) return;
    this.selectedNode = box.node;
    if (box.node.children.size > 0) { this.page.select(null, "replace"); this.page.set("at", treeAddress(box.node)); }
    else if (box.node.instructions.length > 0) this.page.select({ kind: "instr", module: box.module, id: box.node.instructions[0]! });
  }
  private hover(event: PointerEvent): void {
    const box = this.boxAt(event);
    this.tip.hidden = !box;
    if (!box) return;
    this.tip.textContent = `${displayText(box.node ? displayName(box.node.name) : pluralize(box.hiddenCount, "smaller item"), 400)}\n${this.formatValue(box.value)}, ${this.formatShare(box.value)}`;
    this.tip.style.left = `${Math.min(event.clientX + 12, innerWidth - 300)}px`;
    this.tip.style.top = `${event.clientY + 16}px`;
  }

  chips(): (Node | string)[] {
    const set = (key: string, value: string) => () => { this.page.settings.set("at", ""); this.page.set(key, value); };
    const hasNoMetadata = !this.hasGrouping("scope") && !this.hasGrouping("line");
    return ["by", ...(["scope", "module", "line", "skeleton"] as Grouping[]).filter((each) => this.hasGrouping(each)).map((each) => chip(each, this.grouping === each, set("by", each))), h("span", { class: "gap" }), "width", ...metrics.filter(([each]) => each !== "seconds" || this.model.hasTime).map(([each, title]) => chip(title, this.metric === each, set("of", each))),
      h("span", { class: "grow" }), h("span", { class: "note" }, hasNoMetadata ? "no op_names or source lines in this module; grouped by program structure" : "per device and step")];
  }
  legend(): (Node | string)[] {
    const unknownCount = this.page.models.reduce((sum, { instr }) => sum + instr.flags.reduce((n, _, id) => n + (instr.isUnknown(id) ? 1 : 0), 0), 0);
    const unknown = unknownCount > 0 ? [h("span", { title: pluralize(unknownCount, "call") }, h("i", { class: "swatch unknown" }), "unknown call")] : [];
    return [...kindNames.slice(0, 5).map((each, i) => h("span", {}, glyph(i), i === Kind.Matmul ? `${each}, also by a library` : each)), ...unknown];
  }
  showsOneModule(): boolean { return false; }
  keys(): [string, string][] { return [["click", "zoom in"], ["0", "whole program"], ["backspace", "zoom out"]]; }
  key(event: KeyboardEvent): boolean {
    if (event.key === "0") { this.page.set("at", ""); return true; }
    if (event.key === "Backspace") { const parent = this.focus().parent; if (parent) this.page.set("at", treeAddress(parent)); return true; }
    return false;
  }

  panel(): HTMLElement | null {
    if (this.page.selection?.kind === "instr") return null;
    const focus = this.focus();
    const values = this.values(this.model);
    const ids = instructionsUnder(focus).sort((a, b) => values[b]! - values[a]!);
    const lines = h("div", { class: "lines" });
    for (const id of ids.slice(0, 24)) lines.append(h("i"), instrLink(this.page, this.page.current, id), h("span", { class: "n" }, displayText(this.model.label(id), 18)), h("span", { class: "v" }, this.formatValue(values[id]!)));
    return h("div", {}, h("div", { class: "caption" }, this.grouping), h("h2", {}, nameElement(displayName(focus.name))), h("div", {}, `${this.formatValue(focus.value)} in ${pluralize(ids.length, "instruction")}`), h("h3", {}, "largest contributions"), lines);
  }

  csv(): (string | number)[][] {
    const hasTwo = this.page.models.length > 1;
    const out: (string | number)[][] = [[...(hasTwo ? ["module"] : []), "path", this.metric]];
    this.page.models.forEach((_, module) => {
      const pending: [TreeNode, string][] = [[this.focus(module), ""]];
      while (pending.length > 0) {
        const [node, path] = pending.pop()!;
        out.push([...(hasTwo ? [module === 0 ? "A" : "B"] : []), path || node.name, node.value]);
        for (const child of node.children.values()) pending.push([child, path ? `${path}/${displayName(child.name)}` : displayName(child.name)]);
      }
    });
    return out;
  }
  picture(): HTMLCanvasElement { return this.canvas; }
  state(): object {
    const focus = this.focus();
    const children = [...focus.children.values()].map((each) => ({ name: each.name, value: each.value })).sort((a, b) => b.value - a.value);
    return { grouping: this.grouping, metric: this.metric, total: this.tree(this.page.current).value, totals: this.page.models.map((_, module) => this.tree(module).value), focus: focus.name, value: focus.value, children: children.slice(0, 50), unknown: focus.byKind[kUnknownCall]!, byKind: Array.from(focus.byKind), boxes: this.boxes.slice(0, 40).map((box) => ({ name: box.node?.name ?? "", x: box.x, y: box.y + kTop, width: box.width })), count: formatCount(this.boxes.length) };
  }
}
