# SPDX-License-Identifier: Apache-2.0
"""Operators with graphs: what is measured is entering a graph, again and again, on top of its work."""

import numpy
import onnx
import onnx.helper
import onnx.numpy_helper

from sweep_cases import IMAGE, case, exactly, normal

CELL = (1, 128)


def value(name, shape, type=onnx.TensorProto.FLOAT):
    return onnx.helper.make_tensor_value_info(name, type, shape)


def branches():
    """Two graphs that read nothing from outside: a constant image each."""
    def body(name, number):
        fill = onnx.helper.make_tensor("value", onnx.TensorProto.FLOAT, [1], [number])
        shape = onnx.helper.make_tensor("shape", onnx.TensorProto.INT64, [4], IMAGE)
        nodes = [onnx.helper.make_node("Constant", [], ["shape"], value=shape),
                 onnx.helper.make_node("ConstantOfShape", ["shape"], [name], value=fill)]
        return onnx.helper.make_graph(nodes, name, [], [value(name, IMAGE)])
    return {"then_branch": body("then", 1.0), "else_branch": body("else", 2.0)}


def cell(given, result):
    """The nodes of h = tanh(W h + given), which leave h under the name `result`, and their W."""
    weight = numpy.eye(CELL[1], k=1, dtype=numpy.float32) * numpy.float32(0.9)
    nodes = [onnx.helper.make_node("MatMul", ["old", "w"], ["product"]),
             onnx.helper.make_node("Add", ["product", given], ["sum"]),
             onnx.helper.make_node("Tanh", ["sum"], [result])]
    return nodes, onnx.numpy_helper.from_array(weight, "w")


def decoder():
    """A body that feeds its result back, as greedy decoders do, and keeps every step."""
    nodes, weight = cell("old", "new")
    nodes += [onnx.helper.make_node("Identity", ["go"], ["again"]),
              onnx.helper.make_node("Identity", ["new"], ["step"])]
    return {"body": onnx.helper.make_graph(
        nodes, "decoder",
        [value("trip", [], onnx.TensorProto.INT64), value("go", [], onnx.TensorProto.BOOL),
         value("old", CELL)],
        [value("again", [], onnx.TensorProto.BOOL), value("new", CELL), value("step", CELL)],
        [weight])}


def recurrence():
    """A recurrent cell over the elements of a sequence."""
    nodes, weight = cell("x", "new")
    nodes.append(onnx.helper.make_node("Identity", ["new"], ["step"]))
    return {"body": onnx.helper.make_graph(
        nodes, "recurrence", [value("old", CELL), value("x", CELL)],
        [value("new", CELL), value("step", CELL)], [weight])}


def squares():
    """x * x for every element."""
    return {"body": onnx.helper.make_graph(
        [onnx.helper.make_node("Mul", ["x", "x"], ["y"])], "squares", [value("x", CELL)],
        [value("y", CELL)])}


CASES = [
    case("If", "", [exactly(True, "bool")], bodies=branches),
    case("Loop", "decoder", [exactly(64), exactly(True, "bool"), normal(*CELL)], outputs=2,
         bodies=decoder),
    case("Scan", "recurrence", [normal(*CELL), normal(100, *CELL)], outputs=2, bodies=recurrence,
         num_scan_inputs=1),
    case("Scan", "backwards", [normal(*CELL), normal(100, *CELL)], outputs=2, bodies=recurrence,
         num_scan_inputs=1, scan_input_directions=[1], scan_output_directions=[1]),
    *(case("SequenceMap", variant, [normal(length, 128)], steps=lambda: [
        ("SplitToSequence", ["x0"], ["s"], {}), ("SequenceMap", ["s"], ["t"], squares()),
        ("ConcatFromSequence", ["t"], ["y0"], {"axis": 0})])
      for variant, length in (("", 100), ("long", 1000))),
]
