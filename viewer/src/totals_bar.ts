// The bar of totals above every view. The columns of all views sum to these values.
import { clear, displayText, h, nameElement } from "./dom";
import { formatBytes, formatCount, formatSeconds, formatSi, formatSigned } from "./format";
import type { Model } from "./model";

export function drawTotalsBar(bar: HTMLElement, models: Model[]): void {
  clear(bar);
  if (models.length > 1) drawTwoModules(bar, models[0]!, models[1]!);
  else drawOneModule(bar, models[0]!);
}

function drawOneModule(bar: HTMLElement, model: Model): void {
  const addTotal = (key: string, value: Node | string, isOptional = false) => bar.append(h("span", { class: isOptional ? "hide-narrow" : "" }, h("span", { class: "k" }, key), value));
  const { about } = model;
  bar.append(h("span", { class: "name", title: about.file }, nameElement(about.name || about.file)));
  addTotal("devices", formatCount(about.devices));
  if (about.mesh.length > 0) addTotal("mesh", nameElement(about.mesh.map((axis) => `${axis.name}=${axis.size}`).join(" · ")), true);
  addTotal("flops", formatSi(about.totals.flops));
  addTotal("read + written", formatBytes(about.totals.read + about.totals.written));
  addTotal("wire", formatBytes(about.totals.wire));
  for (const machine of about.machines ?? []) {
    addTotal(displayText(`time on ${machine.name} *`), formatSeconds(machine.step_seconds));
    // The times of the ops in the views add up to this.
    if (formatSeconds(machine.device_seconds) !== formatSeconds(machine.step_seconds)) addTotal("of it busy", formatSeconds(machine.device_seconds));
  }
  const peak = h("span", {}, h("span", { class: "k" }, "peak"), formatBytes(about.memory.peak));
  if (model.capacity > 0) {
    const fill = h("i");
    fill.style.width = `${Math.min((100 * about.needed) / model.capacity, 100)}%`;
    peak.append(h("span", { class: `meter${about.needed > model.capacity ? " over" : ""}` }, fill), h("span", { class: "muted" }, `of ${formatBytes(model.capacity)}`));
  }
  bar.append(peak);
  addTotal("instructions", formatCount(model.instr.count), true);
}

function drawTwoModules(bar: HTMLElement, first: Model, second: Model): void {
  const [a, b] = [first.about, second.about];
  bar.append(h("span", { class: "name two", title: `${a.file} → ${b.file}` }, nameElement(`${a.name || a.file} → ${b.name || b.file}`)));
  const addChange = (key: string, from: number, to: number, text: (value: number) => string, isOptional = false) => {
    const changeText = from === to ? "=" : from === 0 ? "new" : `${formatSigned(to - from, Math.abs((100 * (to - from)) / from).toFixed(1))} %`;
    bar.append(h("span", { class: isOptional ? "hide-narrow" : "" }, h("span", { class: "k" }, key), from === to ? `${text(from)} ` : `${text(from)} → ${text(to)} `, h("span", { class: "muted" }, changeText)));
  };
  addChange("flops", a.totals.flops, b.totals.flops, formatSi);
  addChange("memory", a.totals.read + a.totals.written, b.totals.read + b.totals.written, formatBytes);
  addChange("wire", a.totals.wire, b.totals.wire, formatBytes);
  addChange("peak", a.memory.peak, b.memory.peak, formatBytes);
  const [onA, onB] = [a.machines?.[0], b.machines?.[0]];
  if (onA && onB) addChange(`time on ${onA.name} *`, onA.step_seconds, onB.step_seconds, formatSeconds);
  addChange("instructions", first.instr.count, second.instr.count, formatCount, true);
}
