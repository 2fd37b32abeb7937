// The neighbourhood of an instruction, to be walked: operands above, users below, what is far folded into stubs.
import { chip, clear, h, svg, visible } from "./dom";
import { bytes, count, scaled, seconds } from "./format";
import { GraphLayout, type Inside, kHeight, kTitle, kWidth, type Layout, type Node as GraphNode } from "./graph_layout";
import { Kind } from "./instructions";
import type { Model } from "./model";
import { colors, kindColors, type Page, type View } from "./view";

const kMargin = 16;

export class GraphView implements View {
  private page!: Page;
  private box = h("div", { class: "sheet", tabindex: 0, role: "group", "aria-label": "graph" });
  private opened = new Map<string, number>();   // "id up" → so many neighbours
  private layout: Layout = { nodes: [], edges: [], width: 0, height: 0 };
  private drawn: SVGSVGElement | null = null;
  private zoom = 1;
  private centre = -1;
  private module = -1;

  mount(root: HTMLElement, page: Page): void {
    this.page = page;
    root.append(this.box);
    this.box.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); this.setZoom(this.zoom * (event.deltaY > 0 ? 0.9 : 1.1)); } }, { passive: false });
  }

  private get model(): Model { return this.page.models[this.page.current]!; }
  private get start(): number {
    if (this.page.selection?.kind === "instr") return this.page.selection.id;
    // Nothing selected: the heaviest op.
    const values = this.model.hasTime ? this.model.instr.seconds : this.model.instr.flops;
    let best = 0;
    for (let id = 1; id < values.length; ++id) if (values[id]! > values[best]!) best = id;
    return best;
  }
  /** Instructions that show what they call, by the address. */
  private get open(): Set<number> { return new Set((this.page.settings.get("open") ?? "").split(".").filter((each) => /^\d+$/.test(each)).map(Number)); }
  private get isWhole(): boolean { return this.page.settings.get("whole") === "1"; }

  update(): void {
    const centre = this.start;
    if (this.module !== this.page.current || (centre !== this.centre && !this.layout.nodes.some((each) => each.id === centre))) this.opened.clear();
    const moved = centre !== this.centre;
    this.centre = centre;
    this.module = this.page.current;
    const layout = new GraphLayout(this.model, this.open, this.opened);
    this.layout = (this.isWhole ? layout.whole(this.model.instr.computation[centre]!) : null) ?? layout.around(centre);
    this.draw(moved);
  }

  private draw(moved: boolean): void {
    const scroll = [this.box.scrollLeft, this.box.scrollTop];
    clear(this.box);
    const { width, height, nodes } = this.layout;
    const [w, ht] = [width + 2 * kMargin, height + 2 * kMargin];
    this.drawn = svg("svg", { viewBox: `0 0 ${w} ${ht}`, width: w * this.zoom, height: ht * this.zoom, role: "img", "aria-label": `${visible(this.model.name(this.centre), 60)} with its operands above and its users below` });
    this.drawLayout(this.drawn, this.layout, kMargin, kMargin);
    this.box.append(this.drawn);
    const at = nodes.find((node) => node.id === this.centre);
    if (moved && at) {
      this.box.scrollLeft = Math.max((at.x + at.width / 2 + kMargin) * this.zoom - this.box.clientWidth / 2, 0);
      this.box.scrollTop = Math.max((at.y + 20 + kMargin) * this.zoom - this.box.clientHeight / 2, 0);
    } else { this.box.scrollLeft = scroll[0]!; this.box.scrollTop = scroll[1]!; }
  }

  private drawLayout(into: SVGElement, layout: Layout, left: number, top: number): void {
    const c = colors();
    const byId = new Map(layout.nodes.filter((each) => each.id >= 0).map((each) => [each.id, each]));
    for (const edge of layout.edges) {
      const from = byId.get(edge.from)!, to = byId.get(edge.to)!;
      const [x1, y1, x2, y2] = [left + from.x + from.width / 2, top + from.y + from.height, left + to.x + to.width / 2, top + to.y];
      const bend = Math.max((y2 - y1) / 2, 18);
      const thick = edge.bytes > 0 ? Math.max(0.8, Math.min(Math.log2(edge.bytes / 1024 + 1) / 3.2, 8)) : 0.8;
      into.append(svg("path", { d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`, fill: "none", stroke: edge.from === this.centre || edge.to === this.centre ? c.link! : c.line!, "stroke-width": thick.toFixed(2) }, svg("title", {}, `${visible(this.model.name(edge.from), 80)}: ${bytes(edge.bytes)}`)));
    }
    for (const each of layout.nodes) {
      into.append(each.id < 0 ? this.stub(each, left + each.x, top + each.y) : this.node(each, left + each.x, top + each.y));
      for (const inside of each.inside) this.drawInside(into, inside, left + each.x + inside.x, top + each.y + inside.y);
    }
  }
  private drawInside(into: SVGElement, inside: Inside, left: number, top: number): void {
    into.append(svg("text", { x: left, y: top + 13, class: "muted" }, visible(inside.title, 80)));
    if (inside.layout) this.drawLayout(into, inside.layout, left, top + kTitle);
  }

  private price(id: number): string {
    const { instr, hasTime } = this.model;
    if (hasTime && instr.seconds[id]! > 0) return seconds(instr.seconds[id]!);
    return instr.flops[id]! > 0 ? `${scaled(instr.flops[id]!)}flop` : instr.bytes[id]! > 0 ? bytes(instr.bytes[id]!) : "";
  }

  private node(each: GraphNode, x: number, y: number): SVGElement {
    const { model } = this;
    const { id, width, height } = each;
    const c = colors();
    const palette = kindColors();
    const kind = model.instr.kind[id]!;
    const coloured = kind === Kind.Product || kind === Kind.Collective || kind === Kind.Library;
    const isCentre = id === this.centre;
    const price = this.price(id);
    const holds = model.calls(id).length > 0;
    const fit = (text: string, most: number) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
    const letters = Math.floor((width - 30 - price.length * 6.2) / 6.6);
    const mark = ["", "~", this.page.current === 0 ? "−" : "+"][model.marks?.[id] ?? 0]!;
    const group = svg("g", { class: "hit", tabindex: 0, role: "button", "aria-label": visible(`${model.name(id)} ${model.words(id)} ${model.type(id)}`), onclick: () => this.page.select({ kind: "instr", module: this.page.current, id }), ondblclick: () => this.toggle(id) },
      svg("rect", { x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, rx: 4, fill: isCentre ? c.selected! : c.panel!, stroke: isCentre ? c.link! : coloured ? palette[kind]! : c.line!, "stroke-width": isCentre ? 1.6 : 1 }),
      svg("rect", { x: x + 1, y: y + 1, width: 4, height: height - 2, rx: 2, fill: palette[kind]! }),
      svg("text", { x: x + 11, y: y + 16, class: "strong" }, fit(visible(`${mark ? `${mark} ` : ""}${model.words(id)}`, 60), letters)),
      svg("text", { x: x + width - 6, y: y + 16, "text-anchor": "end", class: "muted" }, price),
      svg("text", { x: x + 11, y: y + 31, class: "muted" }, fit(visible(model.type(id), 60), Math.floor((width - (holds ? 34 : 18)) / 6))),
      svg("title", {}, visible(`${model.name(id)}: ${model.words(id)} ${model.type(id)}`, 400)));
    if (holds) group.append(this.foldButton(each, x, y));
    return group;
  }
  private foldButton(each: GraphNode, x: number, y: number): SVGElement {
    const isOpen = each.inside.length > 0;
    return svg("g", { class: "hit", tabindex: 0, role: "button", "aria-expanded": String(isOpen), "aria-label": isOpen ? "fold what it runs" : "show what it runs", onclick: (event: Event) => { event.stopPropagation(); this.toggle(each.id); } },
      svg("rect", { x: x + each.width - 20.5, y: y + kHeight - 17.5, width: 15, height: 13, rx: 3, fill: colors().bg!, stroke: colors().muted! }),
      svg("text", { x: x + each.width - 13, y: y + kHeight - 7, "text-anchor": "middle" }, isOpen ? "−" : "+"));
  }
  private stub(each: GraphNode, x: number, y: number): SVGElement {
    return svg("g", { class: "hit", tabindex: 0, role: "button", "aria-label": each.stub, onclick: () => { const key = `${each.owner} ${each.up}`; this.opened.set(key, (this.opened.get(key) ?? 4) + 16); this.update(); } },
      svg("rect", { x: x + 20.5, y: y + 8.5, width: kWidth - 41, height: kHeight - 17, rx: 11, fill: "none", stroke: colors().muted!, "stroke-dasharray": "3 3" }),
      svg("text", { x: x + kWidth / 2, y: y + 24, "text-anchor": "middle", class: "muted" }, each.stub));
  }

  /** Opens or folds what an instruction calls, in its place. */
  private toggle(id: number, to?: boolean): void {
    if (this.model.calls(id).length === 0) return;
    const open = this.open;
    if (to ?? !open.has(id)) open.add(id); else open.delete(id);
    this.page.set("open", [...open].join("."));
  }
  private setZoom(zoom: number): void { this.zoom = Math.max(0.25, Math.min(zoom, 3)); this.update(); }

  chips(): (Node | string)[] {
    const { model } = this;
    const id = this.start;
    const computation = model.instr.computation[id]!;
    const [first, end] = model.bodyOf(computation);
    const nodes = this.layout.nodes.filter((each) => each.id >= 0).length;
    return [chip("neighbours", !this.isWhole, () => this.page.set("whole", "")), end - first <= 300 ? chip("whole computation", this.isWhole, () => this.page.set("whole", "1")) : "", h("span", { class: "gap" }),
      h("span", { class: "note" }, `${visible(this.isWhole ? model.computationNames[computation]! : model.name(id), 60)}, ${count(nodes)} nodes; edges as thick as their bytes`), h("span", { class: "grow" }),
      chip("−", false, () => this.setZoom(this.zoom / 1.2)), chip("100 %", this.zoom === 1, () => this.setZoom(1)), chip("+", false, () => this.setZoom(this.zoom * 1.2))];
  }
  keys(): [string, string][] { return [["click", "walk there"], ["→ ←", "open, fold"], ["o u", "operand, user"], ["w s", "zoom"], ["alt ←", "back"]]; }
  key(event: KeyboardEvent): boolean {
    if (event.altKey) return false;
    switch (event.key) {
      case "w": this.setZoom(this.zoom * 1.2); return true;
      case "s": this.setZoom(this.zoom / 1.2); return true;
      case "0": this.setZoom(1); return true;
      case "ArrowRight": this.toggle(this.centre, true); return true;
      case "ArrowLeft": this.toggle(this.centre, false); return true;
      case "Enter": {
        const focused = document.activeElement;
        if (focused instanceof SVGElement && focused.getAttribute("role") === "button") { focused.dispatchEvent(new MouseEvent("click")); return true; }
      }
    }
    return false;
  }
  picture(): SVGSVGElement | null { return this.drawn; }
  csv(): (string | number)[][] {
    const rows: (string | number)[][] = [["from", "to", "bytes"]];
    const add = (layout: Layout) => {
      for (const edge of layout.edges) rows.push([this.model.name(edge.from), this.model.name(edge.to), edge.bytes]);
      for (const node of layout.nodes) for (const inside of node.inside) if (inside.layout) add(inside.layout);
    };
    add(this.layout);
    return rows;
  }
  state(): object {
    const { nodes, edges } = this.layout;
    return { centre: this.model.name(this.centre), nodes: nodes.filter((each) => each.id >= 0).map((each) => this.model.name(each.id)), stubs: nodes.filter((each) => each.id < 0).map((each) => each.stub), edges: edges.length,
      inside: nodes.reduce((sum, node) => sum + node.inside.reduce((n, each) => n + (each.layout?.nodes.length ?? 0), 0), 0), canOpen: this.model.calls(this.centre).length > 0 };
  }
}
