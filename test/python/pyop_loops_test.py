# SPDX-License-Identifier: Apache-2.0
"""PYOP-9: Python operators in the bodies of Loop, Scan and SequenceMap, and sessions in operators."""

import unittest

import numpy as np
import onnx
from onnx import helper

import intarsia
import support

FLOAT, INT64, BOOL = support.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL
MODULE = """
import intarsia


class Grow:
    made = 0

    def __init__(self, step):
        type(self).made += 1
        self.calls, self.step = 0, step

    def compute(self, x):
        self.calls += 1
        if self.calls == 99:
            raise ValueError("the ninety-ninth")
        return x * 2 + self.step * self.calls


class Nested:
    def __init__(self, plan, folder):
        self.session = intarsia.ExecutionSession(plan, allow_pyop=True, pyop_path=folder)

    def compute(self, x):
        return self.session.run([x])[0] + 1
"""
OPERATORS = """
class Double:
    domain = "own"
    inputs, outputs = ["x: float32"], ["y: float32"]

    def infer(self, inputs):
        return inputs[0]

    def forward(self, inputs):
        return inputs[0] * 2
"""


def grow(step=10.0, source="v", target="w"):
    return helper.make_node("PyOp", [source], [target], domain="pyop", module="loop_operators", class_name="Grow",
                            input_types=[FLOAT], output_types=[FLOAT], step=step, name="grow")


def double(source="v", target="w"):
    return helper.make_node("Double", [source], [target], domain="own", name="double")


def info(name, element, shape):
    return helper.make_tensor_value_info(name, element, shape)


def loop(operator, shape, last="w"):
    """Carries v through the operator `n` times, and collects what comes out."""
    body = helper.make_graph(
        [operator, helper.make_node("Identity", ["c"], ["goes"]), helper.make_node("Identity", ["w"], ["each"])],
        "body", [info("i", INT64, []), info("c", BOOL, []), info("v", FLOAT, shape)],
        [info("goes", BOOL, []), info(last, FLOAT, shape), info("each", FLOAT, shape)])
    return helper.make_node("Loop", ["n", "", "x"], ["y", "all"], body=body, name="walk")


class PyopInLoops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = support.FOLDER / "loop_operators"
        cls.folder.mkdir(exist_ok=True)
        (cls.folder / "loop_operators.py").write_text(MODULE, encoding="utf-8")
        cls.file = cls.folder / "loop_own.py"
        cls.file.write_text(OPERATORS, encoding="utf-8")

    def open(self, nodes, inputs, outputs, **options):
        model = support.model(nodes, inputs, outputs)
        return intarsia.InferenceSession(model, cache=False, allow_pyop=True, pyop_path=self.folder,
                                         operators=self.file, **options)

    def test_a_loop_has_one_object_for_all_trips(self):
        session = self.open([loop(grow(), [2])], {"x": (FLOAT, [2]), "n": (INT64, [])},
                            {"y": (FLOAT, [2]), "all": (FLOAT, ["n", 2])}, max_trips={"walk": 9})
        import loop_operators

        made = loop_operators.Grow.made
        x, calls = np.array([1, -2], np.float32), 0
        for trips in (3, 0, 9, 1):
            expected, rows = x, []
            for _ in range(trips):
                calls += 1
                expected = expected * 2 + np.float32(10 * calls)
                rows.append(expected)
            y, every = session.run([x, np.array(trips)])
            np.testing.assert_array_equal(y, expected)
            np.testing.assert_array_equal(every, np.array(rows, np.float32).reshape(trips, 2))
        self.assertEqual(loop_operators.Grow.made, made)

    def test_what_a_trip_raises_names_the_node_and_the_session_goes_on(self):
        session = self.open([loop(grow(), [2])], {"x": (FLOAT, [2]), "n": (INT64, [])},
                            {"y": (FLOAT, [2]), "all": (FLOAT, ["n", 2])}, max_trips={"walk": 100})
        x = np.zeros(2, np.float32)
        with self.assertRaisesRegex(intarsia.Error, "node [0-9]+ 'grow' ") as caught:
            session.run([x, np.array(100)])
        self.assertIsInstance(caught.exception.__cause__, ValueError)
        self.assertIn("the ninety-ninth", str(caught.exception))
        y, every = session.run([x, np.array(1)])
        np.testing.assert_array_equal(y, x + np.float32(1000))
        self.assertEqual(every.shape, (1, 2))

    def test_operators_of_a_file_in_loops_whose_extents_vary(self):
        session = self.open([loop(double(), ["rows", 2])], {"x": (FLOAT, ["rows", 2]), "n": (INT64, [])},
                            {"y": (FLOAT, ["rows", 2])}, max_trips={"walk": 4}, dims={"rows": (1, 3)})
        for rows in (3, 1, 2):
            x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
            np.testing.assert_array_equal(session.run([x, np.array(4)])[0], x * 16)

    def test_a_scan(self):
        body = helper.make_graph(
            [double("s", "d"), helper.make_node("Add", ["d", "row"], ["next"]), grow(0.0, "next", "out")], "body",
            [info("s", FLOAT, [2]), info("row", FLOAT, [2])], [info("next", FLOAT, [2]), info("out", FLOAT, [2])])
        scan = helper.make_node("Scan", ["x", "rows"], ["last", "all"], body=body, num_scan_inputs=1)
        session = self.open([scan], {"x": (FLOAT, [2]), "rows": (FLOAT, ["k", 2])},
                            {"last": (FLOAT, [2]), "all": (FLOAT, ["k", 2])}, dims={"k": (1, 5)})
        for count in (5, 1, 3):
            state = np.array([1, 3], np.float32)
            rows = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
            last, every = session.run([state, rows])
            for row, out in zip(rows, every, strict=True):
                state = state * 2 + row
                np.testing.assert_array_equal(out, state * 2)
            np.testing.assert_array_equal(last, state)

    def test_loops_within_loops_and_branches(self):
        inner = helper.make_graph(
            [double("u", "uu"), helper.make_node("Identity", ["c1"], ["g1"])], "inner",
            [info("i1", INT64, []), info("c1", BOOL, []), info("u", FLOAT, [2])],
            [info("g1", BOOL, []), info("uu", FLOAT, [2])])
        branch = helper.make_graph([helper.make_node("Loop", ["i", "", "v"], ["t"], body=inner, name="inner")], "then",
                                   [], [info("t", FLOAT, [2])])
        other = helper.make_graph([grow(0.5, "v", "e")], "else", [], [info("e", FLOAT, [2])])
        body = helper.make_graph(
            [helper.make_node("If", ["take"], ["w"], then_branch=branch, else_branch=other),
             helper.make_node("Identity", ["c"], ["goes"])], "body",
            [info("i", INT64, []), info("c", BOOL, []), info("v", FLOAT, [2])],
            [info("goes", BOOL, []), info("w", FLOAT, [2])])
        walk = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body, name="walk")
        session = self.open([walk], {"x": (FLOAT, [2]), "n": (INT64, []), "take": (BOOL, [])}, {"y": (FLOAT, [2])},
                            max_trips={"walk": 4, "inner": 4})
        x = np.array([1, -1], np.float32)
        # 0, 1, 2 and 3 doublings.
        np.testing.assert_array_equal(session.run([x, np.array(4), np.array(True)])[0], x * 2 ** 6)
        expected = x
        for call in (1, 2, 3, 4):
            expected = expected * 2 + np.float32(0.5 * call)
        np.testing.assert_array_equal(session.run([x, np.array(4), np.array(False)])[0], expected)

    def test_an_operator_that_runs_a_session_with_operators(self):
        plan = self.folder / "inner.plan"
        intarsia.convert(support.model([grow(0.0, "x", "y")], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}), plan,
                         allow_pyop=True, pyop_path=self.folder)
        nested = helper.make_node("PyOp", ["v"], ["w"], domain="pyop", module="loop_operators", class_name="Nested",
                                  input_types=[FLOAT], output_types=[FLOAT], plan=str(plan), folder=str(self.folder))
        session = self.open([loop(nested, [2])], {"x": (FLOAT, [2]), "n": (INT64, [])}, {"y": (FLOAT, [2])},
                            max_trips={"walk": 8})
        x = np.array([3, 4], np.float32)
        expected = x
        for _ in range(6):
            expected = expected * 2 + 1
        np.testing.assert_array_equal(session.run([x, np.array(6)])[0], expected)


if __name__ == "__main__":
    unittest.main()
