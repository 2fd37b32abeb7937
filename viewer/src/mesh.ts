// Draws the mesh: devices in their nodes, with lines between the members of a collective's groups.
import { displayText, h, svg } from "./dom";
import { pluralize } from "./format";
import type { Side } from "./ledger";
import { formatGroups } from "./panel";

const kMaxDevices = 128;
const kLine = 46;

/** Draws the participants of collective group `group`, at most `width` pixels wide. */
export function meshPicture(side: Side, group: number, width: number): Node[] {
  const { about } = side.model;
  const summary = side.groups[group]!;
  const participants = side.participantTable[side.collectives.participants[summary.members[0]!]!]!;
  const axes = about.mesh.length > 0 ? `mesh ${about.mesh.map((axis) => `${axis.name}=${axis.size}`).join(" × ")}` : "no mesh";
  const devices = `${pluralize(about.devices, "device")}, ${axes}`;
  if (about.devices > kMaxDevices) return [h("p", { class: "muted" }, displayText(`${devices}. Groups of ${summary.kind} over ${summary.axis}: ${formatGroups(participants)}.`, 400))];
  const description = `${devices}; lines connect the groups of ${summary.kind} over ${summary.axis}`;
  const columns = Math.min(about.devices_per_node, about.devices);
  const rows = Math.ceil(about.devices / columns);
  const gap = Math.min(48, Math.floor((Math.max(width, 300) - 90) / columns));
  const picture = svg("svg", { class: "mesh", width: 64 + columns * gap, height: rows * kLine + 6, role: "img", "aria-label": displayText(description, 300) });
  const position = (device: number): [number, number] => [58.5 + ((device % columns) + 0.5) * gap, Math.floor(device / columns) * kLine + 23];
  for (let row = 0; row < rows; ++row) picture.append(svg("rect", { x: 56.5, y: row * kLine + 3.5, width: columns * gap + 4, height: kLine - 8, rx: 5 }), svg("text", { x: 50, y: row * kLine + 27, "text-anchor": "end", class: "muted" }, `node ${row}`));
  const line = (from: number, to: number) => {
    const [x1, y1] = position(from), [x2, y2] = position(to);
    const bend = y1 === y2 && Math.abs(from - to) > 1 ? -12 : 0;
    picture.append(svg("path", { d: `M${x1} ${y1}Q${(x1 + x2) / 2} ${(y1 + y2) / 2 + bend} ${x2} ${y2}` }));
  };
  for (const members of participants.groups.slice(0, 64)) for (let i = 0; i + 1 < members.length; ++i) line(members[i]!, members[i + 1]!);
  for (const [from, to] of participants.pairs.slice(0, 256)) line(from, to);
  for (let device = 0; device < about.devices; ++device) {
    const [x, y] = position(device);
    picture.append(svg("circle", { cx: x, cy: y, r: Math.min(10.5, gap / 2 - 1) }), svg("text", { x, y: y + 4, "text-anchor": "middle" }, String(device)));
  }
  return [h("p", { class: "muted" }, displayText(description, 300)), picture];
}
