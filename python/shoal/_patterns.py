"""Patterns of instructions that the gate forbids: an opcode with *, then conditions."""
from __future__ import annotations

import fnmatch
import operator
import re

from ._core import Instruction, Shape

_ELEMENT_BITS = re.compile(r"[a-z]+?(\d+)")
_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
# Ops that only move or convert the elements of their first operand.
_FORWARDING = ("convert", "copy", "bitcast", "reshape", "transpose", "get-tuple-element", "dynamic-slice", "slice",
               "optimization-barrier", "all-gather-start", "copy-start", "copy-done")
_KNOWN = "bytes>N, type=T, op_name=X, source=X, of=OPCODE, widened_from=T"


def _bytes_of(shape: Shape) -> float:
    if shape.elements:
        return sum(_bytes_of(element) for element in shape.elements)
    bits = _ELEMENT_BITS.match(shape.dtype)
    count = (int(bits[1]) if bits else 8) / 8
    for size in shape.dims:
        count *= size
    return count


def _types_of(shape: Shape) -> list[str]:
    return [shape.dtype, *(element.dtype for element in shape.elements)]


def _origin(hlo: Instruction) -> Instruction:
    """The instruction that computes the elements of `hlo`."""
    while hlo.opcode in _FORWARDING and hlo.operands:
        hlo = hlo.operands[0]
    return hlo


def _is_widened(hlo: Instruction, dtype: str) -> bool:
    """True if an operand is converted from `dtype`, by itself or as the last op of a fusion."""
    for operand in hlo.operands:
        last: Instruction | None = operand
        if operand.opcode == "fusion":
            last = operand.called_computations[0].root
        while last is not None and last.opcode in ("bitcast", "copy", "reshape", "transpose"):
            last = last.operands[0]
        if last is not None and last.opcode == "convert" and last.operands[0].shape.dtype == dtype:
            return True
    return False


def _holds(hlo: Instruction, condition: str) -> bool:
    found = re.fullmatch(r"bytes(>=|>|<=|<)([\d.e+]+)|(type|op_name|source|of|widened_from)=(.+)", condition)
    if not found:
        raise ValueError(f"unknown condition '{condition}' in forbid; known: {_KNOWN}")
    comparison, limit, field, value = found.groups()
    if comparison:
        return bool(_COMPARE[comparison](_bytes_of(hlo.shape), float(limit)))
    if field == "type":
        return value in _types_of(hlo.shape)
    if field == "of":
        return any(fnmatch.fnmatch(_origin(operand).opcode, value) for operand in hlo.operands)
    if field == "widened_from":
        return _is_widened(hlo, value)
    return value in getattr(hlo, field)


def matches(hlo: Instruction, pattern: str) -> bool:
    """True if the instruction fits a pattern such as "all-gather bytes>1e9 of=parameter"."""
    opcode, *conditions = pattern.split()
    fits = fnmatch.fnmatch(hlo.opcode.removesuffix("-start"), opcode)
    return fits and all(_holds(hlo, condition) for condition in conditions)
