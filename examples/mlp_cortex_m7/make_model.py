#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an ONNX model of a perceptron, and one input. Usage: make_model.py MODEL.onnx INPUT.npy

    hidden = Relu(x * W1 + b1)      x is [1, 64], 32 hidden units
    y = hidden * W2 + b2            y is [1, 10]

Weights are seeded; input i is ((37 i) mod 64 - 32) / 32, as in main.cpp. Standard library only.
"""

import pathlib
import random
import struct
import sys

FLOAT, INPUTS, HIDDEN, CLASSES = 1, 64, 32, 10


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


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def weights(name, *extents, seed):
    count = extents[0] * (extents[1] if len(extents) > 1 else 1)
    draw = random.Random(seed)
    scale = (3 / extents[0]) ** 0.5
    values = [draw.uniform(-scale, scale) for _ in range(count)]
    dims = b"".join(number(1, extent) for extent in extents)
    return text(5, dims + number(2, FLOAT) + text(8, name) + text(9, floats(values)))


def port(field, name, *extents):
    axes = b"".join(text(1, number(1, extent)) for extent in extents)
    return text(field, text(1, name) + text(2, text(1, number(1, FLOAT) + text(2, axes))))


def node(op, inputs, output):
    return text(1, b"".join(text(1, name) for name in inputs) + text(2, output) + text(4, op))


def model():
    graph = (
        node("Gemm", ["x", "W1", "b1"], "sum") + node("Relu", ["sum"], "hidden")
        + node("Gemm", ["hidden", "W2", "b2"], "y") + text(2, "mlp")
        + weights("W1", INPUTS, HIDDEN, seed=1) + weights("b1", HIDDEN, seed=2)
        + weights("W2", HIDDEN, CLASSES, seed=3) + weights("b2", CLASSES, seed=4)
        + port(11, "x", 1, INPUTS) + port(12, "y", 1, CLASSES))
    return number(1, 8) + text(7, graph) + text(8, number(2, 17))


def npy(values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, {len(values)}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + floats(values)


pathlib.Path(sys.argv[1]).write_bytes(model())
pathlib.Path(sys.argv[2]).write_bytes(npy([(37 * i % 64 - 32) / 32 for i in range(INPUTS)]))
