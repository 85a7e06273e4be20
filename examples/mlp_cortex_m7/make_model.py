#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an ONNX model of a perceptron, and one input. Usage: make_model.py MODEL.onnx INPUT.npy

    hidden = Relu(x * W1 + b1)      x is [1, 64], 32 hidden units
    y = hidden * W2 + b2            y is [1, 10]

Weights are seeded; input i is ((37 i) mod 64 - 32) / 32, as in main.cpp. Standard library only.
"""

import pathlib
import random
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import onnx_writer as onnx

INPUTS, HIDDEN, CLASSES = 64, 32, 10


def weights(name, *extents, seed):
    count = extents[0] * (extents[1] if len(extents) > 1 else 1)
    draw = random.Random(seed)
    scale = (3 / extents[0]) ** 0.5
    return onnx.weight(name, extents, [draw.uniform(-scale, scale) for _ in range(count)])


model = onnx.model("mlp", [
    onnx.node("Gemm", ["x", "W1", "b1"], "sum"),
    onnx.node("Relu", ["sum"], "hidden"),
    onnx.node("Gemm", ["hidden", "W2", "b2"], "y"),
    weights("W1", INPUTS, HIDDEN, seed=1), weights("b1", HIDDEN, seed=2),
    weights("W2", HIDDEN, CLASSES, seed=3), weights("b2", CLASSES, seed=4),
    onnx.graph_input("x", 1, INPUTS), onnx.graph_output("y", 1, CLASSES)])
pathlib.Path(sys.argv[1]).write_bytes(model)
pathlib.Path(sys.argv[2]).write_bytes(
    onnx.npy([1, INPUTS], [(37 * i % 64 - 32) / 32 for i in range(INPUTS)]))
