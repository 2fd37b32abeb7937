// What lives at a moment: alike buffers folded, then the largest single ones with their lives and lines.
import { chip, h, name, visible } from "./dom";
import { bytes, count } from "./format";
import type { MemoryData } from "./memory_data";
import type { Stack } from "./memory_picture";
import { instrLink } from "./panel";
import { lastPart } from "./program_table";
import type { Page } from "./view";

const kMostGroups = 16, kMostSingle = 12;

export function momentPanel(page: Page, data: MemoryData, stack: Stack, palette: string[], step: number, span: { from: number; to: number } | null): HTMLElement {
  const model = page.models[page.current]!;
  const held = data.heldAt(step);
  const total = held.reduce((sum, each) => sum + each.bytes, 0);
  const id = data.stepInstr[step]!;
  const sort = page.models.length > 1 ? `moment in ${page.current === 0 ? "A" : "B"}` : "moment";
  return h("div", {}, h("div", { class: "sort" }, sort), h("h2", {}, `step ${count(step + 1)} of ${count(data.steps)}`),
    h("div", { class: "type" }, instrLink(page, page.current, id), ` ${visible(model.words(id))}`), span ? spanText(data, span) : "",
    h("h3", {}, `what lives here: ${count(held.length)} buffers, ${bytes(total)}`), ...groupLines(held, total, stack, palette),
    h("h3", {}, "largest single ones, with their steps"), singleLines(page, data, held, stack, palette),
    h("div", { class: "buttons" }, chip("Program", false, () => { page.select({ kind: "instr", module: page.current, id }); page.go("program"); }), chip("to the peak", false, () => page.set("x", String(data.peak)))));
}

function spanText(data: MemoryData, span: { from: number; to: number }): HTMLElement {
  let most = 0, least = Infinity, sum = 0;
  for (let step = span.from; step < span.to; ++step) { most = Math.max(most, data.total[step]!); least = Math.min(least, data.total[step]!); sum += data.total[step]!; }
  return h("p", { class: "muted" }, `span of ${count(span.to - span.from)} steps, ${count(span.from + 1)}–${count(span.to)}: most ${bytes(most)}, least ${bytes(least)}, mean ${bytes(sum / Math.max(span.to - span.from, 1))}`);
}

function swatch(color: string): HTMLElement {
  const box = h("i", { class: "swatch" });
  box.style.background = color;
  return box;
}

function groupLines(held: { life: number; bytes: number }[], total: number, { groups, groupOf, colorOf }: Stack, palette: string[]): HTMLElement[] {
  const sums = new Map<number, { bytes: number; count: number }>();
  for (const each of held) {
    const sum = sums.get(groupOf[each.life]!) ?? { bytes: 0, count: 0 };
    sum.bytes += each.bytes;
    ++sum.count;
    sums.set(groupOf[each.life]!, sum);
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
  for (const [group, sum] of sorted.slice(0, kMostGroups))
    lines.append(swatch(palette[colorOf[group]!]!), h("span", { class: "mono", title: visible(groups[group]!.label, 400) }, name(groups[group]!.label, 120)), h("span", { class: "n" }, sum.count > 1 ? `× ${count(sum.count)}` : ""), h("span", { class: "v" }, bytes(sum.bytes)));
  const rest = sorted.slice(kMostGroups).map(([, sum]) => sum);
  if (rest.length > 0) lines.append(h("span"), h("span", { class: "muted" }, `${count(rest.length)} more kinds`), h("span", { class: "n" }, `× ${count(rest.reduce((sum, each) => sum + each.count, 0))}`), h("span", { class: "v" }, bytes(rest.reduce((sum, each) => sum + each.bytes, 0))));
  return [share, lines];
}

function singleLines(page: Page, data: MemoryData, held: { life: number; bytes: number }[], { groupOf, colorOf }: Stack, palette: string[]): HTMLElement {
  const lines = h("div", { class: "lines" });
  for (const { life, bytes: size } of held.filter((each) => data.buffers.kind[each.life] !== 0).slice(0, kMostSingle)) {
    const maker = data.buffers.instr[life]!;
    const source = maker < 0 ? "" : lastPart(data.model.source(maker));
    lines.append(swatch(palette[colorOf[groupOf[life]!]!]!), maker < 0 ? h("span", {}, data.label(life)) : instrLink(page, page.current, maker, data.label(life)), h("span", { class: "n" }, `${count(data.buffers.start[life]! + 1)}–${count(data.buffers.end[life]! + 1)}`), h("span", { class: "v" }, bytes(size)));
    if (source) lines.append(h("span"), h("span", { class: "muted from" }, name(source)), h("span"), h("span"));
  }
  if (lines.childElementCount === 0) lines.append(h("span"), h("span", { class: "muted" }, "arguments only"));
  return lines;
}
