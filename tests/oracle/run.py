#!/usr/bin/env python3
"""Compares XLA and shoal on random programs.

    tests/oracle/run.py --count=1000 --seed=7 [--bin build/shoal] [--save DIR]

Program number I of a seed is always the same, so --seed=S --program=I reproduces a difference. --save also writes it
as files: module.hlo, in/dD/K.npy, out/dD/K.npy of shoal and xla/dD/K.npy. XLA rejects or aborts on a few programs; they
are counted as refused and not compared. Exit status 1 if a result differs; without JAX nothing runs and the status is
0.
"""
import sys

import trials

if __name__ == "__main__":
    trials.need("jax", "ml_dtypes", "numpy")

import numpy as np

import element_types as et
from backends import Shoal, Xla, rerun_text, save_arrays
from families import FAMILIES
from program import pick


def parsed_arguments():
    parser = trials.parser_of(__doc__)
    parser.add_argument("--bin", default=str(trials.ROOT / "build/shoal"))
    parser.add_argument("--ranks", type=int, default=1, help="run shoal as a job of N MPI processes")
    parser.add_argument("--xla-only", action="store_true", help="run the programs only on XLA")
    return parser.parse_args()


def verdict(program, xla, shoal, folder):
    """One of "same", "differs" and "refused", and a message."""
    sets = [program.inputs]
    if any(value.ulps for value in program.outputs):
        sets += [[[et.nudged(program.rng, array) for array in leaves] for leaves in program.inputs] for _ in range(3)]
    want = xla.execute(program, sets)
    if isinstance(want, str):
        return "refused", want
    if shoal is None:
        return "same", ""
    save_arrays(f"{folder}/xla", want[0])
    got = shoal.execute(program, folder, [[array.dtype for array in leaves] for leaves in want[0]])
    if isinstance(got, str):
        return "differs", got
    reason = trials.first_difference(program, got, want[0], want[1:], program.reference)
    return ("differs", reason) if reason else ("same", "")


def generated(seed, index, families):
    rng = np.random.default_rng([seed, index])
    return pick(rng, families)(rng)


def launcher(ranks):
    """The launcher command that precedes the shoal command."""
    if ranks == 1:
        return []
    sys.path.append(str(trials.ROOT / "tests/hosts"))
    import mpi
    return mpi.command(ranks, [])


def main():
    options = parsed_arguments()
    ranks = f" --ranks={options.ranks}" if options.ranks > 1 else ""
    trial = trials.Trials(options, FAMILIES, "tests/oracle/run.py", ranks)
    xla, shoal = Xla(), None if options.xla_only else Shoal(options.bin, launcher=launcher(options.ranks))
    shown = ("differs", "refused") if options.xla_only or options.program is not None else ("differs",)
    trial.run(generated, lambda program, folder: verdict(program, xla, shoal, folder), shown,
              on_saved=lambda folder, program: print(f"    {rerun_text(shoal, folder, program)}"))
    xla.close()
    return trial.report(("same",), ("same", "differs", "refused"))


if __name__ == "__main__":
    sys.exit(main())
