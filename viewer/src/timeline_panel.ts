// What was selected on the Timeline: a span with its sums, or a slice that belongs to no instruction.
import type { Range } from "./axis";
import { h, name, visible } from "./dom";
import { count, percent, seconds } from "./format";
import { instrLink, list } from "./panel";
import type { Placed } from "./timeline_picture";
import { kWaiting, sliceKinds } from "./trace";
import { kindColors, type Page } from "./view";

export interface Sum { count: number; sum: number; least: number; most: number }
export interface SpanSums { byKind: Map<number, Sum>; byOp: Map<string, Sum>; busy: number; waiting: number }

/** Count, sum, mean, least and most by kind and by op of what lies in the span; what begins or ends outside counts as far as it is in. */
export function sumsOf(placed: Placed[], span: Range): SpanSums {
  if (last.placed === placed && last.from === span.from && last.to === span.to) return last.sums!;
  const sums = addUp(placed, span);
  last = { placed, from: span.from, to: span.to, sums };
  return sums;
}
// Zooming asks for the same again and again.
let last: { placed: Placed[] | null; from: number; to: number; sums: SpanSums | null } = { placed: null, from: 0, to: 0, sums: null };

function addUp(placed: Placed[], span: Range): SpanSums {
  const out: SpanSums = { byKind: new Map(), byOp: new Map(), busy: 0, waiting: 0 };
  const add = <K>(map: Map<K, Sum>, key: K, value: number) => {
    const sum = map.get(key) ?? { count: 0, sum: 0, least: Infinity, most: 0 };
    ++sum.count; sum.sum += value; sum.least = Math.min(sum.least, value); sum.most = Math.max(sum.most, value);
    map.set(key, sum);
  };
  for (const { lane, trace } of placed)
    for (let i = lane.after(span.from); i < lane.count && lane.start[i]! < span.to; ++i) {
      const inside = Math.min(lane.start[i]! + lane.duration[i]!, span.to) - Math.max(lane.start[i]!, span.from);
      add(out.byKind, lane.kind[i]!, inside);
      if (lane.kind[i] === kWaiting) { out.waiting += inside; continue; }
      out.busy += inside;
      add(out.byOp, trace.labels[lane.label[i]!] ?? "", inside);
    }
  return out;
}

function sumTable(rows: [Node | string, string, Sum][], what: string): HTMLElement {
  const table = h("table", { class: "sums" }, h("tr", {}, ...[what, "×", "sum", "mean", "least", "most"].map((each) => h("th", { scope: "col" }, each))));
  for (const [mark, label, { count: n, sum, least, most }] of rows)
    table.append(h("tr", {}, h("td", { title: visible(label, 200) }, mark, name(label, 60)), ...[count(n), seconds(sum), seconds(sum / n), seconds(least), seconds(most)].map((each) => h("td", {}, each))));
  return table;
}

export function spanPanel(placed: Placed[], span: Range, sort: string): HTMLElement {
  const { byKind, byOp, busy, waiting } = sumsOf(placed, span);
  const heaviest = <K>(map: Map<K, Sum>) => [...map].sort((x, y) => y[1].sum - x[1].sum);
  const swatch = (kind: number) => { const box = h("i", { class: "swatch" }); box.style.background = kindColors()[kind]!; return box; };
  const length = span.to - span.from;
  return h("div", {}, h("div", { class: "sort" }, sort), h("h2", {}, seconds(length)),
    h("div", {}, `from ${seconds(span.from)} to ${seconds(span.to)}; busy ${seconds(busy)}, ${percent(busy / Math.max(length * placed.length, 1e-300))} of the lanes${waiting > 0 ? `; waiting ${seconds(waiting)}` : ""}`),
    h("h3", {}, "by kind"), sumTable(heaviest(byKind).map(([kind, sum]) => [swatch(kind), sliceKinds[kind]!, sum]), "kind"),
    h("h3", {}, `by op${byOp.size > 20 ? `, the heaviest 20 of ${count(byOp.size)}` : ""}`), sumTable(heaviest(byOp).slice(0, 20).map(([label, sum]) => ["", label, sum]), "op"));
}

export function slicePanel(page: Page, { lane, trace, module }: Placed, slice: number): HTMLElement {
  const id = lane.instr[slice]!;
  return h("div", {}, h("div", { class: "sort" }, trace.predicted ? "predicted slice" : "measured slice"), h("h2", {}, name(trace.labels[lane.label[slice]!] ?? "")),
    list([["time", seconds(lane.duration[slice]!)], ["start", seconds(lane.start[slice]!)], ["kind", sliceKinds[lane.kind[slice]!]!], ["lane", visible(`${lane.device}, ${lane.stream}`)],
      lane.critical?.[slice] ? ["", "on the critical path"] : null, id >= 0 ? ["instruction", instrLink(page, module, id)] : null]));
}
