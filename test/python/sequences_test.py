# SPDX-License-Identifier: Apache-2.0
"""Sequences as lists of arrays and optional values as arrays or None, in and out."""

import unittest

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

import intarsia
import support

FLOAT = TensorProto.FLOAT


def sequence(name, element=FLOAT):
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(element, None))
    return helper.make_value_info(name, kind)


def plan(nodes, inputs, outputs, *options):
    graph = helper.make_graph(nodes, "test", inputs, [onnx.ValueInfoProto(name=n) for n in outputs])
    return intarsia.ExecutionSession(support.convert(
        helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 22)]), *options))


class Sequences(unittest.TestCase):
    def test_lists_in_and_out(self):
        session = plan([helper.make_node("SequenceInsert", ["s", "x"], ["t"]),
                        helper.make_node("SequenceLength", ["t"], ["n"])],
                       [sequence("s"), helper.make_tensor_value_info("x", FLOAT, [2])], ["t", "n"],
                       "--max-length", "s=3", "--shape", "s=4")
        x = np.array([7, 8], np.float32)
        for lengths in ((), (1, 4), (0, 2, 3)):
            given = [np.arange(n, dtype=np.float32) for n in lengths]
            t, n = session.run([given, x])
            self.assertEqual(int(n), len(lengths) + 1)
            for found, expected in zip(t, [*given, x], strict=True):
                self.assertEqual(found.dtype, np.float32)
                np.testing.assert_array_equal(found, expected)
        t[1][0] = 1  # results are arrays of the caller's own
        with self.assertRaisesRegex(RuntimeError, "input 0, 's': its elements take .* room for"):
            session.run([[np.ones(100, np.float32)], x])
        with self.assertRaisesRegex(RuntimeError, "'s' is a sequence: pass a list"):
            session.run([x, x])
        with self.assertRaisesRegex(RuntimeError, "element 1 of input 0, 's'"):
            session.run([[x, object()], x])
        with self.assertRaisesRegex(RuntimeError, "the plan has no strings"):
            session.run([[x, "word"], x])

    def test_every_type_of_whole_bytes(self):
        for dtype in (np.int8, np.uint16, np.int64, np.float64, np.bool_, np.complex64, np.float16,
                      ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
            element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            session = plan([helper.make_node("SequenceAt", ["s", "i"], ["y"]),
                            helper.make_node("SequenceConstruct", ["y", "y"], ["t"])],
                           [sequence("s", element),
                            helper.make_tensor_value_info("i", TensorProto.INT64, [])], ["t"],
                           "--max-length", "s=2", "--shape", "s=2x3")
            values = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
            t, = session.run([[np.zeros((2, 3), dtype), values], np.array(1)])
            for found in t:
                np.testing.assert_array_equal(found.view(dtype), values)


if __name__ == "__main__":
    unittest.main()
