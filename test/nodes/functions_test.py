# SPDX-License-Identifier: Apache-2.0
"""Operators that become others, at shapes and attributes that ONNX's cases do not have, beside NumPy,
ONNX's reference implementation and ONNX Runtime. Usage: functions_test.py TOOL"""

import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

TOOL = sys.argv.pop(1)


def model_of(node, inputs, opset=21):
    graph = helper.make_graph(
        [node], "test",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for name, x in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in node.output])
    return helper.make_model(graph, ir_version=10 if opset < 23 else 13, opset_imports=[helper.make_opsetid("", opset)])


def run(model, inputs):
    """What the tool gives; of a model that it refuses, its message."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        onnx.save(model, path / "model.onnx")
        command = [TOOL, "run", path / "model.onnx", "--output-dir", path]
        for name, x in inputs.items():
            np.save(path / f"{name}.npy", x)
            command += ["--input", f"{name}={path / name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr
        return [np.load(path / f"output_{i}.npy") for i in range(len(model.graph.output))]


def runtime(model, inputs):
    """The declared outputs of ONNX Runtime, which wants to know their types."""
    typed = onnx.shape_inference.infer_shapes(model)
    session = onnxruntime.InferenceSession(typed.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


class Functions(unittest.TestCase):
    def agree(self, found, expected, tolerance=1e-5):
        self.assertIsInstance(found, list, found)
        for a, b in zip(found, expected, strict=True):
            self.assertEqual(a.shape, b.shape)
            self.assertEqual(a.dtype, b.dtype)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)

    def test_einsum_of_random_equations(self):
        choose, values = random.Random(1), np.random.default_rng(1)
        tried = 0
        while tried < 60:
            labels = "abcdE"[:choose.randint(1, 5)]
            extents = {label: choose.randint(1, 4) for label in labels}
            terms = ["".join(choose.choices(labels, k=choose.randint(0, 4)))
                     for _ in range(choose.randint(1, 3))]
            dots = "..." if choose.random() < 0.2 else ""
            used = sorted(set("".join(terms)))
            equation = ",".join(dots + term for term in terms)
            if choose.random() < 0.85:
                equation += "->" + dots + "".join(choose.sample(used, choose.randint(0, len(used))))
            inputs = {f"x{i}": values.integers(-3, 4, [2] * bool(dots) + [extents[c] for c in term])
                               .astype(np.float32) for i, term in enumerate(terms)}
            node = helper.make_node("Einsum", list(inputs), ["y"], equation=equation)
            with self.subTest(equation, shapes=[x.shape for x in inputs.values()]):
                self.agree(run(model_of(node, inputs), inputs),
                           [np.einsum(equation, *inputs.values())])
            tried += 1

    def test_einsum_refuses_what_means_nothing(self):
        x = np.ones((2, 3), np.float32)
        for equation, message in (("ab,bc->ac", "has 2 terms, but the node 1 inputs"),
                                  ("ab->ac", "a label in its result that no term has"),
                                  ("ab->aa", "that no term has, or twice"),
                                  ("a1->a", "a character that is no letter"),
                                  ("...abc->a", "an ellipsis, and the rank of 'x' is not known")):
            node = helper.make_node("Einsum", ["x"], ["y"], equation=equation)
            self.assertIn(message, run(model_of(node, {"x": x}), {"x": x}))

    def test_attention_of_random_forms(self):
        choose, values = random.Random(4), np.random.default_rng(4)
        for number in range(120):
            batch, groups = choose.randint(1, 3), choose.choice((1, 1, 2, 3))
            theirs = choose.randint(1, 3)
            mine, queries, keys = theirs * groups, choose.randint(1, 5), choose.randint(1, 6)
            size, value_size = choose.randint(1, 8), choose.randint(1, 8)
            kind = choose.choice((np.float32, np.float32, np.float64, np.float16))
            packed = choose.random() < 0.4
            def draw(heads, length, width):
                shape = (batch, length, heads * width) if packed else (batch, heads, length, width)
                return values.standard_normal(shape).astype(kind)
            inputs = {"q": draw(mine, queries, size), "k": draw(theirs, keys, size),
                      "v": draw(theirs, keys, value_size)}
            attributes, names = {}, ["q", "k", "v", "", "", "", ""]
            past, lengths = choose.random() < 0.3, False
            total = keys + (2 if past else 0)
            if past:
                names[4:6] = ["pk", "pv"]
                inputs["pk"] = values.standard_normal((batch, theirs, 2, size)).astype(kind)
                inputs["pv"] = values.standard_normal((batch, theirs, 2, value_size)).astype(kind)
            elif choose.random() < 0.3:
                lengths, names[6] = True, "n"
                inputs["n"] = values.integers(1, keys + 1, batch)
            if choose.random() < 0.5:
                names[3] = "m"
                shape = choose.choice([(queries, total), (mine, queries, total), (1, 1, queries, total),
                                       (batch, 1, queries, total), (queries, max(1, total - 1))])
                inputs["m"] = (values.random(shape) < 0.7 if choose.random() < 0.5
                               else values.standard_normal(shape).astype(kind))
            if packed:
                attributes.update(q_num_heads=mine, kv_num_heads=theirs)
            if choose.random() < 0.5:
                attributes["is_causal"] = 1
            if choose.random() < 0.3:
                attributes["softcap"] = 2.0
            if choose.random() < 0.3:
                attributes["scale"] = 0.3
            if choose.random() < 0.3:
                attributes["softmax_precision"] = choose.choice((1, 11))
            if choose.random() < 0.3:
                attributes["left_window_size"] = choose.randint(0, 3)
            if choose.random() < 0.3:
                attributes["right_window_size"] = choose.randint(0, 3)
            # The reference implementation gives capped scores as the raw ones of mode 0.
            attributes["qk_matmul_output_mode"] = choose.randint("softcap" in attributes, 3)
            outputs = ["y", "pk1", "pv1", "s"] if not lengths else ["y", "", "", "s"]
            while names[-1] == "":
                names.pop()
            node = helper.make_node("Attention", names, outputs, **attributes)
            model = model_of(node, inputs, 25)
            del model.graph.output[:]
            model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs if name)
            with self.subTest(number, kind=kind, names=names, attributes=attributes,
                              shapes={name: x.shape for name, x in inputs.items()}):
                expected = ReferenceEvaluator(model).run(None, inputs)
                found = run(model, inputs)
                if kind == np.float16:  # the reference rounds every step
                    self.agree([x.astype(np.float32) for x in found],
                               [x.astype(np.float32) for x in expected], 2e-2)
                else:
                    self.agree(found, expected)

    def test_attention_refuses_what_means_nothing(self):
        x = np.ones((1, 2, 6), np.float32)
        four = np.ones((1, 3, 2, 4), np.float32)
        for inputs, names, attributes, message in (
                ({"q": x, "k": x, "v": x}, "q k v", {}, "need attributes q_num_heads"),
                ({"q": x, "k": four, "v": x}, "q k v", {}, "3 or 4 axes"),
                ({"q": four, "k": four, "v": four, "p": four}, "q k v _ p", {}, "belong together"),
                ({"q": four, "k": four[:, :2], "v": four[:, :2]}, "q k v", {}, "multiple of the second"),
                ({"q": x, "k": x, "v": x}, "q k v", {"q_num_heads": 4, "kv_num_heads": 4}, "Reshape")):
            node = helper.make_node("Attention", [n.replace("_", "") for n in names.split()], ["y"],
                                    **attributes)
            self.assertIn(message, run(model_of(node, inputs, 25), inputs))

    def exactly(self, model, inputs, expected):
        found = run(model, inputs)
        self.assertIsInstance(found, list, found)
        self.assertEqual(found[0].dtype, expected.dtype)
        np.testing.assert_array_equal(found[0], expected)

    def test_integer_products(self):
        """Sums that float does not hold, at every border between the ways to add them."""
        choose, values = random.Random(7), np.random.default_rng(7)
        bytes_of = {np.int8: (-128, 128), np.uint8: (0, 256)}
        def draw(kind, shape, extreme=False):
            low, high = bytes_of[kind]
            return (values.choice([low, high - 1], shape) if extreme
                    else values.integers(low, high, shape)).astype(kind)
        for left, right in (((3, 5), (5, 4)), ((5,), (5, 4)), ((3, 5), (5,)), ((2, 3, 258), (258, 4)),
                            ((1, 259), (259, 2)), ((2, 1, 3, 517), (2, 517, 2)), ((2, 1000), (1000, 3)),
                            ((1, 20000), (20000, 1)), ((2, 0), (0, 3))):
            for a_kind in bytes_of:
                for b_kind in bytes_of:
                    extreme = choose.random() < 0.5
                    a, b = draw(a_kind, left, extreme), draw(b_kind, right, extreme)
                    for zeros in ("", "a", "b", "ab", "rows"):
                        inputs, names = {"a": a, "b": b}, ["a", "b", "", ""]
                        if "a" in zeros:
                            names[2], inputs["az"] = "az", draw(a_kind, ())
                        if "b" in zeros:
                            names[3], inputs["bz"] = "bz", draw(b_kind, ())
                        if zeros == "rows":
                            if len(left) < 2 or len(right) < 2:
                                continue
                            names[2:] = ["az", "bz"]
                            inputs["az"] = draw(a_kind, left[-2:-1] if len(left) == 2 else (*left[:-1], 1))
                            inputs["bz"] = draw(b_kind, right[-1:])
                        wide = [x.astype(np.int64) for x in inputs.values()]
                        x, y = wide[:2]
                        if names[2]:
                            az = inputs["az"].astype(np.int64)
                            x = x - (az[:, None] if az.ndim == 1 else az)
                        if names[3]:
                            y = y - inputs["bz"].astype(np.int64)
                        while names[-1] == "":
                            names.pop()
                        node = helper.make_node("MatMulInteger", names, ["y"])
                        with self.subTest(left=left, right=right, zeros=zeros, kinds=(a_kind, b_kind)):
                            self.exactly(model_of(node, inputs), inputs, (x @ y).astype(np.int32))

    def test_integer_convolutions(self):
        values = np.random.default_rng(8)
        for shape, weight, attributes in (
                ((1, 2, 5, 6), (3, 2, 3, 3), {}), ((2, 4, 7), (6, 2, 3), {"group": 2}),
                ((1, 40, 6, 6), (5, 40, 3, 3), {"pads": [1, 1, 1, 1]}),
                ((1, 3, 4, 5, 4), (2, 3, 2, 2, 2), {"strides": [2, 1, 1]})):
            for kind in (np.uint8, np.int8):
                low, high = (0, 256) if kind == np.uint8 else (-128, 128)
                x = values.choice([low, high - 1, low + 7], shape).astype(kind)
                w = values.choice([low, high - 1, low + 3], weight).astype(kind)
                for zeros in ("none", "one", "each"):
                    inputs = {"x": x, "w": w}
                    if zeros != "none":
                        inputs["xz"] = np.asarray(values.integers(low, high), kind)
                        inputs["wz"] = np.asarray(
                            values.integers(low, high, weight[:1] if zeros == "each" else ()), kind)
                    wide = inputs["x"].astype(np.float64), inputs["w"].astype(np.float64)
                    if zeros != "none":
                        wz = inputs["wz"].astype(np.float64)
                        wide = (wide[0] - inputs["xz"],
                                wide[1] - wz.reshape(wz.shape + (1,) * (len(weight) - 1) * wz.ndim))
                    doubles = dict(zip("xw", wide))
                    plain = model_of(helper.make_node("Conv", ["x", "w"], ["y"], **attributes), doubles)
                    sums = ReferenceEvaluator(plain).run(None, doubles)[0]
                    node = helper.make_node("ConvInteger", list(inputs), ["y"], **attributes)
                    with self.subTest(shape, zeros=zeros, kind=kind):
                        self.exactly(model_of(node, inputs), inputs, sums.astype(np.int32))
                    if zeros == "none":
                        continue
                    scales = {"xs": np.float32(0.02), "ys": np.float32(3.1),
                              "ws": values.random(inputs["wz"].shape).astype(np.float32),
                              "yz": np.asarray(low + 100, kind),
                              "b": values.integers(-9999, 9999, weight[:1]).astype(np.int32)}
                    channels = (-1,) + (1,) * (len(shape) - 2)
                    ws = scales["ws"].reshape(channels) if scales["ws"].ndim else scales["ws"]
                    factor = (scales["xs"] * ws / scales["ys"]).astype(np.float64)
                    y = (sums + scales["b"].reshape(channels)) * factor + float(scales["yz"])
                    inputs.update({name: np.asarray(value) for name, value in scales.items()})
                    node = helper.make_node(
                        "QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"],
                        **attributes)
                    with self.subTest(shape, zeros=zeros, kind=kind, quantised=True):
                        self.exactly(model_of(node, inputs), inputs,
                                     np.clip(np.rint(y), low, high - 1).astype(kind))

    def test_grids(self):
        values = np.random.default_rng(9)
        for size in ([2, 1, 3, 4], [1, 2, 2, 3, 4], [3, 1, 1, 5]):
            theta = values.standard_normal((size[0], len(size) - 2, len(size) - 1)).astype(np.float32)
            for corners in (0, 1):
                if corners and 1 in size[2:]:
                    continue  # the reference divides by 0
                inputs = {"theta": theta, "size": np.array(size)}
                node = helper.make_node("AffineGrid", list(inputs), ["y"], align_corners=corners)
                model = model_of(node, inputs)
                with self.subTest(size, corners=corners):
                    self.agree(run(model, inputs), ReferenceEvaluator(model).run(None, inputs))

    def test_bits(self):
        values = np.random.default_rng(10)
        for types in ((np.uint8, np.int8), (np.float32, np.int32, np.uint32),
                      (np.float64, np.int64, np.uint64), (np.float16, np.int16, np.uint16)):
            for source in types:
                for target in types:
                    x = values.integers(0, 255, 24 * np.dtype(source).itemsize).astype(np.uint8)
                    inputs = {"x": x.view(source).reshape(2, 3, 4)}
                    node = helper.make_node("BitCast", ["x"], ["y"],
                                            to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))
                    found = run(model_of(node, inputs, 26), inputs)[0]
                    self.assertEqual(found.view(np.uint8).tobytes(), x.tobytes())
        node = helper.make_node("BitCast", ["x"], ["y"], to=onnx.TensorProto.INT64)
        x = {"x": np.ones(3, np.float32)}
        self.assertIn("expected 32, found 64", run(model_of(node, x, 26), x))

    def test_rotary_embeddings(self):
        values = np.random.default_rng(5)
        for shape, heads in (((2, 3, 5, 8), 0), ((2, 5, 24), 3), ((1, 1, 1, 2), 0)):
            width = shape[3] if heads == 0 else shape[2] // heads
            length = shape[2] if heads == 0 else shape[1]
            for part in (0, 2, width):
                for interleaved in (0, 1):
                    for by_position in (False, True):
                        half = (part or width) // 2
                        cache = (9, half) if by_position else (shape[0], length, half)
                        inputs = {"x": values.standard_normal(shape).astype(np.float32),
                                  "c": values.standard_normal(cache).astype(np.float32),
                                  "s": values.standard_normal(cache).astype(np.float32)}
                        if by_position:
                            inputs["p"] = values.integers(0, 9, (shape[0], length))
                        attributes = {"num_heads": heads} if heads else {}
                        node = helper.make_node("RotaryEmbedding", list(inputs), ["y"],
                                                interleaved=interleaved, rotary_embedding_dim=part,
                                                **attributes)
                        model = model_of(node, inputs, 23)
                        with self.subTest(shape, part=part, interleaved=interleaved):
                            self.agree(run(model, inputs), ReferenceEvaluator(model).run(None, inputs))

    def test_causal_convolutions(self):
        values = np.random.default_rng(6)
        for batch, channels, length, taps in ((1, 1, 1, 1), (2, 5, 7, 4), (1, 3, 1, 4), (2, 4, 9, 1)):
            for biased in (False, True):
                for past in (False, True):
                    for activation in ("none", "silu", "swish"):
                        inputs = {"x": (batch, channels, length), "w": (channels, 1, taps)}
                        names = ["x", "w", "", ""]
                        if biased:
                            names[2], inputs["b"] = "b", (channels,)
                        if past:
                            names[3], inputs["p"] = "p", (batch, channels, taps - 1)
                        inputs = {name: values.standard_normal(shape).astype(np.float32)
                                  for name, shape in inputs.items()}
                        while names[-1] == "":
                            names.pop()
                        node = helper.make_node("CausalConvWithState", names, ["y", "state"],
                                                activation=activation)
                        model = model_of(node, inputs, 27)
                        with self.subTest(channels, taps=taps, names=names, activation=activation):
                            self.agree(run(model, inputs), ReferenceEvaluator(model).run(None, inputs))

    def test_losses(self):
        values = np.random.default_rng(2)
        for kind in ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"):
            for reduction in ("none", "sum", "mean"):
                for shape in ((1, 1), (5, 4), (2, 3, 4, 1), (3, 7, 2)):
                    for weighted, ignored in ((0, None), (1, 1), (0, -1), (1, None)):
                        classes = values.integers(0, shape[1], (shape[0], *shape[2:]))
                        if ignored is not None:
                            classes[..., 0] = ignored if ignored < shape[1] else 0
                        inputs = {"x": values.random(shape, np.float32), "t": classes}
                        if weighted:
                            inputs["w"] = values.random(shape[1], np.float32) + 0.5
                        more = {} if ignored is None else {"ignore_index": ignored}
                        if reduction == "mean" and np.all(classes == ignored):
                            continue  # 0 / 0
                        node = helper.make_node(kind, list(inputs), ["y"], reduction=reduction, **more)
                        model = model_of(node, inputs)
                        with self.subTest(kind, reduction=reduction, shape=shape, more=more):
                            self.agree(run(model, inputs), runtime(model, inputs))

    def test_center_crop_pad(self):
        values = np.random.default_rng(3)
        for shape, wanted, axes in (((5, 4, 7), (4, 7, 7), None), ((1, 9), (6,), [1]),
                                    ((3, 3, 2), (8, 1), [-3, 1]), ((0, 4), (3, 3), None)):
            inputs = {"x": values.random(shape, np.float32), "s": np.array(wanted, np.int64)}
            node = helper.make_node("CenterCropPad", ["x", "s"], ["y"],
                                    **({} if axes is None else {"axes": axes}))
            model = model_of(node, inputs)
            with self.subTest(shape=shape, wanted=wanted):
                self.agree(run(model, inputs), ReferenceEvaluator(model).run(None, inputs))

    def test_dynamic_quantisation(self):
        values = np.random.default_rng(4)
        for x in (values.normal(size=(7, 5)), values.random(9) + 3, -values.random((2, 1, 3)),
                  np.zeros(4)):
            inputs = {"x": x.astype(np.float32)}
            model = model_of(helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"]), inputs)
            found, expected = run(model, inputs), runtime(model, inputs)
            self.agree(found[1:], expected[1:], 1e-6)
            # A tie may go either way where the scale's last bit does.
            self.assertLessEqual(np.abs(found[0].astype(int) - expected[0].astype(int)).max(), 1)
            self.assertLessEqual(np.count_nonzero(found[0] != expected[0]), 1)

    def test_windows(self):
        for kind in ("HannWindow", "HammingWindow", "BlackmanWindow"):
            for size in (1, 2, 9, 256):
                for periodic in (0, 1):
                    if size - (1 - periodic) == 0:
                        continue  # 0 / 0
                    inputs = {"n": np.array(size, np.int32)}
                    node = helper.make_node(kind, ["n"], ["y"], periodic=periodic)
                    model = model_of(node, inputs)
                    with self.subTest(kind, size=size, periodic=periodic):
                        self.agree(run(model, inputs), ReferenceEvaluator(model).run(None, inputs), 1e-5)


if __name__ == "__main__":
    unittest.main()
