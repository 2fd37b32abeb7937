"""Elementwise ops, one or a few per program, on extreme values."""
import element_types as et
from program import Program, pick, random_dims
from reference import BINARY, ROUNDED_CORRECTLY, UNARY, reference

REAL_UNARY = sorted(set(UNARY) - {"acos", "asin", "acosh", "asinh", "atanh", "cosh", "sinh"})  # XLA's CPU lacks these
COMPLEX_UNARY = ["abs", "negate", "exponential", "exponential-minus-one", "log", "log-plus-one", "sine", "cosine",
                 "tan", "tanh", "sqrt", "rsqrt", "logistic", "sign"]
INT_UNARY = ["abs", "negate", "sign", "not", "popcnt", "count-leading-zeros"]
INT_BINARY = ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
              "shift-left", "shift-right-logical", "shift-right-arithmetic", "power"]
DIRECTIONS = ["EQ", "NE", "LT", "LE", "GT", "GE"]


def _float_type(rng):
    return pick(rng, et.FLOATS if rng.random() < 0.85 else et.NARROW_FLOATS)


def _int_type(rng):
    return pick(rng, et.INTS if rng.random() < 0.9 else et.NARROW_INTS)


def _ulps(kind, opcode, type):
    """The allowed difference between correct results. Narrow floats are computed in wider types and rounded twice."""
    if kind == "complex":
        return 16
    if kind != "float":
        return 0
    return int(type in et.NARROW_FLOATS) if opcode in ROUNDED_CORRECTLY else 2


def unary(rng):
    program = Program("unary", rng)
    kind = pick(rng, ["float", "float", "float", "int", "complex"])
    if kind == "float":
        opcode, type = pick(rng, REAL_UNARY), _float_type(rng)
    elif kind == "int":
        opcode, type = pick(rng, INT_UNARY), _int_type(rng)
        if opcode in ("abs", "sign", "negate") and type.startswith("u"):
            type = "s" + type[1:]
        if (opcode, type) == ("popcnt", "s4"):  # XLA also counts the sign bits that extend the value to a byte
            type = "u4"
    else:
        opcode, type = pick(rng, COMPLEX_UNARY), pick(rng, et.COMPLEX)
    style = "small" if kind == "complex" else pick(rng, ["small", "denormal", "denormal"])
    x = program.parameter(type, random_dims(rng), style)
    result = {"c64": "f32", "c128": "f64"}[type] if kind == "complex" and opcode == "abs" else type
    y = program.op(opcode, result, x.dims, [x], ulps=_ulps(kind, opcode, type))
    if kind != "int":
        program.reference = lambda inputs: [reference(opcode, inputs)]
    return program.finish(y)


def binary(rng):
    program = Program("binary", rng)
    kind = pick(rng, ["float", "float", "int", "int", "complex", "pred"])
    if kind == "float":
        opcode, type = pick(rng, sorted(BINARY)), _float_type(rng)
    elif kind == "int":
        opcode, type = pick(rng, INT_BINARY), _int_type(rng)
    elif kind == "complex":
        opcode, type = pick(rng, ["add", "subtract", "multiply", "divide", "power", "atan2"]), pick(rng, et.COMPLEX)
    else:
        opcode, type = pick(rng, ["and", "or", "xor", "maximum", "minimum", "multiply"]), "pred"
    small = kind == "complex" or (kind == "int" and opcode == "power")
    style = "small" if small else pick(rng, ["small", "denormal", "denormal"])
    dims = random_dims(rng)
    x = program.parameter(type, dims, style)
    exponents = "positive" if kind == "int" and opcode == "power" else style
    shifts = "small" if opcode.startswith("shift") and rng.random() < 0.5 else exponents
    y = program.parameter(type, dims, shifts)
    z = program.op(opcode, type, dims, [x, y], ulps=_ulps(kind, opcode, type))
    if kind == "float":
        program.reference = lambda inputs: [reference(opcode, inputs)]
    return program.finish(z)


def compare(rng):
    program = Program("compare", rng)
    type = pick(rng, et.PRED + et.NUMBERS)
    direction = pick(rng, DIRECTIONS[:2] if et.is_complex(type) else DIRECTIONS)
    dims = random_dims(rng)
    style = "small" if et.is_complex(type) else pick(rng, ["small", "extreme"])
    x, y = program.parameter(type, dims, style), program.parameter(type, dims, style)
    order = ", type=TOTALORDER" if et.is_float(type) and rng.random() < 0.3 else ""
    plain = program.op("compare", "pred", dims, [x, y], f"direction={direction}{order}")
    same = program.op("compare", "pred", dims, [x, x], f"direction={direction}{order}")
    return program.finish(plain, same)


def ternary(rng):
    program = Program("ternary", rng)
    dims, type = random_dims(rng), pick(rng, et.ALL)
    if rng.random() < 0.5 or type in et.PRED + et.COMPLEX + et.NARROW_INTS + et.NARROW_FLOATS:
        condition = program.parameter("pred", dims if rng.random() < 0.7 else ())
        on_true, on_false = (program.parameter(type, dims, "extreme") for _ in range(2))
        return program.finish(program.op("select", type, dims, [condition, on_true, on_false]))
    bound_dims = dims if rng.random() < 0.5 else ()
    low, high = program.parameter(type, bound_dims), program.parameter(type, bound_dims)
    x = program.parameter(type, dims, "extreme")
    return program.finish(program.op("clamp", type, dims, [low, x, high]))


def convert(rng):
    """Conversions between all types, including values that the target cannot represent."""
    program = Program("convert", rng)
    sources = et.ALL
    source, target = pick(rng, sources), pick(rng, sources)
    if et.is_complex(source) and not et.is_complex(target):
        target = pick(rng, et.COMPLEX)
    x = program.parameter(source, random_dims(rng), pick(rng, ["small", "extreme"]))
    y = program.op("convert", target, x.dims, [x])
    back = program.op("convert", "f32", x.dims, [y]) if not et.is_complex(target) else y
    return program.finish(y, back)


def bits(rng):
    """bitcast-convert to equally wide, wider and narrower types; reduce-precision; complex, real, imag; is-finite."""
    program = Program("bits", rng)
    kind = pick(rng, ["bitcast", "precision", "complex", "finite"])
    if kind == "precision":
        x = program.parameter(pick(rng, et.FLOATS), random_dims(rng), "extreme")
        attributes = f"exponent_bits={rng.integers(1, 12)}, mantissa_bits={rng.integers(0, 24)}"
        return program.finish(program.op("reduce-precision", x.type, x.dims, [x], attributes))
    if kind == "complex":
        part, whole = pick(rng, [("f32", "c64"), ("f64", "c128")])
        dims = random_dims(rng)
        x, y = (program.parameter(part, dims, "extreme") for _ in range(2))
        z = program.op("complex", whole, dims, [x, y])
        return program.finish(z, program.op("real", part, dims, [z]), program.op("imag", part, dims, [z]))
    if kind == "finite":
        x = program.parameter(pick(rng, et.FLOATS), random_dims(rng), "extreme")
        return program.finish(program.op("is-finite", "pred", x.dims, [x]))
    whole = [name for name in et.INTS + et.FLOATS if et.bits(name) >= 8]
    source, target = pick(rng, whole), pick(rng, whole)
    dims, ratio = random_dims(rng), et.bits(source) / et.bits(target)
    if ratio < 1:
        dims = dims + (int(1 / ratio),)
    x = program.parameter(source, dims)
    result = x.dims if ratio == 1 else x.dims + (int(ratio),) if ratio > 1 else x.dims[:-1]
    return program.finish(program.op("bitcast-convert", target, result, [x]))
