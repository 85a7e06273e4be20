# SPDX-License-Identifier: Apache-2.0
"""`verify` of models with sub-graphs: nodes are compared inside of them. Usage: verify_test.py TOOL"""

import pathlib
import subprocess
import tempfile
import unittest

import onnx
from one_node import TOOL, Case
from onnx import TensorProto, helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
ROW, ROWS = [128], [6, 128]


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def number(name, x, kind=INT64):
    return helper.make_tensor(name, kind, [], [x])


def squares(x="x", y="y"):
    """Another node behind the product, as a kernel may take an Add into itself."""
    return helper.make_graph([helper.make_node("Mul", [x, x], ["xx"]), helper.make_node("Softmax", ["xx"], [y])],
                             "squares", [value(x, ROW)], [value(y, ROW)])


def loop_body():
    nodes = [helper.make_node("SequenceAt", ["s", "trip"], ["x"]), *squares().node,
             helper.make_node("SequenceInsert", ["before", "y"], ["after"])]
    return helper.make_graph(nodes, "body", [value("trip", [], INT64), value("go", [], BOOL),
                                             helper.make_tensor_sequence_value_info("before", FLOAT, None)],
                             [value("go", [], BOOL), helper.make_tensor_sequence_value_info("after", FLOAT, None),
                              value("y", ROW)])


SPLIT = helper.make_node("SplitToSequence", ["rows"], ["s"], keepdims=0)
CONCAT = helper.make_node("ConcatFromSequence", ["t"], ["z"], axis=0)
MODELS = {
    "SequenceMap": [SPLIT, helper.make_node("SequenceMap", ["s"], ["t"], body=squares()), CONCAT],
    "Loop": [SPLIT, helper.make_node("SequenceEmpty", [], ["none"]),
             helper.make_node("Loop", ["six", "", "none"], ["t", "all"], body=loop_body()), CONCAT],
    "Scan": [helper.make_node("Scan", ["rows"], ["z"], num_scan_inputs=1, body=squares())],
    "If": [helper.make_node("ReduceSum", ["rows"], ["sum"], keepdims=0), helper.make_node("Greater", ["sum", "zero"], ["c"]),
           helper.make_node("Gather", ["rows", "one"], ["row"]),
           helper.make_node("If", ["c"], ["z"], **{
               branch: helper.make_graph(squares("row", f"y_{branch}").node, branch, [], [value(f"y_{branch}", ROW)])
               for branch in ("then_branch", "else_branch")})],
}


class Verify(Case):
    def test_looks_into_sub_graphs(self):
        for name, nodes in MODELS.items():
            graph = helper.make_graph(nodes, "test", [value("rows", ROWS)], [value("z", None)],
                                      [number("six", 6), number("one", 1), number("zero", 0, FLOAT)])
            model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "model.onnx")
                onnx.save(model, path)
                done = subprocess.run([TOOL, "verify", path], capture_output=True, text=True, check=False)
                self.assertEqual(done.stderr, "")
                trips = 1 if name == "If" else 6
                lines = done.stdout.splitlines()
                self.assertEqual(sum("Softmax" in line for line in lines), trips, done.stdout)
                self.assertIn("1 outputs compared with those of the model as imported", done.stdout)


if __name__ == "__main__":
    unittest.main()
