# SPDX-License-Identifier: Apache-2.0
"""Operators of vision and sound, at shapes, attributes and types that ONNX's cases do not have, beside ONNX
Runtime, its reference implementation and NumPy. Usage: vision_test.py TOOL"""

import random
import unittest

import numpy as np
import onnx
import onnxruntime
from one_node import Case, model_of, run, runtime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator


onnxruntime.set_default_logger_severity(3)  # it doubts its own maximum of RoiAlign, which is the reference's


def regions(values, count, size):
    """Corners of regions of an image of `size`, some of them partly outside."""
    first = values.uniform(-0.1, 0.7, (count, 2)) * size
    extent = values.uniform(0.05, 0.5, (count, 2)) * size
    return np.concatenate([first, first + extent], 1)


class Regions(Case):
    def test_align(self):
        choose, values = random.Random(1), np.random.default_rng(1)
        for number in range(60):
            opset = choose.choice((10, 16))
            kind = choose.choice((np.float32, np.float32, np.float64))
            shape = [choose.randint(1, 3), choose.choice((1, 3, 40)), choose.randint(1, 17), choose.randint(1, 17)]
            count, scale = choose.randint(0, 6), choose.choice((1.0, 0.25))
            corners = regions(values, count, 16 / scale)
            if choose.random() < 0.2:
                corners = values.uniform(-20, 20, corners.shape)  # of which some have changed places
            inputs = {"x": values.standard_normal(shape).astype(kind), "r": corners.astype(kind),
                      "b": values.integers(0, shape[0], count)}
            attributes = {"mode": choose.choice(("avg", "max")), "spatial_scale": scale,
                          "output_height": choose.randint(1, 7), "output_width": choose.randint(1, 7),
                          "sampling_ratio": choose.choice((0, 0, 1, 2, 3))}
            if opset == 16 and choose.random() < 0.6:
                attributes["coordinate_transformation_mode"] = choose.choice(("half_pixel", "output_half_pixel"))
            model = model_of(helper.make_node("RoiAlign", list(inputs), ["y"], **attributes), inputs, opset)
            with self.subTest(number, shape=shape, count=count, opset=opset, **attributes):
                self.agree(run(model, inputs), runtime(model, inputs))

    def test_align_of_halves(self):
        values = np.random.default_rng(2)
        for mode in ("avg", "max"):
            inputs = {"x": values.standard_normal((2, 3, 8, 9)).astype(np.float16),
                      "r": (np.round(regions(values, 4, 8) * 4) / 4).astype(np.float16), "b": np.array([1, 0, 0, 1])}
            node = helper.make_node("RoiAlign", list(inputs), ["y"], mode=mode, output_height=2, output_width=4)
            model = model_of(node, inputs, 22)
            wide = {name: x.astype(np.float64) if name != "b" else x for name, x in inputs.items()}
            expected = ReferenceEvaluator(model_of(node, wide, 22)).run(None, wide)[0]
            self.agree(run(model, inputs), [expected.astype(np.float16)], 2e-3)

    def test_a_region_of_no_image_is_refused(self):
        inputs = {"x": np.ones((2, 1, 3, 3), np.float32), "r": np.ones((1, 4), np.float32), "b": np.array([2])}
        node = helper.make_node("RoiAlign", list(inputs), ["y"])
        self.assertIn("index of an image", run(model_of(node, inputs, 22), inputs))

    def test_pool(self):
        choose, values = random.Random(3), np.random.default_rng(3)
        for number in range(40):
            shape = [choose.randint(1, 3), choose.randint(1, 4), choose.randint(1, 15), choose.randint(1, 15)]
            count, scale = choose.randint(1, 6), choose.choice((1.0, 0.5))
            rows = np.concatenate([values.integers(0, shape[0], (count, 1)), regions(values, count, 14 / scale)], 1)
            # ONNX Runtime's maximum starts at the smallest positive number.
            inputs = {"x": values.random(shape, np.float32) + 1, "r": rows.astype(np.float32)}
            node = helper.make_node("MaxRoiPool", ["x", "r"], ["y"], spatial_scale=scale,
                                    pooled_shape=[choose.randint(1, 5), choose.randint(1, 5)])
            model = model_of(node, inputs, choose.choice((7, 21)))
            with self.subTest(number, shape=shape, count=count):
                self.agree(run(model, inputs), runtime(model, inputs))


class DeformedConvolutions(Case):
    def draw(self, choose, values, kind):
        groups, parts = choose.choice((1, 1, 2, 3)), choose.choice((1, 1, 2, 3))
        channels = int(np.lcm(groups, parts)) * choose.randint(1, 2)
        filters = groups * choose.randint(1, 3)
        kernel, strides = [choose.randint(1, 3) for _ in "hw"], [choose.randint(1, 2) for _ in "hw"]
        dilations, pads = [choose.randint(1, 2) for _ in "hw"], [choose.randint(0, 2) for _ in "hwhw"]
        size = [choose.randint(6, 8) for _ in "hw"]
        batch = choose.randint(1, 2)
        out = [(size[i] + pads[i] + pads[2 + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in (0, 1)]
        taps = parts * kernel[0] * kernel[1]
        inputs = {"x": values.standard_normal((batch, channels, *size)),
                  "w": values.standard_normal((filters, channels // groups, *kernel)),
                  "o": values.uniform(-3, 3, (batch, 2 * taps, *out))}
        names = ["x", "w", "o", "", ""]
        if choose.random() < 0.5:
            names[3], inputs["b"] = "b", values.standard_normal(filters)
        if choose.random() < 0.5:
            names[4], inputs["m"] = "m", values.random((batch, taps, *out))
        while names[-1] == "":
            names.pop()
        attributes = {"group": groups, "offset_group": parts, "strides": strides, "dilations": dilations, "pads": pads}
        if choose.random() < 0.5:
            attributes["kernel_shape"] = kernel
        node = helper.make_node("DeformConv", names, ["y"], **attributes)
        return node, {name: x.astype(kind) for name, x in inputs.items()}

    def test_beside_the_reference(self):
        choose, values = random.Random(4), np.random.default_rng(4)
        for number in range(12):
            node, inputs = self.draw(choose, values, choose.choice((np.float32, np.float64)))
            model = model_of(node, inputs, choose.choice((19, 22)))
            expected = ReferenceEvaluator(model).run(None, inputs)
            with self.subTest(number, node=str(node)):
                self.agree(run(model, inputs), expected, 1e-4)
                self.agree(run(*with_constants(model, inputs, "w")), expected, 1e-4)

    def test_beside_onnx_runtime(self):
        choose, values = random.Random(5), np.random.default_rng(5)
        for number in range(40):
            node, inputs = self.draw(choose, values, np.float32)
            model = model_of(node, inputs, 19)
            with self.subTest(number, node=str(node)):
                self.agree(run(*with_constants(model, inputs, "w")), runtime(model, inputs), 1e-4)

    def test_images_of_other_ranks_are_refused(self):
        inputs = {"x": np.ones((1, 1, 3), np.float32), "w": np.ones((1, 1, 1), np.float32),
                  "o": np.ones((1, 1, 3), np.float32)}
        node = helper.make_node("DeformConv", list(inputs), ["y"])
        self.assertIn("image with two spatial axes", run(model_of(node, inputs, 22), inputs))


def with_constants(model, inputs, *names):
    """The model with some of its inputs as constants of these values, and the inputs that are left."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    result.graph.initializer.extend(numpy_helper.from_array(inputs[name], name) for name in names)
    del result.graph.input[:]
    result.graph.input.extend(given for given in model.graph.input if given.name not in names)
    return result, {name: x for name, x in inputs.items() if name not in names}


class Samples(Case):
    def test_nearest_elements_of_every_type(self):
        values = np.random.default_rng(6)
        shape, points = (2, 3, 4, 5), (6, 7)
        places = np.arange(np.prod(shape)).reshape(shape)
        grid = values.uniform(-1.4, 1.4, (2, *points, 2)).astype(np.float32)
        for padding in ("zeros", "border", "reflection"):
            node = helper.make_node("GridSample", ["x", "g"], ["y"], mode="nearest", padding_mode=padding)
            inputs = {"x": places.astype(np.float32) + 1, "g": grid}
            chosen = run(model_of(node, inputs, 22), inputs)[0].astype(int) - 1
            for kind in (np.int8, np.uint16, np.int32, np.uint64, np.bool_, np.complex64, np.complex128,
                         np.float16, np.float64, np.str_):
                x = (places % 2 if kind is np.bool_ else places).astype(kind)
                expected = np.where(chosen < 0, np.zeros((), x.dtype), x.reshape(-1)[chosen])
                with self.subTest(kind=kind, padding=padding):
                    given = {"x": x, "g": grid}
                    found = run(model_of(node, given, 22), given)
                    self.assertIsInstance(found, list, found)
                    if kind is np.str_:
                        found = [found[0].astype(np.str_)]
                    self.assertEqual(found[0].tolist(), expected.tolist())

    def test_integers_are_cut(self):
        values = np.random.default_rng(6)
        for mode in ("linear", "cubic"):
            node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode)
            x = values.integers(0, 100, (2, 3, 4, 5))
            grid = values.uniform(-1.2, 1.2, (2, 3, 2, 2)).astype(np.float32)
            real = {"x": x.astype(np.float64), "g": grid}
            expected, = run(model_of(node, real, 22), real)
            for kind in (np.int16, np.int32, np.int64):
                inputs = {"x": x.astype(kind), "g": grid}
                self.exactly(model_of(node, inputs, 22), inputs, np.trunc(expected).astype(kind))

    def test_other_modes_need_numbers(self):
        inputs = {"x": np.ones((1, 1, 2, 2), np.complex64), "g": np.zeros((1, 1, 1, 2), np.float32)}
        node = helper.make_node("GridSample", ["x", "g"], ["y"])
        self.assertIn("elements that are no floats", run(model_of(node, inputs, 22), inputs))


class ResizedIntegers(Case):
    def test_rounded_to_the_nearest(self):
        """As ONNX's reference implementation has them; ONNX Runtime cuts the fraction off. What lies between two
        whole numbers but for the rounding of double may be either."""
        choose, values = random.Random(6), np.random.default_rng(6)
        fractions = 0
        for number in range(120):
            kind = choose.choice((np.uint8, np.int8, np.int16, np.int32))
            limits = np.iinfo(kind)
            low, high = max(limits.min, -5000), min(limits.max, 5000)
            shape = [choose.randint(1, 2), choose.randint(1, 3), choose.randint(1, 9), choose.randint(1, 9)]
            x = values.integers(low, high, shape, endpoint=True).astype(kind)
            if choose.random() < 0.3:
                x = values.choice([low, high], shape).astype(kind)
            attributes = {"mode": "linear", "coordinate_transformation_mode": choose.choice(
                ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"))}
            if choose.random() < 0.3:
                attributes["antialias"] = 1
            inputs = {"x": x}
            if choose.random() < 0.5:
                inputs["sizes"] = np.array([*shape[:2], choose.randint(1, 15), choose.randint(1, 15)])
                names = ["x", "", "", "sizes"]
            else:
                inputs["scales"] = np.array([1, 1, *(choose.choice((0.34, 0.5, 1, 1.6, 2, 2.5)) for _ in range(2))],
                                            np.float32)
                names = ["x", "", "scales"]
                if np.any(np.floor(np.float32(shape) * inputs["scales"]) < 1):
                    continue
            node = helper.make_node("Resize", names, ["y"], **attributes)
            wide = inputs | {"x": x.astype(np.float64)}
            with self.subTest(number, kind=kind, shape=shape, **attributes):
                expected = ReferenceEvaluator(model_of(node, inputs)).run(None, inputs)[0]
                real = ReferenceEvaluator(model_of(node, wide)).run(None, wide)[0]
                np.testing.assert_array_equal(expected, np.clip(np.round(real), limits.min, limits.max))
                found = run(model_of(node, inputs), inputs)
                self.assertIsInstance(found, list, found)
                self.assertEqual(found[0].dtype, kind)
                between = np.abs(real - np.floor(real) - 0.5) < 1e-9
                np.testing.assert_array_equal(found[0][~between], expected[~between])
                self.assertLessEqual(np.max(np.abs(found[0].astype(int) - expected.astype(int))), 1)
                fractions += np.count_nonzero(np.trunc(real) != np.round(real))
        self.assertGreater(fractions, 1000)


class Spectra(Case):
    def test_mel_weights(self):
        cases = ((8, 16, 8192, 0, 4096), (80, 512, 16000, 20, 7600), (40, 401, 16000, 0, 8000), (1, 2, 8, 1, 2))
        for numbers in cases:
            for whole, real in ((np.int64, np.float32), (np.int32, np.float64)):
                inputs = {name: np.array(x, whole if i < 3 else real)
                          for i, (name, x) in enumerate(zip("abcde", numbers, strict=True))}
                for kind in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
                    node = helper.make_node("MelWeightMatrix", list(inputs), ["y"], output_datatype=kind)
                    model = model_of(node, inputs, 17)
                    with self.subTest(numbers, kind=kind):
                        expected = ReferenceEvaluator(model).run(None, inputs)
                        self.agree(run(model, inputs), expected, 1e-6)
                        self.agree(run(*with_constants(model, inputs, *"abcde")), expected, 1e-6)


if __name__ == "__main__":
    unittest.main()
