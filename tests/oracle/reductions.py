"""reduce of one or several operands; reduce-window; select-and-scatter; batch normalisation."""
import dataclasses

import numpy as np

import element_types as et
from program import Program, Value, braces, pick, random_dims

START = {"add": 0, "multiply": 1, "or": 0, "and": 1, "xor": 0}
TYPES = ["f32", "f32", "f64", "bf16", "f16", "s32", "u8", "s64", "s8", "pred", "c64"]


def _combiner(rng, type):
    if type == "pred":
        return pick(rng, ["and", "or"])
    if et.is_complex(type):
        return pick(rng, ["add", "multiply"])
    bitwise = ["and", "or", "xor"] if et.is_int(type) else []
    return pick(rng, ["add", "add", "multiply", "maximum", "minimum"] + bitwise)


def _start(program, opcode, type):
    """The identity element; with another value the result would depend on the split of the reduction."""
    if opcode in ("maximum", "minimum"):
        info = None if et.is_float(type) else np.iinfo(et.dtype(type))
        lowest, highest = ("-inf", "inf") if info is None else (info.min, info.max)
        return program.constant(type, lowest if opcode == "maximum" else highest)
    number = START[opcode]
    if opcode == "and" and type != "pred":
        number = -1 if type.startswith("s") else 2 ** et.bits(type) - 1
    return program.constant(type, number)


def _ulps(opcode, type, length):
    inexact = opcode in ("add", "multiply") and not et.is_int(type) and type != "pred"
    return 4 + length / 4 if inexact else 0


def _style(rng, opcode, type):
    extreme = opcode in ("maximum", "minimum") or et.is_int(type)
    return pick(rng, ["small", "extreme"]) if extreme else "small"


def reduce(rng):
    program = Program("reduce", rng)
    type = pick(rng, TYPES)
    opcode = _combiner(rng, type)
    x = program.parameter(type, random_dims(rng, low=1), _style(rng, opcode, type))
    axes = [axis for axis in range(len(x.dims)) if rng.random() < 0.5]
    dims = [dim for axis, dim in enumerate(x.dims) if axis not in axes]
    length = x.size // max(1, Value("", type, tuple(dims)).size)
    operands = [x, _start(program, opcode, type)]
    attributes = f"dimensions={braces(axes)}, to_apply={program.scalar_computation(opcode, type)}"
    return program.finish(program.op("reduce", type, dims, operands, attributes, ulps=_ulps(opcode, type, length)))


def reduce_pair(rng):
    """The largest element and its index, as in argmax; for ties the first."""
    program = Program("reduce-pair", rng)
    type = pick(rng, ["f32", "s32", "bf16", "u8"])
    x = program.parameter(type, random_dims(rng, low=1, high=3, empty=0))
    axis = int(rng.integers(len(x.dims)))
    index = program.op("iota", "s32", x.dims, [], f"iota_dimension={axis}")
    dims = [dim for a, dim in enumerate(x.dims) if a != axis]
    first = program.constant(type, {"u8": 0, "s32": -(2 ** 31)}.get(type, "-inf"))
    zero = program.constant("s32", 0)
    t, s = f"{type}[]", "s32[]"
    applied = program.computation("larger", [t, s, t, s], [
        "more = pred[] compare(a0, a2), direction=GT", "same = pred[] compare(a0, a2), direction=EQ",
        "earlier = pred[] compare(a1, a3), direction=LT", "tie = pred[] and(same, earlier)",
        "take = pred[] or(more, tie)", f"v = {t} select(take, a0, a2)", f"i = {s} select(take, a1, a3)",
        f"ROOT r = ({t}, {s}) tuple(v, i)"])
    results = [Value("", type, tuple(dims)), Value("", "s32", tuple(dims))]
    attributes = f"dimensions={{{axis}}}, to_apply={applied}"
    return program.finish(*program.tuple_op("reduce", results, [x, index, first, zero], attributes))


def _window(rng, dims, dilations=True):
    """A window attribute over `dims` and the sizes of the result."""
    columns, sizes = [], []
    for dim in dims:
        size = int(rng.integers(1, 4)) if rng.random() < 0.7 else 1
        stride, base, step = (int(rng.integers(1, 4)) if dilations and rng.random() < 0.3 else 1 for _ in range(3))
        low, high = (int(rng.integers(0, 3)) if rng.random() < 0.4 else 0 for _ in range(2))
        spread, reach = max(0, (dim - 1) * base + 1) + low + high, (size - 1) * step + 1
        if spread < reach:
            high += reach - spread
            spread = reach
        sizes.append((spread - reach) // stride + 1)
        columns.append([str(size), str(stride), f"{low}_{high}", str(base), str(step)])
    names = ["size", "stride", "pad", "lhs_dilate", "rhs_dilate"]
    fields = [f"{name}={'x'.join(column)}" for name, column in zip(names, zip(*columns))]
    fields = [field for field in fields if not set(field.partition("=")[2].split("x")) <= {"1"} or "size" in field]
    return "window={" + " ".join(fields) + "}", sizes


def reduce_window(rng):
    program = Program("reduce-window", rng)
    type = pick(rng, ["f32", "f32", "s32", "bf16", "f64", "u8"])
    opcode = _combiner(rng, type)
    x = program.parameter(type, random_dims(rng, low=1, empty=0), _style(rng, opcode, type))
    window, dims = _window(rng, x.dims)
    operands = [x, _start(program, opcode, type)]
    attributes = f"{window}, to_apply={program.scalar_computation(opcode, type)}"
    y = program.op("reduce-window", type, dims, operands, attributes, ulps=_ulps(opcode, type, 9))
    return program.finish(y)


def select_and_scatter(rng):
    """The gradient of max pooling: each window selects an element, to which the source is added."""
    program = Program("select-and-scatter", rng)
    type = pick(rng, ["f32", "f64", "s32"])
    x = program.parameter(type, random_dims(rng, low=1, high=3, empty=0))
    columns, dims = [], []
    for dim in x.dims:
        size, stride = int(rng.integers(1, min(dim, 3) + 1)), int(rng.integers(1, 3))
        columns.append([str(size), str(stride)])
        dims.append((dim - size) // stride + 1)
    sizes, strides = ("x".join(column) for column in zip(*columns))
    source = program.parameter(type, dims)
    chosen = program.computation("larger", [f"{type}[]"] * 2, ["ROOT r = pred[] compare(a0, a1), direction=GE"])
    attributes = f"window={{size={sizes} stride={strides}}}, select={chosen}, " \
        f"scatter={program.scalar_computation('add', type)}"
    operands = [x, source, program.constant(type, 0)]
    y = program.op("select-and-scatter", type, x.dims, operands, attributes, ulps=_ulps("add", type, 8))
    return program.finish(y)


def batch_norm(rng):
    program = Program("batch-norm", rng)
    type = pick(rng, ["f32", "f64"])
    x = program.parameter(type, random_dims(rng, low=2, high=4, empty=0))
    axis = int(rng.integers(len(x.dims)))
    scale, offset = (program.parameter(type, [x.dims[axis]]) for _ in range(2))
    attributes = f"epsilon={pick(rng, [0.1, 0.01, 1.0])}, feature_index={axis}"
    near = dataclasses.replace(scale, ulps=64)
    if rng.random() < 0.5:
        results = [dataclasses.replace(x, ulps=64), near, near]
        return program.finish(*program.tuple_op("batch-norm-training", results, [x, scale, offset], attributes))
    variance = program.parameter(type, [x.dims[axis]], "positive")
    operands = [x, scale, offset, scale, variance]
    return program.finish(program.op("batch-norm-inference", type, x.dims, operands, attributes, ulps=64))
