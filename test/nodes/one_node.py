# SPDX-License-Identifier: Apache-2.0
"""Models of one node, run by the tool whose path is the first argument of the test."""

import functools
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import helper

TOOL = sys.argv.pop(1)


def model_of(node, inputs, opset=21):
    graph = helper.make_graph(
        [node], "test",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for name, x in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in node.output])
    return helper.make_model(graph, ir_version=10 if opset < 23 else 13, opset_imports=[helper.make_opsetid("", opset)])


def load(path):
    """What the tool has written at PATH: a tensor, a dict of a map, a list of a sequence."""
    if path.with_suffix(".npy").exists():
        return np.load(path.with_suffix(".npy"))
    keys, values = (path.with_name(f"{path.name}_{part}.npy") for part in ("keys", "values"))
    if keys.exists():
        keys = np.load(keys)
        keys = np.char.decode(keys, "utf-8") if keys.dtype.kind == "S" else keys
        return dict(zip(keys.tolist(), np.load(values).tolist(), strict=True))
    elements = []
    while list(path.parent.glob(f"{path.name}_{len(elements)}[._]*")):
        elements.append(load(path.with_name(f"{path.name}_{len(elements)}")))
    return elements


def run(model, inputs):
    """What the tool gives; of a model that it refuses, its message."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        onnx.save(model, path / "model.onnx")
        command = [TOOL, "run", path / "model.onnx", "--output-dir", path]
        for name, x in inputs.items():
            np.save(path / f"{name}.npy", x.astype(str) if x.dtype == object else x)
            command += ["--input", f"{name}={path / name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr
        return [load(path / f"output_{i}") for i in range(len(model.graph.output))]


def call(model, command, *options):
    """Calls another command of the tool for a model; its message if it fails, else ""."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.onnx")
        onnx.save(model, path)
        done = subprocess.run([TOOL, command, path, *options], capture_output=True, text=True, check=False)
        return done.stderr if done.returncode != 0 else ""


def runtime(model, inputs):
    """The declared outputs of ONNX Runtime, which wants to know their types."""
    typed = onnx.shape_inference.infer_shapes(model)
    session = onnxruntime.InferenceSession(typed.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


@functools.cache
def exact_products():
    """Whether ONNX Runtime's sums of products of bytes are exact: on processors without instructions for them
    (VNNI), two products of unsigned by signed codes saturate at 16 bits, unless the signed ones have 7 bits."""
    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    inputs = {"a": np.full((4, 64), 255, np.uint8), "b": np.full((64, 16), 127, np.int8)}
    return bool((runtime(model_of(node, inputs), inputs)[0] == 64 * 255 * 127).all())


def codes(values, shape, kind):
    """Random codes of that type, of all values that ONNX Runtime multiplies exactly."""
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    if kind == np.int8 and not exact_products():
        low, high = -64, 63
    return values.integers(low, high + 1, shape).astype(kind)


class Case(unittest.TestCase):
    def agree(self, found, expected, tolerance=1e-5):
        self.assertIsInstance(found, list, found)
        for a, b in zip(found, expected, strict=True):
            self.assertEqual(a.shape, b.shape)
            self.assertEqual(a.dtype, b.dtype)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)

    def exactly(self, model, inputs, expected):
        found = run(model, inputs)
        self.assertIsInstance(found, list, found)
        self.assertEqual(found[0].dtype, expected.dtype)
        np.testing.assert_array_equal(found[0], expected)

    def beside_runtime(self, inputs, outputs, operator, **attributes):
        """One node of ai.onnx.ml beside ONNX Runtime; `outputs` are their types."""
        names = [f"y{i}" for i in range(len(outputs))]
        node = helper.make_node(operator, list(inputs), names, domain="ai.onnx.ml", **attributes)
        graph = helper.make_graph(
            [node], "test",
            [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
             for name, x in inputs.items()],
            [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(names, outputs)])
        model = helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)])
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        with self.subTest(operator, **attributes):
            found, expected = run(model, inputs), session.run(None, inputs)
            self.assertIsInstance(found, list, found)
            for a, b in zip(found, expected, strict=True):
                if b.dtype == object:
                    self.assertEqual(a.astype(str).tolist(), b.tolist())
                else:
                    self.agree([a], [b])
