// Memory over the schedule: a stack of what lives, where it lies, and a panel of a moment.
import { panned, parseRange, prepare, type Range, zoomed } from "./axis";
import { chip, h, visible } from "./dom";
import { bytes, count, seconds } from "./format";
import { MemoryData, type StackBy } from "./memory_data";
import { momentPanel } from "./memory_panel";
import { drawPacking, drawStack, drawStrip, drawWhole, type Stack } from "./memory_picture";
import { kLeft, kRight, MemoryScale } from "./memory_scale";
import { bufferKinds } from "./model";
import { colors, isDark, type Page, stackColors, type View } from "./view";

const kTop = 8, kStrip = 22, kWhole = 34;

export class MemoryView implements View {
  private page!: Page;
  private canvas = h("canvas", { role: "img" });
  private over = h("canvas", { "aria-hidden": "true" });
  private root!: HTMLElement;
  private data: MemoryData[] = [];
  private readonly stacks = new Map<string, Stack>();
  private readonly axes = new Map<boolean, Float64Array[]>();
  private dragged: Range | null = null;
  private dragFrom = -1;
  /** Where the pictures stand: [top, bottom]. */
  private pictures: [number, number][] = [];
  private drawnFor = "";

  async mount(root: HTMLElement, page: Page): Promise<void> {
    this.page = page;
    this.root = root;
    root.append(this.canvas, this.over);
    this.data = await Promise.all(page.models.map((model) => MemoryData.load(model)));
    this.over.addEventListener("pointerdown", (event) => { this.dragFrom = this.stepAt(event.offsetX); this.over.setPointerCapture(event.pointerId); });
    this.over.addEventListener("pointermove", (event) => this.drag(event));
    this.over.addEventListener("pointerup", (event) => this.release(event));
    this.over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  private get at(): MemoryData { return this.data[this.page.current]!; }
  private get byTime(): boolean { return this.page.settings.get("axis") === "time" && this.page.models.some((model) => model.hasTime); }
  private get positions(): Float64Array[] {
    let known = this.axes.get(this.byTime);
    if (!known) this.axes.set(this.byTime, (known = this.data.map((each) => each.positions(this.byTime))));
    return known;
  }
  private get all(): Range { return { from: 0, to: Math.max(...this.positions.map((each) => each[each.length - 1]!), this.byTime ? 1e-9 : 1) }; }
  private get least(): number { return this.byTime ? this.all.to / 2000 : 20; }
  private get range(): Range { return parseRange(this.page.settings.get("z"), this.all); }
  private get scale(): MemoryScale { return new MemoryScale(this.positions, this.byTime, this.range, this.root.clientWidth); }
  private get by(): StackBy { return (this.page.settings.get("by") as StackBy | undefined) ?? "alike"; }
  /** Steps that were selected, the second not included. */
  private get span(): Range | null {
    if (this.dragged) return this.dragged;
    const given = this.page.settings.get("span");
    return given ? parseRange(given, { from: 0, to: this.at.steps }) : null;
  }
  /** The step of the cursor: what is selected, else the peak. */
  get cursor(): number {
    const given = Number(this.page.settings.get("x") || NaN);
    const { selection } = this.page;
    const selected = selection?.kind === "instr" ? this.page.models[selection.module]!.instr.step[selection.id]! : -1;
    const step = Number.isFinite(given) ? given : selected >= 0 ? selected : this.at.peak;
    return Math.max(0, Math.min(Math.round(step), this.at.steps - 1));
  }
  private stack(data: MemoryData): Stack {
    const key = `${this.data.indexOf(data)} ${this.by}`;
    let stack = this.stacks.get(key);
    if (!stack) this.stacks.set(key, (stack = data.stack(this.by)));
    return stack;
  }
  private get palette(): string[] {
    return isDark() ? [...stackColors.dark, stackColors.darkArguments, stackColors.darkRest] : [...stackColors.light, stackColors.lightArguments, stackColors.lightRest];
  }
  private stepAt(x: number): number { const { scale } = this; return scale.step(this.page.current, scale.position(x)); }

  update(): void {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (width === 0 || this.at.steps === 0) return;
    const key = [width, height, isDark(), this.page.current, this.by, this.byTime, this.range.from, this.range.to].join("|");
    if (key !== this.drawnFor) {
      this.drawnFor = key;
      this.draw(width, height);
    }
    this.drawOver(width, height);
  }

  private draw(width: number, height: number): void {
    const context = prepare(this.canvas, width, height);
    const { scale, palette, page } = this;
    const isZoomed = this.range.to - this.range.from < this.all.to - this.all.from;
    const two = this.data.length > 1;
    const below = isZoomed ? kWhole : 0;
    const free = height - kTop - kStrip - below - 30;
    const top = kTop + kStrip;
    drawStrip(context, this.at.stretches(), page.current, scale, kTop);
    const highest = Math.max(...this.data.map((each) => each.total[each.peak] ?? 0), 1);
    const model = page.models[page.current]!;
    const limit = model.capacity;
    const most = limit > 0 && limit < highest * 3 ? Math.max(highest, limit) * 1.08 : highest * 1.14;
    const place = { most, limit, limitName: model.about.budget >= 0 ? "budget" : "capacity" };
    if (two) {
      const each = (free - 40) / 2;
      this.data.forEach((data, i) => drawStack(context, data, i, this.stack(data), scale, palette, { ...place, top: top + i * (each + 30), height: each, letter: i === 0 ? "A" : "B" }));
      this.pictures = [[top, top + 2 * each + 30]];
    } else {
      const stackHeight = Math.round(free * 0.47);
      drawStack(context, this.at, 0, this.stack(this.at), scale, palette, { ...place, top, height: stackHeight, letter: "" });
      const packTop = top + stackHeight + 52;
      const packHeight = height - packTop - 24 - below;
      if (packHeight > 40) drawPacking(context, this.at, 0, this.stack(this.at), scale, palette, packTop, packHeight);
      this.pictures = packHeight > 40 ? [[top, top + stackHeight], [packTop, packTop + packHeight]] : [[top, top + stackHeight]];
    }
    if (isZoomed) drawWhole(context, this.at, page.current, new MemoryScale(this.positions, this.byTime, this.all, width), this.range, height - 30);
    this.canvas.setAttribute("aria-label", `live bytes over ${count(this.at.steps)} steps; peak ${bytes(this.at.total[this.at.peak]!)} at step ${count(this.at.peak + 1)}`);
  }

  private drawOver(width: number, height: number): void {
    const context = prepare(this.over, width, height);
    const c = colors();
    const { scale, span } = this;
    const { current } = this.page;
    const top = kTop + kStrip;
    if (span) {
      const x = scale.x(scale.begin(current, span.from));
      context.fillStyle = c.link!;
      context.globalAlpha = 0.14;
      for (const [from, to] of this.pictures) context.fillRect(x, from, Math.max(scale.x(scale.begin(current, span.to)) - x, 1), to - from);
      context.globalAlpha = 1;
    }
    const step = this.cursor;
    const x = Math.round(scale.x(scale.middle(current, step))) + 0.5;
    if (x < kLeft - 1 || x > width - kRight + 1) return;
    context.strokeStyle = c.text!;
    context.beginPath();
    for (const [from, to] of this.pictures) { context.moveTo(x, from - 2); context.lineTo(x, to); }
    context.stroke();
    const when = this.byTime ? `, ${seconds(scale.begin(current, step))}` : "";
    const text = `${bytes(this.at.total[step]!)} at ${visible(this.page.models[current]!.name(this.at.stepInstr[step]!), 60)}, step ${count(step + 1)}${when}`;
    context.font = "600 12px system-ui, sans-serif";
    const room = context.measureText(text).width;
    const tx = x + 8 + room > width - kRight ? x - 8 - room : x + 8;
    context.fillStyle = c.bg!;
    context.globalAlpha = 0.88;
    context.fillRect(tx - 3, top + 1, room + 6, 17);
    context.globalAlpha = 1;
    context.fillStyle = c.text!;
    context.fillText(text, tx, top + 10);
  }

  // ---- mouse and keys
  private far(event: PointerEvent): boolean {
    const { scale } = this;
    return this.dragFrom >= 0 && Math.abs(scale.x(scale.begin(this.page.current, this.dragFrom)) - event.offsetX) > 4;
  }
  private drag(event: PointerEvent): void {
    if (!(event.buttons & 1) || !this.far(event)) return;
    const step = this.stepAt(event.offsetX);
    this.dragged = { from: Math.min(step, this.dragFrom), to: Math.min(Math.max(step, this.dragFrom) + 1, this.at.steps) };
    this.drawOver(this.root.clientWidth, this.root.clientHeight);
  }
  private release(event: PointerEvent): void {
    const span = this.far(event) ? this.dragged : null;
    this.dragged = null;
    this.dragFrom = -1;
    let best = Math.max(0, Math.min(this.stepAt(event.offsetX), this.at.steps - 1));
    // The cursor goes to where most lives in the span.
    if (span) { best = span.from; for (let each = span.from; each < span.to; ++each) if (this.at.total[each]! > this.at.total[best]!) best = each; }
    this.page.settings.set("span", span ? `${span.from}-${span.to}` : "");
    this.page.settings.set("i", "");
    this.page.select(null, "replace");
    this.page.set("x", String(best));
  }
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.scale.position(event.offsetX));
    else this.pan(((event.deltaX || event.deltaY) / 600) * (this.range.to - this.range.from));
  }
  private setRange(range: Range): void {
    const whole = range.from <= this.all.from && range.to >= this.all.to;
    const text = (value: number) => (this.byTime ? value.toPrecision(9) : String(Math.round(value)));
    this.page.set("z", whole ? "" : `${text(range.from)}-${text(range.to)}`, "replace");
  }
  private zoom(factor: number, around: number): void { this.setRange(zoomed(this.range, this.all, factor, around, this.least)); }
  private pan(by: number): void { this.setRange(panned(this.range, this.all, by)); }

  key(event: KeyboardEvent): boolean {
    if (this.at.steps === 0) return false;
    const { range, scale } = this;
    const width = range.to - range.from;
    const cursor = scale.middle(this.page.current, this.cursor);
    const centre = cursor >= range.from && cursor <= range.to ? cursor : (range.from + range.to) / 2;
    const move = (step: number) => { this.page.select(null, "replace"); this.page.set("x", String(Math.max(0, Math.min(step, this.at.steps - 1))), "replace"); };
    switch (event.key) {
      case "w": this.zoom(0.6, centre); return true;
      case "s": this.zoom(1 / 0.6, centre); return true;
      case "a": this.pan(-width / 5); return true;
      case "d": this.pan(width / 5); return true;
      case "0": this.setRange(this.all); return true;
      case "f": {
        const { span } = this;
        if (!span) this.setRange(zoomed(this.all, this.all, 0.02, cursor, this.least));
        else { const [from, to] = [scale.begin(this.page.current, span.from), scale.begin(this.page.current, span.to)]; this.setRange(panned({ from: from - (to - from) / 4, to: Math.max(to + (to - from) / 4, from + this.least) }, this.all, 0)); }
        return true;
      }
      case "p": move(this.at.peak); return true;
      case "[": case "ArrowLeft": if (event.altKey) return false; move(this.cursor - 1); return true;
      case "]": case "ArrowRight": if (event.altKey) return false; move(this.cursor + 1); return true;
    }
    return false;
  }

  // ---- the frame
  chips(): (Node | string)[] {
    const { about } = this.page.models[this.page.current]!;
    const axis = (name: string) => () => { this.page.settings.set("z", ""); this.page.set("axis", name); };
    const timed = this.page.models.some((model) => model.hasTime);
    return ["stack by", ...(["kind", "alike", "scope", "line"] as StackBy[]).map((each) => chip(each === "alike" ? "alike buffers" : each, this.by === each, () => this.page.set("by", each === "alike" ? "" : each))),
      ...(timed ? [h("span", { class: "gap" }), "x", chip("steps", !this.byTime, axis("")), chip("predicted time", this.byTime, axis("time"))] : []),
      h("span", { class: "grow" }), h("span", { class: "note" }, about.scheduled ? `${count(this.at?.steps ?? 0)} steps, as scheduled` : "no schedule in the module: an order of ours")];
  }
  keys(): [string, string][] { return [["w s", "zoom"], ["a d", "pan"], ["p", "to the peak"], ["[ ]", "step"], ["drag", "select a span"], ["0", "all"]]; }
  legend(): (Node | string)[] { return [h("span", {}, "a column shows the step with the most bytes in it")]; }
  /** Of the moment, unless something else is selected. */
  panel(): HTMLElement | null {
    if (this.page.selection?.kind === "instr" || this.at.steps === 0) return null;
    return momentPanel(this.page, this.at, this.stack(this.at), this.palette, this.cursor, this.span);
  }

  csv(): (string | number)[][] {
    const { at } = this;
    const b = at.buffers;
    return [["buffer", "kind", "type", "bytes", "first_step", "last_step", "offset", "space", "source"], ...at.heldAt(this.cursor).map(({ life }) => [at.label(life), bufferKinds[b.kind[life]!]!, at.model.string(b.type[life]!), b.bytes[life]!, b.start[life]!, b.end[life]!, b.offset[life]!, b.space[life]!, b.instr[life]! < 0 ? "" : at.model.source(b.instr[life]!)])];
  }
  /** The curve, and what is stacked in it. */
  asTable(): (string | number)[][] {
    const { at } = this;
    const { groups, colorOf, series } = this.stack(at);
    const names = series.map((_, color) => (color === 9 ? "rest" : groups.find((_, i) => colorOf[i] === color)?.label ?? ""));
    const used = names.map((label, color) => ({ label, color })).filter(({ label, color }) => label !== "" && series[color]!.some((value) => value > 0));
    return [["step", "instruction", "live bytes", ...used.map(({ label }) => label)], ...Array.from(at.total, (total, step) => [step + 1, at.model.name(at.stepInstr[step]!), total, ...used.map(({ color }) => series[color]![step]!)])];
  }
  picture(): HTMLCanvasElement { return this.canvas; }

  state(): object {
    const { at } = this;
    const step = this.cursor;
    const held = at.heldAt(step);
    const { series } = this.stack(at);
    let exact = true;
    for (let each = 0; each < at.steps; ++each) if (Math.abs(series.reduce((sum, one) => sum + one[each]!, 0) - at.total[each]!) > 0.5) exact = false;
    return { step, steps: at.steps, peak: at.peak, bytes: at.total[step]!, held: held.slice(0, 50).map((each) => ({ name: at.label(each.life), bytes: each.bytes, kind: at.buffers.kind[each.life]! })), heldCount: held.length, heldBytes: held.reduce((sum, each) => sum + each.bytes, 0), range: this.range, exact, by: this.by, byTime: this.byTime, seconds: this.byTime ? this.all.to : null, span: this.span };
  }
}
