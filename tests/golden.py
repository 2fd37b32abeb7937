#!/usr/bin/env python3
"""Compares shoal with modules that XLA printed and executed: tests/golden.py DIR [--bin PATH].

In DIR: golden/jax/*.after.hlo, golden/h200/*.hlo and golden/gpu8/*.hlo are printed identically; *.after.hlo.pb prints
the text of its *.after.hlo; every other .hlo in golden/ and every file in seeds/ can be parsed; and `shoal check`
accepts every module of corpus/suite.jsonl.xz that XLA executed.
"""
import argparse
import concurrent.futures
import difflib
import json
import lzma
import os
import pathlib
import shlex
import subprocess
import sys

TIMEOUT = 60


def shoal(command):
    """Returns (stdout, None) if the command succeeds, else (None, the reason of the failure)."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, f"no answer in {TIMEOUT} s"
    if done.returncode != 0:
        errors = done.stderr.decode("utf-8", "replace").splitlines()[:12]
        return None, "\n".join([f"exit status {done.returncode}"] + errors)
    return done.stdout.decode("utf-8", "replace"), None


def run_case(case):
    """Returns the failure, or None if the command succeeds and prints the expected text (if one is given)."""
    command, expected = case
    out, reason = shoal(command)
    if reason or expected is None:
        return reason
    want, got = (text.rstrip("\n").split("\n") for text in (expected.read_text(encoding="utf-8"), out))
    if want == got:
        return None
    different = difflib.unified_diff(want, got, str(expected), "printed", n=0, lineterm="")
    return "\n".join(line[:400] for line, _ in zip(different, range(12)))


def cases(folder, binary):
    identical = {*folder.glob("golden/jax/*.after.hlo"), *folder.glob("golden/h200/*.hlo"),
                 *folder.glob("golden/gpu8/*.hlo")}
    for path in sorted(folder.glob("golden/**/*.hlo")):
        yield [binary, "print", path], path if path in identical else None
    for path in sorted(folder.glob("golden/jax/*.after.hlo.pb")):
        yield [binary, "print", path], path.with_suffix("")
    for path in sorted(folder.glob("seeds/*")):
        yield [binary, "print", path], None
    suite = folder / "corpus/suite.jsonl.xz"
    if suite.exists():
        with lzma.open(suite, "rt", encoding="utf-8") as records:
            for record in map(json.loads, records):
                if "exec" in record:
                    yield [binary, "check", suite.parent / record["path"]], None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    options = parser.parse_args()
    todo = list(cases(options.folder, options.bin))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (command, _), reason in zip(todo, pool.map(run_case, todo)):
            if reason is not None:
                failed += 1
                print(f"FAILED {shlex.join(map(str, command))}\n{reason}\n")
    print(f"{len(todo) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
