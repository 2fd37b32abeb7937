"""Chains of ops of all kinds. Discontinuous ops, such as floor, are only applied to exact values."""
import element_types as et
from movement import MOVES
from program import Program, Value, braces, pick, random_dims

SMOOTH_UNARY = ["negate", "abs", "tanh", "logistic", "sine", "cosine", "copy"]
DISCONTINUOUS_UNARY = ["floor", "ceil", "sign", "round-nearest-even"]
ARITHMETIC = ["add", "subtract", "multiply", "maximum", "minimum"]


def _unary(program, x):
    rng = program.rng
    if et.is_float(x.type):
        choices = SMOOTH_UNARY + (DISCONTINUOUS_UNARY if not x.ulps else [])
        opcode = pick(rng, choices)
        exact = opcode in ("negate", "abs", "copy") or opcode in DISCONTINUOUS_UNARY
        return program.op(opcode, x.type, x.dims, [x], ulps=x.ulps + (0 if exact else 4))
    opcode = "not" if x.type == "pred" else pick(rng, ["negate", "not", "copy"])
    return program.op(opcode, x.type, x.dims, [x])


def _binary(program, x):
    y = program.parameter(x.type, x.dims)
    if x.type == "pred":
        return program.op(pick(program.rng, ["and", "or", "xor"]), "pred", x.dims, [x, y])
    opcode = pick(program.rng, ARITHMETIC)
    rounded = opcode in ("add", "subtract", "multiply") and et.is_float(x.type)
    return program.op(opcode, x.type, x.dims, [x, y], ulps=x.ulps + (4 if rounded else 0))


def _dot(program, x):
    if x.type not in ("f32", "f64", "s32") or not x.dims or x.dims[-1] > 16:
        return x
    w = program.parameter(x.type, (x.dims[-1], int(program.rng.integers(1, 5))), "unit")
    attributes = f"lhs_contracting_dims={{{len(x.dims) - 1}}}, rhs_contracting_dims={{0}}"
    ulps = x.ulps + 16 if et.is_float(x.type) else 0
    return program.op("dot", x.type, x.dims[:-1] + w.dims[1:], [x, w], attributes, ulps=ulps)


def _reduce(program, x):
    if not x.dims or x.type == "pred":
        return x
    axis = int(program.rng.integers(len(x.dims)))
    dims = [dim for index, dim in enumerate(x.dims) if index != axis]
    opcode = pick(program.rng, ["add", "or" if et.is_int(x.type) else "add"])
    start = program.constant(x.type, 0)
    attributes = f"dimensions={{{axis}}}, to_apply={program.scalar_computation(opcode, x.type)}"
    ulps = x.ulps + (16 if opcode == "add" and et.is_float(x.type) else 0)
    return program.op("reduce", x.type, dims, [x, start], attributes, ulps=ulps)


def _convert(program, x):
    if x.ulps:
        return program.op("convert", "f64" if x.type == "f32" else "f32", x.dims, [x], ulps=x.ulps + 2)
    return program.op("convert", pick(program.rng, ["f32", "s32", "f64", "bf16", "u8"]), x.dims, [x])


def _select(program, x):
    if x.ulps:
        return x
    y = program.parameter(x.type, x.dims)
    direction = pick(program.rng, ["EQ", "NE", "LT", "GE"])
    chosen = program.op("compare", "pred", x.dims, [x, y], f"direction={direction}")
    return program.op("select", x.type, x.dims, [chosen, x, y])


def _branch(program, x):
    """Two paths from one value that join again."""
    y = _unary(program, x)
    if x.type == "pred":
        return program.op("xor", "pred", x.dims, [x, y])
    ulps = max(x.ulps, y.ulps) + (4 if et.is_float(x.type) else 0)
    return program.op("add", x.type, x.dims, [x, y], ulps=ulps)


def _gather(program, x):
    """Rows of the value, selected by a parameter."""
    if not x.dims or 0 in x.dims:
        return x
    count = int(program.rng.integers(1, 5))
    indices = program.parameter("s32", (count,))
    sizes = (1,) + x.dims[1:]
    attributes = f"offset_dims={braces(range(1, len(x.dims)))}, collapsed_slice_dims={{0}}, start_index_map={{0}}, " \
        f"index_vector_dim=1, slice_sizes={braces(sizes)}"
    return program.op("gather", x.type, (count,) + x.dims[1:], [x, indices], attributes)


LINKS = [_unary, _unary, _binary, _binary, _dot, _reduce, _convert, _select, _branch, _gather] + MOVES


def chain(rng):
    program = Program("chain", rng)
    type = pick(rng, ["f32", "f32", "f32", "s32", "f64", "bf16", "u8", "pred"])
    value: Value = program.parameter(type, random_dims(rng, low=1))
    outputs = []
    for _ in range(int(rng.integers(3, 10))):
        if value.size > 2000:
            break
        value = pick(rng, LINKS)(program, value)
        if rng.random() < 0.2:
            outputs.append(value)
    return program.finish(value, *outputs[:3])
