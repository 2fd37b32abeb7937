#!/usr/bin/env python3
"""Runs the tests of the servers with real clients: pytest-lsp and Neovim. tests/serve/run.py [--bin PATH] [--shared DIR]

Needs a Python with pytest-lsp; without Neovim, its test is skipped.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run_pytest(environment):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE)], env=environment,
                          capture_output=True, text=True, timeout=600, check=False)
    counts = {name: int(number) for number, name in re.findall(r"(\d+) (passed|failed|skipped|error)", done.stdout)}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    if failed or not counts:
        print(done.stdout[-8000:], done.stderr[-2000:])
    return counts.get("passed", 0), failed or (0 if counts else 1), counts.get("skipped", 0)


def run_nvim(environment):
    nvim = shutil.which("nvim")
    if nvim is None:
        return 0, 0, 1
    done = subprocess.run([nvim, "--headless", "-u", "NONE", "-S", str(HERE / "nvim.lua")], capture_output=True, text=True,
                          env={**environment, "SHOAL_ROOT": str(ROOT), "SHOAL_FILE": str(ROOT / "examples/nested_loops.hlo")},
                          timeout=120, check=False)
    output = done.stdout + done.stderr
    expected = [r"filetype hlo", r"symbols [1-9]", r"hover trip count: \d"]
    missing = [pattern for pattern in expected if not re.search(pattern, output)]
    if missing:
        print(f"Neovim printed\n{output}\nwithout {missing}")
    return len(expected) - len(missing), len(missing), 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build/shoal", type=pathlib.Path)
    parser.add_argument("--shared", default=ROOT / "../shared", type=pathlib.Path)
    options = parser.parse_args()
    environment = {**os.environ, "SHOAL_BIN": str(options.bin.resolve()), "SHOAL_SHARED": str(options.shared.resolve())}
    results = [run_pytest(environment), run_nvim(environment)]
    passed, failed, skipped = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
