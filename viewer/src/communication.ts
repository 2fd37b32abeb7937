// Communication: the traffic matrix, totals by mesh axis and by kind, the mesh, and the ledger of collectives, in which
// identical collectives share a row.
import { chip, clear, displayText, h, nameElement } from "./dom";
import { formatBytes, formatCount, pluralize } from "./format";
import { Kind } from "./instructions";
import { groupIdentical, Ledger, type Side } from "./ledger";
import { loadPairRules, type Matrix, trafficMatrix, uniformPairBytes } from "./matrix";
import { drawMatrix, kLabel, matrixLegend } from "./matrix_picture";
import { meshPicture } from "./mesh";
import { barChart } from "./overview";
import { definitionList, formatGroups, instrLink } from "./panel";
import { isDark, type Page, type View } from "./view";

const kMaxDevices = 4096;
const kNoteHeight = 46;  // px, of a sentence above the matrix

/** Bytes and number of collectives, and the largest number of nodes that one of them spans. */
interface Total { value: number; count: number; nodes: number }

export class CommunicationView implements View {
  private page!: Page;
  private sides: Side[] = [];
  private ledger!: Ledger;
  private matrixBox = h("div", { class: "matrix" });
  private canvas = h("canvas", { role: "img", class: "hit", tabindex: 0 });
  private totalsBox = h("div", { class: "breakdown" });
  private matrix: Matrix | null = null;
  private cellSize = 0;
  private selectedCell: [number, number] | null = null;
  private drawnKey = "";

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.sides = await Promise.all(page.models.map(async (model) => {
      const [collectives, participantTable, rules] = await Promise.all([model.collectives(), model.participantTable(), loadPairRules(model)]);
      return { model, collectives, participantTable, rules, groups: groupIdentical(model, collectives) };
    }));
    this.ledger = new Ledger(page, (group, member) => this.selectGroup(group, member));
    root.append(h("div", { class: "commgrid" }, this.matrixBox, this.totalsBox, h("div", { class: "ledger" }, this.ledger.table.element)));
    this.canvas.addEventListener("click", (event) => this.selectCell(event));
    new ResizeObserver(() => this.update()).observe(this.matrixBox);
  }

  private get side(): Side { return this.sides[this.page.current]!; }
  private get isRing(): boolean { return this.page.settings.get("as") === "ring"; }
  private get isLinear(): boolean { return this.page.settings.get("scale") === "linear"; }
  private get axis(): string { return this.page.settings.get("axis") ?? ""; }
  /** The node selected for a per-device matrix; NaN: all nodes. */
  private get node(): number {
    const setting = this.page.settings.get("node") ?? "";
    const { devices, devices_per_node: perNode } = this.side.model.about;
    return /^\d+$/.test(setting) && Number(setting) * perNode < devices ? Number(setting) : NaN;
  }
  private get selectedGroup(): number {
    const setting = this.page.settings.get("g");
    if (setting !== undefined && /^\d+$/.test(setting) && Number(setting) < this.side.groups.length) return Number(setting);
    if (this.page.selection?.kind !== "instr") return -1;
    const { id } = this.page.selection;
    const { collectives } = this.side;
    for (let i = 0; i < collectives.count; ++i) if (collectives.start[i] === id || collectives.hlo[i] === id || collectives.done[i] === id) return collectives.group[i]!;
    return -1;
  }

  update(): void {
    const { settings } = this.page;
    const key = [this.page.current, this.selectedGroup, isDark(), this.matrixBox.clientHeight, this.totalsBox.clientWidth, this.selectedCell, this.ledger.openGroups, ...["axis", "as", "scale", "sort", "q", "of", "node"].map((each) => settings.get(each) ?? "")].join("|");
    if (key === this.drawnKey) return;
    this.drawnKey = key;
    this.ledger.show(this.side, this.axis, this.selectedGroup);
    this.drawMatrix();
    this.drawTotals();
  }

  // ---- the matrix
  /** Selects the collectives that the matrix counts: the selected group, one axis, or all. */
  private filterOf(side: Side): (i: number) => boolean {
    const group = this.selectedGroup;
    if (this.page.settings.get("of") === "selected" && group >= 0 && side === this.side) return (i) => side.collectives.group[i] === group;
    if (this.axis !== "") return (i) => side.participantTable[side.collectives.participants[i]!]!.axis === this.axis;
    return () => true;
  }
  private computeMatrix(side: Side, perCell: number): Matrix {
    return trafficMatrix(side.model, side.collectives, side.participantTable, side.rules, this.filterOf(side), this.isRing, side.model.about.devices, perCell);
  }
  /** True if the matrix shows B − A. Requires that both modules have the same number of devices. */
  private get showsChange(): boolean {
    return this.page.settings.get("of") === "change" && this.sides.length > 1 && this.sides[0]!.model.about.devices === this.sides[1]!.model.about.devices;
  }

  private drawMatrix(): void {
    clear(this.matrixBox);
    this.matrix = null;
    const { about } = this.side.model;
    const addNote = (text: string) => this.matrixBox.append(h("p", { class: "muted" }, text));
    if (this.side.collectives.count === 0 && !this.showsChange) return addNote("This module has no collectives.");
    if (about.devices > kMaxDevices * about.devices_per_node) return addNote(`The traffic matrix is drawn for at most ${formatCount(kMaxDevices * about.devices_per_node)} devices; this module has ${formatCount(about.devices)}.`);
    const isOneNode = Number.isFinite(this.node) && about.devices <= kMaxDevices;
    let perCell = about.devices > 64 && !isOneNode ? about.devices_per_node : 1;
    while (Math.ceil(about.devices / perCell) > 512) perCell *= 2;
    let matrix = this.computeMatrix(this.side, perCell);
    if (this.showsChange) {
      const [a, b] = [this.computeMatrix(this.sides[0]!, perCell), this.computeMatrix(this.sides[1]!, perCell)];
      matrix = { ...b, values: b.values.map((value, i) => value - a.values[i]!) };
    }
    if (isOneNode) matrix = submatrix(matrix, this.node * about.devices_per_node, about.devices_per_node);
    this.matrix = matrix;
    const deviceMatrix = perCell > 1 && about.devices <= kMaxDevices ? this.computeMatrix(this.side, 1) : matrix;
    const pairBytes = isOneNode || this.showsChange || deviceMatrix.perCell > 1 ? -1 : uniformPairBytes(deviceMatrix);
    if (pairBytes > 0) this.matrixBox.append(h("p", {}, `Every pair of the ${formatCount(about.devices)} devices exchanges ${formatBytes(pairBytes)} in each direction per step.`));
    if (!matrix.allListed) addNote("Groups that are too large to be listed in the page are not included.");
    this.paintMatrix(matrix);
  }

  private paintMatrix(matrix: Matrix): void {
    const { about } = this.side.model;
    const maxSize = Math.max(Math.min(this.matrixBox.clientHeight - 108 - kNoteHeight * this.matrixBox.childElementCount, 380), 150);
    const picture = drawMatrix(this.canvas, matrix, maxSize, this.isLinear, matrix.perCell === 1 ? about.devices_per_node : 0, this.selectedCell);
    this.cellSize = picture.cellSize;
    const unitNote = picture.showsNumbers ? `numbers: ${formatBytes(picture.unit).slice(-3).trim()}` : "";
    const frameNote = matrix.perCell === 1 && about.devices > about.devices_per_node && !Number.isFinite(this.node) ? `frames: nodes of ${about.devices_per_node} devices` : "";
    const legend = h("div", { class: "muted" }, matrixLegend(picture), h("div", {}, [unitNote, frameNote].filter((each) => each !== "").join(" · ")));
    if (this.selectedCell) {
      const [from, to] = this.selectedCell;
      const value = matrix.values[from * matrix.size + to] ?? 0;
      legend.append(h("div", { role: "status" }, `${matrix.perCell === 1 ? "device" : "node"} ${matrix.first + from} → ${matrix.first + to}: ${formatBytes(value)}`));
    }
    if (Number.isFinite(this.node)) legend.append(h("button", { class: "link", onclick: () => this.page.set("node", "") }, "all nodes"));
    this.canvas.setAttribute("aria-label", `traffic from ${matrix.size} to ${matrix.size} ${matrix.perCell === 1 ? "devices" : "nodes"}, at most ${formatBytes(picture.max)} per pair`);
    this.matrixBox.append(this.canvas, legend);
  }

  private selectCell(event: MouseEvent): void {
    if (!this.matrix) return;
    const to = Math.floor((event.offsetX - kLabel) / this.cellSize), from = Math.floor((event.offsetY - kLabel) / this.cellSize);
    if (from < 0 || to < 0 || from >= this.matrix.size || to >= this.matrix.size) return;
    if (this.matrix.perCell > 1 && this.side.model.about.devices <= kMaxDevices && from === to) return this.page.set("node", String(from));
    this.selectedCell = [from, to];
    this.update();
  }

  // ---- totals by axis and by kind
  private totals(side: Side, key: (i: number) => string): [string, Total][] {
    const sums = new Map<string, Total>();
    for (let i = 0; i < side.collectives.count; ++i) {
      const sum = sums.get(key(i)) ?? { value: 0, count: 0, nodes: 1 };
      sum.value += side.collectives.times[i]! * (this.isRing ? side.collectives.ring : side.collectives.direct)[i]!;
      ++sum.count;
      sum.nodes = Math.max(sum.nodes, side.collectives.nodes[i]!);
      sums.set(key(i), sum);
    }
    return [...sums].sort((x, y) => y[1].value - x[1].value);
  }
  private byAxis(side: Side): [string, Total][] { return this.totals(side, (i) => side.participantTable[side.collectives.participants[i]!]!.axis); }
  private byKind(side: Side): [string, Total][] { return this.totals(side, (i) => side.model.string(side.collectives.kind[i]!)); }

  private drawTotals(): void {
    clear(this.totalsBox);
    const side = this.side;
    if (side.collectives.count === 0) return;
    // With two modules, the note of each bar is the value of the other module.
    const otherSide = this.sides.length > 1 ? this.sides[1 - this.page.current]! : null;
    const otherBytes = (all: [string, Total][], label: string) => (otherSide ? `${this.page.current === 0 ? "B" : "A"}: ${formatBytes(all.find(([each]) => each === label)?.[1].value ?? 0)}` : "");
    const [otherAxes, otherKinds] = otherSide ? [this.byAxis(otherSide), this.byKind(otherSide)] : [[], []];
    this.totalsBox.append(
      h("h2", {}, "By axis"), barChart(this.byAxis(side).slice(0, 8).map(([label, sum]) => ({ label, value: sum.value, kind: Kind.Collective, text: formatBytes(sum.value), note: otherBytes(otherAxes, label) || (sum.nodes > 1 ? "inter-node" : "intra-node"), action: () => this.page.set("axis", this.axis === label ? "" : label) }))),
      h("h2", {}, "By kind"), barChart(this.byKind(side).map(([label, sum]) => ({ label, value: sum.value, kind: Kind.Collective, text: formatBytes(sum.value), note: otherBytes(otherKinds, label) || pluralize(sum.count, "collective") }))),
      h("h2", {}, "Mesh"), ...meshPicture(side, this.selectedGroup, this.totalsBox.clientWidth - 32));
  }

  private selectGroup(group: number, member: number): void {
    this.page.settings.set("g", String(group));
    if (member >= 0) this.page.select({ kind: "instr", module: this.page.current, id: this.side.collectives.start[member]! });
    else this.page.select({ kind: "group", module: this.page.current, group });
  }

  printHeight(): number { return 560 + Math.min(this.ledger.lines.length, 200) * 20; }

  // ---- chips, keys and panel
  chips(): (Node | string)[] {
    const axes = [...new Set(this.side.participantTable.map((participants) => participants.axis))].slice(0, 6);
    const source = this.page.settings.get("of") ?? "";
    const set = (key: string, value: string) => () => this.page.set(key, value);
    const showAxis = (axis: string) => () => { this.page.settings.set("of", ""); this.page.set("axis", axis); };
    return ["matrix of", chip("everything", this.axis === "" && source === "", showAxis("")), ...axes.map((axis) => chip(displayText(axis, 24), this.axis === axis, showAxis(axis))),
      chip("selected row", source === "selected", set("of", source === "selected" ? "" : "selected")), this.sides.length > 1 ? chip("B − A", source === "change", set("of", source === "change" ? "" : "change")) : "",
      h("span", { class: "gap" }), "algorithm", chip("ring", this.isRing, set("as", "ring")), chip("direct", !this.isRing, set("as", "")), chip("linear scale", this.isLinear, set("scale", this.isLinear ? "" : "linear"))];
  }
  keys(): [string, string][] { return [["↑↓", "row"], ["→", "unfold a group"], ["click", "inspect a cell"]]; }
  legend(): (Node | string)[] { return [h("span", {}, "wire: bytes received per device · †: inter-node bytes sent by all devices")]; }

  key(event: KeyboardEvent): boolean {
    const { lines } = this.ledger;
    const selectedLine = lines.findIndex((line) => line.group === this.selectedGroup && line.member < 0);
    const headLines = lines.map((line, i) => (line.member < 0 ? i : -1)).filter((i) => i >= 0);
    const move = (to: number) => { const line = lines[headLines[Math.max(0, Math.min(to, headLines.length - 1))]!]; if (line) this.selectGroup(line.group, -1); return true; };
    const headIndex = headLines.indexOf(selectedLine);
    switch (event.key) {
      case "ArrowDown": return move(headIndex + 1);
      case "ArrowUp": return move(headIndex - 1);
      case "Home": return move(0);
      case "End": return move(headLines.length - 1);
      case "ArrowRight": case "ArrowLeft": {
        if (event.altKey) return false;
        if (selectedLine >= 0) this.ledger.toggle(lines[selectedLine]!.group, event.key === "ArrowRight");
        return true;
      }
    }
    return false;
  }

  panel(): HTMLElement | null {
    const group = this.selectedGroup;
    if (this.page.selection?.kind === "instr" || group < 0) return null;
    const { page, side } = this;
    const summary = side.groups[group]!;
    const participants = side.participantTable[side.collectives.participants[summary.members[0]!]!]!;
    const firstId = side.collectives.start[summary.members[0]!]!;
    const hasSeveral = summary.members.length > 1;
    return h("div", {}, h("div", { class: "caption" }, hasSeveral ? "identical collectives" : "collective"), h("h2", {}, `${summary.kind}${hasSeveral ? ` × ${formatCount(summary.members.length)}` : ""}`),
      h("div", { class: "type" }, nameElement(`${side.model.type(side.collectives.hlo[summary.members[0]!]!)} over ${summary.axis}`, 300)),
      h("h3", {}, "cost per step"), definitionList([["payload", `${formatBytes(summary.payload)} × ${formatCount(summary.times)}`], ["groups", nameElement(formatGroups(participants))], ["ring", formatBytes(summary.ring)], ["direct", formatBytes(summary.direct)], ["links", summary.nodes > 1 ? `inter-node, ${formatCount(summary.nodes)} nodes: ${formatBytes(summary.interNode)} †` : "intra-node"], ["async", `${formatCount(summary.members.length - summary.sync)} of ${formatCount(summary.members.length)}`]]),
      h("h3", {}, "members"), h("div", { class: "links" }, ...summary.members.slice(0, 20).map((member) => instrLink(page, page.current, side.collectives.start[member]!)), summary.members.length > 20 ? h("span", { class: "muted" }, `${formatCount(summary.members.length - 20)} more`) : null),
      h("div", { class: "buttons" }, chip("Program", false, () => { page.select({ kind: "instr", module: page.current, id: firstId }); page.go("program"); }), chip("matrix of these", false, () => page.set("of", "selected"))));
  }

  csv(): (string | number)[][] {
    const { collectives, model, participantTable } = this.side;
    const rows: (string | number)[][] = [["name", "kind", "computation", "axis", "times", "payload_bytes", "wire_bytes_ring", "wire_bytes_direct", "inter_node_bytes_direct", "async", "source"]];
    for (let i = 0; i < collectives.count; ++i) rows.push([model.name(collectives.start[i]!), model.string(collectives.kind[i]!), model.computation(collectives.start[i]!), participantTable[collectives.participants[i]!]!.axis, collectives.times[i]!, collectives.payload[i]!, collectives.ring[i]!, collectives.direct[i]!, collectives.interNodeDirect[i]!, collectives.overlap[i]! >= 0 ? 1 : 0, model.source(collectives.hlo[i]!)]);
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
    const { side, matrix } = this;
    const sums = (all: [string, Total][]) => Object.fromEntries(all.map(([label, sum]) => [label, sum.value]));
    return { collectives: side.collectives.count, groups: side.groups.map(({ members, ...rest }) => ({ ...rest, count: members.length })), lines: this.ledger.lines.length, byAxis: sums(this.byAxis(side)), byKind: sums(this.byKind(side)), matrix: matrix ? { size: matrix.size, perCell: matrix.perCell, values: matrix.size <= 64 ? Array.from(matrix.values) : null, cellSize: this.cellSize } : null, selectedGroup: this.selectedGroup, selectedCell: this.selectedCell };
  }
}

/** The square of `size` devices that starts at row and column `first`. */
function submatrix(matrix: Matrix, first: number, size: number): Matrix {
  const n = Math.min(size, matrix.size - first);
  const values = new Float64Array(n * n);
  for (let from = 0; from < n; ++from) for (let to = 0; to < n; ++to) values[from * n + to] = matrix.values[(first + from) * matrix.size + first + to]!;
  return { ...matrix, size: n, first, values };
}
