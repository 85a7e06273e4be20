# SPDX-License-Identifier: Apache-2.0
"""PRT-5: arrays of other types and of foreign byte order are refused, with index and name."""

import unittest

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

import intarsia
import support

FLOAT = support.FLOAT


class ElementTypes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        node = helper.make_node("Mul", ["x", "scale"], ["y"])
        cls.session = intarsia.ExecutionSession(support.convert(support.model(
            [node], {"x": (FLOAT, [2]), "scale": (FLOAT, [2])}, {"y": (FLOAT, None)})))

    def refused(self, value, *parts):
        with self.assertRaises(RuntimeError) as context:
            self.session.run([np.ones(2, np.float32), value])
        for part in ("Wrong data type for the input 1: expect f32", "'scale'", *parts):
            self.assertIn(part, str(context.exception))

    def test_PRT_5_foreign_byte_order(self):
        swapped = np.ones(2, np.dtype(np.float32).newbyteorder("S"))
        self.refused(swapped, "byte order", "input 1")
        y, = self.session.run([np.ones(2, np.float32), swapped.astype(np.float32)])
        np.testing.assert_array_equal(y, [1, 1])

    def test_PRT_5_foreign_byte_order_of_every_type(self):
        types = {TensorProto.INT16: "i2", TensorProto.UINT16: "u2", TensorProto.INT32: "i4",
                 TensorProto.UINT32: "u4", TensorProto.INT64: "i8", TensorProto.UINT64: "u8",
                 TensorProto.FLOAT16: "f2", TensorProto.FLOAT: "f4", TensorProto.DOUBLE: "f8",
                 TensorProto.COMPLEX64: "c8", TensorProto.COMPLEX128: "c16"}
        for element, name in types.items():
            with self.subTest(name):
                session = intarsia.ExecutionSession(support.unary("Identity", element, [2]))
                x = np.ones(2, np.dtype(name).newbyteorder("S"))
                with self.assertRaisesRegex(RuntimeError, "data type for the input 0: .*'x'.*byte order"):
                    session.run([x])
                y, = session.run([x.astype(name)])
                np.testing.assert_array_equal(y, [1, 1])

    def test_PRT_5_unsupported_types(self):
        for value in (np.array(["a", "b"]), np.array([b"a", b"b"]), np.array([None, 1]),
                      np.zeros(2, "datetime64[s]"), np.zeros(2, "timedelta64[ms]"),
                      np.zeros(2, [("a", np.float32)]), np.zeros(2, np.longdouble),
                      np.zeros(2, np.clongdouble), np.zeros(2, "V4"), [object(), object()]):
            self.refused(value)

    def test_PRT_5_other_types_of_the_same_size(self):
        for dtype in (np.int32, np.uint32, np.float16, np.float64, np.bool_, np.complex64,
                      ml_dtypes.bfloat16):
            self.refused(np.ones(2, dtype), str(np.dtype(dtype)))

    def test_PRT_5_ml_dtypes_are_told_apart(self):
        session = intarsia.ExecutionSession(support.unary("Identity", TensorProto.FLOAT8E5M2, [2]))
        with self.assertRaisesRegex(RuntimeError, "expect f8E5M2 .*float8_e4m3fn"):
            session.run([np.zeros(2, ml_dtypes.float8_e4m3fn)])

    def test_PRT_5_masked_elements_are_no_values(self):
        x = np.ma.masked_array(np.ones(2, np.float32), [True, False])
        with self.assertRaisesRegex(TypeError, "input 1, 'scale': masked"):
            self.session.run([np.ones(2, np.float32), x])
        y, = self.session.run([np.ones(2, np.float32), x.filled(5)])
        np.testing.assert_array_equal(y, [5, 1])

    def test_PRT_5_numbers_are_not_converted(self):
        self.refused([1.0, 2.0], "float64")
        self.refused([1, 2], "int64")


if __name__ == "__main__":
    unittest.main()
