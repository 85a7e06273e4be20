# SPDX-License-Identifier: Apache-2.0
"""Branches that give a result different ranks under a condition that only the run knows, beside ONNX Runtime.
Usage: branches_test.py TOOL"""

import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from one_node import TOOL, Case, load
from onnx import TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as errors

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
AXES = [helper.make_tensor("axes", INT64, [1], [0])]
onnxruntime.set_default_logger_severity(4)  # it announces what it refuses


def branch(name, *nodes):
    """The result is that of the last node."""
    return helper.make_graph(list(nodes), name, [], [helper.make_tensor_value_info(nodes[-1].output[0], FLOAT, None)])


def either(condition, result, x="x"):
    """x as a row, or negated."""
    return helper.make_node("If", [condition], [result], then_branch=branch(
        f"row_{result}", helper.make_node("Unsqueeze", [x, "axes"], [f"{result}_row"])), else_branch=branch(
            f"negated_{result}", helper.make_node("Neg", [x], [f"{result}_negated"])))


def model(nodes, outputs=("z",)):
    inputs = [helper.make_tensor_value_info("x", FLOAT, ["n"])] + [
        helper.make_tensor_value_info(name, BOOL, []) for name in ("c", "d")
        if f'"{name}"' in str(nodes)]
    graph = helper.make_graph(nodes, "test", inputs, [helper.make_tensor_value_info(o, FLOAT, None) for o in outputs],
                              AXES)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


class Ranks(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tool(self, *arguments):
        return subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)

    def converted(self, made):
        """The message of the conversion; "" if there is a plan."""
        onnx.save(made, self.folder / "model.onnx")
        done = self.tool("convert", self.folder / "model.onnx", "-o", self.folder / "model.plan", "--dim", "n=1..4")
        return done.stderr if done.returncode else ""

    def run_plan(self, given, outputs):
        inputs = []
        for name, x in given.items():
            np.save(self.folder / f"{name}.npy", x)
            inputs += ["--input", f"{name}={self.folder / name}.npy"]
        done = self.tool("run", self.folder / "model.plan", "--output-dir", self.folder, *inputs)
        return done.stderr if done.returncode else [load(self.folder / f"output_{i}") for i in range(outputs)]

    def both(self, made, conditions=("c",)):
        """Compares one plan under all conditions; returns what it says where it fails, as ONNX Runtime does."""
        failed = []
        self.assertEqual(self.converted(made), "")
        session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
        for bits in range(2 ** len(conditions)):
            x = np.array([0.5, -2, 3, 7][bits % 2:], np.float32)
            given = {"x": x} | {name: np.array(bits >> i & 1 == 1) for i, name in enumerate(conditions)}
            with self.subTest(bits=bits):
                found = self.run_plan(given, len(made.graph.output))
                try:
                    expected = session.run(None, given)
                except (errors.RuntimeException, errors.InvalidArgument, errors.Fail) as error:
                    self.assertIsInstance(found, str, error)
                    failed.append(found)
                    continue
                self.agree(found, expected)
        return failed

    def test_readers_move_into_the_branches(self):
        node = helper.make_node
        tail = [node("Abs", ["y"], ["a"]), node("ReduceSum", ["a"], ["s"], keepdims=0), node("Mul", ["s", "x"], ["z"])]
        self.both(model([either("c", "y"), *tail]))
        # Other nodes between them, which need the If, or do not.
        self.both(model([either("c", "y"), node("Exp", ["x"], ["e"]), node("Mul", ["y", "e"], ["m"]),
                         node("ReduceMax", ["m"], ["r"], keepdims=0), node("Sqrt", ["e"], ["q"]),
                         node("Add", ["r", "q"], ["z"])]))
        # A result that is read at several places, and two that are outputs.
        self.both(model([either("c", "y"), node("Abs", ["y"], ["a"]), node("ReduceSum", ["a"], ["z"], keepdims=0),
                         node("ReduceMax", ["a"], ["w"], keepdims=0), node("Size", ["y"], ["k"]),
                         node("Cast", ["k"], ["v"], to=FLOAT)], ("z", "w", "v")))
        # A result that nobody reads.
        self.both(model([either("c", "y"), node("Abs", ["x"], ["z"]), node("Identity", ["c"], ["unused"])]))

    def test_several(self):
        node = helper.make_node
        self.both(model([either("c", "y"), either("d", "w"), node("ReduceSum", ["y"], ["a"], keepdims=0),
                         node("ReduceMax", ["w"], ["b"], keepdims=0), node("Sub", ["a", "b"], ["z"])]), ("c", "d"))
        # One of them in the branch of another, and in a reader's.
        inner = branch("outer", either("d", "w"), node("ReduceSum", ["w"], ["t"], keepdims=0))
        other = branch("other", node("ReduceMax", ["x"], ["u"], keepdims=0))
        self.both(model([node("If", ["c"], ["z"], then_branch=inner, else_branch=other)]), ("c", "d"))
        reads = branch("reads", node("ReduceSum", ["y"], ["t"], keepdims=0))
        self.both(model([either("c", "y"), node("If", ["d"], ["z"], then_branch=reads, else_branch=other)]),
                  ("c", "d"))

    def test_a_branch_that_the_reader_does_not_take_fails_when_it_is_reached(self):
        node = helper.make_node
        failed = self.both(model([either("c", "y"), node("Transpose", ["y"], ["t"], perm=[1, 0]),
                                  node("ReduceSum", ["t"], ["z"], keepdims=0)]))
        self.assertEqual(len(failed), 1)
        self.assertIn("contradicts itself", failed[0])

    def test_a_rank_that_stays_open_is_refused(self):
        node = helper.make_node
        for made in (model([either("c", "y"), node("Abs", ["y"], ["z"])]),
                     model([either("c", "z")]),
                     model([either("c", "y"), either("c", "w", "y"), node("ReduceSum", ["w"], ["z"], keepdims=0),
                            node("Abs", ["y"], ["v"])], ("z", "v"))):
            self.assertRegex(self.converted(made), "has rank [23] in one branch .* and rank [12] in the other")
        two = model([either("c", "y"), either("d", "w"), node("Mul", ["y", "w"], ["m"]),
                     node("ReduceSum", ["m"], ["z"], keepdims=0)])
        self.assertIn("in one branch", self.converted(two))


if __name__ == "__main__":
    unittest.main()
