# SPDX-License-Identifier: Apache-2.0
"""Operators that become others once types and ranks are known, and kernels without a test of their
own in C++, at shapes and attributes that ONNX's cases do not
have, beside NumPy, ONNX's reference implementation and ONNX Runtime. Usage: expansions_test.py TOOL"""

import pathlib
import random
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from one_node import TOOL, Case, call, model_of, run
from onnx import helper
from onnx.reference import ReferenceEvaluator


class Expansions(Case):
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

    def test_samples_between_elements(self):
        values = np.random.default_rng(11)
        for shape, points in (((2, 3, 5, 4), (3, 2)), ((1, 17, 2, 3, 4), (2, 1, 3)), ((1, 1, 6), (5,)),
                              ((1, 2, 1, 1), (2, 2)), ((1, 2, 3, 3), (0, 2))):
            for mode in ("linear", "nearest", "cubic"):
                for padding in ("zeros", "border", "reflection"):
                    for corners in (0, 1):
                        if corners and 1 in shape[2:] and padding == "reflection":
                            continue  # the reference divides by 0
                        x = values.standard_normal(shape).astype(np.float32)
                        grid = values.uniform(-1.7, 1.7, (shape[0], *points, len(shape) - 2))
                        inputs = {"x": x, "g": grid.astype(np.float32)}
                        node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode,
                                                padding_mode=padding, align_corners=corners)
                        model = model_of(node, inputs, 22)
                        with self.subTest(shape, mode=mode, padding=padding, corners=corners):
                            expected = np.zeros((*shape[:2], *points), np.float32)
                            if expected.size > 0:  # the reference fails on nothing
                                expected = ReferenceEvaluator(model).run(None, inputs)[0]
                            self.agree(run(model, inputs), [expected], 1e-4)

    def test_samples_at_no_places(self):
        x = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)
        grid = np.full((1, 1, 5, 2), np.nan, np.float32)
        grid[0, 0, 1:, 0] = [np.inf, -np.inf, 1e30, -1e30]
        for mode in ("linear", "nearest", "cubic"):
            for padding in ("zeros", "border", "reflection"):
                node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding)
                inputs = {"x": x, "g": grid}
                found = run(model_of(node, inputs, 22), inputs)[0]
                self.assertTrue(np.isfinite(found).all())
                if padding == "zeros":
                    self.assertFalse(found.any())

    def test_linear_attention(self):
        choose, values = random.Random(12), np.random.default_rng(12)
        for number in range(60):
            rule = choose.choice(("linear", "gated", "delta", "gated_delta"))
            batch, steps, heads, group = (choose.randint(1, 3) for _ in range(4))
            key, value = choose.randint(1, 5), choose.randint(1, 5)
            shapes = {"q": (batch, steps, heads * group * key), "k": (batch, steps, heads * key),
                      "v": (batch, steps, heads * value)}
            names = ["q", "k", "v", "", "", ""]
            if choose.random() < 0.5:
                names[3], shapes["s"] = "s", (batch, heads, key, value)
            if "gated" in rule:
                names[4] = "d"
                shapes["d"] = (batch, steps, heads * choose.choice((1, key)))
            if "delta" in rule:
                names[5], shapes["b"] = "b", (batch, steps, choose.choice((1, heads)))
            inputs = {name: (values.standard_normal(shape) * 0.5).astype(np.float32)
                      for name, shape in shapes.items()}
            if "d" in inputs:
                inputs["d"] = -np.abs(inputs["d"])
            while names[-1] == "":
                names.pop()
            attributes = {"scale": 0.7} if choose.random() < 0.4 else {}
            node = helper.make_node("LinearAttention", names, ["y", "state"], update_rule=rule,
                                    q_num_heads=heads * group, kv_num_heads=heads, **attributes)
            model = model_of(node, inputs, 27)
            with self.subTest(number, rule=rule, shapes=shapes):
                self.agree(run(model, inputs), ReferenceEvaluator(model).run(None, inputs))

    def test_caches(self):
        values = np.random.default_rng(13)
        for shape, axis in (((2, 3, 6, 4), -2), ((3, 5), 1), ((2, 4, 3), 1), ((2, 3, 5), -1)):
            for mode in ("linear", "circular"):
                for placed in (False, True):
                    update = list(shape)
                    update[axis] = 2
                    inputs = {"c": values.standard_normal(shape).astype(np.float32),
                              "u": values.standard_normal(update).astype(np.float32)}
                    if placed:
                        last = shape[axis] - (2 if mode == "linear" else 1)
                        inputs["w"] = values.integers(0, last + 1, shape[0])
                    node = helper.make_node("TensorScatter", list(inputs), ["y"], mode=mode, axis=axis)
                    model = model_of(node, inputs, 24)
                    with self.subTest(shape, axis=axis, mode=mode, placed=placed):
                        self.agree(run(model, inputs), ReferenceEvaluator(model).run(None, inputs))

    def test_fourier_transforms_of_all_kinds_of_length(self):
        values = np.random.default_rng(14)
        # Short; products of small and of large factors; primes, the last by way of a chirp.
        for length in (1, 2, 3, 7, 16, 255, 257, 300, 512, 514, 1021, 1024, 2000, 1031, 4099):
            for kind in (np.float64, np.float32):
                x = values.standard_normal((2, length, 2)).astype(kind)
                wide = x.astype(np.float64)
                z = wide[..., 0] + 1j * wide[..., 1]
                tolerance = length ** 0.5 * (1e-10 if kind == np.float64 else 2e-5)
                def parts(y):
                    return np.stack([y.real, y.imag], -1).astype(kind)
                for inputs, attributes, expected in (
                        (x, {}, parts(np.fft.fft(z))), (x, {"inverse": 1}, parts(np.fft.ifft(z))),
                        (x[..., :1], {}, parts(np.fft.fft(wide[..., 0]))),
                        (x[..., :1], {"onesided": 1}, parts(np.fft.rfft(wide[..., 0])))):
                    node = helper.make_node("DFT", ["x"], ["y"], **attributes)
                    with self.subTest(length, kind=kind, attributes=attributes):
                        self.agree(run(model_of(node, {"x": inputs}), {"x": inputs}), [expected], tolerance)
                if length == 1:
                    continue
                for whole in (2 * length - 2, 2 * length - 1):
                    inputs = {"x": x, "n": np.array(whole)}
                    node = helper.make_node("DFT", ["x", "n"], ["y"], inverse=1, onesided=1)
                    model = model_of(node, inputs)
                    model.graph.initializer.append(onnx.numpy_helper.from_array(inputs["n"], "n"))
                    del model.graph.input[1]
                    with self.subTest(length, kind=kind, back_to=whole):
                        self.agree(run(model, {"x": x}),
                                   [np.fft.irfft(z, whole)[..., None].astype(kind)], tolerance)

    def test_transforms_of_no_signals_are_empty(self):
        for length in (16, 400, 512, 1031, 2048):
            for shape in ((0, length, 1), (3, 0, length, 1), (0, 3, length, 2)):
                x = {"x": np.ones(shape, np.float32)}
                node = helper.make_node("DFT", ["x"], ["y"], axis=len(shape) - 2)
                with self.subTest(shape):
                    self.agree(run(model_of(node, x, 17), x), [np.ones((*shape[:-1], 2), np.float32)])
        for frame in (250, 300, 400, 512):  # longer than the signal
            x = {"x": np.ones((2, 200, 1), np.float32)}
            node = helper.make_node("STFT", ["x", "s", "", "n"], ["y"])
            model = model_of(node, x)
            model.graph.initializer.extend(onnx.numpy_helper.from_array(np.array(value), name)
                                           for name, value in (("s", 160), ("n", frame)))
            with self.subTest(frame=frame):
                self.agree(run(model, x), [np.ones((2, 0, frame // 2 + 1, 2), np.float32)])

    def test_lengths_of_nothing_are_refused(self):
        x = {"x": np.ones((1, 4, 1), np.float32)}
        for node, constants, message in (
                (helper.make_node("DFT", ["x", "n"], ["y"]), {"n": 0}, "at least 1, found 0"),
                (helper.make_node("STFT", ["x", "s", "", "n"], ["y"]), {"s": 1, "n": 0}, "frame_length has to be"),
                (helper.make_node("STFT", ["x", "s", "", "n"], ["y"]), {"s": 0, "n": 2}, "frame_step has to be")):
            model = model_of(node, x)
            model.graph.initializer.extend(onnx.numpy_helper.from_array(np.array(value), name)
                                           for name, value in constants.items())
            with self.subTest(message):
                self.assertIn(message, run(model, x))

    def test_roots_of_one_are_exact(self):
        """Those on the axes are 0 and 1, and those that are mirrored have the same numbers."""
        for length in (4, 8, 12, 20, 28, 60, 100, 252):
            x = {"x": np.eye(1, length, 1).reshape(1, length, 1)}
            re, im = run(model_of(helper.make_node("DFT", ["x"], ["y"]), x), x)[0][0].T
            quarter = length // 4
            with self.subTest(length):
                np.testing.assert_array_equal(re[::quarter], (1, 0, -1, 0))
                np.testing.assert_array_equal(im[::quarter], (0, -1, 0, 1))
                np.testing.assert_array_equal(re[1:], re[:0:-1])
                np.testing.assert_array_equal(im[1:], -im[:0:-1])
                np.testing.assert_array_equal(re[:quarter + 1], -im[quarter::-1])

    def test_fourier_transforms_along_axes_and_of_other_lengths(self):
        values = np.random.default_rng(15)
        x = values.standard_normal((3, 4, 5, 1))
        for axis in (-2, -3, -4, 0, 1, 2):
            for length in (None, 3, 9):
                for given in (True, False):  # lengths that are known, and that only a run tells
                    inputs = {"x": x}
                    if length is not None:
                        inputs["n"] = np.array(length)
                    node = helper.make_node("DFT", ["x", "n" if length else "", "a"], ["y"])
                    model = model_of(node, inputs, 20)
                    constants = {"a": np.array(axis)}
                    if length and given:
                        constants["n"] = inputs.pop("n")
                        del model.graph.input[1]
                    model.graph.initializer.extend(onnx.numpy_helper.from_array(value, name)
                                                   for name, value in constants.items())
                    y = np.fft.fft(x[..., 0], length, axis if axis >= 0 else axis + 1)
                    with self.subTest(axis, length=length, given=given):
                        self.agree(run(model, inputs), [np.stack([y.real, y.imag], -1)])

    def test_values_of_inputs_that_decide_the_form(self):
        """They are taken from what is given; the input stays, and is checked."""
        values = np.random.default_rng(18)
        x = values.standard_normal((3, 4, 5, 1))
        for axis in (-2, 0, 1):
            inputs = {"x": x, "a": np.array(axis)}
            node = helper.make_node("DFT", ["x", "", "a"], ["y"])
            y = np.fft.fft(x[..., 0], axis=axis if axis >= 0 else axis + 1)
            model = model_of(node, inputs, 20)
            with self.subTest(axis):
                self.agree(run(model, inputs), [np.stack([y.real, y.imag], -1)])
                # These make up the inputs that they are not given.
                for command in (("verify",), ("bench", "--seconds", "0.05")):
                    self.assertEqual(call(model, *command, "--value", f"a={axis}"), "")
        with tempfile.TemporaryDirectory() as folder:  # data sets of other values are plans of their own
            path = pathlib.Path(folder)
            onnx.save(model, path / "model.onnx")
            for axis in (0, 1):
                y = np.fft.fft(x[..., 0], axis=axis)
                (path / f"test_data_set_{axis}").mkdir()
                for name, value in (("input_0", x), ("input_1", np.array(axis)),
                                    ("output_0", np.stack([y.real, y.imag], -1))):
                    tensor = onnx.numpy_helper.from_array(value)
                    (path / f"test_data_set_{axis}" / f"{name}.pb").write_bytes(tensor.SerializeToString())
            done = subprocess.run([TOOL, "conformance", path], capture_output=True, text=True, check=False)
            self.assertEqual(done.stdout, "1 passed, 0 failed\n")
        for kind in (np.float32, np.float16):
            inputs = {"x": values.standard_normal((2, 12, 9)).astype(kind),
                      "image": np.array([4, 5]), "block": np.array([2, 3])}
            node = helper.make_node("Col2Im", list(inputs), ["y"], strides=[1, 2], pads=[0, 1, 0, 1])
            model = model_of(node, inputs, 18)
            with self.subTest(kind):
                self.agree(run(model, inputs), ReferenceEvaluator(model).run(None, inputs), 1e-3)

    def test_short_time_fourier_transforms(self):
        values = np.random.default_rng(16)
        for length, frame, step, parts in ((40, 16, 4, 1), (33, 8, 5, 1), (20, 20, 7, 2), (700, 512, 100, 1)):
            x = values.standard_normal((2, length, parts)).astype(np.float32)
            for windowed in (False, True):
                for onesided in (0, 1) if parts == 1 else (0,):
                    inputs = {"x": x}
                    constants = {"step": np.array(step), "frame": np.array(frame)}
                    if windowed:
                        inputs["w"] = values.random(frame).astype(np.float32)
                    node = helper.make_node(
                        "STFT", ["x", "step", "w" if windowed else "", "frame"], ["y"], onesided=onesided)
                    model = model_of(node, inputs)
                    model.graph.initializer.extend(onnx.numpy_helper.from_array(value, name)
                                                   for name, value in constants.items())
                    z = x[..., 0].astype(np.float64) + (1j * x[..., 1] if parts == 2 else 0)
                    starts = range(0, length - frame + 1, step)
                    y = np.stack([np.fft.fft(z[:, i:i + frame] * inputs.get("w", 1)) for i in starts], 1)
                    y = y[..., :frame // 2 + 1] if onesided else y
                    with self.subTest(length, frame=frame, windowed=windowed, onesided=onesided):
                        self.agree(run(model, inputs),
                                   [np.stack([y.real, y.imag], -1).astype(np.float32)], 1e-3)

    def test_columns_to_images(self):
        values = np.random.default_rng(17)
        for image, block, attributes in (
                ([5, 5], [2, 3], {}), ([7, 6], [3, 2], {"strides": [2, 3], "pads": [1, 0, 0, 1]}),
                ([9, 8], [2, 2], {"dilations": [3, 2], "strides": [2, 1]}),
                ([4, 5, 3], [2, 2, 1], {"strides": [1, 2, 1]}), ([6, 6], [6, 6], {})):
            axes = len(image)
            strides, dilations = (attributes.get(name, [1] * axes) for name in ("strides", "dilations"))
            pads = attributes.get("pads", [0] * 2 * axes)
            blocks = [(image[i] + pads[i] + pads[axes + i] - dilations[i] * (block[i] - 1) - 1)
                      // strides[i] + 1 for i in range(axes)]
            x = values.standard_normal((2, 3 * np.prod(block), np.prod(blocks))).astype(np.float32)
            # By the definition: every element of every block is added where it belongs.
            padded = np.zeros((2, 3, *(image[i] + pads[i] + pads[axes + i] for i in range(axes))))
            parts = x.reshape(2, 3, *block, *blocks)
            for at in np.ndindex(*block):
                where = tuple(slice(at[i] * dilations[i],
                                    at[i] * dilations[i] + (blocks[i] - 1) * strides[i] + 1, strides[i])
                              for i in range(axes))
                padded[(slice(None), slice(None), *where)] += parts[(slice(None), slice(None), *at)]
            y = padded[(slice(None), slice(None),
                        *(slice(pads[i], pads[i] + image[i]) for i in range(axes)))]
            constants = {"i": np.array(image), "b": np.array(block)}
            model = model_of(helper.make_node("Col2Im", ["x", "i", "b"], ["y"], **attributes), {"x": x})
            model.graph.initializer.extend(onnx.numpy_helper.from_array(value, name)
                                           for name, value in constants.items())
            with self.subTest(image, block=block, attributes=attributes):
                self.agree(run(model, {"x": x}), [y.astype(np.float32)])
        for image, block, message in (([5, 5], [6, 1], "does not fit"), ([5, 5], [0, 1], "positive"),
                                      ([5], [2, 2], "1 extents"), ([2**40, 2], [2, 2], "positive"),
                                      ([5, 5], [5, 5], "108 rows, expected a multiple of the 25"),
                                      ([5, 5], [1, 1], "columns, expected 25")):
            model = model_of(helper.make_node("Col2Im", ["x", "i", "b"], ["y"]), {"x": x})
            model.graph.initializer.extend(
                onnx.numpy_helper.from_array(np.array(value), name)
                for name, value in (("i", image), ("b", block)))
            self.assertIn(message, run(model, {"x": x}))

    def test_pooling_undone(self):
        values = np.random.default_rng(18)
        for shape, kernel, attributes in (((2, 3, 6, 4), [2, 2], {"strides": [2, 2]}),
                                          ((1, 2, 9), [3], {"strides": [3]}),
                                          ((1, 1, 5, 7), [2, 3], {"strides": [1, 2]}),
                                          ((1, 2, 4, 4, 4), [2, 2, 2], {"strides": [2, 2, 2]})):
            x = values.permutation(np.prod(shape)).reshape(shape).astype(np.float32)
            pool = helper.make_node("MaxPool", ["x"], ["p", "i"], kernel_shape=kernel, **attributes)
            model = model_of(pool, {"x": x})
            pooled, indices = ReferenceEvaluator(model).run(None, {"x": x})
            for larger in (False, True):
                inputs = {"p": pooled, "i": indices}
                node = helper.make_node("MaxUnpool", ["p", "i", "s"] if larger else ["p", "i"], ["y"],
                                        kernel_shape=kernel, **attributes)
                model = model_of(node, inputs, 22)
                if larger:
                    model.graph.initializer.append(onnx.numpy_helper.from_array(
                        np.array([*shape[:2], *(extent + 1 for extent in shape[2:])]), "s"))
                with self.subTest(shape, kernel=kernel, larger=larger):
                    self.agree(run(model, inputs), ReferenceEvaluator(model).run(None, inputs))

    def test_determinants(self):
        values = np.random.default_rng(21)
        for shape in ((1, 1), (2, 2), (3, 4, 4), (2, 3, 7, 7), (0, 3, 3)):
            for kind in (np.float32, np.float64):
                x = {"x": values.standard_normal(shape).astype(kind)}
                model = model_of(helper.make_node("Det", ["x"], ["y"]), x, 22)
                self.agree(run(model, x), [np.asarray(np.linalg.det(x["x"].astype(float))).astype(kind)])
        singular = {"x": np.array([[1, 2, 3], [2, 4, 6], [0, 1, 0]], np.float32)}
        self.agree(run(model_of(helper.make_node("Det", ["x"], ["y"]), singular, 22), singular),
                   [np.asarray(0, np.float32)])

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

    def test_the_gradient_of_a_rotation_turns_back(self):
        values = np.random.default_rng(7)
        x = values.standard_normal((2, 3, 5, 8)).astype(np.float32)
        angles = values.uniform(-3, 3, (2, 5, 3))
        inputs = {"x": x, "c": np.cos(angles).astype(np.float32),
                  "s": np.sin(angles).astype(np.float32)}
        for interleaved in (0, 1):
            nodes = [
                helper.make_node("RotaryEmbedding", ["x", "c", "s"], ["turned"],
                                 interleaved=interleaved, rotary_embedding_dim=6),
                helper.make_node("Mul", ["turned", "turned"], ["square"]),
                helper.make_node("ReduceSum", ["square"], ["loss"], keepdims=0),
                helper.make_node("Gradient", ["x"], ["y"], xs=["x"], y="loss",
                                 domain="ai.onnx.preview.training"),
            ]
            graph = helper.make_graph(
                nodes, "rotation",
                [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, value.shape)
                 for name, value in inputs.items()],
                [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, x.shape)])
            model = helper.make_model(graph, ir_version=10, opset_imports=[
                helper.make_opsetid("", 23), helper.make_opsetid("ai.onnx.preview.training", 1)])
            with self.subTest(interleaved=interleaved):
                # Lengths do not change when vectors are turned: the gradient is 2 x.
                found = run(model, inputs)
                self.assertNotIsInstance(found, str, found)
                np.testing.assert_allclose(found[0], 2 * x, rtol=1e-5, atol=1e-5)

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


if __name__ == "__main__":
    unittest.main()
