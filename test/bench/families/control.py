# SPDX-License-Identifier: Apache-2.0
"""Operators with graphs: what is measured is choosing and entering a branch, on top of its work."""

import onnx
import onnx.helper

from sweep_cases import IMAGE, case, exactly


def branches():
    """Two graphs that read nothing from outside: a constant image each."""
    def body(name, value):
        result = onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, IMAGE)
        fill = onnx.helper.make_tensor("value", onnx.TensorProto.FLOAT, [1], [value])
        shape = onnx.helper.make_tensor("shape", onnx.TensorProto.INT64, [4], IMAGE)
        nodes = [onnx.helper.make_node("Constant", [], ["shape"], value=shape),
                 onnx.helper.make_node("ConstantOfShape", ["shape"], [name], value=fill)]
        return onnx.helper.make_graph(nodes, name, [], [result])
    return {"then_branch": body("then", 1.0), "else_branch": body("else", 2.0)}


CASES = [case("If", "", [exactly(True, "bool")], bodies=branches)]
