#!/usr/bin/env python3
"""Compares matmuls in `shoal run` with NumPy's matmul. The two alternate on the same machine, with one thread each.

    bench/dot_vs_numpy.py [--bin build/shoal] [--rounds N]

Prints shoal's and NumPy's best GFLOP/s for each matmul, and their ratio. A convolution is compared with a matmul of the
same flops. NumPy has no bf16; it uses f32 instead.
"""
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A loop that computes c from a and b by `op` in every iteration.
LOOP = """HloModule bench
cond {{
  s = (s32[], {a}, {b}, {c}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({n})
  ROOT r = pred[] compare(i, n), direction=LT
}}
body {{
  s = (s32[], {a}, {b}, {c}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = {a} get-tuple-element(s), index=1
  b = {b} get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  c = {c} {op}
  ROOT r = (s32[], {a}, {b}, {c}) tuple(next, a, b, c)
}}
ENTRY e {{
  a = {a} parameter(0)
  b = {b} parameter(1)
  zero = s32[] constant(0)
  z = {type}[] constant({zero})
  c = {c} broadcast(z), dimensions={{}}
  s = (s32[], {a}, {b}, {c}) tuple(zero, a, b, c)
  w = (s32[], {a}, {b}, {c}) while(s), condition=cond, body=body
  ROOT r = {c} get-tuple-element(w), index=3
}}
"""
PLAIN = "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
TURNED = "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}"
BATCH = "dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"
CONV = "convolution(a, b), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"

# name, a, b, c, op, and the matmul in NumPy: batch, m, k, n
ROWS = [
    ("f32 1024 x 1024 x 1024", "f32[1024,1024]", "f32[1024,1024]", "f32[1024,1024]", PLAIN, (1, 1024, 1024, 1024)),
    ("f32 1024 x 4096 x 3584, b transposed", "f32[1024,4096]", "f32[3584,4096]", "f32[1024,3584]", TURNED, (1, 1024, 4096, 3584)),
    ("f32 12 x 784 x 1024", "f32[12,784]", "f32[784,1024]", "f32[12,1024]", PLAIN, (1, 12, 784, 1024)),
    ("f32 32 x (128 x 64 x 128)", "f32[32,128,64]", "f32[32,64,128]", "f32[32,128,128]", BATCH, (32, 128, 64, 128)),
    ("bf16 1024 x 1024 x 1024", "bf16[1024,1024]", "bf16[1024,1024]", "bf16[1024,1024]", PLAIN, (1, 1024, 1024, 1024)),
    ("f64 512 x 512 x 512", "f64[512,512]", "f64[512,512]", "f64[512,512]", PLAIN, (1, 512, 512, 512)),
    ("c64 256 x 256 x 256", "c64[256,256]", "c64[256,256]", "c64[256,256]", PLAIN, (1, 256, 256, 256)),
    ("s32 256 x 256 x 256", "s32[256,256]", "s32[256,256]", "s32[256,256]", PLAIN, (1, 256, 256, 256)),
    ("f32 convolution 3x3, 8 x 28 x 28 x 128 to 128", "f32[8,28,28,128]", "f32[3,3,128,128]", "f32[8,28,28,128]", CONV, (1, 6272, 1152, 128)),
]
TYPES = {"f32": np.float32, "bf16": np.float32, "f64": np.float64, "c64": np.complex64, "s32": np.int32}


def time_shoal(binary, row, repeat):
    name, a, b, c, op, _ = row
    kind = c.split("[")[0]
    zero = "(0, 0)" if kind == "c64" else "0"
    text = LOOP.format(a=a, b=b, c=c, op=op, n=repeat, type=kind, zero=zero)
    with tempfile.NamedTemporaryFile("w", suffix=".hlo") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([binary, "run", file.name, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"dot_vs_numpy.py: {name}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)["seconds"] / repeat


def time_numpy(row, repeat):
    batch, m, k, n = row[5]
    dtype = TYPES[row[3].split("[")[0]]
    a, b = np.ones((batch, m, k), dtype), np.ones((batch, k, n), dtype)
    np.matmul(a, b)
    start = time.perf_counter()
    for _ in range(repeat):
        np.matmul(a, b)
    return (time.perf_counter() - start) / repeat


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bin", default=str(ROOT / "build/shoal"))
    options.add_argument("--rounds", type=int, default=5)
    options = options.parse_args()
    print(f"{'product':<48}{'shoal':>9}{'NumPy':>9}  GFLOP/s{'ratio':>7}")
    for row in ROWS:
        batch, m, k, n = row[5]
        flops = 2 * batch * m * k * n * (4 if "c64" in row[3] else 1)
        repeat = max(1, round(2e9 / flops))
        best = [float("inf"), float("inf")]
        for _ in range(options.rounds):
            best[0] = min(best[0], time_shoal(options.bin, row, repeat))
            best[1] = min(best[1], time_numpy(row, repeat))
        rates = [flops / seconds / 1e9 for seconds in best]
        print(f"{row[0]:<48}{rates[0]:9.1f}{rates[1]:9.1f}{rates[0] / rates[1]:16.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
