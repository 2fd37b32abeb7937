// Graph: the neighbourhood of an instruction, with operands above and users below. More distant neighbours are folded
// into stubs. A click moves to another instruction.
import { chip, clear, displayText, h, svg } from "./dom";
import { formatBytes, formatCount, formatSeconds, formatSi, pluralize } from "./format";
import { type CalleeLayout, type Edge, GraphLayout, kHeight, kPad, kTitle, kWidth, type Layout, type Node as GraphNode, bytesOfType, nodesOf } from "./graph_layout";
import { Kind } from "./instructions";
import type { Model } from "./model";
import { colors, kindColors, type Page, type View } from "./view";

const kMargin = 16;
const kMinZoom = 0.2, kMaxZoom = 3;

export class GraphView implements View {
  private page!: Page;
  private box = h("div", { class: "sheet", tabindex: 0, role: "group", "aria-label": "graph" });
  private neighbourLimits = new Map<string, number>();  // "ID IS_OPERAND" → maximum number of neighbours shown
  private layout: Layout = { nodes: [], edges: [], width: 0, height: 0, input: -1, output: -1 };
  private svgElement: SVGSVGElement | null = null;
  private chosenZoom: number | null = null;  // null: the graph fits the window
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
  private get toggledScopes(): Set<string> { return new Set((this.page.settings.get("scopes") ?? "").split("_").filter((each) => each !== "")); }
  private get zoom(): number {
    const { width, height } = this.layout;
    if (this.chosenZoom !== null) return this.chosenZoom;
    return Math.max(kMinZoom, Math.min((this.box.clientWidth - 38) / (width + 2 * kMargin), (this.box.clientHeight - 34) / (height + 2 * kMargin), 1));
  }
  private get isWhole(): boolean { return this.page.settings.get("whole") === "1"; }

  update(): void {
    const centre = this.start;
    if (this.module !== this.page.current || (centre !== this.centre && !nodesOf(this.layout).some((each) => each.id === centre))) this.neighbourLimits.clear();
    const centreChanged = centre !== this.centre;
    this.centre = centre;
    this.module = this.page.current;
    const layout = new GraphLayout(this.model, this.expanded, this.neighbourLimits, this.toggledScopes);
    this.layout = (this.isWhole ? layout.layoutComputation(this.model.instr.computation[centre]!) : null) ?? layout.layoutNeighbourhood(centre);
    this.draw(centreChanged);
  }

  private draw(centreChanged: boolean): void {
    const scroll = [this.box.scrollLeft, this.box.scrollTop];
    clear(this.box);
    const { width, height } = this.layout;
    const [w, ht] = [width + 2 * kMargin, height + 2 * kMargin];
    this.svgElement = svg("svg", { viewBox: `0 0 ${w} ${ht}`, width: w * this.zoom, height: ht * this.zoom, role: "img", "aria-label": `${displayText(this.model.name(this.centre), 60)} with its operands above and its users below` });
    this.drawLayout(this.svgElement, this.layout, kMargin, kMargin);
    this.box.append(this.svgElement);
    const centreNode = this.svgElement.querySelector(".centre");
    if (centreChanged && centreNode) {
      const [box, own] = [this.box.getBoundingClientRect(), centreNode.getBoundingClientRect()];
      this.box.scrollLeft = Math.max(own.left + own.width / 2 - box.left - this.box.clientWidth / 2, 0);
      this.box.scrollTop = Math.max(own.top + own.height / 2 - box.top - this.box.clientHeight / 2, 0);
    } else { this.box.scrollLeft = scroll[0]!; this.box.scrollTop = scroll[1]!; }
  }

  private drawLayout(parent: SVGElement, layout: Layout, left: number, top: number): void {
    const edges = svg("g", { transform: `translate(${left} ${top})` });
    parent.append(edges);
    for (const edge of layout.edges) edges.append(this.edge(edge));
    for (const each of layout.nodes) {
      if (each.scope) { this.drawScope(parent, each, left + each.x, top + each.y); continue; }
      parent.append(each.id < 0 ? this.stub(each, left + each.x, top + each.y) : this.node(each, left + each.x, top + each.y));
      for (const callee of each.callees) this.drawCallee(parent, callee, left + each.x + callee.x, top + each.y + callee.y);
    }
  }
  private edge({ ids, bytes, path }: Edge): SVGElement {
    const c = colors();
    const strokeWidth = bytes > 0 ? Math.max(0.8, Math.min(Math.log2(bytes / 1024 + 1) / 3.2, 8)) : 0.8;
    const [from, to] = ids[0]!;
    const isStub = from < 0;
    const touchesCentre = ids.some((pair) => pair.includes(this.centre));
    const title = isStub ? "" : `${ids.length === 1 ? `${displayText(this.model.name(from), 80)} → ${displayText(this.model.name(to), 80)}` : `${formatCount(ids.length)} operands`}: ${formatBytes(bytes)}`;
    return svg("path", { class: "edge", d: path, fill: "none", stroke: touchesCentre ? c.link! : isStub ? c.muted! : c.line!, "stroke-width": strokeWidth.toFixed(2), "stroke-dasharray": isStub ? "3 3" : undefined }, svg("title", {}, title));
  }
  /** A scope: an open one has a title and contains its instructions, a closed one looks like a node. */
  private drawScope(parent: SVGElement, each: GraphNode, x: number, y: number): void {
    const { name, key, ids, layout } = each.scope!;
    const c = colors();
    const seconds = ids.reduce((sum, id) => sum + this.model.instr.seconds[id]!, 0);
    const title = `${name}: ${pluralize(ids.length, "op")}${seconds > 0 ? `, ${formatSeconds(seconds)}` : ""}`;
    const fit = (text: string, letters: number) => (text.length > letters ? `…${text.slice(text.length - letters + 1)}` : text);
    const group = svg("g", { class: "hit scope", tabindex: 0, role: "button", "aria-expanded": String(layout !== null), "aria-label": displayText(`scope ${title}`), onclick: () => this.toggleScope(key) },
      svg("rect", { x: x + 0.5, y: y + 0.5, width: each.width - 1, height: each.height - 1, rx: 6, fill: layout ? "none" : c.panel!, stroke: c.muted!, "stroke-dasharray": layout ? "2 3" : undefined, "pointer-events": layout ? "none" : undefined }),
      layout ? svg("rect", { x: x + 1, y: y + 1, width: each.width - 2, height: kTitle, fill: "transparent" }) : null,
      svg("text", { x: x + 9, y: y + (layout ? 14 : 17), class: layout ? "muted" : "strong" }, `${layout ? "▾" : "▸"} ${displayText(fit(name, Math.floor((each.width - 26) / 6.6)), 200)}`),
      layout ? null : svg("text", { x: x + 11, y: y + 31, class: "muted" }, title.slice(name.length + 2)), svg("title", {}, displayText(title, 400)));
    parent.append(group);
    if (!layout) return;
    const [innerX, innerY] = [x + (each.width - layout.width) / 2, y + kTitle + kPad];
    const middle = x + each.width / 2, bottom = innerY + layout.height;
    const border = (d: string) => parent.append(svg("path", { class: "edge", d, fill: "none", stroke: c.line!, "stroke-width": 1.2 }));
    if (layout.input >= 0) border(`M${middle} ${y}C${middle} ${innerY} ${innerX + layout.input} ${y} ${innerX + layout.input} ${innerY}`);
    if (layout.output >= 0) border(`M${innerX + layout.output} ${bottom}C${innerX + layout.output} ${y + each.height} ${middle} ${bottom} ${middle} ${y + each.height}`);
    this.drawLayout(parent, layout, innerX, innerY);
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
    const group = svg("g", { class: isCentre ? "hit node centre" : "hit node", tabindex: 0, role: "button", "aria-label": displayText(`${model.name(id)} ${model.label(id)} ${model.type(id)}`), onclick: () => this.page.select({ kind: "instr", module: this.page.current, id }), ondblclick: () => this.toggle(id) },
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
  private toggleScope(key: string): void {
    const toggled = this.toggledScopes;
    if (!toggled.delete(key)) toggled.add(key);
    this.page.set("scopes", [...toggled].join("_"));
  }
  /** Without a value, the graph fits the window. */
  private setZoom(zoom: number | null): void { this.chosenZoom = zoom === null ? null : Math.max(kMinZoom, Math.min(zoom, kMaxZoom)); this.page.redraw(); }

  chips(): (Node | string)[] {
    const { model } = this;
    const id = this.start;
    const computation = model.instr.computation[id]!;
    const [first, end] = model.bodyOf(computation);
    const nodes = nodesOf(this.layout).filter((each) => each.id >= 0).length;
    return [chip("neighbours", !this.isWhole, () => this.page.set("whole", "")), end - first <= 300 ? chip("whole computation", this.isWhole, () => this.page.set("whole", "1")) : "", h("span", { class: "gap" }),
      h("span", { class: "note" }, `${displayText(this.isWhole ? model.computationNames[computation]! : model.name(id), 60)}, ${formatCount(nodes)} nodes; edge width: bytes`), h("span", { class: "grow" }),
      chip("−", false, () => this.setZoom(this.zoom / 1.2)), chip("fit", this.chosenZoom === null, () => this.setZoom(null)), chip("100 %", this.chosenZoom === 1, () => this.setZoom(1)), chip("+", false, () => this.setZoom(this.zoom * 1.2))];
  }
  keys(): [string, string][] { return [["click", "go to node"], ["→ ←", "unfold, fold"], ["o u", "operand, user"], ["w s", "zoom"], ["0", "fit"], ["alt ←", "back"]]; }
  key(event: KeyboardEvent): boolean {
    if (event.altKey) return false;
    switch (event.key) {
      case "w": this.setZoom(this.zoom * 1.2); return true;
      case "s": this.setZoom(this.zoom / 1.2); return true;
      case "0": this.setZoom(null); return true;
      case "ArrowRight": this.toggle(this.centre, true); return true;
      case "ArrowLeft": this.toggle(this.centre, false); return true;
      case "Enter": {
        const focused = document.activeElement;
        if (focused instanceof SVGElement && focused.getAttribute("role") === "button") { focused.dispatchEvent(new MouseEvent("click")); return true; }
      }
    }
    return false;
  }
  printHeight(): number { return Math.min(this.layout.height + 2 * kMargin + 40, 900); }
  picture(): SVGSVGElement | null { return this.svgElement; }
  csv(): (string | number)[][] {
    const rows: (string | number)[][] = [["from", "to", "bytes"]];
    const add = (layout: Layout) => {
      for (const { ids } of layout.edges) for (const [from, to] of ids) if (from >= 0) rows.push([this.model.name(from), this.model.name(to), bytesOfType(this.model.type(from))]);
      for (const node of layout.nodes) {
        for (const callee of node.callees) if (callee.layout) add(callee.layout);
        if (node.scope?.layout) add(node.scope.layout);
      }
    };
    add(this.layout);
    return rows;
  }
  state(): object {
    const nodes = nodesOf(this.layout);
    const scopes = (layout: Layout): string[] => layout.nodes.flatMap(({ scope }) => (scope ? [scope.name, ...(scope.layout ? scopes(scope.layout) : [])] : []));
    return { centre: this.model.name(this.centre), nodes: nodes.filter((each) => each.id >= 0).map((each) => this.model.name(each.id)), stubs: nodes.filter((each) => each.stub !== "").map((each) => each.stub), edges: this.layout.edges.filter(({ ids }) => ids[0]![0] >= 0).length,
      calleeNodes: nodes.reduce((sum, node) => sum + node.callees.reduce((n, each) => n + (each.layout ? nodesOf(each.layout).length : 0), 0), 0), canOpen: this.model.calls(this.centre).length > 0, scopes: scopes(this.layout), zoom: this.zoom };
  }
}
