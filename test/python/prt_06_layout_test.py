# SPDX-License-Identifier: Apache-2.0
"""PRT-6: arrays of any layout are read rightly, and never written."""

import unittest

import numpy as np
from onnx import helper, numpy_helper

import intarsia
import support

FLOAT = support.FLOAT
WEIGHTS = np.arange(15, dtype=np.float32).reshape(5, 3) - 7


class Layouts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # In place as far as the arena allows: a kernel that wrote its input would show.
        nodes = [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Abs", ["n"], ["a"]),
                 helper.make_node("MatMul", ["a", "w"], ["y"])]
        cls.session = intarsia.ExecutionSession(support.convert(support.model(
            nodes, {"x": (FLOAT, [4, 5])}, {"y": (FLOAT, None)},
            [numpy_helper.from_array(WEIGHTS, "w")])))

    def check(self, x):
        before = x.copy()
        self.assertEqual(x.shape, (4, 5))
        y, = self.session.run([x])
        np.testing.assert_allclose(y, np.abs(before) @ WEIGHTS, rtol=1e-5)
        np.testing.assert_array_equal(x, before)

    def test_PRT_6_layouts(self):
        base = np.random.default_rng(4).normal(0, 1, (16, 20)).astype(np.float32)
        self.check(base[:4, :5].copy())
        self.check(base[:4, :5])
        self.check(base[3:15:3, 1:11:2])
        self.check(base[:5, :4].T)
        self.check(np.asfortranarray(base[:4, :5]))
        self.check(base[3::-1, 4::-1])
        self.check(base[9:1:-2, ::4])
        self.check(np.broadcast_to(base[0, :5], (4, 5)))
        self.check(np.lib.stride_tricks.sliding_window_view(base[0, :8], 5))

    def test_PRT_6_read_only(self):
        x = np.ones((4, 5), np.float32)
        x.flags.writeable = False
        self.check(x)
        self.check(np.frombuffer(bytes(80), np.float32).reshape(4, 5))

    def test_PRT_6_misaligned(self):
        x = np.frombuffer(bytearray(81), np.uint8)[1:].view(np.float32).reshape(4, 5)
        self.assertFalse(x.flags.aligned)
        x[:] = 3
        self.check(x)

    def test_PRT_6_truth_values_of_any_byte(self):
        """numpy takes every byte but 0 for true, and so may show a buffer of bytes as truth values."""
        session = intarsia.ExecutionSession(support.unary("Identity", support.TensorProto.BOOL, [4]))
        x = np.array([0, 1, 2, 255], np.uint8).view(bool)
        self.assertEqual(session.run([x])[0].view(np.uint8).tolist(), [0, 1, 1, 1])
        self.assertEqual(x.view(np.uint8).tolist(), [0, 1, 2, 255])

    def test_PRT_6_other_array_types(self):
        class Mine(np.ndarray):
            def __array_finalize__(self, other):
                pass

            def copy(self, order="C"):
                raise AssertionError("the session called a method of the array's subclass")
        x = np.asfortranarray(np.ones((4, 5), np.float32))
        y, = self.session.run([x.view(Mine)])
        np.testing.assert_array_equal(y, np.ones((4, 5)) @ WEIGHTS)
        y, = self.session.run([memoryview(x)])
        np.testing.assert_array_equal(y, np.ones((4, 5)) @ WEIGHTS)

    def test_PRT_6_zero_size(self):
        for shape, options, room in ((["n", 3], ("--shape", "x=0x3"), (0, 3)),
                                     (["n", 3], ("--dim", "n=0..4"), (12,))):
            session = intarsia.ExecutionSession(support.unary("Relu", shape=shape, options=options))
            y, = session.run([np.zeros((0, 3), np.float32)])
            self.assertEqual((y.shape, y.dtype), ((0, 3), np.float32))
            y, = session.run([np.zeros((0, 3), np.float32)], out=[np.zeros(room, np.float32)])
            self.assertEqual(y.shape, (0, 3))

    def test_PRT_6_rank_0(self):
        session = intarsia.ExecutionSession(support.unary("Neg", shape=[]))
        for x in (np.array(3, np.float32), np.float32(3)):
            y, = session.run([x])
            self.assertEqual((y.shape, y.dtype, float(y)), ((), np.float32, -3))
            self.assertEqual(float(x), 3)


if __name__ == "__main__":
    unittest.main()
