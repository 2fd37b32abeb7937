#!/usr/bin/env python3
"""Wraps an HloModuleProto from standard input into an HloSnapshot with f32 vectors: snapshot.py RESULT ARGUMENT…

RESULT and ARGUMENT are comma-separated lists of numbers. Writes the snapshot to standard output.
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
    numbers = [float(x) for x in text.split(",")]
    layout = field(1, varint(0)) + varint(4 << 3) + varint(1)
    shape = varint(2 << 3) + varint(11) + field(3, varint(len(numbers))) + field(5, layout)
    return field(1, shape) + field(8, struct.pack(f"<{len(numbers)}f", *numbers))


module = sys.stdin.buffer.read()
snapshot = field(1, field(1, module))
for argument in sys.argv[2:]:
    snapshot += field(2, literal(argument))
sys.stdout.buffer.write(snapshot + field(3, literal(sys.argv[1])))
