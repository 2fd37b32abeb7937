// Timeline: predicted and measured lanes on one time axis.
import { elideToWidth, panRange, parseRange, prepareCanvas, type Range, zoomRange } from "./axis";
import { chip, displayText, glyph, h } from "./dom";
import { formatSeconds, pluralize } from "./format";
import { TimelineOps } from "./timeline_ops";
import { slicePanel, spanPanel, spanStats } from "./timeline_panel";
import { drawArrow, drawLane, drawTimeAxis, kGap, kLane, kLeft, kTop, type LaneRow, TimeScale } from "./timeline_picture";
import { loadTraces, sliceKinds, type Trace } from "./trace";
import { colors, isDark, type Page, type View } from "./view";

const kHeading = 22;
const kMaxSearchedSlices = 20000;  // in longer lanes, other slices of the selected instruction are not outlined

interface SliceRef { row: LaneRow; slice: number }

export class TimelineView implements View {
  private page!: Page;
  private root!: HTMLElement;
  private canvas = h("canvas", { role: "img" });
  private overlay = h("canvas", { tabindex: 0, role: "img", "aria-label": "selection on the timeline" });
  private tip = h("div", { class: "tip", hidden: true });
  private traces: { trace: Trace; module: number }[] = [];
  private rows: LaneRow[] = [];
  private headings: { text: string; y: number }[] = [];
  private height = 0;
  private scroll = 0;
  private dragRange: Range | null = null;
  private dragStart: number | null = null;
  private selectedSlice: SliceRef | null = null;
  private drawnKey = "";
  private drawMilliseconds = 0;
  /** The op table below the lanes, if every module has a prediction. */
  private ops: TimelineOps | null = null;
  private opsRoot = h("div", { class: "ops" });
  private opsModule = -1;

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.root = root;
    for (let module = 0; module < page.models.length; ++module) for (const trace of await loadTraces(page.models[module]!)) this.traces.push({ trace, module });
    if (this.traces.length === 0) {
      root.append(h("div", { class: "sheet empty" }, h("h2", {}, "No timeline"), h("p", {}, "This page was written without a prediction or a profile."),
        h("p", {}, "To add a prediction for a machine: ", h("code", {}, "shoal report --on=h200 FILE -o page.html")), h("p", {}, "To add a measured profile: ", h("code", {}, "--trace=PROFILE"))));
      return;
    }
    root.append(this.canvas, this.overlay, this.tip);
    this.overlay.addEventListener("pointerdown", (event) => { this.dragStart = this.scale.time(event.offsetX); this.overlay.setPointerCapture(event.pointerId); });
    this.overlay.addEventListener("pointermove", (event) => this.move(event));
    this.overlay.addEventListener("pointerup", (event) => this.release(event));
    this.overlay.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.overlay.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.layoutRows();
    if (page.models.every((model) => model.hasTime)) {
      this.ops = new TimelineOps(page);
      this.opsRoot.append(this.ops.table.element);
      root.append(this.opsRoot);
    }
  }
  /** The height of the lanes. The op table gets the rest, within limits. */
  private get lanesHeight(): number {
    const { clientHeight } = this.root;
    return this.ops ? Math.min(this.height + 8, Math.max(clientHeight * 0.6, clientHeight - 460)) : clientHeight;
  }

  private layoutRows(): void {
    let y = kTop;
    for (const { trace, module } of this.traces) {
      const letter = this.page.models.length > 1 ? `${module === 0 ? "A" : "B"}: ` : "";
      const steps = trace.steps > 1 ? `, ${pluralize(trace.steps, "step")}` : "";
      let device = "";
      for (const lane of trace.lanes) {
        if (lane.device !== device) { device = lane.device; this.headings.push({ text: `${letter}${trace.predicted ? "predicted on " : "measured: "}${trace.name}${steps} · ${device}`, y: y + kHeading / 2 + 2 }); y += kHeading; }
        this.rows.push({ trace, lane, module, y });
        y += kLane + kGap;
      }
      y += 8;
    }
    this.height = y;
  }

  private get fullRange(): Range { return { from: 0, to: Math.max(...this.traces.map(({ trace }) => trace.end), 1e-9) }; }
  private get range(): Range { return parseRange(this.page.settings.get("z"), this.fullRange); }
  private get scale(): TimeScale { return new TimeScale(this.range, this.root.clientWidth); }
  private get span(): Range | null {
    if (this.dragRange) return this.dragRange;
    const setting = this.page.settings.get("span");
    return setting ? parseRange(setting, this.fullRange) : null;
  }

  update(): void {
    if (this.traces.length === 0 || this.root.clientWidth === 0) return;
    this.followSelection();
    if (this.ops) {
      this.opsRoot.style.top = `${this.lanesHeight}px`;
      if (this.opsModule !== this.page.current) { this.opsModule = this.page.current; this.ops.show(); }
      else this.ops.updateSelection();
    }
    const { from, to } = this.range;
    const key = [this.root.clientWidth, this.root.clientHeight, from, to, this.scroll, isDark()].join("|");
    if (key !== this.drawnKey) { this.drawnKey = key; this.draw(); }
    this.drawOverlay();
  }

  private followSelection(): void {
    const selection = this.page.selection;
    if (selection?.kind !== "instr") return;
    if (this.selectedSlice && this.selectedSlice.row.module === selection.module && this.selectedSlice.row.lane.instr[this.selectedSlice.slice] === selection.id) return;
    this.selectedSlice = null;
    for (const row of this.rows) {
      if (row.module !== selection.module) continue;
      const slice = row.lane.instr.indexOf(selection.id);
      if (slice >= 0) { this.selectedSlice = { row, slice }; return; }
    }
  }

  private draw(): void {
    const begin = performance.now();
    const { clientWidth: width } = this.root;
    const height = this.lanesHeight;
    const context = prepareCanvas(this.canvas, width, height);
    const { scale } = this;
    drawTimeAxis(context, scale, Math.min(height, this.height - this.scroll));
    for (const row of this.rows) {
      const y = row.y - this.scroll;
      if (y + kLane >= kTop - 4 && y <= height) drawLane(context, row, y, scale);
    }
    context.fillStyle = colors().text!;
    context.font = "600 11.5px system-ui, sans-serif";
    for (const heading of this.headings) if (heading.y - this.scroll >= kTop) context.fillText(elideToWidth(context, displayText(heading.text, 120), width - 20), 8, heading.y - this.scroll);
    this.drawMilliseconds = performance.now() - begin;
    const slices = this.traces.reduce((sum, { trace }) => sum + trace.start.length, 0);
    this.canvas.setAttribute("aria-label", `${pluralize(slices, "slice")} in ${pluralize(this.rows.length, "lane")}; ${formatSeconds(this.fullRange.to)}`);
  }

  private drawOverlay(): void {
    const { clientWidth: width } = this.root;
    const height = this.lanesHeight;
    const context = prepareCanvas(this.overlay, width, height);
    const c = colors();
    const { scale, span, scroll } = this;
    if (span) {
      const x = scale.x(span.from), end = scale.x(span.to);
      context.fillStyle = context.strokeStyle = c.link!;
      context.globalAlpha = 0.12;
      context.fillRect(x, kTop - 6, end - x, height);
      context.globalAlpha = 1;
      context.strokeRect(x + 0.5, kTop - 6.5, Math.max(end - x, 1), height);
    }
    if (!this.selectedSlice) return;
    const { row, slice } = this.selectedSlice;
    const outline = (row: LaneRow, i: number) => {
      const x = scale.x(row.lane.start[i]!), end = scale.x(row.lane.start[i]! + row.lane.duration[i]!);
      if (end >= kLeft) context.strokeRect(Math.max(x, kLeft) - 0.5, row.y - scroll - 0.5, Math.max(end - Math.max(x, kLeft), 2), kLane + 1);
    };
    context.strokeStyle = c.text!;
    // Outlines all slices of the selected instruction, in every lane.
    const id = row.lane.instr[slice]!;
    if (id >= 0) for (const other of this.rows) if (other.module === row.module && other.lane.count < kMaxSearchedSlices) for (let i = 0; i < other.lane.count; ++i) if (other.lane.instr[i] === id) outline(other, i);
    context.lineWidth = 2;
    outline(row, slice);
    this.drawArrows(context, row.trace, row.lane.first + slice);
  }

  /** Draws arrows from slices that the selected slice waits for, and to slices that wait for it. */
  private drawArrows(context: CanvasRenderingContext2D, trace: Trace, slice: number): void {
    context.strokeStyle = colors().link!;
    context.lineWidth = 1.6;
    const rowOf = (index: number) => this.rows.find((each) => each.trace === trace && index >= each.lane.first && index < each.lane.first + each.lane.count);
    for (const [from, to] of trace.flows) {
      const [a, b] = from === slice || to === slice ? [rowOf(from), rowOf(to)] : [undefined, undefined];
      if (a && b) drawArrow(context, this.scale.x(trace.start[from]!), a.y - this.scroll + kLane / 2, this.scale.x(trace.start[to]! + trace.duration[to]!), b.y - this.scroll + kLane / 2);
    }
  }

  // ---- mouse and keys
  private sliceAt(event: MouseEvent): SliceRef | null {
    const y = event.offsetY + this.scroll;
    const row = this.rows.find((each) => y >= each.y && y < each.y + kLane);
    const slice = row ? row.lane.sliceAt(this.scale.time(event.offsetX)) : -1;
    return row && slice >= 0 ? { row, slice } : null;
  }
  private isDrag(event: PointerEvent): boolean { return this.dragStart !== null && Math.abs(this.scale.x(this.dragStart) - event.offsetX) > 4; }
  private move(event: PointerEvent): void {
    if (event.buttons & 1 && this.isDrag(event)) {
      const to = this.scale.time(event.offsetX);
      this.dragRange = { from: Math.max(Math.min(this.dragStart!, to), 0), to: Math.min(Math.max(this.dragStart!, to), this.fullRange.to) };
      this.drawOverlay();
      return;
    }
    const hit = this.sliceAt(event);
    this.tip.hidden = !hit;
    if (!hit) return;
    const { row: { lane, trace }, slice } = hit;
    this.tip.textContent = `${displayText(trace.labels[lane.label[slice]!] ?? "", 120)}\n${formatSeconds(lane.duration[slice]!)} at ${formatSeconds(lane.start[slice]!)}, ${sliceKinds[lane.kind[slice]!]}${lane.critical?.[slice] ? "\non the critical path" : ""}`;
    this.tip.style.left = `${Math.min(event.clientX + 12, innerWidth - 300)}px`;
    this.tip.style.top = `${event.clientY + 16}px`;
  }
  private release(event: PointerEvent): void {
    const span = this.isDrag(event) ? this.dragRange : null;
    this.dragStart = this.dragRange = null;
    this.page.settings.set("span", span ? `${span.from.toPrecision(9)}-${span.to.toPrecision(9)}` : "");
    this.selectSlice(span ? null : this.sliceAt(event));
  }
  private selectSlice(target: SliceRef | null, mode: "push" | "replace" = "push"): void {
    this.selectedSlice = target;
    const id = target ? target.row.lane.instr[target.slice]! : -1;
    // A slice without an instruction is addressed by lane and index.
    this.page.settings.set("slice", target && id < 0 ? `${this.rows.indexOf(target.row)}.${target.slice}` : "");
    this.page.select(id >= 0 ? { kind: "instr", module: target!.row.module, id } : null, mode);
  }
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { from, to } = this.range;
    if (event.ctrlKey || event.metaKey) this.setRange(zoomRange(this.range, this.fullRange, event.deltaY > 0 ? 1.25 : 0.8, this.scale.time(event.offsetX), 1e-9));
    else if (event.shiftKey || event.deltaX !== 0 || this.height <= this.lanesHeight) this.setRange(panRange(this.range, this.fullRange, ((event.deltaX || event.deltaY) / 600) * (to - from)));
    else { this.scroll = Math.max(0, Math.min(this.scroll + event.deltaY, this.height - this.lanesHeight)); this.update(); }
  }
  private setRange(range: Range): void {
    const isFull = range.from <= this.fullRange.from && range.to >= this.fullRange.to;
    this.page.set("z", isFull ? "" : `${range.from.toPrecision(9)}-${range.to.toPrecision(9)}`, "replace");
  }
  key(event: KeyboardEvent): boolean {
    if (this.traces.length === 0) return false;
    const { from, to } = this.range;
    const selectedRange = this.selectedSlice && { from: this.selectedSlice.row.lane.start[this.selectedSlice.slice]!, to: this.selectedSlice.row.lane.start[this.selectedSlice.slice]! + this.selectedSlice.row.lane.duration[this.selectedSlice.slice]! };
    const center = selectedRange && selectedRange.from >= from && selectedRange.from <= to ? selectedRange.from : (from + to) / 2;
    switch (event.key) {
      case "w": this.setRange(zoomRange(this.range, this.fullRange, 0.6, center, 1e-9)); return true;
      case "s": this.setRange(zoomRange(this.range, this.fullRange, 1 / 0.6, center, 1e-9)); return true;
      case "a": this.setRange(panRange(this.range, this.fullRange, -(to - from) / 5)); return true;
      case "d": this.setRange(panRange(this.range, this.fullRange, (to - from) / 5)); return true;
      case "0": this.setRange(this.fullRange); return true;
      case "f": {
        const target = this.span ?? selectedRange;
        if (target) { const margin = Math.max((target.to - target.from) * 2, 1e-9); this.setRange(panRange({ from: target.from - margin, to: target.to + margin }, this.fullRange, 0)); }
        return true;
      }
      case "ArrowRight": case "ArrowLeft": {
        if (event.altKey || !this.selectedSlice) return false;
        const { row, slice } = this.selectedSlice;
        const next = slice + (event.key === "ArrowRight" ? 1 : -1);
        if (next >= 0 && next < row.lane.count) this.selectSlice({ row, slice: next }, "replace");
        return true;
      }
    }
    return false;
  }

  printHeight(): number { return this.traces.length > 0 ? this.height + 300 : 200; }

  // ---- chips, keys and panel
  chips(): (Node | string)[] {
    if (this.traces.length === 0) return [];
    const summary = this.traces.map(({ trace }) => `${trace.predicted ? "predicted on" : "measured:"} ${trace.name}, ${formatSeconds(trace.end)}${trace.steps > 1 ? ` in ${pluralize(trace.steps, "step")}` : ""}`).join(" · ");
    const isFull = !this.page.settings.get("z");
    const shortest = Math.min(...this.traces.map(({ trace }) => trace.end));
    return [h("span", { class: "note" }, displayText(summary, 200)), h("span", { class: "grow" }), "show", chip("all", isFull, () => this.setRange(this.fullRange)),
      shortest < this.fullRange.to * 0.8 ? chip("first step", false, () => this.setRange({ from: 0, to: shortest })) : ""];
  }
  keys(): [string, string][] { return this.traces.length === 0 ? [] : [["w s", "zoom"], ["a d", "pan"], ["f", "zoom to selection"], ["drag", "select a span"], ["← →", "slice"]]; }
  legend(): (Node | string)[] {
    const kinds = sliceKinds.slice(0, 5).map((each, i) => h("span", {}, glyph(i), each));
    return this.traces.some(({ trace }) => trace.lanes.some((lane) => lane.critical)) ? [h("span", {}, "hatched: waiting · underlined: critical path"), ...kinds] : kinds;
  }
  showsOneModule(): boolean { return false; }

  panel(): HTMLElement | null {
    if (this.traces.length === 0) return null;
    if (this.span) return spanPanel(this.page, this.rows, this.span, "span");
    const match = /^(\d+)\.(\d+)$/.exec(this.page.settings.get("slice") ?? "");
    const row = match ? this.rows[Number(match[1])] : undefined;
    if (row && Number(match![2]) < row.lane.count) this.selectedSlice = { row, slice: Number(match![2]) };
    if (this.page.selection) return null;
    if (!this.selectedSlice) return spanPanel(this.page, this.rows, this.fullRange, "whole timeline");
    return slicePanel(this.page, this.selectedSlice.row, this.selectedSlice.slice);
  }

  csv(): (string | number)[][] {
    const { span } = this;
    const rows: (string | number)[][] = [["trace", "device", "stream", "name", "start_seconds", "duration_seconds", "kind", "critical"]];
    for (const { lane, trace } of this.rows)
      for (let i = 0; i < lane.count; ++i)
        if (!span || (lane.start[i]! + lane.duration[i]! > span.from && lane.start[i]! < span.to)) rows.push([trace.name, lane.device, lane.stream, trace.labels[lane.label[i]!] ?? "", lane.start[i]!, lane.duration[i]!, sliceKinds[lane.kind[i]!]!, lane.critical?.[i] ?? 0]);
    return rows;
  }
  picture(): HTMLCanvasElement | null { return this.traces.length > 0 ? this.canvas : null; }
  state(): object {
    const { span, selectedSlice } = this;
    const loops = this.rows.reduce((sum, { lane }) => sum + lane.parts.size, 0);
    const stats = span ? spanStats(this.page, this.rows, span) : null;
    return {
      loops,
      traces: this.traces.map(({ trace }) => ({ name: trace.name, predicted: trace.predicted, slices: trace.start.length, lanes: trace.lanes.length, end: trace.end, steps: trace.steps, flows: trace.flows.length,
        attributed: trace.lanes.reduce((sum, lane) => sum + lane.instr.reduce((n, id) => n + (id >= 0 ? 1 : 0), 0), 0), waiting: trace.lanes.reduce((sum, lane) => sum + lane.busy(6, 0, lane.count), 0),
        critical: trace.lanes.reduce((sum, lane) => sum + lane.duration.reduce((n, each, i) => n + (lane.critical?.[i] ? each : 0), 0), 0) })),
      range: this.traces.length > 0 ? this.range : null, span, spanStats: stats ? { busy: stats.busy, ops: stats.byOp.size } : null, drawMilliseconds: this.drawMilliseconds,
      selectedSlice: selectedSlice ? { label: selectedSlice.row.trace.labels[selectedSlice.row.lane.label[selectedSlice.slice]!], start: selectedSlice.row.lane.start[selectedSlice.slice]! } : null, lanes: this.rows.map((each) => ({ y: each.y, count: each.lane.count })), left: kLeft,
    };
  }
}
