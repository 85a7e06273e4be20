# SPDX-License-Identifier: Apache-2.0
"""Quantised models: which of their operators become those of integers, and that their results are those of
ONNX Runtime. Usage: quantized_test.py TOOL

Models with QuantizeLinear and DequantizeLinear are executed by ONNX Runtime without optimisations, which computes
in float: sums in float are rounded, so that now and then a byte differs by one from that of exact sums. Operators
on integers agree to the bit."""

import pathlib
import random
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from one_node import TOOL, Case, call, codes, model_of, run, runtime
from onnx import TensorProto, helper, numpy_helper


class Network:
    """A model of quantised operators, built node by node; x is its input, the last value its output."""

    def __init__(self, values, choose):
        self.values, self.choose, self.nodes, self.held = values, choose, [], []

    def constant(self, array):
        self.held.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.held)}"))
        return self.held[-1].name

    def op(self, operator, *inputs, **attributes):
        self.nodes.append(helper.make_node(operator, list(inputs), [f"t{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def quantize(self, x, scale, zero):
        return self.op("QuantizeLinear", x, self.constant(np.float32(scale)), self.constant(zero))

    def dequantize(self, x, scale, zero, **attributes):
        return self.op("DequantizeLinear", x, self.constant(np.asarray(scale, np.float32)), self.constant(zero),
                       **attributes)

    def data(self, x, scale, zero):
        return self.dequantize(self.quantize(x, scale, zero), scale, zero)

    def weights(self, shape, axis, kind):
        """Dequantised weights and their scales: one, or one for each position of the axis."""
        low, high = (-128, 128) if kind == np.int8 else (0, 256)
        codes = self.constant(self.values.integers(low, high, shape).astype(kind))
        if self.choose.random() < 0.5:
            scale = np.float32(self.values.uniform(0.002, 0.01))
            return self.dequantize(codes, scale, kind(self.values.integers(low, high))), scale
        scale = self.values.uniform(0.002, 0.01, shape[axis]).astype(np.float32)
        zero = np.zeros(shape[axis], kind)
        if self.choose.random() < 0.3:
            zero = self.values.integers(low, high, shape[axis]).astype(kind)
        return self.dequantize(codes, scale, zero, axis=axis), scale

    def bias(self, count, scale):
        codes = self.constant(self.values.integers(-3000, 3000, count).astype(np.int32))
        axis = {"axis": 0} if scale.ndim else {}
        return self.dequantize(codes, scale, np.zeros(scale.shape, np.int32), **axis)

    def model(self, shape):
        graph = helper.make_graph(
            self.nodes, "test", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [onnx.ValueInfoProto(name=self.nodes[-1].output[0])], self.held)
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def in_float(model, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    typed = onnx.shape_inference.infer_shapes(model)
    session = onnxruntime.InferenceSession(typed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def operators(model):
    """Those of the plan."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        onnx.save(model, path / "model.onnx")
        subprocess.run([TOOL, "convert", path / "model.onnx", "-o", path / "model.plan"], check=True,
                       capture_output=True)
        text = subprocess.run([TOOL, "inspect", path / "model.plan"], check=True, capture_output=True,
                              text=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return [row[1] for row in rows if len(row) > 3 and row[0].isdigit()]


FLOAT_PRODUCTS = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
FLOAT_PRODUCTS |= {f"intarsia:{name}" for name in FLOAT_PRODUCTS}
BYTES = (np.int8, np.uint8)


class Products(Case):
    def compare(self, network, shape, integers=True):
        model = network.model(shape)
        x = network.values.standard_normal(shape).astype(np.float32)
        found, expected = run(model, {"x": x}), in_float(model, {"x": x})
        self.assertIsInstance(found, list, found)
        self.assertEqual((found[0].shape, found[0].dtype), (expected.shape, expected.dtype))
        if expected.dtype == np.float32:
            np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=2e-6 * np.abs(expected).max())
        else:
            difference = np.abs(found[0].astype(int) - expected.astype(int))
            self.assertLessEqual(difference.max(initial=0), 1)
            self.assertLessEqual(np.count_nonzero(difference), 1 + difference.size // 100)
        self.assertEqual(call(model, "verify"), "")
        made = operators(model)
        self.assertEqual(not FLOAT_PRODUCTS & set(made), integers, made)

    def finish(self, network, y, kind):
        """An activation, and bytes again, or neither."""
        choice = network.choose.choice(("bytes", "relu", "clip", "floats"))
        if choice == "relu":
            y = network.op("Relu", y)
        elif choice == "clip":
            bounds = (network.constant(np.float32(-1.1)), network.constant(np.float32(2.3)))
            y = network.op("Clip", y, *bounds)
        if choice != "floats":
            low = -128 if kind == np.int8 else 0
            network.quantize(y, 0.037, kind(low + network.choose.choice((0, 30, 128))))

    def network(self, seed):
        network = Network(np.random.default_rng(seed), random.Random(seed))
        kind = network.choose.choice(BYTES)
        low = -128 if kind == np.int8 else 0
        zero, scale = kind(low + network.choose.randint(0, 255)), np.float32(0.0123)
        return network, kind, network.data("x", scale, zero), scale

    def test_convolutions(self):
        for seed in range(40):
            network, kind, x, scale = self.network(seed)
            choose = network.choose
            spatial, depth, filters = choose.randint(1, 3), choose.choice((1, 3, 8)), choose.choice((1, 4, 5))
            group = choose.choice((1, 1, 2, 7))
            if group == 7:
                depth = filters = 1
            w, scales = network.weights((filters * group, depth, *(choose.randint(1, 3) for _ in range(spatial))), 0,
                                        choose.choice(BYTES))
            operands = [x, w]
            if choose.random() < 0.6:
                operands.append(network.bias(filters * group, scale * scales))
            y = network.op("Conv", *operands, group=group, pads=[choose.randint(0, 2) for _ in range(2 * spatial)],
                           strides=[choose.randint(1, 2) for _ in range(spatial)])
            self.finish(network, y, kind)
            with self.subTest(seed):
                self.compare(network, (choose.randint(1, 2), depth * group, *(choose.randint(4, 9)
                                                                            for _ in range(spatial))))

    def test_transposed_convolutions(self):
        """Integers where windows meet only at their edges and bytes are wanted, and floats elsewhere, to the bit
        of the scales of filters, zero points, biases and clamps."""
        for seed in range(30):
            network, kind, x, scale = self.network(seed)
            choose = network.choose
            depth, filters, block = choose.choice((1, 3, 8)), choose.choice((1, 4, 5)), choose.randint(2, 3)
            apart = choose.random() < 0.8
            w, scales = network.weights((depth, filters, block, block), 1, choose.choice(BYTES))
            operands = [x, w]
            if choose.random() < 0.6:
                operands.append(network.bias(filters, scale * scales))
            y = network.op("ConvTranspose", *operands, strides=[block, block],
                           **({} if apart else {"pads": [0, 1, 0, 0]}))
            nodes = len(network.nodes)
            self.finish(network, y, kind)
            quantized = len(network.nodes) > nodes
            with self.subTest(seed):
                self.compare(network, (choose.randint(1, 2), depth, choose.randint(2, 9), choose.randint(2, 9)),
                             integers=apart and quantized)

    def test_matrices(self):
        for seed in range(40):
            network, kind, x, scale = self.network(seed)
            choose = network.choose
            terms, columns = choose.randint(1, 70), choose.randint(1, 40)
            gemm, turned = choose.random() < 0.5, choose.random() < 0.5
            turned = gemm and turned
            w, scales = network.weights((columns, terms) if turned else (terms, columns), 0 if turned else 1,
                                        choose.choice(BYTES))
            if gemm:
                operands = [x, w]
                if choose.random() < 0.6:
                    operands.append(network.bias(columns, scale * scales))
                y = network.op("Gemm", *operands, transB=int(turned))
            else:
                y = network.op("MatMul", x, w)
            self.finish(network, y, kind)
            shape = (choose.randint(1, 9), terms) if gemm else (choose.randint(1, 3), choose.randint(1, 9), terms)
            with self.subTest(seed):
                self.compare(network, shape)

    def test_products_of_activations(self):
        for seed in range(6):
            network, kind, x, _ = self.network(seed)
            y = network.op("MatMul", x, network.op("Transpose", x, perm=[0, 2, 1]))
            self.finish(network, y, kind)
            with self.subTest(seed):
                self.compare(network, (2, 5, 12))

    def test_what_stays_in_float(self):
        def biased(network, x, w):
            return network.op("Conv", x, w, network.constant(np.full(4, 0.1234567, np.float32)))

        def factored(network, x, w):
            return network.op("Gemm", network.op("Flatten", x), network.op("Flatten", w), alpha=0.5, transB=1)

        for build in (biased, factored):
            network, kind, x, _ = self.network(1)
            w, _ = network.weights((4, 3, 2, 2), 0, np.int8)
            network.quantize(build(network, x, w), 0.05, kind(100))
            with self.subTest(build.__name__):
                self.compare(network, (2, 3, 2, 2), integers=False)


class Chosen(Case):
    """Operators that choose elements choose bytes."""

    def expect(self, build, left):
        network = Network(np.random.default_rng(0), random.Random(0))
        scale, zero = np.float32(0.02), np.uint8(131)
        y = build(network, network.data("x", scale, zero))
        network.op("Identity", network.quantize(y, scale, zero))
        model = network.model((2, 4, 6, 6))
        x = network.values.standard_normal((2, 4, 6, 6)).astype(np.float32)
        found = run(model, {"x": x})
        self.assertIsInstance(found, list, found)
        np.testing.assert_array_equal(found[0], in_float(model, {"x": x}))
        self.assertEqual(operators(model).count("DequantizeLinear"), left)

    def test_bytes_move(self):
        def joined(network, x):
            parts = [network.op("Slice", x, *(network.constant(np.array([i])) for i in (k, k + 2, 1))) for k in (0, 2)]
            return network.op("Concat", *parts, axis=3)

        self.expect(lambda n, x: n.op("Transpose", x, perm=[0, 2, 3, 1]), 0)
        self.expect(lambda n, x: n.op("Reshape", x, n.constant(np.array([2, -1, 9]))), 0)
        self.expect(lambda n, x: n.op("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1]), 0)
        self.expect(lambda n, x: n.op("Gather", x, n.constant(np.array([3, 0, 0])), axis=1), 0)
        self.expect(joined, 0)

    def test_bytes_of_several_quantisations_become_those_of_one(self):
        for scale, zero in ((0.05, 131), (0.02, 130), (0.013, 0)):
            with self.subTest(scale, zero=zero):
                self.expect(lambda n, x: n.op("Concat", x, n.data("x", scale, np.uint8(zero)), axis=1), 0)

    def test_others_do_not(self):
        self.expect(lambda n, x: n.op("Concat", x, n.data("x", 0.05, np.int8(3)), axis=1), 2)
        self.expect(lambda n, x: n.op("Identity", n.op("Concat", x, n.data("x", 0.05, np.uint8(1)), axis=1)), 2)


class Combined(Case):
    """Sums, products and functions of codes."""

    def test_sums_and_products(self):
        for seed in range(40):
            values, choose = np.random.default_rng(seed), random.Random(seed)
            network = Network(values, choose)
            kind = choose.choice(BYTES)
            low = -128 if kind == np.int8 else 0

            def scale():
                return np.float32(values.uniform(0.01, 0.03))

            def zero():
                return kind(low + choose.randint(0, 255))

            a = network.data("x", scale(), zero())
            shape = choose.choice(((2, 3, 5, 7), (1, 3, 1, 1), (7,), ()))
            if choose.random() < 0.5:
                codes = network.constant(values.integers(low, low + 256, shape).astype(kind))
                b = network.dequantize(codes, scale(), zero())
            else:
                b = network.data(network.op("Neg", "x"), scale(), zero())
            operator = choose.choice(("Add", "Mul"))
            y = network.op(operator, *choose.sample((a, b), 2))
            if choose.random() < 0.4:
                y = network.op("Relu", y)
            network.quantize(y, scale(), zero())
            model = network.model((2, 3, 5, 7))
            x = values.standard_normal((2, 3, 5, 7)).astype(np.float32)
            with self.subTest(seed):
                found = run(model, {"x": x})
                self.assertIsInstance(found, list, found)
                np.testing.assert_array_equal(found[0], in_float(model, {"x": x}))
                made = operators(model)
                # In a formula without divisions, which gives the same code for each pair of codes.
                self.assertIn({"Add": "intarsia:AddCodes", "Mul": "intarsia:MultiplyCodes"}[operator], made)
                self.assertNotIn("DequantizeLinear", made)

    def test_functions(self):
        for kind in BYTES:
            for function, attributes in (("Sigmoid", {}), ("Tanh", {}), ("HardSwish", {}), ("Neg", {}),
                                         ("LeakyRelu", {"alpha": 0.3}), ("Elu", {"alpha": 0.7})):
                network = Network(np.random.default_rng(1), random.Random(1))
                zero = kind(-100 if kind == np.int8 else 97)
                y = network.op(function, network.data("x", 0.03, zero), **attributes)
                network.quantize(y, 0.017, kind(17))
                model = network.model((3, 400))
                x = 2 * network.values.standard_normal((3, 400)).astype(np.float32)
                with self.subTest(function, kind=kind):
                    found, expected = run(model, {"x": x}), in_float(model, {"x": x})
                    self.assertIsInstance(found, list, found)
                    difference = np.abs(found[0].astype(int) - expected.astype(int))
                    self.assertLessEqual(difference.max(), 1)  # next to a middle between two codes
                    self.assertLessEqual(np.count_nonzero(difference), difference.size // 100)
                    self.assertEqual(operators(model), ["QuantizeLinear", "intarsia:MapCodes"])

    def test_other_types_stay_numbers(self):
        network = Network(np.random.default_rng(0), random.Random(0))
        y = network.op("Add", network.data("x", 0.02, np.uint8(100)), network.data("x", 0.03, np.int8(3)))
        network.quantize(y, 0.05, np.uint8(128))
        model = network.model((2, 30))
        x = network.values.standard_normal((2, 30)).astype(np.float32)
        np.testing.assert_array_equal(run(model, {"x": x})[0], in_float(model, {"x": x}))
        self.assertEqual(operators(model).count("DequantizeLinear"), 2)


class Integers(Case):
    """Operators on integers, beside ONNX Runtime to the bit."""

    def test_linear_convolutions(self):
        for seed in range(30):
            choose, values = random.Random(seed), np.random.default_rng(seed)
            kind = choose.choice(BYTES)
            group, depth, filters = choose.choice((1, 2)), choose.randint(1, 5), choose.randint(1, 5)

            per_channel = choose.random() < 0.5
            w_kind = np.int8 if per_channel or kind == np.int8 else choose.choice(BYTES)
            channels = filters * group
            held = {"xs": np.float32(0.02), "xz": codes(values, (), kind),
                    "w": codes(values, (channels, depth, 3, 2), w_kind),
                    "ws": values.uniform(0.001, 0.02, channels if per_channel else ()).astype(np.float32),
                    "wz": np.zeros(channels, w_kind) if per_channel else codes(values, (), w_kind),
                    "ys": np.float32(0.11), "yz": codes(values, (), kind), "b": values.integers(-900, 900, channels, np.int32)}
            inputs = {"x": codes(values, (2, depth * group, 7, 8), kind)}
            node = helper.make_node("QLinearConv", ["x", *held], ["y"], group=group, pads=[1, 0, 1, 1],
                                    strides=[choose.randint(1, 2), 1])
            model = model_of(node, inputs)
            model.graph.initializer.extend(numpy_helper.from_array(np.asarray(a), n) for n, a in held.items())
            with self.subTest(seed):
                self.exactly(model, inputs, runtime(model, inputs)[0])

    def test_linear_matrices(self):
        for seed in range(30):
            choose, values = random.Random(seed), np.random.default_rng(seed)
            kind = choose.choice(BYTES)
            low = -128 if kind == np.int8 else 0
            terms, columns = choose.randint(1, 40), choose.randint(1, 20)
            per_column = kind == np.int8 and choose.random() < 0.5
            held = {"as": np.float32(0.02), "az": kind(low + 77),
                    "b": codes(values, (terms, columns), kind),
                    "bs": values.uniform(0.001, 0.02, columns if per_column else ()).astype(np.float32),
                    "bz": np.zeros(columns, kind) if per_column else kind(low + 100),
                    "ys": np.float32(0.05), "yz": kind(low + 90)}
            inputs = {"a": codes(values, (2, choose.randint(1, 6), terms), kind)}
            node = helper.make_node("QLinearMatMul", ["a", *held], ["y"])
            model = model_of(node, inputs)
            model.graph.initializer.extend(numpy_helper.from_array(np.asarray(a), n) for n, a in held.items())
            with self.subTest(seed):
                self.exactly(model, inputs, runtime(model, inputs)[0])


if __name__ == "__main__":
    unittest.main()
