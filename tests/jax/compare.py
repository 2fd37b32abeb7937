#!/usr/bin/env python3
"""`shoal compare` of each JAX golden before partitioning and optimisation with its form after it.

    tests/jax/compare.py SHARED [--bin build/shoal]
"""
import argparse
import json
import pathlib
import subprocess
import sys

# How many elements may be out of bounds. Adam's first step is the learning rate times the sign of the gradient, and the
# weights are bf16: where a gradient is nothing but rounding, its sign is chance.
MOST_BEYOND = {"transformer_bf16_fsdp": 8}


def verdict(binary, before):
    """None, or why the two forms of a golden do not agree."""
    after = before.with_name(before.name.replace(".before.", ".after."))
    done = subprocess.run([binary, "compare", before, after, "--json"], capture_output=True, text=True, check=False)
    if not done.stdout:
        return done.stderr.strip()
    beyond = {each["output"]: each["out_of_bounds"] for each in json.loads(done.stdout)["outputs"] if each["out_of_bounds"]}
    if sum(beyond.values()) <= MOST_BEYOND.get(before.name.split(".")[0], 0):
        return None
    return f"elements out of bounds, by output: {beyond}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    options = parser.parse_args()
    befores = sorted((options.shared / "golden/jax").glob("*.before.hlo"))
    wrong = {before.name: why for before in befores if (why := verdict(options.bin, before))}
    for name, why in wrong.items():
        print(f"{name}: {why}")
    print(f"{len(befores) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or not befores else 0


if __name__ == "__main__":
    sys.exit(main())
