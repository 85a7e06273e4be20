# SPDX-License-Identifier: Apache-2.0
"""Operators that become others when a model is read, at shapes and attributes that ONNX's cases do not
have, beside NumPy, ONNX's reference implementation and ONNX Runtime. Usage: functions_test.py TOOL"""

import random
import unittest

import numpy as np
import onnx
from one_node import Case, model_of, run, runtime
from onnx import helper
from onnx.reference import ReferenceEvaluator


class Functions(Case):
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

    def test_forms_of_the_first_operator_sets(self):
        values = np.random.default_rng(5)
        x = values.standard_normal((2, 3, 4)).astype(np.float32)
        for axis, tiles in ((0, 2), (2, 3), (1, 1)):
            inputs = {"x": x, "t": np.array([tiles], np.float32), "a": np.array([axis], np.float32)}
            model = model_of(helper.make_node("Tile", ["x", "t", "a"], ["y"]), inputs, 5)
            repeats = [tiles if i == axis else 1 for i in range(3)]
            self.agree(run(model, inputs), [np.tile(x, repeats)])
        inputs = {"x": x, **{name: values.random((3, 4), np.float32) + 0.5 for name in "sbmv"}}
        node = helper.make_node("BatchNormalization", list(inputs), ["y"], spatial=0, epsilon=0.25)
        expected = (x - inputs["m"]) / np.sqrt(inputs["v"] + 0.25) * inputs["s"] + inputs["b"]
        self.agree(run(model_of(node, inputs, 7), inputs), [expected])
        whole = {"x": np.arange(1, 13, dtype=np.int32).reshape(3, 4)}
        node = helper.make_node("ReduceLogSum", ["x"], ["y"], axes=[1], keepdims=0)
        self.exactly(model_of(node, whole, 13), whole, np.log(whole["x"].sum(1)).astype(np.int32))
        inputs = {"x": x, "z": x[:, :1]}
        self.agree(run(model_of(helper.make_node("Concat", ["x", "z"], ["y"]), inputs, 1), inputs),
                   [np.concatenate([x, x[:, :1]], 1)])

    def test_features(self):
        values = np.random.default_rng(19)
        real, whole = [onnx.TensorProto.FLOAT], [onnx.TensorProto.INT64]
        for x in (values.standard_normal((5, 3)).astype(np.float32), values.integers(-3, 4, (5, 3)),
                  values.standard_normal((4, 3)), values.integers(-9, 9, (2, 3)).astype(np.int32)):
            for offset, scale in (([1.0], [2.0]), ([1.0, 2.0, 3.0], [0.5, 1.0, -2.0])):
                self.beside_runtime({"x": x}, real, "Scaler", offset=offset, scale=scale)
            for norm in ("MAX", "L1", "L2"):
                self.beside_runtime({"x": np.abs(x) + 1}, real, "Normalizer", norm=norm)
        x = values.integers(0, 3, (6, 3)).astype(np.float32)
        self.beside_runtime({"x": x}, real, "Imputer", imputed_value_floats=[7.0], replaced_value_float=1.0)
        x[x == 2] = np.nan
        self.beside_runtime({"x": x}, real, "Imputer", imputed_value_floats=[7.0, 8.0, 9.0],
                            replaced_value_float=float("nan"))
        self.beside_runtime({"x": values.integers(0, 3, (6, 3))}, whole, "Imputer",
                            imputed_value_int64s=[5, 6, 7], replaced_value_int64=1)
        self.beside_runtime({"x": x, "i": np.array([2, 0, 2])}, real, "ArrayFeatureExtractor")
        self.beside_runtime({"x": x[:, :2], "z": x}, real, "FeatureVectorizer", inputdimensions=[2, 3])

    def test_linear_models(self):
        values = np.random.default_rng(20)
        real, labels = onnx.TensorProto.FLOAT, (onnx.TensorProto.INT64, onnx.TensorProto.STRING)
        x = values.standard_normal((9, 4)).astype(np.float32)
        for targets in (1, 3):
            draw = values.standard_normal(targets * 4).tolist()
            for more in ({}, {"intercepts": values.standard_normal(targets).tolist()}):
                self.beside_runtime({"x": x}, [real], "LinearRegressor", coefficients=draw,
                                    targets=targets, **more)
        for classes, rows in ((3, 3), (2, 2), (2, 1)):
            for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
                if rows == 1 and transform == "SOFTMAX":
                    continue
                for kind, names in ((0, {"classlabels_ints": list(range(5, 5 + classes))}),
                                    (1, {"classlabels_strings": ["a", "bc", ""][:classes]})):
                    self.beside_runtime(
                        {"x": x}, [labels[kind], real], "LinearClassifier",
                        coefficients=values.standard_normal(rows * 4).tolist(),
                        intercepts=values.standard_normal(rows).tolist(), post_transform=transform,
                        **names)


if __name__ == "__main__":
    unittest.main()
