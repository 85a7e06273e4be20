# SPDX-License-Identifier: Apache-2.0
"""PRT-2, PRT-15: signatures byte for byte; every element type in signatures and in runs."""

import json
import unittest

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

import intarsia
import support

FLOAT = support.FLOAT

# element type: (its name in a signature, numpy type, ml_dtypes type where numpy has none)
TYPES = {
    TensorProto.FLOAT: ("f32", np.float32, None),
    TensorProto.DOUBLE: ("f64", np.float64, None),
    TensorProto.FLOAT16: ("f16", np.float16, None),
    TensorProto.BOOL: ("i1", np.bool_, None),
    TensorProto.INT8: ("i8", np.int8, None),
    TensorProto.INT16: ("i16", np.int16, None),
    TensorProto.INT32: ("i32", np.int32, None),
    TensorProto.INT64: ("i64", np.int64, None),
    TensorProto.UINT8: ("ui8", np.uint8, None),
    TensorProto.UINT16: ("ui16", np.uint16, None),
    TensorProto.UINT32: ("ui32", np.uint32, None),
    TensorProto.UINT64: ("ui64", np.uint64, None),
    TensorProto.COMPLEX64: ("complex<f32>", np.complex64, None),
    TensorProto.COMPLEX128: ("complex<f64>", np.complex128, None),
    TensorProto.BFLOAT16: ("bf16", np.uint16, ml_dtypes.bfloat16),
    TensorProto.FLOAT8E4M3FN: ("f8E4M3FN", np.uint8, ml_dtypes.float8_e4m3fn),
    TensorProto.FLOAT8E4M3FNUZ: ("f8E4M3FNUZ", np.uint8, ml_dtypes.float8_e4m3fnuz),
    TensorProto.FLOAT8E5M2: ("f8E5M2", np.uint8, ml_dtypes.float8_e5m2),
    TensorProto.FLOAT8E5M2FNUZ: ("f8E5M2FNUZ", np.uint8, ml_dtypes.float8_e5m2fnuz),
    TensorProto.FLOAT8E8M0: ("f8E8M0FNU", np.uint8, ml_dtypes.float8_e8m0fnu),
    TensorProto.FLOAT4E2M1: ("f4E2M1FN", np.uint8, ml_dtypes.float4_e2m1fn),
    TensorProto.FLOAT6E2M3: ("f6E2M3FN", np.uint8, ml_dtypes.float6_e2m3fn),
    TensorProto.FLOAT6E3M2: ("f6E3M2FN", np.uint8, ml_dtypes.float6_e3m2fn),
    TensorProto.INT4: ("i4", np.int8, ml_dtypes.int4),
    TensorProto.UINT4: ("ui4", np.uint8, ml_dtypes.uint4),
    TensorProto.INT2: ("i2", np.int8, ml_dtypes.int2),
    TensorProto.UINT2: ("ui2", np.uint8, ml_dtypes.uint2),
}


class Signatures(unittest.TestCase):
    def test_PRT_2_literal_of_two_inputs(self):
        plan = support.convert(support.model(
            [helper.make_node("Add", ["x", "y"], ["z"])],
            {"x": (FLOAT, [3, 4, 5]), "y": (FLOAT, [3, 4, 5])}, {"z": (FLOAT, [3, 4, 5])}))
        self.assertEqual(
            intarsia.ExecutionSession(plan).input_signature(),
            '[    { "type" : "f32" , "dims" : [3 , 4 , 5] , "name" : "x" }\n'
            ' ,    { "type" : "f32" , "dims" : [3 , 4 , 5] , "name" : "y" }\n\n]')

    def test_PRT_2_literal_of_an_output_that_varies(self):
        plan = support.unary("Relu", shape=["batch", "length", 1], names=("x", "dense"),
                             options=["--dim", "batch=4", "--dim", "length=2..9"])
        session = intarsia.ExecutionSession(plan)
        self.assertEqual(session.output_signature(),
                         '[   { "type" : "f32" , "dims" : [-1 , -1 , 1] , "name" : "dense" }\n\n]')

    def test_PRT_2_symbolic_names_have_an_api_of_their_own(self):
        node = helper.make_node("Concat", ["x", "x"], ["y"], axis=1)
        plan = support.convert(
            support.model([node], {"x": (FLOAT, ["batch", "length", 1])}, {"y": (FLOAT, None)}),
            "--dim", "batch=4", "--dim", "length=2..9")
        session = intarsia.ExecutionSession(plan)
        self.assertIn('"dims" : [-1 , -1 , 1]', session.input_signature())
        self.assertIn('"dims" : [-1 , -1 , 1]', session.output_signature())
        self.assertEqual(session.inputs[0],
                         ("x", "f32", np.dtype(np.float32), ("batch", "length", 1)))
        self.assertEqual(session.outputs[0].shape, ("batch", None, 1))
        self.assertEqual(session.dimensions, {"batch": (1, 4), "length": (2, 9)})
        x = np.arange(6, dtype=np.float32).reshape(2, 3, 1)
        np.testing.assert_array_equal(session.run([x])[0], np.concatenate([x, x], axis=1))

    def test_PRT_2_rank_0(self):
        session = intarsia.ExecutionSession(support.unary("Relu", shape=[]))
        self.assertEqual(json.loads(session.input_signature())[0]["dims"], [])

    def test_PRT_2_names_are_escaped(self):
        for name in ('a "quoted" name', "back\\slash", "gr\u00fc\u00dfe", "tensor f32 x", "tab\tnew\nline",
                     '" , "dims" : [1]'):
            session = intarsia.ExecutionSession(support.unary("Relu", names=(name, name + "'")))
            self.assertEqual(json.loads(session.input_signature()),
                             [{"type": "f32", "dims": [2, 3], "name": name}])
            self.assertEqual(json.loads(session.output_signature())[0]["name"], name + "'")


class Types(unittest.TestCase):
    def session(self, element):
        return intarsia.ExecutionSession(support.unary("Identity", element, [3, 5], opset=25))

    def test_PRT_2_every_type_in_signatures(self):
        for element, (name, dtype, _) in TYPES.items():
            with self.subTest(name):
                session = self.session(element)
                self.assertEqual(
                    session.input_signature(),
                    f'[    {{ "type" : "{name}" , "dims" : [3 , 5] , "name" : "x" }}\n\n]')
                self.assertEqual(json.loads(session.output_signature())[0]["type"], name)
                self.assertEqual(session.inputs[0].dtype, dtype)

    def test_PRT_2_every_type_runs(self):
        random = np.random.default_rng(3)
        for element, (name, dtype, rare) in TYPES.items():
            with self.subTest(name):
                session = self.session(element)
                bits = {"i4": 4, "ui4": 4, "i2": 2, "ui2": 2, "f4E2M1FN": 4, "f6E2M3FN": 6,
                        "f6E3M2FN": 6}.get(name, 8)
                data = random.integers(0, 256, (3, 5, np.dtype(dtype).itemsize), np.uint8)
                x = data.view(dtype)[..., 0]
                if name == "i1":
                    x = data[..., 0] % 2 == 1
                elif bits < 8:
                    low = -(1 << (bits - 1)) if name[0] == "i" else 0
                    x = random.integers(low, low + (1 << bits), (3, 5)).astype(dtype)
                y, = session.run([x])
                self.assertEqual(y.dtype, dtype)
                self.assertEqual(y.tobytes(), x.tobytes())
                out = np.zeros_like(x)
                self.assertIs(session.run([x], out=[out])[0], out)
                self.assertEqual(out.tobytes(), x.tobytes())
                if rare is not None:
                    given = x.view(rare)
                    again, = session.run([given])
                    self.assertEqual(again.tobytes(), x.tobytes())

    def test_PRT_2_bytes_of_a_bool_are_0_or_1(self):
        x = np.array([[0, 1, 2, 255, 0]] * 3, np.uint8).view(np.bool_)
        y, = self.session(TensorProto.BOOL).run([x])
        np.testing.assert_array_equal(y.view(np.uint8), [[0, 1, 1, 1, 0]] * 3)

    def test_PRT_15_float16_is_float16(self):
        x = np.array([[0.5, -2, 65504, 6e-8, 1]] * 3, np.float16)
        y, = intarsia.ExecutionSession(
            support.unary("Relu", TensorProto.FLOAT16, [3, 5])).run([x])
        self.assertEqual(y.dtype, np.float16)
        np.testing.assert_array_equal(y, np.maximum(x, 0))


if __name__ == "__main__":
    unittest.main()
