#!/usr/bin/env python3
"""Compares totals of training steps with independent ones, within 1 %: tests/large_modules.py SHARED [--bin PATH].

hardware/FACTS.md has the GB per step and device, by kind and axis: of the results of all-gathers, and of the operands
of other collectives. For seed 000, which is loose text, compares the number of executions of the collectives.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

FOLDER = "corpus/xla/tools__benchmarks__hlo__hlo_"
EXPECTED = {
    "llama31_8b_bf16_1x8": {"all-gather": 30.0, "all-reduce": 16.1},
    "llama31_8b_bf16_2x8": {"all-gather": 30.0, "all-reduce": 16.1},
    "llama31_70b_bf16_16x8": {"all-gather": 278.0, "all-reduce d1=64": 141.1, "all-reduce d0=2": 2.2},
    "llama31_70b_bf16_32x8": {"all-gather": 278.0, "all-reduce d1=128": 141.1, "all-reduce d0=2": 1.1},
    "llama31_70b_fp8_16x8": {"all-gather": 141.1, "all-reduce d1=64": 141.1, "all-reduce d0=2": 2.2},
    "llama31_405b_bf16_64x8": {"all-gather": 1615, "all-reduce": 811.7},
    "llama31_405b_fp8_16x8": {"all-gather": 811.7, "all-reduce": 811.7},
    "mixtral_8x7b_bf16_1x8": {"all-gather": 5.9, "all-reduce": 3.2, "all-to-all": 12.9},
    "mixtral_8x7b_bf16_2x8": {"all-gather all": 5.9, "all-gather d0=2": 22.5, "all-reduce all": 3.2,
                              "all-reduce d0=2": 11.3, "all-to-all": 12.9},
    "llama3_8b_bf16_activation_offloading_1x8": {"all-gather": 30.0, "all-reduce": 16.1},
}
SEED_TIMES = {"all-gather": 10, "all-reduce": 60, "reduce-scatter": 50}


def comm(binary, path):
    done = subprocess.run([binary, "comm", "--json", path], capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout)


def gigabytes(report):
    """Gigabytes by kind, and by kind and axis."""
    sums = collections.Counter()
    for row in report["collectives"]:
        groups = report["participants"][row["participants"]]["groups"]
        parts = len(groups[0]) if row["kind"] == "all-gather" else 1
        for key in (row["kind"], f"{row['kind']} {row['axis']}"):
            sums[key] += row["times"] * row["payload_bytes"] * parts / 1e9
    return sums


def differences(found, expected, tolerance):
    return [f"{key}: {found[key]:.4g}, expected {value}" for key, value in expected.items()
            if abs(found[key] - value) > tolerance * value]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    options = parser.parse_args()
    failed = 0
    cases = [(options.shared / f"{FOLDER}{name}.hlo", expected) for name, expected in EXPECTED.items()]
    for path, expected in cases:
        wrong = differences(gigabytes(comm(options.bin, path)), expected, 0.01)
        failed += bool(wrong)
        if wrong:
            print(f"{path}:", *wrong, sep="\n  ")
    seed = next((options.shared / "seeds").glob("000_*"))
    times = collections.Counter({total["name"]: total["times"] for total in comm(options.bin, seed)["by_kind"]})
    wrong = differences(times, SEED_TIMES, 0)
    if wrong:
        failed += 1
        print(f"{seed}:", *wrong, sep="\n  ")
    print(f"{len(cases) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
