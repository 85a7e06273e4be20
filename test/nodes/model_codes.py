# SPDX-License-Identifier: Apache-2.0
"""The codes inside of quantised models, beside those that ONNX Runtime computes."""

import numpy as np
import onnx
import onnxruntime
from one_node import run
from onnx import TensorProto, helper

INTEGERS = {"DynamicQuantizeLinear": TensorProto.UINT8, "MatMulInteger": TensorProto.INT32,
            "ConvInteger": TensorProto.INT32}
# What gives the same bits on every machine, of the same operands. Not so sums in float, whose order the vectors'
# length decides (QLinearAdd rounds a sum of two products, which is one operation on some), and functions.
EXACT = {*INTEGERS, "QuantizeLinear", "DequantizeLinear", "QLinearConv", "QLinearMatMul", "QLinearMul", "QLinearConcat",
         "QLinearLeakyRelu", "QLinearSigmoid", "QLinearGlobalAveragePool", "QGemm", "MaxPool", "Relu", "Reshape",
         "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Div", "Mul", "Add", "Cast"}
MOVES = {"MaxPool", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "QLinearConcat"}


def with_codes(model, kind):
    """The model with all codes of activations as outputs more, and which of them are the same on every machine."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    held = {each.name for each in model.graph.initializer}
    exact = held | {each.name for each in model.graph.input}
    found, types = {}, {}
    for node in model.graph.node:
        name = node.output[0]
        known = {name for name in node.input if name}
        if node.op_type in EXACT and known <= exact:
            exact.update(node.output)
        if known <= held:
            held.update(node.output)  # of weights
            continue
        if node.op_type in MOVES and node.input[0] in types:
            types[name] = types[node.input[0]]
        elif node.op_type in INTEGERS:
            types[name] = INTEGERS[node.op_type]
        elif node.op_type == "QuantizeLinear" or (node.op_type.startswith("QLinear")) or (
                node.op_type == "QGemm" and len(node.input) == 9):
            types[name] = kind
        if name in types:
            found[name] = name in exact
    model.graph.output.extend(helper.make_tensor_value_info(name, types[name], None) for name in found
                              if name not in {each.name for each in model.graph.output})
    return model, found


def check_codes(case, model, fed, kind):
    """Exact codes are equal; of others one in twenty may be the next one: behind an Erf many sums are alike, which lie
    so near the middle between two codes that ONNX Runtime rounds them to the other one."""
    model, exact = with_codes(model, kind)
    case.assertGreater(len(exact), 1)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    expected, found = session.run(None, fed), run(model, fed)
    case.assertIsInstance(found, list, found)
    for output, a, b in zip(model.graph.output, found, expected, strict=True):
        if output.name not in exact:
            continue
        with case.subTest(codes=output.name):
            case.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
            difference = np.abs(a.astype(np.int64) - b)
            if exact[output.name]:
                case.assertEqual(np.count_nonzero(difference), 0)
            else:
                case.assertLessEqual(difference.max(), 1)
                case.assertLessEqual(np.count_nonzero(difference), max(1, difference.size // 20))
