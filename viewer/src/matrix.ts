// The traffic matrix: bytes sent from each device to each other, computed from groups, payloads and per-kind rules.
import type { Collectives, Model, Participants } from "./model";

/** Bytes that one member sends to another per byte of payload: [from the first, to the first, between others]. */
export interface PairRules { get(kind: string, members: number): [number, number, number] }

export async function loadPairRules(model: Model): Promise<PairRules> {
  const columns = await model.data.section(`${model.prefix}pair_rules`);
  const rules = new Map<string, [number, number, number]>();
  const [kind, members, first, to, between] = [columns.u32("kind"), columns.u32("members"), columns.f64("from_first"), columns.f64("to_first"), columns.f64("between")];
  kind.forEach((nameId, i) => rules.set(`${model.string(nameId)} ${members[i]}`, [first[i]!, to[i]!, between[i]!]));
  return { get: (name, count) => rules.get(`${name} ${count}`) ?? [0, 0, 0] };
}

/** Row `from`, column `to`. A cell covers `perCell` × `perCell` devices; device `first` is in row 0. `allListed` is
 * false if groups are missing because they are too large to be listed. */
export interface Matrix { size: number; perCell: number; first: number; values: Float64Array; allListed: boolean }

/** The traffic per step of the collectives that `filter` selects, with ring or direct routing. */
export function trafficMatrix(model: Model, collectives: Collectives, participantTable: Participants[], rules: PairRules, filter: (i: number) => boolean, ring: boolean, devices: number, perCell: number): Matrix {
  const size = Math.ceil(devices / perCell);
  const values = new Float64Array(size * size);
  let allListed = true;
  const add = (from: number, to: number, value: number) => {
    if (from !== to && from < devices && to < devices) values[Math.floor(from / perCell) * size + Math.floor(to / perCell)]! += value;
  };
  // Traffic is proportional to the payload, so collectives of equal kind and participants are expanded together.
  const sums = new Map<string, { kind: string; participants: Participants; payload: number; ring: number }>();
  for (let i = 0; i < collectives.count; ++i) {
    if (!filter(i)) continue;
    const key = `${collectives.kind[i]} ${collectives.participants[i]}`;
    const sum = sums.get(key) ?? { kind: model.string(collectives.kind[i]!), participants: participantTable[collectives.participants[i]!]!, payload: 0, ring: 0 };
    sum.payload += collectives.times[i]! * collectives.payload[i]!;
    sum.ring += collectives.times[i]! * collectives.ring[i]!;
    sums.set(key, sum);
  }
  for (const { kind, participants, payload, ring: ringBytes } of sums.values()) {
    if (participants.groups.length === 0 && participants.pairs.length === 0) allListed = false;
    for (const [from, to] of participants.pairs) add(from, to, payload);
    for (const group of participants.groups) {
      const n = group.length;
      if (n < 2) continue;
      if (ring) {
        for (let i = 0; i < n; ++i) add(group[i]!, group[(i + 1) % n]!, ringBytes);
        continue;
      }
      const [fromFirst, toFirst, between] = rules.get(kind, n);
      for (let i = 0; i < n; ++i)
        for (let j = 0; j < n; ++j) add(group[i]!, group[j]!, payload * (i === 0 ? fromFirst : j === 0 ? toFirst : between));
    }
  }
  return { size, perCell, first: 0, values, allListed };
}

/** The bytes between any two different devices if all pairs are equal, else -1. */
export function uniformPairBytes(matrix: Matrix): number {
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
