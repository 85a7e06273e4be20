#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the model of docs/training.md: y = tanh(x w), loss = mean((y - t)^2).

    make_model.py OUT.onnx
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "common"))
import onnx_writer as onnx

model = onnx.model("layer", [
    onnx.node("MatMul", ["x", "w"], "product"),
    onnx.node("Tanh", ["product"], "y"),
    onnx.node("Sub", ["y", "t"], "error"),
    onnx.node("Mul", ["error", "error"], "square"),
    onnx.node("ReduceMean", ["square"], "loss", keepdims=0),
    onnx.weight("w", [2, 1], [0.1, 0.2]),
    onnx.graph_input("x", "n", 2), onnx.graph_input("t", "n", 1), onnx.graph_output("loss")])
pathlib.Path(sys.argv[1]).write_bytes(model)
