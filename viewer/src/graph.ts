// Graph: the neighbourhood of an instruction, with operands above and users below. More distant neighbours are folded
// into stubs. A click moves to another instruction.
import { chip, clear, displayText, h, svg } from "./dom";
import { formatBytes, formatCount, formatSeconds, formatSi } from "./format";
import { type CalleeLayout, GraphLayout, kHeight, kTitle, kWidth, type Layout, type Node as GraphNode } from "./graph_layout";
import { Kind } from "./instructions";
import type { Model } from "./model";
import { colors, kindColors, type Page, type View } from "./view";

const kMargin = 16;

export class GraphView implements View {
  private page!: Page;
  private box = h("div", { class: "sheet", tabindex: 0, role: "group", "aria-label": "graph" });
  private neighbourLimits = new Map<string, number>();  // "ID IS_OPERAND" → maximum number of neighbours shown
  private layout: Layout = { nodes: [], edges: [], width: 0, height: 0 };
  private svgElement: SVGSVGElement | null = null;
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
    // Without a selection, the graph shows the most expensive op.
    const values = this.model.hasTime ? this.model.instr.seconds : this.model.instr.flops;
    let best = 0;
    for (let id = 1; id < values.length; ++id) if (values[id]! > values[best]!) best = id;
    return best;
  }
  /** Instructions whose called computations are shown, from the setting `open`. */
  private get expanded(): Set<number> { return new Set((this.page.settings.get("open") ?? "").split(".").filter((each) => /^\d+$/.test(each)).map(Number)); }
  private get isWhole(): boolean { return this.page.settings.get("whole") === "1"; }

  update(): void {
    const centre = this.start;
    if (this.module !== this.page.current || (centre !== this.centre && !this.layout.nodes.some((each) => each.id === centre))) this.neighbourLimits.clear();
    const centreChanged = centre !== this.centre;
    this.centre = centre;
    this.module = this.page.current;
    const layout = new GraphLayout(this.model, this.expanded, this.neighbourLimits);
    this.layout = (this.isWhole ? layout.layoutComputation(this.model.instr.computation[centre]!) : null) ?? layout.layoutNeighbourhood(centre);
    this.draw(centreChanged);
  }

  private draw(centreChanged: boolean): void {
    const scroll = [this.box.scrollLeft, this.box.scrollTop];
    clear(this.box);
    const { width, height, nodes } = this.layout;
    const [w, ht] = [width + 2 * kMargin, height + 2 * kMargin];
    this.svgElement = svg("svg", { viewBox: `0 0 ${w} ${ht}`, width: w * this.zoom, height: ht * this.zoom, role: "img", "aria-label": `${displayText(this.model.name(this.centre), 60)} with its operands above and its users below` });
    this.drawLayout(this.svgElement, this.layout, kMargin, kMargin);
    this.box.append(this.svgElement);
    const centreNode = nodes.find((node) => node.id === this.centre);
    if (centreChanged && centreNode) {
      this.box.scrollLeft = Math.max((centreNode.x + centreNode.width / 2 + kMargin) * this.zoom - this.box.clientWidth / 2, 0);
      this.box.scrollTop = Math.max((centreNode.y + 20 + kMargin) * this.zoom - this.box.clientHeight / 2, 0);
    } else { this.box.scrollLeft = scroll[0]!; this.box.scrollTop = scroll[1]!; }
  }

  private drawLayout(parent: SVGElement, layout: Layout, left: number, top: number): void {
    const c = colors();
    const byId = new Map(layout.nodes.filter((each) => each.id >= 0).map((each) => [each.id, each]));
    for (const edge of layout.edges) {
      const from = byId.get(edge.from)!, to = byId.get(edge.to)!;
      const [x1, y1, x2, y2] = [left + from.x + from.width / 2, top + from.y + from.height, left + to.x + to.width / 2, top + to.y];
      const bend = Math.max((y2 - y1) / 2, 18);
      const strokeWidth = edge.bytes > 0 ? Math.max(0.8, Math.min(Math.log2(edge.bytes / 1024 + 1) / 3.2, 8)) : 0.8;
      parent.append(svg("path", { d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`, fill: "none", stroke: edge.from === this.centre || edge.to === this.centre ? c.link! : c.line!, "stroke-width": strokeWidth.toFixed(2) }, svg("title", {}, `${displayText(this.model.name(edge.from), 80)}: ${formatBytes(edge.bytes)}`)));
    }
    for (const each of layout.nodes) {
      parent.append(each.id < 0 ? this.stub(each, left + each.x, top + each.y) : this.node(each, left + each.x, top + each.y));
      for (const callee of each.callees) this.drawCallee(parent, callee, left + each.x + callee.x, top + each.y + callee.y);
    }
  }
  private drawCallee(parent: SVGElement, callee: CalleeLayout, left: number, top: number): void {
    parent.append(svg("text", { x: left, y: top + 13, class: "muted" }, displayText(callee.title, 80)));
    if (callee.layout) this.drawLayout(parent, callee.layout, left, top + kTitle);
  }

  private costText(id: number): string {
    const { instr, hasTime } = this.model;
    if (hasTime && instr.seconds[id]! > 0) return formatSeconds(instr.seconds[id]!);
    return instr.flops[id]! > 0 ? `${formatSi(instr.flops[id]!)}flop` : instr.bytes[id]! > 0 ? formatBytes(instr.bytes[id]!) : "";
  }

  private node(each: GraphNode, x: number, y: number): SVGElement {
    const { model } = this;
    const { id, width, height } = each;
    const c = colors();
    const palette = kindColors();
    const kind = model.instr.kind[id]!;
    const isColored = kind === Kind.Matmul || kind === Kind.Collective || kind === Kind.Library;
    const isCentre = id === this.centre;
    const cost = this.costText(id);
    const hasCallees = model.calls(id).length > 0;
    const fit = (text: string, maxLength: number) => (text.length > maxLength ? text.slice(0, maxLength - 1) + "…" : text);
    const maxLetters = Math.floor((width - 30 - cost.length * 6.2) / 6.6);
    const mark = ["", "~", this.page.current === 0 ? "−" : "+"][model.marks?.[id] ?? 0]!;
    const group = svg("g", { class: "hit", tabindex: 0, role: "button", "aria-label": displayText(`${model.name(id)} ${model.label(id)} ${model.type(id)}`), onclick: () => this.page.select({ kind: "instr", module: this.page.current, id }), ondblclick: () => this.toggle(id) },
      svg("rect", { x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, rx: 4, fill: isCentre ? c.selected! : c.panel!, stroke: isCentre ? c.link! : isColored ? palette[kind]! : c.line!, "stroke-width": isCentre ? 1.6 : 1 }),
      svg("rect", { x: x + 1, y: y + 1, width: 4, height: height - 2, rx: 2, fill: palette[kind]! }),
      svg("text", { x: x + 11, y: y + 16, class: "strong" }, fit(displayText(`${mark ? `${mark} ` : ""}${model.label(id)}`, 60), maxLetters)),
      svg("text", { x: x + width - 6, y: y + 16, "text-anchor": "end", class: "muted" }, cost),
      svg("text", { x: x + 11, y: y + 31, class: "muted" }, fit(displayText(model.type(id), 60), Math.floor((width - (hasCallees ? 34 : 18)) / 6))),
      svg("title", {}, displayText(`${model.name(id)}: ${model.label(id)} ${model.type(id)}`, 400)));
    if (hasCallees) group.append(this.foldButton(each, x, y));
    return group;
  }
  private foldButton(each: GraphNode, x: number, y: number): SVGElement {
    const isOpen = each.callees.length > 0;
    return svg("g", { class: "hit", tabindex: 0, role: "button", "aria-expanded": String(isOpen), "aria-label": isOpen ? "hide called computations" : "show called computations", onclick: (event: Event) => { event.stopPropagation(); this.toggle(each.id); } },
      svg("rect", { x: x + each.width - 20.5, y: y + kHeight - 17.5, width: 15, height: 13, rx: 3, fill: colors().bg!, stroke: colors().muted! }),
      svg("text", { x: x + each.width - 13, y: y + kHeight - 7, "text-anchor": "middle" }, isOpen ? "−" : "+"));
  }
  private stub(each: GraphNode, x: number, y: number): SVGElement {
    return svg("g", { class: "hit", tabindex: 0, role: "button", "aria-label": each.stub, onclick: () => { const key = `${each.owner} ${each.up}`; this.neighbourLimits.set(key, (this.neighbourLimits.get(key) ?? 4) + 16); this.update(); } },
      svg("rect", { x: x + 20.5, y: y + 8.5, width: kWidth - 41, height: kHeight - 17, rx: 11, fill: "none", stroke: colors().muted!, "stroke-dasharray": "3 3" }),
      svg("text", { x: x + kWidth / 2, y: y + 24, "text-anchor": "middle", class: "muted" }, each.stub));
  }

  /** Shows or hides the computations that an instruction calls, inside its node. */
  private toggle(id: number, expand?: boolean): void {
    if (this.model.calls(id).length === 0) return;
    const expanded = this.expanded;
    if (expand ?? !expanded.has(id)) expanded.add(id); else expanded.delete(id);
    this.page.set("open", [...expanded].join("."));
  }
  private setZoom(zoom: number): void { this.zoom = Math.max(0.25, Math.min(zoom, 3)); this.update(); }

  chips(): (Node | string)[] {
    const { model } = this;
    const id = this.start;
    const computation = model.instr.computation[id]!;
    const [first, end] = model.bodyOf(computation);
    const nodes = this.layout.nodes.filter((each) => each.id >= 0).length;
    return [chip("neighbours", !this.isWhole, () => this.page.set("whole", "")), end - first <= 300 ? chip("whole computation", this.isWhole, () => this.page.set("whole", "1")) : "", h("span", { class: "gap" }),
      h("span", { class: "note" }, `${displayText(this.isWhole ? model.computationNames[computation]! : model.name(id), 60)}, ${formatCount(nodes)} nodes; edge width: bytes`), h("span", { class: "grow" }),
      chip("−", false, () => this.setZoom(this.zoom / 1.2)), chip("100 %", this.zoom === 1, () => this.setZoom(1)), chip("+", false, () => this.setZoom(this.zoom * 1.2))];
  }
  keys(): [string, string][] { return [["click", "go to node"], ["→ ←", "unfold, fold"], ["o u", "operand, user"], ["w s", "zoom"], ["alt ←", "back"]]; }
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
  picture(): SVGSVGElement | null { return this.svgElement; }
  csv(): (string | number)[][] {
    const rows: (string | number)[][] = [["from", "to", "bytes"]];
    const add = (layout: Layout) => {
      for (const edge of layout.edges) rows.push([this.model.name(edge.from), this.model.name(edge.to), edge.bytes]);
      for (const node of layout.nodes) for (const callee of node.callees) if (callee.layout) add(callee.layout);
    };
    add(this.layout);
    return rows;
  }
  state(): object {
    const { nodes, edges } = this.layout;
    return { centre: this.model.name(this.centre), nodes: nodes.filter((each) => each.id >= 0).map((each) => this.model.name(each.id)), stubs: nodes.filter((each) => each.id < 0).map((each) => each.stub), edges: edges.length,
      calleeNodes: nodes.reduce((sum, node) => sum + node.callees.reduce((n, each) => n + (each.layout?.nodes.length ?? 0), 0), 0), canOpen: this.model.calls(this.centre).length > 0 };
  }
}
