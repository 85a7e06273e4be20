#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tiny ONNX models with Python's standard library alone.

    make_model.py OUT.onnx [CUSTOM.onnx WORDS.onnx]

OUT:
    y = Relu(x * W + b)      x is [batch, 3], W is [[1, 2], [3, 4], [5, 6]], b is [-22, 0.5]
    total_next = total + y   total is [batch, 2]

x and y have names that C++ cannot have: "x:0" and "class".

CUSTOM: y = Twice(x), an operator of domain "consumer" that the model does not import; x is [3].

WORDS: y = x in capitals; x is [2], of strings.
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "common"))
import onnx_writer as onnx

model = onnx.model("tiny", [
    onnx.node("Gemm", ["x:0", "W", "b"], "product"),
    onnx.node("Relu", ["product"], "class"),
    onnx.node("Add", ["total", "class"], "total_next"),
    onnx.weight("W", [3, 2], [1, 2, 3, 4, 5, 6]),
    onnx.weight("b", [2], [-22, 0.5]),
    onnx.graph_input("x:0", "batch", 3), onnx.graph_input("total", "batch", 2),
    onnx.graph_output("class", "batch", 2), onnx.graph_output("total_next", "batch", 2)])
pathlib.Path(sys.argv[1]).write_bytes(model)

if len(sys.argv) > 2:
    custom = onnx.model("custom", [
        onnx.node("Twice", ["x"], "y", domain="consumer"),
        onnx.graph_input("x", 3), onnx.graph_output("y", 3)])
    pathlib.Path(sys.argv[2]).write_bytes(custom)
    words = onnx.model("words", [
        onnx.node("StringNormalizer", ["x"], "y", case_change_action="UPPER"),
        onnx.graph_input("x", 2, element=onnx.STRING), onnx.graph_output("y", 2, element=onnx.STRING)])
    pathlib.Path(sys.argv[3]).write_bytes(words)
