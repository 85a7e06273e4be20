# SPDX-License-Identifier: Apache-2.0
"""PRT-7: an array in place of the list is the one input, never a list of its rows."""

import unittest

import numpy as np
from onnx import helper

import intarsia
import support

FLOAT = support.FLOAT


class BareArrays(unittest.TestCase):
    def test_PRT_7_of_a_model_with_one_input(self):
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[1, 3]))
        x = np.array([[1, 2, 3]], np.float32)
        for outputs in (session.run(x), session.run(input=x), session.run(inputs=x)):
            np.testing.assert_array_equal(outputs[0], -x)

    def test_PRT_7_is_never_iterated(self):
        # Its only row has the input's shape; the array has not.
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[3]))
        with self.assertRaisesRegex(RuntimeError, "Wrong rank for the input 0: expect 1, but got 2"):
            session.run(np.ones((1, 3), np.float32))

    def test_PRT_7_of_other_packages(self):
        class Tensor:  # as PyTorch's, which is iterable, too
            def __init__(self, array):
                self.array = array
            def __dlpack__(self, **_):
                return self.array.__dlpack__()
            def __dlpack_device__(self):
                return self.array.__dlpack_device__()
            def __len__(self):
                return len(self.array)
            def __iter__(self):
                raise AssertionError("iterated")
        x = np.array([[1, 2, 3]], np.float32)
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[1, 3]))
        np.testing.assert_array_equal(session.run(Tensor(x))[0], -x)
        one_row = intarsia.ExecutionSession(support.unary("Neg", shape=[3]))
        with self.assertRaisesRegex(RuntimeError, "Wrong rank for the input 0: expect 1, but got 2"):
            one_row.run(Tensor(x))
        for other in (x.tolist()[0][0], "text", iter([x]), {1.0, 2.0}, x[0, 0]):
            with self.assertRaisesRegex(TypeError, "takes a list of arrays"):
                session.run(other)

    def test_PRT_7_of_a_model_with_two_inputs(self):
        node = helper.make_node("Sub", ["x", "y"], ["z"])
        session = intarsia.ExecutionSession(support.convert(support.model(
            [node], {"x": (FLOAT, [3]), "y": (FLOAT, [3])}, {"z": (FLOAT, None)})))
        with self.assertRaisesRegex(TypeError, "takes a list of arrays"):
            session.run(np.ones((2, 3), np.float32))
        values = {"y": np.array([1, 2, 3], np.float32), "x": np.array([5, 5, 5], np.float32)}
        np.testing.assert_array_equal(session.run(values)[0], [4, 3, 2])

    def test_PRT_7_dict_of_a_model_with_one_input(self):
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[3]))
        np.testing.assert_array_equal(session.run({"x": np.ones(3, np.float32)})[0], [-1, -1, -1])


if __name__ == "__main__":
    unittest.main()
