// Communication: who sends how much to whom, over which axis, and the ledger with alike collectives as one row.
import { chip, clear, h, name, visible } from "./dom";
import { bytes, count } from "./format";
import { Kind } from "./instructions";
import { alikeOf, Ledger, type Side } from "./ledger";
import { loadPairRules, type Matrix, matrixOf, uniform } from "./matrix";
import { drawMatrix, kLabel, matrixLegend } from "./matrix_picture";
import { mesh } from "./mesh";
import { bars } from "./overview";
import { groupsText, instrLink, list } from "./panel";
import { isDark, type Page, type View } from "./view";

const kMostDevices = 4096;

interface Total { value: number; uses: number; nodes: number }

export class CommunicationView implements View {
  private page!: Page;
  private sides: Side[] = [];
  private ledger!: Ledger;
  private matrixBox = h("div", { class: "matrix" });
  private canvas = h("canvas", { role: "img", class: "hit", tabindex: 0 });
  private sideBox = h("div", { class: "sides" });
  private matrix: Matrix | null = null;
  private cell = 0;
  private picked: [number, number] | null = null;
  private drawnFor = "";

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.sides = await Promise.all(page.models.map(async (model) => {
      const [all, joins, rules] = await Promise.all([model.collectives(), model.joins(), loadPairRules(model)]);
      return { model, all, joins, rules, alike: alikeOf(model, all) };
    }));
    this.ledger = new Ledger(page, (group, use) => this.choose(group, use));
    root.append(h("div", { class: "commgrid" }, this.matrixBox, this.sideBox, h("div", { class: "ledger" }, this.ledger.table.element)));
    this.canvas.addEventListener("click", (event) => this.pick(event));
    new ResizeObserver(() => this.update()).observe(this.matrixBox);
  }

  private get at(): Side { return this.sides[this.page.current]!; }
  private get ring(): boolean { return this.page.settings.get("as") === "ring"; }
  private get linear(): boolean { return this.page.settings.get("scale") === "linear"; }
  private get axis(): string { return this.page.settings.get("axis") ?? ""; }
  /** The node whose devices are shown; NaN: all nodes. */
  private get node(): number {
    const given = this.page.settings.get("node") ?? "";
    const { devices, devices_per_node: each } = this.at.model.about;
    return /^\d+$/.test(given) && Number(given) * each < devices ? Number(given) : NaN;
  }
  private get selectedGroup(): number {
    const given = this.page.settings.get("g");
    if (given !== undefined && /^\d+$/.test(given) && Number(given) < this.at.alike.length) return Number(given);
    if (this.page.selection?.kind !== "instr") return -1;
    const { id } = this.page.selection;
    const { all } = this.at;
    for (let i = 0; i < all.count; ++i) if (all.start[i] === id || all.hlo[i] === id || all.done[i] === id) return all.alike[i]!;
    return -1;
  }

  update(): void {
    const { settings } = this.page;
    const key = [this.page.current, this.selectedGroup, isDark(), this.matrixBox.clientHeight, this.sideBox.clientWidth, this.picked, this.ledger.openGroups, ...["axis", "as", "scale", "sort", "q", "of", "node"].map((each) => settings.get(each) ?? "")].join("|");
    if (key === this.drawnFor) return;
    this.drawnFor = key;
    this.ledger.show(this.at, this.axis, this.selectedGroup);
    this.drawMatrix();
    this.drawSides();
  }

  // ---- the matrix
  private wanted(side: Side): (i: number) => boolean {
    const group = this.selectedGroup;
    if (this.page.settings.get("of") === "selected" && group >= 0 && side === this.at) return (i) => side.all.alike[i] === group;
    if (this.axis !== "") return (i) => side.joins[side.all.joins[i]!]!.axis === this.axis;
    return () => true;
  }
  private matrixOf(side: Side, perCell: number): Matrix {
    return matrixOf(side.model, side.all, side.joins, side.rules, this.wanted(side), this.ring, side.model.about.devices, perCell);
  }
  /** B − A, where both have as many devices. */
  private get change(): boolean {
    return this.page.settings.get("of") === "change" && this.sides.length > 1 && this.sides[0]!.model.about.devices === this.sides[1]!.model.about.devices;
  }

  private drawMatrix(): void {
    clear(this.matrixBox);
    this.matrix = null;
    const { about } = this.at.model;
    const say = (text: string) => this.matrixBox.append(h("p", { class: "muted" }, text));
    if (this.at.all.count === 0 && !this.change) return say("No collective: the devices do not talk.");
    if (about.devices > kMostDevices * about.devices_per_node) return say(`${count(about.devices)} devices are too many for a picture.`);
    const inside = Number.isFinite(this.node) && about.devices <= kMostDevices;
    let perCell = about.devices > 64 && !inside ? about.devices_per_node : 1;
    while (Math.ceil(about.devices / perCell) > 512) perCell *= 2;
    let matrix = this.matrixOf(this.at, perCell);
    if (this.change) {
      const [a, b] = [this.matrixOf(this.sides[0]!, perCell), this.matrixOf(this.sides[1]!, perCell)];
      matrix = { ...b, values: b.values.map((value, i) => value - a.values[i]!) };
    }
    if (inside) matrix = cut(matrix, this.node * about.devices_per_node, about.devices_per_node);
    this.matrix = matrix;
    const all = perCell > 1 && about.devices <= kMostDevices ? this.matrixOf(this.at, 1) : matrix;
    const even = inside || this.change || all.perCell > 1 ? -1 : uniform(all);
    if (even > 0) this.matrixBox.append(h("p", {}, `Every pair of the ${count(about.devices)} devices moves ${bytes(even)} each way in a step.`));
    if (!matrix.listed) say("Some groups are too large to be listed; they are left out.");
    this.paintMatrix(matrix);
  }

  private paintMatrix(matrix: Matrix): void {
    const { about } = this.at.model;
    const room = Math.max(Math.min(this.matrixBox.clientHeight - 92, 380), 150);
    const picture = drawMatrix(this.canvas, matrix, room, this.linear, matrix.perCell === 1 ? about.devices_per_node : 0, this.picked);
    this.cell = picture.cell;
    const unit = picture.numbers ? `numbers: ${bytes(picture.unit).slice(-3).trim()}` : "";
    const framed = matrix.perCell === 1 && about.devices > about.devices_per_node && !Number.isFinite(this.node) ? `frames: nodes of ${about.devices_per_node}` : "";
    const legend = h("div", { class: "muted" }, matrixLegend(picture), h("div", {}, [unit, framed].filter((each) => each !== "").join(" · ")));
    if (this.picked) {
      const [from, to] = this.picked;
      const value = matrix.values[from * matrix.size + to] ?? 0;
      legend.append(h("div", { role: "status" }, `${matrix.perCell === 1 ? "device" : "node"} ${matrix.first + from} → ${matrix.first + to}: ${bytes(value)}`));
    }
    if (Number.isFinite(this.node)) legend.append(h("button", { class: "link", onclick: () => this.page.set("node", "") }, "all nodes"));
    this.canvas.setAttribute("aria-label", `traffic from ${matrix.size} to ${matrix.size} ${matrix.perCell === 1 ? "devices" : "nodes"}, at most ${bytes(picture.most)} per pair`);
    this.matrixBox.append(this.canvas, legend);
  }

  private pick(event: MouseEvent): void {
    if (!this.matrix) return;
    const to = Math.floor((event.offsetX - kLabel) / this.cell), from = Math.floor((event.offsetY - kLabel) / this.cell);
    if (from < 0 || to < 0 || from >= this.matrix.size || to >= this.matrix.size) return;
    if (this.matrix.perCell > 1 && this.at.model.about.devices <= kMostDevices && from === to) return this.page.set("node", String(from));
    this.picked = [from, to];
    this.update();
  }

  // ---- beside it
  private totals(side: Side, key: (i: number) => string): [string, Total][] {
    const sums = new Map<string, Total>();
    for (let i = 0; i < side.all.count; ++i) {
      const sum = sums.get(key(i)) ?? { value: 0, uses: 0, nodes: 1 };
      sum.value += side.all.times[i]! * (this.ring ? side.all.ring : side.all.direct)[i]!;
      ++sum.uses;
      sum.nodes = Math.max(sum.nodes, side.all.nodes[i]!);
      sums.set(key(i), sum);
    }
    return [...sums].sort((x, y) => y[1].value - x[1].value);
  }
  private byAxis(side: Side): [string, Total][] { return this.totals(side, (i) => side.joins[side.all.joins[i]!]!.axis); }
  private byKind(side: Side): [string, Total][] { return this.totals(side, (i) => side.model.string(side.all.kind[i]!)); }

  private drawSides(): void {
    clear(this.sideBox);
    const side = this.at;
    if (side.all.count === 0) return;
    // Of two modules each bar says what the other has.
    const other = this.sides.length > 1 ? this.sides[1 - this.page.current]! : null;
    const beside = (all: [string, Total][], label: string) => (other ? `${this.page.current === 0 ? "B" : "A"}: ${bytes(all.find(([each]) => each === label)?.[1].value ?? 0)}` : "");
    const [axes, kinds] = other ? [this.byAxis(other), this.byKind(other)] : [[], []];
    this.sideBox.append(
      h("h2", {}, "By axis"), bars(this.byAxis(side).slice(0, 8).map(([label, sum]) => ({ label, value: sum.value, kind: Kind.Collective, text: bytes(sum.value), note: beside(axes, label) || (sum.nodes > 1 ? "crosses nodes" : "inside a node"), act: () => this.page.set("axis", this.axis === label ? "" : label) }))),
      h("h2", {}, "By kind"), bars(this.byKind(side).map(([label, sum]) => ({ label, value: sum.value, kind: Kind.Collective, text: bytes(sum.value), note: beside(kinds, label) || `${count(sum.uses)} of them` }))),
      h("h2", {}, "Mesh"), ...mesh(side, Math.max(this.selectedGroup, 0), this.sideBox.clientWidth));
  }

  private choose(group: number, use: number): void {
    this.page.settings.set("g", String(group));
    if (use >= 0) this.page.select({ kind: "instr", module: this.page.current, id: this.at.all.start[use]! });
    else this.page.select({ kind: "alike", module: this.page.current, group });
  }

  // ---- the frame
  chips(): (Node | string)[] {
    const axes = [...new Set(this.at.joins.map((join) => join.axis))].slice(0, 6);
    const of = this.page.settings.get("of") ?? "";
    const set = (key: string, value: string) => () => this.page.set(key, value);
    const only = (axis: string) => () => { this.page.settings.set("of", ""); this.page.set("axis", axis); };
    return ["matrix of", chip("everything", this.axis === "" && of === "", only("")), ...axes.map((axis) => chip(visible(axis, 24), this.axis === axis, only(axis))),
      chip("selected row", of === "selected", set("of", of === "selected" ? "" : "selected")), this.sides.length > 1 ? chip("B − A", of === "change", set("of", of === "change" ? "" : "change")) : "",
      h("span", { class: "gap" }), "as", chip("ring", this.ring, set("as", "ring")), chip("direct", !this.ring, set("as", "")), chip("linear scale", this.linear, set("scale", this.linear ? "" : "linear"))];
  }
  keys(): [string, string][] { return [["↑↓", "row"], ["→", "unfold alike"], ["click", "a cell: who sends to whom"]]; }
  legend(): (Node | string)[] { return [h("span", {}, "wire: what one device receives · † what all devices send between nodes")]; }

  key(event: KeyboardEvent): boolean {
    const { lines } = this.ledger;
    const at = lines.findIndex((line) => line.group === this.selectedGroup && line.use < 0);
    const heads = lines.map((line, i) => (line.use < 0 ? i : -1)).filter((i) => i >= 0);
    const move = (to: number) => { const line = lines[heads[Math.max(0, Math.min(to, heads.length - 1))]!]; if (line) this.choose(line.group, -1); return true; };
    const here = heads.indexOf(at);
    switch (event.key) {
      case "ArrowDown": return move(here + 1);
      case "ArrowUp": return move(here - 1);
      case "Home": return move(0);
      case "End": return move(heads.length - 1);
      case "ArrowRight": case "ArrowLeft": {
        if (event.altKey) return false;
        if (at >= 0) this.ledger.toggle(lines[at]!.group, event.key === "ArrowRight");
        return true;
      }
    }
    return false;
  }

  panel(): HTMLElement | null {
    const group = this.selectedGroup;
    if (this.page.selection?.kind === "instr" || group < 0) return null;
    const { page, at } = this;
    const alike = at.alike[group]!;
    const join = at.joins[at.all.joins[alike.uses[0]!]!]!;
    const first = at.all.start[alike.uses[0]!]!;
    const many = alike.uses.length > 1;
    return h("div", {}, h("div", { class: "sort" }, many ? "collectives, alike" : "collective"), h("h2", {}, `${alike.kind}${many ? ` × ${count(alike.uses.length)}` : ""}`),
      h("div", { class: "type" }, name(`${at.model.type(at.all.hlo[alike.uses[0]!]!)} over ${alike.axis}`, 300)),
      h("h3", {}, "price, per step"), list([["payload", `${bytes(alike.payload)} × ${count(alike.times)}`], ["groups", name(groupsText(join))], ["ring", bytes(alike.ring)], ["direct", bytes(alike.direct)], ["links", alike.nodes > 1 ? `across ${count(alike.nodes)} nodes: ${bytes(alike.across)} †` : "inside a node"], ["async", `${count(alike.uses.length - alike.sync)} of ${count(alike.uses.length)}`]]),
      h("h3", {}, "they are"), h("div", { class: "links" }, ...alike.uses.slice(0, 20).map((use) => instrLink(page, page.current, at.all.start[use]!)), alike.uses.length > 20 ? h("span", { class: "muted" }, `${count(alike.uses.length - 20)} more`) : null),
      h("div", { class: "buttons" }, chip("Program", false, () => { page.select({ kind: "instr", module: page.current, id: first }); page.go("program"); }), chip("matrix of these", false, () => page.set("of", "selected"))));
  }

  csv(): (string | number)[][] {
    const { all, model, joins } = this.at;
    const rows: (string | number)[][] = [["name", "kind", "computation", "axis", "times", "payload_bytes", "wire_bytes_ring", "wire_bytes_direct", "between_nodes_direct", "async", "source"]];
    for (let i = 0; i < all.count; ++i) rows.push([model.name(all.start[i]!), model.string(all.kind[i]!), model.computation(all.start[i]!), joins[all.joins[i]!]!.axis, all.times[i]!, all.payload[i]!, all.ring[i]!, all.direct[i]!, all.acrossDirect[i]!, all.overlap[i]! >= 0 ? 1 : 0, model.source(all.hlo[i]!)]);
    return rows;
  }
  picture(): HTMLCanvasElement | null { return this.matrix ? this.canvas : null; }
  asTable(): (string | number)[][] {
    const rows: (string | number)[][] = [["from", "to", "bytes per step"]];
    const matrix = this.matrix;
    if (matrix) for (let from = 0; from < matrix.size; ++from) for (let to = 0; to < matrix.size; ++to) { const value = matrix.values[from * matrix.size + to]!; if (value !== 0) rows.push([matrix.first + from, matrix.first + to, value]); }
    return rows;
  }
  state(): object {
    const { at, matrix } = this;
    const sums = (all: [string, Total][]) => Object.fromEntries(all.map(([label, sum]) => [label, sum.value]));
    return { collectives: at.all.count, alike: at.alike.map(({ uses, ...rest }) => ({ ...rest, count: uses.length })), lines: this.ledger.lines.length, byAxis: sums(this.byAxis(at)), byKind: sums(this.byKind(at)), matrix: matrix ? { size: matrix.size, perCell: matrix.perCell, values: matrix.size <= 64 ? Array.from(matrix.values) : null, cell: this.cell } : null, selectedGroup: this.selectedGroup, picked: this.picked };
  }
}

function cut(matrix: Matrix, first: number, size: number): Matrix {
  const n = Math.min(size, matrix.size - first);
  const values = new Float64Array(n * n);
  for (let from = 0; from < n; ++from) for (let to = 0; to < n; ++to) values[from * n + to] = matrix.values[(first + from) * matrix.size + first + to]!;
  return { ...matrix, size: n, first, values };
}
