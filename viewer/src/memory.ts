// Memory: live bytes over the schedule as a stacked chart, the packing of temporaries, and a panel of the live buffers
// at the selected step.
import { panRange, parseRange, prepareCanvas, type Range, zoomRange } from "./axis";
import { chip, displayText, h } from "./dom";
import { formatBytes, formatCount, formatSeconds } from "./format";
import { MemoryData, type StackBy } from "./memory_data";
import { stepPanel } from "./memory_panel";
import { drawOverview, drawPacking, drawProgramTrack, drawStack, type Stack } from "./memory_picture";
import { kLeft, kRight, MemoryScale } from "./memory_scale";
import { bufferKinds } from "./model";
import { colors, isDark, type Page, stackColors, type View } from "./view";

const kTop = 8, kTrack = 22, kOverview = 34;

export class MemoryView implements View {
  private page!: Page;
  private canvas = h("canvas", { role: "img" });
  private overlay = h("canvas", { "aria-hidden": "true" });
  private root!: HTMLElement;
  private data: MemoryData[] = [];
  private readonly stacks = new Map<string, Stack>();
  private readonly axes = new Map<boolean, Float64Array[]>();
  private dragRange: Range | null = null;
  private dragStart = -1;
  /** [top, bottom] of each chart. */
  private plotAreas: [number, number][] = [];
  private drawnKey = "";

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.root = root;
    root.append(this.canvas, this.overlay);
    this.data = await Promise.all(page.models.map((model) => MemoryData.load(model)));
    this.overlay.addEventListener("pointerdown", (event) => { this.dragStart = this.stepAt(event.offsetX); this.overlay.setPointerCapture(event.pointerId); });
    this.overlay.addEventListener("pointermove", (event) => this.drag(event));
    this.overlay.addEventListener("pointerup", (event) => this.release(event));
    this.overlay.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  private get memory(): MemoryData { return this.data[this.page.current]!; }
  private get byTime(): boolean { return this.page.settings.get("axis") === "time" && this.page.models.some((model) => model.hasTime); }
  private get positions(): Float64Array[] {
    let positions = this.axes.get(this.byTime);
    if (!positions) this.axes.set(this.byTime, (positions = this.data.map((each) => each.positions(this.byTime))));
    return positions;
  }
  private get fullRange(): Range { return { from: 0, to: Math.max(...this.positions.map((each) => each[each.length - 1]!), this.byTime ? 1e-9 : 1) }; }
  private get minSpan(): number { return this.byTime ? this.fullRange.to / 2000 : 20; }
  private get range(): Range { return parseRange(this.page.settings.get("z"), this.fullRange); }
  private get scale(): MemoryScale { return new MemoryScale(this.positions, this.byTime, this.range, this.root.clientWidth); }
  private get grouping(): StackBy { return (this.page.settings.get("by") as StackBy | undefined) ?? "identical"; }
  /** The selected range of steps; `to` is exclusive. */
  private get span(): Range | null {
    if (this.dragRange) return this.dragRange;
    const setting = this.page.settings.get("span");
    return setting ? parseRange(setting, { from: 0, to: this.memory.steps }) : null;
  }
  /** The step under the cursor: the setting `x`, else the step of the selected instruction, else the peak. */
  get cursor(): number {
    const setting = Number(this.page.settings.get("x") || NaN);
    const { selection } = this.page;
    const selectedStep = selection?.kind === "instr" ? this.page.models[selection.module]!.instr.step[selection.id]! : -1;
    const step = Number.isFinite(setting) ? setting : selectedStep >= 0 ? selectedStep : this.memory.peak;
    return Math.max(0, Math.min(Math.round(step), this.memory.steps - 1));
  }
  private stack(data: MemoryData): Stack {
    const key = `${this.data.indexOf(data)} ${this.grouping}`;
    let stack = this.stacks.get(key);
    if (!stack) this.stacks.set(key, (stack = data.stack(this.grouping)));
    return stack;
  }
  private get palette(): string[] {
    return isDark() ? [...stackColors.dark, stackColors.darkArguments, stackColors.darkRest] : [...stackColors.light, stackColors.lightArguments, stackColors.lightRest];
  }
  private stepAt(x: number): number { const { scale } = this; return scale.step(this.page.current, scale.position(x)); }

  update(): void {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (width === 0 || this.memory.steps === 0) return;
    const key = [width, height, isDark(), this.page.current, this.grouping, this.byTime, this.range.from, this.range.to].join("|");
    if (key !== this.drawnKey) {
      this.drawnKey = key;
      this.draw(width, height);
    }
    this.drawOverlay(width, height);
  }

  private draw(width: number, height: number): void {
    const context = prepareCanvas(this.canvas, width, height);
    const { scale, palette, page } = this;
    const isZoomed = this.range.to - this.range.from < this.fullRange.to - this.fullRange.from;
    const hasTwo = this.data.length > 1;
    const overviewHeight = isZoomed ? kOverview : 0;
    const freeHeight = height - kTop - kTrack - overviewHeight - 30;
    const top = kTop + kTrack;
    drawProgramTrack(context, this.memory.programSpans(), page.current, scale, kTop);
    const highest = Math.max(...this.data.map((each) => each.total[each.peak] ?? 0), 1);
    const model = page.models[page.current]!;
    const limit = model.capacity;
    const maxBytes = limit > 0 && limit < highest * 3 ? Math.max(highest, limit) * 1.08 : highest * 1.14;
    const area = { maxBytes, limit, limitName: model.about.budget >= 0 ? "budget" : "capacity" };
    if (hasTwo) {
      const each = (freeHeight - 40) / 2;
      this.data.forEach((data, i) => drawStack(context, data, i, this.stack(data), scale, palette, { ...area, top: top + i * (each + 30), height: each, letter: i === 0 ? "A" : "B" }));
      this.plotAreas = [[top, top + 2 * each + 30]];
    } else {
      const stackHeight = Math.round(freeHeight * 0.47);
      drawStack(context, this.memory, 0, this.stack(this.memory), scale, palette, { ...area, top, height: stackHeight, letter: "" });
      const packTop = top + stackHeight + 52;
      const packHeight = height - packTop - 24 - overviewHeight;
      if (packHeight > 40) drawPacking(context, this.memory, 0, this.stack(this.memory), scale, palette, packTop, packHeight);
      this.plotAreas = packHeight > 40 ? [[top, top + stackHeight], [packTop, packTop + packHeight]] : [[top, top + stackHeight]];
    }
    if (isZoomed) drawOverview(context, this.memory, page.current, new MemoryScale(this.positions, this.byTime, this.fullRange, width), this.range, height - 30);
    this.canvas.setAttribute("aria-label", `live bytes over ${formatCount(this.memory.steps)} steps; peak ${formatBytes(this.memory.total[this.memory.peak]!)} at step ${formatCount(this.memory.peak + 1)}`);
  }

  private drawOverlay(width: number, height: number): void {
    const context = prepareCanvas(this.overlay, width, height);
    const c = colors();
    const { scale, span } = this;
    const { current } = this.page;
    const top = kTop + kTrack;
    if (span) {
      const x = scale.x(scale.begin(current, span.from));
      context.fillStyle = c.link!;
      context.globalAlpha = 0.14;
      for (const [from, to] of this.plotAreas) context.fillRect(x, from, Math.max(scale.x(scale.begin(current, span.to)) - x, 1), to - from);
      context.globalAlpha = 1;
    }
    const step = this.cursor;
    const x = Math.round(scale.x(scale.middle(current, step))) + 0.5;
    if (x < kLeft - 1 || x > width - kRight + 1) return;
    context.strokeStyle = c.text!;
    context.beginPath();
    for (const [from, to] of this.plotAreas) { context.moveTo(x, from - 2); context.lineTo(x, to); }
    context.stroke();
    const timeNote = this.byTime ? `, ${formatSeconds(scale.begin(current, step))}` : "";
    const text = `${formatBytes(this.memory.total[step]!)} at ${displayText(this.page.models[current]!.name(this.memory.stepInstr[step]!), 60)}, step ${formatCount(step + 1)}${timeNote}`;
    context.font = "600 12px system-ui, sans-serif";
    const textWidth = context.measureText(text).width;
    const tx = x + 8 + textWidth > width - kRight ? x - 8 - textWidth : x + 8;
    context.fillStyle = c.bg!;
    context.globalAlpha = 0.88;
    context.fillRect(tx - 3, top + 1, textWidth + 6, 17);
    context.globalAlpha = 1;
    context.fillStyle = c.text!;
    context.fillText(text, tx, top + 10);
  }

  // ---- mouse and keys
  private isDrag(event: PointerEvent): boolean {
    const { scale } = this;
    return this.dragStart >= 0 && Math.abs(scale.x(scale.begin(this.page.current, this.dragStart)) - event.offsetX) > 4;
  }
  private drag(event: PointerEvent): void {
    if (!(event.buttons & 1) || !this.isDrag(event)) return;
    const step = this.stepAt(event.offsetX);
    this.dragRange = { from: Math.min(step, this.dragStart), to: Math.min(Math.max(step, this.dragStart) + 1, this.memory.steps) };
    this.drawOverlay(this.root.clientWidth, this.root.clientHeight);
  }
  private release(event: PointerEvent): void {
    const span = this.isDrag(event) ? this.dragRange : null;
    this.dragRange = null;
    this.dragStart = -1;
    let cursor = Math.max(0, Math.min(this.stepAt(event.offsetX), this.memory.steps - 1));
    // The cursor moves to the step with the most live bytes in the span.
    if (span) { cursor = span.from; for (let step = span.from; step < span.to; ++step) if (this.memory.total[step]! > this.memory.total[cursor]!) cursor = step; }
    this.page.settings.set("span", span ? `${span.from}-${span.to}` : "");
    this.page.settings.set("i", "");
    this.page.select(null, "replace");
    this.page.set("x", String(cursor));
  }
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.scale.position(event.offsetX));
    else this.pan(((event.deltaX || event.deltaY) / 600) * (this.range.to - this.range.from));
  }
  private setRange(range: Range): void {
    const isFull = range.from <= this.fullRange.from && range.to >= this.fullRange.to;
    const text = (value: number) => (this.byTime ? value.toPrecision(9) : String(Math.round(value)));
    this.page.set("z", isFull ? "" : `${text(range.from)}-${text(range.to)}`, "replace");
  }
  private zoom(factor: number, center: number): void { this.setRange(zoomRange(this.range, this.fullRange, factor, center, this.minSpan)); }
  private pan(delta: number): void { this.setRange(panRange(this.range, this.fullRange, delta)); }

  key(event: KeyboardEvent): boolean {
    if (this.memory.steps === 0) return false;
    const { range, scale } = this;
    const width = range.to - range.from;
    const cursor = scale.middle(this.page.current, this.cursor);
    const centre = cursor >= range.from && cursor <= range.to ? cursor : (range.from + range.to) / 2;
    const move = (step: number) => { this.page.select(null, "replace"); this.page.set("x", String(Math.max(0, Math.min(step, this.memory.steps - 1))), "replace"); };
    switch (event.key) {
      case "w": this.zoom(0.6, centre); return true;
      case "s": this.zoom(1 / 0.6, centre); return true;
      case "a": this.pan(-width / 5); return true;
      case "d": this.pan(width / 5); return true;
      case "0": this.setRange(this.fullRange); return true;
      case "f": {
        const { span } = this;
        if (!span) this.setRange(zoomRange(this.fullRange, this.fullRange, 0.02, cursor, this.minSpan));
        else { const [from, to] = [scale.begin(this.page.current, span.from), scale.begin(this.page.current, span.to)]; this.setRange(panRange({ from: from - (to - from) / 4, to: Math.max(to + (to - from) / 4, from + this.minSpan) }, this.fullRange, 0)); }
        return true;
      }
      case "p": move(this.memory.peak); return true;
      case "[": case "ArrowLeft": if (event.altKey) return false; move(this.cursor - 1); return true;
      case "]": case "ArrowRight": if (event.altKey) return false; move(this.cursor + 1); return true;
    }
    return false;
  }

  // ---- chips, keys and panel
  chips(): (Node | string)[] {
    const { about } = this.page.models[this.page.current]!;
    const axis = (name: string) => () => { this.page.settings.set("z", ""); this.page.set("axis", name); };
    const hasTime = this.page.models.some((model) => model.hasTime);
    return ["stack by", ...(["kind", "identical", "scope", "line"] as StackBy[]).map((each) => chip(each === "identical" ? "identical buffers" : each, this.grouping === each, () => this.page.set("by", each === "identical" ? "" : each))),
      ...(hasTime ? [h("span", { class: "gap" }), "x axis", chip("steps", !this.byTime, axis("")), chip("predicted time", this.byTime, axis("time"))] : []),
      h("span", { class: "grow" }), h("span", { class: "note" }, about.scheduled ? `${formatCount(this.memory?.steps ?? 0)} steps, as scheduled` : "no schedule in the module; order estimated by shoal")];
  }
  keys(): [string, string][] { return [["w s", "zoom"], ["a d", "pan"], ["p", "peak"], ["[ ]", "step"], ["drag", "select a span"], ["0", "zoom out"]]; }
  legend(): (Node | string)[] { return [h("span", {}, "each pixel column shows the step with the most live bytes")]; }
  /** Describes the step under the cursor, unless an instruction is selected. */
  panel(): HTMLElement | null {
    if (this.page.selection?.kind === "instr" || this.memory.steps === 0) return null;
    return stepPanel(this.page, this.memory, this.stack(this.memory), this.palette, this.cursor, this.span);
  }

  csv(): (string | number)[][] {
    const { memory } = this;
    const b = memory.buffers;
    return [["buffer", "kind", "type", "bytes", "first_step", "last_step", "offset", "space", "source"], ...memory.liveAt(this.cursor).map(({ buffer }) => [memory.label(buffer), bufferKinds[b.kind[buffer]!]!, memory.model.string(b.type[buffer]!), b.bytes[buffer]!, b.start[buffer]!, b.end[buffer]!, b.offset[buffer]!, b.space[buffer]!, b.instr[buffer]! < 0 ? "" : memory.model.source(b.instr[buffer]!)])];
  }
  /** Live bytes per step, in total and per group. */
  asTable(): (string | number)[][] {
    const { memory } = this;
    const { groups, colorOf, series } = this.stack(memory);
    const names = series.map((_, color) => (color === 9 ? "rest" : groups.find((_, i) => colorOf[i] === color)?.label ?? ""));
    const visible = names.map((label, color) => ({ label, color })).filter(({ label, color }) => label !== "" && series[color]!.some((value) => value > 0));
    return [["step", "instruction", "live bytes", ...visible.map(({ label }) => label)], ...Array.from(memory.total, (total, step) => [step + 1, memory.model.name(memory.stepInstr[step]!), total, ...visible.map(({ color }) => series[color]![step]!)])];
  }
  picture(): HTMLCanvasElement { return this.canvas; }

  state(): object {
    const { memory } = this;
    const step = this.cursor;
    const live = memory.liveAt(step);
    const { series } = this.stack(memory);
    let exact = true;
    for (let each = 0; each < memory.steps; ++each) if (Math.abs(series.reduce((sum, one) => sum + one[each]!, 0) - memory.total[each]!) > 0.5) exact = false;
    return { step, steps: memory.steps, peak: memory.peak, bytes: memory.total[step]!, live: live.slice(0, 50).map((each) => ({ name: memory.label(each.buffer), bytes: each.bytes, kind: memory.buffers.kind[each.buffer]! })), liveCount: live.length, liveBytes: live.reduce((sum, each) => sum + each.bytes, 0), range: this.range, exact, grouping: this.grouping, byTime: this.byTime, seconds: this.byTime ? this.fullRange.to : null, span: this.span };
  }
}
