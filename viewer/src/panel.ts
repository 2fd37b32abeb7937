// The panel: describes the selection, independent of the view that made it.
import { chip, clear, displayText, h, nameElement } from "./dom";
import { formatBytes, formatCount, formatSeconds, formatSi, pluralize } from "./format";
import { Kind } from "./instructions";
import type { Collectives, Model, Participants } from "./model";
import { RowKind } from "./rows";
import type { Page } from "./view";

const kMaxText = 2000;
const kMaxLinks = 20;

type Entry = [string, (Node | string)] | null;

export function definitionList(entries: Entry[]): HTMLElement {
  const dl = h("dl");
  for (const entry of entries) if (entry) dl.append(h("dt", {}, entry[0]), h("dd", {}, entry[1]));
  return dl;
}

export function instrLink(page: Page, module: number, id: number, text?: string): HTMLElement {
  const model = page.models[module]!;
  return h("button", { class: "link", title: displayText(`${model.label(id)} ${model.type(id)}`), onclick: () => page.select({ kind: "instr", module, id }) }, nameElement(text ?? model.name(id), 80));
}

function instrLinks(page: Page, module: number, ids: ArrayLike<number>): HTMLElement {
  const box = h("div", { class: "links" });
  const show = (maxCount: number) => {
    clear(box);
    for (let i = 0; i < Math.min(ids.length, maxCount); ++i) box.append(instrLink(page, module, ids[i]!));
    if (ids.length > maxCount) box.append(h("button", { class: "link", onclick: () => show(maxCount + 200) }, `${formatCount(ids.length - maxCount)} more`));
    if (ids.length === 0) box.append(h("span", { class: "muted" }, "none"));
  };
  show(kMaxLinks);
  return box;
}

/** The formula for wire bytes: "2·(4−1)/4 × 16.0 MiB = 24.0 MiB" */
function wireFormula(kind: string, members: number, payload: number, result: number, ring: boolean): string {
  const n = members;
  const factors: { [kind: string]: string } = {
    "all-reduce": `2·(${n}−1)/${n}`, "reduce-scatter": `(${n}−1)/${n}`, "all-gather": `(${n}−1)`,
    "all-to-all": ring ? `(${n}−1)/2` : `(${n}−1)/${n}`, "ragged-all-to-all": ring ? `(${n}−1)/2` : `(${n}−1)/${n}`,
  };
  const factor = factors[kind];
  return factor && n > 1 ? `${factor} × ${formatBytes(payload)} = ${formatBytes(result)}` : formatBytes(result);
}

/** Device groups or pairs in short form: "{0–3} {4–7}", "0→1, 1→2". */
export function formatGroups(participants: Participants): string {
  const range = (group: ArrayLike<number>) => {
    const devices = Array.from(group);
    const step = devices.length > 1 ? devices[1]! - devices[0]! : 1;
    const isRegular = devices.length > 2 && devices.every((each, i) => i === 0 || each - devices[i - 1]! === step);
    if (isRegular) return step === 1 ? `{${devices[0]}–${devices[devices.length - 1]}}` : `{${devices[0]}, ${devices[1]}, … ${devices[devices.length - 1]}}`;
    return `{${devices.slice(0, 8).join(", ")}${devices.length > 8 ? ", …" : ""}}`;
  };
  if (participants.pairs.length > 0) return participants.pairs.slice(0, 8).map(([from, to]) => `${from}→${to}`).join(", ") + (participants.pairs.length > 8 ? ", …" : "");
  if (participants.groups.length === 0) return `groups of ${formatCount(participants.size)}`;
  const text = participants.groups.slice(0, 4).map(range).join(" ");
  return participants.groups.length > 4 ? `${text} … ${formatCount(participants.groups.length)} groups` : text;
}

export class Panel {
  private collectives = new Map<Model, [Collectives, Participants[]]>();
  constructor(private readonly root: HTMLElement, private readonly page: Page, private readonly close: () => void, private readonly viewPanel: () => HTMLElement | null) {}

  async prepare(): Promise<void> {
    for (const model of this.page.models) this.collectives.set(model, await Promise.all([model.collectives(), model.participantTable()]));
  }

  draw(): void {
    clear(this.root);
    this.root.append(h("button", { class: "close", "aria-label": "close panel", onclick: this.close }, "×"));
    const selection = this.page.selection;
    const viewPanel = this.viewPanel();
    if (viewPanel) this.root.append(viewPanel);
    else if (!selection) this.showEmpty();
    else if (selection.kind === "instr") this.showInstruction(selection.module, selection.id);
    else if (selection.kind === "row") this.showRow(selection.module, selection.row);
  }

  private showEmpty(): void {
    this.root.append(h("div", { class: "caption" }, "no selection"), h("p", { class: "muted" }, "Click a row, a buffer, a step or a cell to see its details here. The selection is shared by all views."));
  }

  private addHeading(caption: string, title: string, type: string): void {
    this.root.append(h("div", { class: "caption" }, caption), h("h2", {}, nameElement(title, 400)));
    if (type) this.root.append(h("div", { class: "type" }, nameElement(type, 400)));
  }

  private addSection(title: string, ...content: Node[]): void {
    this.root.append(h("h3", {}, title), ...content);
  }

  private showInstruction(module: number, id: number): void {
    const model = this.page.models[module]!;
    this.addHeading(this.page.models.length > 1 ? `instruction of ${module === 0 ? "A" : "B"}` : "instruction", model.name(id), `${model.label(id)} ${model.type(id)}`);
    this.addCost(model, id);
    this.addOrigin(model, module, id);
    const operands = [...new Set(model.operands(id))];
    this.addSection(`operands${operands.length > 1 ? ` (${operands.length})` : ""}`, instrLinks(this.page, module, operands));
    const users = model.users(id);
    this.addSection(`users${users.length > 1 ? ` (${users.length})` : ""}`, instrLinks(this.page, module, users));
    const text = h("pre", {}, "…");
    this.addSection("HLO", text);
    void model.lines().then(({ text: all, start }) => {
      const line = all.slice(start[id]!, start[id + 1]! - 1);
      const sharding = /, sharding=(\{(?:[^{}]|\{[^{}]*\})*\})/.exec(line.slice(0, 20000));
      if (sharding) text.previousSibling?.before(h("h3", {}, "sharding"), h("div", { class: "type" }, nameElement(sharding[1]!, 400)));
      text.textContent = displayText(line, kMaxText);
      if (line.length > kMaxText) text.after(h("button", { class: "link", onclick: () => { text.textContent = displayText(line, 1e6); } }, `show all ${formatCount(line.length)} characters`));
    });
    this.addButtons(id);
  }

  private addCost(model: Model, id: number): void {
    const instr = model.instr;
    const times = instr.times[id]!;
    const isFused = model.rows.rowOfInstr[id]! < 0;
    const each = (value: number, text: (value: number) => string) => (times > 1 ? `${text(value)} (${text(value / times)} × ${formatCount(times)})` : text(value));
    const [collectives, participantTable] = this.collectives.get(model) ?? [null, null];
    const entries: Entry[] = [];
    if (isFused) entries.push(["", "included in the cost of the op that contains it"]);
    if (instr.isUnknown(id)) entries.push(["", "the cost of this custom call is unknown"]);
    if (instr.flops[id]! > 0) entries.push(["flops", each(instr.flops[id]!, formatSi)]);
    if (instr.transcendentals[id]! > 0) entries.push(["transcendentals", each(instr.transcendentals[id]!, formatSi)]);
    if (instr.bytes[id]! > 0) entries.push(["memory", each(instr.bytes[id]!, formatBytes)], ["", `${formatBytes(instr.read[id]!)} read, ${formatBytes(instr.written[id]!)} written`]);
    if (instr.flops[id]! > 0 && instr.bytes[id]! > 0) entries.push(["intensity", `${(instr.flops[id]! / instr.bytes[id]!).toFixed(2)} flops/byte`]);
    if (collectives && participantTable)
      for (let i = 0; i < collectives.count; ++i)
        if (collectives.start[i] === id || collectives.done[i] === id || collectives.hlo[i] === id) entries.push(...this.collectiveEntries(model, collectives, participantTable, i));
    if (model.hasTime && instr.asyncSeconds[id]! > 0) entries.push(["time *", `${each(instr.asyncSeconds[id]!, formatSeconds)}, ${formatSeconds(instr.seconds[id]!)} of it exposed`]);
    else if (model.hasTime && instr.seconds[id]! > 0) entries.push(["time *", each(instr.seconds[id]!, formatSeconds)]);
    if (instr.measured[id]! > 0) entries.push(["measured", each(instr.measured[id]!, formatSeconds)]);
    if (entries.length === 0) entries.push(["", "no work"]);
    this.addSection("cost per step", definitionList(entries));
  }

  private collectiveEntries(model: Model, collectives: Collectives, participantTable: Participants[], i: number): Entry[] {
    const participants = participantTable[collectives.participants[i]!]!;
    const kind = model.string(collectives.kind[i]!);
    const times = collectives.times[i]!;
    return [
      ["payload", `${formatBytes(collectives.payload[i]!)}${times === 1 ? "" : ` × ${formatCount(times)}`}`],
      ["axis", nameElement(model.axisOf.get(collectives.start[i]!) ?? "")],
      ["groups", nameElement(formatGroups(participants))],
      ["ring", wireFormula(kind, participants.size, collectives.payload[i]!, collectives.ring[i]!, true)],
      ["direct", wireFormula(kind, participants.size, collectives.payload[i]!, collectives.direct[i]!, false)],
      ["links", collectives.nodes[i]! > 1 ? `inter-node, ${formatCount(collectives.nodes[i]!)} nodes` : "intra-node"],
      ["overlaps", collectives.overlap[i]! < 0 ? "nothing (sync)" : collectives.overlap[i] === 0 ? "nothing" : `${pluralize(collectives.overlap[i]!, "op")}, ${formatSi(collectives.overlapFlops[i]!)} flop`],
    ];
  }

  private addOrigin(model: Model, module: number, id: number): void {
    const source = model.source(id);
    const entries: Entry[] = [];
    if (source) {
      let ops = 0, flops = 0;
      for (let other = 0; other < model.instr.count; ++other)
        if (model.instr.source[other] === model.instr.source[id]) { ++ops; flops += model.instr.flops[other]!; }
      const label = `${source.slice(source.lastIndexOf("/") + 1)} (${pluralize(ops, "op")}${flops > 0 ? `, ${formatSi(flops)}flop` : ""})`;
      entries.push(["source", h("button", { class: "link", title: displayText(source, 1000), onclick: () => this.page.go("program", [["q", `line:${source.slice(source.lastIndexOf("/") + 1).split(" ")[0]!}`]]) }, nameElement(label))]);
    }
    const scope = model.scope(id);
    if (scope) entries.push(["scope", nameElement(scope, 600)]);
    const caller = model.callerOf(model.instr.computation[id]!);
    entries.push(["computation", caller < 0 ? nameElement(model.computation(id)) : h("span", {}, nameElement(model.computation(id)), ", called by ", instrLink(this.page, module, caller))]);
    if (model.instr.times[id] !== 1) entries.push(["executions", formatCount(model.instr.times[id]!)]);
    const step = model.instr.step[id]!;
    if (step >= 0) entries.push(["schedule step", formatCount(step + 1)]);
    this.addSection("origin", definitionList(entries));
    const stack = model.stack(id);
    if (stack.length > 1) this.addSection("Python stack", h("div", { class: "links stack" }, ...stack.map((frame) => h("span", { title: displayText(frame, 1000) }, nameElement(frame.slice(frame.slice(0, frame.lastIndexOf(":")).lastIndexOf("/") + 1))))));
    const called = model.calls(id);
    if (called.length > 0)
      this.addSection("calls", h("div", { class: "links" }, ...Array.from(called).slice(0, kMaxLinks).map((computation) => {
        const [first, end] = model.bodyOf(computation);
        return h("button", { class: "link", onclick: () => this.page.select({ kind: "instr", module, id: Math.max(end - 1, first) }) }, nameElement(`${model.computationNames[computation]} (${pluralize(end - first, "instruction")})`));
      })));
  }

  private showRow(module: number, row: number): void {
    const model = this.page.models[module]!;
    const rows = model.rows;
    const kind = rows.kind[row]!;
    const title = kind === RowKind.Repeat ? `repeated × ${rows.repeats[row]}` : model.string(rows.label[row]!);
    this.addHeading(kind === RowKind.Repeat ? "repeated layer, folded" : "group of ops", title, "");
    const sum = (values: Float64Array) => {
      let total = 0;
      for (let member = rows.memberStart(row); member < rows.memberEnd[rows.end[row]! - 1]!; ++member) total += values[rows.members[member]!]!;
      return total;
    };
    const ids = rows.members.subarray(rows.memberStart(row), rows.memberEnd[rows.end[row]! - 1]!);
    this.addSection("cost per step", definitionList([
      ["contains", pluralize(ids.length, "instruction")],
      ["flops", formatSi(sum(model.instr.flops))], ["memory", formatBytes(sum(model.instr.bytes))], ["wire", formatBytes(sum(model.instr.wire))],
      model.hasTime ? ["time *", formatSeconds(sum(model.instr.seconds))] : null, model.hasMeasured ? ["measured", formatSeconds(sum(model.instr.measured))] : null]));
    const byKind = new Map<number, number>();
    for (const id of ids) if (model.instr.kind[id] !== Kind.None) byKind.set(model.instr.kind[id]!, (byKind.get(model.instr.kind[id]!) ?? 0) + 1);
    this.addSection("instructions", instrLinks(this.page, module, ids));
  }

  private addButtons(id: number): void {
    const module = this.page.current;
    const model = this.page.models[module]!;
    const button = (label: string, action: () => void) => chip(label, false, action);
    const step = model.instr.step[id] ?? -1;
    this.root.append(h("div", { class: "buttons" },
      button("Program", () => this.page.go("program")),
      step >= 0 ? button("Memory", () => this.page.go("memory", [["x", String(step)]])) : null,
      button("Timeline", () => this.page.go("timeline")),
      button("Graph", () => this.page.go("graph")),
      button("copy link", () => { void navigator.clipboard?.writeText(location.href); this.page.showMessage("link copied"); })));
  }
}
