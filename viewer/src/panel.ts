// What is selected, whichever view selected it.
import { chip, clear, h, name, visible } from "./dom";
import { bytes, count, counted, scaled, seconds } from "./format";
import { Kind } from "./instructions";
import type { Collectives, Join, Model } from "./model";
import { RowKind } from "./rows";
import type { Page } from "./view";

const kMostText = 2000;
const kMostLinks = 20;

type Entry = [string, (Node | string)] | null;

export function list(entries: Entry[]): HTMLElement {
  const dl = h("dl");
  for (const entry of entries) if (entry) dl.append(h("dt", {}, entry[0]), h("dd", {}, entry[1]));
  return dl;
}

export function instrLink(page: Page, module: number, id: number, text?: string): HTMLElement {
  const model = page.models[module]!;
  return h("button", { class: "link", title: visible(`${model.words(id)} ${model.type(id)}`), onclick: () => page.select({ kind: "instr", module, id }) }, name(text ?? model.name(id), 80));
}

function links(page: Page, module: number, ids: ArrayLike<number>): HTMLElement {
  const box = h("div", { class: "links" });
  const show = (most: number) => {
    clear(box);
    for (let i = 0; i < Math.min(ids.length, most); ++i) box.append(instrLink(page, module, ids[i]!));
    if (ids.length > most) box.append(h("button", { class: "link", onclick: () => show(most + 200) }, `${count(ids.length - most)} more`));
    if (ids.length === 0) box.append(h("span", { class: "muted" }, "none"));
  };
  show(kMostLinks);
  return box;
}

/** "2·(4−1)/4 × 16.0 MiB = 24.0 MiB" */
function arithmetic(kind: string, members: number, payload: number, result: number, ring: boolean): string {
  const n = members;
  const shapes: { [kind: string]: string } = {
    "all-reduce": `2·(${n}−1)/${n}`, "reduce-scatter": `(${n}−1)/${n}`, "all-gather": `(${n}−1)`,
    "all-to-all": ring ? `(${n}−1)/2` : `(${n}−1)/${n}`, "ragged-all-to-all": ring ? `(${n}−1)/2` : `(${n}−1)/${n}`,
  };
  const factor = shapes[kind];
  return factor && n > 1 ? `${factor} × ${bytes(payload)} = ${bytes(result)}` : bytes(result);
}

export function groupsText(join: Join): string {
  const range = (group: ArrayLike<number>) => {
    const all = Array.from(group);
    const step = all.length > 1 ? all[1]! - all[0]! : 1;
    const even = all.length > 2 && all.every((each, i) => i === 0 || each - all[i - 1]! === step);
    if (even) return step === 1 ? `{${all[0]}–${all[all.length - 1]}}` : `{${all[0]}, ${all[1]}, … ${all[all.length - 1]}}`;
    return `{${all.slice(0, 8).join(", ")}${all.length > 8 ? ", …" : ""}}`;
  };
  if (join.pairs.length > 0) return join.pairs.slice(0, 8).map(([from, to]) => `${from}→${to}`).join(", ") + (join.pairs.length > 8 ? ", …" : "");
  if (join.groups.length === 0) return `groups of ${count(join.size)}`;
  const shown = join.groups.slice(0, 4).map(range).join(" ");
  return join.groups.length > 4 ? `${shown} … ${count(join.groups.length)} groups` : shown;
}

export class Panel {
  private collectives = new Map<Model, [Collectives, Join[]]>();
  constructor(private readonly root: HTMLElement, private readonly page: Page, private readonly close: () => void, private readonly extra: () => HTMLElement | null) {}

  async prepare(): Promise<void> {
    for (const model of this.page.models) this.collectives.set(model, await Promise.all([model.collectives(), model.joins()]));
  }

  draw(): void {
    clear(this.root);
    this.root.append(h("button", { class: "close", "aria-label": "close the panel", onclick: this.close }, "×"));
    const selection = this.page.selection;
    const extra = this.extra();
    if (extra) this.root.append(extra);
    else if (!selection) this.nothing();
    else if (selection.kind === "instr") this.instruction(selection.module, selection.id);
    else if (selection.kind === "row") this.row(selection.module, selection.row);
  }

  private nothing(): void {
    this.root.append(h("div", { class: "sort" }, "nothing is selected"), h("p", { class: "muted" }, "Click a row, a buffer, a moment or a cell: it is described here, in every view."));
  }

  private head(sort: string, title: string, type: string): void {
    this.root.append(h("div", { class: "sort" }, sort), h("h2", {}, name(title, 400)));
    if (type) this.root.append(h("div", { class: "type" }, name(type, 400)));
  }

  private section(title: string, ...content: Node[]): void {
    this.root.append(h("h3", {}, title), ...content);
  }

  private instruction(module: number, id: number): void {
    const model = this.page.models[module]!;
    this.head(this.page.models.length > 1 ? `instruction of ${module === 0 ? "A" : "B"}` : "instruction", model.name(id), `${model.words(id)} ${model.type(id)}`);
    this.price(model, id);
    this.from(model, module, id);
    const operands = [...new Set(model.operands(id))];
    this.section(`operands${operands.length > 1 ? ` (${operands.length})` : ""}`, links(this.page, module, operands));
    const users = model.users(id);
    this.section(`users${users.length > 1 ? ` (${users.length})` : ""}`, links(this.page, module, users));
    const text = h("pre", {}, "…");
    this.section("HLO", text);
    void model.lines().then(({ text: all, start }) => {
      const line = all.slice(start[id]!, start[id + 1]! - 1);
      const sharding = /, sharding=(\{(?:[^{}]|\{[^{}]*\})*\})/.exec(line.slice(0, 20000));
      if (sharding) text.previousSibling?.before(h("h3", {}, "sharding"), h("div", { class: "type" }, name(sharding[1]!, 400)));
      text.textContent = visible(line, kMostText);
      if (line.length > kMostText) text.after(h("button", { class: "link", onclick: () => { text.textContent = visible(line, 1e6); } }, `show all ${count(line.length)} characters`));
    });
    this.buttons(id);
  }

  private price(model: Model, id: number): void {
    const instr = model.instr;
    const times = instr.times[id]!;
    const fused = model.rows.ofInstr[id]! < 0;
    const each = (value: number, text: (value: number) => string) => (times > 1 ? `${text(value)} (${text(value / times)} × ${count(times)})` : text(value));
    const [collectives, joins] = this.collectives.get(model) ?? [null, null];
    const entries: Entry[] = [];
    if (fused) entries.push(["", "counted with the op it is part of"]);
    if (instr.flags[id]! & 1) entries.push(["", "nobody can say what this call costs"]);
    if (instr.flops[id]! > 0) entries.push(["flops", each(instr.flops[id]!, scaled)]);
    if (instr.transcendentals[id]! > 0) entries.push(["functions", each(instr.transcendentals[id]!, scaled)]);
    if (instr.bytes[id]! > 0) entries.push(["memory", each(instr.bytes[id]!, bytes)], ["", `${bytes(instr.read[id]!)} read, ${bytes(instr.written[id]!)} written`]);
    if (instr.flops[id]! > 0 && instr.bytes[id]! > 0) entries.push(["intensity", `${(instr.flops[id]! / instr.bytes[id]!).toFixed(2)} flops/byte`]);
    if (collectives && joins)
      for (let i = 0; i < collectives.count; ++i)
        if (collectives.start[i] === id || collectives.done[i] === id || collectives.hlo[i] === id) entries.push(...this.collectiveEntries(model, collectives, joins, i));
    if (model.hasTime && instr.asyncSeconds[id]! > 0) entries.push(["time *", `${each(instr.asyncSeconds[id]!, seconds)}, of it ${seconds(instr.seconds[id]!)} exposed`]);
    else if (model.hasTime && instr.seconds[id]! > 0) entries.push(["time *", each(instr.seconds[id]!, seconds)]);
    if (instr.measured[id]! > 0) entries.push(["measured", each(instr.measured[id]!, seconds)]);
    if (entries.length === 0) entries.push(["", "no work"]);
    this.section("price, per step", list(entries));
  }

  private collectiveEntries(model: Model, all: Collectives, joins: Join[], i: number): Entry[] {
    const join = joins[all.joins[i]!]!;
    const kind = model.string(all.kind[i]!);
    const times = all.times[i]!;
    return [
      ["payload", `${bytes(all.payload[i]!)}${times === 1 ? "" : ` × ${count(times)}`}`],
      ["axis", name(model.axisOf.get(all.start[i]!) ?? "")],
      ["groups", name(groupsText(join))],
      ["ring", arithmetic(kind, join.size, all.payload[i]!, all.ring[i]!, true)],
      ["direct", arithmetic(kind, join.size, all.payload[i]!, all.direct[i]!, false)],
      ["links", all.nodes[i]! > 1 ? `across ${count(all.nodes[i]!)} nodes` : "inside a node"],
      ["overlaps", all.overlap[i]! < 0 ? "nothing (not async)" : all.overlap[i] === 0 ? "nothing" : `${counted(all.overlap[i]!, "op")}, ${scaled(all.overlapFlops[i]!)} flop`],
    ];
  }

  private from(model: Model, module: number, id: number): void {
    const source = model.source(id);
    const entries: Entry[] = [];
    if (source) {
      let ops = 0, flops = 0;
      for (let other = 0; other < model.instr.count; ++other)
        if (model.instr.source[other] === model.instr.source[id]) { ++ops; flops += model.instr.flops[other]!; }
      const label = `${source.slice(source.lastIndexOf("/") + 1)} (${counted(ops, "op")}${flops > 0 ? `, ${scaled(flops)}flop` : ""})`;
      entries.push(["source", h("button", { class: "link", title: visible(source, 1000), onclick: () => this.page.go("program", [["q", `line:${source.slice(source.lastIndexOf("/") + 1)}`]]) }, name(label))]);
    }
    const scope = model.scope(id);
    if (scope) entries.push(["scope", name(scope, 600)]);
    const caller = model.callerOf(model.instr.computation[id]!);
    entries.push(["computation", caller < 0 ? name(model.computation(id)) : h("span", {}, name(model.computation(id)), ", of ", instrLink(this.page, module, caller))]);
    if (model.instr.times[id] !== 1) entries.push(["runs", `${count(model.instr.times[id]!)} times`]);
    const steps = model.instr.step[id]!;
    if (steps >= 0) entries.push(["step", count(steps + 1)]);
    this.section("from", list(entries));
    const called = model.calls(id);
    if (called.length > 0)
      this.section("runs", h("div", { class: "links" }, ...Array.from(called).slice(0, kMostLinks).map((computation) => {
        const [first, end] = model.bodyOf(computation);
        return h("button", { class: "link", onclick: () => this.page.select({ kind: "instr", module, id: Math.max(end - 1, first) }) }, name(`${model.computationNames[computation]} (${counted(end - first, "instruction")})`));
      })));
  }

  private row(module: number, row: number): void {
    const model = this.page.models[module]!;
    const rows = model.rows;
    const kind = rows.kind[row]!;
    const title = kind === RowKind.Repeat ? `× ${rows.repeats[row]} alike` : model.string(rows.words[row]!);
    this.head(kind === RowKind.Repeat ? "a repeated layer, folded" : "several ops", title, "");
    const sum = (values: Float64Array) => {
      let total = 0;
      for (let at = rows.memberStart(row); at < rows.memberEnd[rows.end[row]! - 1]!; ++at) total += values[rows.members[at]!]!;
      return total;
    };
    const ids = rows.members.subarray(rows.memberStart(row), rows.memberEnd[rows.end[row]! - 1]!);
    this.section("price, per step", list([
      ["stands for", counted(ids.length, "instruction")],
      ["flops", scaled(sum(model.instr.flops))], ["memory", bytes(sum(model.instr.bytes))], ["wire", bytes(sum(model.instr.wire))],
      model.hasTime ? ["time *", seconds(sum(model.instr.seconds))] : null, model.hasMeasured ? ["measured", seconds(sum(model.instr.measured))] : null]));
    const byKind = new Map<number, number>();
    for (const id of ids) if (model.instr.kind[id] !== Kind.None) byKind.set(model.instr.kind[id]!, (byKind.get(model.instr.kind[id]!) ?? 0) + 1);
    this.section("first of them", links(this.page, module, ids));
  }

  private buttons(id: number): void {
    const module = this.page.current;
    const model = this.page.models[module]!;
    const to = (label: string, act: () => void) => chip(label, false, act);
    const step = model.instr.step[id] ?? -1;
    this.root.append(h("div", { class: "buttons" },
      to("Program", () => this.page.go("program")),
      step >= 0 ? to("Memory", () => this.page.go("memory", [["x", String(step)]])) : null,
      to("Timeline", () => this.page.go("timeline")),
      to("Graph", () => this.page.go("graph")),
      to("copy link", () => { void navigator.clipboard?.writeText(location.href); this.page.say("the link is copied"); })));
  }
}
