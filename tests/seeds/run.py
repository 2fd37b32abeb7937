#!/usr/bin/env python3
"""Runs modules written by others, on all their devices, and compares them with the same computation in NumPy.

    tests/seeds/run.py DIR [--bin build/shoal]     DIR has 001_*.txt, 002_*.txt and 004_*.txt

The last line is "N passed, N failed".
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import programs


def write_inputs(folder, inputs):
    """inputs: per device a list of arrays, one per parameter."""
    for device, arrays in enumerate(inputs):
        os.makedirs(f"{folder}/d{device}")
        for k, array in enumerate(arrays):
            np.save(f"{folder}/d{device}/{k}.npy", array)


def compare(got, want, tolerance):
    """None, or a message about the largest difference."""
    if got.shape != want.shape:
        return f"has shape {got.shape}, not {want.shape}"
    if want.dtype.kind in "iu":
        return None if np.array_equal(got, want) else f"is {got}, not {want}"
    scale = np.abs(want).max()
    worst = np.abs(got - want).max()
    return None if worst <= tolerance * scale else f"differs by up to {worst:.3g}; the largest value is {scale:.3g}"


def run(program, path, binary):
    """None, or an error message."""
    inputs = program.inputs(np.random.default_rng(20261115))
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(f"{folder}/in", inputs)
        command = [binary, "run", path, f"--inputs={folder}/in", f"--outputs={folder}/out"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return f"exit {done.returncode}: {done.stderr.strip()[:400]}"
        devices = len(os.listdir(f"{folder}/out"))
        if devices != len(inputs):
            return f"ran on {devices} devices, not on {len(inputs)}"
        for device, outputs in enumerate(program.outputs(inputs)):
            for k, (rows, want) in enumerate(outputs):
                got = np.load(f"{folder}/out/d{device}/{k}.npy")
                wrong = compare(got if rows is None else got.reshape(-1, got.shape[-1])[rows], want, program.TOLERANCE)
                if wrong:
                    return f"output {k} on device {device} {wrong}"
    return None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("dir")
    options.add_argument("--bin", default="build/shoal")
    options = options.parse_args()
    failed = 0
    for program in programs.ALL:
        start = time.time()
        (path,) = glob.glob(f"{options.dir}/{program.NAME}_*.txt")
        wrong = run(program, path, options.bin)
        print(f"{program.NAME} {'failed: ' + wrong if wrong else 'passed'}, {time.time() - start:.1f} s")
        failed += wrong is not None
    print(f"{len(programs.ALL) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
