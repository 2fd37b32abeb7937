"""Programs designed for fusion: graphs of elementwise ops, data movement and reductions over shared values; softmax and
normalisation; prefix sums; loops that slice, accumulate and update in place."""
import dataclasses

import element_types as et
from movement import MOVES
from program import Program, braces, pick, random_dims, sizes

EXACT_UNARY = ["negate", "abs", "copy"]
SMOOTH_UNARY = ["tanh", "logistic", "sine", "cosine", "exponential", "cbrt", "erf", "atan2"]
INTEGER_BINARY = ["add", "subtract", "multiply", "and", "or", "xor", "maximum", "minimum", "shift-left",
                  "shift-right-logical", "shift-right-arithmetic", "divide", "remainder"]


def _unary(program, values):
    x = pick(program.rng, values)
    if x.type == "pred":
        return program.op("not", "pred", x.dims, [x])
    if et.is_int(x.type):
        signed = ["abs", "sign"] if x.type.startswith("s") else []
        opcode = pick(program.rng, ["negate", "copy", "not", "popcnt", "count-leading-zeros"] + signed)
        return program.op(opcode, x.type, x.dims, [x])
    opcode = pick(program.rng, EXACT_UNARY + SMOOTH_UNARY)
    if opcode == "exponential":
        x = program.op("tanh", x.type, x.dims, [x], ulps=x.ulps + 4)
    if opcode == "atan2":
        y = program.op("cosine", x.type, x.dims, [x], ulps=x.ulps + 4)
        two = program.op("broadcast", x.type, x.dims, [program.constant(x.type, 2)], "dimensions={}")
        y = program.op("add", x.type, x.dims, [y, two], ulps=y.ulps + 1)  # far from the discontinuity
        return program.op("atan2", x.type, x.dims, [x, y], ulps=y.ulps + 4)
    return program.op(opcode, x.type, x.dims, [x], ulps=x.ulps + (0 if opcode in EXACT_UNARY else 6))


def _binary(program, values):
    x = pick(program.rng, values)
    partners = [y for y in values if y.dims == x.dims and y.type == x.type]
    y = pick(program.rng, partners)
    if x.type == "pred":
        return program.op(pick(program.rng, ["and", "or", "xor"]), "pred", x.dims, [x, y])
    if et.is_int(x.type):
        return program.op(pick(program.rng, INTEGER_BINARY), x.type, x.dims, [x, y])
    opcode = pick(program.rng, ["add", "subtract", "multiply", "maximum", "minimum"])
    rounded = opcode in ("add", "subtract", "multiply")
    return program.op(opcode, x.type, x.dims, [x, y], ulps=max(x.ulps, y.ulps) + (2 if rounded else 0))


def _reduced(program, x, axes, opcode):
    dims = [dim for axis, dim in enumerate(x.dims) if axis not in axes]
    start = program.constant(x.type, {"add": 0, "maximum": "-inf" if et.is_float(x.type) else 0}[opcode])
    length = x.size / max(1, dataclasses.replace(x, dims=tuple(dims)).size)
    attributes = f"dimensions={braces(axes)}, to_apply={program.scalar_computation(opcode, x.type)}"
    inexact = opcode == "add" and et.is_float(x.type)
    return program.op("reduce", x.type, dims, [x, start], attributes, ulps=x.ulps + (4 + length / 4 if inexact else 0))


def _broadcast_back(program, x, dims, axes):
    """Broadcasts x along the reduced axes."""
    kept = [axis for axis in range(len(dims)) if axis not in axes]
    return program.op("broadcast", x.type, dims, [x], f"dimensions={braces(kept)}")


def _axes(program, x):
    return [axis for axis in range(len(x.dims)) if program.rng.random() < 0.5] or [len(x.dims) - 1]


def _reduce(program, values):
    x = pick(program.rng, [value for value in values if value.dims] or values)
    if not x.dims or x.type == "pred" or (et.is_int(x.type) and not x.type.startswith("s32")):
        return x
    opcode = "add" if et.is_int(x.type) else pick(program.rng, ["add", "maximum"])
    axes = _axes(program, x)
    return _broadcast_back(program, _reduced(program, x, axes, opcode), x.dims, axes)


def _softmax(program, values):
    x = pick(program.rng, values)
    if x.type not in ("f32", "f64") or not x.dims or 0 in x.dims:
        return x
    axes = _axes(program, x)
    top = _broadcast_back(program, _reduced(program, x, axes, "maximum"), x.dims, axes)
    low = program.op("subtract", x.type, x.dims, [x, top], ulps=x.ulps + 2)
    up = program.op("exponential", x.type, x.dims, [low], ulps=low.ulps + 6)
    total = _broadcast_back(program, _reduced(program, up, axes, "add"), x.dims, axes)
    return program.op("divide", x.type, x.dims, [up, total], ulps=up.ulps + total.ulps + 2)


def _mask(program, values):
    x = pick(program.rng, values)
    if not x.dims:
        return x
    index = program.op("iota", "s32", x.dims, [], f"iota_dimension={int(program.rng.integers(len(x.dims)))}")
    limit = program.op("broadcast", "s32", x.dims, [program.parameter("s32", ())], "dimensions={}")
    chosen = program.op("compare", "pred", x.dims, [index, limit], f"direction={pick(program.rng, ['LT', 'GE', 'NE'])}")
    other = pick(program.rng, [y for y in values if y.dims == x.dims and y.type == x.type])
    return program.op("select", x.type, x.dims, [chosen, x, other])


def _convert(program, values):
    x = pick(program.rng, values)
    if not x.ulps:
        return program.op("convert", pick(program.rng, ["f32", "f64", "bf16", "f16", "s32", "u8", "s64"]), x.dims, [x])
    to = "f64" if x.type == "f32" else "f32"
    wider = max(1, et.epsilon(x.type) / et.epsilon(to))  # the absolute error stays the same
    return program.op("convert", to, x.dims, [x], ulps=wider * (x.ulps + 2))


def _move(program, values):
    return pick(program.rng, MOVES)(program, pick(program.rng, values))


def _prefix(program, values):
    """A cumulative sum, as jax.numpy.cumsum writes it."""
    x = pick(program.rng, values)
    if x.type not in ("f32", "s32", "f64") or not x.dims or 0 in x.dims:
        return x
    axis = int(program.rng.integers(len(x.dims)))
    size, pad = ["1"] * len(x.dims), ["0_0"] * len(x.dims)
    back = x.dims[axis] - 1
    size[axis], pad[axis] = str(x.dims[axis]), pick(program.rng, [f"{back}_0", f"0_{back}"])
    window = f"window={{size={'x'.join(size)} pad={'x'.join(pad)}}}"
    attributes = f"{window}, to_apply={program.scalar_computation('add', x.type)}"
    ulps = x.ulps + 4 + x.dims[axis] / 4 if et.is_float(x.type) else 0
    return program.op("reduce-window", x.type, x.dims, [x, program.constant(x.type, 0)], attributes, ulps=ulps)


STEPS = [_unary, _unary, _binary, _binary, _binary, _reduce, _reduce, _softmax, _mask, _convert, _move, _move, _prefix]


def nest(rng):
    program = Program("nest", rng)
    type = pick(rng, ["f32", "f32", "f32", "s32", "u32", "f64", "bf16", "f16", "s8", "u64", "pred"])
    dims = random_dims(rng, low=1)
    values = [program.parameter(type, dims) for _ in range(int(rng.integers(1, 4)))]
    for _ in range(int(rng.integers(3, 20))):
        value = pick(rng, STEPS)(program, values)
        if value.size <= 4 * sizes.max_elements:
            values.append(value)
    outputs = [values[-1]] + [pick(rng, values) for _ in range(int(rng.integers(0, 4)))]
    return program.finish(*outputs)


def scan(rng):
    """Like lax.scan: computes the next carry and row i of the results from a carry and row i of the inputs."""
    program = Program("scan", rng)
    type = pick(rng, ["f32", "f32", "s32", "f64", "u32"])
    dims = random_dims(rng, high=2, empty=0)
    iterations = int(rng.integers(1, 12))
    carry, rows = program.parameter(type, dims), program.parameter(type, (iterations,) + dims)
    whole, row, one = rows.shape, carry.shape, dataclasses.replace(rows, dims=(1,) + dims).shape
    zeros = ", z" * len(dims)
    integer = et.is_int(type)
    bodies = [f"add({{}}, {{}})", f"multiply({{}}, {{}})", f"maximum({{}}, {{}})"] + \
        (["xor({}, {})", "shift-right-logical({}, {})"] if integer else ["subtract({}, {})"])
    lines = ["i = s32[] get-tuple-element(a0), index=0", f"c = {row} get-tuple-element(a0), index=1",
             f"x = {whole} get-tuple-element(a0), index=2", f"y = {whole} get-tuple-element(a0), index=3",
             "z = s32[] constant(0)", "n = s32[] constant(1)", "next = s32[] add(i, n)",
             f"s = {one} dynamic-slice(x, i{zeros}), dynamic_slice_sizes={braces((1,) + dims)}",
             f"v0 = {row} reshape(s)"]
    count = int(rng.integers(1, 5))
    for k in range(count):
        lines.append(f"v{k + 1} = {row} " + pick(rng, bodies).format(f"v{k}", pick(rng, ["c", "v0", f"v{k}"])))
    if not integer:
        lines.append(f"v{count + 1} = {row} tanh(v{count})")
        count += 1
    lines += [f"u = {one} reshape(v{count})", f"w = {whole} dynamic-update-slice(y, u, i{zeros})",
              f"ROOT r = (s32[], {row}, {whole}, {whole}) tuple(next, v{count}, x, w)"]
    state = f"(s32[], {row}, {whole}, {whole})"
    body = program.computation("body", [state], lines)
    condition = program.computation("condition", [state], [
        "i = s32[] get-tuple-element(a0), index=0", f"n = s32[] constant({iterations})",
        "ROOT r = pred[] compare(i, n), direction=LT"])
    start = program.constant("s32", 0)
    empty = program.op("broadcast", type, rows.dims, [program.constant(type, 0)], "dimensions={}")
    results = [dataclasses.replace(value, ulps=0 if integer else 64) for value in (start, carry, rows, rows)]
    results[2] = dataclasses.replace(results[2], ulps=0)
    packed = program.pack([start, carry, rows, empty])
    parts = program.tuple_op("while", results, [packed], f"condition={condition}, body={body}")
    return program.finish(*parts)


NESTS = [nest, nest, nest, nest, nest, nest, scan, scan]
