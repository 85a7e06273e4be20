# SPDX-License-Identifier: Apache-2.0
"""Random numbers of every version of their operators: types, extents, and how they are distributed beside those
of ONNX Runtime, whose generator is another. Usage: random_test.py TOOL"""

import itertools
import unittest

import numpy as np
import onnxruntime
from one_node import Case, call, model_of, run, runtime
from onnx import TensorProto, helper

REALS = {None: np.float32, TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64,
         TensorProto.FLOAT16: np.float16}
EXTENTS = (50, 400)
onnxruntime.set_default_logger_severity(3)  # it warns of old operator sets


class Distributions(Case):
    def alike(self, model, inputs, kind=None, peer=None):
        """Means and deviations agree, as far as 20,000 numbers tell, with those of ONNX Runtime or its `peer`."""
        found, expected = run(model, inputs), runtime(peer or model, inputs)
        self.assertIsInstance(found, list, found)
        for a, b in zip(found, expected, strict=True):
            self.assertEqual(a.shape, b.shape)
            self.assertEqual(a.dtype, kind or b.dtype)
            a, b = a.astype(np.float64), b.astype(np.float64)
            near = 0.05 * max(float(b.std()), 1e-9)
            self.assertAlmostEqual(float(a.mean()), float(b.mean()), delta=near)
            self.assertAlmostEqual(float(a.std()), float(b.std()), delta=near)

    def test_of_their_own_extents(self):
        for (operator, given), opset, dtype in itertools.product(
                (("RandomNormal", {"mean": 2.0, "scale": 0.5}), ("RandomUniform", {"low": -1.0, "high": 3.0})),
                (1, 9, 21), REALS):
            attributes = given | ({} if dtype is None else {"dtype": dtype})
            with self.subTest(operator, opset=opset, dtype=dtype):
                node = helper.make_node(operator, [], ["y"], shape=EXTENTS, seed=3.0, **attributes)
                # ONNX Runtime has no halves.
                peer = helper.make_node(operator, [], ["y"], shape=EXTENTS, **given)
                self.alike(model_of(node, {}, opset), {}, REALS[dtype], model_of(peer, {}))

    def test_like_others(self):
        for operator, opset, kind in itertools.product(
                ("RandomNormalLike", "RandomUniformLike"), (1, 21), (np.float32, np.int32)):
            x = np.zeros(EXTENTS, kind)
            attributes = {"dtype": TensorProto.FLOAT} if kind == np.int32 else {}
            with self.subTest(operator, opset=opset, kind=kind):
                node = helper.make_node(operator, ["x"], ["y"], **attributes)
                self.alike(model_of(node, {"x": x}, opset), {"x": x}, np.float32)
        node = helper.make_node("RandomNormalLike", ["x"], ["y"])
        self.assertIn("where dtype is missing", run(model_of(node, {"x": x}), {"x": x}))

    def test_classes(self):
        values = np.random.default_rng(1)
        for dtype, kind in ((None, np.int32), (TensorProto.INT64, np.int64)):
            x = (2 * values.standard_normal((3, 10))).astype(np.float32)
            attributes = {} if dtype is None else {"dtype": dtype}
            node = helper.make_node("Multinomial", ["x"], ["y"], sample_size=20000, **attributes)
            for opset in (7, 21):
                found, = run(model_of(node, {"x": x}, opset), {"x": x})
                self.assertEqual(found.dtype, kind)
                shares = np.exp(x) / np.exp(x).sum(1, keepdims=True)
                for row, share in zip(found, shares, strict=True):
                    np.testing.assert_allclose(np.bincount(row, minlength=10) / row.size, share, atol=0.02)
            self.alike(model_of(node, {"x": x}), {"x": x}, kind)

    def test_truth_values(self):
        # ONNX Runtime gives 1 with the probability of 0, as the body of ONNX's schema does.
        p = np.linspace(0, 1, 20000, dtype=np.float32).reshape(EXTENTS)
        for opset, dtype in itertools.product((15, 22), (None, TensorProto.BOOL, TensorProto.DOUBLE, TensorProto.UINT8)):
            attributes = {} if dtype is None else {"dtype": dtype}
            node = helper.make_node("Bernoulli", ["x"], ["y"], **attributes)
            y, = run(model_of(node, {"x": p}, opset), {"x": p})
            y = y.astype(np.float64).reshape(20, 1000)
            np.testing.assert_allclose(y.mean(1), p.reshape(20, 1000).mean(1), atol=0.06)

    def test_dropout(self):
        x = np.random.default_rng(2).uniform(1, 2, EXTENTS).astype(np.float32)
        for opset, kind in itertools.product((12, 13, 21), (np.float32, np.float64)):
            inputs = {"x": x.astype(kind), "r": np.array(0.3, kind), "t": np.array(True)}
            node = helper.make_node("Dropout", list(inputs), ["y", "m"], seed=5)
            model = model_of(node, inputs, opset)
            with self.subTest(opset=opset, kind=kind):
                self.alike(model, inputs)
                y, mask = run(model, inputs)
                np.testing.assert_allclose(y, inputs["x"] * mask / 0.7, rtol=1e-6)
        for opset, attributes, share in ((1, {"ratio": 0.25}, 0.75), (6, {}, 0.5), (6, {"is_test": 1}, 1), (7, {}, 1),
                                         (10, {"ratio": 0.25}, 1)):
            node = helper.make_node("Dropout", ["x"], ["y", "m"], **attributes)
            y, mask = run(model_of(node, {"x": x}, opset), {"x": x})
            self.assertEqual(mask.dtype, np.bool_ if opset >= 10 else np.float32)
            self.assertAlmostEqual(float(mask.mean()), share, delta=0.02)
            np.testing.assert_allclose(y, x * mask / share, rtol=1e-6)


class Seeds(Case):
    def test_choose_the_numbers(self):
        def numbers(**attributes):
            node = helper.make_node("RandomUniform", [], ["y"], shape=[5], **attributes)
            return run(model_of(node, {}), {})[0].tolist()
        self.assertEqual(numbers(), numbers())
        self.assertEqual(numbers(seed=1.0), numbers(seed=1.0))
        self.assertEqual(len({tuple(numbers(**given)) for given in ({}, {"seed": 0.0}, {"seed": 1.0})}), 3)

    def test_verify_takes_them_for_what_they_are(self):
        node = helper.make_node("Dropout", ["x", "", "t"], ["y"])
        inputs = {"x": np.ones((8, 8), np.float32), "t": np.array(True)}
        self.assertEqual(call(model_of(node, inputs), "verify"), "")


if __name__ == "__main__":
    unittest.main()
