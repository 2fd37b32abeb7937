#!/usr/bin/env python3
"""Times every pattern of run_vs_xla.py with 1, 2, 4, 8 and 16 threads, and prints a table of efficiencies.

    bench/scaling.py --save DIR                        writes the modules, which needs JAX
    bench/scaling.py --modules DIR                     measures those modules, which does not
    bench/scaling.py --modules DIR --markdown bench/scaling.md

The efficiency on N threads is the time on one thread divided by N times the time on N threads. For more threads than
the machine has, the time is an estimate: shoal runs with that many threads, but runs all tasks one after the other
(SHOAL_TASK_LOG, see core/base/task_log.h), and this script assigns the recorded tasks to threads in the way of the
thread pool, with the measured time to wake up a worker. The estimate assumes that threads do not share caches and
memory bandwidth. Integers, which may be indices, are the inputs of the pattern; shoal generates all others.
"""
import argparse
import heapq
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
AWAKE_NS = 500  # until a spinning worker starts a task
SPIN_NS = 50_000  # until an idle worker sleeps, see core/base/thread_pool.cc
MAX_INDICES = 1 << 20  # larger arrays of integers are not indices
FAMILIES = {"fusion": "loops and reductions", "call": "small ops", "while": "loops of a program", "conditional": "loops of a program",
            "dot": "products", "convolution": "convolutions", "sort": "sorts", "topk": "sorts", "scatter": "scatters",
            "gather": "gathers", "reduce-window": "scans", "fft": "FFT", "custom-call": "linear algebra",
            "cholesky": "linear algebra", "triangular-solve": "linear algebra", "rng-bit-generator": "random numbers"}


def save_modules(folder, only):
    """Writes each pattern as a module."""
    import numpy as np
    import xla_cpu
    xla_cpu.start(0)
    import basic_patterns, cliff_patterns, library_patterns, op_patterns, program_patterns, shape_patterns
    folder.mkdir(parents=True, exist_ok=True)
    for family in basic_patterns, library_patterns, shape_patterns, op_patterns, program_patterns, cliff_patterns:
        for name, (function, arguments) in family.patterns(xla_cpu.jax, xla_cpu.jnp, np, xla_cpu.ml_dtypes).items():
            if only not in name:
                continue
            (folder / f"{name}.hlo").write_text(xla_cpu.lowered(function, arguments))
            leaves = [np.asarray(argument) for argument in xla_cpu.jax.tree.leaves(arguments)]
            indices = {str(i): leaf for i, leaf in enumerate(leaves) if leaf.dtype.kind in "iu" and leaf.size < MAX_INDICES}
            if indices:
                np.savez_compressed(folder / f"{name}.npz", **indices)


def npy(kind, dims, data):
    """A file of NumPy's format."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({''.join(f'{dim},' for dim in dims)}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def number_bytes(element_type, count):
    """The type in NumPy's terms and `count` numbers between -1 and 1, in a pattern that repeats."""
    r = random.Random(count)
    numbers = [r.uniform(-1, 1) for _ in range(min(count, 4099))]
    if element_type == "bf16":
        kind, unit = "|V2", b"".join(struct.pack("<f", number)[2:] for number in numbers)
    elif element_type in ("f16", "f32", "f64"):
        letter = {"f16": "e", "f32": "f", "f64": "d"}[element_type]
        kind, unit = f"<f{element_type[1:]}".replace("16", "2").replace("32", "4").replace("64", "8"), struct.pack(f"<{len(numbers)}{letter}", *numbers)
    else:
        return None
    size = len(unit) // max(1, len(numbers))
    return kind, (unit * (count // max(1, len(numbers)) + 1))[:count * size]


def complete_inputs(module, folder):
    """Unpacks the saved indices and adds numbers for the other parameters. False if a parameter is of another type."""
    layout = re.search(r"entry_computation_layout=\{\((.*?)\)->", module.read_text()[:20000])
    with zipfile.ZipFile(module.with_suffix(".npz")) as saved:
        saved.extractall(folder)
        names = set(saved.namelist())
    for k, (element_type, dims) in enumerate(re.findall(r"(\w+)\[([\d,]*)\]", layout[1]) if layout else []):
        sizes = [int(dim) for dim in dims.split(",") if dim]
        if f"{k}.npy" in names:
            continue
        made = number_bytes(element_type, math.prod(sizes))
        if made is None:
            return False
        (folder / f"{k}.npy").write_bytes(npy(made[0], sizes, made[1]))
    return True


def run(options, module, threads, repeats, log=None, more=()):
    environment = dict(os.environ, **({"SHOAL_TASK_LOG": str(log)} if log else {}))
    command = [str(options.bin), "run", str(module), f"--threads={threads}", f"--num_repeats={repeats}", *more]
    if options.inputs:
        command.append(f"--inputs={options.inputs}")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=options.timeout)
    if done.returncode != 0:
        raise RuntimeError((done.stdout + done.stderr)[-300:])
    return done.stdout


def measured(options, module, threads):
    """The median seconds of a run."""
    report = json.loads(run(options, module, threads, options.repeats + 1, more=["--json"]))
    return statistics.median(report["run_seconds"][1:])


def family_of(options, module):
    """The family of the op that takes the most time."""
    lines = run(options, module, 1, 2, more=["--profile"]).splitlines()
    header = next((i for i, line in enumerate(lines) if line.startswith("instruction ")), None)
    if header is None or header + 1 == len(lines):
        return "other"
    rows = [line.split() for line in lines[header + 1:]]
    op = next((row[1] for row in rows if len(row) > 1 and row[1] not in ("call",)), "other")
    return FAMILIES.get(op, "data movement")


def makespan(tasks, threads, delay):
    """When the last task ends. The caller takes tasks immediately, the workers after a delay; tasks are taken in order."""
    free = [0] + [delay] * (threads - 1)
    heapq.heapify(free)
    end = 0
    for task in tasks:
        at = heapq.heappop(free) + task
        end = max(end, at)
        heapq.heappush(free, at)
    return end


def estimate(log, threads, wake):
    """The seconds that the recorded run would take on `threads` threads."""
    lines = [line.split() for line in log.read_text().splitlines()]
    [(_, begin, end)] = [line for line in lines if line[0] == "run"]
    begin, end = int(begin), int(end)
    total, last = end - begin, None
    for line in lines:
        if line[0] != "job":
            continue
        start, stop, tasks = int(line[1]), int(line[2]), [int(x) for x in line[3:]]
        asleep = last is None or start - last > SPIN_NS
        total += makespan(tasks, min(threads, len(tasks)), wake if asleep else AWAKE_NS) - (stop - start)
        last = stop
    return total / 1e9


def estimated(options, module, threads, folder):
    """The least of a few estimates, because other processes lengthen tasks."""
    found = []
    for _ in range(options.rounds):
        log = folder / "tasks"
        run(options, module, threads, options.repeats + 1, log)
        wake = next(int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("wake"))
        found.append(estimate(log, threads, options.wake_us * 1e3 if options.wake_us else max(wake, AWAKE_NS)))
    return min(found)


def measure(options, module, folder):
    cores = len(os.sched_getaffinity(0))
    inputs = folder / module.stem
    has_indices = module.with_suffix(".npz").exists() and complete_inputs(module, inputs)
    options.inputs = inputs if has_indices else None
    row = {"name": module.stem, "family": family_of(options, module), "seconds": {}, "estimated": []}
    for threads in options.threads:
        if threads > cores or options.estimate:
            row["seconds"][threads] = estimated(options, module, threads, folder)
            row["estimated"].append(threads)
        else:
            row["seconds"][threads] = min(measured(options, module, threads) for _ in range(options.rounds))
    shutil.rmtree(inputs, ignore_errors=True)
    return row


def efficiency(row, threads):
    seconds = {int(n): value for n, value in row["seconds"].items()}
    return seconds[1] / (threads * seconds[threads])


def mean(values):
    return math.exp(statistics.fmean(math.log(max(value, 1e-9)) for value in values))


def table(rows, options):
    more = [n for n in options.threads if n != 1]
    mark = {n: " (estimate)" if any(n in row["estimated"] for row in rows) else "" for n in more}
    lines = ["| family | patterns | " + " | ".join(f"{n} threads{mark[n]}" for n in more) + " |", "| --- | --: |" + " --: |" * len(more)]

    def add(name, group):
        if group:
            lines.append(f"| {name} | {len(group)} | " + " | ".join(f"{mean([efficiency(row, n) for row in group]):.2f}" for n in more) + " |")

    for family in sorted({row["family"] for row in rows}):
        add(family, [row for row in rows if row["family"] == family])
    add("all", rows)
    add("all of at least 1 ms on one thread", [row for row in rows if list(row["seconds"].values())[0] >= 1e-3])
    lines += ["", "| pattern | family | ms on 1 thread | " + " | ".join(f"{n}" for n in more) + " |", "| --- | --- | --: |" + " --: |" * len(more)]
    for row in sorted(rows, key=lambda row: efficiency(row, more[-1])):
        cells = " | ".join(f"{efficiency(row, n):.2f}" for n in more)
        lines.append(f"| {row['name']} | {row['family']} | {list(row['seconds'].values())[0] * 1e3:.3g} | {cells} |")
    return lines


def page(rows, options):
    intro = ["# Scaling", "", "The efficiency of shoal's engine on several threads: the time on one thread divided by N times the time on N threads.",
             "`bench/scaling.py` writes this page. Columns marked as estimates come from the durations of tasks on one thread, which the",
             "script assigns to threads in the way of the thread pool. A worker that slept for more than 50 µs starts after 60 µs. The",
             "estimates assume that threads do not share caches and memory bandwidth. Most patterns take less than a millisecond, in",
             "which waking the workers is a large part; in a program, they are awake. Loops of a program run few tasks per iteration.", "",
             "The measurements were taken on 16 cores of a Xeon with AMX, one thread per core. oneDNN computes the products of f32 and",
             "bf16. Version 2.6 of Debian 12 uses AMX there, but its fastest kernels (`brg:avx512_core_amx_bf16`, 1.2 to 1.7 times as",
             "fast for large tiles) take only matrices whose rows follow each other, which tiles are not. `bench/run_vs_xla.py` with one",
             "round on the same machine: 440 programs, geometric mean 3.56 times the speed of XLA:CPU (JAX 0.11.2), 16 below 0.8:",
             "complex products (0.19), reductions by functions (0.23), a pooling that rounds each step to bf16 (0.34), a small segment sum",
             "(0.40), concatenations of many operands (0.51), small products of bytes (0.70) and loops of small steps (0.66 to 0.79).",
             "Products of 1024 rows take 0.85 (f32) and 0.91 (bf16) of XLA's time. The tables below are older than the thread pool of",
             "that run, with which jobs of 16 tasks of 10 µs take 21 instead of 31 µs on 16 threads, and 12 instead of 15 µs on 4.", ""]
    return "\n".join(intro + table(rows, options)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build/shoal")
    parser.add_argument("--save", type=pathlib.Path, help="write the modules to this directory")
    parser.add_argument("--modules", type=pathlib.Path, help="measure the modules in this directory")
    parser.add_argument("--only", default="", help="only patterns whose name contains this")
    parser.add_argument("--names", default="", help="only these patterns, separated by commas")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4, 8, 16])
    parser.add_argument("--estimate", action="store_true", help="estimate all times, also those that could be measured")
    parser.add_argument("--wake_us", type=float, default=0, help="time to wake up a worker (default: measured)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--timeout", type=int, default=120)
    parser.add_argument("--json", type=pathlib.Path, help="write all times to this file")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the page to this file")
    parser.add_argument("--from", dest="measured", type=pathlib.Path, help="use this --json file instead of measuring")
    options = parser.parse_args()
    if options.save:
        save_modules(options.save, options.only)
        return 0
    rows = json.loads(options.measured.read_text()) if options.measured else []
    names = set(options.names.split(",")) if options.names else None
    modules = sorted(options.modules.glob("*.hlo")) if options.modules and not options.measured else []
    with tempfile.TemporaryDirectory() as folder:
        for module in modules:
            if options.only not in module.stem or (names and module.stem not in names):
                continue
            try:
                rows.append(measure(options, module, pathlib.Path(folder)))
            except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
                print(f"{module.stem}: failed: {error}", flush=True)
                continue
            times = "".join(f"{seconds * 1e3:10.3f}" for seconds in rows[-1]["seconds"].values())
            print(f"{module.stem:36}{rows[-1]['family']:24}{times}", flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1))
    if not rows:
        parser.error("--modules names no modules")
    if options.markdown:
        options.markdown.write_text(page(rows, options))
    else:
        print("\n".join(table(rows, options)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
