#!/usr/bin/env python3
"""Times random large programs with shoal and with XLA, and lists those on which shoal is slowest.

    bench/random_programs.py --count=500 --seed=1 [--json FILE]

The programs are those of tests/oracle with arrays of up to --elements elements. shoal runs them as XLA optimised them,
or with --lowered as they are. Program number I of a seed is always the same: --seed=S --program=I --print.
"""
import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/oracle"))
import numpy as np

import families as all_families
import program as oracle_program
import run_vs_xla
import xla_cpu

# XLA's CPU backend aborts on these: they have fusions that it did not make, or several devices.
EXCLUDED = {"fusion", "collective", "shard_map"}
FAMILIES = [family for family in all_families.FAMILIES if family.__name__ not in EXCLUDED]


def generated(seed, index, elements):
    """A program whose inputs or results are large; None if the family has only small ones."""
    rng = np.random.default_rng([seed, index])
    oracle_program.sizes.max_elements, oracle_program.sizes.max_side = elements, max(9, int(elements ** 0.5) * 2)
    program = FAMILIES[int(rng.integers(len(FAMILIES)))](rng)
    sizes = [array.size for array in program.inputs[0]] + [value.size for value in program.outputs]
    return program if program.devices == 1 and max(sizes, default=0) >= elements // 50 else None


def measure(options, index, program, folder):
    xla = xla_cpu.Xla(program.text)
    text = program.text if options.lowered else xla.optimised_text()
    arguments = [np.asarray(array) for array in program.inputs[0]]
    return run_vs_xla.compare(options, f"{program.family}_{index}", xla, text, xla_cpu.placed(arguments), [arguments], folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=int, help="only this program")
    parser.add_argument("--print", action="store_true", help="print the program as shoal gets it")
    parser.add_argument("--elements", type=int, default=1_000_000)
    parser.add_argument("--lowered", action="store_true", help="shoal runs the programs as they are")
    parser.add_argument("--bin", default=ROOT / "build/shoal")
    parser.add_argument("--engine", default="jit")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--timeout", type=int, default=120)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    xla_cpu.start(options.threads)
    rows, failed = [], 0
    for index in range(options.count) if options.program is None else [options.program]:
        program = generated(options.seed, index, options.elements)
        if program is None:
            continue
        if options.print:
            print(program.text if options.lowered else xla_cpu.Xla(program.text).optimised_text())
        with tempfile.TemporaryDirectory() as folder:
            try:
                rows.append(dict(measure(options, index, program, pathlib.Path(folder)), index=index))
            except (RuntimeError, TypeError, ValueError) as error:
                failed += 1
                print(f"{index} {program.family}: failed: {str(error)[:200]}", flush=True)
                continue
        row = rows[-1]
        print(f"{row['name']:32}{row['xla_best'] * 1e3:10.3f}{row['shoal_best'] * 1e3:10.3f}{row['xla_best'] / row['shoal_best']:8.2f}"
              f"{'  %.0f %% interpreted' % (100 * row['interpreted']) if row['interpreted'] > 0.05 else ''}", flush=True)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    slow = sorted((row for row in rows if row["xla_best"] < row["shoal_best"] / 3), key=lambda row: row["xla_best"] / row["shoal_best"])
    ratios = [row["xla_best"] / row["shoal_best"] for row in rows]
    print(f"{len(rows)} programs, {failed} failed: geometric mean {run_vs_xla.geometric_mean(ratios) if ratios else 0:.2f}; "
          f"{len(slow)} more than three times slower than XLA:")
    for row in slow:
        print(f"  {row['name']:32}{row['xla_best'] / row['shoal_best']:8.2f}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
