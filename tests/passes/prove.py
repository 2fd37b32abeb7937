#!/usr/bin/env python3
"""Does every pass leave a module's results as they were? Each is run alone on the modules of ../shared that JAX made; what
it changed is compared with what was given by `shoal compare`, both interpreted.

    tests/passes/prove.py SHARED [--bin build/shoal] [--stride N]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 400_000  # of a module's text: larger ones take longer and have no other ops


def run(*words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, timeout=300)


def modules(shared):
    return [path for path in sorted((shared / "golden/jax").glob("*.hlo")) if path.stat().st_size < MOST_BYTES]


def prove(binary, name, module, scratch):
    """None, "unchanged", or what is wrong."""
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
    parser.add_argument("--stride", type=int, default=1, help="every so many of the modules")
    options = parser.parse_args()
    listed = run(options.bin, "opt", "--list_passes").stdout
    names = [line.split(":")[0] for line in listed.split("\n\n")[0].splitlines()]  # those that every run has
    good = bad = unchanged = 0
    with tempfile.TemporaryDirectory() as scratch:
        for module in modules(options.shared)[::options.stride]:
            if run(options.bin, "check", module, "--strict").returncode != 0:
                continue
            for name in names:
                why = prove(options.bin, name, module, scratch)
                good, unchanged, bad = good + (why is None), unchanged + (why == "unchanged"), bad + (why not in (None, "unchanged"))
                if why not in (None, "unchanged"):
                    print(f"{module.relative_to(options.shared)}: {name}: {why}", flush=True)
    print(f"{unchanged} times a pass changed nothing")
    print(f"{good} passed, {bad} failed")
    return 1 if bad or not good else 0


if __name__ == "__main__":
    sys.exit(main())
