#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes two tiny ONNX models with Python's standard library alone, of which one plan is made.

    make_model.py FOLDER

scale.onnx: y = Relu(x W + b)   x is [batch, 3]
words.onnx: y = x in capitals   x is [2], of strings
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import onnx_writer as onnx

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
(folder / "scale.onnx").write_bytes(onnx.model("scale", [
    onnx.node("Gemm", ["x", "W", "b"], "product"),
    onnx.node("Relu", ["product"], "y"),
    onnx.weight("W", [3, 2], [1, 2, 3, 4, 5, 6]),
    onnx.weight("b", [2], [-22, 0.5]),
    onnx.graph_input("x", "batch", 3), onnx.graph_output("y", "batch", 2)]))
(folder / "words.onnx").write_bytes(onnx.model("words", [
    onnx.node("StringNormalizer", ["x"], "y", case_change_action="UPPER"),
    onnx.graph_input("x", 2, element=onnx.STRING), onnx.graph_output("y", 2, element=onnx.STRING)]))
