// The ledger: a sortable table of collectives. Identical collectives share a row, which can be unfolded.
import { type Cell, formatExact } from "./cells";
import { displayText } from "./dom";
import { formatBytes, formatCount, formatSi, pluralize } from "./format";
import { Kind } from "./instructions";
import type { PairRules } from "./matrix";
import type { Collectives, Model, Participants } from "./model";
import { type Column, type TableSource, VirtualTable } from "./table";
import type { Page } from "./view";

/** A line of the ledger: a group or, if `member` ≥ 0, one collective of an unfolded group. */
interface Line { group: number; member: number }
/** Identical collectives, with their totals per step. `members` index the module's collectives. `sync` counts those
 * that are not async, `unoverlapped` the async ones without work between start and done. */
export interface CollectiveGroup { members: number[]; kind: string; axis: string; payload: number; ring: number; direct: number; interNode: number; nodes: number; times: number; sync: number; unoverlapped: number }
/** One module's collectives and their groups. */
export interface Side { model: Model; collectives: Collectives; participantTable: Participants[]; rules: PairRules; groups: CollectiveGroup[] }

/** Sums the collectives that the page's data assigns to one group. */
export function groupIdentical(model: Model, collectives: Collectives): CollectiveGroup[] {
  const out: CollectiveGroup[] = [];
  for (let i = 0; i < collectives.count; ++i) {
    const group = collectives.group[i]!;
    const summary = (out[group] ??= { members: [], kind: model.string(collectives.kind[i]!), axis: model.axisOf.get(collectives.start[i]!) ?? "", payload: collectives.payload[i]!, ring: 0, direct: 0, interNode: 0, nodes: 1, times: 0, sync: 0, unoverlapped: 0 });
    summary.members.push(i);
    summary.ring += collectives.times[i]! * collectives.ring[i]!;
    summary.direct += collectives.times[i]! * collectives.direct[i]!;
    summary.interNode += collectives.times[i]! * collectives.interNodeDirect[i]!;
    summary.times += collectives.times[i]!;
    summary.nodes = Math.max(summary.nodes, collectives.nodes[i]!);
    if (collectives.overlap[i]! < 0) ++summary.sync;
    else if (collectives.overlap[i] === 0) ++summary.unoverlapped;
  }
  return out;
}

export class Ledger implements TableSource {
  readonly table = new VirtualTable(this, "collectives");
  lines: Line[] = [];
  private readonly open = new Set<number>();
  private side!: Side;
  private maxima = { ring: 1, direct: 1 };

  constructor(private readonly page: Page, private readonly select: (group: number, member: number) => void) {}

  private get sort(): string { return this.page.settings.get("sort") ?? "-direct"; }

  show(side: Side, axis: string, selected: number): void {
    if (this.side !== side) this.open.clear();
    this.side = side;
    this.maxima = { ring: Math.max(...side.groups.map((summary) => summary.ring), 1), direct: Math.max(...side.groups.map((summary) => summary.direct), 1) };
    const query = (this.page.settings.get("q") ?? "").toLowerCase().split(/\s+/).filter((word) => word !== "").map((word) => word.replace(/^(axis|opcode|name):/, ""));
    const field = this.sort.replace(/^-/, "") as keyof CollectiveGroup;
    const order = side.groups.map((_, group) => group).filter((group) => {
      const summary = side.groups[group]!;
      return query.every((word) => `${summary.kind} ${summary.axis}`.toLowerCase().includes(word)) && (axis === "" || side.participantTable[side.collectives.participants[summary.members[0]!]!]!.axis === axis);
    });
    order.sort((x, y) => {
      const [a, b] = [side.groups[x]![field], side.groups[y]![field]];
      const compared = typeof a === "string" ? a.localeCompare(b as string) : (a as number) - (b as number);
      return (this.sort.startsWith("-") ? -compared : compared) || x - y;
    });
    this.lines = [];
    for (const group of order) {
      this.lines.push({ group, member: -1 });
      if (this.open.has(group)) for (const member of side.groups[group]!.members) this.lines.push({ group, member });
    }
    this.table.reset();
    this.table.setSelected(this.lines.findIndex((line) => line.group === selected && line.member < 0), true);
  }

  columns(): Column[] {
    const column = (key: string, title: string, width: number, cls: string): Column => ({
      key, width, class: cls, title: title + (this.sort === `-${key}` ? " ▾" : this.sort === key ? " ▴" : ""),
      sort: () => this.page.set("sort", this.sort === `-${key}` ? key : `-${key}`) });
    const wide = this.table.width > 900;
    const columns = [column("kind", "collective", wide ? 200 : 0, "label"), column("axis", "axis", wide ? 150 : 0, "mono"), column("payload", "payload", wide ? 84 : 72, "num"), column("times", wide ? "× per step" : "×", wide ? 84 : 52, "num soft"), column("ring", "ring / step", wide ? 110 : 88, "num"), column("direct", "direct / step", wide ? 110 : 100, "num"), column("interNode", "inter-node †", wide ? 96 : 92, "num")];
    return wide ? [...columns, { key: "overlap", title: "overlaps", width: 0, class: "soft" }] : columns;
  }
  count(): number { return this.lines.length; }
  level(line: number): number { return this.lines[line]!.member < 0 ? 0 : 1; }
  private hasSeveral(group: number): boolean { return this.side.groups[group]!.members.length > 1; }
  expanded(line: number): boolean | undefined {
    const { group, member } = this.lines[line]!;
    return member < 0 && this.hasSeveral(group) ? this.open.has(group) : undefined;
  }

  private metrics(line: number): { payload: number; times: number; ring: number; direct: number; interNode: number } {
    const { group, member } = this.lines[line]!;
    const { collectives, groups } = this.side;
    if (member < 0) return groups[group]!;
    const times = collectives.times[member]!;
    return { payload: collectives.payload[member]!, times, ring: collectives.ring[member]! * times, direct: collectives.direct[member]! * times, interNode: collectives.interNodeDirect[member]! * times };
  }
  private overlap(line: number): string {
    const { group, member } = this.lines[line]!;
    const { collectives, groups } = this.side;
    if (member >= 0) return collectives.overlap[member]! < 0 ? "nothing (sync)" : collectives.overlap[member] === 0 ? "nothing" : `${pluralize(collectives.overlap[member]!, "op")}, ${formatSi(collectives.overlapFlops[member]!)}flop`;
    const { members, sync, unoverlapped } = groups[group]!;
    if (sync === members.length) return "nothing (sync)";
    return unoverlapped === members.length ? "nothing (async)" : `${formatCount(members.length - sync - unoverlapped)} of ${formatCount(members.length)} overlap`;
  }

  fill(line: number, _row: HTMLElement, cells: Cell[]): void {
    const { group, member } = this.lines[line]!;
    const summary = this.side.groups[group]!;
    const values = this.metrics(line);
    const isMember = member >= 0;
    const fold = !isMember && this.hasSeveral(group) ? (this.open.has(group) ? "▾" : "▸") : "";
    cells[0]!.setLabel({ indent: isMember ? 22 : 6, mark: "", fold, foldOnHover: false, kind: Kind.Collective, label: isMember ? this.side.model.name(this.side.collectives.start[member]!) : summary.kind, detail: !isMember && this.hasSeveral(group) ? `× ${formatCount(summary.members.length)}` : "" });
    cells[1]!.setText(displayText(summary.axis));
    cells[2]!.setText(formatBytes(values.payload));
    cells[3]!.setText(`× ${formatCount(values.times)}`);
    cells[4]!.setNumber(formatBytes(values.ring), values.ring / this.maxima.ring, Kind.Collective);
    cells[5]!.setNumber(formatBytes(values.direct), values.direct / this.maxima.direct, Kind.Collective);
    cells[6]!.setText(values.interNode > 0 ? formatBytes(values.interNode) : "–");
    cells[7]?.setText(this.overlap(line));
  }
  tooltip(line: number, key: string): string {
    const values = this.metrics(line);
    return key in values ? formatExact(values[key as "ring"]) : key === "axis" ? displayText(this.side.groups[this.lines[line]!.group]!.axis, 400) : "";
  }

  click(line: number, event: MouseEvent): void {
    const { group, member } = this.lines[line]!;
    if ((event.target as HTMLElement).classList.contains("fold")) this.toggle(group);
    else this.select(group, member);
  }
  toggle(group: number, expand?: boolean): void {
    if (expand ?? !this.open.has(group)) this.open.add(group); else this.open.delete(group);
    this.page.redraw();
  }
  isOpen(group: number): boolean { return this.open.has(group); }
  get openGroups(): string { return [...this.open].join("."); }
}
