# SPDX-License-Identifier: Apache-2.0
"""CTR-10: an operator that fuses others gives what these give as a graph of ONNX's own operators.
Both run here, at random forms. Usage: contrib_decomposed_test.py TOOL"""

import itertools
import random
import unittest

import numpy as np
from contrib import ContribCase, contrib_model
from contrib_models import Builder
from one_node import run
from onnx import helper

TOLERANCE = {np.float32: 2e-5, np.float16: 1e-2}
ACTIVATIONS = {"Relu": {}, "Tanh": {}, "Sigmoid": {}, "LeakyRelu": {"alpha": 0.25}, "Elu": {"alpha": 0.5},
               "HardSigmoid": {"alpha": 0.25, "beta": 0.375}}


class Graph(Builder):
    """ONNX's operators over floats of one kind."""

    def __init__(self, kind):
        super().__init__(0, opset=17)
        self.kind = kind

    def number(self, value):
        return self.constant(value, self.kind)

    def sum(self, *terms):
        result = terms[0]
        for term in terms[1:]:
            if term is not None:
                result = self.add("Add", result, term)
        return result

    def scaled(self, x, factor):
        return self.add("Mul", x, self.number(factor))

    def gated(self, x, gate):
        return self.add("Mul", self.scaled(x, 0.5), self.sum(gate, self.number(1)))

    def gelu_by_erf(self, x):
        return self.gated(x, self.add("Erf", self.scaled(x, np.sqrt(0.5))))

    def gelu_by_tanh(self, x):
        cube = self.add("Mul", x, self.add("Mul", x, x))
        return self.gated(x, self.add("Tanh", self.sum(self.scaled(x, 0.797885), self.scaled(cube, 0.035677))))

    def wide(self, x):
        return self.add("Cast", x, to=1)

    def normalized(self, x, scale, bias, epsilon, centred=True):
        """Of the last axis, in float."""
        x, scale = self.wide(x), self.wide(scale)
        if centred:
            x = self.add("Sub", x, self.add("ReduceMean", x, axes=[-1]))
        square = self.add("ReduceMean", self.add("Mul", x, x), axes=[-1])
        root = self.add("Sqrt", self.sum(square, self.constant(epsilon, np.float32)))
        y = self.add("Mul", self.add("Div", x, root), scale)
        y = self.sum(y, None if bias is None else self.wide(bias))
        return self.add("Cast", y, to=helper.np_dtype_to_tensor_dtype(np.dtype(self.kind)))


class Decomposed(ContribCase):
    def setUp(self):
        self.choose = random.Random(self._testMethodName)
        self.values = np.random.default_rng(17)

    def each_form(self, count=6):
        for kind in TOLERANCE:
            for _ in range(count):
                yield kind, [self.choose.choice((1, 2, 3, 5, 8)) for _ in range(self.choose.randint(2, 4))]

    def draw(self, kind, *shape):
        return self.values.standard_normal(shape).astype(kind)

    def maybe(self, value):
        return value if self.choose.random() < 0.5 else None

    def same(self, kind, operator, inputs, decompose, domain="com.microsoft", **attributes):
        """`decompose`: makes the result in a graph, from the inputs' names, None where absent."""
        graph = Graph(kind)
        result = decompose(graph, *[name if x is not None else None for name, x in inputs.items()])
        self.assertEqual(result, graph.nodes[-1].output[0])
        given = {name: x for name, x in inputs.items() if x is not None}
        element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        parts = graph.model([(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
                             for name, x in given.items()], [("y0", element, None)])
        whole = contrib_model(operator, inputs, (element,), domain=domain, **attributes)
        with self.subTest(operator, kind=kind.__name__, shapes={n: x.shape for n, x in given.items()}, **attributes):
            expected = run(parts, given)
            self.assertIsInstance(expected, list, expected)
            self.agree(run(whole, given), expected, TOLERANCE[kind])

    def test_ctr_10_activations(self):
        for kind, shape in self.each_form():
            x, bias = self.draw(kind, *shape), self.draw(kind, shape[-1])
            self.same(kind, "Gelu", {"x": x}, Graph.gelu_by_erf)
            self.same(kind, "BiasGelu", {"x": x, "b": bias}, lambda g, x, b: g.gelu_by_erf(g.sum(x, b)))
            self.same(kind, "FastGelu", {"x": x, "b": self.maybe(bias)}, lambda g, x, b: g.gelu_by_tanh(g.sum(x, b)))
            alpha = self.choose.choice((1.702, 0.5))
            attributes = {} if alpha == 1.702 else {"alpha": alpha}
            self.same(kind, "QuickGelu", {"x": x}, lambda g, x: g.add(
                "Mul", x, g.add("Sigmoid", g.scaled(x, alpha))), **attributes)

    def test_ctr_10_normalisations(self):
        for kind, shape in self.each_form():
            shape = [*shape[:2], shape[-1] + 1]
            x, skip = self.draw(kind, *shape), self.draw(kind, *shape)
            gamma, beta, bias = (self.draw(kind, shape[-1]) for _ in range(3))
            epsilon = self.choose.choice((None, 0.25))
            attributes = {} if epsilon is None else {"epsilon": epsilon}
            self.same(kind, "SkipLayerNormalization",
                      {"x": x, "s": skip, "g": gamma, "b": self.maybe(beta), "a": self.maybe(bias)},
                      lambda g, x, s, w, b, a: g.normalized(g.sum(x, a, s), w, b, epsilon or 1e-12), **attributes)
            self.same(kind, "SkipSimplifiedLayerNormalization",
                      {"x": x, "s": skip, "g": gamma, "a": self.maybe(bias)},
                      lambda g, x, s, w, a: g.normalized(g.sum(x, a, s), w, None, epsilon or 1e-12, centred=False),
                      **attributes)
            self.same(kind, "SimplifiedLayerNormalization", {"x": x, "g": gamma},
                      lambda g, x, w: g.normalized(x, w, None, epsilon or 1e-5, centred=False), domain="",
                      **attributes)
            self.same(kind, "LayerNormalization", {"x": x, "g": gamma, "b": self.maybe(beta)},
                      lambda g, x, w, b: g.normalized(x, w, b, epsilon or 1e-5), domain="", opset=13, **attributes)

    def test_ctr_10_products(self):
        for kind, shape in self.each_form():
            rows, depth = shape[:2]
            columns = self.choose.choice((1, 4, 7))
            name = self.choose.choice(list(ACTIVATIONS))
            turned, alpha = self.choose.random() < 0.5, self.choose.choice((1.0, 0.5))
            a, b = self.draw(kind, rows, depth), self.draw(kind, depth, columns)
            bias = self.maybe(self.draw(kind, columns))
            product = {"alpha": alpha, "transB": int(turned)}
            parameters = {f"activation_{key}": value for key, value in ACTIVATIONS[name].items()}
            right = np.ascontiguousarray(b.T) if turned else b
            self.same(kind, "FusedGemm", {"a": a, "b": right, "c": bias}, lambda g, a, b, c: g.add(
                name, g.add("Gemm", *[each for each in (a, b, c) if each], **product), **ACTIVATIONS[name]),
                      activation=name, **product, **parameters)
            batch = shape[:-1]
            left = self.draw(kind, *batch, 3, depth)
            many = self.draw(kind, *batch, *right.shape)
            order = [*range(len(batch)), len(batch) + 1, len(batch)]
            self.same(kind, "FusedMatMul", {"a": left, "b": many}, lambda g, a, b: g.scaled(
                g.add("MatMul", a, g.add("Transpose", b, perm=order) if turned else b), alpha), **product)
            scores = self.draw(kind, 2, 3, *shape[:2])
            self.same(kind, "BiasSoftmax", {"x": scores, "b": self.draw(kind, 2, 1, 1, shape[1])},
                      lambda g, x, b: g.add("Softmax", g.sum(x, b), axis=-1), axis=3, is_inner_broadcast=1)

    def test_ctr_10_convolutions(self):
        for kind, _ in self.each_form(8):
            name = self.choose.choice(list(ACTIVATIONS))
            channels, filters = self.choose.randint(1, 5), self.choose.randint(1, 6)
            image, weights = self.draw(kind, 2, channels, 6, 7), self.draw(kind, filters, channels, 3, 3)
            weights /= 3
            bias, residual = self.maybe(self.draw(kind, filters)), self.maybe(self.draw(kind, 2, filters, 6, 7))
            bias = self.draw(kind, filters) if residual is not None else bias

            def decompose(g, x, w, b, z, name=name):
                y = g.add("Conv", *[each for each in (x, w, b) if each], pads=[1] * 4)
                return g.add(name, g.sum(y, z), **ACTIVATIONS[name])
            parameters = list(ACTIVATIONS[name].values())
            self.same(kind, "FusedConv", {"x": image, "w": weights, "b": bias, "z": residual}, decompose,
                      activation=name, pads=[1] * 4, **({"activation_params": parameters} if parameters else {}))

    def test_ctr_10_channels_last(self):
        """NhwcConv, whose filters have their channels last, too."""
        cases = ({"pads": [1, 0, 2, 1], "strides": [2, 1]}, {"auto_pad": "SAME_UPPER", "dilations": [1, 2]},
                 {"kernel_shape": [3, 2]})
        for kind, attributes, group in itertools.product(TOLERANCE, cases, (1, 2)):
            image, weights = self.draw(kind, 2, 6, 7, 4), self.draw(kind, 6, 3, 2, 4 // group) / kind(3)

            def decompose(g, x, w, b, attributes=attributes, group=group):
                operands = [g.add("Transpose", each, perm=[0, 3, 1, 2]) for each in (x, w)]
                y = g.add("Conv", *operands, *([b] if b else []), group=group, **attributes)
                return g.add("Transpose", y, perm=[0, 2, 3, 1])
            for bias in (self.draw(kind, 6), None):
                self.same(kind, "NhwcConv", {"x": image, "w": weights, "b": bias}, decompose, group=group,
                          **attributes)

    def test_ctr_10_attention(self):
        for kind, _ in self.each_form(6):
            batch, length, keys, heads, size = (self.choose.randint(1, 4) for _ in range(5))
            width = heads * size
            q, k, v = (self.draw(kind, batch, n, width) for n in (length, keys, keys))
            mask = (self.values.random((batch, keys)) < 0.6).astype(np.int32)
            bias = self.maybe(self.draw(kind, 1, heads, length, keys))

            def attended(g, q, k, v, mask, bias, size=size, heads=heads, width=width):
                q, k, v = (g.heads(g.wide(x), heads, size, order)
                           for x, order in ((q, [0, 2, 1, 3]), (k, [0, 2, 3, 1]), (v, [0, 2, 1, 3])))
                closed = g.add("Sub", g.constant(1, np.float32), g.wide(mask))
                closed = g.add("Mul", closed, g.constant(-10000, np.float32))
                closed = g.add("Unsqueeze", closed, g.constant([1, 2], np.int64))
                scores = g.add("Mul", g.add("MatMul", q, k), g.constant(size ** -0.5, np.float32))
                scores = g.sum(scores, closed, None if bias is None else g.wide(bias))
                y = g.add("MatMul", g.add("Softmax", scores, axis=-1), v)
                y = g.add("Reshape", g.add("Transpose", y, perm=[0, 2, 1, 3]), g.constant([0, 0, width], np.int64))
                return g.add("Cast", y, to=helper.np_dtype_to_tensor_dtype(np.dtype(kind)))

            def projected(g, x, w, b, mask, _, bias):
                """ONNX Runtime on CPUs wants the bias of the projections, its specification does not."""
                return attended(g, *g.add("Split", g.sum(g.add("MatMul", x, w), b), outputs=3, axis=2), mask, bias)
            self.same(kind, "MultiHeadAttention", {"q": q, "k": k, "v": v, "p": None, "m": mask, "b": bias},
                      lambda g, q, k, v, _, mask, bias: attended(g, q, k, v, mask, bias), num_heads=heads)
            weights = self.draw(kind, width, 3 * width) / kind(2)
            square = None if bias is None else self.draw(kind, 1, heads, keys, keys)
            for offset in (None, self.draw(kind, 3 * width)):
                self.same(kind, "Attention", {"x": k, "w": weights, "p": offset, "m": mask, "past": None, "b": square},
                          projected, num_heads=heads)


if __name__ == "__main__":
    unittest.main()
