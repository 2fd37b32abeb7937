#!/usr/bin/env python3
"""Wraps an HloModuleProto from standard input into an HloSnapshot with f32 vectors: snapshot.py RESULT ARGUMENT…

RESULT and ARGUMENT are comma-separated lists of numbers; "omitted:N" is a vector of N elements without values. Writes
the snapshot to standard output.
"""
import struct
import sys


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def literal(text):
    omitted = text.startswith("omitted:")
    numbers = [] if omitted else [float(x) for x in text.split(",")]
    count = int(text.removeprefix("omitted:")) if omitted else len(numbers)
    layout = field(1, varint(0)) + varint(4 << 3) + varint(1)
    shape = varint(2 << 3) + varint(11) + field(3, varint(count)) + field(5, layout)
    return field(1, shape) if omitted else field(1, shape) + field(8, struct.pack(f"<{len(numbers)}f", *numbers))


module = sys.stdin.buffer.read()
snapshot = field(1, field(1, module))
for argument in sys.argv[2:]:
    snapshot += field(2, literal(argument))
sys.stdout.buffer.write(snapshot + field(3, literal(sys.argv[1])))
