"""Programs for loop splitting: rolls, rotations and concatenated halves between elementwise ops, pads that undo slices;
and chains of complex numbers."""
from program import Program, braces, pick, random_dims

TYPES = ["f32", "f32", "s32", "s32", "bf16", "f16", "f64", "u8", "s64", "pred", "s4", "c64", "c128"]


def _slice(program, x, axis, start, limit):
    ranges = [f"[0:{dim}]" if d != axis else f"[{start}:{limit}]" for d, dim in enumerate(x.dims)]
    dims = [dim if d != axis else limit - start for d, dim in enumerate(x.dims)]
    return program.op("slice", x.type, dims, [x], "slice={" + ", ".join(ranges) + "}")


def _joined(program, parts, axis):
    dims = list(parts[0].dims)
    dims[axis] = sum(part.dims[axis] for part in parts)
    return program.op("concatenate", parts[0].type, dims, parts, f"dimensions={{{axis}}}")


def _opcodes(type):
    if type == "pred":
        return ["and", "or", "xor"]
    if type[0] in "su":
        return ["add", "subtract", "multiply", "and", "or", "xor"] + (["maximum", "minimum"] if type != "s4" else [])
    return ["add", "subtract", "multiply"] + (["maximum", "minimum"] if type[0] != "c" else [])


def _cost(type):
    return 2 if type[0] in "fbc" else 0


def _combined(program, values):
    x = pick(program.rng, values)
    y = pick(program.rng, [other for other in values if other.dims == x.dims])
    opcode = pick(program.rng, _opcodes(x.type))
    rounded = opcode in ("add", "subtract", "multiply")
    return program.op(opcode, x.type, x.dims, [x, y], ulps=max(x.ulps, y.ulps) + (_cost(x.type) if rounded else 0))


def _negated(program, x):
    return program.op("not" if x.type == "pred" else "negate", x.type, x.dims, [x])


def _roll(program, values):
    x = pick(program.rng, values)
    axis = int(program.rng.integers(len(x.dims)))
    at = int(program.rng.integers(0, x.dims[axis] + 1))
    return _joined(program, [_slice(program, x, axis, at, x.dims[axis]), _slice(program, x, axis, 0, at)], axis)


def _rotated_halves(program, values):
    """Computes each part of an axis separately; reverses some of them."""
    x = pick(program.rng, values)
    axis = int(program.rng.integers(len(x.dims)))
    splits = sorted(int(program.rng.integers(0, x.dims[axis] + 1)) for _ in range(int(program.rng.integers(1, 4))))
    parts = [_slice(program, x, axis, start, limit) for start, limit in zip([0] + splits, splits + [x.dims[axis]])]
    for i, part in enumerate(parts):
        if program.rng.random() < 0.5:
            parts[i] = _negated(program, part)
        elif program.rng.random() < 0.3:
            parts[i] = program.op("reverse", x.type, part.dims, [part], f"dimensions={{{axis}}}")
    order = program.rng.permutation(len(parts))
    return _joined(program, [parts[i] for i in order], axis)


def _padded(program, values):
    """A slice, padded to the original size."""
    x = pick(program.rng, values)
    starts = [int(program.rng.integers(0, min(dim, 4))) if program.rng.random() < 0.6 else 0 for dim in x.dims]
    limits = [int(program.rng.integers(start, dim + 1)) if program.rng.random() < 0.6 else dim for start, dim in zip(starts, x.dims)]
    ranges = ", ".join(f"[{start}:{limit}]" for start, limit in zip(starts, limits))
    part = program.op("slice", x.type, [b - a for a, b in zip(starts, limits)], [x], "slice={" + ranges + "}")
    if program.rng.random() < 0.5:
        part = _negated(program, part)
    padding = "x".join(f"{start}_{dim - limit}" for start, limit, dim in zip(starts, limits, x.dims))
    return program.op("pad", x.type, x.dims, [part, program.parameter(x.type, ())], f"padding={padding}", ulps=part.ulps)


def _reversed(program, values):
    x = pick(program.rng, values)
    axes = [axis for axis in range(len(x.dims)) if program.rng.random() < 0.5]
    return program.op("reverse", x.type, x.dims, [x], f"dimensions={braces(axes)}")


STEPS = [_combined, _combined, _roll, _roll, _rotated_halves, _padded, _reversed]


def pieces(rng):
    program = Program("pieces", rng)
    type = pick(rng, TYPES)
    dims = random_dims(rng, low=1, empty=0)
    values = [program.parameter(type, dims) for _ in range(int(rng.integers(1, 3)))]
    for _ in range(int(rng.integers(2, 14))):
        values.append(pick(rng, STEPS)(program, values))
    outputs = [values[-1]] + [pick(rng, values) for _ in range(int(rng.integers(0, 2)))]
    return program.finish(*outputs)


PART = {"c64": "f32", "c128": "f64"}


def _complex_step(program, numbers, sizes):
    type, dims = numbers[0].type, numbers[0].dims
    x, y = pick(program.rng, numbers), pick(program.rng, numbers)
    kind = pick(program.rng, ["two", "two", "two", "one", "parts", "choose", "quotient", "move"])
    if kind == "two":
        numbers.append(program.op(pick(program.rng, ["add", "subtract", "multiply"]), type, dims, [x, y], ulps=max(x.ulps, y.ulps) + 4))
    if kind == "one":
        opcode, cost = pick(program.rng, [("negate", 0), ("tanh", 16), ("copy", 0)])
        numbers.append(program.op(opcode, type, dims, [x], ulps=x.ulps + cost))
    if kind == "parts":
        real = program.op("real", PART[type], dims, [x], ulps=x.ulps)
        other = program.op("imag", PART[type], dims, [y], ulps=y.ulps)
        sizes.append(program.op("abs", PART[type], dims, [x], ulps=x.ulps + 2))
        turned = program.op("negate", PART[type], dims, [other], ulps=other.ulps)
        numbers.append(program.op("complex", type, dims, [real, turned], ulps=max(x.ulps, y.ulps)))
    if kind == "choose":
        chosen = program.op("compare", "pred", dims, [pick(program.rng, numbers[:1]), pick(program.rng, numbers[:2])],
                            f"direction={pick(program.rng, ['EQ', 'NE'])}")
        numbers.append(program.op("select", type, dims, [chosen, x, y], ulps=max(x.ulps, y.ulps)))
    if kind == "quotient":
        # Divides by 1 + |x|, which is never near zero.
        one = program.op("broadcast", PART[type], dims, [program.constant(PART[type], 1)], "dimensions={}")
        size = program.op("abs", PART[type], dims, [x], ulps=x.ulps + 2)
        divisor = program.op("add", PART[type], dims, [size, one], ulps=size.ulps + 1)
        divisor = program.op("convert", type, dims, [divisor], ulps=divisor.ulps)
        numbers.append(program.op("divide", type, dims, [y, divisor], ulps=max(y.ulps, divisor.ulps) + 4))
    if kind == "move":
        numbers.append(_reversed(program, [x]))


def complex_chain(rng):
    program = Program("complex_chain", rng)
    type, dims = pick(rng, ["c64", "c64", "c128"]), random_dims(rng, low=1)
    style = pick(rng, ["small", "small", "extreme"])
    numbers = [program.parameter(type, dims, style) for _ in range(int(rng.integers(1, 4)))]
    sizes = []
    for _ in range(int(rng.integers(1, 10))):
        _complex_step(program, numbers, sizes)
    return program.finish(*([numbers[-1], pick(rng, numbers)] + sizes[-1:]))


PIECES = [pieces, pieces, pieces, complex_chain, complex_chain]
