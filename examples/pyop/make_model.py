#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the six-node graph of ONNX Runtime's document of PyOp: make_model.py OUT.onnx"""

import sys

import onnx
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT
A, B, C, D, E, F = (helper.make_tensor_value_info(name, FLOAT, [1]) for name in "ABCDEF")

ad1_node = helper.make_node("Add", ["A", "B"], ["S"])
mul_node = helper.make_node("Mul", ["C", "D"], ["P"])
py1_node = helper.make_node(op_type="PyOp", inputs=["S", "P"], outputs=["L", "M", "N"],
                            name="py1", domain="pyopmulti_1", input_types=[FLOAT, FLOAT],
                            output_types=[FLOAT, FLOAT, FLOAT], module="mymodule",
                            class_name="Multi_1", compute="compute", W1="5", W2="7", W3="9")
ad2_node = helper.make_node("Add", ["L", "M"], ["H"])
py2_node = helper.make_node("PyOp", ["H", "N", "E"], ["O", "W"], name="py2", domain="pyopmulti_2",
                            input_types=[FLOAT, FLOAT, FLOAT], output_types=[FLOAT, FLOAT],
                            module="mymodule", class_name="Multi_2")
sub_node = helper.make_node("Sub", ["O", "W"], ["F"])
nodes = [ad1_node, mul_node, py1_node, ad2_node, py2_node, sub_node]
graph = helper.make_graph(nodes, "multi_pyop_graph", [A, B, C, D, E], [F])
onnx.save(helper.make_model(graph, producer_name="pyop_model",
                            opset_imports=[helper.make_opsetid("", 13)]), sys.argv[1])
