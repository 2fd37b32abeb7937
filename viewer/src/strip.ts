// The strip of totals, which is always there. Every column of the page sums to it.
import { clear, h, name } from "./dom";
import { bytes, count, scaled, seconds } from "./format";
import type { Model } from "./model";

export function drawStrip(strip: HTMLElement, models: Model[]): void {
  clear(strip);
  if (models.length > 1) drawTwo(strip, models[0]!, models[1]!);
  else drawOne(strip, models[0]!);
}

function drawOne(strip: HTMLElement, model: Model): void {
  const pair = (key: string, value: Node | string, narrow = false) => strip.append(h("span", { class: narrow ? "hide-narrow" : "" }, h("span", { class: "k" }, key), value));
  const { about } = model;
  strip.append(h("span", { class: "name", title: about.file }, name(about.name || about.file)));
  pair("devices", count(about.devices));
  if (about.mesh.length > 0) pair("mesh", name(about.mesh.map((axis) => `${axis.name}=${axis.size}`).join(" · ")), true);
  pair("flops", scaled(about.totals.flops));
  pair("read + written", bytes(about.totals.read + about.totals.written));
  pair("wire", bytes(about.totals.wire));
  for (const machine of about.machines ?? []) pair(`time on ${machine.name} *`, seconds(machine.step_seconds));
  const peak = h("span", {}, h("span", { class: "k" }, "peak"), bytes(about.memory.peak));
  if (model.capacity > 0) {
    const fill = h("i");
    fill.style.width = `${Math.min((100 * about.needed) / model.capacity, 100)}%`;
    peak.append(h("span", { class: `meter${about.needed > model.capacity ? " over" : ""}` }, fill), h("span", { class: "muted" }, `of ${bytes(model.capacity)}`));
  }
  strip.append(peak);
  pair("instructions", count(model.instr.count), true);
}

function drawTwo(strip: HTMLElement, first: Model, second: Model): void {
  const [a, b] = [first.about, second.about];
  strip.append(h("span", { class: "name two", title: `${a.file} → ${b.file}` }, name(`${a.name || a.file} → ${b.name || b.file}`)));
  const change = (key: string, from: number, to: number, text: (value: number) => string, narrow = false) => {
    const part = from === to ? "=" : from === 0 ? "new" : `${to > from ? "+" : "−"}${Math.abs((100 * (to - from)) / from).toFixed(1)} %`;
    strip.append(h("span", { class: narrow ? "hide-narrow" : "" }, h("span", { class: "k" }, key), from === to ? `${text(from)} ` : `${text(from)} → ${text(to)} `, h("span", { class: "muted" }, part)));
  };
  change("flops", a.totals.flops, b.totals.flops, scaled);
  change("memory", a.totals.read + a.totals.written, b.totals.read + b.totals.written, bytes);
  change("wire", a.totals.wire, b.totals.wire, bytes);
  change("peak", a.memory.peak, b.memory.peak, bytes);
  const [onA, onB] = [a.machines?.[0], b.machines?.[0]];
  if (onA && onB) change(`time on ${onA.name} *`, onA.step_seconds, onB.step_seconds, seconds);
  change("instructions", first.instr.count, second.instr.count, count, true);
}
