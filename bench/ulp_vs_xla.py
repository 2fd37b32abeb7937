#!/usr/bin/env python3
"""Measures the largest distance between shoal's and XLA:CPU's elementwise functions, in units in the last place.

    bench/ulp_vs_xla.py [--bin build/shoal] [--count N]

The inputs cover the range of each function, with N numbers of each type. Denormal results are left out, because XLA
flushes them to zero.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import xla_cpu

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNARY = ["exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "tanh", "sine", "cosine", "tan",
         "erf", "sqrt", "rsqrt", "cbrt"]
BINARY = ["power", "atan2", "divide", "remainder"]
POSITIVE = {"log", "log-plus-one", "sqrt", "rsqrt", "cbrt", "power"}


def numbers(function, count, dtype, random):
    if function in POSITIVE:
        return np.exp(random.uniform(-60, 60, count)).astype(dtype)
    half = count // 2
    wide = np.sign(random.standard_normal(count - half)) * np.exp(random.uniform(-30, 4.3, count - half))
    return np.concatenate([random.standard_normal(half) * 3, wide]).astype(dtype)


def ranks(values):
    """Integers in the order of the floats, without gaps."""
    bits = values.view(f"i{values.itemsize}").astype(np.int64)
    magnitude = bits & ((1 << (8 * values.itemsize - 1)) - 1)
    return np.where(bits < 0, -magnitude, magnitude)


def distance(a, b):
    tiny = np.finfo(a.dtype).tiny
    normal = np.isfinite(a) & np.isfinite(b) & (np.abs(a) >= tiny) & (np.abs(b) >= tiny)
    differ = int((np.isnan(a) != np.isnan(b)).sum() + (np.isinf(a) != np.isinf(b)).sum())
    return int(np.abs(ranks(a[normal]) - ranks(b[normal])).max(initial=0)), differ


def measure(binary, function, dtype, count, random):
    name = {np.float32: "f32", np.float64: "f64"}[dtype]
    x = numbers(function, count, dtype, random)
    y = random.uniform(-4, 4, count).astype(dtype)
    operands = "x, y" if function in BINARY else "x"
    text = (f"HloModule m\nENTRY e {{\n  x = {name}[{count}] parameter(0)\n  y = {name}[{count}] parameter(1)\n"
            f"  ROOT z = {name}[{count}] {function}({operands})\n}}\n")
    _, theirs = xla_cpu.Xla(text).run(xla_cpu.placed([x, y]), 1)
    with tempfile.TemporaryDirectory() as folder:
        inputs = pathlib.Path(folder, "in/d0")
        inputs.mkdir(parents=True)
        pathlib.Path(folder, "m.hlo").write_text(text)
        np.save(inputs / "0.npy", x)
        np.save(inputs / "1.npy", y)
        subprocess.run([binary, "run", f"{folder}/m.hlo", f"--inputs={folder}/in", f"--outputs={folder}/out"], check=True,
                       capture_output=True)
        ours = np.load(f"{folder}/out/d0/0.npy")
    return name, *distance(np.asarray(theirs[0]), ours)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build/shoal")
    parser.add_argument("--count", type=int, default=1 << 18)
    options = parser.parse_args()
    os.environ["JAX_PLATFORMS"] = "cpu"
    xla_cpu.start(None)
    random = np.random.default_rng(3)
    for dtype in np.float32, np.float64:
        for function in UNARY + BINARY:
            name, largest, differ = measure(options.bin, function, dtype, options.count, random)
            print(f"{name} {function:24}{largest:4} ulp{f'  {differ} of nan or inf differ' if differ else ''}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
