# SPDX-License-Identifier: Apache-2.0
"""Maps as dicts, strings in sequences, in and out, beside ONNX Runtime."""

import json
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import intarsia
import support

FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING


def map_input(name, key, value):
    kind = onnx.TypeProto()
    kind.map_type.key_type = key
    kind.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(value, None))
    return helper.make_value_info(name, kind)


def ml_model(node, inputs, output):
    graph = helper.make_graph([node], "test", inputs, [output])
    return helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)])


def both(model, given, *options):
    """What intarsia and ONNX Runtime give, for each of the inputs `given`."""
    session = intarsia.ExecutionSession(support.convert(model, *options))
    peer = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    name = model.graph.input[0].name
    return [(session.run({name: x})[0], peer.run(None, {name: x})[0]) for x in given]


def maps_output(name, key):
    kind = onnx.TypeProto()
    kind.sequence_type.elem_type.map_type.key_type = key
    kind.sequence_type.elem_type.map_type.value_type.CopyFrom(
        helper.make_tensor_type_proto(FLOAT, None))
    return helper.make_value_info(name, kind)


class Maps(unittest.TestCase):
    def test_zip_map(self):
        random = np.random.default_rng(1)
        for key, labels in ((INT64, {"classlabels_int64s": [7, -1, 0]}),
                            (STRING, {"classlabels_strings": ["cat", "d\u00f6g", ""]})):
            node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **labels)
            model = ml_model(node, [helper.make_tensor_value_info("x", FLOAT, ["n", 3])],
                             maps_output("y", key))
            given = [random.random((n, 3), np.float32) for n in (4, 1, 3)]
            for found, expected in both(model, given, "--dim", "n=0..4"):
                self.assertEqual(found, expected)

    def test_PRT_2_signatures(self):
        node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[7, -1, 0])
        model = ml_model(node, [helper.make_tensor_value_info("x", FLOAT, ["n", 3])], maps_output("y", INT64))
        session = intarsia.ExecutionSession(support.convert(model, "--dim", "n=0..4"))
        self.assertEqual(json.loads(session.output_signature()),
                         [{"seq": {"key": "i64", "map": {"type": "f32", "dims": [], "name": "y"}}}])
        peer = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        self.assertEqual(session.get_outputs()[0].type, peer.get_outputs()[0].type)
        node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", string_vocabulary=["b", "a"])
        model = ml_model(node, [map_input("x", STRING, INT64)], helper.make_tensor_value_info("y", INT64, None))
        session = intarsia.ExecutionSession(support.convert(model, "--max-length", "x=2"))
        self.assertEqual(session.input_signature(), '[    {"key" : "string" , "map" :    { "type" : "i64" , '
                                                    '"dims" : [] , "name" : "x" }\n }\n\n]')
        self.assertEqual(session.get_inputs()[0].type, "map(string,tensor(int64))")
        # A plan from before ports said what they hold.
        session = intarsia.ExecutionSession(Path(__file__).parents[1] / "golden" / "v1" / "maps" / "model.plan")
        nothing = {"type": "none", "dims": []}
        self.assertEqual(json.loads(session.input_signature())[1],
                         {"key": "none", "map": {**nothing, "name": "m"}})
        self.assertEqual(json.loads(session.output_signature())[0], {"seq": {**nothing, "name": "rows"}})
        self.assertEqual((session.get_inputs()[1].type, session.get_outputs()[0].type), ("map", "seq"))

    def test_dict_vectorizer(self):
        for key, vocabulary, given in (
                (STRING, {"string_vocabulary": ["b", "a", "\u00e9"]},
                 [{"a": 1.5, "\u00e9": -2.0}, {"z": 3.0}]),
                (INT64, {"int64_vocabulary": [5, -7]}, [{-7: 2.5, 9: 1.0}, {5: 1.0, -7: 2.0}])):
            node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", **vocabulary)
            model = ml_model(node, [map_input("x", key, FLOAT)],
                             helper.make_tensor_value_info("y", FLOAT, None))
            for found, expected in both(model, given, "--max-length", "x=2"):
                self.assertEqual(found.tolist(), np.reshape(expected, (1, -1)).tolist())

    def test_cast_map(self):
        for form, given in (("DENSE", [{3: 1.5, 1: -2.0, 7: 4.0}, {0: 9.0}]),
                            ("SPARSE", [{3: 1.5, 1: -2.0}, {0: 9.0}])):
            node = helper.make_node("CastMap", ["x"], ["y"], domain="ai.onnx.ml", map_form=form,
                                    max_map=5)
            model = ml_model(node, [map_input("x", INT64, FLOAT)],
                             helper.make_tensor_value_info("y", FLOAT, None))
            for found, expected in both(model, given, "--max-length", "x=3"):
                self.assertEqual(found.tolist(), np.reshape(expected, (1, -1)).tolist())

    def test_values_of_other_types(self):
        """ONNX Runtime's Python takes maps of floats only."""
        for key, value, vocabulary, given, expected in (
                (STRING, INT64, {"string_vocabulary": ["b", "a"]}, {"a": 1 << 40, "c": 4},
                 [0, 1 << 40]),
                (INT64, STRING, {"int64_vocabulary": [3, 1]}, {1: "one", 2: "two"}, ["", "one"]),
                (INT64, TensorProto.DOUBLE, {"int64_vocabulary": [1, 3]}, {3: np.float64(0.1)},
                 [0, 0.1])):
            node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", **vocabulary)
            model = ml_model(node, [map_input("x", key, value)],
                             helper.make_tensor_value_info("y", value, None))
            session = intarsia.ExecutionSession(support.convert(model, "--max-length", "x=2"))
            self.assertEqual(session.run([given])[0].tolist(), [expected])

    def test_what_is_no_map(self):
        node = helper.make_node("CastMap", ["x"], ["y"], domain="ai.onnx.ml")
        session = intarsia.ExecutionSession(support.convert(
            ml_model(node, [map_input("x", INT64, FLOAT)],
                     helper.make_tensor_value_info("y", FLOAT, None)), "--max-length", "x=2"))
        with self.assertRaisesRegex(RuntimeError, "is a map: pass a dict, not list"):
            session.run([[1.0]])
        with self.assertRaisesRegex(RuntimeError, "numbers or strings, all of one type"):
            session.run([{1: [2.0, 3.0]}])
        with self.assertRaisesRegex(RuntimeError, "type of the map's values"):
            session.run([{1: 2}])
        with self.assertRaisesRegex(RuntimeError, "room for"):
            session.run([{key: 1.0 for key in range(99)}])
        self.assertEqual(session.run([{2: 1.0}])[0].tolist(), [[1.0]])
        self.assertEqual(session.run([{}])[0].tolist(), [[]])


class StringsInSequences(unittest.TestCase):
    def test_lists_of_texts(self):
        kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(STRING, None))
        graph = helper.make_graph(
            [helper.make_node("SequenceInsert", ["s", "x"], ["t"]),
             helper.make_node("SequenceAt", ["t", "i"], ["y"])], "test",
            [helper.make_value_info("s", kind), helper.make_tensor_value_info("x", STRING, [2]),
             helper.make_tensor_value_info("i", INT64, [])],
            [onnx.ValueInfoProto(name="t"), onnx.ValueInfoProto(name="y")])
        session = intarsia.ExecutionSession(support.convert(
            helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]),
            "--max-length", "s=2", "--shape", "s=3"))
        x = np.array(["new", "w\u00f6rds"], object)
        for given in ([], [["a"]], [["", "b\0c", "\u20ac"], ["d"]]):
            t, y = session.run([[np.array(texts, object) for texts in given], x, np.array(-1)])
            self.assertEqual([element.tolist() for element in t], [*given, x.tolist()])
            self.assertEqual(y.tolist(), x.tolist())


if __name__ == "__main__":
    unittest.main()
