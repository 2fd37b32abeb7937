"""Ops that only move elements: all types, identical bits."""
import numpy as np

import element_types as et
from program import Program, Value, braces, pick, random_dims


def broadcast(program, x):
    rng = program.rng
    rank = len(x.dims) + int(rng.integers(0, 3))
    axes = sorted(rng.permutation(rank)[:len(x.dims)])
    dims = [int(rng.integers(1, 4)) for _ in range(rank)]
    for axis, dim in zip(axes, x.dims):
        dims[axis] = dim
    return program.op("broadcast", x.type, dims, [x], f"dimensions={braces(axes)}")


def reshape(program, x):
    factors, rest = [], x.size
    while rest > 1:
        divisors = [d for d in range(2, rest + 1) if rest % d == 0]
        factors.append(pick(program.rng, divisors))
        rest //= factors[-1]
    dims = factors if x.size else [0, 2]
    if program.rng.random() < 0.3:
        dims = dims + [1]
    return program.op("reshape", x.type, dims, [x])


def transpose(program, x):
    order = program.rng.permutation(len(x.dims))
    return program.op("transpose", x.type, [x.dims[axis] for axis in order], [x], f"dimensions={braces(order)}")


def reverse(program, x):
    axes = [axis for axis in range(len(x.dims)) if program.rng.random() < 0.6]
    return program.op("reverse", x.type, x.dims, [x], f"dimensions={braces(axes)}")


def slice_(program, x):
    ranges, dims = [], []
    for dim in x.dims:
        start = int(program.rng.integers(0, dim + 1))
        limit = int(program.rng.integers(start, dim + 1))
        stride = int(program.rng.integers(1, 4))
        ranges.append(f"[{start}:{limit}:{stride}]")
        dims.append(-(-(limit - start) // stride))
    return program.op("slice", x.type, dims, [x], "slice={" + ", ".join(ranges) + "}")


def pad(program, x):
    """Low and high padding may be negative; interior padding may not."""
    rng, parts, dims = program.rng, [], []
    for dim in x.dims:
        low, high, inner = int(rng.integers(-2, 4)), int(rng.integers(-2, 4)), int(rng.integers(0, 3))
        size = dim + max(dim - 1, 0) * inner + low + high
        if size < 0:
            low, high, size = 0, 0, dim + max(dim - 1, 0) * inner
        parts.append(f"{low}_{high}_{inner}")
        dims.append(size)
    filler = program.parameter(x.type, (), "extreme")
    if not x.dims:
        return x
    return program.op("pad", x.type, dims, [x, filler], "padding=" + "x".join(parts), ulps=x.ulps)


def concatenate(program, x):
    if not x.dims:
        return x
    axis = int(program.rng.integers(len(x.dims)))
    others = []
    for _ in range(int(program.rng.integers(0, 3))):
        dims = list(x.dims)
        dims[axis] = int(program.rng.integers(0, 5))
        others.append(program.parameter(x.type, dims, "extreme"))
    operands = [x] + others
    dims = list(x.dims)
    dims[axis] = sum(operand.dims[axis] for operand in operands)
    return program.op("concatenate", x.type, dims, operands, f"dimensions={{{axis}}}")


def _starts(program, rank):
    """Start indices, some of them out of bounds."""
    type = pick(program.rng, ["s32", "s64", "u32", "s8", "u8"])
    low = 0 if type.startswith("u") else -3
    return [program.parameter(type, (), array=np.array(program.rng.integers(low, 8), et.dtype(type)))
            for _ in range(rank)]


def dynamic_slice(program, x):
    sizes = [int(program.rng.integers(0 if dim == 0 else 1, dim + 1)) for dim in x.dims]
    if not sizes:
        return x
    operands = [x] + _starts(program, len(sizes))
    return program.op("dynamic-slice", x.type, sizes, operands, f"dynamic_slice_sizes={braces(sizes)}")


def dynamic_update_slice(program, x):
    if not x.dims:
        return x
    sizes = [int(program.rng.integers(0 if dim == 0 else 1, dim + 1)) for dim in x.dims]
    update = program.parameter(x.type, sizes, "extreme")
    return program.op("dynamic-update-slice", x.type, x.dims, [x, update] + _starts(program, len(sizes)))


def copy(program, x):
    return program.op(pick(program.rng, ["copy", "opt-barrier"]), x.type, x.dims, [x])


MOVES = [broadcast, reshape, transpose, reverse, slice_, pad, concatenate, dynamic_slice, dynamic_update_slice, copy]


def moves(rng):
    """One to three ops that move elements, on any type."""
    program = Program("moves", rng)
    value = program.parameter(et.common(rng), random_dims(rng), "denormal")
    for _ in range(int(rng.integers(1, 4))):
        if value.size < 2000:
            value = pick(rng, MOVES)(program, value)
    return program.finish(value)


def iota(rng):
    program = Program("iota", rng)
    type = pick(rng, et.NUMBERS)
    dims = random_dims(rng, low=1, high=3)
    axis = int(rng.integers(len(dims)))
    index = program.op("iota", type, dims, [], f"iota_dimension={axis}")
    x = program.parameter(type, dims)
    return program.finish(index, program.op("add", type, dims, [index, x], ulps=1 if et.is_float(type) else 0))


def map_(rng):
    """map of a scalar computation, and a call."""
    program = Program("map", rng)
    type, dims = pick(rng, ["f32", "s32", "f64", "u8"]), random_dims(rng, low=1)
    x, y = program.parameter(type, dims, "extreme"), program.parameter(type, dims, "extreme")
    opcode = pick(rng, ["add", "maximum", "multiply", "subtract"])
    applied = program.scalar_computation(opcode, type)
    z = program.op("map", type, dims, [x, y], f"dimensions={braces(range(len(dims)))}, to_apply={applied}")
    whole = Value("", type, dims).shape
    called = program.computation("called", [whole] * 2, [f"ROOT r = {whole} {opcode}(a1, a0)"])
    w = program.op("call", type, dims, [z, y], f"to_apply={called}")
    return program.finish(z, w)
