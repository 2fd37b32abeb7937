// Overview. Its text is static HTML in the page; this view adds the charts.
import { displayText, h, nameElement, svg } from "./dom";
import { formatBytes, formatCount, formatSeconds, formatSi } from "./format";
import { Kind, kindNames } from "./instructions";
import type { Model } from "./model";
import { colors, kindColors, type Page, type View } from "./view";

/** A row of a small bar chart. */
export interface BarRow { label: string; value: number; text: string; note?: string; kind?: number; color?: string; action?: () => void }

export function barChart(rows: BarRow[]): HTMLElement {
  const maxValue = Math.max(...rows.map((row) => row.value), 1e-300);
  const box = h("div", { class: "rowbars" });
  for (const row of rows) {
    const fill = h("i", { class: row.kind === undefined ? "" : `k${row.kind}` });
    fill.style.width = `${(100 * row.value) / maxValue}%`;
    fill.style.background = row.color ?? "currentColor";
    box.append(h("span", { class: row.action ? "link" : "", title: displayText(row.label, 400), onclick: row.action }, nameElement(row.label)), h("div", { class: "track" }, fill), h("span", { class: "v" }, row.text), h("span", { class: "muted note" }, row.note ?? ""));
  }
  return box;
}

export class OverviewView implements View {
  private page!: Page;
  private drawnKey = "";

  constructor(private readonly overview: HTMLElement) {}

  mount(root: HTMLElement, page: Page): void {
    this.page = page;
    root.append(this.overview);
    this.overview.tabIndex = 0;
  }

  update(): void {
    const key = `${this.overview.clientWidth} ${document.documentElement.dataset.theme}`;
    if (key === this.drawnKey) return;
    this.drawnKey = key;
    this.overview.querySelectorAll<HTMLElement>(".module").forEach((section) => {
      const module = section.dataset.module === "b" ? 1 : 0;
      const model = this.page.models[module]!;
      void this.pictures(model, module).then((all) => section.querySelector(".pictures")!.replaceChildren(...all));
      const right = section.querySelector(".right")!;
      right.querySelector(".roofline")?.remove();
      const roofline = this.roofline(model, module);
      if (roofline) { roofline.classList.add("roofline"); right.append(roofline); }
    });
  }

  private async pictures(model: Model, module: number): Promise<HTMLElement[]> {
    const all = [this.byKind(model), await this.byAxis(model), this.memory(model), this.heaviest(model, module)];
    return all.filter((each): each is HTMLElement => each !== null);
  }

  private section(title: string, text: string, ...content: Node[]): HTMLElement {
    return h("div", {}, h("h2", {}, title, text ? h("span", { class: "muted" }, ` ${text}`) : ""), ...content);
  }

  private byKind(model: Model): HTMLElement | null {
    const values = model.hasTime ? model.instr.seconds : model.instr.bytes;
    const sums = new Float64Array(7);
    values.forEach((value, id) => { sums[model.instr.kind[id]!]! += value; });
    const total = sums.reduce((a, b) => a + b, 0);
    if (total === 0) return null;
    const rows = Array.from(sums, (value, kind) => ({ value, kind })).filter((each) => each.value > total / 2000).sort((a, b) => b.value - a.value);
    return this.section(model.hasTime ? "Time by kind" : "Memory traffic by kind", "",
      barChart(rows.map(({ value, kind }) => ({ label: kindNames[kind]!, value, kind, text: model.hasTime ? formatSeconds(value) : formatBytes(value), note: `${((100 * value) / total).toFixed(value / total < 0.0995 ? 1 : 0)} %` }))));
  }

  private async byAxis(model: Model): Promise<HTMLElement | null> {
    const collectives = await model.collectives();
    if (collectives.count === 0) return null;
    const participantTable = await model.participantTable();
    const sums = new Map<string, { value: number; nodes: number; count: number }>();
    for (let i = 0; i < collectives.count; ++i) {
      const axis = participantTable[collectives.participants[i]!]!.axis;
      const sum = sums.get(axis) ?? { value: 0, nodes: 1, count: 0 };
      sum.value += collectives.direct[i]! * collectives.times[i]!;
      sum.nodes = Math.max(sum.nodes, collectives.nodes[i]!);
      ++sum.count;
      sums.set(axis, sum);
    }
    const rows = [...sums].sort((a, b) => b[1].value - a[1].value).slice(0, 8);
    return this.section("Wire bytes by axis", "received per device", barChart(rows.map(([axis, sum]) => ({ label: axis, value: sum.value, kind: Kind.Collective, text: formatBytes(sum.value), note: sum.nodes > 1 ? "inter-node" : "intra-node", action: () => this.page.go("communication", [["axis", axis]]) }))));
  }

  private memory(model: Model): HTMLElement {
    const memory = model.about.memory;
    const parts: [string, number, string][] = [["arguments", memory.arguments, ""], ["non-aliased outputs", Math.max(memory.outputs - memory.aliased, 0), ""], ["constants", memory.constants, ""], ["live temporaries", memory.live, ""]];
    const capacity = model.capacity;
    const rows: BarRow[] = parts.filter(([, value]) => value > 0).map(([label, value, note]) => ({ label, value, text: formatBytes(value), note, color: colors().elementwise, action: () => this.page.go("memory") }));
    if (capacity > 0) rows.push({ label: "capacity", value: capacity, text: formatBytes(capacity), note: "", color: colors().line });
    return this.section("Memory at the peak", formatBytes(memory.peak), barChart(rows));
  }

  private heaviest(model: Model, module: number): HTMLElement | null {
    const values = model.hasTime ? model.instr.seconds : model.instr.bytes;
    const ids = Array.from(values.keys()).filter((id) => values[id]! > 0).sort((a, b) => values[b]! - values[a]!).slice(0, 8);
    if (ids.length === 0) return null;
    return this.section("Heaviest ops", model.hasTime ? "by time" : "by memory traffic", barChart(ids.map((id) => ({ label: model.name(id), value: values[id]!, kind: model.instr.kind[id]!, text: model.hasTime ? formatSeconds(values[id]!) : formatBytes(values[id]!), note: model.label(id), action: () => { this.page.select({ kind: "instr", module, id }); this.page.go("program"); } }))));
  }

  /** Plots the heaviest ops as dots: flop/s over flops per byte. Without a prediction, flops replace flop/s. */
  private roofline(model: Model, module: number): HTMLElement | null {
    const { instr } = model;
    const predicted = model.about.machines?.[0];
    const isRate = (value: number) => value > 0 && Number.isFinite(value);
    const machine = predicted && isRate(predicted.peak_flops) && isRate(predicted.bandwidth) ? predicted : undefined;
    const x = (id: number) => instr.flops[id]! / instr.bytes[id]!;
    const y = (id: number) => (machine && instr.seconds[id]! > 0 ? instr.flops[id]! / instr.seconds[id]! : instr.flops[id]!);
    const ids = rooflineOps(model).filter((id) => isRate(x(id)) && isRate(y(id)));
    if (ids.length < 2) return null;
    const width = 380, height = 230, left = 52, bottom = 30, top = 8, right = 10;
    // The powers of ten around the values that a logarithmic axis can show.
    const decades = (values: number[]): [number, number] => {
      const logs = values.filter(isRate).map(Math.log10);
      return logs.length === 0 ? [0, 1] : [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs) + 1e-9)];
    };
    const [x0, x1] = decades(ids.map(x).concat(machine ? [machine.peak_flops / machine.bandwidth] : []));
    const [y0, y1] = decades(ids.map(y).concat(machine ? [machine.peak_flops] : []));
    const px = (value: number) => left + ((Math.log10(value) - x0) / Math.max(x1 - x0, 1)) * (width - left - right);
    const py = (value: number) => height - bottom - ((Math.log10(value) - y0) / Math.max(y1 - y0, 1)) * (height - bottom - top);
    const c = colors();
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `roofline of the ${ids.length} heaviest ops` });
    const formatPower = (e: number) => (e >= 0 && e < 4 ? String(10 ** e) : e < 0 && e > -4 ? (10 ** e).toFixed(-e) : `10${[...String(e)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)] ?? "⁻").join("")}`);
    for (let e = x0; e <= x1; e += Math.max(1, Math.ceil((x1 - x0) / 8))) picture.append(svg("path", { d: `M${px(10 ** e)} ${top}V${height - bottom}`, stroke: c.grid! }), svg("text", { x: px(10 ** e), y: height - bottom + 14, "text-anchor": e === x1 ? "end" : "middle", class: "muted" }, formatPower(e)));
    const yStep = Math.max(1, Math.ceil((y1 - y0) / 6));
    for (let e = y0; e <= y1; e += yStep) picture.append(svg("path", { d: `M${left} ${py(10 ** e)}H${width - right}`, stroke: c.grid! }), svg("text", { x: left - 6, y: py(10 ** e) + 4, "text-anchor": "end", class: "muted" }, formatSi(10 ** e)));
    picture.append(svg("text", { x: width - right, y: height - 3, "text-anchor": "end", class: "muted" }, "flops per byte"));
    if (machine) {
      const ridge = machine.peak_flops / machine.bandwidth;
      const low = Math.max(10 ** x0, 10 ** y0 / machine.bandwidth);
      picture.append(svg("path", { d: `M${px(low)} ${py(low * machine.bandwidth)}L${px(ridge)} ${py(machine.peak_flops)}H${width - right}`, stroke: c.muted!, fill: "none", "stroke-width": 1.4 }));
    }
    const palette = kindColors();
    const weight = (id: number) => (machine ? instr.seconds[id]! : instr.bytes[id]!);
    const maxWeight = Math.max(...ids.map(weight), 1e-300);
    for (const id of [...ids].reverse()) {
      const dot = svg("circle", { cx: px(x(id)), cy: py(y(id)), r: Math.max(11 * Math.sqrt(weight(id) / maxWeight), 1.8), fill: palette[instr.kind[id]!]!, "fill-opacity": 0.55, stroke: palette[instr.kind[id]!]!, class: "hit", onclick: () => { this.page.select({ kind: "instr", module, id }); this.page.go("program"); } }, svg("title", {}, displayText(`${model.name(id)}: ${model.label(id)}\n${formatSi(instr.flops[id]!)}flop, ${formatBytes(instr.bytes[id]!)}`)));
      picture.append(dot);
    }
    return this.section("Roofline", machine ? displayText(`flop/s on ${machine.name}; area: time`) : `flops per step; area: memory traffic`, picture);
  }

  chips(): (Node | string)[] {
    return [h("span", { class: "note" }, `${formatCount(this.page.models[0]!.instr.count)} instructions; numbers are per device and step`)];
  }
  keys(): [string, string][] { return [["1–7", "views"], ["/", "search"], ["t", "theme"], ["?", "help"]]; }
  showsOneModule(): boolean { return false; }
  key(): boolean { return false; }
  state(): object { return { text: this.overview.innerText, pictures: this.overview.querySelectorAll(".rowbars, .roofline svg").length }; }
  picture(): SVGSVGElement | null { return this.overview.querySelector<SVGSVGElement>(".roofline svg"); }
  /** The ops of the roofline, in all modules. */
  csv(): (string | number)[][] {
    const rows: (string | number)[][] = [["module", "name", "label", "flops", "bytes", "flops_per_byte", "seconds"]];
    this.page.models.forEach((model, module) => { for (const id of rooflineOps(model)) rows.push([module === 0 ? "A" : "B", model.name(id), model.label(id), model.instr.flops[id]!, model.instr.bytes[id]!, model.instr.flops[id]! / model.instr.bytes[id]!, model.instr.seconds[id]!]); });
    return rows;
  }
}

/** The 200 heaviest ops among those with both flops and memory traffic. */
function rooflineOps({ instr }: Model): number[] {
  const weight = (id: number) => instr.bytes[id]! * 100 + instr.flops[id]!;
  return Array.from(instr.flops.keys()).filter((id) => instr.flops[id]! > 0 && instr.bytes[id]! > 0).sort((a, b) => weight(b) - weight(a)).slice(0, 200);
}
