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
        """`expected` has None for absent outputs; those in float32 are float32 here, too, others halves."""
        types = {"i": TensorProto.INT32, "f": TensorProto.FLOAT16}
        kinds = [None if y is None else TensorProto.FLOAT if y.dtype == np.float32 else types[y.dtype.kind]
                 for y in expected]
        given = {name: x for name, x in inputs.items() if x is not None}
        with self.subTest(operator, shapes={name: x.shape for name, x in given.items()}, **attributes):
            found = run(contrib_model(operator, inputs, kinds, **attributes), given)
            self.assertIsInstance(found, list, found)
            for a, b in zip(found, [y for y in expected if y is not None], strict=True):
                self.assertEqual((a.shape, a.dtype), (b.shape, HALF if b.dtype == np.float64 else b.dtype))
                np.testing.assert_allclose(wide(a), b, rtol=TOLERANCE, atol=TOLERANCE)

    def as_floats(self, operator, inputs, kinds=(TensorProto.FLOAT,), **attributes):
        """Beside ONNX Runtime in float. `kinds`: of its outputs; what it gives as float is a half here."""
        floats = {name: x if x is None or x.dtype != HALF else x.astype(np.float32) for name, x in inputs.items()}
        given = {name: x for name, x in floats.items() if x is not None}
        results = iter(in_runtime(contrib_model(operator, floats, kinds, **attributes), given))
        expected = [None if kind is None else next(results) for kind in kinds]
        self.near(operator, inputs, [wide(y) if y is not None and y.dtype == np.float32 else y for y in expected],
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

    def test_forms_of_attention(self):
        """Masks of every form, causal ones, and values that are wider than keys."""
        batch, length, heads, width = 2, 3, 2, 8
        masks = {"lengths": self.whole(2, 3), "ends": self.whole(2, 3, 0, 1), "none": None,
                 "keys": self.whole([1, 0, 1], [1, 1, 0]),
                 "queries": self.whole([[1, 0, 1], [1, 1, 0], [1, 1, 1]], [[1, 0, 0], [0, 1, 1], [1, 0, 1]])}
        for mask, attributes in itertools.product(masks.values(), (
                {}, {"unidirectional": 1, "scale": 0.3}, {"qkv_hidden_sizes": [width, width, 2 * width]},
                {"mask_filter_value": -2.0})):
            last = 2 * width if "qkv_hidden_sizes" in attributes else width
            inputs = {"x": self.draw(batch, length, width), "w": self.draw(width, 2 * width + last, scale=0.3),
                      "b": self.draw(2 * width + last), "m": mask}
            self.as_floats("Attention", inputs, num_heads=heads, **attributes)
        for mask, attributes in itertools.product((masks["lengths"], masks["keys"], None), (
                {}, {"unidirectional": 1, "scale": 0.3})):
            q, k, v = (self.draw(batch, length, width) for _ in range(3))
            inputs = {"q": q, "k": k, "v": v, "b": self.draw(3 * width), "m": mask}
            self.as_floats("MultiHeadAttention", inputs, num_heads=heads, **attributes)
            past = [self.draw(batch, heads, 2, width // heads) for _ in range(2)]
            if mask is None or mask.ndim == 2:
                longer = None if mask is None else np.concatenate([mask[:, 1:], mask], 1)
                self.as_floats("MultiHeadAttention", inputs | {"m": longer, "a": None, "pk": past[0], "pv": past[1]},
                               (TensorProto.FLOAT,) * 3, num_heads=heads, **attributes)
            self.as_floats("MultiHeadAttention", inputs, (TensorProto.FLOAT,) * 3, num_heads=heads, **attributes)

    def test_group_query_attention(self):
        heads, groups, size = 4, 2, 16
        angles = self.values.uniform(-3, 3, (8, size // 2))
        for (length, past, total), packed, rotary, bias, attributes in itertools.product(
                ((3, 0, 3), (1, 5, 6), (1, 6, 6)), (False, True), (None, 0, 1), (False, True),
                ({}, {"softcap": 2.0, "scale": 0.3}, {"local_window_size": 2})):
            width, narrow = heads * size, groups * size
            inputs = {"q": self.draw(2, length, width + 2 * narrow if packed else width),
                      "k": None if packed else self.draw(2, length, narrow),
                      "v": None if packed else self.draw(2, length, narrow),
                      "pk": self.draw(2, groups, past, size), "pv": self.draw(2, groups, past, size),
                      "ends": self.whole(total - 1, total - 1), "total": self.whole(total),
                      "c": None if rotary is None else np.cos(angles).astype(HALF),
                      "s": None if rotary is None else np.sin(angles).astype(HALF), "p": None,
                      "a": self.draw(1, heads, length, total) if bias else None}
            turned = ({}, {"do_rotary": 1}, {"do_rotary": 1, "rotary_interleaved": 1})[0 if rotary is None else rotary + 1]
            self.as_floats("GroupQueryAttention", inputs, (TensorProto.FLOAT,) * 3, num_heads=heads,
                           kv_num_heads=groups, **turned, **attributes)

    def test_rotary_embedding(self):
        angles = self.values.uniform(-3, 3, (9, 4))
        cosines, sines = np.cos(angles).astype(HALF), np.sin(angles).astype(HALF)
        for x, at, interleaved in itertools.product(
                (self.draw(2, 5, 3 * 8), self.draw(2, 3, 5, 8)),
                (np.array([2]), self.values.integers(0, 9, (2, 5))), (0, 1)):
            self.as_floats("RotaryEmbedding", {"x": x, "at": at, "cos": cosines, "sin": sines},
                           interleaved=interleaved)
        self.as_floats("RotaryEmbedding", {"x": self.draw(2, 5, 3 * 16), "at": np.array([1]), "cos": cosines,
                                           "sin": sines}, num_heads=3, rotary_embedding_dim=8)

    def test_embedding(self):
        self.as_floats("EmbedLayerNormalization", {
            "ids": self.values.integers(0, 9, (2, 5)).astype(np.int32),
            "segments": self.values.integers(0, 2, (2, 5)).astype(np.int32), "words": self.draw(9, 8),
            "places": self.draw(6, 8), "kinds": self.draw(2, 8), "gamma": self.draw(8), "beta": self.draw(8)},
                       (TensorProto.FLOAT, TensorProto.INT32))

        for mask, places, segments in itertools.product((False, True), repeat=3):
            self.as_floats("EmbedLayerNormalization", {
                "ids": self.values.integers(0, 9, (2, 5)).astype(np.int32),
                "segments": self.values.integers(0, 2, (2, 5)).astype(np.int32) if segments else None,
                "words": self.draw(9, 8), "places": self.draw(6, 8),
                "kinds": self.draw(2, 8) if segments else None, "gamma": self.draw(8), "beta": self.draw(8),
                "mask": self.whole([1, 1, 1, 0, 0], [1, 1, 1, 1, 0]) if mask else None,
                "at": self.values.integers(0, 6, (2, 5)).astype(np.int32) if places else None},
                           (TensorProto.FLOAT, TensorProto.INT32, TensorProto.FLOAT))

    def test_normalisations(self):
        """With the statistics, which are floats, and the sum; epsilons show in what is small."""
        for shape, biased, size in itertools.product(((2, 3, 8), (1, 3, 8), (3, 8)), (False, True), (1, 1e-3)):
            x, skip = self.draw(2, 3, 8, scale=size), self.draw(*shape, scale=size)
            gamma, beta, bias = self.draw(8), self.draw(8), self.draw(8, scale=size) if biased else None
            sums = wide(x) + wide(skip) + (wide(bias) if biased else 0)
            rounded = wide(sums.astype(HALF))  # as the sum is an output, too
            for centred, epsilon, operator, inputs, before in (
                    (True, 1e-12, "SkipLayerNormalization",
                     {"x": x, "s": skip, "g": gamma, "b": beta if biased else None, "c": bias}, rounded),
                    (False, 1e-12, "SkipSimplifiedLayerNormalization", {"x": x, "s": skip, "g": gamma, "c": bias},
                     rounded),
                    (True, 1e-5, "LayerNormalization", {"x": x, "g": gamma, "b": beta}, wide(x)),
                    (False, 1e-5, "SimplifiedLayerNormalization", {"x": x, "g": gamma}, wide(x))):
                mean = before.mean(-1, keepdims=True) if centred else 0
                inverse = 1 / np.sqrt(((before - mean) ** 2).mean(-1, keepdims=True) + epsilon)
                y = (before - mean) * inverse * wide(gamma) + (wide(beta) if inputs.get("b") is not None else 0)
                skips = operator.startswith("Skip")
                statistics = [np.float32(mean) if centred else None, np.float32(inverse)]
                expected = [y, *(statistics if centred or skips else statistics[1:]), *([sums] if skips else [])]
                others = {} if skips else {"domain": "", "opset": 13}
                self.near(operator, inputs, expected, **others)
                self.near(operator, inputs, expected[:1], **others)

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
