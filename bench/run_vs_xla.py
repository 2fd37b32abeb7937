#!/usr/bin/env python3
"""Runs modules alternately with shoal and with XLA's CPU backend, on the same inputs, and compares time and results.

    bench/run_vs_xla.py [FILE.hlo …] [--only TEXT] [--rounds N] [--json OUT] [--markdown OUT]
    bench/run_vs_xla.py --optimised                     shoal runs each program as XLA:CPU optimised it
    bench/run_vs_xla.py --devices 4                     steps on several devices, partitioned and optimised by XLA
    bench/run_vs_xla.py --from A.json B.json --markdown bench/performance.md    the page of earlier measurements

Without files: patterns and small programs, written with JAX and lowered to HLO (pip install jax; Python 3.12 or later
for the newest), and XLA's own benchmarks if ../shared/corpus has them and they fit into memory. Each round runs XLA a
few times in this process and then `shoal run --num_repeats` in another, so that both see the same state of the machine.
The result is the median over all rounds; the compile time of the first call is reported separately. The script also
compares the results: a fast wrong answer is a failure. Exit status 1 if any results differ, if the interpreter
takes more than 5 % of a program that is not in KNOWN_FALLBACKS, or if --at-least is not reached.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import basic_patterns
import cliff_patterns
import device_patterns
import library_patterns
import loop_patterns
import op_patterns
import program_patterns
import shape_patterns
import xla_cpu
from performance_page import geometric_mean, machine, write_page

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared/corpus/xla"


def save(path, array):
    array = np.asarray(array)
    np.save(path, array if array.dtype.kind in "biufc" else array.view(np.dtype(f"V{array.dtype.itemsize}")))


def run_shoal(options, hlo, inputs, outputs, repeats):
    command = [options.bin, "run", hlo, f"--engine={options.engine}", f"--num_repeats={repeats}", "--json",
               f"--inputs={inputs}", f"--outputs={outputs}"]
    if options.threads:
        command.append(f"--threads={options.threads}")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=options.timeout)
    if done.returncode != 0:
        raise RuntimeError((done.stdout + done.stderr)[-400:])
    return json.loads(done.stdout)


def count_refusals(options, hlo, inputs):
    """The number of groups and fusions of the module for which the kernel builder made no kernel."""
    if options.engine != "jit":
        return 0
    command = [options.bin, "run", hlo, "--explain", f"--inputs={inputs}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=options.timeout)
    return sum(line.startswith("no kernel for ") for line in done.stdout.splitlines())


def agree(a, b):
    if b.dtype != a.dtype:
        b = b.view(a.dtype)
    if a.dtype.kind in "biu":
        return bool((a == b).all())
    bound = {"bfloat16": 4e-2, "float16": 1e-2}.get(a.dtype.name, 1e-3)
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    scale = max(1e-6, float(np.nanmax(np.abs(a), initial=0)))
    return bool(np.allclose(a, b, rtol=bound, atol=bound * scale, equal_nan=True))


def measure(options, name, text, arguments, folder):
    xla = xla_cpu.Xla(text)
    if options.optimised:
        text = xla.optimised_text()
    return compare(options, name, xla, text, xla_cpu.placed(arguments), [arguments], folder)


def measure_devices(options, name, case, folder):
    xla = xla_cpu.XlaDevices(*case, options.devices)
    held = list(zip(*[xla_cpu.shards(argument) for argument in xla.arguments]))
    return compare(options, name, xla, xla.text, xla.arguments, held, folder)


def compare(options, name, xla, text, placed, held, folder):
    """Runs a module with both and compares the results. `held` has the arguments of each device."""
    hlo, inputs, outputs = folder / f"{name}.hlo", folder / name / "in", folder / name / "out"
    hlo.write_text(text)
    for device, arguments in enumerate(held):
        (inputs / f"d{device}").mkdir(parents=True)
        for k, argument in enumerate(arguments):
            save(inputs / f"d{device}" / f"{k}.npy", argument)
    ours, theirs, compiles, expected = [], [], [], None
    xla.run(placed, 2)
    for _ in range(options.rounds):
        seconds, expected = xla.run(placed, options.repeats)
        theirs += seconds
        report = run_shoal(options, hlo, inputs, outputs, options.repeats + 1)
        ours += report["run_seconds"][1:]
        compiles.append(report["compile_seconds"])
    interpreted = report["interpreter_seconds"] / max(report["run_seconds"][-1], 1e-9)
    results = [np.load(outputs / "d0" / f"{k}.npy") for k in range(len(expected))]
    same = all(agree(a, b) for a, b in zip(expected, results))
    return {"name": name, "runs": len(ours), "xla_spread": spread(theirs), "shoal_spread": spread(ours),
            "xla_best": min(theirs), "shoal_best": min(ours), "xla": statistics.median(theirs), "shoal": statistics.median(ours),
            "xla_compile": xla.compile_seconds, "shoal_compile": statistics.median(compiles), "same": same,
            "refusals": count_refusals(options, hlo, inputs), "interpreted": interpreted}


# Programs of which the interpreter still computes a part, with the reason.
KNOWN_FALLBACKS = {
    "logsumexp_reducer": "as lowered: a long dimension with a reducer of several ops, which is folded in stages",
}


def falls_back(row):
    """True if the interpreter takes more than 5 % of a program that is not known for that."""
    return row.get("interpreted", 0) > 0.05 and row["name"] not in KNOWN_FALLBACKS


def spread(seconds):
    """The interquartile range, as a fraction of the median."""
    if len(seconds) < 4:
        return 0
    first, middle, third = statistics.quantiles(seconds, n=4)
    return (third - first) / middle


def keep(options, rows, load):
    """Writes the results after every module, so that an interrupted run keeps them."""
    figures = {"jax": xla_cpu.jax.__version__, "machine": machine(), "load": f"{load:.1f} to {os.getloadavg()[0]:.1f}", "rows": rows}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    if options.markdown:
        write_page(options.markdown, [figures])


def cases(options):
    """(name, function that measures the case)"""
    def wanted(name):
        return options.only in name and (not options.names or name in options.names.split(","))

    if options.devices > 1:
        for name, case in device_patterns.patterns(xla_cpu.jax, xla_cpu.jnp, np).items():
            if wanted(name):
                yield name, lambda folder, name=name, case=case: measure_devices(options, name, case, folder)
        return
    for name, module in single_cases(options):
        if wanted(name):
            yield name, lambda folder, name=name, module=module: measure(options, name, *module(), folder)


def single_cases(options):
    """(name, function that returns the text and the arguments)"""
    if not options.files:
        jax = xla_cpu.jax
        for family in basic_patterns, library_patterns, shape_patterns, op_patterns, program_patterns, cliff_patterns, loop_patterns:
            for name, (function, arguments) in family.patterns(jax, xla_cpu.jnp, np, xla_cpu.ml_dtypes).items():
                yield name, lambda function=function, arguments=arguments: (
                    xla_cpu.lowered(function, arguments), [np.asarray(a) for a in jax.tree.leaves(arguments)])
    for path in options.files or benchmarks():
        yield path.stem.split("__")[-1], lambda path=path: given(path)


def benchmarks():
    """XLA's own benchmarks, except the Gemmas, which need more memory than a two-core machine has; XLA's own optimised
    dumps, which it rejects; and mobilenet_v2, which compiles for minutes in 9 GB. These can be given as files."""
    names = CORPUS.glob("backends__cpu__benchmarks__hlo__*.hlo")
    return sorted(path for path in names if "gemma" not in path.name and "optimized" not in path.name)


def given(path):
    """The text without aliases and donated buffers, because the arguments are used again; and generated arguments."""
    text = re.sub(r", (input_output_alias|buffer_donor)=\{.*?\}(?=, [a-z_]+=|\n)", "", path.read_text(), count=2)
    return text, made_up(text)


def made_up(text):
    r = np.random.default_rng(0)
    arguments = []
    for shape in xla_cpu.parameters(text):
        dtype = np.dtype(shape.numpy_dtype())
        whole = dtype.kind in "biu"
        numbers = r.integers(0, 2, shape.dimensions()) if whole else r.uniform(-1, 1, shape.dimensions())
        arguments.append(np.asarray(numbers).astype(dtype))
    return arguments


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--bin", default=ROOT / "build/shoal")
    parser.add_argument("--engine", default="jit")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--names", default="", help="only these cases, separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each engine per round")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--devices", type=int, default=1, help="measure the multi-device steps on this many devices")
    parser.add_argument("--optimised", action="store_true", help="shoal runs the modules as XLA optimised them")
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--at-least", type=float, default=0, metavar="RATIO", help="fail if the mean is lower")
    parser.add_argument("--json", type=pathlib.Path, help="write all measurements to this file")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the page to this file")
    parser.add_argument("--from", dest="measured", nargs="+", type=pathlib.Path, help="use these --json files instead of measuring")
    options = parser.parse_args()
    if options.measured:
        write_page(options.markdown, [json.loads(path.read_text()) for path in options.measured])
        return 0
    load = os.getloadavg()[0]
    xla_cpu.start(options.threads, options.devices)
    rows, failed = [], []
    print(f"{'module':42}{'XLA ms':>10}{'shoal ms':>10}{'ratio':>7}{'compile ms':>12}{'(XLA)':>8}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, measured in cases(options):
            try:
                row = measured(pathlib.Path(folder))
            except (RuntimeError, TypeError, ValueError, subprocess.TimeoutExpired) as error:
                failed.append(name)
                print(f"{name:42} failed: {error}", flush=True)
                continue
            rows.append(row)
            keep(options, rows, load)
            print(f"{name:42}{row['xla'] * 1e3:10.3f}{row['shoal'] * 1e3:10.3f}{row['xla'] / row['shoal']:7.2f}"
                  f"{row['shoal_compile'] * 1e3:12.1f}{row['xla_compile'] * 1e3:8.1f}{'' if row['same'] else '  DIFFERS'}"
                  f"{'' if row['refusals'] == 0 else '  %d without kernel' % row['refusals']}"
                  f"{'  INTERPRETED' if falls_back(row) else ''}",
                  flush=True)
    mean = geometric_mean([row["xla"] / row["shoal"] for row in rows])
    compile_mean = geometric_mean([row["xla_compile"] / row["shoal_compile"] for row in rows if row["shoal_compile"] > 0])
    wrong = [row["name"] for row in rows if not row["same"]]
    slow = [row["name"] for row in rows if falls_back(row)]
    print(f"{len(rows)} modules: geometric mean of speed {mean:.2f}, of compile speed {compile_mean:.2f} times XLA's; "
          f"lowest {min((row['xla'] / row['shoal'] for row in rows), default=float('nan')):.2f}; "
          f"fusions without kernel: {sum(row['refusals'] for row in rows)}; "
          f"differ: {', '.join(wrong) or 'none'}; failed: {', '.join(failed) or 'none'}; "
          f"interpreted: {', '.join(slow) or 'none'}")
    return 1 if wrong or failed or slow or mean < options.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
