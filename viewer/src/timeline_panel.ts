// Panels of Timeline: statistics of a span, or a slice that is not attributed to an instruction.
import type { Range } from "./axis";
import { displayText, h, nameElement } from "./dom";
import { formatCount, formatPercent, formatSeconds } from "./format";
import { definitionList, instrLink } from "./panel";
import type { LaneRow } from "./timeline_picture";
import { kWaiting, sliceKinds } from "./trace";
import { kindColors, type Page } from "./view";

export interface DurationStats { count: number; total: number; min: number; max: number }
export interface SpanStats { byKind: Map<number, DurationStats>; byOp: Map<string, DurationStats>; busy: number; waiting: number }

/** Statistics by kind and by op of the slices in a span. A slice that is partly outside counts with the part inside. */
export function spanStats(page: Page, rows: LaneRow[], span: Range): SpanStats {
  if (cache.rows === rows && cache.from === span.from && cache.to === span.to) return cache.stats!;
  const stats = computeSpanStats(page, rows, span);
  cache = { rows, from: span.from, to: span.to, stats };
  return stats;
}
// Caches the last result, because zooming requests the same statistics repeatedly.
let cache: { rows: LaneRow[] | null; from: number; to: number; stats: SpanStats | null } = { rows: null, from: 0, to: 0, stats: null };

function computeSpanStats(page: Page, rows: LaneRow[], span: Range): SpanStats {
  const out: SpanStats = { byKind: new Map(), byOp: new Map(), busy: 0, waiting: 0 };
  const addTo = <K>(map: Map<K, DurationStats>, key: K, value: number, count: number) => {
    const stats = map.get(key) ?? { count: 0, total: 0, min: Infinity, max: 0 };
    stats.count += count; stats.total += value; stats.min = Math.min(stats.min, value / count); stats.max = Math.max(stats.max, value / count);
    map.set(key, stats);
  };
  const add = (kind: number, op: string, value: number, count: number) => {
    addTo(out.byKind, kind, value, count);
    if (kind === kWaiting) { out.waiting += value; return; }
    out.busy += value;
    addTo(out.byOp, op, value, count);
  };
  for (const { lane, trace, module } of rows) {
    const opOf = (instr: number, label: number) => (instr >= 0 ? page.models[module]!.label(instr) : trace.labels[label] ?? "");
    for (let i = lane.firstEndingAfter(span.from); i < lane.count && lane.start[i]! < span.to; ++i) {
      const overlap = Math.min(lane.start[i]! + lane.duration[i]!, span.to) - Math.max(lane.start[i]!, span.from);
      const loop = lane.parts.get(i);
      if (!loop) { add(lane.kind[i]!, opOf(lane.instr[i]!, lane.label[i]!), overlap, 1); continue; }
      // A folded loop counts with the work of its iterations.
      const share = overlap / lane.duration[i]!;
      for (const part of loop) add(part.kind, opOf(part.instr, part.label), part.seconds * share, Math.max(Math.round(part.count * share), 1));
    }
  }
  return out;
}

function statsTable(rows: [Node | string, string, DurationStats][], title: string): HTMLElement {
  const table = h("table", { class: "sums" }, h("tr", {}, ...[title, "×", "sum", "mean", "min", "max"].map((each) => h("th", { scope: "col" }, each))));
  for (const [mark, label, { count: n, total, min, max }] of rows)
    table.append(h("tr", {}, h("td", { title: displayText(label, 200) }, mark, nameElement(label, 60)), ...[formatCount(n), formatSeconds(total), formatSeconds(total / n), formatSeconds(min), formatSeconds(max)].map((each) => h("td", {}, each))));
  return table;
}

export function spanPanel(page: Page, rows: LaneRow[], span: Range, caption: string): HTMLElement {
  const { byKind, byOp, busy, waiting } = spanStats(page, rows, span);
  const heaviest = <K>(map: Map<K, DurationStats>) => [...map].sort((x, y) => y[1].total - x[1].total);
  const swatch = (kind: number) => { const box = h("i", { class: "swatch" }); box.style.background = kindColors()[kind]!; return box; };
  const length = span.to - span.from;
  return h("div", {}, h("div", { class: "caption" }, caption), h("h2", {}, formatSeconds(length)),
    h("div", {}, `from ${formatSeconds(span.from)} to ${formatSeconds(span.to)}; busy ${formatSeconds(busy)}, ${formatPercent(busy / Math.max(length * rows.length, 1e-300))} of the lanes${waiting > 0 ? `; waiting ${formatSeconds(waiting)}` : ""}`),
    h("h3", {}, "by kind"), statsTable(heaviest(byKind).map(([kind, stats]) => [swatch(kind), sliceKinds[kind]!, stats]), "kind"),
    h("h3", {}, `by op${byOp.size > 20 ? `, the longest 20 of ${formatCount(byOp.size)}` : ""}`), statsTable(heaviest(byOp).slice(0, 20).map(([label, stats]) => ["", label, stats]), "op"));
}

export function slicePanel(page: Page, { lane, trace, module }: LaneRow, slice: number): HTMLElement {
  const id = lane.instr[slice]!;
  return h("div", {}, h("div", { class: "caption" }, trace.predicted ? "predicted slice" : "measured slice"), h("h2", {}, nameElement(trace.labels[lane.label[slice]!] ?? "")),
    definitionList([["time", formatSeconds(lane.duration[slice]!)], ["start", formatSeconds(lane.start[slice]!)], ["kind", sliceKinds[lane.kind[slice]!]!], ["lane", displayText(`${lane.device}, ${lane.stream}`)],
      lane.critical?.[slice] ? ["", "on the critical path"] : null, id >= 0 ? ["instruction", instrLink(page, module, id)] : null]));
}
