// Draws the mesh: devices in a grid of its two innermost axes, one grid for each position on the other axes. The groups
// of the selected collective have colours and are connected by lines.
import { displayText, h, svg } from "./dom";
import { formatCount, pluralize } from "./format";
import type { Side } from "./ledger";
import type { About, Axis, Participants } from "./model";
import { formatGroups } from "./panel";
import { isDark, stackColors } from "./view";

const kMaxDevices = 256;
const kCellHeight = 26, kCellGap = 5, kHeader = 18, kBlockGap = 20;
const kMaxCellWidth = 46, kMinCellWidth = 20;

/** Positions of devices in cells. `blocks`: titles of the grids and their top left corners. */
interface Grid { cellWidth: number; width: number; height: number; x: number[]; y: number[]; columns: Axis; rows: Axis; blocks: { title: string; x: number; y: number }[] }

/** Draws the mesh, at most `width` pixels wide. `group`: the collective group to highlight; -1: none. */
export function meshPicture(side: Side, group: number, width: number): Node[] {
  const { about } = side.model;
  const summary = group >= 0 ? side.groups[group]! : null;
  const participants = summary ? side.participantTable[side.collectives.participants[summary.members[0]!]!]! : null;
  const axes = about.mesh.length > 0 ? `mesh ${about.mesh.map((axis) => `${axis.name}=${axis.size}`).join(" × ")}` : "no mesh";
  const groups = participants && summary ? `; groups of ${summary.kind} over ${summary.axis}: ${formatGroups(participants)}` : "; select a collective below to see its groups";
  const description = `${pluralize(about.devices, "device")}, ${axes}${groups}`;
  const text = h("p", { class: "muted" }, displayText(description, 400));
  if (about.devices > kMaxDevices) return [text];
  const grid = layoutGrid(about, Math.max(width, 240));
  const picture = svg("svg", { class: "mesh", width: grid.width, height: grid.height, role: "img", "aria-label": displayText(description, 300) });
  drawHeaders(picture, grid);
  if (participants) drawConnections(picture, grid, participants);
  drawDevices(picture, grid, about, participants);
  drawNodeBorders(picture, grid, about);
  const nodes = about.devices > about.devices_per_node ? [h("p", { class: "muted" }, `thick lines: borders between nodes of ${formatCount(about.devices_per_node)} devices`)] : [];
  return [text, picture, ...nodes];
}

/** The axes of the grid: those of the mesh or, without one, devices in their nodes. The innermost axis is last. */
function axesOf(about: About): Axis[] {
  const axes = [...about.mesh].filter((axis) => axis.size > 1).sort((a, b) => b.stride - a.stride);
  const isWhole = axes.reduce((product, axis) => product * axis.size, 1) === about.devices;
  if (isWhole && (axes.length > 1 || about.devices <= 16)) return axes.length > 1 ? axes : [{ name: "", size: 1, stride: about.devices }, ...axes, ...(axes.length === 0 ? [{ name: "", size: 1, stride: 1 }] : [])];
  const columns = Math.max(Math.min(about.devices_per_node, about.devices, 16), 1);
  return [{ name: "", size: Math.ceil(about.devices / columns), stride: columns }, { name: "", size: columns, stride: 1 }];
}

function layoutGrid(about: About, width: number): Grid {
  const axes = axesOf(about);
  const [rows, columns] = [axes[axes.length - 2]!, axes[axes.length - 1]!];
  const left = rows.name ? 30 + rows.name.length * 5 : rows.size > 1 ? 30 : 4;
  const cellWidth = Math.max(Math.min(kMaxCellWidth, Math.floor((width - left) / columns.size) - kCellGap), kMinCellWidth);
  const blockWidth = left + columns.size * (cellWidth + kCellGap), blockHeight = 2 * kHeader + rows.size * (kCellHeight + kCellGap);
  const perRow = Math.max(Math.floor((width + kBlockGap) / (blockWidth + kBlockGap)), 1);
  const outer = axes.slice(0, -2);
  const blockCount = outer.reduce((product, axis) => product * axis.size, 1);
  const grid: Grid = { cellWidth, x: [], y: [], rows, columns, blocks: [], width: Math.min(perRow, blockCount) * (blockWidth + kBlockGap), height: Math.ceil(blockCount / perRow) * (blockHeight + kBlockGap) };
  const indexOn = (device: number, axis: Axis) => Math.floor(device / axis.stride) % axis.size;
  for (let device = 0; device < about.devices; ++device) {
    const block = outer.reduce((index, axis) => index * axis.size + indexOn(device, axis), 0);
    const [blockX, blockY] = [(block % perRow) * (blockWidth + kBlockGap) + left, Math.floor(block / perRow) * (blockHeight + kBlockGap)];
    grid.blocks[block] ??= { title: outer.map((axis) => `${axis.name} ${indexOn(device, axis)}`).join(", "), x: blockX, y: blockY };
    grid.x[device] = blockX + indexOn(device, columns) * (cellWidth + kCellGap);
    grid.y[device] = blockY + 2 * kHeader + indexOn(device, rows) * (kCellHeight + kCellGap);
  }
  return grid;
}

function drawHeaders(picture: SVGElement, grid: Grid): void {
  const { rows, columns, cellWidth } = grid;
  const muted = (x: number, y: number, text: string, anchor: string) => picture.append(svg("text", { x, y, class: "muted", "text-anchor": anchor }, displayText(text, 40)));
  for (const { title, x, y } of grid.blocks) {
    if (title) picture.append(svg("text", { x, y: y + 12, class: "strong" }, displayText(title, 60)));
    if (columns.name) for (let i = 0; i < columns.size; ++i) muted(x + i * (cellWidth + kCellGap) + cellWidth / 2, y + kHeader + 12, i === 0 && cellWidth > 40 ? `${columns.name} 0` : String(i), "middle");
    if (rows.size > 1) for (let i = 0; i < rows.size; ++i) muted(x - 8, y + 2 * kHeader + i * (kCellHeight + kCellGap) + kCellHeight / 2 + 4, `${rows.name} ${i}`.trim(), "end");
  }
}

function groupColor(group: number): string {
  const palette = isDark() ? stackColors.dark : stackColors.light;
  return palette[group % palette.length]!;
}

/** Lines through the members of each group; arrows from sources to targets of a permute. */
function drawConnections(picture: SVGElement, grid: Grid, participants: Participants): void {
  const centre = (device: number) => [grid.x[device]! + grid.cellWidth / 2, grid.y[device]! + kCellHeight / 2] as [number, number];
  const drawLine = (from: number, to: number, color: string, isArrow: boolean) => {
    if (grid.x[from] === undefined || grid.x[to] === undefined || from === to) return;
    const [[x1, y1], [x2, y2]] = [centre(from), centre(to)];
    // A line past other devices of the same row or column bends around them.
    const [dx, dy] = [x2 - x1, y2 - y1];
    const length = Math.hypot(dx, dy);
    const bend = length > 1.5 * Math.max(grid.cellWidth, kCellHeight) ? 12 : isArrow ? 5 : 0;
    const [mx, my] = [(x1 + x2) / 2 - (dy / length) * bend, (y1 + y2) / 2 - (dx / length) * bend * (isArrow ? -1 : 1)];
    picture.append(svg("path", { d: `M${x1} ${y1}Q${mx} ${my} ${x2} ${y2}`, stroke: color }));
    if (isArrow) picture.append(svg("circle", { cx: x1 * 0.3 + mx * 0.2 + x2 * 0.5, cy: y1 * 0.3 + my * 0.2 + y2 * 0.5, r: 2.2, fill: color }));
  };
  participants.groups.forEach((members, group) => { for (let i = 0; i + 1 < members.length; ++i) drawLine(members[i]!, members[i + 1]!, groupColor(group), false); });
  for (const [from, to] of participants.pairs) drawLine(from, to, groupColor(0), true);
}

function drawDevices(picture: SVGElement, grid: Grid, about: About, participants: Participants | null): void {
  const groupOf = new Map<number, number>();
  participants?.groups.forEach((members, group) => members.forEach((device) => groupOf.set(device, group)));
  for (const [from, to] of participants?.pairs ?? []) { groupOf.set(from, 0); groupOf.set(to, 0); }
  for (let device = 0; device < about.devices; ++device) {
    const group = groupOf.get(device);
    const place = about.mesh.map((axis) => `${axis.name} ${Math.floor(device / axis.stride) % axis.size}`).join(", ");
    const members = group === undefined ? "" : ` · group ${Array.from(participants!.groups[group] ?? []).slice(0, 16).join(", ")}`;
    const targets = (participants?.pairs ?? []).filter(([from]) => from === device).map(([, to]) => to);
    const title = `device ${device}${place ? `: ${place}` : ""}${participants?.groups.length ? members : targets.length > 0 ? ` · sends to ${targets.join(", ")}` : ""}`;
    const cell = svg("g", { class: group === undefined ? "device" : "device member" }, svg("rect", { x: grid.x[device]! + 0.5, y: grid.y[device]! + 0.5, width: grid.cellWidth - 1, height: kCellHeight - 1, rx: 4 }),
      svg("text", { x: grid.x[device]! + grid.cellWidth / 2, y: grid.y[device]! + kCellHeight / 2 + 4, "text-anchor": "middle" }, String(device)), svg("title", {}, displayText(title, 300)));
    if (group !== undefined) {
      const rect = cell.querySelector("rect")!;
      cell.prepend(svg("rect", { class: "ground", x: grid.x[device]! + 0.5, y: grid.y[device]! + 0.5, width: grid.cellWidth - 1, height: kCellHeight - 1, rx: 4 }));
      rect.setAttribute("fill", groupColor(group));
      rect.setAttribute("stroke", groupColor(group));
    }
    picture.append(cell);
  }
}

/** Thick lines between neighbouring cells of different nodes. */
function drawNodeBorders(picture: SVGElement, grid: Grid, about: About): void {
  const nodeOf = (device: number) => Math.floor(device / about.devices_per_node);
  const deviceAt = new Map(grid.x.map((x, device) => [`${x} ${grid.y[device]}`, device]));
  grid.x.forEach((x, device) => {
    const y = grid.y[device]!;
    const right = deviceAt.get(`${x + grid.cellWidth + kCellGap} ${y}`), below = deviceAt.get(`${x} ${y + kCellHeight + kCellGap}`);
    const [endX, endY] = [x + grid.cellWidth + kCellGap / 2, y + kCellHeight + kCellGap / 2];
    if (right !== undefined && nodeOf(right) !== nodeOf(device)) picture.append(svg("path", { class: "border", d: `M${endX} ${y - kCellGap / 2}V${endY}` }));
    if (below !== undefined && nodeOf(below) !== nodeOf(device)) picture.append(svg("path", { class: "border", d: `M${x - kCellGap / 2} ${endY}H${endX}` }));
  });
}
