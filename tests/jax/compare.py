#!/usr/bin/env python3
"""Runs `shoal compare` on each JAX golden before and after partitioning and optimisation.

    tests/jax/compare.py SHARED [--bin build/shoal]
"""
import argparse
import json
import pathlib
import subprocess
import sys

# Maximum number of elements out of bounds. Adam's first step is the learning rate times the sign of the gradient, and
# the weights are bf16: if a gradient consists only of rounding errors, its sign is random.
MAX_OUT_OF_BOUNDS = {"transformer_bf16_fsdp": 8}


def difference(binary, before):
    """None, or the difference between the two forms of a golden."""
    after = before.with_name(before.name.replace(".before.", ".after."))
    done = subprocess.run([binary, "compare", before, after, "--json"], capture_output=True, text=True, check=False)
    if not done.stdout:
        return done.stderr.strip()
    outputs = json.loads(done.stdout)["outputs"]
    out_of_bounds = {each["output"]: each["out_of_bounds"] for each in outputs if each["out_of_bounds"]}
    if sum(out_of_bounds.values()) <= MAX_OUT_OF_BOUNDS.get(before.name.split(".")[0], 0):
        return None
    return f"elements out of bounds, by output: {out_of_bounds}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    options = parser.parse_args()
    befores = sorted((options.shared / "golden/jax").glob("*.before.hlo"))
    wrong = {before.name: reason for before in befores if (reason := difference(options.bin, before))}
    for name, reason in wrong.items():
        print(f"{name}: {reason}")
    print(f"{len(befores) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or not befores else 0


if __name__ == "__main__":
    sys.exit(main())
