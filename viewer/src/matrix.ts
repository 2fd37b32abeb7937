// Who sends how much to whom: made in the page from groups, payloads and the rules of each kind.
import type { Collectives, Join, Model } from "./model";

export interface PairRules { get(kind: string, members: number): [number, number, number] }

export async function loadPairRules(model: Model): Promise<PairRules> {
  const columns = await model.data.section(`${model.prefix}pair_rules`);
  const known = new Map<string, [number, number, number]>();
  const [kind, members, first, to, between] = [columns.u32("kind"), columns.u32("members"), columns.f64("from_first"), columns.f64("to_first"), columns.f64("between")];
  kind.forEach((at, i) => known.set(`${model.string(at)} ${members[i]}`, [first[i]!, to[i]!, between[i]!]));
  return { get: (name, count) => known.get(`${name} ${count}`) ?? [0, 0, 0] };
}

export interface Matrix { size: number; perCell: number; first: number; values: Float64Array; listed: boolean }

/** Of the collectives that `wanted` names. Cells stand for `perCell` devices each, from device `first` on. */
export function matrixOf(model: Model, all: Collectives, joins: Join[], rules: PairRules, wanted: (i: number) => boolean, ring: boolean, devices: number, perCell: number): Matrix {
  const size = Math.ceil(devices / perCell);
  const values = new Float64Array(size * size);
  let listed = true;
  const add = (from: number, to: number, value: number) => {
    if (from !== to && from < devices && to < devices) values[Math.floor(from / perCell) * size + Math.floor(to / perCell)]! += value;
  };
  // What goes between two devices grows with the payload: equal kinds and groups are worked out once.
  const sums = new Map<string, { kind: string; join: Join; payload: number; ring: number }>();
  for (let i = 0; i < all.count; ++i) {
    if (!wanted(i)) continue;
    const key = `${all.kind[i]} ${all.joins[i]}`;
    const sum = sums.get(key) ?? { kind: model.string(all.kind[i]!), join: joins[all.joins[i]!]!, payload: 0, ring: 0 };
    sum.payload += all.times[i]! * all.payload[i]!;
    sum.ring += all.times[i]! * all.ring[i]!;
    sums.set(key, sum);
  }
  for (const { kind, join, payload, ring: around } of sums.values()) {
    if (join.groups.length === 0 && join.pairs.length === 0) listed = false;
    for (const [from, to] of join.pairs) add(from, to, payload);
    for (const group of join.groups) {
      const n = group.length;
      if (n < 2) continue;
      if (ring) {
        for (let i = 0; i < n; ++i) add(group[i]!, group[(i + 1) % n]!, around);
        continue;
      }
      const [fromFirst, toFirst, between] = rules.get(kind, n);
      for (let i = 0; i < n; ++i)
        for (let j = 0; j < n; ++j) add(group[i]!, group[j]!, payload * (i === 0 ? fromFirst : j === 0 ? toFirst : between));
    }
  }
  return { size, perCell, first: 0, values, listed };
}

/** Whether all pairs of different devices move the same; that value, or -1. */
export function uniform(matrix: Matrix): number {
  let value = -1;
  for (let from = 0; from < matrix.size; ++from)
    for (let to = 0; to < matrix.size; ++to) {
      if (from === to) continue;
      const each = matrix.values[from * matrix.size + to]!;
      if (value < 0) value = each;
      if (Math.abs(each - value) > 1e-9 * Math.max(value, 1)) return -1;
    }
  return value;
}
