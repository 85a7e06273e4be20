# SPDX-License-Identifier: Apache-2.0
"""Strings as inputs and outputs: str and bytes, numpy's own strings, zero bytes, bytes that are no
UTF-8, empty arrays; what is no string is refused."""

import unittest

import numpy as np
from onnx import TensorProto, helper

import intarsia
import support

STRING = TensorProto.STRING


class Strings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        proto = support.model(
            [helper.make_node("StringConcat", ["x", "tail"], ["y"])],
            {"x": (STRING, ["N", 2])}, {"y": (STRING, None)},
            [helper.make_tensor("tail", STRING, [1], [b"!"])])
        cls.session = intarsia.ExecutionSession(
            support.convert(proto, "--dim", "N=0..3", "--max-string", "20"))

    def test_every_form_of_strings(self):
        expected = [["a!", "bc!"], ["gr\u00fc\u00df!", "!"]]
        words = [["a", "bc"], ["gr\u00fc\u00df", ""]]
        encoded = [[word.encode() for word in row] for row in words]
        for value in (words, np.array(words), np.array(words, object), encoded,
                      np.array(encoded), np.array([["a", b"bc"], words[1]], object)):
            y, = self.session.run([value])
            self.assertEqual(y.dtype, object)
            self.assertEqual(y.tolist(), expected)

    def test_any_bytes(self):
        y, = self.session.run([np.array([["a\0b\0", b"\xff\xfe"]], object)])
        self.assertEqual(y[0, 0], "a\0b\0!")
        self.assertEqual(y[0, 1].encode("utf-8", "surrogateescape"), b"\xff\xfe!")
        again, = self.session.run([y])
        self.assertEqual(again[0, 1].encode("utf-8", "surrogateescape"), b"\xff\xfe!!")

    def test_no_strings_at_all(self):
        y, = self.session.run([np.empty((0, 2), object)])
        self.assertEqual(y.shape, (0, 2))

    def test_what_is_refused(self):
        for value in (np.ones((1, 2)), np.array([["a", 1]], object), np.array([["a", None]], object)):
            with self.assertRaisesRegex(RuntimeError, "input 0.*pass str objects"):
                self.session.run([value])
        with self.assertRaisesRegex(RuntimeError, "characters of strings.*--max-string"):
            self.session.run([np.array([["x" * 300, "y"]])])
        with self.assertRaisesRegex(RuntimeError, "'y' is of type string"):
            self.session.run([np.array([["a", "b"]])], out=[np.empty((3, 2), object)])

    def test_signature_and_types(self):
        self.assertIn('"type" : "string"', self.session.input_signature())
        self.assertEqual(self.session.inputs[0].dtype, np.dtype(object))


if __name__ == "__main__":
    unittest.main()
