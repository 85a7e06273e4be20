# SPDX-License-Identifier: Apache-2.0
"""Sequences as lists of arrays and optional values as arrays or None, in and out."""

import json
import unittest

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import intarsia
import support

FLOAT = TensorProto.FLOAT


def sequence(name, element=FLOAT, shape=None):
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(element, shape))
    return helper.make_value_info(name, kind)


def model_of(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "test", inputs, [onnx.ValueInfoProto(name=n) for n in outputs])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 22)])


def plan(nodes, inputs, outputs, *options):
    return intarsia.ExecutionSession(support.convert(model_of(nodes, inputs, outputs), *options))


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


class Signatures(unittest.TestCase):
    def test_PRT_2_literal_of_a_sequence(self):
        session = plan([helper.make_node("SequenceInsert", ["s", "x"], ["t"]),
                        helper.make_node("SequenceConstruct", ["x", "x", "x"], ["fixed"])],
                       [sequence("s", FLOAT, [None]), helper.make_tensor_value_info("x", FLOAT, [2])],
                       ["t", "fixed"], "--max-length", "s=3", "--shape", "s=4")
        self.assertEqual(session.input_signature(),
                         '[    {"seq" :    { "type" : "f32" , "dims" : [-1] , "name" : "s" }\n }\n'
                         ' ,    { "type" : "f32" , "dims" : [2] , "name" : "x" }\n\n]')
        self.assertEqual(session.output_signature(),
                         '[   {"seq" :    { "type" : "f32" , "dims" : [-1] , "name" : "t" }\n }\n'
                         ' ,    {"seq" :    { "type" : "f32" , "dims" : [2] , "name" : "fixed" }\n }\n\n]')

    def test_PRT_2_what_is_held(self):
        """Optional values, of sequences, too; the types as ONNX Runtime writes them."""
        wholes = helper.make_tensor_type_proto(TensorProto.INT64, [2, 3])
        inputs = [helper.make_value_info("o", helper.make_optional_type_proto(wholes)),
                  sequence("r", TensorProto.DOUBLE),
                  helper.make_tensor_value_info("x", TensorProto.STRING, [2, 3])]
        nodes = [helper.make_node("OptionalHasElement", ["o"], ["o_"]),
                 helper.make_node("SequenceLength", ["r"], ["r_"]),
                 helper.make_node("SequenceConstruct", ["x", "x"], ["words"]),
                 helper.make_node("Optional", ["words"], ["w"])]
        model = model_of(nodes, inputs, ["o_", "r_", "w"])
        session = intarsia.ExecutionSession(support.convert(model, "--max-length", "r=1", "--shape", "r=2x3"))
        self.assertEqual(json.loads(session.input_signature()),
                         [{"optional": {"type": "i64", "dims": [2, 3], "name": "o"}},
                          {"seq": {"type": "f64", "dims": [-1, -1], "name": "r"}},
                          {"type": "string", "dims": [2, 3], "name": "x"}])
        self.assertEqual(json.loads(session.output_signature())[2],
                         {"optional": {"seq": {"type": "string", "dims": [2, 3], "name": "w"}}})
        peer = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for ours, theirs in ((session.get_inputs(), peer.get_inputs()), (session.get_outputs(), peer.get_outputs())):
            self.assertEqual([port.type for port in ours], [port.type for port in theirs])


if __name__ == "__main__":
    unittest.main()
