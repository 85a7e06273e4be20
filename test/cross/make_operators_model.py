#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the model of operators_test.cpp, of operators in test/operators/sample_operators.h.

    make_operators_model.py OUT.onnx

    reversed = Reverse(ReadsAttributes(x))    attributes of every kind; a state; scratch memory
    half = 0.5 * (reversed above 4)           extents that only the run can tell
    count = Counter(x)                        from 41 on; x is [14]
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "common"))
import onnx_writer as onnx


def sample(op, inputs, output, **attributes):
    return onnx.node(op, inputs, output, domain="sample", **attributes)


pathlib.Path(sys.argv[1]).write_bytes(onnx.model("operators", [
    sample("ReadsAttributes", ["x"], "read", integer=3, real=1.5, text="linear", integers=[1, -2],
           reals=[0.25], texts=["a", ""],
           tensor=onnx.tensor([2, 2], [5, 6, 7, 8], element=onnx.INT32)),
    sample("Reverse", ["read"], "reversed"),
    sample("Above", ["reversed", "limit"], "above"),
    sample("Affine", ["above"], "half", factor=0.5),
    sample("Counter", ["x"], "count", start=41),
    onnx.weight("limit", [1], [4]),
    onnx.graph_input("x", 14), onnx.graph_output("reversed", 14),
    onnx.graph_output("half", "kept"), onnx.graph_output("count", element=onnx.INT64)]))
