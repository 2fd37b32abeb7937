#!/usr/bin/env python3
"""Checks that no pass changes a module's results. Runs each pass alone on the modules of SHARED that JAX produced, and
compares the rewritten module with the original; `shoal compare` interprets both.

    tests/passes/prove.py SHARED [--bin build/shoal] [--stride N]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_BYTES = 400_000  # of a module's text: larger ones take longer and have no additional ops


def run(*arguments):
    return subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False, timeout=300)


def modules(shared):
    return [path for path in sorted((shared / "golden/jax").glob("*.hlo")) if path.stat().st_size < MAX_BYTES]


def prove(binary, name, module, scratch):
    """None, "unchanged", or the error."""
    changed = pathlib.Path(scratch, "changed.hlo")
    rewritten = run(binary, "opt", module, f"--passes={name}", "--time", "-o", changed)
    if rewritten.returncode != 0:
        return f"opt: {rewritten.stderr.strip().splitlines()[0]}"
    if "unchanged" in rewritten.stderr:
        return "unchanged"
    same = run(binary, "compare", module, changed, "--engine=interp", "--stub_custom_calls")
    if same.returncode != 0:
        return (same.stderr or same.stdout).strip().splitlines()[-1]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=pathlib.Path)
    parser.add_argument("--bin", default=str(ROOT / "build/shoal"))
    parser.add_argument("--stride", type=int, default=1, help="test only every Nth module")
    options = parser.parse_args()
    listed = run(options.bin, "opt", "--list_passes").stdout
    names = [line.split(":")[0] for line in listed.split("\n\n")[0].splitlines()]  # the passes of the default pipeline
    good = bad = unchanged = 0
    with tempfile.TemporaryDirectory() as scratch:
        for module in modules(options.shared)[::options.stride]:
            if run(options.bin, "check", module, "--strict").returncode != 0:
                continue
            for name in names:
                reason = prove(options.bin, name, module, scratch)
                good, unchanged = good + (reason is None), unchanged + (reason == "unchanged")
                if reason not in (None, "unchanged"):
                    bad += 1
                    print(f"{module.relative_to(options.shared)}: {name}: {reason}", flush=True)
    print(f"{unchanged} times a pass made no change")
    print(f"{good} passed, {bad} failed")
    return 1 if bad or not good else 0


if __name__ == "__main__":
    sys.exit(main())
