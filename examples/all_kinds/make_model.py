#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes FOLDER/kinds.onnx, a model with an operator in C++, one of ONNX Runtime's domain and one in
Python; FOLDER/x.txt, numbers for it; and FOLDER/y.txt, what NumPy computes of them.

    make_model.py FOLDER
"""

import math
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS, COLUMNS = 4, 16


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(5)
    bias = rng.standard_normal(COLUMNS).astype(np.float32)
    graph = helper.make_graph([
        helper.make_node("Detrend", ["x"], ["flat"], domain="kinds"),
        helper.make_node("BiasGelu", ["flat", "bias"], ["gelu"], domain="com.microsoft"),
        helper.make_node("Median", ["gelu"], ["y"], domain="kinds")
    ], "kinds", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [ROWS, COLUMNS])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROWS])],
        [numpy_helper.from_array(bias, "bias")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
              folder / "kinds.onnx")

    places = np.arange(COLUMNS)
    x = (rng.standard_normal((ROWS, COLUMNS)) + 0.3 * places).astype(np.float32)
    flat = np.array([row - np.polyval(np.polyfit(places, row, 1), places) for row in x.astype(float)])
    gelu = np.vectorize(lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2))))(flat + bias)
    np.savetxt(folder / "x.txt", x.ravel(), fmt="%.9g")
    np.savetxt(folder / "y.txt", np.median(gelu, axis=-1), fmt="%.9g")


if __name__ == "__main__":
    main()
