#!/usr/bin/env python3
"""Checks that shoal as an MPI job gives the same output files, messages and exit status as one process.

    tests/hosts/run.py [SHARED] [--bin build/shoal] [--all] [--only PATTERN]

Every test of collectives, every example and (with SHARED) the JAX goldens of several devices run in one process and
under mpirun with 2, 3, 4 or 8 processes. With --all, every module runs with each number; otherwise the modules rotate
through the numbers. Without mpirun nothing runs, and the last line reports that.
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
    """(name, arguments after `shoal run FILE`, file) of every test of a collective."""
    for path in sorted((ROOT / "tests/interp/collectives").glob("*.hlo")):
        for line in re.findall(r"^// RUN: shoal run %s(.*)$", path.read_text(encoding="utf-8"), re.M):
            if "|" not in line:
                yield path.stem, line.split(), path


def example_tests():
    for path in sorted((ROOT / "examples").glob("*.hlo")):
        for arguments in (["--print_literals"], ["--engine=jit", "--print_literals"]):
            yield path.stem, arguments, path


def golden_tests(shared):
    """Small goldens of 4 and 8 devices."""
    for path in sorted((shared / "golden/jax").glob("*.after.hlo")):
        count = re.search(r"(?:num_partitions|replica_count)=([48])\b", path.read_text(encoding="utf-8")[:20000])
        if count and path.stat().st_size < 100_000:
            yield path.stem, ["--print_literals"], path


def same_tests(options):
    tests = [*collective_tests(), *example_tests()]
    if options.shared:
        tests += golden_tests(options.shared)
    index = 0
    for name, arguments, path in tests:
        if options.only not in name:
            continue
        for ranks in RANKS if options.all else [RANKS[index % len(RANKS)]]:
            yield name, arguments, path, ranks, ["block", "cyclic"][index // len(RANKS) % 2]
            index += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", nargs="?", type=pathlib.Path)
    parser.add_argument("--bin", default=str(ROOT / "build/shoal"))
    parser.add_argument("--all", action="store_true", help="every number of processes for every module")
    parser.add_argument("--only", default="", help="only modules whose name contains this, without fault tests")
    parser.add_argument("--kills", type=int, default=8, help="number of tests that kill a process at a random time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--available", action="store_true", help="only check if jobs can be started here")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    reason = mpi.available(options.bin)
    if reason or options.available:
        print(reason or "available")
        return 1 if reason else 0
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for reason in pool.map(lambda test: same.difference(options.bin, *test), same_tests(options)):
            passed, failed = passed + (reason is None), failed + (reason is not None)
            if reason:
                print(reason, flush=True)
    if not options.only:
        for name, reason in faults.check_all(options.bin, options.kills, options.seed):
            if reason is faults.SKIPPED:
                print(f"{name}: {reason}", flush=True)
                continue
            passed, failed = passed + (not reason), failed + bool(reason)
            if reason:
                print(f"{name}: {reason}", flush=True)
        if (reason := namespaces.check(options.bin)) is not None:
            passed, failed = passed + (not reason), failed + bool(reason)
            if reason:
                print(f"two hosts as network namespaces: {reason}", flush=True)
        reason = memory.check(options.bin)
        passed, failed = passed + (not reason), failed + bool(reason)
        if reason:
            print(f"memory: {reason}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
