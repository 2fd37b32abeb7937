#!/usr/bin/env python3
"""shoal as the processes of an MPI job: the same bytes, the same messages, the same exit status as one process.

    tests/hosts/run.py [SHARED] [--bin build/shoal] [--all] [--only PATTERN]

Every test of collectives, every example and (with SHARED) the JAX goldens of several devices run in one process and
under mpirun with 2, 3, 4 or 8 processes; --all takes every number for every module, else they take turns. Without
mpirun nothing is done, and the last line says so.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import sys

import faults
import memory
import mpi
import namespaces
import same

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKS = [2, 3, 4, 8]


def collective_tests():
    """(name, words after `shoal run FILE`, file) of every test of a collective."""
    for path in sorted((ROOT / "tests/interp/collectives").glob("*.hlo")):
        for line in re.findall(r"^// RUN: shoal run %s(.*)$", path.read_text(encoding="utf-8"), re.M):
            if "|" not in line:
                yield path.stem, line.split(), path


def example_tests():
    for path in sorted((ROOT / "examples").glob("*.hlo")):
        for words in (["--print_literals"], ["--engine=jit", "--print_literals"]):
            yield path.stem, words, path


def golden_tests(shared):
    """Goldens of 4 and 8 devices that are quick."""
    for path in sorted((shared / "golden/jax").glob("*.after.hlo")):
        count = re.search(r"(?:num_partitions|replica_count)=([48])\b", path.read_text(encoding="utf-8")[:20000])
        if count and path.stat().st_size < 100_000:
            yield path.stem, ["--print_literals"], path


def same_tests(options):
    tests = [*collective_tests(), *example_tests()]
    if options.shared:
        tests += golden_tests(options.shared)
    turn = 0
    for name, words, path in tests:
        if options.only not in name:
            continue
        for ranks in RANKS if options.all else [RANKS[turn % len(RANKS)]]:
            yield name, words, path, ranks, ["block", "cyclic"][turn // len(RANKS) % 2]
            turn += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", nargs="?", type=pathlib.Path)
    parser.add_argument("--bin", default=str(ROOT / "build/shoal"))
    parser.add_argument("--all", action="store_true", help="every number of processes for every module")
    parser.add_argument("--only", default="", help="modules whose name contains this; no faults")
    parser.add_argument("--kills", type=int, default=8, help="how often a process is killed at a random moment")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--available", action="store_true", help="only say whether jobs can be started here")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    why = mpi.available(options.bin)
    if why or options.available:
        print(why or "available")
        return 1 if why else 0
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for why in pool.map(lambda test: same.difference(options.bin, *test), same_tests(options)):
            passed, failed = passed + (why is None), failed + (why is not None)
            if why:
                print(why, flush=True)
    if not options.only:
        for name, why in faults.check_all(options.bin, options.kills, options.seed):
            if why is faults.SKIPPED:
                print(f"{name}: {why}", flush=True)
                continue
            passed, failed = passed + (not why), failed + bool(why)
            if why:
                print(f"{name}: {why}", flush=True)
        if (why := namespaces.check(options.bin)) is not None:
            passed, failed = passed + (not why), failed + bool(why)
            if why:
                print(f"two hosts as network namespaces: {why}", flush=True)
        why = memory.check(options.bin)
        passed, failed = passed + (not why), failed + bool(why)
        if why:
            print(f"memory: {why}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
