// Communication: who sends how much to whom, over which axis, and the ledger with alike collectives as one row.
import { prepare, rgb } from "./axis";
import { chip, clear, h, name, svg, visible } from "./dom";
import { bytes, count, counted, scaled } from "./format";
import { loadPairRules, type Matrix, matrixOf, type PairRules, uniform } from "./matrix";
import { type Collectives, type Join, Kind, type Model } from "./model";
import { bars } from "./overview";
import { groupsText, instrLink, list } from "./panel";
import { type Column, fillNumber, type TableSource, VirtualTable } from "./table";
import { colors, heatRamp, isDark, type Page, type View } from "./view";

const kMostDevices = 4096;
const kLabel = 30;

/** A row of the ledger: alike collectives, or one of them. */
interface Line { group: number; use: number }
interface Alike { uses: number[]; kind: string; axis: string; payload: number; ring: number; direct: number; across: number; nodes: number; times: number; sync: number; bare: number }
interface Side { model: Model; all: Collectives; joins: Join[]; rules: PairRules; alike: Alike[] }

export class CommunicationView implements View, TableSource {
  private page!: Page;
  private sides: Side[] = [];
  private table!: VirtualTable;
  private matrixBox = h("div", { class: "matrix" });
  private canvas = h("canvas", { role: "img", class: "hit" });
  private sideBox = h("div", { class: "sides" });
  private lines: Line[] = [];
  private open = new Set<number>();
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
    this.table = new VirtualTable(this, "collectives");
    root.append(h("div", { class: "commgrid" }, this.matrixBox, this.sideBox, h("div", { class: "ledger" }, this.table.element)));
    this.canvas.addEventListener("click", (event) => this.pick(event));
  }

  private get at(): Side { return this.sides[this.page.current]!; }
  private get ring(): boolean { return this.page.settings.get("as") === "ring"; }
  private get linear(): boolean { return this.page.settings.get("scale") === "linear"; }
  private get axis(): string { return this.page.settings.get("axis") ?? ""; }
  private get selectedGroup(): number {
    const given = this.page.settings.get("g");
    if (given !== undefined && /^\d+$/.test(given) && Number(given) < this.at.alike.length) return Number(given);
    if (this.page.selection?.kind !== "instr") return -1;
    const id = this.page.selection.id;
    for (let i = 0; i < this.at.all.count; ++i) if (this.at.all.start[i] === id || this.at.all.hlo[i] === id || this.at.all.done[i] === id) return this.at.all.alike[i]!;
    return -1;
  }

  update(): void {
    const key = [this.page.current, this.axis, this.ring, this.linear, this.page.settings.get("sort"), this.page.settings.get("q"), this.page.settings.get("of"), this.selectedGroup, isDark(), this.matrixBox.clientHeight, this.page.settings.get("node")].join("|");
    if (key === this.drawnFor) return;
    this.drawnFor = key;
    this.flatten();
    this.table.reset();
    this.table.mark(this.lines.findIndex((line) => line.group === this.selectedGroup && line.use < 0), true);
    this.drawMatrix();
    this.drawSides();
  }

  private wanted(side: Side): (i: number) => boolean {
    const rows = this.page.settings.get("of") === "selected";
    const group = this.selectedGroup;
    if (rows && group >= 0 && side === this.at) return (i) => side.all.alike[i] === group;
    if (this.axis !== "") return (i) => side.joins[side.all.joins[i]!]!.axis === this.axis;
    return () => true;
  }

  // ---- the matrix
  private drawMatrix(): void {
    clear(this.matrixBox);
    this.matrix = null;
    const side = this.at;
    const { about } = side.model;
    if (side.all.count === 0) { this.matrixBox.append(h("p", { class: "muted" }, "No collective: the devices do not talk.")); return; }
    if (about.devices > kMostDevices * about.devices_per_node) { this.matrixBox.append(h("p", { class: "muted" }, `${count(about.devices)} devices are too many for a picture.`)); return; }
    const node = Number(this.page.settings.get("node") ?? NaN);
    let perCell = about.devices > 64 ? about.devices_per_node : 1;
    while (Math.ceil(about.devices / perCell) > 512) perCell *= 2;
    if (Number.isFinite(node) && about.devices <= kMostDevices) perCell = 1;
    let matrix = matrixOf(side.model, side.all, side.joins, side.rules, this.wanted(side), this.ring, about.devices, perCell);
    if (this.sides.length > 1 && this.page.settings.get("of") === "change" && this.sides[0]!.model.about.devices === this.sides[1]!.model.about.devices) {
      const [a, b] = this.sides.map((each) => matrixOf(each.model, each.all, each.joins, each.rules, this.wanted(each), this.ring, about.devices, perCell));
      matrix = { ...b!, values: b!.values.map((value, i) => value - a!.values[i]!) };
    }
    if (Number.isFinite(node) && perCell === 1) matrix = cut(matrix, node * about.devices_per_node, about.devices_per_node);
    this.matrix = matrix;
    const even = perCell === 1 && !Number.isFinite(node) ? uniform(matrix) : -1;
    const all = perCell > 1 ? matrixOf(side.model, side.all, side.joins, side.rules, this.wanted(side), this.ring, Math.min(about.devices, kMostDevices), 1) : null;
    const evenAll = all && about.devices <= kMostDevices ? uniform(all) : -1;
    if (even > 0 || evenAll > 0) this.matrixBox.append(h("p", {}, `Every pair of the ${count(about.devices)} devices moves ${bytes(Math.max(even, evenAll))} each way in a step.`));
    if (!matrix.listed) this.matrixBox.append(h("p", { class: "muted" }, "Some groups are too large to be listed; they are left out."));
    this.paintMatrix(matrix);
  }

  private paintMatrix(matrix: Matrix): void {
    const { size, values } = matrix;
    const room = Math.max(Math.min(this.matrixBox.clientHeight - 86, 380), 150);
    this.cell = Math.max(Math.floor(room / size), 1);
    const side = this.cell * size;
    const c = colors();
    const context = prepare(this.canvas, side + kLabel + 4, side + kLabel + 2);
    const signed = values.some((value) => value < 0);
    let most = 0, least = Infinity;
    for (const value of values) { const size = Math.abs(value); most = Math.max(most, size); if (size > 0) least = Math.min(least, size); }
    const ramp = signed ? [c.bg!, c.bg!] : isDark() ? heatRamp.dark : heatRamp.light;
    const shade = (value: number): string => {
      if (value === 0) return c.bg!;
      const magnitude = Math.abs(value);
      const t = most === least ? 0.8 : this.linear ? magnitude / most : 0.18 + (0.82 * Math.log(magnitude / least)) / Math.log(most / least);
      return signed ? mix(c.bg!, value < 0 ? "#1F5A9A" : c.collective!, Math.max(t, 0.15)) : rampAt(ramp, t);
    };
    const numbers = size <= 16 && this.cell >= 20;
    const unit = most >= 2 ** 30 ? 2 ** 30 : most >= 2 ** 20 ? 2 ** 20 : most >= 1024 ? 1024 : 1;
    context.font = `${this.cell >= 24 ? 10 : 9}px system-ui, sans-serif`;
    context.textAlign = "center";
    for (let from = 0; from < size; ++from)
      for (let to = 0; to < size; ++to) {
        const value = values[from * size + to]!;
        const color = shade(value);
        context.fillStyle = color;
        context.fillRect(kLabel + to * this.cell, kLabel + from * this.cell, this.cell, this.cell);
        if (!numbers || value === 0) continue;
        context.fillStyle = luminance(color) > 0.4 ? "#1B1F24" : "#FFFFFF";
        const shown = value / unit;
        context.fillText(shown.toFixed(Math.abs(shown) >= 99.95 ? 0 : Math.abs(shown) >= 9.995 ? 0 : 1), kLabel + (to + 0.5) * this.cell, kLabel + (from + 0.5) * this.cell + 0.5);
      }
    if (this.cell >= 8) {
      context.strokeStyle = c.bg!;
      context.lineWidth = 1;
      for (let i = 1; i < size; ++i) {
        context.beginPath(); context.moveTo(kLabel + i * this.cell + 0.5, kLabel); context.lineTo(kLabel + i * this.cell + 0.5, kLabel + side); context.stroke();
        context.beginPath(); context.moveTo(kLabel, kLabel + i * this.cell + 0.5); context.lineTo(kLabel + side, kLabel + i * this.cell + 0.5); context.stroke();
      }
    }
    const perNode = matrix.perCell === 1 ? this.at.model.about.devices_per_node : 0;
    context.strokeStyle = c.text!;
    if (perNode > 0) for (let at = 0; at < size; at += perNode) context.strokeRect(kLabel + at * this.cell + 0.5, kLabel + at * this.cell + 0.5, Math.min(perNode, size - at) * this.cell, Math.min(perNode, size - at) * this.cell);
    else { context.strokeStyle = c.line!; context.strokeRect(kLabel + 0.5, kLabel + 0.5, side, side); }
    context.fillStyle = c.muted!;
    context.font = "11px system-ui, sans-serif";
    const every = Math.ceil(18 / this.cell);
    for (let i = 0; i < size; i += every) {
      context.textAlign = "center";
      context.fillText(String(matrix.first + i), kLabel + (i + 0.5) * this.cell, kLabel - 8);
      context.textAlign = "right";
      context.fillText(String(matrix.first + i), kLabel - 5, kLabel + (i + 0.5) * this.cell);
    }
    context.textAlign = "center";
    context.fillText(matrix.perCell === 1 ? "to device" : `to node of ${matrix.perCell} devices`, kLabel + side / 2, 7);
    context.save();
    context.translate(6, kLabel + side / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(matrix.perCell === 1 ? "from device" : "from node", 0, 0);
    context.restore();
    if (this.picked) {
      const [from, to] = this.picked;
      context.strokeStyle = c.link!;
      context.lineWidth = 2;
      context.strokeRect(kLabel + to * this.cell + 1, kLabel + from * this.cell + 1, this.cell - 1, this.cell - 1);
    }
    this.canvas.setAttribute("aria-label", `traffic from ${size} to ${size} ${matrix.perCell === 1 ? "devices" : "nodes"}, at most ${bytes(most)} per pair`);
    this.matrixBox.append(this.canvas, this.matrixLegend(signed, least, most, ramp, unit, numbers));
  }

  private matrixLegend(signed: boolean, least: number, most: number, ramp: string[], unit: number, numbers: boolean): HTMLElement {
    const c = colors();
    const width = 190;
    const picture = svg("svg", { width, height: 10, "aria-hidden": "true" });
    for (let i = 0; i < width; ++i) picture.append(svg("rect", { x: i, y: 0, width: 1.2, height: 10, fill: signed ? mix(c.bg!, i < width / 2 ? "#1F5A9A" : c.collective!, Math.abs(i / width - 0.5) * 2) : rampAt(ramp, this.linear ? i / width : 0.18 + (0.82 * i) / width) }));
    const picked = this.picked && this.matrix ? this.matrix.values[this.picked[0] * this.matrix.size + this.picked[1]]! : null;
    const box = h("div", { class: "muted" }, h("div", {}, picture), h("div", {}, signed ? `−${bytes(most)} … +${bytes(most)}` : least === Infinity ? "nothing moves" : `${bytes(least)} … ${bytes(most)} per pair`, numbers ? `; numbers: ${bytes(unit).slice(-3).trim()}` : "", this.matrix!.perCell === 1 && this.at.model.about.devices > this.at.model.about.devices_per_node ? `; frames: nodes of ${this.at.model.about.devices_per_node}` : ""));
    if (this.picked && picked !== null && this.matrix) box.append(h("div", {}, `${this.matrix.first + this.picked[0]} → ${this.matrix.first + this.picked[1]}: ${bytes(picked)}`));
    if (this.page.settings.get("node") !== undefined && this.page.settings.get("node") !== "") box.append(h("button", { class: "link", onclick: () => this.page.set("node", "") }, "all nodes"));
    return box;
  }

  private pick(event: MouseEvent): void {
    if (!this.matrix) return;
    const to = Math.floor((event.offsetX - kLabel) / this.cell), from = Math.floor((event.offsetY - kLabel) / this.cell);
    if (from < 0 || to < 0 || from >= this.matrix.size || to >= this.matrix.size) return;
    if (this.matrix.perCell > 1 && this.at.model.about.devices <= kMostDevices && from === to) { this.page.set("node", String(from)); return; }
    this.picked = [from, to];
    this.drawMatrix();
  }

  // ---- beside it
  private totals(side: Side, key: (i: number) => string): [string, { value: number; uses: number; nodes: number }][] {
    const sums = new Map<string, { value: number; uses: number; nodes: number }>();
    for (let i = 0; i < side.all.count; ++i) {
      const sum = sums.get(key(i)) ?? { value: 0, uses: 0, nodes: 1 };
      sum.value += side.all.times[i]! * (this.ring ? side.all.ring : side.all.direct)[i]!;
      ++sum.uses;
      sum.nodes = Math.max(sum.nodes, side.all.nodes[i]!);
      sums.set(key(i), sum);
    }
    return [...sums].sort((x, y) => y[1].value - x[1].value);
  }

  private drawSides(): void {
    clear(this.sideBox);
    const side = this.at;
    if (side.all.count === 0) return;
    const byAxis = this.totals(side, (i) => side.joins[side.all.joins[i]!]!.axis);
    const byKind = this.totals(side, (i) => side.model.string(side.all.kind[i]!));
    this.sideBox.append(
      h("h2", {}, "By axis"), bars(byAxis.slice(0, 8).map(([label, sum]) => ({ label, value: sum.value, kind: Kind.Collective, text: bytes(sum.value), note: sum.nodes > 1 ? "crosses nodes" : "inside a node", act: () => this.page.set("axis", this.axis === label ? "" : label) }))),
      h("h2", {}, "By kind"), bars(byKind.map(([label, sum]) => ({ label, value: sum.value, kind: Kind.Collective, text: bytes(sum.value), note: `${count(sum.uses)} of them` }))),
      h("h2", {}, "Mesh"), ...this.mesh(side));
  }

  /** Devices on the two most minor axes, nodes as frames, groups of the selected row as lines. */
  private mesh(side: Side): Node[] {
    const { about } = side.model;
    const group = Math.max(this.selectedGroup, 0);
    const use = side.alike[group]?.uses[0] ?? 0;
    const join = side.joins[side.all.joins[use]!]!;
    const axes = about.mesh.length > 0 ? about.mesh.map((axis) => `${axis.name}=${axis.size}`).join(" × ") : "no axes";
    const what = `${counted(about.devices, "device")} as ${axes}; lines join the groups of ${side.alike[group]?.kind ?? ""} over ${side.alike[group]?.axis ?? ""}`;
    const text = h("p", { class: "muted" }, visible(what, 300));
    if (about.devices > 128) return [h("p", { class: "muted" }, visible(`${counted(about.devices, "device")} as ${axes}. ${side.alike[group]?.kind ?? ""} over ${side.alike[group]?.axis ?? ""} joins ${groupsText(join)}.`, 400))];
    const columns = Math.min(about.devices_per_node, about.devices);
    const rows = Math.ceil(about.devices / columns);
    const gap = Math.min(48, Math.floor((Math.max(this.sideBox.clientWidth, 300) - 90) / columns)), line = 46;
    const picture = svg("svg", { class: "mesh", width: 64 + columns * gap, height: rows * line + 6, role: "img", "aria-label": what });
    const place = (device: number): [number, number] => [72 + (device % columns) * gap + (gap - 16) / 2 - 8, Math.floor(device / columns) * line + 23];
    for (let row = 0; row < rows; ++row) picture.append(svg("rect", { x: 56.5, y: row * line + 3.5, width: columns * gap + 4, height: line - 8, rx: 5 }), svg("text", { x: 50, y: row * line + 27, "text-anchor": "end", class: "muted" }, `node ${row}`));
    const join2 = (from: number, to: number) => {
      const [x1, y1] = place(from), [x2, y2] = place(to);
      const bend = y1 === y2 && Math.abs(from - to) > 1 ? -12 : 0;
      picture.append(svg("path", { d: `M${x1} ${y1}Q${(x1 + x2) / 2} ${(y1 + y2) / 2 + bend} ${x2} ${y2}` }));
    };
    for (const members of join.groups.slice(0, 64)) for (let i = 0; i + 1 < members.length; ++i) join2(members[i]!, members[i + 1]!);
    for (const [from, to] of join.pairs.slice(0, 256)) join2(from, to);
    for (let device = 0; device < about.devices; ++device) { const [x, y] = place(device); picture.append(svg("circle", { cx: x, cy: y, r: 10.5 }), svg("text", { x, y: y + 4, "text-anchor": "middle" }, String(device))); }
    return [text, picture];
  }

  // ---- the ledger
  private flatten(): void {
    const query = (this.page.settings.get("q") ?? "").toLowerCase().split(/\s+/).filter((word) => word !== "").map((word) => word.replace(/^(axis|opcode|name):/, ""));
    const key = this.page.settings.get("sort") ?? "-direct";
    const field = key.replace(/^-/, "") as keyof Alike;
    const order = this.at.alike.map((_, group) => group).filter((group) => {
      const each = this.at.alike[group]!;
      return query.every((word) => `${each.kind} ${each.axis}`.toLowerCase().includes(word)) && (this.axis === "" || this.at.joins[this.at.all.joins[each.uses[0]!]!]!.axis === this.axis);
    });
    order.sort((x, y) => {
      const [a, b] = [this.at.alike[x]![field], this.at.alike[y]![field]];
      const compared = typeof a === "string" ? a.localeCompare(b as string) : (a as number) - (b as number);
      return (key.startsWith("-") ? -compared : compared) || x - y;
    });
    this.lines = [];
    for (const group of order) {
      this.lines.push({ group, use: -1 });
      if (this.open.has(group)) for (const use of this.at.alike[group]!.uses) this.lines.push({ group, use });
    }
  }

  columns(): Column[] {
    const sort = (key: string) => () => this.page.set("sort", this.page.settings.get("sort") === `-${key}` ? key : `-${key}`);
    const arrow = (key: string) => { const now = this.page.settings.get("sort") ?? "-direct"; return now === `-${key}` ? " ▾" : now === key ? " ▴" : ""; };
    const column = (key: string, title: string, width: number, cls: string): Column => ({ key, title: title + arrow(key), width, class: cls, sort: sort(key) });
    return [column("kind", "collective", 200, "what"), column("axis", "axis", 150, "mono"), column("payload", "payload", 84, "num"), column("times", "× per step", 84, "num soft"), column("ring", "ring / step", 110, "num"), column("direct", "direct / step", 110, "num"), column("across", "across †", 90, "num"), { key: "overlap", title: "overlap", width: 0, class: "soft" }];
  }
  count(): number { return this.lines.length; }
  level(line: number): number { return this.lines[line]!.use < 0 ? 0 : 1; }
  expanded(line: number): boolean | undefined { return this.lines[line]!.use < 0 && this.at.alike[this.lines[line]!.group]!.uses.length > 1 ? this.open.has(this.lines[line]!.group) : undefined; }

  fill(line: number, _row: HTMLElement, cells: HTMLElement[]): void {
    const { group, use } = this.lines[line]!;
    const alike = this.at.alike[group]!;
    const all = this.at.all;
    const one = use >= 0;
    const most = { ring: Math.max(...this.at.alike.map((each) => each.ring)), direct: Math.max(...this.at.alike.map((each) => each.direct)) };
    const values = one ? { ring: all.ring[use]! * all.times[use]!, direct: all.direct[use]! * all.times[use]!, across: all.times[use]! * (this.ring ? all.acrossRing : all.acrossDirect)[use]! } : alike;
    clear(cells[0]!);
    const fold = !one && alike.uses.length > 1 ? (this.open.has(group) ? "▾" : "▸") : "";
    cells[0]!.style.paddingLeft = one ? "22px" : "6px";
    cells[0]!.append(h("span", { class: "fold" }, fold), h("span", { class: "t" }, one ? name(this.at.model.name(all.start[use]!)) : alike.kind, !one && alike.uses.length > 1 ? h("span", { class: "axis" }, ` × ${count(alike.uses.length)}`) : ""));
    clear(cells[1]!);
    cells[1]!.append(name(alike.axis));
    cells[2]!.textContent = bytes(alike.payload);
    cells[3]!.textContent = `× ${count(one ? all.times[use]! : alike.times)}`;
    fillNumber(cells[4]!, bytes(values.ring), values.ring, values.ring / most.ring, Kind.Collective);
    fillNumber(cells[5]!, bytes(values.direct), values.direct, values.direct / most.direct, Kind.Collective);
    cells[6]!.textContent = values.across > 0 ? bytes(values.across) : "–";
    cells[7]!.textContent = one ? (all.overlap[use]! < 0 ? "sync: nothing" : all.overlap[use] === 0 ? "nothing" : `${counted(all.overlap[use]!, "op")}, ${scaled(all.overlapFlops[use]!)}flop`) : alike.sync === alike.uses.length ? "sync: nothing" : alike.bare === alike.uses.length ? "async: nothing" : `${counted(alike.uses.length - alike.sync - alike.bare, "of them overlaps").replace("overlapss", "overlap")}`;
  }

  click(line: number, event: MouseEvent): void {
    if (line < 0) return;
    const { group, use } = this.lines[line]!;
    if ((event.target as HTMLElement).classList.contains("fold")) return this.toggle(group);
    this.choose(line, use >= 0 ? use : -1, group);
  }
  private choose(_line: number, use: number, group: number): void {
    this.page.settings.set("g", String(group));
    if (use >= 0) this.page.select({ kind: "instr", module: this.page.current, id: this.at.all.start[use]! });
    else this.page.select({ kind: "alike", module: this.page.current, group });
  }
  private toggle(group: number): void {
    if (this.open.has(group)) this.open.delete(group); else this.open.add(group);
    this.flatten();
    this.table.reset();
  }

  // ---- the frame
  chips(): (Node | string)[] {
    const axes = [...new Set(this.at.joins.map((join) => join.axis))].slice(0, 6);
    const of = this.page.settings.get("of") ?? "";
    const set = (key: string, value: string) => () => this.page.set(key, value);
    return ["matrix of", chip("everything", this.axis === "" && of === "", () => { this.page.settings.set("of", ""); this.page.set("axis", ""); }), ...axes.map((axis) => chip(visible(axis, 24), this.axis === axis, () => { this.page.settings.set("of", ""); this.page.set("axis", axis); })),
      chip("selected row", of === "selected", set("of", of === "selected" ? "" : "selected")), this.sides.length > 1 ? chip("B − A", of === "change", set("of", of === "change" ? "" : "change")) : "",
      h("span", { class: "gap" }), "as", chip("ring", this.ring, set("as", "ring")), chip("direct", !this.ring, set("as", "")), h("span", { class: "gap" }), "scale", chip("log", !this.linear, set("scale", "")), chip("linear", this.linear, set("scale", "linear"))];
  }
  keys(): [string, string][] { return [["↑↓", "row"], ["→", "unfold alike"], ["click", "a cell: who sends to whom"], ["c", "CSV"]]; }
  legend(): (Node | string)[] { return [h("span", {}, "wire: what one device receives · † what all devices send between nodes")]; }

  key(event: KeyboardEvent): boolean {
    const at = this.lines.findIndex((line) => line.group === this.selectedGroup && line.use < 0);
    const move = (to: number) => { const line = this.lines[Math.max(0, Math.min(to, this.lines.length - 1))]; if (line) this.choose(0, -1, line.group); return true; };
    switch (event.key) {
      case "ArrowDown": return move(at + 1);
      case "ArrowUp": return move(at - 1);
      case "Home": return move(0);
      case "End": return move(this.lines.length - 1);
      case "ArrowRight": if (at >= 0 && !this.open.has(this.lines[at]!.group)) this.toggle(this.lines[at]!.group); return true;
      case "ArrowLeft": if (event.altKey) return false; if (at >= 0 && this.open.has(this.lines[at]!.group)) this.toggle(this.lines[at]!.group); return true;
    }
    return false;
  }

  panel(): HTMLElement | null {
    const group = this.selectedGroup;
    if (this.page.selection?.kind === "instr" || group < 0) return null;
    const alike = this.at.alike[group]!;
    const join = this.at.joins[this.at.all.joins[alike.uses[0]!]!]!;
    const page = this.page;
    const first = this.at.all.start[alike.uses[0]!]!;
    return h("div", {}, h("div", { class: "sort" }, alike.uses.length > 1 ? "collectives, alike" : "collective"), h("h2", {}, `${alike.kind}${alike.uses.length > 1 ? ` × ${count(alike.uses.length)}` : ""}`), h("div", { class: "type" }, name(`${this.at.model.type(this.at.all.hlo[alike.uses[0]!]!)} over ${alike.axis}`, 300)),
      h("h3", {}, "price, per step"), list([["payload", `${bytes(alike.payload)} × ${count(alike.times)}`], ["groups", name(groupsText(join))], ["ring", bytes(alike.ring)], ["direct", bytes(alike.direct)], ["links", alike.nodes > 1 ? `across ${count(alike.nodes)} nodes: ${bytes(alike.across)} †` : "inside a node"], ["async", `${count(alike.uses.length - alike.sync)} of ${count(alike.uses.length)}`]]),
      h("h3", {}, "they are"), h("div", { class: "links" }, ...alike.uses.slice(0, 20).map((use) => instrLink(page, page.current, this.at.all.start[use]!)), alike.uses.length > 20 ? h("span", { class: "muted" }, `${count(alike.uses.length - 20)} more`) : null),
      h("div", { class: "buttons" }, chip("Program", false, () => { page.select({ kind: "instr", module: page.current, id: first }); page.go("program"); }), chip("matrix of these", false, () => page.set("of", "selected"))));
  }

  csv(): (string | number)[][] {
    const { all, model, joins } = this.at;
    const rows: (string | number)[][] = [["name", "kind", "computation", "axis", "times", "payload_bytes", "wire_bytes_ring", "wire_bytes_direct", "between_nodes_direct", "async", "source"]];
    for (let i = 0; i < all.count; ++i) rows.push([model.name(all.start[i]!), model.string(all.kind[i]!), model.computation(all.start[i]!), joins[all.joins[i]!]!.axis, all.times[i]!, all.payload[i]!, all.ring[i]!, all.direct[i]!, all.acrossDirect[i]!, all.overlap[i]! >= 0 ? 1 : 0, model.source(all.hlo[i]!)]);
    return rows;
  }
  picture(): HTMLCanvasElement { return this.canvas; }
  state(): object {
    const side = this.at;
    const sums = (key: (i: number) => string) => Object.fromEntries(this.totals(side, key).map(([label, sum]) => [label, sum.value]));
    return { collectives: side.all.count, alike: side.alike.map(({ uses, ...rest }) => ({ ...rest, count: uses.length })), lines: this.lines.length, byAxis: sums((i) => side.joins[side.all.joins[i]!]!.axis), byKind: sums((i) => side.model.string(side.all.kind[i]!)), matrix: this.matrix ? { size: this.matrix.size, perCell: this.matrix.perCell, values: this.matrix.size <= 64 ? Array.from(this.matrix.values) : null, cell: this.cell } : null, selectedGroup: this.selectedGroup, picked: this.picked };
  }
}

function alikeOf(model: Model, all: Collectives): Alike[] {
  const out: Alike[] = [];
  for (let i = 0; i < all.count; ++i) {
    const group = all.alike[i]!;
    const each = (out[group] ??= { uses: [], kind: model.string(all.kind[i]!), axis: model.axisOf.get(all.start[i]!) ?? "", payload: all.payload[i]!, ring: 0, direct: 0, across: 0, nodes: 1, times: 0, sync: 0, bare: 0 });
    each.uses.push(i);
    each.ring += all.times[i]! * all.ring[i]!;
    each.direct += all.times[i]! * all.direct[i]!;
    each.across += all.times[i]! * all.acrossDirect[i]!;
    each.times += all.times[i]!;
    each.nodes = Math.max(each.nodes, all.nodes[i]!);
    if (all.overlap[i]! < 0) ++each.sync;
    else if (all.overlap[i] === 0) ++each.bare;
  }
  return out;
}

function cut(matrix: Matrix, first: number, size: number): Matrix {
  const n = Math.min(size, matrix.size - first);
  const values = new Float64Array(n * n);
  for (let from = 0; from < n; ++from) for (let to = 0; to < n; ++to) values[from * n + to] = matrix.values[(first + from) * matrix.size + first + to]!;
  return { ...matrix, size: n, first, values };
}

function mix(a: string, b: string, t: number): string {
  const [x, y] = [rgb(a), rgb(b)];
  return `#${x.map((each, i) => Math.round(each + (y[i]! - each) * Math.min(t, 1)).toString(16).padStart(2, "0")).join("")}`;
}
function rampAt(ramp: string[], t: number): string {
  const at = Math.max(0, Math.min(t, 1)) * (ramp.length - 1);
  const low = Math.min(Math.floor(at), ramp.length - 2);
  return mix(ramp[low]!, ramp[low + 1]!, at - low);
}
function luminance(color: string): number {
  const [r, g, b] = rgb(color);
  return (0.3 * r + 0.59 * g + 0.11 * b) / 255;
}
