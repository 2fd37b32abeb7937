"""The element types of HLO: their numpy types, their classes, and special values."""
import ml_dtypes
import numpy as np

PRED = ["pred"]
SIGNED = ["s8", "s16", "s32", "s64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTS = SIGNED + UNSIGNED
NARROW_INTS = ["s4", "u4"]
FLOATS = ["f32", "f64", "bf16", "f16"]
NARROW_FLOATS = ["f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3", "f8e3m4"]
COMPLEX = ["c64", "c128"]
NUMBERS = INTS + FLOATS + COMPLEX
ALL = PRED + NUMBERS + NARROW_INTS + NARROW_FLOATS

_DTYPES = {
    "pred": np.bool_, "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64, "u8": np.uint8,
    "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128, "bf16": ml_dtypes.bfloat16, "s4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4, "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "f8e4m3": ml_dtypes.float8_e4m3, "f8e3m4": ml_dtypes.float8_e3m4,
}
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}


def dtype(name):
    return np.dtype(_DTYPES[name])


def name_of(numpy_type):
    return _NAMES[np.dtype(numpy_type)]


def is_float(name):
    return name in FLOATS or name in NARROW_FLOATS


def is_complex(name):
    return name in COMPLEX


def is_int(name):
    return name in INTS or name in NARROW_INTS


def bits(name):
    return 4 if name in NARROW_INTS else 8 * dtype(name).itemsize


def epsilon(name):
    """The distance from 1 to the next larger float."""
    return float(ml_dtypes.finfo(dtype(name)).eps)


def common(rng):
    """A random type; f32 and s32 are more frequent than the others."""
    return str(rng.choice(["f32", "f32", "s32", str(rng.choice(ALL))]))


def _special_floats(name, denormal):
    info = ml_dtypes.finfo(dtype(name))
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, float(info.max), float(info.min), float(info.tiny), 3.0, 1e-3, -7.5]
    if name in FLOATS:
        numbers += [float("inf"), float("-inf"), float("nan")]
    if denormal:
        numbers += [float(info.smallest_subnormal), -3 * float(info.smallest_subnormal)]
    return numbers


def _uniform(rng, name, count):
    if name == "pred":
        return rng.integers(0, 2, count).astype(np.bool_)
    if is_int(name):
        low = 0 if name.startswith("u") else -8
        return rng.integers(low, 8, count).astype(dtype(name))
    if is_complex(name):
        return (rng.uniform(-2, 2, count) + 1j * rng.uniform(-2, 2, count)).astype(dtype(name))
    return rng.uniform(-2, 2, count).astype(dtype(name))


def _extreme(rng, name, count, denormal=False):
    """Uniform bits for integers; floats of all magnitudes, including special values."""
    if name == "pred":
        return _uniform(rng, name, count)
    if name in NARROW_INTS:
        low, high = (0, 16) if name == "u4" else (-8, 8)
        return rng.integers(low, high, count).astype(dtype(name))
    if is_int(name):
        info = np.iinfo(dtype(name))
        values = rng.integers(info.min, info.max, count, dtype=dtype(name), endpoint=True)
        corners = np.array([info.min, info.max, 0, 1, info.max // 2, info.min + 1], dtype(name))
        return np.where(rng.random(count) < 0.3, rng.choice(corners, count), values)
    if is_complex(name):
        part = "f32" if name == "c64" else "f64"
        return (_extreme(rng, part, count) + 1j * _extreme(rng, part, count).astype(np.complex128)).astype(dtype(name))
    top = min(float(np.log2(float(ml_dtypes.finfo(dtype(name)).max))), 60.0) - 1
    values = np.exp2(rng.uniform(-min(top, 20.0), top, count)) * rng.choice([-1.0, 1.0], count)
    special = rng.choice(_special_floats(name, denormal), count)
    return np.where(rng.random(count) < 0.3, special, values).astype(dtype(name))


def values(rng, name, dims, style="small"):
    """A random input array. Styles: "small" numbers; "extreme" ones; "denormal": extreme ones and denormals, for ops
    whose results do not depend on XLA's flushing of denormals; "positive"; "unit", in [-1, 1]."""
    count = int(np.prod(dims, dtype=np.int64))
    with np.errstate(all="ignore"):
        if style in ("extreme", "denormal"):
            array = _extreme(rng, name, count, style == "denormal")
        elif style == "positive" and name != "pred":
            array = (np.abs(_uniform(rng, name, count).astype(np.float64)) + 0.25).astype(dtype(name))
        elif style == "unit" and is_float(name):
            array = rng.uniform(-1, 1, count).astype(dtype(name))
        else:
            array = _uniform(rng, name, count)
    return np.ascontiguousarray(array).reshape(dims)


def nudged(rng, array):
    """The array with every float perturbed by up to two units in the last place, to measure sensitivity."""
    name = name_of(array.dtype)
    if not (is_float(name) or is_complex(name)):
        return array
    step = 2.0 ** -52 if name in ("f64", "c128") else 2.0 ** -23 if name in ("f32", "c64") else \
        float(ml_dtypes.finfo(array.dtype).eps)
    wide = array.astype(np.complex128 if is_complex(name) else np.float64)
    with np.errstate(all="ignore"):
        return (wide * (1 + step * rng.uniform(-2, 2, array.shape))).astype(array.dtype)
