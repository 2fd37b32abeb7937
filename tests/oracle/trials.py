"""Shared by run.py, engines.py and ranks.py: selects programs, gets a verdict on each, and counts the verdicts.

A caller provides a function `verdict(program, folder)` that returns "same", "differs" or another word, and a message.
A program that "differs" is printed with the command that reproduces it, and saved if --save is given.
"""
import argparse
import collections
import importlib.util
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def need(*packages):
    """Exits successfully if one of the packages is not installed."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(0)


def parser_of(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="number of programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=int, help="run and print only this program")
    parser.add_argument("--family", default="", help="only families whose name contains this")
    parser.add_argument("--save", type=pathlib.Path, help="folder for programs that differ")
    return parser


def first_difference(program, got, want, nudged, reference=None, other="XLA"):
    """None, or a message. `nudged`: the results of `other` for slightly perturbed inputs; `reference`: a function from
    inputs to results that are also correct."""
    from agreement import disagreement
    for device, leaves in enumerate(got):
        references = reference(program.inputs[device]) if reference else [None] * len(leaves)
        for leaf, value in enumerate(program.outputs):
            moved = [results[device][leaf] for results in nudged]
            reason = disagreement(value, leaves[leaf], want[device][leaf], moved, references[leaf], other)
            if reason:
                return f"result {leaf} on device {device} ({value.shape}): {reason}"
    return None


class Trials:
    def __init__(self, options, families, script, flags=""):
        """`script` and `flags` are the command that reproduces a program."""
        self.options, self._script, self._flags = options, script, flags
        self._families = [family for family in families if options.family in family.__name__]
        if not self._families:
            sys.exit(f"no family has {options.family} in its name: " + " ".join(f.__name__ for f in families))
        self.counts = collections.defaultdict(collections.Counter)

    def run(self, generated, verdict, shown=("differs",), on_saved=lambda folder, program: None):
        """`generated(seed, index, families)` returns a program; `on_saved` is called for each saved one."""
        options = self.options
        for index in range(options.count) if options.program is None else [options.program]:
            program = generated(options.seed, index, self._families)
            if options.program is not None:
                print(program.text)
            with tempfile.TemporaryDirectory() as scratch:
                result, reason = verdict(program, scratch)
                name = f"{options.seed}-{index}-{program.family}"
                saved = result == "differs" and options.save and options.save / name
                if saved:
                    shutil.copytree(scratch, saved, dirs_exist_ok=True)
            self.counts[program.family][result] += 1
            if result in shown:
                family = f" --family={options.family}" if options.family else ""
                command = f"{self._script} --seed={options.seed} --program={index}{family}{self._flags}"
                print(f"{result}: {program.family}: {reason}\n    to reproduce: {command}", flush=True)
                if saved:
                    on_saved(saved, program)

    def report(self, passing, words):
        """Prints a table with a column for each of `words`, and the line that ./test reads; returns the exit status."""
        print(f"{'family':20}" + "".join(f"{word:>9}" for word in words))
        for family, row in sorted(self.counts.items()):
            print(f"{family:20}" + "".join(f"{row[word]:9}" for word in words))
        total = sum(self.counts.values(), collections.Counter())
        if "refused" not in passing:
            executed = 100 * (1 - total["refused"] / max(1, sum(total.values())))
            print(f"XLA executed {executed:.1f} % of the programs")
        print(f"{sum(total[word] for word in passing)} passed, {total['differs']} failed")
        return 1 if total["differs"] else 0
