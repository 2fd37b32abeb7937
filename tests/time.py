#!/usr/bin/env python3
"""Checks the predictions of `shoal time`: tests/time.py [DIR] [--bin PATH].

Checks properties on small modules that this script writes: more bytes, more devices and less bandwidth never take less
time; parts add up; a step without computation takes as long as its collectives; two runs print identical bytes; a trace
has the format that Perfetto reads. With DIR (golden/, hardware/, corpus/, seeds/ from XLA and one H200) predictions
are compared with measurements: each error is printed, and an exceeded limit is a failure.
"""
import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from schema import Schema

TIMEOUT = 120
ROOT = pathlib.Path(__file__).resolve().parent.parent


class Tests:
    def __init__(self, binary):
        self.binary, self.passed, self.failed = binary, 0, 0
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="shoal-time-"))

    def check(self, name, good, found=""):
        self.passed += bool(good)
        self.failed += not good
        if not good or found:
            print(f"{'ok  ' if good else 'FAIL'} {name}{': ' if found else ''}{found}")

    def run(self, *arguments):
        return subprocess.run([self.binary, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT)

    def time(self, path, *arguments):
        """The JSON of `shoal time`, or None."""
        done = self.run("time", path, "--json", *arguments)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def module(self, text):
        path = self.scratch / "m.hlo"
        path.write_text(text, encoding="utf-8")
        return path


def collective(op, elements, group, devices):
    """A scheduled module with one collective."""
    groups = "{" + ",".join("{" + ",".join(str(g * group + i) for i in range(group)) + "}" for g in range(devices // group)) + "}"
    head = f"HloModule m, is_scheduled=true, num_partitions={devices}\n"
    add = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
    kinds = {
        "all-reduce": (elements, elements, f"to_apply=add, replica_groups={groups}, channel_id=1, use_global_device_ids=true"),
        "all-gather": (elements // group, elements, f"dimensions={{0}}, replica_groups={groups}, channel_id=1, use_global_device_ids=true"),
        "reduce-scatter": (elements, elements // group, f"dimensions={{0}}, to_apply=add, replica_groups={groups}, channel_id=1, use_global_device_ids=true"),
        "all-to-all": (elements, elements, f"dimensions={{0}}, replica_groups={groups}, channel_id=1"),
    }
    operand, result, attributes = kinds[op]
    return f"{head}{add}ENTRY e {{\n  p = f32[{operand}] parameter(0)\n  ROOT r = f32[{result}] {op}(p), {attributes}\n}}\n"


def gemm(m, devices=1):
    return (f"HloModule m, is_scheduled=true\nENTRY e {{\n  a = bf16[{m},4096] parameter(0)\n  b = bf16[4096,4096] parameter(1)\n"
            f"  ROOT d = bf16[{m},4096] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n")


def rising(values):
    return all(a <= b * (1 + 1e-9) for a, b in zip(values, values[1:]))


def check_properties(t):
    for machine in ("h100x8", "a100x8", "mi300xx8", "tpu-v5p-2x2x2"):
        for op in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
            steps = [t.time(t.module(collective(op, 1 << k, 8, 8)), f"--on={machine}")["device_seconds"] for k in range(8, 29, 4)]
            t.check(f"{op} on {machine} never takes less with more bytes", rising(steps), "" if rising(steps) else str(steps))
    for op in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
        # Within a node of H100s the model uses measured curves, and eight GPUs, whose switch reduces, are faster than
        # four. On a torus another axis adds links; along one axis more devices take longer.
        for machine, sizes, min_devices in (("h100x8", (8, 16, 64, 256), 1), ("a100x8", (2, 4, 8, 16, 64), 1), ("tpu-v5p-16x1x1", (4, 8, 16), 16)):
            steps = [t.time(t.module(collective(op, 1 << 24, n, max(n, min_devices))), f"--on={machine}")["device_seconds"] for n in sizes]
            t.check(f"{op} never takes less on more devices of {machine}", rising(steps), "" if rising(steps) else str(steps))
        path = t.module(collective(op, 1 << 24, 8, 8))
        for machine, parameter, values in (("a100x8", "node.bandwidth", (1000, 300, 100, 30)), ("tpu-v5p-2x2x2", "torus.link", (200, 90, 30, 10))):
            steps = [t.time(path, f"--on={machine}", "--set", f"{parameter}={n}GB/s")["device_seconds"] for n in values]
            t.check(f"{op} never takes less with slower links of {machine}", rising(steps), "" if rising(steps) else str(steps))
        path = t.module(collective(op, 1 << 26, 64, 64))
        steps = [t.time(path, "--on=h100x8", "--set", f"nic={n}GB/s")["device_seconds"] for n in (100, 50, 25, 10)]
        t.check(f"{op} never takes less with a slower network", rising(steps), "" if rising(steps) else str(steps))
    # On a ring, an all-reduce is a reduce-scatter plus an all-gather.
    ring = ["--on=a100x8", "--set", "in_switch_reduction=0"]
    parts = [t.time(t.module(collective(op, 1 << 28, 8, 8)), *ring)["device_seconds"] for op in ("all-reduce", "reduce-scatter", "all-gather")]
    t.check("all-reduce takes as long as reduce-scatter and all-gather", abs(parts[0] / (parts[1] + parts[2]) - 1) < .05, f"{parts[0] / (parts[1] + parts[2]):.3f}")
    steps = [t.time(t.module(gemm(m)), "--on=h100")["device_seconds"] for m in (64, 256, 1024, 4096, 16384)]
    t.check("a GEMM never takes less with more rows", rising(steps))
    path = t.module(gemm(8192))
    steps = [t.time(path, "--on=h100", "--set", f"device.bandwidth={n}TB/s")["device_seconds"] for n in (8, 4, 2, 1, .5)]
    t.check("a GEMM never takes less with a slower memory", rising(steps))


def check_parts(t):
    text = collective("all-reduce", 1 << 22, 8, 8)
    one = t.time(t.module(text), "--on=h100x8")
    t.check("the parts add up to the step", abs(sum(one["kinds"].values()) / one["step_seconds"] - 1) < 1e-9)
    t.check("without computation a step takes as long as its collectives",
            abs(one["device_seconds"] / sum(c["seconds"] for c in one["collectives"]) - 1) < 1e-9)
    ideal = ["--set", "nic=1e24B/s", "--set", "node.bandwidth=1e24B/s", "--set", "cluster.latency=0s", "--set", "node.latency=0s"]
    work = "  a = bf16[4096,4096] parameter(1)\n  d = bf16[4096,4096] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    for op in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
        both = collective(op, 1 << 22, 64, 64).replace("ENTRY e {\n", "ENTRY e {\n" + work)
        alone = f"HloModule m, is_scheduled=true\nENTRY e {{\n  p = f32[] parameter(0)\n{work.replace('  d', '  ROOT d')}}}\n"
        with_op, without = t.time(t.module(both), "--on=h100x8", *ideal), t.time(t.module(alone), "--on=h100x8", *ideal)
        t.check(f"with an infinite network a step with {op} takes as long as its computation",
                abs(with_op["device_seconds"] / without["device_seconds"] - 1) < 1e-6, f"{with_op['device_seconds'] / without['device_seconds']:.6f}")
    again = [t.run("time", t.module(text), "--on=h100x8", "--json").stdout for _ in range(2)]
    t.check("two runs print identical bytes", again[0] == again[1] and again[0])
    trace = t.scratch / "trace.json"
    t.run("time", t.module(text), "--on=h100x8", f"--trace={trace}")
    check_trace(t, json.loads(trace.read_text(encoding="utf-8")))


def check_trace(t, trace):
    """Chrome's trace events: names of processes and threads, complete events in microseconds, pairs of flow events."""
    wrong = list(Schema(json.loads((ROOT / "tests/time/trace.schema.json").read_text(encoding="utf-8"))).check(trace))
    t.check("a trace matches its schema", not wrong, "; ".join(wrong[:3]))
    events = trace["traceEvents"]
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    complete = [e for e in events if e["ph"] == "X"]
    t.check("a trace has events", complete)
    t.check("its events have a name, a thread and a time", all(
        isinstance(e["name"], str) and (e["pid"], e["tid"]) in named and e["ts"] >= 0 and e["dur"] >= 0 and "us" in e["args"] for e in complete))
    starts, ends = ([e["id"] for e in events if e["ph"] == ph] for ph in "sf")
    t.check("its flows have two ends", starts == ends)
    for row in {(e["pid"], e["tid"]) for e in complete}:
        on_row = sorted((e["ts"], e["dur"]) for e in complete if (e["pid"], e["tid"]) == row)
        t.check("events of one row do not overlap", all(a + d <= b + 1e-3 + 1e-9 * b for (a, d), (b, _) in zip(on_row, on_row[1:])))


def check_classes(t):
    """Stages of a pipeline: one device per stage; later stages start after the events they wait for."""
    path = ROOT / "tests/time/classes.hlo"
    one = t.time(path, "--on=h100x8")
    t.check("devices that take different branches are separate classes", [c["name"] for c in one["classes"]] == ["devices 0-1", "devices 2-3"], str([c["name"] for c in one["classes"]]))
    for c in one["classes"]:
        t.check(f"the parts of {c['name']} add up", abs(sum(c["kinds"].values()) / c["step_seconds"] - 1) < 1e-9)
    t.check("the step time is that of the slowest class", one["step_seconds"] == max(c["step_seconds"] for c in one["classes"]))
    trace = t.scratch / "classes.json"
    t.run("time", path, "--on=h100x8", f"--trace={trace}")
    loaded = json.loads(trace.read_text(encoding="utf-8"))
    check_trace(t, loaded)
    t.check("each class is a process", len({e["pid"] for e in loaded["traceEvents"]}) == 2)
    ends = {e["pid"]: e["ts"] for e in loaded["traceEvents"] if e["ph"] == "X" and e["name"] == "s"}
    starts = [e["ts"] + e["dur"] for e in loaded["traceEvents"] if e["ph"] == "X" and e["pid"] == 0 and e["cat"] == "matrix"]
    t.check("the receiver waits for the sender", ends[1] >= max(starts) - 1e-6, str(ends))


def check_passes(t, folder):
    """After the passes for collectives a module computes the same values, and is scheduled."""
    modules = sorted((ROOT / "examples").glob("*.hlo"))
    if folder:
        modules += sorted((folder / "golden/jax").glob("*.after.hlo"))[::4]
    for path in modules:
        rewritten = t.scratch / "rewritten.hlo"
        if t.run("opt", path, "--communication", "-o", rewritten).returncode:
            continue  # loose text, which opt does not accept
        t.check(f"{path.name} is unchanged by opt --communication", t.run("compare", path, rewritten).returncode == 0)
        one = t.time(rewritten, "--on=h100x8")
        t.check(f"{path.name} is scheduled by opt --communication", one is not None and one["schedule"] == "module")


def errors_of(pairs):
    errors = sorted(abs(p / m - 1) for p, m in pairs)
    return statistics.median(errors), errors[min(len(errors) - 1, int(.9 * len(errors)))], errors[-1]


def check_measured(t, folder, title, limits):
    timed = json.loads((folder / "timed.json").read_text(encoding="utf-8"))
    busy, step, ops = [], [], []
    for name, measured in sorted(timed.items()):
        path = folder / f"{name}.hlo"
        if not path.exists():
            continue
        one = t.time(path, "--on=h200", "--all")
        if one is None:
            t.check(f"{name} has a time", False)
            continue
        total = sum(op["ns"] for op in measured["ops"].values()) * 1e-9
        busy.append((one["device_seconds"], total))
        step.append((one["step_seconds"], measured["back_to_back_s"]))
        by_name = {op["name"]: op["seconds"] for op in one["ops"]}
        ops += [(by_name[n], op["ns"] * 1e-9) for n, op in measured["ops"].items() if n in by_name and op["ns"] * 1e-9 > .01 * total]
    for metric, pairs, (median, p90, worst) in (("device_seconds", busy, limits["device"]), ("step_seconds", step, limits["step"]), ("ops", ops, limits["ops"])):
        if median is None:
            continue
        a, b, c = errors_of(pairs)
        t.check(f"{title}, {metric}", a <= median and b <= p90 and c <= worst,
                f"{len(pairs)}, median error {100 * a:.1f} %, 90th percentile {100 * b:.1f} %, worst {100 * c:.0f} %")


def check_collectives(t, table):
    """Checks points of the fitted table; tools/fit/collectives.py documents the points that the curves omit."""
    rows = [r for r in csv.DictReader(table.open(encoding="utf-8"))
            if r["dev"] in ("sm_90", "sm_100_B200") and r["group_size"] == "8" and r["op"] != "all-to-all" and float(r["throughput_Bps"]) > 0]
    pairs = []
    for r in rows[::7]:
        size = int(r["shape_bytes"]) * (8 if r["op"] == "reduce-scatter" else 1)
        if size < 1 << 20:
            continue
        machine = {"sm_90": "h100x8", "sm_100_B200": "b200x8"}[r["dev"]]
        one = t.time(t.module(collective(r["op"], size // 4, 8, 8)), f"--on={machine}")
        pairs.append((one["device_seconds"], size / float(r["throughput_Bps"])))
    mean = statistics.mean(abs(p / m - 1) for p, m in pairs)
    t.check("collectives of 1 MB and more", mean <= .07, f"{len(pairs)} points, mean error {100 * mean:.1f} %")


def at(curve, size):
    """Log-log interpolation, as in src/analyze/cost/curves.cc."""
    sizes = sorted(curve)
    if size >= sizes[-1]:
        return curve[sizes[-1]] * size / sizes[-1]
    if size <= sizes[0]:
        return curve[sizes[0]]
    above = next(i for i, s in enumerate(sizes) if s >= size)
    a, b = sizes[above - 1], sizes[above]
    return curve[a] * (curve[b] / curve[a]) ** (math.log(size / a) / math.log(b / a))


def check_leave_one_out(t, table):
    """Leave-one-out: predicts each size from the other sizes, and each group size from its neighbours."""
    sys.path.insert(0, str(ROOT / "tools/fit"))
    import collectives  # the script that writes machines/fitted/collectives.yaml
    points = collectives.read(table)
    large, small, groups = [], [], []
    curves = {key: collectives.curve_of(rows) for key, rows in points.items()}
    for key, rows in points.items():
        for size in rows if len(rows) > 2 else ():
            predicted = at(collectives.curve_of({s: us for s, us in rows.items() if s != size}), size)
            (large if size >= 1 << 20 else small).append(abs(predicted / statistics.geometric_mean(rows[size]) - 1))
    for device, op, group in curves:
        known = sorted(g for d, o, g in curves if (d, o) == (device, op))
        i = known.index(group)
        if not 0 < i < len(known) - 1 or known[i - 1] == 0:
            continue
        below, above = (curves[device, op, known[i + k]] for k in (-1, 1))
        share = math.log(group / known[i - 1]) / math.log(known[i + 1] / known[i - 1])
        groups.append(statistics.mean(abs(at(below, s) ** (1 - share) * at(above, s) ** share / us - 1) for s, us in curves[device, op, group].items()))
    for subset, errors, limit in (("of 1 MB and more, leaving out the size", large, .07), ("below 1 MB, leaving out the size", small, .25), ("leaving out the group size", groups, .2)):
        t.check(f"collectives {subset}", statistics.mean(errors) <= limit, f"{len(errors)} points, mean error {100 * statistics.mean(errors):.1f} %")


def check_llama(t, folder):
    """Two rows measured on 128 H100 with less recomputation: 8.31e15 GEMM flops per device; the module has 8.53e15."""
    for name, seconds in (("bf16", 15.563), ("fp8", 9.074)):
        path = folder / f"tools__benchmarks__hlo__hlo_llama31_70b_{name}_16x8.hlo"
        one = t.time(path, "--on=h100x8x16")
        matrix = one["kinds"]["matrix"]
        adjusted = one["step_seconds"] - matrix * (1 - 8.31 / 8.53)
        t.check(f"Llama3-70B {name} on 128 H100", abs(adjusted / seconds - 1) <= .1,
                f"{one['step_seconds']:.2f} s predicted, {adjusted:.2f} s with less recomputation, {seconds} s measured")


def check_speed(t, folder):
    path = folder / "tools__benchmarks__hlo__hlo_llama31_405b_bf16_64x8.hlo"
    for machine, more, limit in (("h100x8x64", [], 1), ("h100x8x12500", [], 1), ("h100x8", ["--sweep", "nodes=" + ",".join(str(8 * k) for k in range(1, 21))], 5)):
        start = time.monotonic()
        done = t.run("time", path, f"--on={machine}", *more)
        seconds = time.monotonic() - start
        t.check(f"405B on {machine} {' '.join(more)[:12]}", done.returncode == 0 and seconds < 3 * limit, f"{seconds:.2f} s")
        if machine.endswith("12500"):
            t.check("a warning for a flat gather over 12,500 nodes", "latency-bound" in done.stdout)


def check_seeds(t, folder):
    for path in sorted(folder.glob("*.txt")):
        machine = "tpu-v5p-2x2x1" if path.name[:3] in ("001", "003") else "h100x8"
        done = t.run("time", path, f"--on={machine}")
        t.check(f"seed {path.name[:3]} has a time on {machine}", done.returncode == 0 and done.stdout.startswith("step "), done.stdout.split(";")[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--bin", default=ROOT / "build/shoal")
    options = parser.parse_args()
    t = Tests(str(options.bin))
    check_properties(t)
    check_parts(t)
    check_classes(t)
    folder = options.folder
    check_passes(t, folder)
    if folder and (folder / "golden/h200_ops").exists():
        check_measured(t, folder / "golden/h200_ops", "single kernels", dict(device=(.07, .25, 1), step=(None, 0, 0), ops=(None, 0, 0)))
        check_measured(t, folder / "golden/h200", "modules", dict(device=(.08, .25, .25), step=(.15, .4, .4), ops=(.15, 1, 10)))
    if folder and (folder / "hardware/collective.csv").exists():
        check_collectives(t, folder / "hardware/collective.csv")
        check_leave_one_out(t, folder / "hardware/collective.csv")
    if folder and (folder / "corpus/xla").exists():
        check_llama(t, folder / "corpus/xla")
        check_speed(t, folder / "corpus/xla")
    if folder and (folder / "seeds").exists():
        check_seeds(t, folder / "seeds")
    print(f"{t.passed} passed, {t.failed} failed")
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())
