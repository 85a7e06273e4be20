# SPDX-License-Identifier: Apache-2.0
"""PRT-4: onnx-mlir's input_verification cases; the sentences are in the exception, not on standard
output."""

import unittest

import numpy as np
from onnx import helper

import intarsia
import support
from intarsia import errors

FLOAT = support.FLOAT


def array(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


class WrongInputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        nodes = [helper.make_node("Neg", ["x1"], ["y1"]), helper.make_node("Neg", ["x2"], ["y2"])]
        cls.session = intarsia.ExecutionSession(support.convert(
            support.model(nodes, {"x1": (FLOAT, [3, 4, 5]), "x2": (FLOAT, ["unknown", 4, 5])},
                          {"y1": (FLOAT, None), "y2": (FLOAT, None)}), "--dim", "unknown=2..6"))

    def check(self, inputs, sentence, code, *parts):
        with support.standard_output() as printed:
            with self.assertRaises(RuntimeError) as context:
                self.session.run(inputs)
        self.assertEqual(printed, [""])
        text = str(context.exception)
        for part in (sentence, *parts):
            self.assertIn(part, text)
        self.assertIs(type(context.exception), intarsia.Error)
        self.assertEqual(context.exception.code, code)

    def tearDown(self):  # the session is none the worse for it
        y1, y2 = self.session.run([array(3, 4, 5), array(2, 4, 5)])
        np.testing.assert_array_equal(y1, -array(3, 4, 5))
        np.testing.assert_array_equal(y2, -array(2, 4, 5))

    def test_PRT_4_one_input(self):
        self.check([array(3, 4, 5)], "Wrong number of input tensors: expect 2, but got 1",
                   "kInvalidArgument", "'x1', 'x2'")

    def test_PRT_4_three_inputs(self):
        self.check([array(3, 4, 5)] * 3, "Wrong number of input tensors: expect 2, but got 3",
                   "kInvalidArgument")

    def test_PRT_4_data_type(self):
        self.check([array(3, 4, 5, dtype=np.float64), array(3, 4, 5)],
                   "Wrong data type for the input 0: expect f32", "kWrongType", "float64", "'x1'")

    def test_PRT_4_rank_too_small(self):
        self.check([array(3, 4, 5), array(4, 5)],
                   "Wrong rank for the input 1: expect 3, but got 2", "kWrongRank", "'x2'")

    def test_PRT_4_rank_too_large(self):
        self.check([array(3, 4, 5), array(1, 3, 4, 5)],
                   "Wrong rank for the input 1: expect 3, but got 4", "kWrongRank", "'x2'")

    def test_PRT_4_extent(self):
        self.check([array(3, 4, 1), array(3, 4, 5)],
                   "Wrong size for the dimension 2 of the input 0: expect 5, but got 1",
                   "kWrongExtent", "'x1'")

    def test_PRT_4_extent_beside_one_that_varies(self):
        self.check([array(3, 4, 5), array(3, 4, 6)],
                   "Wrong size for the dimension 2 of the input 1: expect 5, but got 6",
                   "kWrongExtent", "'x2'")

    def test_PRT_4_extent_outside_its_range(self):
        for extent in (0, 1, 7):
            self.check([array(3, 4, 5), array(extent, 4, 5)],
                       "Wrong size for the dimension 0 of the input 1: expect 2 to 6, "
                       f"but got {extent}", "kWrongExtent", "unknown=2..6")

    def test_PRT_4_sentence_of_a_negative_extent(self):
        # No array has one, so the function is asked.
        self.assertEqual(
            errors.wrong_extent(0, 1, (0, 6), -1),
            "Wrong size for the dimension 0 of the input 1: expect a non-negative value")

    def test_PRT_4_by_name(self):
        self.check({"x2": array(3, 4, 5)}, "Wrong number of input tensors: expect 2, but got 1",
                   "kInvalidArgument", "missing: 'x1'")
        self.check({"x1": array(3, 4, 5), "x3": array(3, 4, 5)}, "no input 'x3'", "kUnknownName",
                   "'x1', 'x2'")

    def test_PRT_4_extents_of_one_symbol_differ(self):
        node = helper.make_node("Add", ["a", "b"], ["c"])
        session = intarsia.ExecutionSession(support.convert(
            support.model([node], {"a": (FLOAT, ["n"]), "b": (FLOAT, ["n"])}, {"c": (FLOAT, None)}),
            "--dim", "n=9"))
        with self.assertRaisesRegex(intarsia.Error, "symbolic dimension differ") as context:
            session.run([array(3), array(4)])
        self.assertEqual(context.exception.code, "kWrongExtent")


if __name__ == "__main__":
    unittest.main()
