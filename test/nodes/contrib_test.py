# SPDX-License-Identifier: Apache-2.0
"""Activations, products and normalisations of ONNX Runtime's domain, beside ONNX Runtime where its
CPU provider has the operator, else beside their formulas. Usage: contrib_test.py TOOL"""

import itertools
import math
import random
import unittest

import numpy as np
from contrib import ContribCase, contrib_model
from one_node import run
from onnx import TensorProto

FLOAT, HALF, DOUBLE, INT32 = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE,
                              TensorProto.INT32)
TYPES = {np.float32: FLOAT, np.float16: HALF, np.float64: DOUBLE}
TOLERANCE = {np.float32: 1e-5, np.float16: 4e-3, np.float64: 1e-5}


def group_normed(image, gamma, beta, groups, activation, epsilon=1e-5):
    """Of [N, H, W, C]."""
    n, h, w, c = image.shape
    grouped = image.reshape(n, h * w, groups, c // groups).astype(np.float64)
    mean, variance = grouped.mean((1, 3), keepdims=True), grouped.var((1, 3), keepdims=True)
    y = ((grouped - mean) / np.sqrt(variance + epsilon)).reshape(image.shape) * gamma + beta
    return (y / (1 + np.exp(-y)) if activation else y).astype(np.float32)


def optional(choose, value):
    return value if choose.random() < 0.5 else None


class Contrib(ContribCase):
    def setUp(self):
        self.choose = random.Random(self._testMethodName)
        self.values = np.random.default_rng(7)

    def draw(self, shape, kind=np.float32):
        return self.values.standard_normal(shape).astype(kind)

    def formula(self, operator, inputs, expected, domain="com.microsoft", tolerance=1e-5, **attributes):
        """Beside what NumPy has computed; `expected` has None for absent outputs."""
        kinds = [None if e is None else TYPES.get(e.dtype.type, INT32) for e in expected]
        model = contrib_model(operator, inputs, kinds, domain=domain, **attributes)
        fed = {name: x for name, x in inputs.items() if x is not None}
        with self.subTest(operator, **attributes):
            self.agree(run(model, fed), [e for e in expected if e is not None], tolerance)

    def refused(self, message, operator, inputs, outputs=(FLOAT,), **attributes):
        model = contrib_model(operator, inputs, outputs, **attributes)
        found = run(model, {name: x for name, x in inputs.items() if x is not None})
        with self.subTest(operator, **attributes):
            self.assertIn(message, found)

    def test_activations(self):
        for shape in ((4,), (2, 3, 8), (1, 1), (0, 4), (3, 2, 2, 5)):
            x, bias = self.draw(shape), self.draw(shape[-1:])
            self.beside("Gelu", {"x": x})
            self.beside("QuickGelu", {"x": x})
            self.beside("QuickGelu", {"x": x}, alpha=0.5)
            self.beside("FastGelu", {"x": x, "b": None})
            self.beside("FastGelu", {"x": x, "b": bias}, tolerance=1e-4)
            self.beside("BiasGelu", {"x": x, "b": bias})
        x, bias = self.draw((2, 3, 8)), self.draw((8,))
        whole = x + bias
        right = whole[..., 4:].astype(np.float64)
        gelu = right * 0.5 * (1 + np.vectorize(math.erf)(right / math.sqrt(2)))
        self.formula("BiasSplitGelu", {"x": x, "b": bias},
                     [(whole[..., :4] * gelu).astype(np.float32)])
        skip = self.draw(x.shape)
        self.formula("BiasAdd", {"x": x, "b": bias, "s": skip}, [x + bias + skip])
        half = x.astype(np.float16)
        wide = half.astype(np.float64)
        gelu = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        self.formula("Gelu", {"x": half}, [gelu.astype(np.float16)], tolerance=2e-3)

    def test_movement(self):
        x = self.draw((2, 5, 4))
        for upper in (0, 1):
            self.beside("Trilu", {"x": x, "k": None}, upper=upper)
            for k, constants in itertools.product((-2, 0, 1, 9), (("k",), ())):
                self.beside("Trilu", {"x": x, "k": np.array(k, np.int64)}, constants=constants, upper=upper)
        image, grid = self.draw((2, 3, 5, 6)), self.draw((2, 4, 3, 2)) * np.float32(0.8)
        for mode in ("bilinear", "nearest", "bicubic"):
            for padding in ("zeros", "border", "reflection"):
                for corners in (0, 1):
                    # PyTorch, from which these nodes come, clamps each of the elements, ONNX Runtime
                    # the point between them.
                    if (mode, padding) == ("bicubic", "border"):
                        continue
                    self.beside("GridSample", {"x": image, "g": grid}, tolerance=1e-4, mode=mode,
                                padding_mode=padding, align_corners=corners)
        for dim, size, step in ((-1, 2, 1), (1, 3, 2), (0, 1, 1), (1, 5, 7), (-2, 2, 3)):
            self.beside("UnfoldTensor", {"x": x}, dim=dim, size=size, step=step)
        for attributes in ({}, {"dim": 0}, {"step": 2}):
            self.beside("UnfoldTensor", {"x": x}, size=2, **attributes)
        self.beside("Trilu", {"x": x})
        self.beside("Trilu", {"x": x, "k": np.array([1], np.int64)}, constants=("k",))
        self.refused("'dim' is 3, which is no axis of an input that has 3", "UnfoldTensor", {"x": x},
                     dim=3, size=1)

    def test_fused_convolutions(self):
        for activation, parameters in (("Relu", None), ("Tanh", None), ("Sigmoid", None),
                                       ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.75]),
                                       ("HardSigmoid", [0.3, 0.4])):
            for number in range(3):
                group = self.choose.choice((1, 2))
                x, w = self.draw((2, 4, 7, 6)), self.draw((6, 4 // group, 3, 2))
                bias = optional(self.choose, self.draw((6,)))
                attributes = {"pads": [1, 0, 1, 1], "strides": [2, 1], "group": group}
                out = (2, 6, 4, 6)
                residual = optional(self.choose, self.draw(out))
                if parameters is not None:
                    attributes["activation_params"] = parameters
                self.beside("FusedConv", {"x": x, "w": w, "b": bias, "z": residual}, tolerance=1e-4,
                            constants=("w", "b") if number == 0 else (), activation=activation,
                            **attributes)
        x, w = self.draw((1, 2, 4, 4)), self.draw((2, 2, 1, 1))
        self.refused("activation_params count mismatch: Clip takes 2, found 1", "FusedConv",
                     {"x": x, "w": w}, activation="Clip", activation_params=[1.0])
        self.refused('must be one of "", "Relu", "Tanh"', "FusedConv",
                     {"x": x, "w": w}, activation="Sine")

    def test_fused_products(self):
        for activation, parameters in (("Relu", {}), ("Tanh", {}), ("Sigmoid", {}),
                                       ("LeakyRelu", {"activation_alpha": 0.3}),
                                       ("Elu", {"activation_alpha": 0.5}),
                                       ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4})):
            trans_a, trans_b = self.choose.randint(0, 1), self.choose.randint(0, 1)
            a, b = self.draw((5, 3) if trans_a else (3, 5)), self.draw((4, 5) if trans_b else (5, 4))
            c = optional(self.choose, self.draw(self.choose.choice([(4,), (3, 1), (3, 4)])))
            self.beside("FusedGemm", {"a": a, "b": b, "c": c}, tolerance=1e-4, transA=trans_a,
                        transB=trans_b, alpha=0.5, beta=2.0, activation=activation, **parameters)
        a, b, c = self.draw((3, 5)), self.draw((5, 4)), self.draw((3, 4))
        for attributes in ({}, {"alpha": 0.5}, {"beta": 2.0}, {"transA": 1}, {"transB": 1}):
            operands = {"a": a.T.copy() if "transA" in attributes else a,
                        "b": b.T.copy() if "transB" in attributes else b, "c": c}
            self.beside("FusedGemm", operands, tolerance=1e-4, activation="Relu", **attributes)
        for left, right in (((3, 5), (5, 4)), ((2, 3, 5), (2, 5, 4)), ((2, 3, 5), (5, 4)), ((5,), (5, 4)),
                            ((2, 1, 3, 5), (3, 5, 2))):
            for trans_a in (0, 1) if len(left) > 1 else (0,):
                for trans_b in (0, 1):
                    a, b = self.draw(left), self.draw(right)
                    if trans_a:
                        a = np.ascontiguousarray(np.swapaxes(a, -1, -2))
                    if trans_b:
                        b = np.ascontiguousarray(np.swapaxes(b, -1, -2))
                    for name in ("FusedMatMul", "TransposeMatMul"):
                        self.beside(name, {"a": a, "b": b}, tolerance=1e-4, transA=trans_a,
                                    transB=trans_b, alpha=self.choose.choice((1.0, 0.25)))
        for trans_a in (0, 1):
            for batch_a in (0, 1):
                for batch_b in (0, 1):
                    a, b = self.draw((2, 2, 3, 5)), self.draw((2, 2, 5, 4))
                    if trans_a:
                        a = np.swapaxes(a, -1, -2)
                    if batch_a:
                        a = np.moveaxis(a, -2, 0)
                    if batch_b:
                        b = np.moveaxis(b, -2, 0)
                    self.beside("FusedMatMul", {"a": np.ascontiguousarray(a), "b": np.ascontiguousarray(b)},
                                tolerance=1e-4, transA=trans_a, transBatchA=batch_a, transBatchB=batch_b)

    def test_biased_softmax(self):
        def softmax(x, axis):
            rows = x.reshape(x.shape[:axis] + (-1,))
            e = np.exp(rows - rows.max(-1, keepdims=True))
            return (e / e.sum(-1, keepdims=True)).reshape(x.shape)
        x = self.draw((2, 3, 4, 5))
        for axis, inner, shape in ((3, 1, (2, 1, 1, 5)), (3, 0, (1, 1, 4, 5)), (3, 0, (4, 5)), (-1, 1, (2, 5)),
                                   (2, 0, (4, 5)), (1, 0, (3, 4, 5))):
            bias = self.draw(shape)
            whole = bias.reshape(2, 1, 1, 5) if shape == (2, 5) else bias
            for attributes in ({"axis": axis}, *([{}] if axis == 1 else [])):
                self.formula("BiasSoftmax", {"x": x, "b": bias}, [softmax(x + whole, axis % 4)],
                             is_inner_broadcast=inner, **attributes)

    def test_normalisations(self):
        for shape in ((2, 3, 8), (1, 1, 4), (3, 5, 16)):
            x, skip, gamma = self.draw(shape), self.draw(shape), self.draw(shape[-1:])
            for _ in range(4):
                beta = optional(self.choose, self.draw(shape[-1:]))
                bias = optional(self.choose, self.draw(shape[-1:]))
                given = self.choose.choice((skip, skip[:1], skip[0]))
                outputs = (FLOAT, None, None, FLOAT) if self.choose.random() < 0.5 else (FLOAT,)
                attributes = {} if self.choose.random() < 0.5 else {"epsilon": 0.01}
                self.beside("SkipLayerNormalization",
                            {"x": x, "s": given, "g": gamma, "b": beta, "c": bias}, outputs,
                            tolerance=2e-5, **attributes)
                self.beside("SkipSimplifiedLayerNormalization",
                            {"x": x, "s": given, "g": gamma, "c": bias}, outputs, tolerance=2e-5,
                            **attributes)
        # The statistics, which ONNX Runtime leaves unset on the CPU.
        x, skip, gamma = self.draw((2, 3, 8)), self.draw((2, 3, 8)), self.draw((8,))
        total = (x + skip).astype(np.float64)
        mean, variance = total.mean(-1, keepdims=True), total.var(-1, keepdims=True)
        square = (total**2).mean(-1, keepdims=True)
        single = lambda v: v.astype(np.float32)
        self.formula("SkipLayerNormalization", {"x": x, "s": skip, "g": gamma},
                     [single((total - mean) / np.sqrt(variance + 1e-12) * gamma), single(mean),
                      single(1 / np.sqrt(variance + 1e-12)), single(total)], tolerance=1e-4)
        self.formula("SkipSimplifiedLayerNormalization", {"x": x, "s": skip, "g": gamma},
                     [single(total / np.sqrt(square + 1e-12) * gamma), None,
                      single(1 / np.sqrt(square + 1e-12))], tolerance=1e-4)
        self.refused("output 1 ('mean') does not exist", "SkipSimplifiedLayerNormalization",
                     {"x": x, "s": skip, "g": gamma}, (FLOAT, FLOAT))
        for axis in (-1, 1, 0):
            gamma = self.draw(x.shape[axis % 3:])
            square = (x.astype(np.float64)**2).mean(tuple(range(axis % 3, 3)), keepdims=True)
            inverse = 1 / np.sqrt(square + 1e-5)
            self.formula("SimplifiedLayerNormalization", {"x": x, "g": gamma},
                         [single(x * inverse * gamma), single(inverse)], domain="", axis=axis,
                         tolerance=2e-5)
        half = [v.astype(np.float16) for v in (x, skip, self.draw((8,)))]
        total = half[0].astype(np.float64) + half[1]
        mean, variance = total.mean(-1, keepdims=True), total.var(-1, keepdims=True)
        self.formula("SkipLayerNormalization", dict(zip("xsg", half)),
                     [((total - mean) / np.sqrt(variance + 1e-12) * half[2]).astype(np.float16)],
                     tolerance=1e-2)

    def test_layer_normalisation_before_operator_set_17(self):
        x, scale, bias = self.draw((2, 3, 8)), self.draw((8,)), self.draw((8,))
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        for given in (bias, None):
            expected = (x - mean) / np.sqrt(variance + 1e-5) * scale + (0 if given is None else given)
            for opset in (11, 14):
                self.formula("LayerNormalization", {"x": x, "s": scale, "b": given}, [expected],
                             domain="", opset=opset, tolerance=2e-5)

    def test_embeddings(self):
        hidden, words, batch, length = 8, 11, 2, 5
        for mask_given in (False, True):
            for segments in (False, True):
                for places in (False, True):
                    ids = self.values.integers(0, words, (batch, length)).astype(np.int32)
                    inputs = {"ids": ids, "segments": None, "words": self.draw((words, hidden)),
                              "positions": self.draw((length + 3, hidden)), "kinds": None,
                              "gamma": self.draw((hidden,)), "beta": self.draw((hidden,)),
                              "mask": None, "places": None}
                    if segments:
                        inputs["segments"] = self.values.integers(0, 2, (batch, length)).astype(np.int32)
                        inputs["kinds"] = self.draw((2, hidden))
                    if mask_given:
                        lengths = np.array([[3], [5]])
                        inputs["mask"] = (np.arange(length) < lengths).astype(np.int32)
                    if places:
                        inputs["places"] = self.values.integers(0, length + 3, (batch, length)).astype(np.int32)
                    for outputs in ((FLOAT, INT32, FLOAT), (FLOAT, None, FLOAT)):
                        found = self.beside("EmbedLayerNormalization", inputs, outputs, tolerance=2e-5)
                    self.alone("EmbedLayerNormalization", inputs, found[0])  # refused by ONNX Runtime
                    self.beside("EmbedLayerNormalization", inputs, (FLOAT, INT32), tolerance=2e-5,
                                epsilon=0.01)

    def test_group_norms(self):
        x, gamma, beta = self.draw((2, 3, 5, 6)), self.draw((6,)), self.draw((6,))
        def check(operator, inputs, expected, groups, **attributes):
            """In both orders of axes."""
            for last in (None, 1, 0):
                order = {} if last is None else {"channels_last": last}
                arranged = {name: first(v) if last == 0 and v is not None and v.ndim == 4 else v
                            for name, v in inputs.items()}
                self.formula(operator, arranged, [first(y) if last == 0 else y for y in expected],
                             groups=groups, tolerance=5e-5, **order, **attributes)
        first = lambda image: np.ascontiguousarray(np.moveaxis(image, -1, 1))
        for activation, groups in itertools.product((0, 1), (2, 3)):
            check("GroupNorm", {"x": x, "g": gamma, "b": beta},
                  [group_normed(x, gamma, beta, groups, activation)], groups, activation=activation)
            for shape, biased in itertools.product(((2, 3, 5, 6), (2, 6), (2, 1, 1, 6)), (False, True)):
                skip, bias = self.draw(shape), self.draw((6,)) if biased else None
                whole = x + (skip[:, None, None] if len(shape) == 2 else skip) + (bias if biased else 0)
                expected = [group_normed(whole, gamma, beta, groups, activation), whole]
                inputs = {"x": x, "g": gamma, "b": beta, "s": skip, "c": bias}
                for outputs in (1, 2):
                    check("SkipGroupNorm", inputs, expected[:outputs], groups, activation=activation)

    def test_epsilons(self):
        """Rows whose variance is about that of an epsilon: another one shows, and so does none."""
        for size, attributes in itertools.product((1e-3, 2e-6), ({}, {"epsilon": 3e-6}, {"epsilon": 2e-12})):
            small = lambda *shape, size=size: np.float32(size) * self.draw(shape)
            options = {"tolerance": 1e-4, **attributes}
            x, skip, gamma, beta = small(2, 3, 8), small(2, 3, 8), self.draw((8,)), self.draw((8,))
            self.beside("SkipLayerNormalization", {"x": x, "s": skip, "g": gamma, "b": beta}, **options)
            self.beside("SkipSimplifiedLayerNormalization", {"x": x, "s": skip, "g": gamma}, **options)
            ids = self.values.integers(0, 9, (2, 5)).astype(np.int32)
            self.beside("EmbedLayerNormalization", {
                "ids": ids, "segments": None, "words": small(9, 8), "positions": small(6, 8), "kinds": None,
                "gamma": gamma, "beta": beta}, (FLOAT, INT32), **options)
            wide = x.astype(np.float64)
            mean, variance = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
            epsilon = attributes.get("epsilon", 1e-5)
            single = lambda v: v.astype(np.float32)
            for opset in (11, 16, 17):
                inverse = 1 / np.sqrt(variance + epsilon)
                self.formula("LayerNormalization", {"x": x, "s": gamma, "b": beta},
                             [single((wide - mean) * inverse * gamma + beta), single(mean), single(inverse)],
                             domain="", opset=opset, **options)
            inverse = 1 / np.sqrt((wide**2).mean(-1, keepdims=True) + epsilon)
            self.formula("SimplifiedLayerNormalization", {"x": x, "g": gamma},
                         [single(wide * inverse * gamma), single(inverse)], domain="", **options)
            image, gamma, beta = small(2, 3, 5, 6), self.draw((6,)), self.draw((6,))
            more = small(2, 6)
            expected = group_normed(image, gamma, beta, 3, 0, epsilon)
            self.formula("GroupNorm", {"x": image, "g": gamma, "b": beta}, [expected], groups=3, activation=0,
                         **options)
            expected = group_normed(image + more[:, None, None], gamma, beta, 3, 0, epsilon)
            self.formula("SkipGroupNorm", {"x": image, "g": gamma, "b": beta, "s": more}, [expected], groups=3,
                         activation=0, **options)


if __name__ == "__main__":
    unittest.main()
