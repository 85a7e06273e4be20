# SPDX-License-Identifier: Apache-2.0
"""PRT-3: the signatures of onnx-mlir's signature_backend test, one Slice for each of 11 types,
compared as that test compares them: without white space."""

import unittest

import numpy as np
from onnx import TensorProto, helper

import intarsia
import support

TYPES = {"ui8": TensorProto.UINT8, "ui16": TensorProto.UINT16, "ui32": TensorProto.UINT32,
         "ui64": TensorProto.UINT64, "i8": TensorProto.INT8, "i16": TensorProto.INT16,
         "i32": TensorProto.INT32, "i64": TensorProto.INT64, "f16": TensorProto.FLOAT16,
         "f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE}


class SliceSignatures(unittest.TestCase):
    def test_PRT_3(self):
        for name, element in TYPES.items():
            with self.subTest(name):
                node = helper.make_node("Slice", ["x", "starts", "ends"], ["y"])
                index = (TensorProto.INT64, [1])
                session = intarsia.ExecutionSession(support.convert(support.model(
                    [node], {"x": (element, [2, 2, 1]), "starts": index, "ends": index},
                    {"y": (element, [None, 2, 1])})))
                self.assertEqual(
                    "".join(session.input_signature().split()),
                    f'[{{"type":"{name}","dims":[2,2,1],"name":"x"}},'
                    '{"type":"i64","dims":[1],"name":"starts"},'
                    '{"type":"i64","dims":[1],"name":"ends"}]')
                self.assertEqual("".join(session.output_signature().split()),
                                 f'[{{"type":"{name}","dims":[-1,2,1],"name":"y"}}]')
                x = np.arange(4).reshape(2, 2, 1).astype(session.inputs[0].dtype)
                y, = session.run([x, np.array([1]), np.array([2])])
                np.testing.assert_array_equal(y, x[1:2])


if __name__ == "__main__":
    unittest.main()
