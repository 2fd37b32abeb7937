"""Elementwise ops with more precision than their results have.

XLA's CPU backend approximates some functions with an error of more than two units in the last place. If numpy can
compute the op in a wider type, that result is the reference.
"""
import math

import numpy as np

import element_types as et


def _erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64))


def _round_away(x):
    return np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x)


def _propagating(function):
    return lambda x, y: np.where(np.isnan(x), x, np.where(np.isnan(y), y, function(x, y)))


UNARY = {
    "abs": np.abs, "negate": np.negative, "exponential": np.exp, "exponential-minus-one": np.expm1, "log": np.log,
    "log-plus-one": np.log1p, "sine": np.sin, "cosine": np.cos, "tan": np.tan, "tanh": np.tanh, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "logistic": lambda x: 1 / (1 + np.exp(-x)), "erf": _erf,
    "floor": np.floor, "ceil": np.ceil, "round-nearest-even": np.rint, "round-nearest-afz": _round_away,
    "sign": lambda x: np.where(np.isnan(x) | (x == 0), x, np.sign(x)),
    "acos": np.arccos, "asin": np.arcsin, "acosh": np.arccosh, "asinh": np.arcsinh, "atanh": np.arctanh,
    "cosh": np.cosh, "sinh": np.sinh,
}
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "remainder": np.fmod,
    "power": np.power, "atan2": np.arctan2, "maximum": _propagating(np.maximum), "minimum": _propagating(np.minimum),
}
# Ops that IEEE 754 rounds correctly, or that do not round: results must be equal.
ROUNDED_CORRECTLY = {
    "abs", "negate", "floor", "ceil", "round-nearest-even", "round-nearest-afz", "sign", "add", "subtract", "multiply",
    "divide", "remainder", "maximum", "minimum", "sqrt",
}


def wide(array):
    """The array in the widest type numpy has for it."""
    name = et.name_of(array.dtype)
    if et.is_complex(name):
        return array.astype(np.clongdouble)
    return array.astype(np.longdouble) if name == "f64" else array.astype(np.float64)


def reference(opcode, arrays):
    """The op on wide operands, or None if numpy does not support it."""
    function = (UNARY if len(arrays) == 1 else BINARY).get(opcode)
    if function is None:
        return None
    with np.errstate(all="ignore"):
        try:
            return function(*[wide(array) for array in arrays])
        except TypeError:
            return None
