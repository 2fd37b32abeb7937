#!/usr/bin/env python3
"""Random programs by shoal's engine and by its interpreter: do they compute the same?

    tests/oracle/engines.py --count=1000 --seed=7 [--worker build/tests/oracle/engine_worker] [--save DIR]

The programs of run.py, larger ones among them, and some that are made to be fused (nests.py); needs NumPy and ml_dtypes,
but no JAX. What has one right answer must have the interpreter's bits; sums and functions may differ by some units in the
last place, as in run.py. The engine must give the same bits with 1, 2 and 5 threads. Program number I of a seed is always
the same: --seed=S --program=I. Exit status 1 when something differs.
"""
import argparse
import collections
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=int, help="only this one, and print it")
    parser.add_argument("--family", default="", help="only families whose name contains this")
    parser.add_argument("--worker", default=str(ROOT / "build/tests/oracle/engine_worker"))
    parser.add_argument("--save", type=pathlib.Path, help="folder for programs that differ")
    return parser.parse_args()


class Worker:
    """One process at a time; another when it is gone."""

    def __init__(self, command):
        self._command, self._process = command, None

    def ask(self, *words):
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen([self._command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().rstrip("\n")
        return answer or f"error: the worker ended with status {self._process.wait()}"


def nudged_results(program, worker, folder, types):
    """The interpreter's results for inputs that are moved a little."""
    sets = []
    for number in range(3):
        inputs = [[et.nudged(program.rng, array) for array in leaves] for leaves in program.inputs]
        save_arrays(f"{folder}/nudged{number}", inputs)
        if worker.ask("interp", folder, f"{folder}/nudged{number}", f"{folder}/out{number}") == "done":
            sets.append(load_arrays(f"{folder}/out{number}", types))
    return sets


def difference(program, worker, folder):
    """None, or a sentence about the first result that is not the interpreter's."""
    types = [[et.dtype(value.type) for value in program.outputs]] * program.devices
    want, got = load_arrays(f"{folder}/interp", types), load_arrays(f"{folder}/jit", types)
    sets = nudged_results(program, worker, folder, types) if any(value.ulps for value in program.outputs) else []
    for device in range(program.devices):
        for leaf, value in enumerate(program.outputs):
            nudged = [other[device][leaf] for other in sets]
            why = disagreement(value, got[device][leaf], want[device][leaf], nudged, other="the interpreter")
            if why:
                return f"result {leaf} on device {device} ({value.shape}): {why}"
    return None


def verdict(program, worker, folder):
    """One of "same", "near", "refused" and "differs", and a sentence."""
    pathlib.Path(folder, "module.hlo").write_text(program.text, encoding="utf-8")
    pathlib.Path(folder, "in").mkdir(exist_ok=True)
    save_arrays(f"{folder}/in", program.inputs)
    answer = worker.ask("both", folder)
    if answer == "differ":
        why = difference(program, worker, folder)
        return ("differs", why) if why else ("near", "")
    if answer == "same" or answer.startswith("refused"):
        return answer.split(":")[0], ""
    return "differs", answer


def generated(seed, index, families):
    rng = np.random.default_rng([seed, index])
    sizes.most, sizes.side = pick(rng, [(200, 9), (200, 9), (3000, 40), (90000, 700)])
    return pick(rng, families)(rng)


def report(counts):
    print(f"{'family':20}{'same':>8}{'near':>8}{'refused':>9}{'differs':>9}")
    for family, row in sorted(counts.items()):
        print(f"{family:20}{row['same']:8}{row['near']:8}{row['refused']:9}{row['differs']:9}")
    total = sum(counts.values(), collections.Counter())
    print(f"{total['same'] + total['near'] + total['refused']} passed, {total['differs']} failed")
    return 1 if total["differs"] else 0


def main():
    options = parsed_arguments()
    families = [family for family in FAMILIES if options.family in family.__name__]
    if not families:
        sys.exit(f"no family has {options.family} in its name: " + " ".join(f.__name__ for f in FAMILIES))
    worker = Worker(options.worker)
    counts = collections.defaultdict(collections.Counter)
    for index in range(options.count) if options.program is None else [options.program]:
        program = generated(options.seed, index, families)
        if options.program is not None:
            print(program.text)
        with tempfile.TemporaryDirectory() as scratch:
            what, why = verdict(program, worker, scratch)
            if what == "differs" and options.save:
                shutil.copytree(scratch, options.save / f"{options.seed}-{index}-{program.family}", dirs_exist_ok=True)
        counts[program.family][what] += 1
        if what == "differs":
            family = f" --family={options.family}" if options.family else ""
            again = f"tests/oracle/engines.py --seed={options.seed} --program={index}{family}"
            print(f"differs: {program.family}: {why}\n    again: {again}", flush=True)
    return report(counts)


if __name__ == "__main__":
    missing = [name for name in ("ml_dtypes", "numpy") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(0)

    import numpy as np

    import element_types as et
    import families as all_families
    import nests
    import sharded
    from agreement import disagreement
    from backends import load_arrays, save_arrays
    from program import pick, sizes

    FAMILIES = [family for family in all_families.FAMILIES if family.__module__ != sharded.__name__] + nests.NESTS
    sys.exit(main())
