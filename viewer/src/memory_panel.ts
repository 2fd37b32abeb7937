// The panel of a schedule step: live buffers by group, then the largest buffers with live ranges and source lines.
import { chip, displayText, h, nameElement } from "./dom";
import { formatBytes, formatCount } from "./format";
import type { LiveEntry, MemoryData } from "./memory_data";
import type { Stack } from "./memory_picture";
import { instrLink } from "./panel";
import { baseName } from "./program_table";
import type { Page } from "./view";

const kMaxGroups = 16, kMaxBuffers = 12;

export function stepPanel(page: Page, data: MemoryData, stack: Stack, palette: string[], step: number, span: { from: number; to: number } | null): HTMLElement {
  const model = page.models[page.current]!;
  const live = data.liveAt(step);
  const total = live.reduce((sum, each) => sum + each.bytes, 0);
  const id = data.stepInstr[step]!;
  const caption = page.models.length > 1 ? `schedule step of ${page.current === 0 ? "A" : "B"}` : "schedule step";
  return h("div", {}, h("div", { class: "caption" }, caption), h("h2", {}, `step ${formatCount(step + 1)} of ${formatCount(data.steps)}`),
    h("div", { class: "type" }, instrLink(page, page.current, id), ` ${displayText(model.label(id))}`), span ? spanText(data, span) : "",
    h("h3", {}, `live buffers: ${formatCount(live.length)}, ${formatBytes(total)}`), ...groupLines(live, total, stack, palette),
    h("h3", {}, "largest buffers, with first and last step"), bufferLines(page, data, live, stack, palette),
    h("div", { class: "buttons" }, chip("Program", false, () => { page.select({ kind: "instr", module: page.current, id }); page.go("program"); }), chip("peak", false, () => page.set("x", String(data.peak)))));
}

function spanText(data: MemoryData, span: { from: number; to: number }): HTMLElement {
  let max = 0, min = Infinity, sum = 0;
  for (let step = span.from; step < span.to; ++step) { max = Math.max(max, data.total[step]!); min = Math.min(min, data.total[step]!); sum += data.total[step]!; }
  return h("p", { class: "muted" }, `span of ${formatCount(span.to - span.from)} steps, ${formatCount(span.from + 1)}–${formatCount(span.to)}: max ${formatBytes(max)}, min ${formatBytes(min)}, mean ${formatBytes(sum / Math.max(span.to - span.from, 1))}`);
}

function swatch(color: string): HTMLElement {
  const box = h("i", { class: "swatch" });
  box.style.background = color;
  return box;
}

function groupLines(live: LiveEntry[], total: number, { groups, groupOf, colorOf }: Stack, palette: string[]): HTMLElement[] {
  const sums = new Map<number, { bytes: number; count: number }>();
  for (const each of live) {
    const sum = sums.get(groupOf[each.buffer]!) ?? { bytes: 0, count: 0 };
    sum.bytes += each.bytes;
    ++sum.count;
    sums.set(groupOf[each.buffer]!, sum);
  }
  const sorted = [...sums].sort((x, y) => y[1].bytes - x[1].bytes);
  const share = h("div", { class: "sharebar", "aria-hidden": "true" });
  for (const [group, { bytes: size }] of sorted.slice(0, 60)) {
    const part = h("i");
    part.style.background = palette[colorOf[group]!]!;
    part.style.flex = String(size / Math.max(total, 1));
    share.append(part);
  }
  const lines = h("div", { class: "lines" });
  for (const [group, sum] of sorted.slice(0, kMaxGroups))
    lines.append(swatch(palette[colorOf[group]!]!), h("span", { class: "mono", title: displayText(groups[group]!.label, 400) }, nameElement(groups[group]!.label, 120)), h("span", { class: "n" }, sum.count > 1 ? `× ${formatCount(sum.count)}` : ""), h("span", { class: "v" }, formatBytes(sum.bytes)));
  const rest = sorted.slice(kMaxGroups).map(([, sum]) => sum);
  if (rest.length > 0) lines.append(h("span"), h("span", { class: "muted" }, `${formatCount(rest.length)} more groups`), h("span", { class: "n" }, `× ${formatCount(rest.reduce((sum, each) => sum + each.count, 0))}`), h("span", { class: "v" }, formatBytes(rest.reduce((sum, each) => sum + each.bytes, 0))));
  return [share, lines];
}

function bufferLines(page: Page, data: MemoryData, live: LiveEntry[], { groupOf, colorOf }: Stack, palette: string[]): HTMLElement {
  const lines = h("div", { class: "lines" });
  for (const { buffer, bytes: size } of live.filter((each) => data.buffers.kind[each.buffer] !== 0).slice(0, kMaxBuffers)) {
    const producer = data.buffers.instr[buffer]!;
    const source = producer < 0 ? "" : baseName(data.model.source(producer));
    lines.append(swatch(palette[colorOf[groupOf[buffer]!]!]!), producer < 0 ? h("span", {}, data.label(buffer)) : instrLink(page, page.current, producer, data.label(buffer)), h("span", { class: "n" }, `${formatCount(data.buffers.start[buffer]! + 1)}–${formatCount(data.buffers.end[buffer]! + 1)}`), h("span", { class: "v" }, formatBytes(size)));
    if (source) lines.append(h("span"), h("span", { class: "muted source" }, nameElement(source)), h("span"), h("span"));
  }
  if (lines.childElementCount === 0) lines.append(h("span"), h("span", { class: "muted" }, "arguments only"));
  return lines;
}
