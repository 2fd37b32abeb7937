"""cholesky, triangular-solve, fft and rng-bit-generator."""
import numpy as np

import element_types as et
from program import Program, Value, braces, pick

PARTS = {"f32": "c64", "f64": "c128"}


def _matrices(rng, type, batch, size):
    """Well-conditioned symmetric (Hermitian) matrices."""
    a = et.values(rng, type, batch + (size, size))
    matrices = a.astype(np.complex128 if et.is_complex(type) else np.float64)
    matrices = matrices @ np.swapaxes(matrices, -1, -2).conj() + 4 * size * np.eye(size)
    return matrices.astype(et.dtype(type))


def cholesky(rng):
    """Only the triangle that the attribute names is defined; the other one is masked."""
    program = Program("cholesky", rng)
    type = pick(rng, ["f32", "f64", "c64"])
    batch, size = pick(rng, [(), (2,), (2, 3)]), int(rng.integers(1, 7))
    a = program.parameter(type, batch + (size, size), array=_matrices(rng, type, batch, size))
    lower = rng.random() < 0.6
    root = program.op("cholesky", type, a.dims, [a], f"lower={str(lower).lower()}", ulps=64)
    rank = len(a.dims)
    row = program.op("iota", "s32", a.dims, [], f"iota_dimension={rank - 2}")
    column = program.op("iota", "s32", a.dims, [], f"iota_dimension={rank - 1}")
    inside = program.op("compare", "pred", a.dims, [row, column], f"direction={'GE' if lower else 'LE'}")
    zero = program.op("broadcast", type, a.dims, [program.constant(type, 0)], "dimensions={}")
    return program.finish(program.op("select", type, a.dims, [inside, root, zero]))


def triangular_solve(rng):
    program = Program("triangular-solve", rng)
    type = pick(rng, ["f32", "f64", "c64", "c128"])
    batch, size, columns = pick(rng, [(), (2,), (2, 2)]), int(rng.integers(1, 7)), int(rng.integers(1, 5))
    left = rng.random() < 0.5
    a = program.parameter(type, batch + (size, size), array=_matrices(rng, type, batch, size))
    b = program.parameter(type, batch + ((size, columns) if left else (columns, size)))
    unit = rng.random() < 0.2
    flags = {"left_side": left, "lower": rng.random() < 0.5, "unit_diagonal": unit}
    attributes = ", ".join(f"{name}={str(bool(flag)).lower()}" for name, flag in flags.items())
    transposed = pick(rng, ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
    attributes += f", transpose_a={transposed}"
    return program.finish(program.op("triangular-solve", type, b.dims, [a, b], attributes, ulps=256))


def fft(rng):
    program = Program("fft", rng)
    real = pick(rng, ["f32", "f64"])
    whole = PARTS[real]
    batch = [int(rng.integers(1, 4)) for _ in range(int(rng.integers(0, 3)))]
    lengths = [int(rng.integers(1, 10)) for _ in range(int(rng.integers(1, 4)))]
    halved = lengths[:-1] + [lengths[-1] // 2 + 1]
    kind = pick(rng, ["FFT", "IFFT", "RFFT", "IRFFT"])
    source = real if kind == "RFFT" else whole
    x = program.parameter(source, batch + (halved if kind == "IRFFT" else lengths))
    target = real if kind == "IRFFT" else whole
    dims = batch + (halved if kind == "RFFT" else lengths)
    attributes = f"fft_type={kind}, fft_length={braces(lengths)}"
    return program.finish(program.op("fft", target, dims, [x], attributes, ulps=128))


def random_bits(rng):
    """The generators with a defined stream: the new state and the bits must be equal."""
    program = Program("random-bits", rng)
    algorithm = pick(rng, ["rng_three_fry", "rng_philox", "rng_default"])
    words = 2 if algorithm == "rng_three_fry" else pick(rng, [2, 3])
    state = program.parameter("u64", (words,), "extreme")
    type = pick(rng, ["u8", "u16", "u32", "u64", "s32"])
    dims = [int(rng.integers(1, 6)) for _ in range(int(rng.integers(1, 4)))]
    results = [state, Value("", type, tuple(dims))]
    return program.finish(*program.tuple_op("rng-bit-generator", results, [state], f"algorithm={algorithm}"))
