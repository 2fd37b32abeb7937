"""Compares two results. Integers and moved elements must be equal, and zeros must have equal signs; other floats may
differ by units in the last place.

A float is correct if it is near XLA's, or near the reference if there is one. The tolerance is the ulps of its Value,
plus eight times the change of XLA's own result when every input is perturbed by up to two units in the last place.
"""
import ml_dtypes
import numpy as np

import element_types as et


def _info(name):
    return ml_dtypes.finfo(et.dtype({"c64": "f32", "c128": "f64"}.get(name, name)))


def spacing(name, magnitude):
    """The distance between adjacent numbers of the type at these magnitudes."""
    info = _info(name)
    finite = np.where(np.isfinite(magnitude), magnitude, 0).astype(np.float64)
    exponent = np.floor(np.log2(np.maximum(finite, float(info.tiny))))
    return np.exp2(exponent) * float(info.eps)


def _near(value, got, wide, allowance, ulps):
    """True for the elements of `got` that are near `wide`."""
    error = np.abs(got - wide).astype(np.float64)
    magnitude = np.abs(wide)
    near = error <= ulps * spacing(value.type, magnitude) + allowance
    # Denormals may be flushed: XLA's CPU threads do so.
    tiny = float(_info(value.type).tiny)
    near |= (np.abs(got) <= tiny) & (magnitude <= tiny)
    near |= (got == wide) | (np.isnan(got) & np.isnan(wide))
    if et.is_complex(value.type):  # either part may be the non-finite one
        near |= ~np.isfinite(got) & ~np.isfinite(wide)
    return near


def _same_zeros(got, want):
    """False where two zeros differ in sign, which == ignores but 1/x does not; true for all other elements."""
    parts = [(got.real, want.real), (got.imag, want.imag)] if np.iscomplexobj(got) else [(got, want)]
    same = np.ones(got.shape, bool)
    for g, w in parts:
        same &= (g != 0) | (w != 0) | (np.signbit(g) == np.signbit(w))
    return same


def disagreement(value, got, want, nudged=(), reference=None, other="XLA"):
    """None, or a message about the first wrong element of `got`; `want` is from `other`."""
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    inexact = et.is_float(value.type) or et.is_complex(value.type)
    if not inexact:
        right = got == want
    else:
        wide = np.clongdouble if et.is_complex(value.type) else np.longdouble
        with np.errstate(all="ignore"):
            g, w = got.astype(wide), want.astype(wide)
            allowance = np.zeros(want.shape)
            for moved in nudged:
                change = np.abs(moved.astype(wide) - w).astype(np.float64)
                change = np.where(np.isfinite(change), change, 0)
                # The median, because the change of a single element may be zero by chance.
                allowance = np.maximum(allowance, 8 * np.maximum(change, np.median(change) if change.size else 0))
            right = _near(value, g, w, allowance if value.ulps else 0, value.ulps)
            if reference is not None:
                rounded = reference.astype(want.dtype).astype(wide)
                right |= _near(value, g, rounded, 0, min(value.ulps, 2))
            if not value.ulps:
                right &= _same_zeros(g, w)
    wrong = int(np.size(right) - np.count_nonzero(right))
    if not wrong:
        return None
    first = int(np.argmin(right.reshape(-1)))
    text = f"{wrong} of {got.size} elements differ, first at {first}: {got.reshape(-1)[first]}, " \
        f"{other} {want.reshape(-1)[first]}"
    if reference is not None:
        text += f", exactly {reference.reshape(-1)[first]}"
    return text
