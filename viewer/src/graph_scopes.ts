// Groups the instructions of a computation by scope ("jit(f)/layer/dot" is in scope layer of scope jit(f)), such that the
// groups have no cyclic dependencies. A scope whose parts depend on each other through other scopes has several groups.

/** A group: a scope, or an instruction (`id` ≥ 0, no members). */
export interface ScopeGroup { id: number; name: string; members: ScopeGroup[] }

/** `ids`: in topological order; `scopeOf`: the components of an instruction's scope; `operandsOf`: operands in `ids`. */
export function groupByScope(ids: number[], scopeOf: (id: number) => string[], operandsOf: (id: number) => number[], depth = 0): ScopeGroup[] {
  const groups: { name: string; ids: number[]; operands: Set<number> }[] = [];
  const groupOf = new Map<number, number>();
  const latest = new Map<string, number>();
  const reaches = (from: number, targets: Set<number>): boolean => {
    // Groups are numbered by creation, but edges may point to earlier ones; so this searches from the targets upwards.
    const pending = [...targets], seen = new Set(pending);
    for (let group = pending.pop(); group !== undefined; group = pending.pop()) {
      if (group === from) return true;
      for (const operand of groups[group]!.operands) if (!seen.has(operand)) { seen.add(operand); pending.push(operand); }
    }
    return false;
  };
  for (const id of ids) {
    const name = scopeOf(id)[depth];
    const operands = new Set(operandsOf(id).flatMap((operand) => groupOf.get(operand) ?? []));
    let group = name === undefined ? undefined : latest.get(name);
    if (group !== undefined) operands.delete(group);
    if (group === undefined || reaches(group, operands)) {
      for (const operand of operandsOf(id)) if (groupOf.has(operand)) operands.add(groupOf.get(operand)!);
      group = groups.length;
      groups.push({ name: name ?? "", ids: [], operands: new Set() });
      if (name !== undefined) latest.set(name, group);
    }
    groups[group]!.ids.push(id);
    groupOf.set(id, group);
    for (const operand of operands) groups[group]!.operands.add(operand);
  }
  return groups.map(({ name, ids: members }) => (name === "" ? { id: members[0]!, name, members: [] } : scopeGroup(name, groupByScope(members, scopeOf, operandsOf, depth + 1))));
}

/** A scope with a single scope inside becomes one: "jit(f)/layer". A scope of one instruction is that instruction. */
function scopeGroup(name: string, members: ScopeGroup[]): ScopeGroup {
  const [only] = members;
  if (members.length !== 1 || !only) return { id: -1, name, members };
  return only.members.length === 0 ? only : { ...only, name: `${name}/${only.name}` };
}
