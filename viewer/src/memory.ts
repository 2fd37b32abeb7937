// Memory over the schedule: a stack of what lives, where it lies, and a panel of a moment.
import { byteTicks, fitted, panned, parseRange, prepare, type Range, rgb, ticks, zoomed } from "./axis";
import { chip, h, name, visible } from "./dom";
import { bytes, count, percent } from "./format";
import { type Group, MemoryData, type StackBy } from "./memory_data";
import { instrLink } from "./panel";
import { colors, isDark, type Page, stackColors, type View } from "./view";

const kLeft = 62, kRight = 12, kStrip = 22;
const kMostListed = 16;

interface Stack { groups: Group[]; groupOf: Uint32Array; colorOf: Int8Array; series: Float64Array[] }

export class MemoryView implements View {
  private page!: Page;
  private canvas = h("canvas", { role: "img" });
  private over = h("canvas", { "aria-hidden": "true" });
  private root!: HTMLElement;
  private data: MemoryData[] = [];
  private stacks = new Map<string, Stack>();
  private span: Range | null = null;
  private dragFrom = -1;
  private layoutTop = { top: 0, height: 0, packTop: 0, packHeight: 0 };
  private drawnFor = "";
  private gapShare = 0;

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
  private get all(): Range { return { from: 0, to: Math.max(...this.data.map((each) => each.steps), 1) }; }
  private get range(): Range { return parseRange(this.page.settings.get("z"), this.all); }
  private get by(): StackBy { return (this.page.settings.get("by") as StackBy | undefined) ?? "alike"; }
  /** The step of the cursor: what is selected, else the peak. */
  get cursor(): number {
    const given = Number(this.page.settings.get("x") ?? NaN);
    const selected = this.page.selection?.kind === "instr" ? this.page.models[this.page.current]!.instr.step[this.page.selection.id]! : -1;
    const step = Number.isFinite(given) ? given : selected >= 0 ? selected : this.at.peak;
    return Math.max(0, Math.min(Math.round(step), this.at.steps - 1));
  }
  private stack(data: MemoryData): Stack {
    const key = `${this.data.indexOf(data)} ${this.by}`;
    let stack = this.stacks.get(key);
    if (!stack) this.stacks.set(key, (stack = data.stack(this.by)));
    return stack;
  }
  private palette(): string[] {
    const dark = isDark();
    return [...(dark ? stackColors.dark : stackColors.light), dark ? stackColors.darkArguments : stackColors.lightArguments, dark ? stackColors.darkRest : stackColors.lightRest];
  }

  private stepAt(x: number): number {
    const range = this.range;
    return Math.floor(range.from + ((x - kLeft) / (this.canvas.clientWidth - kLeft - kRight)) * (range.to - range.from));
  }
  private xOf(step: number): number {
    const range = this.range;
    return kLeft + ((step - range.from) / (range.to - range.from)) * (this.canvas.clientWidth - kLeft - kRight);
  }

  update(): void {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (width === 0 || this.at.steps === 0) return;
    const key = [width, height, isDark(), this.page.current, this.by, this.range.from, this.range.to].join("|");
    if (key !== this.drawnFor) {
      this.drawnFor = key;
      this.draw(width, height);
    }
    this.drawOver(width, height);
  }

  private draw(width: number, height: number): void {
    const context = prepare(this.canvas, width, height);
    const c = colors();
    const zoomedIn = this.range.to - this.range.from < this.all.to - this.all.from;
    const two = this.data.length > 1;
    const brush = zoomedIn ? 34 : 0;
    const free = height - 8 - kStrip - brush - 30;
    const stackHeight = two ? (free - 40) / 2 : Math.round(free * 0.47);
    const top = 8 + kStrip;
    this.drawStrip(context, 8);
    const highest = Math.max(...this.data.map((each) => each.total[each.peak]!));
    const limit = this.page.models[this.page.current]!.capacity;
    const most = limit > 0 && limit < highest * 3 ? Math.max(highest, limit) * 1.08 : highest * 1.14;
    if (two) {
      this.data.forEach((data, i) => this.drawStack(context, data, top + i * (stackHeight + 30), stackHeight, most, limit, i === 0 ? "A" : "B"));
      this.layoutTop = { top, height: 2 * stackHeight + 30, packTop: 0, packHeight: 0 };
    } else {
      this.drawStack(context, this.at, top, stackHeight, most, limit, "");
      const packTop = top + stackHeight + 52;
      const packHeight = height - packTop - 24 - brush;
      this.layoutTop = { top, height: stackHeight, packTop, packHeight };
      context.fillStyle = c.text!;
      if (packHeight > 40) this.drawPacking(context, packTop, packHeight, width);
    }
    if (zoomedIn) this.drawBrush(context, height - 30, width);
    this.canvas.setAttribute("aria-label", `live bytes over ${count(this.at.steps)} steps; peak ${bytes(this.at.total[this.at.peak]!)} at step ${count(this.at.peak + 1)}`);
  }

  private drawStrip(context: CanvasRenderingContext2D, top: number): void {
    const c = colors();
    const dark = isDark();
    context.fillStyle = c.muted!;
    context.fillText("program", 8, top + 8);
    const tints = dark ? ["#263445", "#3a2440", "#263c38", "#40352a"] : ["#dce8f5", "#efe0f2", "#dcefe9", "#f4e8da"];
    const [first, last] = [this.xOf(this.range.from), this.xOf(this.range.to)];
    context.fillStyle = c.grid!;
    context.fillRect(first, top, last - first, 16);
    let number = 0;
    for (const stretch of this.at.stretches()) {
      const x = Math.max(this.xOf(stretch.from), first), end = Math.min(this.xOf(stretch.to + 1), last);
      if (end <= x) continue;
      context.fillStyle = tints[number++ % tints.length]!;
      context.fillRect(x, top, Math.max(end - x - 1, 1), 16);
      context.fillStyle = c.text!;
      context.fillText(fitted(context, visible(stretch.label, 80), end - x - 8), x + 5, top + 8.5);
    }
  }

  private axis(context: CanvasRenderingContext2D, top: number, height: number, most: number, width: number): void {
    const c = colors();
    context.textAlign = "right";
    for (const tick of byteTicks(most, Math.max(height / 45, 2))) {
      const y = Math.round(top + height - (tick / most) * height) + 0.5;
      context.strokeStyle = c.grid!;
      context.beginPath(); context.moveTo(kLeft, y); context.lineTo(width - kRight, y); context.stroke();
      context.fillStyle = c.muted!;
      context.fillText(bytes(tick).replace(".0 ", " "), kLeft - 7, y);
    }
    context.textAlign = "center";
    for (const tick of ticks(this.range.from, this.range.to, (width - kLeft) / 110)) {
      if (!Number.isInteger(tick)) continue;
      context.fillStyle = c.muted!;
      context.fillText(count(tick), Math.max(this.xOf(tick), kLeft + 8), top + height + 11);
    }
    context.textAlign = "left";
  }

  private drawStack(context: CanvasRenderingContext2D, data: MemoryData, top: number, height: number, most: number, limit: number, letter: string): void {
    const c = colors();
    const width = this.canvas.clientWidth;
    const palette = this.palette();
    const { series, groups, colorOf } = this.stack(data);
    this.axis(context, top, height, most, width);
    const order = [8, 0, 1, 2, 3, 4, 5, 6, 7, 9];
    const range = this.range;
    const columns = Math.floor((width - kLeft - kRight) * devicePixelRatio);
    // A column of pixels shows the step with the most bytes in it, never a mean.
    const shown = new Int32Array(columns).fill(-1);
    for (let column = 0; column < columns; ++column) {
      const from = Math.floor(range.from + (column / columns) * (range.to - range.from));
      const to = Math.max(Math.floor(range.from + ((column + 1) / columns) * (range.to - range.from)), from + 1);
      let best = -1;
      for (let step = from; step < Math.min(to, data.steps); ++step) if (best < 0 || data.total[step]! > data.total[best]!) best = step;
      shown[column] = best;
    }
    const ratio = devicePixelRatio;
    const whole = (y: number) => Math.round(y * ratio) / ratio;
    for (let column = 0, until = 1; column < columns; column = until, ++until) {
      const step = shown[column]!;
      // Neighbours that are the same are one rectangle.
      while (step >= 0 && until < columns && shown[until]! >= 0 && order.every((color) => series[color]![shown[until]!] === series[color]![step])) ++until;
      if (step < 0) continue;
      let y = top + height;
      for (const color of order) {
        const part = (series[color]![step]! / most) * height;
        if (part <= 0) continue;
        context.fillStyle = palette[color]!;
        context.fillRect(kLeft + column / ratio, whole(y - part), (until - column) / ratio, whole(y) - whole(y - part));
        y -= part;
      }
    }
    this.nameBands(context, order, shown, (color, step) => {
      let below = 0;
      for (const each of order) { if (each === color) break; below += series[each]![step]!; }
      return [top + height - (below / most) * height, (series[color]![step]! / most) * height];
    }, groups, colorOf);
    if (limit > 0 && limit <= most) {
      const y = Math.round(top + height - (limit / most) * height) + 0.5;
      context.strokeStyle = context.fillStyle = c.warning!;
      context.setLineDash([5, 4]);
      context.beginPath(); context.moveTo(kLeft, y); context.lineTo(width - kRight, y); context.stroke();
      context.setLineDash([]);
      context.textAlign = "right";
      context.fillText(`${this.page.models[0]!.about.budget >= 0 ? "budget" : "capacity"} ${bytes(limit)}`, width - kRight, y + 9);
      context.textAlign = "left";
    }
    if (letter) { context.fillStyle = c.text!; context.font = "600 13px system-ui, sans-serif"; context.fillText(letter, 12, top + 8); context.font = "11px system-ui, sans-serif"; }
  }

  /** Names where a band is thick enough for the whole name. */
  private nameBands(context: CanvasRenderingContext2D, order: number[], shown: Int32Array, band: (color: number, step: number) => [number, number], groups: Group[], colorOf: Int8Array): void {
    const c = colors();
    const dark = isDark();
    const ratio = devicePixelRatio;
    for (const color of order) {
      const group = color === 9 ? undefined : groups.find((_, i) => colorOf[i] === color);
      if (!group) continue;
      const text = fitted(context, visible(group.label, 60), 240);
      const half = (context.measureText(text).width / 2 + 5) * ratio;
      let best = 0, bestX = 0, bestY = 0;
      for (let centre = Math.ceil(half); centre < shown.length - half; centre += 8) {
        const places = [centre - half, centre - half / 2, centre, centre + half / 2, centre + half].map((each) => shown[Math.floor(each)]!);
        if (places.some((step) => step < 0)) continue;
        const bands = places.map((step) => band(color, step));
        const lower = Math.min(...bands.map(([bottom]) => bottom)), upper = Math.max(...bands.map(([bottom, part]) => bottom - part));
        // Of equal places the one nearest the middle.
        const middle = 1 - Math.abs(centre / shown.length - 0.5) / 100;
        if ((lower - upper) * middle > best) { best = (lower - upper) * middle; bestX = kLeft + centre / ratio; bestY = (lower + upper) / 2; }
      }
      if (best < 14) continue;
      context.fillStyle = color === 8 ? c.text! : dark ? "#14171C" : "#FFFFFF";
      context.textAlign = "center";
      context.fillText(text, bestX, bestY + 0.5);
      context.textAlign = "left";
    }
  }

  /** On whole pixels: the buffer that covers most of a pixel has it. */
  private drawPacking(context: CanvasRenderingContext2D, top: number, height: number, width: number): void {
    const c = colors();
    const data = this.at;
    const b = data.buffers;
    const { groupOf, colorOf } = this.stack(data);
    const block = this.page.models[this.page.current]!.about.memory.temporaries;
    let highest = 0, used = 0;
    for (let i = 0; i < b.count; ++i) if (b.offset[i]! >= 0) highest = Math.max(highest, b.offset[i]! + b.bytes[i]!);
    context.fillStyle = c.text!;
    context.font = "600 13px system-ui, sans-serif";
    context.fillText("Packing of the temporaries", kLeft, top - 14);
    const titleWidth = context.measureText("Packing of the temporaries").width;
    context.font = "11px system-ui, sans-serif";
    if (highest === 0) { context.fillStyle = c.muted!; context.fillText("there are none", kLeft + titleWidth + 10, top - 13.5); return; }
    const most = highest * 1.04;
    this.axis(context, top, height, most, width);
    const ratio = devicePixelRatio;
    const w = Math.floor((width - kLeft - kRight) * ratio), ht = Math.floor(height * ratio);
    const image = context.createImageData(w, ht);
    const covered = new Float32Array(w * ht);
    const palette = this.palette().map(rgb);
    const range = this.range;
    const scale = w / (range.to - range.from), yScale = ht / most;
    for (let i = 0; i < data.segStart.length; ++i) {
      const life = data.segLife[i]!;
      if (b.offset[life]! < 0) continue;
      used += (data.segEnd[i]! - data.segStart[i]! + 1) * b.bytes[life]!;
      const x0 = Math.max((data.segStart[i]! - range.from) * scale, 0), x1 = Math.min((data.segEnd[i]! + 1 - range.from) * scale, w);
      if (x1 <= 0 || x0 >= w || x1 <= x0) continue;
      const y0 = ht - (b.offset[life]! + b.bytes[life]!) * yScale, y1 = ht - b.offset[life]! * yScale;
      const [red, green, blue] = palette[colorOf[groupOf[life]!]!]!;
      for (let y = Math.max(Math.floor(y0), 0); y < Math.min(Math.ceil(y1), ht); ++y) {
        const high = Math.min(y + 1, y1) - Math.max(y, y0);
        // A line of background between neighbours that are thick enough to have one.
        if (y1 - y0 > 3 * ratio && y === Math.floor(y0)) continue;
        for (let x = Math.floor(x0); x < Math.min(Math.ceil(x1), w); ++x) {
          const cover = high * (Math.min(x + 1, x1) - Math.max(x, x0));
          const at = y * w + x;
          if (cover <= covered[at]!) continue;
          covered[at] = cover;
          image.data[4 * at] = red; image.data[4 * at + 1] = green; image.data[4 * at + 2] = blue; image.data[4 * at + 3] = 255;
        }
      }
    }
    context.putImageData(image, Math.round(kLeft * ratio), Math.round(top * ratio));
    this.gapShare = block > 0 ? 1 - used / (data.steps * highest) : 0;
    context.fillStyle = c.muted!;
    context.fillText(`address against step; a block of ${bytes(block)}, of which ${percent(Math.max(this.gapShare, 0))} is unused on average`, kLeft + titleWidth + 10, top - 13.5);
  }

  private drawBrush(context: CanvasRenderingContext2D, top: number, width: number): void {
    const c = colors();
    const data = this.at;
    const full = width - kLeft - kRight;
    context.fillStyle = c.panel!;
    context.fillRect(kLeft, top, full, 26);
    context.fillStyle = c.line!;
    for (let x = 0; x < full; ++x) {
      const from = Math.floor((x / full) * data.steps), to = Math.max(Math.floor(((x + 1) / full) * data.steps), from + 1);
      let best = 0;
      for (let step = from; step < Math.min(to, data.steps); ++step) best = Math.max(best, data.total[step]!);
      const high = (best / data.total[data.peak]!) * 24;
      context.fillRect(kLeft + x, top + 26 - high, 1, high);
    }
    context.strokeStyle = c.link!;
    const all = this.all.to;
    context.strokeRect(kLeft + (this.range.from / all) * full + 0.5, top + 0.5, Math.max(((this.range.to - this.range.from) / all) * full, 2), 25);
  }

  private drawOver(width: number, height: number): void {
    const context = prepare(this.over, width, height);
    const c = colors();
    const { top, packTop, packHeight, height: stackHeight } = this.layoutTop;
    const bottom = packTop > 0 ? packTop + packHeight : top + stackHeight;
    if (this.span) {
      context.fillStyle = c.selected!;
      context.globalAlpha = 0.45;
      context.fillRect(this.xOf(this.span.from), top, Math.max(this.xOf(this.span.to) - this.xOf(this.span.from), 1), bottom - top);
      context.globalAlpha = 1;
    }
    const step = this.cursor;
    const x = Math.round(this.xOf(step + 0.5)) + 0.5;
    if (x < kLeft - 1 || x > width - kRight + 1) return;
    context.strokeStyle = c.text!;
    context.beginPath(); context.moveTo(x, top - 2); context.lineTo(x, bottom); context.stroke();
    const text = `${bytes(this.at.total[step]!)} at ${visible(this.page.models[this.page.current]!.name(this.at.stepInstr[step]!), 60)}, step ${count(step + 1)}`;
    context.font = "600 12px system-ui, sans-serif";
    const room = context.measureText(text).width;
    const left = x + 8 + room > width - kRight;
    const tx = left ? x - 8 - room : x + 8;
    context.fillStyle = c.bg!;
    context.globalAlpha = 0.82;
    context.fillRect(tx - 3, top + 1, room + 6, 17);
    context.globalAlpha = 1;
    context.fillStyle = c.text!;
    context.fillText(text, tx, top + 10);
  }

  // ---- mouse and keys
  private drag(event: PointerEvent): void {
    const step = this.stepAt(event.offsetX);
    if (this.dragFrom >= 0 && event.buttons & 1 && Math.abs(this.xOf(step) - this.xOf(this.dragFrom)) > 4) {
      this.span = { from: Math.max(Math.min(step, this.dragFrom), 0), to: Math.min(Math.max(step, this.dragFrom) + 1, this.at.steps) };
      this.drawOver(this.root.clientWidth, this.root.clientHeight);
    }
  }
  private release(event: PointerEvent): void {
    const step = Math.max(0, Math.min(this.stepAt(event.offsetX), this.at.steps - 1));
    const dragged = this.dragFrom >= 0 && this.span !== null && Math.abs(this.xOf(step) - this.xOf(this.dragFrom)) > 4;
    this.dragFrom = -1;
    this.page.select(null, "replace");
    if (dragged && this.span) {
      // The cursor goes to where most lives in the span.
      let best = this.span.from;
      for (let each = this.span.from; each < this.span.to; ++each) if (this.at.total[each]! > this.at.total[best]!) best = each;
      this.page.settings.set("span", `${this.span.from}-${this.span.to}`);
      this.page.set("x", String(best));
    } else {
      this.span = null;
      this.page.settings.delete("span");
      this.page.set("x", String(step));
    }
  }
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.stepAt(event.offsetX));
    else this.pan(((event.deltaX || event.deltaY) / 600) * (this.range.to - this.range.from));
  }
  private setRange(range: Range): void {
    const whole = range.from <= this.all.from && range.to >= this.all.to;
    this.page.set("z", whole ? "" : `${Math.round(range.from)}-${Math.round(range.to)}`, "replace");
  }
  private zoom(factor: number, around: number): void { this.setRange(zoomed(this.range, this.all, factor, around, 20)); }
  private pan(by: number): void { this.setRange(panned(this.range, this.all, by)); }

  key(event: KeyboardEvent): boolean {
    const span = this.range.to - this.range.from;
    const middle = (this.range.from + this.range.to) / 2;
    const inside = this.cursor >= this.range.from && this.cursor <= this.range.to;
    const move = (step: number) => { this.page.select(null, "replace"); this.page.set("x", String(Math.max(0, Math.min(step, this.at.steps - 1))), "replace"); };
    switch (event.key) {
      case "w": this.zoom(0.6, inside ? this.cursor : middle); return true;
      case "s": this.zoom(1 / 0.6, inside ? this.cursor : middle); return true;
      case "a": this.pan(-span / 5); return true;
      case "d": this.pan(span / 5); return true;
      case "0": this.setRange(this.all); return true;
      case "f": this.setRange(zoomed(this.all, this.all, 0.02, this.cursor, 20)); return true;
      case "p": move(this.at.peak); return true;
      case "[": case "ArrowLeft": if (event.altKey) return false; move(this.cursor - 1); return true;
      case "]": case "ArrowRight": if (event.altKey) return false; move(this.cursor + 1); return true;
    }
    return false;
  }

  // ---- the frame
  chips(): (Node | string)[] {
    const scheduled = this.page.models[this.page.current]!.about.scheduled;
    return ["stack by", ...(["kind", "alike", "scope", "line"] as StackBy[]).map((each) => chip(each === "alike" ? "alike buffers" : each, this.by === each, () => this.page.set("by", each === "alike" ? "" : each))),
      h("span", { class: "grow" }), h("span", { class: "note" }, scheduled ? `${count(this.at?.steps ?? 0)} steps, as scheduled` : "no schedule in the module: an order of ours")];
  }
  keys(): [string, string][] { return [["w s", "zoom"], ["a d", "pan"], ["p", "to the peak"], ["[ ]", "step"], ["drag", "select a span"], ["0", "all"]]; }
  legend(): (Node | string)[] { return [h("span", {}, "a column shows the step with the most bytes in it")]; }

  /** Of the moment, unless something else is selected. */
  panel(): HTMLElement | null {
    if (this.page.selection?.kind === "instr" || this.at.steps === 0) return null;
    const data = this.at;
    const page = this.page;
    const model = page.models[page.current]!;
    const step = this.cursor;
    const held = data.heldAt(step);
    const total = held.reduce((sum, each) => sum + each.bytes, 0);
    const id = data.stepInstr[step]!;
    const palette = this.palette();
    const { groups, groupOf, colorOf } = this.stack(data);
    const byGroup = new Map<number, { bytes: number; count: number }>();
    for (const each of held) {
      const group = byGroup.get(groupOf[each.life]!) ?? { bytes: 0, count: 0 };
      group.bytes += each.bytes;
      ++group.count;
      byGroup.set(groupOf[each.life]!, group);
    }
    const sorted = [...byGroup].sort((x, y) => y[1].bytes - x[1].bytes);
    const swatch = (color: number) => { const box = h("i", { class: "swatch" }); box.style.background = palette[color]!; return box; };
    const share = h("div", { class: "sharebar", "aria-hidden": "true" });
    for (const [group, { bytes: size }] of sorted.slice(0, 60)) { const part = h("i"); part.style.background = palette[colorOf[group]!]!; part.style.flex = String(size / Math.max(total, 1)); share.append(part); }
    const lines = h("div", { class: "lines" });
    for (const [group, sum] of sorted.slice(0, kMostListed)) lines.append(swatch(colorOf[group]!), h("span", { class: "mono", title: visible(groups[group]!.label, 400) }, name(groups[group]!.label, 120)), h("span", { class: "n" }, sum.count > 1 ? `× ${count(sum.count)}` : ""), h("span", { class: "v" }, bytes(sum.bytes)));
    const rest = sorted.slice(kMostListed);
    if (rest.length > 0) lines.append(h("span"), h("span", { class: "muted" }, `${count(rest.length)} more kinds`), h("span", { class: "n" }, `× ${count(rest.reduce((sum, each) => sum + each[1].count, 0))}`), h("span", { class: "v" }, bytes(rest.reduce((sum, each) => sum + each[1].bytes, 0))));
    const single = h("div", { class: "lines" });
    for (const { life, bytes: size } of held.filter((each) => data.buffers.kind[each.life] !== 0).slice(0, 10)) {
      const maker = data.buffers.instr[life]!;
      const source = maker < 0 ? "" : model.source(maker);
      const text = data.label(life) + (source ? ` · ${source.slice(source.lastIndexOf("/") + 1)}` : "");
      single.append(swatch(colorOf[groupOf[life]!]!), maker < 0 ? h("span", {}, text) : instrLink(page, page.current, maker, text), h("span", { class: "n" }, `${count(data.buffers.start[life]! + 1)}–${count(data.buffers.end[life]! + 1)}`), h("span", { class: "v" }, bytes(size)));
    }
    const spanText = this.span ? h("p", { class: "muted" }, `span of ${count(this.span.to - this.span.from)} steps, ${count(this.span.from + 1)}–${count(this.span.to)}: at most ${bytes(this.at.total[step]!)}, at least ${bytes(this.at.total.subarray(this.span.from, this.span.to).reduce((a, b) => Math.min(a, b), Infinity))}`) : "";
    return h("div", {}, h("div", { class: "sort" }, page.models.length > 1 ? `moment in ${page.current === 0 ? "A" : "B"}` : "moment"), h("h2", {}, `step ${count(step + 1)} of ${count(data.steps)}`),
      h("div", { class: "type" }, instrLink(page, page.current, id), ` ${model.words(id)}`), spanText, h("h3", {}, `what lives here: ${count(held.length)} buffers, ${bytes(total)}`), share, lines,
      h("h3", {}, "largest single ones"), single,
      h("div", { class: "buttons" }, chip("Program", false, () => { page.select({ kind: "instr", module: page.current, id }); page.go("program"); }), chip("to the peak", false, () => page.set("x", String(data.peak)))));
  }

  csv(): (string | number)[][] {
    const data = this.at;
    const b = data.buffers;
    return [["buffer", "kind", "type", "bytes", "first_step", "last_step", "offset", "space", "source"], ...data.heldAt(this.cursor).map(({ life }) => [data.label(life), ["argument", "output", "constant", "temporary"][b.kind[life]!]!, data.model.string(b.type[life]!), b.bytes[life]!, b.start[life]!, b.end[life]!, b.offset[life]!, b.space[life]!, b.instr[life]! < 0 ? "" : data.model.source(b.instr[life]!)])];
  }
  picture(): HTMLCanvasElement { return this.canvas; }

  state(): object {
    const data = this.at;
    const step = this.cursor;
    const held = data.heldAt(step);
    let exact = true;
    const { series } = this.stack(data);
    for (let at = 0; at < data.steps; ++at) {
      let sum = 0;
      for (const one of series) sum += one[at]!;
      if (Math.abs(sum - data.total[at]!) > 0.5) exact = false;
    }
    return { step, steps: data.steps, peak: data.peak, bytes: data.total[step]!, held: held.slice(0, 50).map((each) => ({ name: data.label(each.life), bytes: each.bytes, kind: data.buffers.kind[each.life]! })), heldCount: held.length, heldBytes: held.reduce((sum, each) => sum + each.bytes, 0), range: this.range, exact, by: this.by, span: this.span };
  }
}
