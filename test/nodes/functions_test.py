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


def model_of(node, inputs):
    graph = helper.make_graph(
        [node], "test",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for name, x in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in node.output])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


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
