// Cost as an icicle: by scope, by source line or by the program's own structure; width is what was asked for.
import { fitted, prepare } from "./axis";
import { chip, clear, h, name, visible } from "./dom";
import { bytes, count, counted, percent, scaled, seconds } from "./format";
import { MemoryData } from "./memory_data";
import { type Model, RowKind } from "./model";
import { instrLink } from "./panel";
import { colors, kindColors, type Page, type View } from "./view";

type By = "scope" | "line" | "skeleton";
type Of = "flops" | "bytes" | "wire" | "seconds" | "memory";
const kRow = 22, kTop = 34;

interface TreeNode { name: string; parent: TreeNode | null; children: Map<string, TreeNode>; value: number; own: number[]; byKind: Float64Array }
interface Box { node: TreeNode | null; x: number; y: number; width: number; hidden: number; value: number }

export class CostView implements View {
  private page!: Page;
  private root!: HTMLElement;
  private canvas = h("canvas", { role: "img", tabindex: 0 });
  private crumbs = h("div", { class: "crumbs" });
  private scroll = h("div");
  private tip = h("div", { class: "tip", hidden: true });
  private trees = new Map<string, TreeNode>();
  private boxes: Box[] = [];
  private memory = new Map<Model, Float64Array>();
  private picked: TreeNode | null = null;

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.root = root;
    this.scroll.append(this.canvas);
    Object.assign(this.scroll.style, { position: "absolute", left: "0", right: "0", top: `${kTop}px`, bottom: "0", overflow: "auto" });
    root.append(this.crumbs, this.scroll, this.tip);
    for (const model of page.models) this.memory.set(model, await atPeak(model));
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  private get model(): Model { return this.page.models[this.page.current]!; }
  private has(by: By): boolean {
    if (by === "scope") return this.model.instr.scope.some((each) => each !== 0);
    return by !== "line" || this.model.instr.source.some((each) => each !== 0);
  }
  private get by(): By {
    const given = this.page.settings.get("by") as By | undefined;
    const wanted = given === "line" || given === "skeleton" ? given : "scope";
    return this.has(wanted) ? wanted : "skeleton";
  }
  private get of(): Of {
    const given = this.page.settings.get("of") as Of | undefined;
    if (given && ["flops", "bytes", "wire", "seconds", "memory"].includes(given)) return given;
    return this.model.hasTime ? "seconds" : "bytes";
  }
  private values(): Float64Array { return this.of === "memory" ? this.memory.get(this.model)! : this.model.instr[this.of]; }
  private text(value: number): string { return this.of === "flops" ? `${scaled(value)}flop`.replace(/(\d)flop/, "$1 flop") : this.of === "seconds" ? seconds(value) : bytes(value); }

  private tree(): TreeNode {
    const key = `${this.page.current} ${this.by} ${this.of}`;
    let root = this.trees.get(key);
    if (root) return root;
    const { instr } = this.model;
    root = node("all", null);
    const values = this.values();
    for (let id = 0; id < instr.count; ++id) {
      const value = values[id]!;
      if (!(value > 0)) continue;
      let at = root;
      add(at, value, instr.kind[id]!);
      for (const part of this.path(id)) {
        let child = at.children.get(part);
        if (!child) at.children.set(part, (child = node(part, at)));
        at = child;
        add(at, value, instr.kind[id]!);
      }
      at.own.push(id);
    }
    this.trees.set(key, root);
    return root;
  }

  private path(id: number): string[] {
    const model = this.model;
    const leaf = `${model.words(id)}`;
    if (this.by === "line") {
      const source = model.source(id);
      if (!source) return ["(no line given)", leaf];
      const colon = source.lastIndexOf(":");
      return [source.slice(source.lastIndexOf("/") + 1, colon), `line ${source.slice(colon + 1)}`, leaf];
    }
    if (this.by === "scope") {
      const scope = model.scope(id);
      return scope ? [...scope.split("/").filter((each) => each !== "").slice(0, 40), leaf] : ["(no scope given)", leaf];
    }
    const out: string[] = [];
    const { rows } = model;
    for (let row = model.rowOf(id); row >= 0 && out.length < 60; row = rows.parent[row]!) {
      const first = rows.first(row);
      const kind = rows.kind[row]!;
      out.push(kind === RowKind.Repeat ? `× ${rows.repeats[row]} alike #${row}` : first < 0 ? `${model.string(rows.words[row]!)} #${row}` : kind === RowKind.Op || kind === RowKind.Start || kind === RowKind.Done ? model.words(first) : model.name(first));
    }
    return out.reverse();
  }

  /** The node that the address names, or all. */
  private focus(): TreeNode {
    let at = this.tree();
    for (const part of (this.page.settings.get("at") ?? "").split("\u203a").filter((each) => each !== "")) at = at.children.get(part) ?? at;
    return at;
  }
  private address(to: TreeNode): string {
    const parts: string[] = [];
    for (let at: TreeNode | null = to; at?.parent; at = at.parent) parts.push(at.name);
    return parts.reverse().join("\u203a");
  }

  update(): void {
    const width = this.root.clientWidth;
    if (width === 0) return;
    const focus = this.focus();
    this.drawCrumbs(focus);
    this.layout(focus, width - 24);
    const height = Math.max(...this.boxes.map((box) => box.y + kRow), kRow) + 12;
    const context = prepare(this.canvas, width - 2, Math.max(height, this.scroll.clientHeight - 4));
    const c = colors();
    const palette = kindColors();
    for (const box of this.boxes) {
      const kind = box.node ? box.node.byKind.indexOf(Math.max(...box.node.byKind)) : -1;
      context.globalAlpha = 1;
      context.fillStyle = c.bg!;
      context.fillRect(box.x, box.y, box.width, kRow);
      context.fillStyle = kind < 0 ? c.line! : palette[kind]!;
      context.globalAlpha = kind < 0 ? 1 : box.node === this.picked ? 0.5 : 0.24;
      context.fillRect(box.x, box.y, Math.max(box.width - 1, 0.6), kRow - 1);
      context.globalAlpha = 1;
      context.fillStyle = c.text!;
      const label = box.node ? shown(box.node.name) : counted(box.hidden, "more");
      const value = this.text(box.value);
      const room = box.width - 10;
      const full = fitted(context, visible(label, 120), room);
      if (full === "") continue;
      context.fillText(full, box.x + 5, box.y + kRow / 2);
      const used = context.measureText(full).width;
      const valueWidth = context.measureText(value).width;
      if (room - used > valueWidth + 12) { context.fillStyle = c.muted!; context.fillText(value, box.x + box.width - 6 - valueWidth, box.y + kRow / 2); }
    }
    if (focus.value === 0) { context.fillStyle = c.muted!; context.fillText(`nothing here has ${this.of}`, 12, 20); }
    this.canvas.setAttribute("aria-label", `icicle of ${this.of} by ${this.by}: ${this.text(focus.value)} in ${focus.name}`);
  }

  private drawCrumbs(focus: TreeNode): void {
    clear(this.crumbs);
    const chain: TreeNode[] = [];
    for (let at: TreeNode | null = focus; at; at = at.parent) chain.unshift(at);
    chain.forEach((each, i) => {
      if (i > 0) this.crumbs.append(h("span", { class: "muted" }, " › "));
      this.crumbs.append(i === chain.length - 1 ? h("b", {}, name(shown(each.name))) : h("button", { class: "link", onclick: () => this.page.set("at", this.address(each)) }, name(shown(each.name))));
    });
    this.crumbs.append(h("span", { class: "muted" }, `  ${this.text(focus.value)}, ${percent(focus.value / Math.max(this.tree().value, 1e-300))} of all`));
  }

  private layout(focus: TreeNode, width: number): void {
    this.boxes = [];
    const todo: [TreeNode, number, number, number][] = [[focus, 12, 0, width]];
    while (todo.length > 0) {
      const [at, x, depth, room] = todo.pop()!;
      this.boxes.push({ node: at, x, y: depth * kRow, width: room, hidden: 0, value: at.value });
      let left = x, hidden = 0, hiddenValue = 0;
      for (const child of [...at.children.values()].sort((a, b) => b.value - a.value)) {
        const part = (child.value / at.value) * room;
        if (part < 1) { ++hidden; hiddenValue += child.value; continue; }
        todo.push([child, left, depth + 1, part]);
        left += part;
      }
      if (hidden > 0) this.boxes.push({ node: null, x: left, y: (depth + 1) * kRow, width: Math.max((hiddenValue / at.value) * room, 1), hidden, value: hiddenValue });
    }
  }

  private boxAt(event: MouseEvent): Box | undefined {
    return this.boxes.find((box) => event.offsetX >= box.x && event.offsetX < box.x + box.width && event.offsetY >= box.y && event.offsetY < box.y + kRow);
  }
  private click(event: MouseEvent): void {
    const box = this.boxAt(event);
    if (!box?.node) return;
    this.picked = box.node;
    this.page.select(null, "replace");
    if (box.node.children.size > 0) this.page.set("at", this.address(box.node));
    else if (box.node.own.length > 0) this.page.select({ kind: "instr", module: this.page.current, id: box.node.own[0]! });
    else this.page.redraw();
  }
  private hover(event: PointerEvent): void {
    const box = this.boxAt(event);
    this.tip.hidden = !box;
    if (!box) return;
    this.tip.textContent = visible(box.node ? `${shown(box.node.name)}\n${this.text(box.value)}, ${percent(box.value / Math.max(this.tree().value, 1e-300))}` : `${counted(box.hidden, "small one")}\n${this.text(box.value)}`, 400).replace(/\u240a/g, "\n");
    this.tip.style.left = `${Math.min(event.clientX + 12, innerWidth - 300)}px`;
    this.tip.style.top = `${event.clientY + 16}px`;
  }

  chips(): (Node | string)[] {
    const set = (key: string, value: string) => () => { this.page.settings.set("at", ""); this.page.set(key, value); };
    const names: [Of, string][] = [["flops", "flops"], ["bytes", "memory traffic"], ["wire", "wire"], ["seconds", "time"], ["memory", "live at the peak"]];
    const fallback = !this.has("scope") && !this.has("line");
    return ["by", ...(["scope", "line", "skeleton"] as By[]).filter((each) => this.has(each)).map((each) => chip(each, this.by === each, set("by", each))), h("span", { class: "gap" }), "width", ...names.filter(([each]) => each !== "seconds" || this.model.hasTime).map(([each, title]) => chip(title, this.of === each, set("of", each))),
      h("span", { class: "grow" }), h("span", { class: "note" }, fallback ? "no op_names or lines in the module: by its own structure" : "per step, of one device")];
  }
  keys(): [string, string][] { return [["click", "zoom in"], ["0", "all"], ["backspace", "up"], ["c", "CSV"], ["e", "picture"]]; }
  key(event: KeyboardEvent): boolean {
    if (event.key === "0") { this.page.set("at", ""); return true; }
    if (event.key === "Backspace") { const up = this.focus().parent; if (up) this.page.set("at", this.address(up)); return true; }
    return false;
  }

  panel(): HTMLElement | null {
    if (this.page.selection?.kind === "instr") return null;
    const focus = this.focus();
    const own: number[] = [];
    const todo = [focus];
    while (todo.length > 0) { const at = todo.pop()!; own.push(...at.own); todo.push(...at.children.values()); }
    const values = this.values();
    own.sort((a, b) => values[b]! - values[a]!);
    const lines = h("div", { class: "lines" });
    for (const id of own.slice(0, 24)) lines.append(h("i"), instrLink(this.page, this.page.current, id, `${this.model.name(id)}`), h("span", { class: "n" }, visible(this.model.words(id), 18)), h("span", { class: "v" }, this.text(values[id]!)));
    return h("div", {}, h("div", { class: "sort" }, this.by), h("h2", {}, name(shown(focus.name))), h("div", {}, `${this.text(focus.value)} in ${counted(own.length, "instruction")}`), h("h3", {}, "heaviest in it"), lines);
  }

  csv(): (string | number)[][] {
    const out: (string | number)[][] = [["path", this.of]];
    const todo: [TreeNode, string][] = [[this.focus(), ""]];
    while (todo.length > 0) {
      const [at, path] = todo.pop()!;
      out.push([path || at.name, at.value]);
      for (const child of at.children.values()) todo.push([child, path ? `${path}/${child.name}` : child.name]);
    }
    return out;
  }
  picture(): HTMLCanvasElement { return this.canvas; }
  state(): object {
    const focus = this.focus();
    return { by: this.by, of: this.of, total: this.tree().value, focus: focus.name, value: focus.value, children: [...focus.children.values()].map((each) => ({ name: each.name, value: each.value })).sort((a, b) => b.value - a.value).slice(0, 50), boxes: this.boxes.slice(0, 40).map((box) => ({ name: box.node?.name ?? "", x: box.x, y: box.y + kTop, width: box.width })), count: count(this.boxes.length) };
  }
}

function node(label: string, parent: TreeNode | null): TreeNode {
  return { name: label, parent, children: new Map(), value: 0, own: [], byKind: new Float64Array(7) };
}
function add(at: TreeNode, value: number, kind: number): void {
  at.value += value;
  at.byKind[kind]! += value;
}
/** Without the number that keeps equal rows apart. */
function shown(text: string): string { return text.replace(/ #\d+$/, ""); }

async function atPeak(model: Model): Promise<Float64Array> {
  const data = await MemoryData.load(model);
  const out = new Float64Array(model.instr.count);
  if (data.steps > 0) for (const { life, bytes: size } of data.heldAt(data.peak)) if (data.buffers.instr[life]! >= 0) out[data.buffers.instr[life]!]! += size;
  return out;
}
