#!/usr/bin/env python3
"""Measures what shoal and XLA:CPU spend on running an op, apart from its arithmetic, in ns on one thread.

    bench/dispatch.py [--only TEXT] [--rounds N] [--json OUT] [--check]

Each unit is the difference in time between two modules of which one runs the unit more often. Without JAX (pip install
jax), only shoal's column is printed. Each round runs all modules of a unit, with both, and the result is the best round.
Exit status 1 with --check if a unit takes longer than its limit.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS_OF_LOOP = 2000
HEAD = """HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = pred[] compare(a, b), direction=LT
}
negated {
  x = f32[16] parameter(0)
  ROOT n = f32[16] negate(x)
}
absolute {
  x = f32[16] parameter(0)
  ROOT n = f32[16] abs(x)
}
"""


def loop(body, shapes, results, iterations=ROUNDS_OF_LOOP):
    """A loop over s32[] and `shapes`. `body` may use i, j = i + 1 and the state x0, x1 …; `results` are the next state."""
    state = f"(s32[], {', '.join(shapes)})"
    elements = "\n".join(f"  x{k} = {shape} get-tuple-element(t), index={k + 1}" for k, shape in enumerate(shapes))
    parameters = "\n".join(f"  p{k} = {shape} parameter({k})" for k, shape in enumerate(shapes))
    return f"""{HEAD}body {{
  t = {state} parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  zero = f32[] constant(0)
{elements}
{body}
  ROOT u = {state} tuple(j, {', '.join(results)})
}}
condition {{
  t = {state} parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant({iterations})
  ROOT c = pred[] compare(i, n), direction=LT
}}
ENTRY e {{
  z = s32[] constant(0)
{parameters}
  t = {state} tuple(z, {', '.join(f'p{k}' for k in range(len(shapes)))})
  ROOT w = {state} while(t), condition=condition, body=body
}}
"""


def kernels(count):
    """Kernels that no fusion merges: each is a reduction of the result before."""
    lines, value = [], "x0"
    for k in range(count):
        lines.append(f"  r{k} = f32[] reduce({value}, zero), dimensions={{0}}, to_apply=sum\n"
                     f"  q{k} = f32[16] broadcast(r{k}), dimensions={{}}\n  v{k} = f32[16] multiply(q{k}, x0)")
        value = f"v{k}"
    return "\n".join(lines), value


def loop_of_kernels(count):
    body, value = kernels(count)
    return loop(body, ["f32[16]"], [value])


def line_of_kernels(count):
    body, value = kernels(count)
    return f"{HEAD}ENTRY e {{\n  x0 = f32[16] parameter(0)\n  zero = f32[] constant(0)\n{body}\n  ROOT out = f32[16] abs({value})\n}}\n"


def loop_of(op, shape):
    """Modules with one and with five dependent ops in a loop. `op` is their text, with the operand {x}."""
    def module(count):
        lines, value = [], "x0"
        for k in range(count):
            lines.append(f"  o{k} = {op.format(x=value)}\n  a{k} = {shape} subtract(x0, o{k})\n  v{k} = {shape} negate(a{k})")
            value = f"v{k}"
        return loop("\n".join(lines), [shape, shape], [value, "x1"])
    return module(1), module(5), 4 * ROUNDS_OF_LOOP


def conditionals(count):
    lines, value = ["  two = s32[] constant(2)\n  m = s32[] remainder(j, two)\n  c = pred[] compare(m, one), direction=EQ"], "x0"
    for k in range(count):
        lines.append(f"  v{k} = f32[16] conditional(c, {value}, {value}), true_computation=negated, false_computation=absolute")
        value = f"v{k}"
    return loop("\n".join(lines), ["f32[16]"], [value])


def carried(count):
    shapes = ["f32[16]"] * (count + 1)
    return loop("  y = f32[16] negate(x0)", shapes, ["y"] + [f"x{(k + 1) % count + 1}" for k in range(count)])


def empty_loop(iterations):
    return loop("  y = f32[16] negate(x0)", ["f32[16]"], ["y"], iterations)


ADD = "HloModule m\nENTRY e {\n  a = f32[16] parameter(0)\n  b = f32[16] parameter(1)\n  ROOT c = f32[16] add(a, b)\n}\n"
# name: (module or None, module with more units, number of units more, limit in ns); ops include their arithmetic
UNITS = {
    "run of one add": (None, ADD, 1, 900),
    "kernel in a loop that is one function": (loop_of_kernels(2), loop_of_kernels(12), 10 * ROUNDS_OF_LOOP, 30),
    "kernel in a sequence": (loop_of_kernels(250), loop_of_kernels(450), 200 * ROUNDS_OF_LOOP, 40),
    "kernel in a straight line": (line_of_kernels(500), line_of_kernels(1500), 1000, 40),
    "iteration of a loop": (empty_loop(ROUNDS_OF_LOOP), empty_loop(101 * ROUNDS_OF_LOOP), 100 * ROUNDS_OF_LOOP, 40),
    "conditional": (conditionals(1), conditionals(6), 5 * ROUNDS_OF_LOOP, 40),
    "carried value": (carried(2), carried(22), 20 * ROUNDS_OF_LOOP, 40),
    "dot 32x32x32": (*loop_of("f32[32,32] dot({x}, x1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}", "f32[32,32]"), 1500),
    "sort of 16": (*loop_of("f32[16] sort({x}), dimensions={{0}}, to_apply=less", "f32[16]"), 600),
    "fft of 16": (*loop_of("c64[16] fft({x}), fft_type=FFT, fft_length={{16}}", "c64[16]"), 900),
    "cholesky 4x4": (*loop_of("f32[4,4] cholesky({x}), lower=true", "f32[4,4]"), 900),
    "triangular-solve 4x4": (*loop_of("f32[4,4] triangular-solve(x1, {x}), left_side=true, lower=true, unit_diagonal=false, "
                                      "transpose_a=NO_TRANSPOSE", "f32[4,4]"), 900),
}


class Shoal:
    def __init__(self, binary, text, folder):
        self.binary, self.file = binary, folder / "module.hlo"
        self.text = text

    def best(self, repeats):
        self.file.write_text(self.text)
        command = [self.binary, "run", self.file, "--engine=jit", "--threads=1", f"--num_repeats={repeats + 1}", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"dispatch.py: {(done.stdout + done.stderr)[-400:]}")
        return min(json.loads(done.stdout)["run_seconds"][1:])


class XlaCpu:
    def __init__(self, xla_cpu, text):
        self.module = xla_cpu.Xla(text)
        r = np.random.default_rng(0)
        self.arguments = xla_cpu.placed([r.uniform(0, 1, shape.dimensions()).astype(shape.numpy_dtype()) for shape in xla_cpu.parameters(text)])
        self.module.run(self.arguments, 1)

    def best(self, repeats):
        return min(self.module.run(self.arguments, repeats)[0])


def start_xla():
    try:
        import xla_cpu
        xla_cpu.start(1)
    except ImportError:
        return None
    return xla_cpu


def nanoseconds(fewer, more, units, options):
    """The best difference per unit."""
    seconds = [(more.best(options.repeats), fewer.best(options.repeats) if fewer else 0) for _ in range(options.rounds)]
    return (min(a for a, _ in seconds) - min(b for _, b in seconds)) / units * 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build/shoal")
    parser.add_argument("--only", default="", help="only units whose name contains this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each module per round")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    parser.add_argument("--check", action="store_true", help="fail if a unit takes longer than its limit")
    options = parser.parse_args()
    xla_cpu = start_xla()
    print(f"{'unit, ns':42}{'shoal':>9}{'XLA':>9}{'limit':>9}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (fewer, more, units, limit) in UNITS.items():
            if options.only not in name:
                continue
            texts = [fewer, more]
            ours = nanoseconds(*[text and Shoal(options.bin, text, pathlib.Path(folder)) for text in texts], units, options)
            theirs = nanoseconds(*[text and XlaCpu(xla_cpu, text) for text in texts], units, options) if xla_cpu else None
            rows.append({"unit": name, "shoal": ours, "xla": theirs, "limit": limit})
            print(f"{name:42}{ours:9.1f}{'' if theirs is None else f'{theirs:9.1f}':>9}{limit:9}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    slow = [row["unit"] for row in rows if row["shoal"] > row["limit"]]
    if slow:
        print(f"above the limit: {', '.join(slow)}")
    return 1 if options.check and slow else 0


if __name__ == "__main__":
    sys.exit(main())
