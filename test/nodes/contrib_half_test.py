# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime's domain on float16. Usage: contrib_half_test.py TOOL

ONNX Runtime has few of them for halves on the CPU: it computes the same halves as floats here, or formulas in double
do where it has none at all."""

import itertools
import unittest

import numpy as np
from contrib import ContribCase, contrib_model, in_runtime
from one_node import run
from onnx import TensorProto

HALF = np.float16
TOLERANCE = 1e-2


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def wide(x):
    return x.astype(np.float64)


def numbers(codes, scale, zero):
    return (wide(codes) - wide(zero)) * wide(scale)


class Halves(ContribCase):
    def setUp(self):
        self.values = np.random.default_rng(31)

    def draw(self, *shape, scale=1.0):
        return (scale * self.values.standard_normal(shape)).astype(HALF)

    def codes(self, kind, *shape):
        info = np.iinfo(kind)
        return self.values.integers(info.min, info.max + 1, shape).astype(kind)

    def whole(self, *values, kind=np.int32):
        return np.array(values, kind)

    def near(self, operator, inputs, expected, **attributes):
        kinds = [TensorProto.FLOAT16 if y.dtype.kind == "f" else TensorProto.INT32 for y in expected]
        given = {name: x for name, x in inputs.items() if x is not None}
        with self.subTest(operator, shapes={name: x.shape for name, x in given.items()}, **attributes):
            found = run(contrib_model(operator, inputs, kinds, **attributes), given)
            self.assertIsInstance(found, list, found)
            for a, b in zip(found, expected, strict=True):
                self.assertEqual((a.shape, a.dtype), (b.shape, HALF if b.dtype.kind == "f" else b.dtype))
                np.testing.assert_allclose(wide(a), b, rtol=TOLERANCE, atol=TOLERANCE)

    def as_floats(self, operator, inputs, kinds=(TensorProto.FLOAT,), **attributes):
        """Beside ONNX Runtime in float."""
        floats = {name: x if x is None or x.dtype != HALF else x.astype(np.float32) for name, x in inputs.items()}
        given = {name: x for name, x in floats.items() if x is not None}
        self.near(operator, inputs, in_runtime(contrib_model(operator, floats, kinds, **attributes), given),
                  **attributes)

    def test_attention(self):
        batch, length, heads, size = 2, 5, 3, 4
        width = heads * size
        for bias, mask, past in itertools.product((False, True), repeat=3):
            keys = length + (2 if past else 0)
            inputs = {"input": self.draw(batch, length, width), "weights": self.draw(width, 3 * width, scale=0.3),
                      "bias": self.draw(3 * width),
                      "mask": self.whole(keys, keys - 1) if mask else None,
                      "past": self.draw(2, batch, heads, 2, size) if past else None,
                      "scores": self.draw(batch, heads, length, keys) if bias and not past else None}
            self.as_floats("Attention", inputs, (TensorProto.FLOAT,) * (2 if past else 1), num_heads=heads)
        q, k, v = (self.draw(batch, n, width) for n in (length, 7, 7))
        self.as_floats("MultiHeadAttention", {"q": q, "k": k, "v": v, "b": self.draw(3 * width), "m": None,
                                              "s": self.draw(1, heads, length, 7)}, num_heads=heads)
        self.as_floats("GroupQueryAttention", {
            "q": self.draw(1, length, 4 * 8), "k": self.draw(1, length, 2 * 8), "v": self.draw(1, length, 2 * 8),
            "pk": None, "pv": None, "seqlens": self.whole(length - 1), "total": self.whole(length)},
                       (TensorProto.FLOAT,) * 3, num_heads=4, kv_num_heads=2)
        angles = self.values.uniform(-3, 3, (9, 4))
        self.as_floats("RotaryEmbedding", {"x": self.draw(2, 3, 5, 8),
                                           "at": self.values.integers(0, 9, (2, 5)),
                                           "cos": np.cos(angles).astype(HALF), "sin": np.sin(angles).astype(HALF)})

    def test_embedding(self):
        self.as_floats("EmbedLayerNormalization", {
            "ids": self.values.integers(0, 9, (2, 5)).astype(np.int32),
            "segments": self.values.integers(0, 2, (2, 5)).astype(np.int32), "words": self.draw(9, 8),
            "places": self.draw(6, 8), "kinds": self.draw(2, 8), "gamma": self.draw(8), "beta": self.draw(8)},
                       (TensorProto.FLOAT, TensorProto.INT32))

    def test_movement(self):
        self.as_floats("Trilu", {"x": self.draw(2, 4, 5)}, upper=0)
        self.as_floats("GridSample", {"x": self.draw(1, 2, 4, 5),
                                      "grid": self.values.uniform(-1, 1, (1, 3, 3, 2)).astype(HALF)})
        x = self.draw(2, 9)
        self.near("UnfoldTensor", {"x": x},
                  [np.lib.stride_tricks.sliding_window_view(wide(x), 4, axis=-1)[:, ::2]], dim=-1, size=4, step=2)

    def test_activations(self):
        x, bias, skip = self.draw(2, 5, 6), self.draw(6), self.draw(2, 5, 6)
        self.near("BiasAdd", {"x": x, "b": bias, "s": skip}, [wide(x) + wide(bias) + wide(skip)])
        left, right = np.split(wide(x) + wide(bias), 2, axis=-1)
        floats = in_runtime(contrib_model("Gelu", {"x": right.astype(np.float32)}, (1,)),
                            {"x": right.astype(np.float32)})[0]
        self.near("BiasSplitGelu", {"x": x, "b": bias}, [left * floats])
        scores = self.draw(2, 3, 4, 5)
        mask = self.draw(2, 1, 1, 5)
        self.near("BiasSoftmax", {"x": scores, "b": mask}, [softmax(wide(scores) + wide(mask))], axis=3,
                  is_inner_broadcast=1)

    def test_group_norms(self):
        x, gamma, beta, skip = self.draw(2, 3, 5, 6), self.draw(6), self.draw(6), self.draw(2, 6)
        def reference(image):
            grouped = image.reshape(2, 15, 3, 2)
            centred = grouped - grouped.mean((1, 3), keepdims=True)
            scaled = centred / np.sqrt((centred ** 2).mean((1, 3), keepdims=True) + 1e-5)
            y = scaled.reshape(image.shape) * wide(gamma) + wide(beta)
            return y / (1 + np.exp(-y))
        floats = {"g": gamma.astype(np.float32), "b": beta.astype(np.float32)}
        self.near("GroupNorm", {"x": x, **floats}, [reference(wide(x))], groups=3, activation=1)
        whole = wide(x) + wide(skip)[:, None, None]
        self.near("SkipGroupNorm", {"x": x, **floats, "s": skip}, [reference(whole), whole], groups=3, activation=1)

    def test_integer_products(self):
        for a_kind, b_kind, columns, zeros, bias in itertools.product(
                (np.uint8, np.int8), (np.uint8, np.int8), (False, True), (False, True), (False, True)):
            shape = (7,) if columns else ()
            a, b = self.codes(a_kind, 2, 3, 9), self.codes(b_kind, 9, 7)
            a_scale = np.asarray(self.values.uniform(0.002, 0.01), HALF)
            b_scale = np.asarray(self.values.uniform(0.002, 0.01, shape), HALF)
            a_zero = self.codes(a_kind) if zeros else None
            b_zero = self.codes(b_kind, *shape) if zeros else None
            c = self.draw(7) if bias else None
            inputs = {"a": a, "b": b, "as": a_scale, "bs": b_scale,
                      "az": None if a_zero is None else np.asarray(a_zero),
                      "bz": None if b_zero is None else np.asarray(b_zero), "c": c}
            none = np.zeros(())
            y = numbers(a, a_scale, none if a_zero is None else np.asarray(a_zero)) @ numbers(
                b, b_scale, none if b_zero is None else np.asarray(b_zero))
            self.near("MatMulIntegerToFloat", inputs, [y if c is None else y + wide(c)])

    def test_quantised_attention(self):
        batch, length, heads, size, before = 2, 4, 2, 3, 3
        width = heads * size
        for kind, columns, mask, past, causal in itertools.product(
                (np.uint8, np.int8), (False, True), (False, True), (False, True), (0, 1)):
            x, w = self.codes(np.uint8, batch, length, width), self.codes(kind, width, 3 * width)
            bias = self.draw(3 * width)
            x_scale = np.array(0.01, HALF)
            w_scale = np.asarray(self.values.uniform(0.002, 0.01, (3 * width,) if columns else ()), HALF)
            x_zero, w_zero = np.array(120, np.uint8), np.asarray(self.codes(kind, *w_scale.shape))
            held = self.draw(2, batch, heads, before, size) if past else None
            keys = length + (before if past else 0)
            seen = self.whole(keys, keys - 2)
            inputs = {"x": x, "w": w, "b": bias, "xs": x_scale, "ws": w_scale, "m": seen if mask else None,
                      "xz": x_zero, "wz": w_zero, "past": held}
            qkv = numbers(x, x_scale, x_zero) @ numbers(w, w_scale, w_zero) + wide(bias)
            q, k, v = (part.reshape(batch, length, heads, size).transpose(0, 2, 1, 3)
                       for part in np.split(qkv, 3, axis=-1))
            if past:
                k, v = np.concatenate([wide(held[0]), k], 2), np.concatenate([wide(held[1]), v], 2)
            scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(size)
            if mask:
                scores = np.where(np.arange(keys) < seen[:, None, None, None], scores, -10000)
            if causal:
                later = np.arange(keys) > np.arange(length)[:, None] + (keys - length)
                scores = np.where(later, -np.inf, scores)
            y = (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)
            self.near("QAttention", inputs, [y, np.stack([k, v])] if past else [y], num_heads=heads,
                      unidirectional=causal)


if __name__ == "__main__":
    unittest.main()
