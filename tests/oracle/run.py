#!/usr/bin/env python3
"""Random programs on XLA and on shoal: do they compute the same?

    tests/oracle/run.py --count=1000 --seed=7 [--bin build/shoal] [--save DIR]

Program number I of a seed is always the same, so a difference is found again with --seed=S --program=I. With --save
it is also kept as files: module.hlo, in/dD/K.npy, out/dD/K.npy of shoal and xla/dD/K.npy. XLA refuses or aborts on a
few programs; they are counted as refused and not compared. Exit status 1 when something differs; without JAX nothing
is done and the status is 0.
"""
import argparse
import collections
import importlib.util
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=int, help="only this one, and print it")
    parser.add_argument("--family", default="", help="only families whose name contains this")
    parser.add_argument("--bin", default=str(ROOT / "build/shoal"))
    parser.add_argument("--ranks", type=int, default=1, help="run shoal as a job of so many MPI processes")
    parser.add_argument("--save", type=pathlib.Path, help="folder for programs that differ")
    parser.add_argument("--xla-only", action="store_true", help="only see what XLA says to the programs")
    return parser.parse_args()


def first_difference(program, got, sets):
    """None, or a sentence. `sets`: XLA's results for the inputs and for nudged ones."""
    for device, leaves in enumerate(got):
        references = program.reference(program.inputs[device]) if program.reference else [None] * len(leaves)
        for leaf, value in enumerate(program.outputs):
            nudged = [other[device][leaf] for other in sets[1:]]
            why = disagreement(value, leaves[leaf], sets[0][device][leaf], nudged, references[leaf])
            if why:
                return f"result {leaf} on device {device} ({value.shape}): {why}"
    return None


def verdict(program, xla, shoal, folder):
    """One of "same", "differs" and "refused", and a sentence."""
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
    why = got if isinstance(got, str) else first_difference(program, got, want)
    return ("differs", why) if why else ("same", "")


def generated(seed, index, families):
    rng = np.random.default_rng([seed, index])
    return pick(rng, families)(rng)


def launcher(ranks):
    """What starts a job, before the words of the call."""
    if ranks == 1:
        return []
    sys.path.append(str(ROOT / "tests/hosts"))
    import mpi
    return mpi.command(ranks, [])


def report(counts):
    print(f"{'family':20}{'same':>8}{'differs':>9}{'refused':>9}")
    for family, row in sorted(counts.items()):
        print(f"{family:20}{row['same']:8}{row['differs']:9}{row['refused']:9}")
    total = sum(counts.values(), collections.Counter())
    print(f"XLA executed {100 * (1 - total['refused'] / max(1, sum(total.values()))):.1f} % of the programs")
    print(f"{total['same']} passed, {total['differs']} failed")
    return 1 if total["differs"] else 0


def main():
    options = parsed_arguments()
    families = [family for family in FAMILIES if options.family in family.__name__]
    if not families:
        sys.exit(f"no family has {options.family} in its name: " + " ".join(f.__name__ for f in FAMILIES))
    xla, shoal = Xla(), None if options.xla_only else Shoal(options.bin, launcher=launcher(options.ranks))
    counts = collections.defaultdict(collections.Counter)
    for index in range(options.count) if options.program is None else [options.program]:
        program = generated(options.seed, index, families)
        if options.program is not None:
            print(program.text)
        with tempfile.TemporaryDirectory() as scratch:
            kept = options.save and options.save / f"{options.seed}-{index}-{program.family}"
            what, why = verdict(program, xla, shoal, scratch)
            if what == "differs" and kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copytree(scratch, kept, dirs_exist_ok=True)
        counts[program.family][what] += 1
        if what == "differs" or (what == "refused" and (options.xla_only or options.program is not None)):
            family = f" --family={options.family}" if options.family else ""
            ranks = f" --ranks={options.ranks}" if options.ranks > 1 else ""
            again = f"tests/oracle/run.py --seed={options.seed} --program={index}{family}{ranks}"
            print(f"{what}: {program.family}: {why}\n    again: {again}", flush=True)
            if what == "differs" and kept:
                print(f"    {rerun_text(shoal, kept, program)}")
    xla.close()
    return report(counts)


if __name__ == "__main__":
    missing = [name for name in ("jax", "ml_dtypes", "numpy") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(0)
    import shutil

    import numpy as np

    import element_types as et
    from agreement import disagreement
    from backends import Shoal, Xla, rerun_text, save_arrays
    from families import FAMILIES
    from program import pick

    sys.exit(main())
