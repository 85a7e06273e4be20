#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tiny ONNX models with Python's standard library alone.

    make_model.py OUT.onnx [CUSTOM.onnx]

OUT:
    y = Relu(x * W + b)      x is [batch, 3], W is [[1, 2], [3, 4], [5, 6]], b is [-22, 0.5]
    total_next = total + y   total is [batch, 2]

x and y have names that C++ cannot have: "x:0" and "class".

CUSTOM: y = Twice(x), an operator of domain "consumer" that the model does not import; x is [3].
"""

import pathlib
import struct
import sys

FLOAT = 1


def varint(number):
    data = b""
    while number > 0x7f:
        data += bytes([number & 0x7f | 0x80])
        number >>= 7
    return data + bytes([number])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name, extents, values):
    data = b"".join(number(1, extent) for extent in extents) + number(2, FLOAT)
    return data + text(8, name) + text(9, struct.pack(f"<{len(values)}f", *values))


def port(name, *dims):
    axes = b"".join(text(1, number(1, d) if isinstance(d, int) else text(2, d)) for d in dims)
    return text(1, name) + text(2, text(1, number(1, FLOAT) + text(2, axes)))


def node(op, inputs, output, domain=""):
    data = b"".join(text(1, name) for name in inputs) + text(2, output) + text(4, op)
    return data + (text(7, domain) if domain else b"")


graph = (
    text(1, node("Gemm", ["x:0", "W", "b"], "product"))
    + text(1, node("Relu", ["product"], "class"))
    + text(1, node("Add", ["total", "class"], "total_next"))
    + text(2, "tiny")
    + text(5, tensor("W", [3, 2], [1, 2, 3, 4, 5, 6]))
    + text(5, tensor("b", [2], [-22, 0.5]))
    + text(11, port("x:0", "batch", 3))
    + text(11, port("total", "batch", 2))
    + text(12, port("class", "batch", 2))
    + text(12, port("total_next", "batch", 2))
)
model = number(1, 8) + text(7, graph) + text(8, number(2, 17))
pathlib.Path(sys.argv[1]).write_bytes(model)

if len(sys.argv) > 2:
    custom = (text(1, node("Twice", ["x"], "y", "consumer")) + text(2, "custom")
              + text(11, port("x", 3)) + text(12, port("y", 3)))
    pathlib.Path(sys.argv[2]).write_bytes(number(1, 8) + text(7, custom) + text(8, number(2, 17)))
