#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an ONNX model that spots keywords, and one input. Usage: make_model.py MODEL.onnx INPUT.npy

A depthwise-separable network of the usual shape for this task, with random weights: 49 frames of 10
spectral features; a convolution 10 x 4 to 64 channels; four blocks of a depthwise 3 x 3 and a
pointwise convolution; the average of all pixels; 12 classes.

Weights are seeded; input i is ((37 i) mod 64 - 32) / 32, as in main.cpp. Standard library only.
"""

import pathlib
import random
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import onnx_writer as onnx

FRAMES, FEATURES, CHANNELS, BLOCKS, CLASSES = 49, 10, 64, 4, 12
draw = random.Random(1)


def weights(name, extents, fan_in):
    count = 1
    for extent in extents:
        count *= extent
    scale = (6 / fan_in) ** 0.5
    return onnx.weight(name, extents, [draw.uniform(-scale, scale) for _ in range(count)])


def convolution(parts, name, x, extents, **attributes):
    fan_in = extents[1] * extents[2] * extents[3]
    parts += [weights(f"{name}.w", extents, fan_in), weights(f"{name}.b", extents[:1], 600),
              onnx.node("Conv", [x, f"{name}.w", f"{name}.b"], f"{name}.sum", **attributes),
              onnx.node("Relu", [f"{name}.sum"], name)]
    return name


parts = [onnx.graph_input("x", 1, 1, FRAMES, FEATURES)]
y = convolution(parts, "first", "x", [CHANNELS, 1, 10, 4], strides=[2, 2], pads=[4, 1, 5, 1])
for block in range(BLOCKS):
    y = convolution(parts, f"depthwise{block}", y, [CHANNELS, 1, 3, 3], pads=[1, 1, 1, 1],
                    group=CHANNELS)
    y = convolution(parts, f"pointwise{block}", y, [CHANNELS, CHANNELS, 1, 1])
parts += [
    onnx.node("AveragePool", [y], "average", kernel_shape=[(FRAMES + 1) // 2, FEATURES // 2]),
    onnx.node("Flatten", ["average"], "features"),
    weights("dense.w", [CHANNELS, CLASSES], CHANNELS), weights("dense.b", [CLASSES], 600),
    onnx.node("Gemm", ["features", "dense.w", "dense.b"], "y"), onnx.graph_output("y", 1, CLASSES)]
pathlib.Path(sys.argv[1]).write_bytes(onnx.model("keywords", parts))
pathlib.Path(sys.argv[2]).write_bytes(
    onnx.npy([1, 1, FRAMES, FEATURES], [(37 * i % 64 - 32) / 32 for i in range(FRAMES * FEATURES)]))
