// When what runs: predicted and measured lanes on one axis.
import { fitted, panned, parseRange, prepare, type Range, ticks, zoomed } from "./axis";
import { chip, h, name, visible } from "./dom";
import { count, counted, percent, seconds } from "./format";
import type { Model } from "./model";
import { instrLink, list } from "./panel";
import { type Lane, loadTraces, sliceKinds, type Trace } from "./trace";
import { colors, kindColors, type Page, type View } from "./view";

const kLeft = 132, kRight = 12, kTop = 26, kLane = 20, kGap = 4, kHead = 22, kIdle = 6;

interface Placed { trace: Trace; lane: Lane; module: number; y: number }

export class TimelineView implements View {
  private page!: Page;
  private root!: HTMLElement;
  private canvas = h("canvas", { role: "img" });
  private over = h("canvas", { "aria-hidden": "true" });
  private tip = h("div", { class: "tip", hidden: true });
  private traces: { trace: Trace; module: number }[] = [];
  private placed: Placed[] = [];
  private heads: { text: string; y: number }[] = [];
  private height = 0;
  private scroll = 0;
  private span: Range | null = null;
  private dragFrom: number | null = null;
  private picked: { placed: Placed; slice: number } | null = null;
  private drawnFor = "";
  private milliseconds = 0;

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.root = root;
    for (let module = 0; module < page.models.length; ++module) for (const trace of await loadTraces(page.models[module]!)) this.traces.push({ trace, module });
    if (this.traces.length === 0) {
      root.append(h("div", { class: "sheet" }, h("h2", {}, "No timeline"), h("p", { class: "muted" }, "The page was written without one. shoal report --on=h200 FILE -o page.html predicts it on a machine; --trace=FILE adds what a profiler measured.")));
      return;
    }
    root.append(this.canvas, this.over, this.tip);
    this.over.tabIndex = 0;
    this.over.addEventListener("pointerdown", (event) => { this.dragFrom = this.timeAt(event.offsetX); this.over.setPointerCapture(event.pointerId); });
    this.over.addEventListener("pointermove", (event) => this.move(event));
    this.over.addEventListener("pointerup", (event) => this.release(event));
    this.over.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.place();
  }

  private place(): void {
    let y = kTop;
    for (const { trace, module } of this.traces) {
      const letter = this.page.models.length > 1 ? `${module === 0 ? "A" : "B"}: ` : "";
      let device = "";
      for (const lane of trace.lanes) {
        if (lane.device !== device) { device = lane.device; this.heads.push({ text: `${letter}${trace.predicted ? "predicted, " : "measured, "}${trace.name} · ${device}`, y: y + kHead / 2 + 2 }); y += kHead; }
        this.placed.push({ trace, lane, module, y });
        y += kLane + kGap;
      }
      y += 8;
    }
    this.height = y;
  }

  private get all(): Range { return { from: 0, to: Math.max(...this.traces.map(({ trace }) => trace.end), 1e-9) }; }
  private get range(): Range { return parseRange(this.page.settings.get("z"), this.all); }
  private timeAt(x: number): number { const { from, to } = this.range; return from + ((x - kLeft) / (this.canvas.clientWidth - kLeft - kRight)) * (to - from); }
  private xOf(time: number): number { const { from, to } = this.range; return kLeft + ((time - from) / (to - from)) * (this.canvas.clientWidth - kLeft - kRight); }

  update(): void {
    if (this.traces.length === 0 || this.root.clientWidth === 0) return;
    this.followSelection();
    const range = this.range;
    const key = [this.root.clientWidth, this.root.clientHeight, range.from, range.to, this.scroll, document.documentElement.dataset.theme, matchMedia("(prefers-color-scheme: dark)").matches].join("|");
    if (key !== this.drawnFor) { this.drawnFor = key; this.draw(); }
    this.drawOver();
  }

  private followSelection(): void {
    const selection = this.page.selection;
    if (selection?.kind !== "instr") return;
    if (this.picked && this.picked.placed.module === selection.module && this.picked.placed.lane.instr[this.picked.slice] === selection.id) return;
    this.picked = null;
    for (const placed of this.placed) {
      if (placed.module !== selection.module) continue;
      const slice = placed.lane.instr.indexOf(selection.id);
      if (slice >= 0) { this.picked = { placed, slice }; return; }
    }
  }

  /** At most one rectangle per lane and column of pixels; neighbours of one kind are one. */
  private draw(): void {
    const begin = performance.now();
    const { clientWidth: width, clientHeight: height } = this.root;
    const context = prepare(this.canvas, width, height);
    const c = colors();
    const palette = kindColors();
    this.drawAxis(context, width, height, c);
    const range = this.range;
    const columns = Math.floor((width - kLeft - kRight) * devicePixelRatio);
    for (const placed of this.placed) {
      const y = placed.y - this.scroll;
      if (y + kLane < kTop - 4 || y > height) continue;
      context.fillStyle = c.muted!;
      context.textAlign = "right";
      context.fillText(fitted(context, visible(placed.lane.stream, 40), kLeft - 16), kLeft - 8, y + kLane / 2);
      context.textAlign = "left";
      context.fillStyle = c.panel!;
      context.fillRect(kLeft, y, width - kLeft - kRight, kLane);
      const from = placed.lane.after(range.from), to = placed.lane.after(range.to) + 1;
      if (to - from <= columns * 1.5) this.drawSlices(context, placed, from, Math.min(to, placed.lane.count), y, palette, c);
      else this.drawDense(context, placed.lane, y, columns, palette);
    }
    for (const head of this.heads) {
      const y = head.y - this.scroll;
      if (y < kTop) continue;
      context.fillStyle = c.text!;
      context.font = "600 11.5px system-ui, sans-serif";
      context.fillText(fitted(context, visible(head.text, 120), width - 20), 8, y);
      context.font = "11px system-ui, sans-serif";
    }
    this.milliseconds = performance.now() - begin;
    const slices = this.traces.reduce((sum, { trace }) => sum + trace.start.length, 0);
    this.canvas.setAttribute("aria-label", `${counted(slices, "slice")} in ${counted(this.placed.length, "lane")}; ${seconds(this.all.to)}`);
  }

  private drawAxis(context: CanvasRenderingContext2D, width: number, height: number, c: { [name: string]: string }): void {
    context.textAlign = "center";
    for (const tick of ticks(this.range.from, this.range.to, (width - kLeft) / 110)) {
      const x = Math.round(this.xOf(tick)) + 0.5;
      context.strokeStyle = c.grid!;
      context.beginPath(); context.moveTo(x, kTop - 6); context.lineTo(x, height); context.stroke();
      context.fillStyle = c.muted!;
      context.fillText(seconds(tick), x, 10);
    }
    context.textAlign = "left";
  }

  private drawSlices(context: CanvasRenderingContext2D, placed: Placed, from: number, to: number, y: number, palette: string[], c: { [name: string]: string }): void {
    const { lane, trace } = placed;
    for (let i = from; i < to; ++i) {
      const x = Math.max(this.xOf(lane.start[i]!), kLeft), end = Math.min(this.xOf(lane.start[i]! + lane.duration[i]!), this.canvas.clientWidth - kRight);
      if (end <= kLeft || x >= this.canvas.clientWidth - kRight) continue;
      const kind = lane.kind[i]!;
      if (kind === kIdle) { this.hatch(context, x, y, end - x, c.muted!); continue; }
      context.fillStyle = palette[kind]!;
      context.globalAlpha = 0.78;
      context.fillRect(x, y, Math.max(end - x - (end - x > 3 ? 1 : 0), 0.6), kLane);
      context.globalAlpha = 1;
      if (end - x < 40) continue;
      context.fillStyle = c.bg!;
      context.fillText(fitted(context, visible(trace.labels[lane.label[i]!] ?? "", 80), end - x - 8), x + 4, y + kLane / 2 + 0.5);
    }
  }

  private drawDense(context: CanvasRenderingContext2D, lane: Lane, y: number, columns: number, palette: string[]): void {
    const range = this.range;
    let at = lane.after(range.from), run = -1, runFrom = 0;
    const flush = (column: number) => {
      if (run < 0 || column <= runFrom) return;
      context.fillStyle = palette[run]!;
      context.globalAlpha = 0.78;
      context.fillRect(kLeft + runFrom / devicePixelRatio, y, (column - runFrom) / devicePixelRatio, kLane);
      context.globalAlpha = 1;
    };
    for (let column = 0; column < columns; ++column) {
      const until = range.from + ((column + 1) / columns) * (range.to - range.from);
      const next = lane.after(until);
      let best = -1, most = 0;
      for (let kind = 0; kind < 6; ++kind) { const busy = lane.busy(kind, at, Math.min(next + 1, lane.count)); if (busy > most) { most = busy; best = kind; } }
      if (best !== run) { flush(column); run = best; runFrom = column; }
      at = next;
    }
    flush(columns);
  }

  private hatch(context: CanvasRenderingContext2D, x: number, y: number, width: number, color: string): void {
    context.save();
    context.beginPath(); context.rect(x, y, width, kLane); context.clip();
    context.strokeStyle = color;
    context.globalAlpha = 0.5;
    context.beginPath();
    for (let at = x - kLane; at < x + width; at += 6) { context.moveTo(at, y + kLane); context.lineTo(at + kLane, y); }
    context.stroke();
    context.restore();
  }

  private drawOver(): void {
    const { clientWidth: width, clientHeight: height } = this.root;
    const context = prepare(this.over, width, height);
    const c = colors();
    if (this.span) {
      const x = this.xOf(this.span.from), end = this.xOf(this.span.to);
      context.fillStyle = c.link!;
      context.globalAlpha = 0.12;
      context.fillRect(x, kTop - 6, end - x, height);
      context.globalAlpha = 1;
      context.strokeStyle = c.link!;
      context.strokeRect(x + 0.5, kTop - 6.5, Math.max(end - x, 1), height);
    }
    if (!this.picked) return;
    const { placed, slice } = this.picked;
    const outline = (at: Placed, i: number) => {
      const x = this.xOf(at.lane.start[i]!), end = this.xOf(at.lane.start[i]! + at.lane.duration[i]!);
      context.strokeRect(x - 0.5, at.y - this.scroll - 0.5, Math.max(end - x, 2), kLane + 1);
    };
    context.strokeStyle = c.text!;
    context.lineWidth = 2;
    // All slices of the instruction, in every lane.
    const id = placed.lane.instr[slice]!;
    context.lineWidth = 1;
    if (id >= 0) for (const at of this.placed) if (at.module === placed.module && at.lane.count < 20000) for (let i = 0; i < at.lane.count; ++i) if (at.lane.instr[i] === id) outline(at, i);
    context.lineWidth = 2;
    outline(placed, slice);
    const number = placed.lane.first + slice;
    context.strokeStyle = c.link!;
    context.lineWidth = 1.4;
    for (const [from, to] of placed.trace.flows) if (from === number || to === number) this.arrow(context, placed.trace, from, to);
  }

  private arrow(context: CanvasRenderingContext2D, trace: Trace, from: number, to: number): void {
    const find = (index: number) => this.placed.find((each) => each.trace === trace && index >= each.lane.first && index < each.lane.first + each.lane.count);
    const [a, b] = [find(from), find(to)];
    if (!a || !b) return;
    const x1 = this.xOf(trace.start[from]! + trace.duration[from]!), x2 = this.xOf(trace.start[to]!);
    const y1 = a.y - this.scroll + kLane / 2, y2 = b.y - this.scroll + kLane / 2;
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + 24, y1, x2 - 24, y2, x2, y2);
    context.moveTo(x2 - 6, y2 - 4);
    context.lineTo(x2, y2);
    context.lineTo(x2 - 6, y2 + 4);
    context.stroke();
  }

  // ---- mouse and keys
  private sliceAt(event: MouseEvent): { placed: Placed; slice: number } | null {
    const placed = this.placed.find((each) => event.offsetY + this.scroll >= each.y && event.offsetY + this.scroll < each.y + kLane);
    const slice = placed ? placed.lane.at(this.timeAt(event.offsetX)) : -1;
    return placed && slice >= 0 ? { placed, slice } : null;
  }
  private move(event: PointerEvent): void {
    if (this.dragFrom !== null && event.buttons & 1 && Math.abs(this.xOf(this.dragFrom) - event.offsetX) > 4) {
      const to = this.timeAt(event.offsetX);
      this.span = { from: Math.max(Math.min(this.dragFrom, to), 0), to: Math.min(Math.max(this.dragFrom, to), this.all.to) };
      this.drawOver();
      return;
    }
    const hit = this.sliceAt(event);
    this.tip.hidden = !hit;
    if (!hit) return;
    const { lane, trace } = hit.placed;
    this.tip.textContent = `${visible(trace.labels[lane.label[hit.slice]!] ?? "", 120)}\n${seconds(lane.duration[hit.slice]!)} at ${seconds(lane.start[hit.slice]!)}, ${sliceKinds[lane.kind[hit.slice]!]}`;
    this.tip.style.left = `${Math.min(event.clientX + 12, innerWidth - 300)}px`;
    this.tip.style.top = `${event.clientY + 16}px`;
  }
  private release(event: PointerEvent): void {
    const dragged = this.dragFrom !== null && Math.abs(this.xOf(this.dragFrom) - event.offsetX) > 4;
    this.dragFrom = null;
    if (dragged && this.span) {
      this.picked = null;
      this.page.select(null, "replace");
      this.page.set("span", `${this.span.from.toPrecision(9)}-${this.span.to.toPrecision(9)}`);
      return;
    }
    this.span = null;
    this.page.settings.delete("span");
    this.picked = this.sliceAt(event);
    const id = this.picked ? this.picked.placed.lane.instr[this.picked.slice]! : -1;
    this.page.select(id >= 0 ? { kind: "instr", module: this.picked!.placed.module, id } : null);
  }
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) this.setRange(zoomed(this.range, this.all, event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event.offsetX), 1e-9));
    else if (event.shiftKey || event.deltaX !== 0 || this.height <= this.root.clientHeight) this.setRange(panned(this.range, this.all, ((event.deltaX || event.deltaY) / 600) * (this.range.to - this.range.from)));
    else { this.scroll = Math.max(0, Math.min(this.scroll + event.deltaY, this.height - this.root.clientHeight)); this.update(); }
  }
  private setRange(range: Range): void {
    const whole = range.from <= this.all.from && range.to >= this.all.to;
    this.page.set("z", whole ? "" : `${range.from.toPrecision(9)}-${range.to.toPrecision(9)}`, "replace");
  }
  key(event: KeyboardEvent): boolean {
    if (this.traces.length === 0) return false;
    const { from, to } = this.range;
    const centre = this.picked ? this.picked.placed.lane.start[this.picked.slice]! : (from + to) / 2;
    const around = centre >= from && centre <= to ? centre : (from + to) / 2;
    switch (event.key) {
      case "w": this.setRange(zoomed(this.range, this.all, 0.6, around, 1e-9)); return true;
      case "s": this.setRange(zoomed(this.range, this.all, 1 / 0.6, around, 1e-9)); return true;
      case "a": this.setRange(panned(this.range, this.all, -(to - from) / 5)); return true;
      case "d": this.setRange(panned(this.range, this.all, (to - from) / 5)); return true;
      case "0": this.setRange(this.all); return true;
      case "f": {
        const target = this.span ?? (this.picked ? { from: centre, to: centre + this.picked.placed.lane.duration[this.picked.slice]! } : null);
        if (target) this.setRange(panned({ from: target.from - (target.to - target.from) * 2, to: target.to + (target.to - target.from) * 2 }, this.all, 0));
        return true;
      }
      case "ArrowRight": case "ArrowLeft": return this.step(event);
    }
    return false;
  }
  private step(event: KeyboardEvent): boolean {
    if (event.altKey || !this.picked) return false;
    const { placed, slice } = this.picked;
    const next = slice + (event.key === "ArrowRight" ? 1 : -1);
    if (next < 0 || next >= placed.lane.count) return true;
    this.picked = { placed, slice: next };
    const id = placed.lane.instr[next]!;
    this.page.select(id >= 0 ? { kind: "instr", module: placed.module, id } : null, "replace");
    return true;
  }

  // ---- the frame
  chips(): (Node | string)[] {
    if (this.traces.length === 0) return [];
    const what = this.traces.map(({ trace }) => `${trace.predicted ? "predicted" : "measured"}: ${trace.name}, ${seconds(trace.step)}`).join(" · ");
    return [h("span", { class: "note" }, visible(what, 200)), h("span", { class: "grow" }), chip("all", this.page.settings.get("z") === undefined || this.page.settings.get("z") === "", () => this.setRange(this.all))];
  }
  keys(): [string, string][] { return [["w s", "zoom"], ["a d", "pan"], ["f", "to the selection"], ["0", "all"], ["drag", "a span with its sums"], ["← →", "slice"]]; }

  /** Count, sum, mean, least and most by kind and by op of what begins in the span. */
  private sums(): { byKind: Map<number, { count: number; sum: number }>; byOp: Map<string, { count: number; sum: number; least: number; most: number }>; busy: number } {
    const byKind = new Map<number, { count: number; sum: number }>();
    const byOp = new Map<string, { count: number; sum: number; least: number; most: number }>();
    let busy = 0;
    for (const { lane, trace } of this.placed)
      for (let i = lane.after(this.span!.from); i < lane.count && lane.start[i]! < this.span!.to; ++i) {
        const kind = byKind.get(lane.kind[i]!) ?? { count: 0, sum: 0 };
        ++kind.count; kind.sum += lane.duration[i]!;
        byKind.set(lane.kind[i]!, kind);
        const label = trace.labels[lane.label[i]!] ?? "";
        const op = byOp.get(label) ?? { count: 0, sum: 0, least: Infinity, most: 0 };
        ++op.count; op.sum += lane.duration[i]!; op.least = Math.min(op.least, lane.duration[i]!); op.most = Math.max(op.most, lane.duration[i]!);
        byOp.set(label, op);
        busy += lane.duration[i]!;
      }
    return { byKind, byOp, busy };
  }

  panel(): HTMLElement | null {
    if (this.traces.length === 0) return null;
    if (this.span) {
      const { byKind, byOp, busy } = this.sums();
      const kinds = h("div", { class: "lines" });
      for (const [kind, sum] of [...byKind].sort((x, y) => y[1].sum - x[1].sum)) { const box = h("i", { class: "swatch" }); box.style.background = kindColors()[kind]!; kinds.append(box, h("span", {}, sliceKinds[kind]!), h("span", { class: "n" }, `× ${count(sum.count)}`), h("span", { class: "v" }, seconds(sum.sum))); }
      const ops = h("div", { class: "lines" });
      for (const [label, op] of [...byOp].sort((x, y) => y[1].sum - x[1].sum).slice(0, 20)) ops.append(h("i"), h("span", { class: "mono", title: `mean ${seconds(op.sum / op.count)}, least ${seconds(op.least)}, most ${seconds(op.most)}` }, name(label, 80)), h("span", { class: "n" }, `× ${count(op.count)}`), h("span", { class: "v" }, seconds(op.sum)));
      return h("div", {}, h("div", { class: "sort" }, "span"), h("h2", {}, seconds(this.span.to - this.span.from)), h("div", {}, `from ${seconds(this.span.from)} to ${seconds(this.span.to)}; busy ${seconds(busy)}, ${percent(busy / ((this.span.to - this.span.from) * this.placed.length))} of the lanes`), h("h3", {}, "by kind"), kinds, h("h3", {}, "by op"), ops);
    }
    if (!this.picked || this.page.selection?.kind === "instr") return null;
    const { lane, trace } = this.picked.placed;
    const model: Model = this.page.models[this.picked.placed.module]!;
    const id = lane.instr[this.picked.slice]!;
    return h("div", {}, h("div", { class: "sort" }, "slice"), h("h2", {}, name(trace.labels[lane.label[this.picked.slice]!] ?? "")), list([["time", seconds(lane.duration[this.picked.slice]!)], ["start", seconds(lane.start[this.picked.slice]!)], ["kind", sliceKinds[lane.kind[this.picked.slice]!]!], ["lane", visible(`${lane.device} ${lane.stream}`)], id >= 0 ? ["instruction", instrLink(this.page, this.picked.placed.module, id, model.name(id))] : null]));
  }

  csv(): (string | number)[][] {
    const rows: (string | number)[][] = [["trace", "device", "stream", "name", "start_seconds", "duration_seconds", "kind"]];
    for (const { lane, trace } of this.placed) for (let i = 0; i < lane.count; ++i) if (!this.span || (lane.start[i]! + lane.duration[i]! > this.span.from && lane.start[i]! < this.span.to)) rows.push([trace.name, lane.device, lane.stream, trace.labels[lane.label[i]!] ?? "", lane.start[i]!, lane.duration[i]!, sliceKinds[lane.kind[i]!]!]);
    return rows;
  }
  picture(): HTMLCanvasElement | null { return this.traces.length > 0 ? this.canvas : null; }
  state(): object {
    return { traces: this.traces.map(({ trace }) => ({ name: trace.name, predicted: trace.predicted, slices: trace.start.length, lanes: trace.lanes.length, end: trace.end })), range: this.traces.length > 0 ? this.range : null, span: this.span, spanSums: this.span ? { busy: this.sums().busy, ops: this.sums().byOp.size } : null, frameMilliseconds: this.milliseconds, picked: this.picked ? { label: this.picked.placed.trace.labels[this.picked.placed.lane.label[this.picked.slice]!], start: this.picked.placed.lane.start[this.picked.slice]! } : null, lanes: this.placed.map((each) => ({ y: each.y, count: each.lane.count })), left: kLeft };
  }
}
