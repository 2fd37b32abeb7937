#!/usr/bin/env python3
"""Compares an MPI job with one process on random programs for several devices: output files and messages must be equal.

    tests/oracle/ranks.py --count=100 --seed=7 --ranks=4 [--bin build/shoal] [--save DIR]

Needs NumPy and ml_dtypes, and mpirun; with JAX it also uses programs that JAX partitioned. Engine and placement are
random. Program number I of a seed is always the same: --seed=S --program=I. Exit status 1 if an output differs.
"""
import importlib.util
import os
import pathlib
import sys

import trials

if __name__ == "__main__":
    trials.need("ml_dtypes", "numpy")

import numpy as np

import collectives
import exchanges
import sharded
from backends import save_arrays
from program import pick

sys.path.append(str(trials.ROOT / "tests/hosts"))
import mpi  # noqa: E402
import same  # noqa: E402

FAMILIES = [collectives.collective, exchanges.large, exchanges.large, exchanges.looped, exchanges.looped]
if importlib.util.find_spec("jax"):
    FAMILIES.append(sharded.shard_map)


def parsed_arguments():
    parser = trials.parser_of(__doc__)
    parser.add_argument("--bin", default=str(trials.ROOT / "build/shoal"))
    parser.add_argument("--ranks", type=int, default=2, help="number of processes of the job")
    return parser.parse_args()


def generated(seed, index, families):
    rng = np.random.default_rng([seed, index])
    return pick(rng, families)(rng)


def verdict(program, folder, options):
    module = pathlib.Path(folder, "module.hlo")
    module.write_text(program.text, encoding="utf-8")
    save_arrays(f"{folder}/in", program.inputs)
    arguments = [f"--num_replicas={program.replicas}", f"--num_partitions={program.partitions}",
                 f"--inputs={folder}/in", f"--engine={pick(program.rng, ['jit', 'interp'])}"]
    statuses = []
    reason = same.difference(os.path.abspath(options.bin), program.family, arguments, module, options.ranks,
                             pick(program.rng, ["block", "cyclic"]), statuses)
    return ("differs", reason) if reason else ("same" if statuses == [0] else "refused", "")


def main():
    options = parsed_arguments()
    if reason := mpi.available(options.bin):
        print(f"skipped: {reason}")
        return 0
    trial = trials.Trials(options, FAMILIES, "tests/oracle/ranks.py", f" --ranks={options.ranks}")
    trial.run(generated, lambda program, folder: verdict(program, folder, options))
    return trial.report(("same", "refused"), ("same", "differs", "refused"))


if __name__ == "__main__":
    sys.exit(main())
