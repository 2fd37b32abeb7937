// Cost as an icicle: by scope, by source line or by the program's own structure; width is what was asked for. Of two
// modules, one below the other, on one scale.
import { fitted, prepare } from "./axis";
import { addressOf, type By, heldAtPeak, nodeAt, type Of, ownOf, shownName, type TreeNode, treeOf } from "./cost_tree";
import { chip, clear, h, name, visible } from "./dom";
import { bytes, count, counted, percent, scaled, seconds } from "./format";
import type { Model } from "./model";
import { instrLink } from "./panel";
import { colors, kindColors, type Page, type View } from "./view";

const kRow = 22, kTop = 34, kLeft = 12, kHead = 24;
const widths: [Of, string][] = [["flops", "flops"], ["bytes", "memory traffic"], ["wire", "wire"], ["seconds", "time"], ["memory", "live at the peak"]];

/** A node of the tree, or what is too narrow to be drawn. */
interface Box { node: TreeNode | null; module: number; x: number; y: number; width: number; hidden: number; value: number }

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
  private heads: { text: string; y: number }[] = [];
  private picked: TreeNode | null = null;

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.root = root;
    this.scroll.append(this.canvas);
    root.append(this.crumbs, this.scroll, this.tip);
    for (const model of page.models) this.memory.set(model, await heldAtPeak(model));
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  private get model(): Model { return this.page.models[this.page.current]!; }
  private has(by: By): boolean {
    if (by === "skeleton") return true;
    return this.page.models.some(({ instr }) => (by === "scope" ? instr.scope : instr.source).some((each) => each !== 0));
  }
  private get by(): By {
    const given = this.page.settings.get("by") as By | undefined;
    const wanted = given === "line" || given === "skeleton" ? given : "scope";
    return this.has(wanted) ? wanted : "skeleton";
  }
  private get of(): Of {
    const given = this.page.settings.get("of") as Of | undefined;
    if (given && widths.some(([each]) => each === given)) return given;
    return this.model.hasTime ? "seconds" : "bytes";
  }
  private values(model: Model): Float64Array { return this.of === "memory" ? this.memory.get(model)! : model.instr[this.of]; }
  private text(value: number): string { return this.of === "flops" ? `${scaled(value)}flop`.replace(/(\d)flop/, "$1 flop") : this.of === "seconds" ? seconds(value) : bytes(value); }
  private tree(module: number): TreeNode {
    const key = `${module} ${this.by} ${this.of}`;
    let root = this.trees.get(key);
    if (!root) this.trees.set(key, (root = treeOf(this.page.models[module]!, this.by, this.values(this.page.models[module]!))));
    return root;
  }
  /** The node that the address names, or all. */
  private focus(module = this.page.current): TreeNode { return nodeAt(this.tree(module), this.page.settings.get("at") ?? ""); }
  private share(value: number): string { return percent(value / Math.max(this.tree(this.page.current).value, 1e-300)); }

  update(): void {
    const width = this.root.clientWidth;
    if (width === 0) return;
    this.drawCrumbs(this.focus());
    this.layout(width - 2 * kLeft);
    const height = Math.max(...this.boxes.map((box) => box.y + kRow), kRow) + 12;
    const context = prepare(this.canvas, width - 2, Math.max(height, this.root.clientHeight - kTop - 4));
    for (const box of this.boxes) this.drawBox(context, box);
    const c = colors();
    context.fillStyle = c.text!;
    context.font = "600 11.5px system-ui, sans-serif";
    for (const head of this.heads) context.fillText(head.text, kLeft, head.y + kHead / 2);
    context.font = "11px system-ui, sans-serif";
    const { value, name: title } = this.focus();
    if (value === 0) { context.fillStyle = c.muted!; context.fillText(`nothing here has ${widths.find(([of]) => of === this.of)![1]}`, kLeft, 40); }
    this.canvas.setAttribute("aria-label", `icicle of ${this.of} by ${this.by}: ${this.text(value)} in ${visible(title, 80)}`);
  }

  private drawBox(context: CanvasRenderingContext2D, box: Box): void {
    const c = colors();
    const kind = box.node ? box.node.byKind.indexOf(Math.max(...box.node.byKind)) : -1;
    context.fillStyle = kind < 0 ? c.line! : kindColors()[kind]!;
    context.globalAlpha = kind < 0 ? 1 : box.node === this.picked ? 0.5 : 0.24;
    context.fillRect(box.x, box.y, Math.max(box.width - 1, 0.6), kRow - 1);
    context.globalAlpha = 1;
    const room = box.width - 10;
    const label = fitted(context, visible(box.node ? shownName(box.node.name) : counted(box.hidden, "more"), 120), room);
    if (label === "") return;
    context.fillStyle = c.text!;
    context.fillText(label, box.x + 5, box.y + kRow / 2);
    const value = this.text(box.value);
    const valueWidth = context.measureText(value).width;
    if (room - context.measureText(label).width > valueWidth + 12) context.fillText(value, box.x + box.width - 6 - valueWidth, box.y + kRow / 2);
  }

  private drawCrumbs(focus: TreeNode): void {
    clear(this.crumbs);
    const chain: TreeNode[] = [];
    for (let at: TreeNode | null = focus; at; at = at.parent) chain.unshift(at);
    chain.forEach((each, i) => {
      if (i > 0) this.crumbs.append(h("span", { class: "muted" }, " › "));
      this.crumbs.append(i === chain.length - 1 ? h("b", {}, name(shownName(each.name))) : h("button", { class: "link", onclick: () => this.page.set("at", addressOf(each)) }, name(shownName(each.name))));
    });
    this.crumbs.append(h("span", { class: "muted" }, `  ${this.text(focus.value)}, ${this.share(focus.value)} of all`));
  }

  private layout(width: number): void {
    this.boxes = [];
    this.heads = [];
    const roots = this.page.models.map((_, module) => this.focus(module));
    const most = Math.max(...roots.map((root) => root.value), 1e-300);
    let top = 0;
    roots.forEach((root, module) => {
      if (roots.length > 1) { this.heads.push({ text: `${module === 0 ? "A" : "B"}   ${this.text(root.value)}`, y: top }); top += kHead; }
      if (root.value > 0) this.layoutOne(root, module, top, (root.value / most) * width);
      top = Math.max(top, ...this.boxes.map((box) => box.y + kRow)) + 10;
    });
  }
  private layoutOne(root: TreeNode, module: number, top: number, width: number): void {
    const todo: [TreeNode, number, number, number][] = [[root, kLeft, top, width]];
    while (todo.length > 0) {
      const [at, x, y, room] = todo.pop()!;
      this.boxes.push({ node: at, module, x, y, width: room, hidden: 0, value: at.value });
      let left = x, hidden = 0, hiddenValue = 0;
      for (const child of [...at.children.values()].sort((a, b) => b.value - a.value)) {
        const part = (child.value / at.value) * room;
        if (part < 1) { ++hidden; hiddenValue += child.value; continue; }
        todo.push([child, left, y + kRow, part]);
        left += part;
      }
      if (hidden > 0) this.boxes.push({ node: null, module, x: left, y: y + kRow, width: Math.max((hiddenValue / at.value) * room, 1), hidden, value: hiddenValue });
    }
  }

  private boxAt(event: MouseEvent): Box | undefined {
    return this.boxes.find((box) => event.offsetX >= box.x && event.offsetX < box.x + box.width && event.offsetY >= box.y && event.offsetY < box.y + kRow);
  }
  private click(event: MouseEvent): void {
    const box = this.boxAt(event);
    if (!box?.node) return;
    this.picked = box.node;
    if (box.node.children.size > 0) { this.page.select(null, "replace"); this.page.set("at", addressOf(box.node)); }
    else if (box.node.own.length > 0) this.page.select({ kind: "instr", module: box.module, id: box.node.own[0]! });
  }
  private hover(event: PointerEvent): void {
    const box = this.boxAt(event);
    this.tip.hidden = !box;
    if (!box) return;
    this.tip.textContent = `${visible(box.node ? shownName(box.node.name) : counted(box.hidden, "small one"), 400)}\n${this.text(box.value)}, ${this.share(box.value)}`;
    this.tip.style.left = `${Math.min(event.clientX + 12, innerWidth - 300)}px`;
    this.tip.style.top = `${event.clientY + 16}px`;
  }

  chips(): (Node | string)[] {
    const set = (key: string, value: string) => () => { this.page.settings.set("at", ""); this.page.set(key, value); };
    const bare = !this.has("scope") && !this.has("line");
    return ["by", ...(["scope", "line", "skeleton"] as By[]).filter((each) => this.has(each)).map((each) => chip(each, this.by === each, set("by", each))), h("span", { class: "gap" }), "width", ...widths.filter(([each]) => each !== "seconds" || this.model.hasTime).map(([each, title]) => chip(title, this.of === each, set("of", each))),
      h("span", { class: "grow" }), h("span", { class: "note" }, bare ? "no op_names or lines in the module: by its own structure" : "per step, of one device")];
  }
  oneSided(): boolean { return false; }
  keys(): [string, string][] { return [["click", "zoom in"], ["0", "all"], ["backspace", "up"]]; }
  key(event: KeyboardEvent): boolean {
    if (event.key === "0") { this.page.set("at", ""); return true; }
    if (event.key === "Backspace") { const up = this.focus().parent; if (up) this.page.set("at", addressOf(up)); return true; }
    return false;
  }

  panel(): HTMLElement | null {
    if (this.page.selection?.kind === "instr") return null;
    const focus = this.focus();
    const values = this.values(this.model);
    const own = ownOf(focus).sort((a, b) => values[b]! - values[a]!);
    const lines = h("div", { class: "lines" });
    for (const id of own.slice(0, 24)) lines.append(h("i"), instrLink(this.page, this.page.current, id), h("span", { class: "n" }, visible(this.model.words(id), 18)), h("span", { class: "v" }, this.text(values[id]!)));
    return h("div", {}, h("div", { class: "sort" }, this.by), h("h2", {}, name(shownName(focus.name))), h("div", {}, `${this.text(focus.value)} in ${counted(own.length, "instruction")}`), h("h3", {}, "heaviest in it"), lines);
  }

  csv(): (string | number)[][] {
    const two = this.page.models.length > 1;
    const out: (string | number)[][] = [[...(two ? ["module"] : []), "path", this.of]];
    this.page.models.forEach((_, module) => {
      const todo: [TreeNode, string][] = [[this.focus(module), ""]];
      while (todo.length > 0) {
        const [at, path] = todo.pop()!;
        out.push([...(two ? [module === 0 ? "A" : "B"] : []), path || at.name, at.value]);
        for (const child of at.children.values()) todo.push([child, path ? `${path}/${shownName(child.name)}` : shownName(child.name)]);
      }
    });
    return out;
  }
  picture(): HTMLCanvasElement { return this.canvas; }
  state(): object {
    const focus = this.focus();
    const children = [...focus.children.values()].map((each) => ({ name: each.name, value: each.value })).sort((a, b) => b.value - a.value);
    return { by: this.by, of: this.of, total: this.tree(this.page.current).value, totals: this.page.models.map((_, module) => this.tree(module).value), focus: focus.name, value: focus.value, children: children.slice(0, 50), boxes: this.boxes.slice(0, 40).map((box) => ({ name: box.node?.name ?? "", x: box.x, y: box.y + kTop, width: box.width })), count: count(this.boxes.length) };
  }
}
