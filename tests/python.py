#!/usr/bin/env python3
"""Builds the extension module in BUILD and runs the tests of the Python package: tests/python.py [--build BUILD]

Needs a Python with nanobind, NumPy and pytest, and its headers. Tests that need JAX are skipped without it.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    for command in (("cmake", "-S", ROOT, "-B", build, "-DSHOAL_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}"),
                    ("ninja", "-C", build, "shoal_python")):
        done = run(*command)
        if done.returncode != 0:
            print(done.stdout[-3000:], done.stderr[-3000:])
            print("0 passed, 1 failed")
            return 1
    done = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "shoal.pytest_plugin", ROOT / "python/tests",
               env={**os.environ, "PYTHONPATH": str(build / "package"), "SHOAL_BIN": str(build / "shoal")}, timeout=900)
    counts = {name: int(number) for number, name in re.findall(r"(\d+) (passed|failed|skipped|error)", done.stdout)}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    if failed or "passed" not in counts:
        print(done.stdout[-8000:], done.stderr[-2000:])
    skipped = counts.get("skipped", 0)
    print(f"{counts.get('passed', 0)} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or "passed" not in counts else 0


if __name__ == "__main__":
    sys.exit(main())
