# SPDX-License-Identifier: Apache-2.0
"""Quantised operators of ONNX Runtime's domain. Usage: contrib_quantized_test.py TOOL

Bytes are compared to the bit where ONNX Runtime computes with integers, or in float in an order that does not
depend on the machine; elsewhere one code in a hundred may be the next one, where a sum in float lies in the middle
between two."""

import itertools
import unittest

import numpy as np
from contrib import ContribCase, contrib_model, in_runtime
from one_node import codes, run
from onnx import TensorProto, helper

BYTES = (np.uint8, np.int8)
KIND = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}


def number(values, low=0.01, high=0.1):
    return np.float32(values.uniform(low, high))


class Quantized(ContribCase):
    def bytes_beside(self, operator, inputs, kind, constants=(), within=0, **attributes):
        """Beside ONNX Runtime; `within` of all codes may be the next one."""
        def model(given):
            others = {name: x for name, x in attributes.items() if name != "opset"}
            made = contrib_model(operator, given, (KIND[kind],), constants=constants, **others)
            if "opset" in attributes:
                made.graph.node[0].attribute.append(helper.make_attribute("opset", attributes["opset"]))
            return made
        def fed(given):
            return {name: x for name, x in given.items() if x is not None and name not in constants}
        # Not everywhere does ONNX Runtime take vectors of one element, nor let zero points be absent, as its
        # specification does.
        whole = {name: kind(0) if x is None else x.reshape(()) if name[1:] in ("_scale", "_zero") else x
                 for name, x in inputs.items()}
        shapes = {name: x.shape for name, x in inputs.items() if x is not None}
        with self.subTest(operator, kind=kind, shapes=shapes, constants=constants, **attributes):
            found, expected = run(model(inputs), fed(inputs)), in_runtime(model(whole), fed(whole))[0]
            self.assertIsInstance(found, list, found)
            self.assertEqual((found[0].dtype, found[0].shape), (expected.dtype, expected.shape))
            difference = np.abs(found[0].astype(int) - expected.astype(int))
            count = np.count_nonzero(difference)
            self.assertLessEqual(difference.max(initial=0), 1 if within else 0)
            self.assertLessEqual(count, difference.size * within, f"{count} of {difference.size}")

    def near(self, operator, inputs, kind, **options):
        self.bytes_beside(operator, inputs, kind, within=0.01, **options)


PARAMETERS = [  # what is constant, and which zero points are absent
    (True, False), (False, False), (True, True)]


def scaled(values, kind, names, absent):
    """A scale and a zero point of each name: scalars of the first one, vectors of the others."""
    result = {}
    for name in names:
        shape = () if name == names[0] else (1,)
        result[f"{name}_scale"] = np.full(shape, number(values))
        result[f"{name}_zero"] = None if absent else np.asarray(codes(values, shape, kind))
    return result


class ElementWise(Quantized):
    def binary(self, operator, check):
        values = np.random.default_rng(1)
        shapes = [((3, 4, 5), (3, 4, 5)), ((2, 3, 4), (3, 1)), ((5,), (2, 1, 5)), ((7, 9), ()), ((), ()),
                  ((0, 3), (3,)), ((64, 33), (64, 33))]
        for (a, b), kind, (constant, absent) in itertools.product(shapes, BYTES, PARAMETERS):
            p = scaled(values, kind, "ABC", absent)
            inputs = {"A": codes(values, a, kind), "A_scale": p["A_scale"], "A_zero": p["A_zero"],
                      "B": codes(values, b, kind), "B_scale": p["B_scale"], "B_zero": p["B_zero"],
                      "C_scale": p["C_scale"] / np.float32(1 if operator == "QLinearAdd" else 2),
                      "C_zero": p["C_zero"]}
            check(operator, inputs, kind, constants=[n for n in p if p[n] is not None] if constant else ())

    def test_add(self):
        self.binary("QLinearAdd", self.near)

    def test_multiply(self):
        self.binary("QLinearMul", self.bytes_beside)

    def test_sums_in_the_middle(self):
        """Scales of which half of the sums lie between two codes; ties go to even codes."""
        values = np.random.default_rng(2)
        for kind, zero in itertools.product(BYTES, (3, 4)):
            inputs = {"A": codes(values, (40, 50), kind), "A_scale": np.float32(0.25), "A_zero": kind(7),
                      "B": codes(values, (40, 50), kind), "B_scale": np.float32(0.25), "B_zero": kind(9),
                      "C_scale": np.float32(0.5), "C_zero": kind(zero)}
            self.bytes_beside("QLinearAdd", inputs, kind)

    def test_functions(self):
        values = np.random.default_rng(3)
        cases = [("QLinearSigmoid", {}), ("QLinearLeakyRelu", {}), ("QLinearLeakyRelu", {"alpha": 0.3})]
        for (operator, attributes), kind, (constant, absent), shape in itertools.product(
                cases, BYTES, PARAMETERS, ((256,), (2, 3, 5), (), (0, 2))):
            x = np.arange(256).astype(kind) if shape == (256,) else codes(values, shape, kind)
            p = scaled(values, kind, "XY", absent)
            if operator == "QLinearSigmoid":
                p["Y_scale"] = np.float32(1 / 256)
            inputs = {"X": x, **p}
            self.bytes_beside(operator, inputs, kind, constants=[n for n in p if p[n] is not None] if constant else (),
                              **attributes)

    def test_where(self):
        values = np.random.default_rng(4)
        shapes = [((2, 3), (2, 3), (2, 3)), ((3, 1), (2, 1, 4), (4,)), ((1,), (5,), (5,))]
        for (c, x, y), kind, constant in itertools.product(shapes, BYTES, (True, False)):
            p = scaled(values, kind, "xyz", False)
            inputs = {"condition": values.random(c) < 0.5, "X": codes(values, x, kind),
                      "x_scale": p["x_scale"], "x_zero": p["x_zero"], "Y": codes(values, y, kind),
                      "y_scale": p["y_scale"], "y_zero": p["y_zero"], "z_scale": p["z_scale"], "z_zero": p["z_zero"]}
            self.bytes_beside("QLinearWhere", inputs, kind, constants=list(p) if constant else ())

    def test_concat(self):
        values = np.random.default_rng(5)
        for kind, axis, parts, same in itertools.product(BYTES, (0, 1, -1), (1, 3), (True, False)):
            p = scaled(values, kind, "Y", False)
            inputs = {"Y_scale": p["Y_scale"], "Y_zero": p["Y_zero"]}
            for i in range(parts):
                extents = [2, 3, 4]
                extents[axis] = i + 1
                of = p if same and i == 1 else scaled(values, kind, "Y", False)
                inputs |= {f"x{i}": codes(values, extents, kind), f"s{i}": of["Y_scale"], f"z{i}": of["Y_zero"]}
            constants = [n for n in inputs if n[0] != "x"]
            self.bytes_beside("QLinearConcat", inputs, kind, constants=constants, axis=axis)
            self.bytes_beside("QLinearConcat", inputs, kind, axis=axis)

    def test_softmax(self):
        values = np.random.default_rng(6)
        for kind, (constant, absent), axis, opset in itertools.product(BYTES, PARAMETERS, (None, 0, 1, -1), (11, 13)):
            p = scaled(values, kind, "X", absent)
            # Less than 1 for most codes; where codes run over, ONNX Runtime's wrap around.
            p |= {"Y_scale": np.float32(1 / 255), "Y_zero": kind(np.iinfo(kind).min)}
            inputs = {"X": codes(values, (3, 4, 5), kind), **p}
            self.near("QLinearSoftmax", inputs, kind, opset=opset, **({} if axis is None else {"axis": axis}),
                      constants=[n for n in p if p[n] is not None] if constant else ())

    def test_softmax_saturates(self):
        x = np.array([[-128, -128, 127]], np.int8)
        inputs = {"X": x, "X_scale": np.float32(1), "X_zero": np.int8(0), "Y_scale": np.float32(1 / 256),
                  "Y_zero": np.int8(-128)}
        model = contrib_model("QLinearSoftmax", inputs, (TensorProto.INT8,), axis=-1)
        model.graph.node[0].attribute.append(helper.make_attribute("opset", 13))
        np.testing.assert_array_equal(run(model, inputs)[0], [[-128, -128, 127]])


class Linear(Quantized):
    def test_quantize(self):
        values = np.random.default_rng(7)
        for kind, real in itertools.product((np.uint8, np.int8, np.uint16, np.int16), (np.float32, np.float16)):
            x = (values.standard_normal((2, 3, 4)) * 20).astype(real)
            quantized = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
            for scale, zero, attributes in (((), (), {}), ((3,), (3,), {}), ((4,), (4,), {"axis": -1}),
                                            ((2,), (2,), {"axis": 0})):
                s, z = values.uniform(0.05, 0.4, scale).astype(real), codes(values, zero, kind)
                for constants in ((), ("s", "z")):
                    self.beside("QuantizeLinear", {"x": x, "s": s, "z": z}, (quantized,), exact=True,
                                constants=constants, **attributes)
                    y = codes(values, (2, 3, 4), kind)
                    self.beside("DequantizeLinear", {"x": y, "s": s, "z": z},
                                (helper.np_dtype_to_tensor_dtype(np.dtype(real)),), exact=True,
                                constants=constants, **attributes)
        x = (values.standard_normal((2, 3)) * 20).astype(np.float32)
        self.beside("QuantizeLinear", {"x": x, "s": np.array(0.2, np.float32), "z": None}, (TensorProto.UINT8,), exact=True)
        for kind in (np.uint8, np.int16, np.int32):
            self.beside("DequantizeLinear", {"x": codes(values, (2, 3), kind), "s": np.array(0.2, np.float32), "z": None},
                        exact=True)


class Means(Quantized):
    def test_average_pool(self):
        values = np.random.default_rng(8)
        cases = [((2, 3, 9), {"kernel_shape": [3]}), ((2, 3, 9), {"kernel_shape": [2], "strides": [2]}),
                 ((1, 4, 7, 8), {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 1]}),
                 ((1, 4, 7, 8), {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
                 ((1, 2, 7, 8), {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
                 ((1, 2, 7, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
                 ((1, 2, 4, 5, 6), {"kernel_shape": [2, 3, 2]})]
        for (shape, attributes), kind, (constant, absent), last in itertools.product(
                cases, BYTES, PARAMETERS, (None, 0, 1)):
            p = scaled(values, kind, "XY", absent)
            x = codes(values, shape, kind)
            inputs = {"X": np.moveaxis(x, 1, -1).copy() if last else x, **p}
            order = {} if last is None else {"channels_last": last}
            self.near("QLinearAveragePool", inputs, kind, **order,
                      constants=[n for n in p if p[n] is not None] if constant else (), **attributes)

    def test_global_average_pool(self):
        values = np.random.default_rng(9)
        for shape, kind, constant, last in itertools.product(
                ((2, 3, 7), (2, 16, 5, 6), (1, 33, 3, 2, 4)), BYTES, (True, False), (None, 0, 1)):
            p = scaled(values, kind, "XY", False)
            x = codes(values, shape, kind)
            inputs = {"X": np.moveaxis(x, 1, -1).copy() if last else x, **p}
            order = {} if last is None else {"channels_last": last}
            self.bytes_beside("QLinearGlobalAveragePool", inputs, kind, **order,
                              constants=list(p) if constant else ())

    def test_reduce_mean(self):
        """ONNX Runtime has no kernel; the mean of what the codes stand for."""
        values = np.random.default_rng(10)
        for kind, axes, keep, absent in itertools.product(BYTES, ([1], [0, -1], [0, 1, 2]), (0, 1), (False, True)):
            p = scaled(values, kind, "XY", absent)
            inputs = {"X": codes(values, (3, 4, 5), kind), **p}
            model = contrib_model("QLinearReduceMean", inputs, (KIND[kind],), axes=axes, keepdims=keep)
            zero = {name: 0 if p[f"{name}_zero"] is None else p[f"{name}_zero"].item() for name in "XY"}
            mean = ((inputs["X"].astype(np.float64) - zero["X"]) * p["X_scale"]).mean(tuple(axes), keepdims=bool(keep))
            info = np.iinfo(kind)
            expected = np.clip(np.rint(mean / p["Y_scale"].item()) + zero["Y"], info.min, info.max).astype(kind)
            with self.subTest(kind=kind, axes=axes, keepdims=keep, absent=absent):
                found = run(model, {name: x for name, x in inputs.items() if x is not None})
                self.assertIsInstance(found, list, found)
                np.testing.assert_array_equal(found[0], expected)


class Products(Quantized):
    def test_gemm(self):
        values = np.random.default_rng(11)
        for a_kind, b_kind, turn_a, turn_b, columns, constant in itertools.product(
                BYTES, BYTES, (0, 1), (0, 1), (False, True), (False, True)):
            if a_kind == np.int8 and b_kind == np.uint8:
                continue  # no kernel of ONNX Runtime's
            m, k, n = 5, 19, 7
            scale = (n,) if columns else ()
            inputs = {"A": codes(values, (k, m) if turn_a else (m, k), a_kind), "as": number(values),
                      "az": codes(values, (), a_kind), "B": codes(values, (n, k) if turn_b else (k, n), b_kind),
                      "bs": np.asarray(values.uniform(0.01, 0.1, scale), np.float32),
                      "bz": codes(values, scale, b_kind), "C": None, "ys": None, "yz": None}
            held = [name for name in ("as", "az", "B", "bs", "bz", "C", "ys", "yz")]
            for c in (None, (), (n,), (1, n), (m, 1), (m, n)):
                inputs["C"] = None if c is None else values.integers(-3000, 3000, c).astype(np.int32)
                options = {"transA": turn_a, "transB": turn_b}
                if c == (n,):
                    options["alpha"] = 0.7
                for y in (False, True):
                    inputs["ys"] = np.float32(0.9) if y else None
                    inputs["yz"] = codes(values, (), a_kind) if y else None
                    given = [name for name in held if inputs[name] is not None] if constant else []
                    self.beside("QGemm", {name: x if x is None else np.asarray(x) for name, x in inputs.items()},
                                (KIND[a_kind] if y else TensorProto.FLOAT,), exact=y, constants=given, **options)

    def test_integers_to_float(self):
        values = np.random.default_rng(12)
        shapes = [((4, 9), (9, 6)), ((2, 3, 9), (9, 6)), ((2, 3, 9), (2, 9, 6))]
        for (a, b), b_kind, columns, zeros, bias, constant in itertools.product(
                shapes, BYTES, (False, True), (False, True), (False, True), (False, True)):
            scale = (6,) if columns and len(b) == 2 else ()
            dynamic = {"A": values.standard_normal(a).astype(np.float32), "B": codes(values, b, b_kind),
                       "bs": np.asarray(values.uniform(0.01, 0.1, scale), np.float32),
                       "bz": codes(values, scale, b_kind) if zeros else None,
                       "bias": values.standard_normal(6).astype(np.float32) if bias else None}
            fixed = {"A": codes(values, a, np.uint8), "B": dynamic["B"], "as": np.array(0.03, np.float32),
                     "bs": dynamic["bs"], "az": codes(values, (), np.uint8) if zeros else None, "bz": dynamic["bz"],
                     "bias": dynamic["bias"]}
            fixed["az"] = None if fixed["az"] is None else np.asarray(fixed["az"])
            held = [name for name in fixed if name != "A" and fixed[name] is not None] if constant else []
            self.beside("MatMulIntegerToFloat", fixed, constants=held, tolerance=1e-4)
            self.beside("DynamicQuantizeMatMul", dynamic, tolerance=1e-4,
                        constants=[name for name in held if name in dynamic])

    def test_dynamic_ranges(self):
        values = np.random.default_rng(13)
        for a in (np.zeros((2, 3)), np.full((2, 3), -2.5), np.full((2, 3), 4.0), values.random((2, 3)) + 1):
            inputs = {"A": a.astype(np.float32), "B": codes(values, (3, 4), np.int8), "bs": np.array(0.1, np.float32)}
            self.beside("DynamicQuantizeMatMul", inputs)

    def test_convolution(self):
        values = np.random.default_rng(14)
        for kind, last, group, bias in itertools.product(BYTES, (0, 1), (1, 2), (False, True)):
            x = codes(values, (2, 4, 7, 8), kind)
            inputs = {"x": np.moveaxis(x, 1, -1).copy() if last else x, "xs": np.array(0.02, np.float32),
                      "xz": np.asarray(codes(values, (), kind)), "w": codes(values, (6, 4 // group, 3, 2), np.int8),
                      "ws": values.uniform(0.001, 0.02, 6).astype(np.float32), "wz": np.zeros(6, np.int8),
                      "ys": np.array(0.11, np.float32), "yz": np.asarray(codes(values, (), kind)),
                      "b": values.integers(-900, 900, 6).astype(np.int32) if bias else None}
            held = [name for name in inputs if name != "x" and inputs[name] is not None]
            self.beside("QLinearConv", inputs, (KIND[kind],), exact=True, constants=held, channels_last=last,
                        group=group, pads=[1, 0, 1, 1], strides=[2, 1])


class Layers(Quantized):
    def test_lstm(self):
        """Weights are codes, and the input and the hidden states become some."""
        values = np.random.default_rng(21)
        time, batch, size, hidden = 5, 3, 6, 4
        absent = ("B", "lengths", "h", "c", "P")
        cases = [(), absent, ("B",), ("h", "c"), ("lengths", "P"), ("B", "lengths", "P")]
        for direction, kind, gates, left_out in itertools.product(
                ("forward", "reverse", "bidirectional"), BYTES, (False, True), cases):
            directions = 2 if direction == "bidirectional" else 1
            scale = (directions, 4 * hidden) if gates else (directions,)
            zeros = np.zeros(scale, kind) if kind == np.int8 else np.full(scale, 120, kind)
            real = lambda *shape: values.uniform(-1, 1, shape).astype(np.float32)
            inputs = {"X": real(time, batch, size), "W": codes(values, (directions, size, 4 * hidden), kind),
                      "R": codes(values, (directions, hidden, 4 * hidden), kind),
                      "B": real(directions, 8 * hidden), "lengths": np.array([5, 2, 4], np.int32),
                      "h": real(directions, batch, hidden), "c": real(directions, batch, hidden),
                      "P": real(directions, 3 * hidden),
                      "ws": values.uniform(0.002, 0.006, scale).astype(np.float32), "wz": zeros,
                      "rs": values.uniform(0.002, 0.006, scale).astype(np.float32), "rz": zeros}
            inputs = {name: None if name in left_out else x for name, x in inputs.items()}
            options = {"hidden_size": hidden, "direction": direction}
            if left_out == ("B",):
                options |= {"clip": 0.6, "input_forget": 1}
            held = ("W", "R", "ws", "wz", "rs", "rz")
            for constants in (held, ()):
                self.beside("DynamicQuantizeLSTM", inputs, (TensorProto.FLOAT,) * 3, tolerance=1e-5,
                            constants=constants, **options)

    def test_lstm_outputs(self):
        values = np.random.default_rng(22)
        inputs = {"X": values.standard_normal((5, 3, 6)).astype(np.float32), "W": codes(values, (1, 6, 16), np.int8),
                  "R": codes(values, (1, 4, 16), np.int8), "B": None, "lengths": None, "h": None, "c": None, "P": None,
                  "ws": np.array([0.004], np.float32), "wz": np.array([0], np.int8),
                  "rs": np.array([0.004], np.float32), "rz": np.array([0], np.int8)}
        for wanted in itertools.product((False, True), repeat=3):
            if any(wanted):
                self.beside("DynamicQuantizeLSTM", inputs, [TensorProto.FLOAT if w else None for w in wanted],
                            tolerance=1e-5, hidden_size=4)

    def test_attention(self):
        values = np.random.default_rng(25)
        batch, length, size, heads, before = 2, 4, 8, 2, 3
        masks = {None: None, "lengths": np.array([3, 4], np.int32), "keys": np.array([[1, 1, 0, 1], [1, 0, 1, 1]], np.int32)}
        for kind, columns, mask, past, constant, attributes in itertools.product(
                BYTES, (False, True), masks, (False, True), (False, True), ({}, {"unidirectional": 1}, {"scale": 0.3})):
            scale = (3 * size,) if columns else ()
            inputs = {"input": codes(values, (batch, length, size), np.uint8),
                      "weight": codes(values, (size, 3 * size), kind),
                      "bias": values.standard_normal(3 * size).astype(np.float32), "is": np.array(0.02, np.float32),
                      "ws": np.asarray(values.uniform(0.002, 0.01, scale), np.float32), "mask": masks[mask],
                      "iz": np.array(120, np.uint8) if columns else None,
                      "wz": np.asarray(codes(values, scale, kind)) if past else None,
                      "past": values.standard_normal((2, batch, heads, before, size // heads)).astype(np.float32)
                      if past else None}
            if past and mask:
                inputs["mask"] = (masks[mask] + before if mask == "lengths" else
                                  np.concatenate([np.ones((batch, before), np.int32), masks[mask]], 1))
            held = [name for name in ("weight", "bias", "is", "ws", "iz", "wz") if inputs[name] is not None]
            # ONNX Runtime wants the second output where there is a past.
            self.beside("QAttention", inputs, (TensorProto.FLOAT,) * (2 if past or constant else 1), tolerance=1e-4,
                        constants=held if constant else (), num_heads=heads, **attributes)

    def test_embedding(self):
        values = np.random.default_rng(23)
        for kind, segments, mask, constant, attributes in itertools.product(
                BYTES, (False, True), (False, True), (False, True), ({}, {"epsilon": 0.5}, None)):
            # The embeddings become small where the default is to show.
            size, attributes = (1, attributes) if attributes is not None else (np.float32(1e-8), {})
            def table(*shape):
                return codes(values, shape, kind)
            inputs = {"ids": values.integers(0, 9, (2, 5)).astype(np.int32),
                      "segments": values.integers(0, 2, (2, 5)).astype(np.int32) if segments else None,
                      "word": table(9, 8), "position": table(6, 8), "segment": table(2, 8) if segments else None,
                      "gamma": table(8), "beta": table(8),
                      "mask": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32) if mask else None}
            for name in ("word", "position", "segment", "gamma", "beta"):
                scale = number(values) * (1 if name in ("gamma", "beta") else size)
                inputs[f"{name}_scale"] = None if inputs[name] is None else np.asarray(scale)
            for name in ("word", "position", "segment", "gamma", "beta"):
                inputs[f"{name}_zero"] = None if inputs[name] is None else np.asarray(codes(values, (), kind))
            held = [name for name in inputs if name not in ("ids", "segments", "mask") and inputs[name] is not None]
            self.beside("QEmbedLayerNormalization", inputs, (TensorProto.FLOAT, TensorProto.INT32), tolerance=1e-4,
                        constants=held if constant else (), **attributes)


class Models(Quantized):
    def refused(self, operator, inputs, outputs, *words, **attributes):
        message = run(contrib_model(operator, inputs, outputs, **attributes),
                      {name: x for name, x in inputs.items() if x is not None})
        with self.subTest(operator, **attributes):
            self.assertIsInstance(message, str)
            for word in (operator, *words):
                self.assertIn(word, message)

    def test_refused_attributes(self):
        weights = {"A": np.zeros((2, 32), np.float32), "B": np.zeros((3, 1, 16), np.uint8),
                   "scales": np.ones((3, 1), np.float32)}
        sizes = {"K": 32, "N": 3, "block_size": 32}
        real, byte = (TensorProto.FLOAT,), (TensorProto.UINT8,)
        self.refused("MatMulNBits", weights, real, "bits", **sizes, bits=3)
        self.refused("MatMulNBits", weights, real, "weight_prepacked", **sizes, weight_prepacked=1)
        self.refused("MatMulNBits", weights, real, "accuracy_level", **sizes, accuracy_level=5)
        self.refused("MatMulNBits", weights, real, "block_size", K=32, N=3, block_size=24)
        self.refused("MatMulNBits", weights, real, '"N"', K=32, block_size=32)
        data = {"data": np.zeros((3, 16), np.uint8), "indices": np.zeros(2, np.int64),
                "scales": np.ones((3, 1), np.float32)}
        self.refused("GatherBlockQuantized", data, real, "bits", bits=5)
        self.refused("GatherBlockQuantized", data, real, "block_size", block_size=0)
        self.refused("GatherBlockQuantized", data, real, "gather_axis", block_size=32, gather_axis=2)
        self.refused("GatherBlockQuantized", data, real, "quantize_axis", block_size=32, quantize_axis=0)
        one = {"X": np.zeros((2, 3), np.uint8), "xs": np.array(1, np.float32), "xz": np.array(0, np.uint8),
               "ys": np.array(1, np.float32), "yz": np.array(0, np.uint8)}
        self.refused("QLinearSoftmax", one, byte, "opset")
        self.refused("QLinearReduceMean", one, byte, "axes", keepdims=1)
        self.refused("QLinearConcat", {"ys": one["ys"], "yz": one["yz"], "x": one["X"], "xs": one["xs"],
                                       "xz": one["xz"]}, byte, "axis")
        self.refused("QLinearConcat", {"ys": one["ys"], "yz": one["yz"], "x": one["X"], "xs": one["xs"]}, byte,
                     "has 4 inputs", "'X', 'X_scale', 'X_zero_point' of each part", axis=0)
        self.refused("QLinearConcat", {"ys": one["ys"], "yz": one["yz"], "x": one["X"], "xs": one["xz"],
                                       "xz": one["xz"]}, byte, "X_scale", "type uint8", axis=0)
        self.refused("QLinearSigmoid", one, byte, "alpha", alpha=0.5)
        self.refused("QLinearSigmoid", one | {"xs": np.ones(3, np.float32)}, byte, "input 1", "vector of 3")

    def test_symbolic_extents(self):
        """What is known only of the extents' names decides nothing."""
        values = np.random.default_rng(24)
        byte = np.uint8
        def scalars(names):
            return {name: x.reshape(()) for name, x in scaled(values, byte, names, False).items()}
        p = scalars("ABC")
        two = {"A": codes(values, (2, 3, 4), byte), "A_scale": p["A_scale"], "A_zero": p["A_zero"],
               "B": codes(values, (4,), byte), "B_scale": p["B_scale"], "B_zero": p["B_zero"],
               "C_scale": p["C_scale"], "C_zero": p["C_zero"]}
        one = {"X": codes(values, (2, 3, 4, 5), byte), **scalars("XY")}
        weights = self.open_weights(values)
        lstm = {"X": values.standard_normal((5, 3, 6)).astype(np.float32), "W": codes(values, (1, 6, 16), np.int8),
                "R": codes(values, (1, 4, 16), np.int8), "B": None, "lengths": None,
                "h": values.standard_normal((1, 3, 4)).astype(np.float32), "c": None, "P": None,
                "ws": np.array([0.004], np.float32), "wz": np.array([0], np.int8),
                "rs": np.array([0.004], np.float32), "rz": np.array([0], np.int8)}
        cases = [("QLinearAdd", two, byte, ("A", "B"), {}), ("QLinearMul", two, byte, ("A", "B"), {}),
                 ("QLinearGlobalAveragePool", one, byte, ("X",), {}),
                 ("QLinearAveragePool", one, byte, ("X",), {"kernel_shape": [2, 2]}),
                 ("QLinearGlobalAveragePool", one, byte, ("X",), {"channels_last": 1}),
                 ("MatMulNBits", weights, None, ("A",), {"K": 64, "N": 5, "block_size": 32, "bits": 4}),
                 ("DynamicQuantizeLSTM", lstm, None, ("X", "h"), {"hidden_size": 4})]
        for operator, inputs, kind, opened, attributes in cases:
            held = [name for name, x in inputs.items() if x is not None and name not in opened]
            model = contrib_model(operator, {name: x if x is None else np.asarray(x) for name, x in inputs.items()},
                                  (KIND[kind] if kind else TensorProto.FLOAT,), constants=held, **attributes)
            for value in model.graph.input:
                for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                    if operator.startswith("QLinear") or axis < value.type.tensor_type.shape.dim.__len__() - 1:
                        dim.dim_param = f"{value.name}_{axis}" if operator != "DynamicQuantizeLSTM" else f"d{dim.dim_value}"
            fed = {name: inputs[name] for name in opened}
            with self.subTest(operator, **attributes):
                found, expected = run(model, fed), in_runtime(model, fed)
                self.assertIsInstance(found, list, found)
                np.testing.assert_allclose(found[0].astype(float), expected[0].astype(float), rtol=1e-4,
                                           atol=1e-4)

    def open_weights(self, values):
        return {"A": values.standard_normal((2, 3, 64)).astype(np.float32),
                "B": values.integers(0, 256, (5, 2, 16)).astype(np.uint8),
                "scales": values.uniform(0.01, 0.1, (5, 2)).astype(np.float32)}


if __name__ == "__main__":
    unittest.main()
