#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives PP-OCR's text-direction classifier another task: which font a line is set in.

    make_model.py CLASSIFIER.onnx FOLDER

Writes FOLDER/fonts.onnx: the classifier with a last layer for three classes, and its loss. What it
learns from comes from render.py.
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CLASSES = 3
LAST_LAYER = "linear_1.tmp_1"  # of the classifier, before its softmax


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model = onnx.load(sys.argv[1])
    graph = model.graph
    nodes = []
    for node in graph.node:
        nodes.append(node)
        if LAST_LAYER in node.output:
            break
    else:
        sys.exit(f"{sys.argv[1]}: no node computes '{LAST_LAYER}'")
    # Weights are Constant nodes in this model; those of the last layer begin anew.
    features = next(numpy_helper.to_array(n.attribute[0].t).shape[0]
                    for n in nodes if list(n.output) == ["fc_0.w_0"])
    weights = np.random.default_rng(1).normal(0, 0.01, (features, CLASSES)).astype(np.float32)
    nodes = [n for n in nodes if n.output[0] not in ("fc_0.w_0", "fc_0.b_0")]
    graph.initializer.extend([
        numpy_helper.from_array(weights, "fc_0.w_0"),
        numpy_helper.from_array(np.zeros(CLASSES, np.float32), "fc_0.b_0")
    ])
    nodes.append(helper.make_node("SoftmaxCrossEntropyLoss", [LAST_LAYER, "labels"], ["loss"]))
    del graph.node[:]
    graph.node.extend(nodes)
    del graph.input[:]
    graph.input.extend([
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 48, 192]),
        helper.make_tensor_value_info("labels", TensorProto.INT64, ["n"])
    ])
    del graph.output[:]
    graph.output.extend([
        helper.make_tensor_value_info("loss", TensorProto.FLOAT, []),
        helper.make_tensor_value_info(LAST_LAYER, TensorProto.FLOAT, ["n", CLASSES])
    ])
    del graph.value_info[:]
    model.opset_import[0].version = 13  # has the loss; the other operators are as in 11
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "fonts.onnx")


if __name__ == "__main__":
    main()
