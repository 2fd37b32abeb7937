#!/usr/bin/env python3
"""Runs the JAX goldens through the conformance tool.

    tests/jax/run.py SHARED [--bin build/shoal] [further options of the conformance tool]
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    options, extra = parser.parse_known_args()
    with tempfile.NamedTemporaryFile("r", suffix=".txt") as report:
        command = [sys.executable, options.shared / "tools/conformance.py", "jax", options.shared / "golden/jax",
                   "--bin", options.bin, "--fail", report.name, *extra]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line for line in report.read().splitlines() if line]
    counts = re.search(r"(\d+) of (\d+) the same", done.stdout)
    if not counts:
        sys.exit(done.stdout + done.stderr)
    for line in lines:
        print(line)
    print(f"{counts[1]} passed, {len(lines)} failed")
    return 1 if lines or counts[1] != counts[2] else 0


if __name__ == "__main__":
    sys.exit(main())
