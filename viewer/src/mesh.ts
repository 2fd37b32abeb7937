// The mesh: devices in their nodes, groups of a collective as lines.
import { h, svg, visible } from "./dom";
import { counted } from "./format";
import type { Side } from "./ledger";
import { groupsText } from "./panel";

const kMostDrawn = 128;
const kLine = 46;

/** Groups of the alike collectives `group`, in a column of `width` pixels. */
export function mesh(side: Side, group: number, width: number): Node[] {
  const { about } = side.model;
  const alike = side.alike[group]!;
  const join = side.joins[side.all.joins[alike.uses[0]!]!]!;
  const axes = about.mesh.length > 0 ? about.mesh.map((axis) => `${axis.name}=${axis.size}`).join(" × ") : "no axes";
  const devices = `${counted(about.devices, "device")} as ${axes}`;
  if (about.devices > kMostDrawn) return [h("p", { class: "muted" }, visible(`${devices}. ${alike.kind} over ${alike.axis} joins ${groupsText(join)}.`, 400))];
  const what = `${devices}; lines join the groups of ${alike.kind} over ${alike.axis}`;
  const columns = Math.min(about.devices_per_node, about.devices);
  const rows = Math.ceil(about.devices / columns);
  const gap = Math.min(48, Math.floor((Math.max(width, 300) - 90) / columns));
  const picture = svg("svg", { class: "mesh", width: 64 + columns * gap, height: rows * kLine + 6, role: "img", "aria-label": visible(what, 300) });
  const place = (device: number): [number, number] => [58.5 + ((device % columns) + 0.5) * gap, Math.floor(device / columns) * kLine + 23];
  for (let row = 0; row < rows; ++row) picture.append(svg("rect", { x: 56.5, y: row * kLine + 3.5, width: columns * gap + 4, height: kLine - 8, rx: 5 }), svg("text", { x: 50, y: row * kLine + 27, "text-anchor": "end", class: "muted" }, `node ${row}`));
  const line = (from: number, to: number) => {
    const [x1, y1] = place(from), [x2, y2] = place(to);
    const bend = y1 === y2 && Math.abs(from - to) > 1 ? -12 : 0;
    picture.append(svg("path", { d: `M${x1} ${y1}Q${(x1 + x2) / 2} ${(y1 + y2) / 2 + bend} ${x2} ${y2}` }));
  };
  for (const members of join.groups.slice(0, 64)) for (let i = 0; i + 1 < members.length; ++i) line(members[i]!, members[i + 1]!);
  for (const [from, to] of join.pairs.slice(0, 256)) line(from, to);
  for (let device = 0; device < about.devices; ++device) {
    const [x, y] = place(device);
    picture.append(svg("circle", { cx: x, cy: y, r: Math.min(10.5, gap / 2 - 1) }), svg("text", { x, y: y + 4, "text-anchor": "middle" }, String(device)));
  }
  return [h("p", { class: "muted" }, visible(what, 300)), picture];
}
