// When what runs: predicted and measured lanes on one axis.
import { fitted, panned, parseRange, prepare, type Range, zoomed } from "./axis";
import { chip, glyph, h, visible } from "./dom";
import { counted, seconds } from "./format";
import { TimelineOps } from "./timeline_ops";
import { slicePanel, spanPanel, sumsOf } from "./timeline_panel";
import { drawArrow, drawLane, drawTimeAxis, kGap, kLane, kLeft, kTop, type Placed, TimeScale } from "./timeline_picture";
import { loadTraces, sliceKinds, type Trace } from "./trace";
import { colors, isDark, type Page, type View } from "./view";

const kHead = 22;
const kMostSought = 20000;  // slices of a lane that are looked at for others of the same instruction

interface Picked { placed: Placed; slice: number }

export class TimelineView implements View {
  private page!: Page;
  private root!: HTMLElement;
  private canvas = h("canvas", { role: "img" });
  private over = h("canvas", { tabindex: 0, role: "img", "aria-label": "selection on the timeline" });
  private tip = h("div", { class: "tip", hidden: true });
  private traces: { trace: Trace; module: number }[] = [];
  private placed: Placed[] = [];
  private heads: { text: string; y: number }[] = [];
  private height = 0;
  private scroll = 0;
  private dragged: Range | null = null;
  private dragFrom: number | null = null;
  private picked: Picked | null = null;
  private drawnFor = "";
  private milliseconds = 0;
  /** Below the lanes, where a prediction says what each op takes. */
  private ops: TimelineOps | null = null;
  private opsRoot = h("div", { class: "ops" });
  private opsOf = -1;

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.root = root;
    for (let module = 0; module < page.models.length; ++module) for (const trace of await loadTraces(page.models[module]!)) this.traces.push({ trace, module });
    if (this.traces.length === 0) {
      root.append(h("div", { class: "sheet empty" }, h("h2", {}, "No timeline"), h("p", {}, "The page was written without one."),
        h("p", {}, "To predict it on a machine: ", h("code", {}, "shoal report --on=h200 FILE -o page.html")), h("p", {}, "To see what a profiler measured: ", h("code", {}, "--trace=PROFILE"))));
      return;
    }
    root.append(this.canvas, this.over, this.tip);
    this.over.addEventListener("pointerdown", (event) => { this.dragFrom = this.scale.time(event.offsetX); this.over.setPointerCapture(event.pointerId); });
    this.over.addEventListener("pointermove", (event) => this.move(event));
    this.over.addEventListener("pointerup", (event) => this.release(event));
    this.over.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.place();
    if (page.models.every((model) => model.hasTime)) {
      this.ops = new TimelineOps(page);
      this.opsRoot.append(this.ops.table.element);
      root.append(this.opsRoot);
    }
  }
  /** Of the lanes; the table has what is left, if that is enough. */
  private get lanesHeight(): number {
    const { clientHeight } = this.root;
    return this.ops ? Math.min(this.height + 8, Math.max(clientHeight * 0.6, clientHeight - 460)) : clientHeight;
  }

  private place(): void {
    let y = kTop;
    for (const { trace, module } of this.traces) {
      const letter = this.page.models.length > 1 ? `${module === 0 ? "A" : "B"}: ` : "";
      const steps = trace.steps > 1 ? `, ${counted(trace.steps, "step")}` : "";
      let device = "";
      for (const lane of trace.lanes) {
        if (lane.device !== device) { device = lane.device; this.heads.push({ text: `${letter}${trace.predicted ? "predicted on " : "measured: "}${trace.name}${steps} · ${device}`, y: y + kHead / 2 + 2 }); y += kHead; }
        this.placed.push({ trace, lane, module, y });
        y += kLane + kGap;
      }
      y += 8;
    }
    this.height = y;
  }

  private get all(): Range { return { from: 0, to: Math.max(...this.traces.map(({ trace }) => trace.end), 1e-9) }; }
  private get range(): Range { return parseRange(this.page.settings.get("z"), this.all); }
  private get scale(): TimeScale { return new TimeScale(this.range, this.root.clientWidth); }
  private get span(): Range | null {
    if (this.dragged) return this.dragged;
    const given = this.page.settings.get("span");
    return given ? parseRange(given, this.all) : null;
  }

  update(): void {
    if (this.traces.length === 0 || this.root.clientWidth === 0) return;
    this.followSelection();
    if (this.ops) {
      this.opsRoot.style.top = `${this.lanesHeight}px`;
      if (this.opsOf !== this.page.current) { this.opsOf = this.page.current; this.ops.show(); }
      else this.ops.mark();
    }
    const { from, to } = this.range;
    const key = [this.root.clientWidth, this.root.clientHeight, from, to, this.scroll, isDark()].join("|");
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

  private draw(): void {
    const begin = performance.now();
    const { clientWidth: width } = this.root;
    const height = this.lanesHeight;
    const context = prepare(this.canvas, width, height);
    const { scale } = this;
    drawTimeAxis(context, scale, Math.min(height, this.height - this.scroll));
    for (const placed of this.placed) {
      const y = placed.y - this.scroll;
      if (y + kLane >= kTop - 4 && y <= height) drawLane(context, placed, y, scale);
    }
    context.fillStyle = colors().text!;
    context.font = "600 11.5px system-ui, sans-serif";
    for (const head of this.heads) if (head.y - this.scroll >= kTop) context.fillText(fitted(context, visible(head.text, 120), width - 20), 8, head.y - this.scroll);
    this.milliseconds = performance.now() - begin;
    const slices = this.traces.reduce((sum, { trace }) => sum + trace.start.length, 0);
    this.canvas.setAttribute("aria-label", `${counted(slices, "slice")} in ${counted(this.placed.length, "lane")}; ${seconds(this.all.to)}`);
  }

  private drawOver(): void {
    const { clientWidth: width } = this.root;
    const height = this.lanesHeight;
    const context = prepare(this.over, width, height);
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
    if (!this.picked) return;
    const { placed, slice } = this.picked;
    const outline = (at: Placed, i: number) => {
      const x = scale.x(at.lane.start[i]!), end = scale.x(at.lane.start[i]! + at.lane.duration[i]!);
      if (end >= kLeft) context.strokeRect(Math.max(x, kLeft) - 0.5, at.y - scroll - 0.5, Math.max(end - Math.max(x, kLeft), 2), kLane + 1);
    };
    context.strokeStyle = c.text!;
    // All slices of the instruction, in every lane.
    const id = placed.lane.instr[slice]!;
    if (id >= 0) for (const at of this.placed) if (at.module === placed.module && at.lane.count < kMostSought) for (let i = 0; i < at.lane.count; ++i) if (at.lane.instr[i] === id) outline(at, i);
    context.lineWidth = 2;
    outline(placed, slice);
    this.drawArrows(context, placed.trace, placed.lane.first + slice);
  }

  /** From a start to who waits for it: for the selection only. */
  private drawArrows(context: CanvasRenderingContext2D, trace: Trace, slice: number): void {
    context.strokeStyle = colors().link!;
    context.lineWidth = 1.6;
    const find = (index: number) => this.placed.find((each) => each.trace === trace && index >= each.lane.first && index < each.lane.first + each.lane.count);
    for (const [from, to] of trace.flows) {
      const [a, b] = from === slice || to === slice ? [find(from), find(to)] : [undefined, undefined];
      if (a && b) drawArrow(context, this.scale.x(trace.start[from]!), a.y - this.scroll + kLane / 2, this.scale.x(trace.start[to]! + trace.duration[to]!), b.y - this.scroll + kLane / 2);
    }
  }

  // ---- mouse and keys
  private sliceAt(event: MouseEvent): Picked | null {
    const y = event.offsetY + this.scroll;
    const placed = this.placed.find((each) => y >= each.y && y < each.y + kLane);
    const slice = placed ? placed.lane.at(this.scale.time(event.offsetX)) : -1;
    return placed && slice >= 0 ? { placed, slice } : null;
  }
  private far(event: PointerEvent): boolean { return this.dragFrom !== null && Math.abs(this.scale.x(this.dragFrom) - event.offsetX) > 4; }
  private move(event: PointerEvent): void {
    if (event.buttons & 1 && this.far(event)) {
      const to = this.scale.time(event.offsetX);
      this.dragged = { from: Math.max(Math.min(this.dragFrom!, to), 0), to: Math.min(Math.max(this.dragFrom!, to), this.all.to) };
      this.drawOver();
      return;
    }
    const hit = this.sliceAt(event);
    this.tip.hidden = !hit;
    if (!hit) return;
    const { placed: { lane, trace }, slice } = hit;
    this.tip.textContent = `${visible(trace.labels[lane.label[slice]!] ?? "", 120)}\n${seconds(lane.duration[slice]!)} at ${seconds(lane.start[slice]!)}, ${sliceKinds[lane.kind[slice]!]}${lane.critical?.[slice] ? "\non the critical path" : ""}`;
    this.tip.style.left = `${Math.min(event.clientX + 12, innerWidth - 300)}px`;
    this.tip.style.top = `${event.clientY + 16}px`;
  }
  private release(event: PointerEvent): void {
    const span = this.far(event) ? this.dragged : null;
    this.dragFrom = this.dragged = null;
    this.page.settings.set("span", span ? `${span.from.toPrecision(9)}-${span.to.toPrecision(9)}` : "");
    this.pick(span ? null : this.sliceAt(event));
  }
  private pick(picked: Picked | null, how: "push" | "replace" = "push"): void {
    this.picked = picked;
    const id = picked ? picked.placed.lane.instr[picked.slice]! : -1;
    // A slice without an instruction has an address of its own.
    this.page.settings.set("slice", picked && id < 0 ? `${this.placed.indexOf(picked.placed)}.${picked.slice}` : "");
    this.page.select(id >= 0 ? { kind: "instr", module: picked!.placed.module, id } : null, how);
  }
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { from, to } = this.range;
    if (event.ctrlKey || event.metaKey) this.setRange(zoomed(this.range, this.all, event.deltaY > 0 ? 1.25 : 0.8, this.scale.time(event.offsetX), 1e-9));
    else if (event.shiftKey || event.deltaX !== 0 || this.height <= this.lanesHeight) this.setRange(panned(this.range, this.all, ((event.deltaX || event.deltaY) / 600) * (to - from)));
    else { this.scroll = Math.max(0, Math.min(this.scroll + event.deltaY, this.height - this.lanesHeight)); this.update(); }
  }
  private setRange(range: Range): void {
    const whole = range.from <= this.all.from && range.to >= this.all.to;
    this.page.set("z", whole ? "" : `${range.from.toPrecision(9)}-${range.to.toPrecision(9)}`, "replace");
  }
  key(event: KeyboardEvent): boolean {
    if (this.traces.length === 0) return false;
    const { from, to } = this.range;
    const picked = this.picked && { from: this.picked.placed.lane.start[this.picked.slice]!, to: this.picked.placed.lane.start[this.picked.slice]! + this.picked.placed.lane.duration[this.picked.slice]! };
    const around = picked && picked.from >= from && picked.from <= to ? picked.from : (from + to) / 2;
    switch (event.key) {
      case "w": this.setRange(zoomed(this.range, this.all, 0.6, around, 1e-9)); return true;
      case "s": this.setRange(zoomed(this.range, this.all, 1 / 0.6, around, 1e-9)); return true;
      case "a": this.setRange(panned(this.range, this.all, -(to - from) / 5)); return true;
      case "d": this.setRange(panned(this.range, this.all, (to - from) / 5)); return true;
      case "0": this.setRange(this.all); return true;
      case "f": {
        const target = this.span ?? picked;
        if (target) { const room = Math.max((target.to - target.from) * 2, 1e-9); this.setRange(panned({ from: target.from - room, to: target.to + room }, this.all, 0)); }
        return true;
      }
      case "ArrowRight": case "ArrowLeft": {
        if (event.altKey || !this.picked) return false;
        const { placed, slice } = this.picked;
        const next = slice + (event.key === "ArrowRight" ? 1 : -1);
        if (next >= 0 && next < placed.lane.count) this.pick({ placed, slice: next }, "replace");
        return true;
      }
    }
    return false;
  }

  // ---- the frame
  chips(): (Node | string)[] {
    if (this.traces.length === 0) return [];
    const what = this.traces.map(({ trace }) => `${trace.predicted ? "predicted on" : "measured:"} ${trace.name}, ${seconds(trace.end)}${trace.steps > 1 ? ` in ${counted(trace.steps, "step")}` : ""}`).join(" · ");
    const whole = !this.page.settings.get("z");
    const shortest = Math.min(...this.traces.map(({ trace }) => trace.end));
    return [h("span", { class: "note" }, visible(what, 200)), h("span", { class: "grow" }), "show", chip("all", whole, () => this.setRange(this.all)),
      shortest < this.all.to * 0.8 ? chip("the first step", false, () => this.setRange({ from: 0, to: shortest })) : ""];
  }
  keys(): [string, string][] { return this.traces.length === 0 ? [] : [["w s", "zoom"], ["a d", "pan"], ["f", "to the selection"], ["drag", "a span"], ["← →", "slice"]]; }
  legend(): (Node | string)[] {
    const kinds = sliceKinds.slice(0, 5).map((each, i) => h("span", {}, glyph(i), each));
    return this.traces.some(({ trace }) => trace.lanes.some((lane) => lane.critical)) ? [h("span", {}, "hatched: waits · underlined: critical path"), ...kinds] : kinds;
  }
  oneSided(): boolean { return false; }

  panel(): HTMLElement | null {
    if (this.traces.length === 0) return null;
    if (this.span) return spanPanel(this.placed, this.span, "span");
    const given = /^(\d+)\.(\d+)$/.exec(this.page.settings.get("slice") ?? "");
    const placed = given ? this.placed[Number(given[1])] : undefined;
    if (placed && Number(given![2]) < placed.lane.count) this.picked = { placed, slice: Number(given![2]) };
    if (this.page.selection) return null;
    if (!this.picked) return spanPanel(this.placed, this.all, "everything");
    return slicePanel(this.page, this.picked.placed, this.picked.slice);
  }

  csv(): (string | number)[][] {
    const { span } = this;
    const rows: (string | number)[][] = [["trace", "device", "stream", "name", "start_seconds", "duration_seconds", "kind", "critical"]];
    for (const { lane, trace } of this.placed)
      for (let i = 0; i < lane.count; ++i)
        if (!span || (lane.start[i]! + lane.duration[i]! > span.from && lane.start[i]! < span.to)) rows.push([trace.name, lane.device, lane.stream, trace.labels[lane.label[i]!] ?? "", lane.start[i]!, lane.duration[i]!, sliceKinds[lane.kind[i]!]!, lane.critical?.[i] ?? 0]);
    return rows;
  }
  picture(): HTMLCanvasElement | null { return this.traces.length > 0 ? this.canvas : null; }
  state(): object {
    const { span, picked } = this;
    const sums = span ? sumsOf(this.placed, span) : null;
    return {
      traces: this.traces.map(({ trace }) => ({ name: trace.name, predicted: trace.predicted, slices: trace.start.length, lanes: trace.lanes.length, end: trace.end, steps: trace.steps, flows: trace.flows.length,
        linked: trace.lanes.reduce((sum, lane) => sum + lane.instr.reduce((n, id) => n + (id >= 0 ? 1 : 0), 0), 0), waiting: trace.lanes.reduce((sum, lane) => sum + lane.busy(6, 0, lane.count), 0),
        critical: trace.lanes.reduce((sum, lane) => sum + lane.duration.reduce((n, each, i) => n + (lane.critical?.[i] ? each : 0), 0), 0) })),
      range: this.traces.length > 0 ? this.range : null, span, spanSums: sums ? { busy: sums.busy, ops: sums.byOp.size } : null, frameMilliseconds: this.milliseconds,
      picked: picked ? { label: picked.placed.trace.labels[picked.placed.lane.label[picked.slice]!], start: picked.placed.lane.start[picked.slice]! } : null, lanes: this.placed.map((each) => ({ y: each.y, count: each.lane.count })), left: kLeft,
    };
  }
}
