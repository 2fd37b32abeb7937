#!/usr/bin/env python3
"""Injects faults into partitioned modules: `shoal compare` with the unpartitioned module must find each fault and must
not report a difference without one.

    tests/compare_faults.py [--bin build/shoal] [--shared ../shared] [--faults 100] [--verbose]

Modules: the pairs below, and the JAX goldens before and after partitioning. Faults are changes of the partitioned text:
- two shards of a result are swapped;
- a collective is missing, has wrong members or a wrong order, or reduces with another function;
- a permute has wrong pairs, a slice is off by one, or a device uses the id of another device.

A change counts as a fault if the changed text is a valid module and, on some device, its results differ from those of
the original partitioned module. The unpartitioned module is not needed to decide that.
"""
import argparse
import concurrent.futures
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Two layers on a mesh of two axes; the second dot is summed over the axis "model".
TWO_LAYERS = ("""HloModule whole
ENTRY e {
  x = f32[8,16] parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
  w = f32[16,32] parameter(1), sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}
  v = f32[32,16] parameter(2), sharding={devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}
  h = f32[8,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[8,32] tanh(h)
  y = f32[8,16] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[8,16], f32[8,32]) tuple(y, t)
}
""", """HloModule parts, num_partitions=8
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[4,16] parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
  w = f32[16,8] parameter(1), sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}
  v = f32[8,16] parameter(2), sharding={devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}
  h = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[4,8] tanh(h)
  p = f32[4,16] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[4,16] all-reduce(p), channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true, to_apply=add
  ROOT r = (f32[4,16], f32[4,8]) tuple(y, t)
}
""")

# A halo exchange with the neighbours on both sides.
STENCIL = ("""HloModule whole
ENTRY e {
  x = f32[32] parameter(0), sharding={devices=[4]<=[4]}
  zero = f32[] constant(0)
  padded = f32[34] pad(x, zero), padding=1_1
  left = f32[32] slice(padded), slice={[0:32]}
  right = f32[32] slice(padded), slice={[2:34]}
  both = f32[32] add(left, right)
  ROOT y = f32[32] subtract(both, x), sharding={devices=[4]<=[4]}
}
""", """HloModule parts, num_partitions=4
ENTRY e {
  x = f32[8] parameter(0), sharding={devices=[4]<=[4]}
  last = f32[1] slice(x), slice={[7:8]}
  first = f32[1] slice(x), slice={[0:1]}
  from_left = f32[1] collective-permute(last), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3}}
  from_right = f32[1] collective-permute(first), channel_id=2, source_target_pairs={{1,0},{2,1},{3,2}}
  padded = f32[10] concatenate(from_left, x, from_right), dimensions={0}
  left = f32[8] slice(padded), slice={[0:8]}
  right = f32[8] slice(padded), slice={[2:10]}
  both = f32[8] add(left, right)
  ROOT y = f32[8] subtract(both, x)
}
""")

# Rows become columns: an all-to-all of blocks, an all-gather, and a slice by the device's id.
TRANSPOSED = ("""HloModule whole
ENTRY e {
  x = f32[8,12] parameter(0), sharding={devices=[4,1]<=[4]}
  b = f32[12] parameter(1), sharding={devices=[4]<=[4]}
  wide = f32[8,12] broadcast(b), dimensions={1}
  y = f32[8,12] multiply(x, wide)
  zero = f32[] constant(0)
  ROOT r = (f32[8,12], f32[12]) tuple(y, b), sharding={{devices=[1,4]<=[4]}, {replicated}}
}
""", """HloModule parts, num_partitions=4
ENTRY e {
  x = f32[2,12] parameter(0), sharding={devices=[4,1]<=[4]}
  b = f32[3] parameter(1), sharding={devices=[4]<=[4]}
  all = f32[12] all-gather(b), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true
  blocks = f32[2,4,3] reshape(x)
  turned = f32[4,2,3] transpose(blocks), dimensions={1,0,2}
  swapped = f32[4,2,3] all-to-all(turned), channel_id=2, replica_groups={{0,1,2,3}}, dimensions={0}
  columns = f32[8,3] reshape(swapped)
  id = u32[] partition-id()
  three = u32[] constant(3)
  at = u32[] multiply(id, three)
  mine = f32[3] dynamic-slice(all, at), dynamic_slice_sizes={3}
  wide = f32[8,3] broadcast(mine), dimensions={1}
  y = f32[8,3] multiply(columns, wide)
  ROOT r = (f32[8,3], f32[12]) tuple(y, all)
}
""")


def expand_groups(text):
    """replica_groups in any of its notations, as lists; None for an unknown notation."""
    if match := re.fullmatch(r"\{(\{[\d,{} ]*\})\}", text):
        return [[int(i) for i in group.split(",")] for group in re.findall(r"\{([\d, ]+)\}", match[1])]
    if match := re.fullmatch(r"\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text):
        dims = [int(d) for d in match[3].split(",")]
        order = [int(p) for p in match[4].split(",")] if match[4] else range(len(dims))
        ids = ids_in_order(dims, order)
        size = int(match[2])
        return [ids[i:i + size] for i in range(0, len(ids), size)]
    if match := re.fullmatch(r"mesh\[([^\]]*)\] ?\{([^}]*)\}", text):
        axes = [(name, int(size)) for name, size in re.findall(r"'([^']*)'=(\d+)", match[1])]
        chosen = re.findall(r"'([^']*)'", match[2])
        inside = [i for i, (name, _) in enumerate(axes) if name in chosen]
        order = [i for i in range(len(axes)) if i not in inside] + inside
        ids = ids_in_order([size for _, size in axes], order)
        size = 1
        for i in inside:
            size *= axes[i][1]
        return [ids[i:i + size] for i in range(0, len(ids), size)]
    return None


def ids_in_order(dims, order):
    strides = [1] * len(dims)
    for i in reversed(range(len(dims) - 1)):
        strides[i] = strides[i + 1] * dims[i + 1]
    return [sum(i * strides[axis] for i, axis in zip(index, order))
            for index in itertools.product(*(range(dims[axis]) for axis in order))]


GROUPS = re.compile(r"replica_groups=(\{\{[\d,{} ]*\}\}|\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?|mesh\[[^\]]*\] ?\{[^}]*\})")


def with_groups(line, change):
    match = GROUPS.search(line)
    groups = match and expand_groups(match[1])
    changed = groups and change([list(group) for group in groups])
    if not changed or changed == groups:
        return None
    text = ",".join("{" + ",".join(map(str, group)) + "}" for group in changed)
    return line[:match.start()] + "replica_groups={" + text + "}" + line[match.end():]


def other_members(groups):
    """Swaps a device between two groups; a single group is split in two."""
    if len(groups) > 1:
        groups[0][-1], groups[1][0] = groups[1][0], groups[0][-1]
        return groups
    half = len(groups[0]) // 2
    return [groups[0][:half], groups[0][half:]] if half else None


def other_order(groups):
    return [group[1:] + group[:1] for group in groups]


def swapped_pairs(devices):
    return ",".join("{%d,%d}" % (i, i ^ 1 if i < 2 else i) for i in range(devices))


def faults_of(text, devices):
    """Yields (kind, changed text) for every possible fault."""
    lines = text.split("\n")

    def put(kind, number, *instead):
        return kind, "\n".join(lines[:number] + list(instead) + lines[number + 1:])

    in_entry = False
    for number, line in enumerate(lines):
        in_entry = in_entry or line.startswith("ENTRY")
        if " all-reduce(" in line:
            for kind, changed in (("reduces over other devices", with_groups(line, other_members)),):
                if changed:
                    yield put(kind, number, changed)
            op = "tuple" if re.search(r"= \(", line) else "copy"
            yield put("a missing all-reduce", number, re.sub(r" all-reduce\(([^)]*)\).*", rf" {op}(\1)", line))
            if scalar := re.search(r"= ([a-z]+\d+)\[", line):
                kind, changed = put("another reduction", number, re.sub(r"to_apply=[%\w.\-]+", "to_apply=of_fault", line))
                of_fault = (f"of_fault {{\n  a = {scalar[1]}[] parameter(0)\n  b = {scalar[1]}[] parameter(1)\n"
                            f"  ROOT m = {scalar[1]}[] multiply(a, b)\n}}\n\nENTRY")
                yield kind, re.sub(r"^ENTRY", of_fault, changed, count=1, flags=re.M)
        if " all-gather(" in line or " all-to-all(" in line:
            if changed := with_groups(line, other_order):
                yield put("members in another order", number, changed)
        if " all-gather(" in line or " all-to-all(" in line or " reduce-scatter(" in line:
            groups = lambda found: other_members(found) if len(found) > 1 else None
            if changed := with_groups(line, groups):
                yield put("other members", number, changed)
        if match := re.search(r"source_target_pairs=\{(\{[\d,{} ]*\})\}", line):
            pairs = re.findall(r"\{(\d+),(\d+)\}", match[1])
            backwards = ",".join("{%s,%s}" % (target, source) for source, target in pairs)
            yield put("a reversed permute", number, line[:match.start(1)] + backwards + line[match.end(1):])
            fewer = ",".join("{%s,%s}" % pair for pair in pairs[1:])
            yield put("a permute without its first pair", number, line[:match.start(1)] + fewer + line[match.end(1):])
        if " partition-id()" in line:
            yield put("a wrong partition id", number, line.replace("partition-id()", "constant(1)"))
        if match := re.search(r" slice\(.*slice=\{(.*?)\}", line):
            ranges = re.findall(r"\[(\d+):(\d+)(:\d+)?\]", match[1])
            for i, (start, limit, stride) in enumerate(ranges):
                for by in (-1, 1):
                    if int(start) + by < 0:
                        continue
                    moved = [list(each) for each in ranges]
                    moved[i][:2] = [str(int(start) + by), str(int(limit) + by)]
                    written = ", ".join(f"[{a}:{b}{c}]" for a, b, c in moved)
                    yield put("a slice off by one", number, line[:match.start(1)] + written + line[match.end(1):])
        if in_entry and line.lstrip().startswith("ROOT "):
            for changed in swapped_shards(line, devices):
                yield put("swapped shards", number, *changed)


def swapped_shards(line, devices):
    """Yields, for each result of the root, lines that swap its shards on devices 0 and 1."""
    permute = f"channel_id=9999, source_target_pairs={{{swapped_pairs(devices)}}}"
    if match := re.match(r"(\s*)ROOT (%?[\w.\-]+) = \((.*?)\) tuple\(([^)]*)\)", line):
        types = re.findall(r"[a-z]\w*\[[\d,]*\](?:\{[\d,]*\})?", match[3])
        operands = re.findall(r"%?[\w.\-]+", re.sub(r"/\*.*?\*/", "", match[4]))
        for i, (of_type, operand) in enumerate(zip(types, operands)):
            instead = list(operands)
            instead[i] = "swapped.of_fault"
            yield (f"  swapped.of_fault = {of_type} collective-permute({operand}), {permute}",
                   line[:match.start(4)] + ", ".join(instead) + line[match.end(4):])
    elif match := re.match(r"(\s*)ROOT (%?[\w.\-]+) = ([a-z]\w*\[[\d,]*\](?:\{[\d,]*\})?) ", line):
        yield (line.replace("ROOT ", "", 1), f"  ROOT swapped.of_fault = {match[3]} collective-permute({match[2]}), {permute}")


class Comparer:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.numbers = binary, pathlib.Path(folder), itertools.count()

    def write(self, text):
        path = self.folder / f"m{next(self.numbers)}.hlo"
        path.write_text(text)
        return path

    def compare(self, a, b, *options):
        """The number of elements out of bounds, or None if a module is invalid or cannot be run."""
        done = subprocess.run([self.binary, "compare", a, b, "--json", *options], capture_output=True, text=True,
                              check=False, timeout=300)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"compare {a} {b}: exit {done.returncode}: {done.stderr[:300]}")
        try:
            outputs = json.loads(done.stdout)["outputs"]
        except (json.JSONDecodeError, KeyError):
            return None
        return sum(each["out_of_bounds"] for each in outputs)

    def try_fault(self, whole, parts, changed):
        """None: not a fault; True: found; False: missed."""
        path = self.write(changed)
        # Ten times the default tolerances of `compare`, so that no fault is due to rounding.
        is_fault = self.compare(parts, path, "--rel_error_bound=0.01", "--abs_error_bound=0.001")
        verdict = None if not is_fault else bool(self.compare(whole, path))
        path.unlink()
        return verdict


def pairs_of(options, comparer):
    for name, (whole, parts) in {"two_layers": TWO_LAYERS, "stencil": STENCIL, "transposed": TRANSPOSED}.items():
        yield name, comparer.write(whole), comparer.write(parts)
    if not options.shared.is_dir():
        print(f"no {options.shared}: testing only the pairs of this file")
        return
    for before in sorted((options.shared / "golden/jax").glob("*.before.hlo")):
        after = before.with_name(before.name.replace(".before.", ".after."))
        # Rounding in bf16 hides small faults.
        if "num_partitions=" in after.read_text().split("\n")[0] and "bf16" not in before.name:
            yield before.name.split(".")[0], before, after


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/shoal")
    parser.add_argument("--shared", type=pathlib.Path, default=pathlib.Path("../shared"))
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    failed, kinds, found, pairs = [], {}, 0, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        comparer = Comparer(options.bin, folder)
        queues = {}
        for name, whole, parts in pairs_of(options, comparer):
            pairs += 1
            if comparer.compare(whole, parts) != 0:
                failed.append(f"{name}: differs without a fault")
            text = parts.read_text()
            devices = int(re.search(r"num_partitions=(\d+)", text)[1])
            for kind, changed in faults_of(text, devices):
                queues.setdefault((kind, name), []).append((whole, parts, changed))
        # Round-robin, so that every kind in every module comes before a second fault of that kind.
        cases = [(key, case) for row in itertools.zip_longest(*queues.values()) for key, case in zip(queues, row)
                 if case]
        for start in range(0, len(cases), 8):
            if found >= options.faults:
                break
            batch = cases[start:start + 8]
            for ((kind, name), case), verdict in zip(batch, pool.map(lambda case: comparer.try_fault(*case[1]), batch)):
                if options.verbose:
                    print(f"{name}: {kind}: {({None: 'no fault', True: 'found', False: 'missed'})[verdict]}", flush=True)
                if verdict is None:
                    continue
                found += 1
                kinds[kind] = kinds.get(kind, 0) + 1
                if not verdict:
                    failed.append(f"{name}: {kind}: missed")
    for line in failed:
        print(line)
    print("faults: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    min_faults = options.faults if options.shared.is_dir() else 15
    if found < min_faults:
        failed.append("few")
        print(f"only {found} faults injected, expected {min_faults}")
    print(f"{found - sum('missed' in line for line in failed)} of {found} faults found; modules without faults that "
          f"differ: {sum('without a fault' in line for line in failed)} of {pairs}")
    print(f"{found + pairs - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
