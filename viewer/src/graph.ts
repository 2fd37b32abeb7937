// The neighbourhood of an instruction, to be walked: operands above, users below, what is far folded into stubs.
import { chip, clear, h, svg, visible } from "./dom";
import { bytes, count, scaled, seconds } from "./format";
import { Kind, type Model } from "./model";
import { colors, kindColors, type Page, type View } from "./view";

const kMost = 60, kSteps = 2;
const kWidth = 168, kHeight = 40, kGapX = 18, kGapY = 62;

interface GraphNode { id: number; layer: number; x: number; order: number; stub: string; owner: number; up: boolean; count: number }
interface Edge { from: number; to: number; bytes: number }

export class GraphView implements View {
  private page!: Page;
  private box = h("div", { class: "sheet", tabindex: 0 });
  private opened = new Map<string, number>();   // "id up" → so many neighbours
  private expanded = new Set<number>();          // instructions shown with what they call
  private nodes: GraphNode[] = [];
  private edges: Edge[] = [];
  private drawn: SVGSVGElement | null = null;
  private zoom = 1;
  private centre = -1;
  private sizes = new Map<string, number>();

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

  update(): void {
    const centre = this.start;
    if (centre !== this.centre) {
      // A step to a neighbour that is on the sheet keeps what was opened.
      if (!this.nodes.some((each) => each.id === centre)) { this.opened.clear(); this.expanded.clear(); }
      this.centre = centre;
    }
    this.layout(centre);
    this.draw(centre);
  }

  /** What an edge carries: bytes of the operand. */
  private size(id: number): number {
    const type = this.model.type(id);
    let size = this.sizes.get(type);
    if (size === undefined) this.sizes.set(type, (size = bytesOfType(type)));
    return size;
  }

  private neighbours(id: number, up: boolean): number[] {
    return up ? [...new Set(this.model.operands(id))] : this.model.users(id);
  }

  /** Layers around the centre, at most kMost nodes; the rest are stubs that open. */
  private layout(centre: number): void {
    const nodes: GraphNode[] = [{ id: centre, layer: 0, x: 0, order: 0, stub: "", owner: -1, up: false, count: 1 }];
    const seen = new Map<number, GraphNode>([[centre, nodes[0]!]]);
    const edges: Edge[] = [];
    const heavy = (id: number) => this.model.instr.bytes[id]! + this.model.instr.flops[id]! / 100 + this.size(id);
    const grow = (up: boolean) => {
      let frontier = [nodes[0]!];
      for (let step = 1; step <= kSteps + 4 && frontier.length > 0; ++step) {
        const next: GraphNode[] = [];
        for (const from of frontier) {
          const all = this.neighbours(from.id, up);
          const asked = this.opened.get(`${from.id} ${up}`);
          const most = asked ?? (step > kSteps ? 0 : step === 1 ? 10 : 4);
          const sorted = [...all].sort((x, y) => heavy(y) - heavy(x));
          const shownIds = new Set(sorted.slice(0, most));
          let rest = 0;
          for (const id of all) {
            const known = seen.get(id);
            if (known) { edges.push(up ? { from: id, to: from.id, bytes: this.size(id) } : { from: from.id, to: id, bytes: this.size(from.id) }); continue; }
            if (!shownIds.has(id) || seen.size >= kMost + (asked ?? 0)) { ++rest; continue; }
            const made: GraphNode = { id, layer: from.layer + (up ? -1 : 1), x: 0, order: nodes.length, stub: "", owner: -1, up, count: 1 };
            nodes.push(made);
            seen.set(id, made);
            next.push(made);
            edges.push(up ? { from: id, to: from.id, bytes: this.size(id) } : { from: from.id, to: id, bytes: this.size(from.id) });
          }
          if (rest > 0) nodes.push({ id: -1, layer: from.layer + (up ? -1 : 1), x: 0, order: nodes.length, stub: `+ ${count(rest)} ${up ? "operand" : "user"}${rest === 1 ? "" : "s"}`, owner: from.id, up, count: rest });
        }
        frontier = next;
      }
    };
    grow(true);
    grow(false);
    this.nodes = nodes;
    this.edges = dedupe(edges);
    this.place();
  }

  /** Each layer in the order of the mean place of its neighbours; a few sweeps. */
  private place(): void {
    const layers = new Map<number, GraphNode[]>();
    for (const each of this.nodes) (layers.get(each.layer) ?? layers.set(each.layer, []).get(each.layer)!).push(each);
    const numbers = [...layers.keys()].sort((a, b) => a - b);
    const byId = new Map(this.nodes.filter((each) => each.id >= 0).map((each) => [each.id, each]));
    for (const list of layers.values()) list.forEach((each, i) => { each.x = (i - (list.length - 1) / 2) * (kWidth + kGapX); });
    for (let sweep = 0; sweep < 4; ++sweep)
      for (const number of sweep % 2 === 0 ? numbers : [...numbers].reverse()) {
        const list = layers.get(number)!;
        if (number === 0) continue;
        const wish = new Map<GraphNode, number>();
        for (const each of list) {
          const near = each.id < 0 ? [byId.get(each.owner)!.x + 1] : this.edges.filter((edge) => edge.from === each.id || edge.to === each.id).map((edge) => byId.get(edge.from === each.id ? edge.to : edge.from)!).filter((other) => other.layer !== each.layer).map((other) => other.x);
          wish.set(each, near.length > 0 ? near.reduce((a, b) => a + b, 0) / near.length : each.x);
        }
        list.sort((x, y) => wish.get(x)! - wish.get(y)!);
        const middle = list.reduce((sum, each) => sum + wish.get(each)!, 0) / list.length;
        list.forEach((each, i) => { each.x = middle + (i - (list.length - 1) / 2) * (kWidth + kGapX); });
      }
  }

  private draw(centre: number): void {
    const scroll = [this.box.scrollLeft, this.box.scrollTop];
    clear(this.box);
    const c = colors();
    const palette = kindColors();
    const minX = Math.min(...this.nodes.map((each) => each.x)) - kWidth / 2 - 20, maxX = Math.max(...this.nodes.map((each) => each.x)) + kWidth / 2 + 20;
    const minL = Math.min(...this.nodes.map((each) => each.layer)), maxL = Math.max(...this.nodes.map((each) => each.layer));
    const width = maxX - minX, height = (maxL - minL + 1) * (kHeight + kGapY);
    const picture = svg("svg", { viewBox: `${minX} 0 ${width} ${height}`, width: width * this.zoom, height: height * this.zoom, role: "img", "aria-label": `${visible(this.model.name(centre), 60)} with its operands above and its users below` });
    const y = (layer: number) => (layer - minL) * (kHeight + kGapY) + 12;
    const byId = new Map(this.nodes.filter((each) => each.id >= 0).map((each) => [each.id, each]));
    for (const edge of this.edges) {
      const from = byId.get(edge.from)!, to = byId.get(edge.to)!;
      const [x1, y1, x2, y2] = [from.x, y(from.layer) + kHeight, to.x, y(to.layer)];
      const bend = from.layer === to.layer ? 40 : Math.max((y2 - y1) / 2, 18);
      const thick = edge.bytes > 0 ? Math.max(0.8, Math.min(Math.log2(edge.bytes / 1024 + 1) / 3.2, 8)) : 0.8;
      picture.append(svg("path", { d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`, fill: "none", stroke: edge.from === centre || edge.to === centre ? c.link! : c.line!, "stroke-width": thick.toFixed(2) }, svg("title", {}, `${visible(this.model.name(edge.from), 80)}: ${bytes(edge.bytes)}`)));
    }
    for (const each of this.nodes) picture.append(each.id < 0 ? this.stub(each, y(each.layer), c.muted!) : this.node(each, y(each.layer), each.id === centre, c, palette));
    this.drawn = picture;
    this.box.append(picture, this.inside(centre));
    const at = byId.get(centre)!;
    if (scroll[0] === 0 && scroll[1] === 0) {
      this.box.scrollLeft = Math.max((at.x - minX) * this.zoom - this.box.clientWidth / 2, 0);
      this.box.scrollTop = Math.max((y(at.layer) + 20) * this.zoom - this.box.clientHeight / 2, 0);
    } else { this.box.scrollLeft = scroll[0]!; this.box.scrollTop = scroll[1]!; }
  }

  private node(each: GraphNode, top: number, isCentre: boolean, c: { [name: string]: string }, palette: string[]): SVGElement {
    const model = this.model;
    const kind = model.instr.kind[each.id]!;
    const coloured = kind === Kind.Product || kind === Kind.Collective || kind === Kind.Library;
    const price = model.hasTime && model.instr.seconds[each.id]! > 0 ? seconds(model.instr.seconds[each.id]!) : model.instr.flops[each.id]! > 0 ? `${scaled(model.instr.flops[each.id]!)}flop` : model.instr.bytes[each.id]! > 0 ? bytes(model.instr.bytes[each.id]!) : "";
    const fit = (text: string, most: number) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
    const box = svg("g", { class: "hit", tabindex: 0, role: "button", "aria-label": visible(`${model.name(each.id)} ${model.words(each.id)} ${model.type(each.id)}`), onclick: () => this.page.select({ kind: "instr", module: this.page.current, id: each.id }), ondblclick: () => this.expand(each.id) },
      svg("rect", { x: each.x - kWidth / 2 + 0.5, y: top + 0.5, width: kWidth - 1, height: kHeight - 1, rx: 4, fill: isCentre ? c.selected! : c.panel!, stroke: isCentre ? c.link! : coloured ? palette[kind]! : c.line!, "stroke-width": isCentre ? 1.6 : 1 }),
      svg("rect", { x: each.x - kWidth / 2 + 1, y: top + 1, width: 4, height: kHeight - 2, rx: 2, fill: palette[kind]! }),
      svg("text", { x: each.x - kWidth / 2 + 11, y: top + 16, "font-weight": "600" }, fit(visible(model.words(each.id), 60), price ? 14 : 24)),
      svg("text", { x: each.x + kWidth / 2 - 6, y: top + 16, "text-anchor": "end", class: "muted" }, price),
      svg("text", { x: each.x - kWidth / 2 + 11, y: top + 31, class: "muted" }, fit(visible(model.type(each.id), 60), 26)),
      svg("title", {}, visible(`${model.name(each.id)}\n${model.words(each.id)} ${model.type(each.id)}`, 400)));
    return box;
  }

  private stub(each: GraphNode, top: number, color: string): SVGElement {
    return svg("g", { class: "hit", tabindex: 0, role: "button", "aria-label": each.stub, onclick: () => { const key = `${each.owner} ${each.up}`; this.opened.set(key, (this.opened.get(key) ?? 4) + 16); this.update(); } },
      svg("rect", { x: each.x - kWidth / 2 + 20.5, y: top + 8.5, width: kWidth - 41, height: kHeight - 17, rx: 11, fill: "none", stroke: color, "stroke-dasharray": "3 3" }),
      svg("text", { x: each.x, y: top + 24, "text-anchor": "middle", class: "muted" }, each.stub));
  }

  /** What the instruction at the centre runs: a fusion's body, opened in place below the walk. */
  private inside(centre: number): HTMLElement {
    const called = this.model.calls(centre);
    if (called.length === 0) return h("div");
    const rows: HTMLElement[] = [];
    for (const computation of Array.from(called).slice(0, 8)) {
      const [first, end] = this.model.bodyOf(computation);
      const isOpen = this.expanded.has(computation);
      rows.push(h("div", {}, h("button", { class: "link", onclick: () => { if (isOpen) this.expanded.delete(computation); else this.expanded.add(computation); this.update(); } }, `${isOpen ? "▾" : "▸"} ${visible(this.model.computationNames[computation]!, 80)}: ${count(end - first)} instructions`)));
      if (!isOpen) continue;
      if (end - first > 300) rows.push(h("p", { class: "muted" }, "more than 300 instructions: Program shows them folded"));
      else rows.push(this.body(first, end));
    }
    return h("div", {}, h("h2", {}, "What it runs"), ...rows);
  }

  /** A whole computation of at most 300 instructions, layer by layer. */
  private body(first: number, end: number): HTMLElement {
    const depth = new Map<number, number>();
    const layers: number[][] = [];
    for (let id = first; id < end; ++id) {
      let layer = 0;
      for (const operand of this.model.operands(id)) layer = Math.max(layer, (depth.get(operand) ?? -1) + 1);
      depth.set(id, layer);
      (layers[layer] ??= []).push(id);
    }
    const c = colors();
    const palette = kindColors();
    const place = new Map<number, [number, number]>();
    const widest = Math.max(...layers.map((layer) => layer.length));
    layers.forEach((layer, l) => layer.forEach((id, i) => place.set(id, [(widest * (kWidth + kGapX)) / 2 + (i - (layer.length - 1) / 2) * (kWidth + kGapX), l * (kHeight + 34)])));
    const picture = svg("svg", { width: widest * (kWidth + kGapX) + 20, height: layers.length * (kHeight + 34) + 10, role: "img", "aria-label": "the computation" });
    for (let id = first; id < end; ++id) {
      const [x2, y2] = place.get(id)!;
      for (const operand of new Set(this.model.operands(id))) {
        const from = place.get(operand);
        if (from) picture.append(svg("path", { d: `M${from[0]} ${from[1] + kHeight}C${from[0]} ${from[1] + kHeight + 18} ${x2} ${y2 - 18} ${x2} ${y2}`, fill: "none", stroke: c.line! }));
      }
    }
    for (let id = first; id < end; ++id) { const [x, y] = place.get(id)!; picture.append(this.node({ id, layer: 0, x, order: 0, stub: "", owner: -1, up: false, count: 1 }, y, false, c, palette)); }
    const scroll = h("div", {}, picture);
    scroll.style.overflow = "auto";
    return scroll;
  }

  private expand(id: number): void {
    for (const computation of this.model.calls(id)) this.expanded.add(computation);
    this.update();
  }
  private setZoom(zoom: number): void { this.zoom = Math.max(0.25, Math.min(zoom, 3)); this.update(); }

  chips(): (Node | string)[] {
    const id = this.start;
    return [h("span", { class: "note" }, `${visible(this.model.name(id), 60)} with ${count(this.nodes.filter((each) => each.id >= 0).length - 1)} neighbours; edges as thick as their bytes`), h("span", { class: "grow" }), chip("−", false, () => this.setZoom(this.zoom / 1.2)), chip("100 %", this.zoom === 1, () => this.setZoom(1)), chip("+", false, () => this.setZoom(this.zoom * 1.2))];
  }
  keys(): [string, string][] { return [["click", "walk there"], ["o u", "operand, user"], ["w s", "zoom"], ["alt ←", "back"], ["e", "SVG"]]; }
  key(event: KeyboardEvent): boolean {
    switch (event.key) {
      case "w": this.setZoom(this.zoom * 1.2); return true;
      case "s": this.setZoom(this.zoom / 1.2); return true;
      case "0": this.setZoom(1); return true;
      case "Enter": {
        const focused = document.activeElement;
        if (focused instanceof SVGElement && focused.getAttribute("role") === "button") { focused.dispatchEvent(new MouseEvent("click")); return true; }
      }
    }
    return false;
  }
  picture(): SVGSVGElement | null { return this.drawn; }
  csv(): (string | number)[][] { return [["from", "to", "bytes"], ...this.edges.map((edge) => [this.model.name(edge.from), this.model.name(edge.to), edge.bytes])]; }
  state(): object {
    return { centre: this.model.name(this.centre), nodes: this.nodes.filter((each) => each.id >= 0).map((each) => this.model.name(each.id)), stubs: this.nodes.filter((each) => each.id < 0).map((each) => each.stub), edges: this.edges.length, expanded: this.expanded.size };
  }
}

function dedupe(edges: Edge[]): Edge[] {
  const known = new Map<string, Edge>();
  for (const edge of edges) known.set(`${edge.from} ${edge.to}`, edge);
  return [...known.values()];
}

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
