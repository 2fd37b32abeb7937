#!/usr/bin/env python3
"""Compares shoal's engine with its interpreter on random programs.

    tests/oracle/engines.py --count=1000 --seed=7 [--worker build/tests/oracle/engine_worker] [--save DIR]

Uses the programs of run.py, including larger ones, and some that are designed for fusion (nests.py, pieces.py). Needs
NumPy and ml_dtypes, but not JAX. Results with only one correct value must have the interpreter's bits; sums and
functions may differ by a few units in the last place, as in run.py. The engine must compute identical bits with 1, 2,
5 and 16 threads. Each program is also run with a call that has a side effect and that no engine knows, in one of its
computations: either both engines refuse it, or, if it is never executed, neither. Program number I of a seed is always the same: --seed=S --program=I. Exit status 1 if a result differs.
"""
import pathlib
import re
import subprocess
import sys

import trials

if __name__ == "__main__":
    trials.need("ml_dtypes", "numpy")

import numpy as np

import element_types as et
import families as all_families
import nests
import pieces
import sharded
from backends import load_arrays, save_arrays
from program import pick, sizes

FAMILIES = [family for family in all_families.FAMILIES if family.__module__ != sharded.__name__] + nests.NESTS + pieces.PIECES


def parsed_arguments():
    parser = trials.parser_of(__doc__)
    parser.add_argument("--worker", default=str(trials.ROOT / "build/tests/oracle/engine_worker"))
    return parser.parse_args()


class Worker:
    """Runs one worker process; starts another when it has ended."""

    def __init__(self, command):
        self._command, self._process = command, None

    def ask(self, *arguments):
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen([self._command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._process.stdin.write(" ".join(map(str, arguments)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().rstrip("\n")
        return answer or f"error: the worker ended with status {self._process.wait()}"


def nudged_results(program, worker, folder, types):
    """The interpreter's results for slightly perturbed inputs."""
    sets = []
    for number in range(3):
        inputs = [[et.nudged(program.rng, array) for array in leaves] for leaves in program.inputs]
        save_arrays(f"{folder}/nudged{number}", inputs)
        if worker.ask("interp", folder, f"{folder}/nudged{number}", f"{folder}/out{number}") == "done":
            sets.append(load_arrays(f"{folder}/out{number}", types))
    return sets


def difference(program, worker, folder):
    """None, or a message about the first result that differs from the interpreter's."""
    types = [[et.dtype(value.type) for value in program.outputs]] * program.devices
    want, got = load_arrays(f"{folder}/interp", types), load_arrays(f"{folder}/jit", types)
    sets = nudged_results(program, worker, folder, types) if any(value.ulps for value in program.outputs) else []
    return trials.first_difference(program, got, want, sets, other="the interpreter")


def with_effect(program):
    """The program's text with an unknown call, whose result is unused, in one of the computations."""
    starts = [match.end() for match in re.finditer(r"^(ENTRY )?[\w.%-]+ .*{\n", program.text, re.M) if not match[0].startswith("HloModule")]
    start = pick(program.rng, starts)
    call = ('  logged = f32[] constant(0)\n'
            '  log = () custom-call(logged), custom_call_target="log", custom_call_has_side_effect=true\n')
    return program.text[:start] + call + program.text[start:]


def effect_verdict(program, worker, folder):
    """None, or a message if only one engine executes a call with a side effect."""
    pathlib.Path(folder, "module.hlo").write_text(with_effect(program), encoding="utf-8")
    answer = worker.ask("effects", folder)
    return None if answer == "same" else answer


def verdict(program, worker, folder):
    """One of "same", "near", "refused" and "differs", and a message."""
    pathlib.Path(folder, "module.hlo").write_text(program.text, encoding="utf-8")
    pathlib.Path(folder, "in").mkdir(exist_ok=True)
    save_arrays(f"{folder}/in", program.inputs)
    answer = worker.ask("both", folder)
    if answer == "differ":
        reason = difference(program, worker, folder)
        return ("differs", reason) if reason else ("near", "")
    if answer != "same" and not answer.startswith("refused"):
        return "differs", answer
    missed = effect_verdict(program, worker, folder)
    return ("differs", missed) if missed else (answer.split(":")[0], "")


def generated(seed, index, families):
    rng = np.random.default_rng([seed, index])
    sizes.max_elements, sizes.max_side = pick(rng, [(200, 9), (200, 9), (3000, 40), (90000, 700)])
    return pick(rng, families)(rng)


def main():
    options = parsed_arguments()
    trial = trials.Trials(options, FAMILIES, "tests/oracle/engines.py")
    worker = Worker(options.worker)
    trial.run(generated, lambda program, folder: verdict(program, worker, folder))
    return trial.report(("same", "near", "refused"), ("same", "near", "refused", "differs"))


if __name__ == "__main__":
    sys.exit(main())
