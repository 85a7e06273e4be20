# SPDX-License-Identifier: Apache-2.0
"""Forms of operators that ONNX's cases do not have: of old operator sets, of parameters that broadcast, of tensors
without elements, of small types in loops; beside ONNX Runtime, or NumPy where that has none.
Usage: versions_test.py TOOL"""

import random
import tempfile
import pathlib
import subprocess
import unittest

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from one_node import TOOL, Case, model_of, run, runtime
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(3)  # it warns of old operator sets


class OldForms(Case):
    def test_resize_of_operator_set_10(self):
        choose, values = random.Random(1), np.random.default_rng(1)
        for number in range(60):
            x = values.standard_normal([choose.randint(1, 7) for _ in range(4)]).astype(np.float32)
            mode = choose.choice(("nearest", "nearest", "linear"))
            near = (1.0, 1.0) if mode == "linear" else [choose.choice((0.5, 1.0, 1.7, 2.0)) for _ in range(2)]
            scales = np.array([*near, *(choose.choice((0.34, 0.5, 0.6, 0.9, 1.0, 1.5, 2.0, 2.5)) for _ in range(2))],
                              np.float32)
            if np.any(np.floor(np.float32(x.shape) * scales) < 1):
                continue
            node = helper.make_node("Resize", ["x", "s"], ["y"], mode=mode)
            model = model_of(node, {"x": x}, 10)
            model.graph.initializer.append(numpy_helper.from_array(scales, "s"))
            with self.subTest(number, mode=mode, x=x.shape, scales=scales):
                expected = runtime(model, {"x": x})
                self.agree(run(model, {"x": x}), expected)
                given = {"x": x, "s": scales}  # as an input
                self.agree(run(model_of(node, given, 10), given), expected)

    def test_batch_normalization_in_training(self):
        values = np.random.default_rng(2)
        for opset, shape in ((1, (4, 3, 2)), (6, (5, 2)), (7, (2, 3, 4, 5)), (9, (3, 4, 2))):
            x, scale, bias, mean, var = inputs = [values.random(e, np.float32) + 0.5
                                                  for e in (shape, *[shape[1:2]] * 4)]
            axes = (0, *range(2, len(shape)))
            now, spread = x.mean(axes), x.var(axes)
            form = (1, -1) + (1,) * (len(shape) - 2)
            normal = (x - now.reshape(form)) / np.sqrt(spread.reshape(form) + 1e-3)
            expected = [normal * scale.reshape(form) + bias.reshape(form), mean * 0.75 + now * 0.25,
                        var * 0.75 + spread * 0.25, now, spread]
            for outputs in (5, 3):
                given = dict(zip("xsbmv", inputs))
                node = helper.make_node("BatchNormalization", list(given), [f"y{i}" for i in range(outputs)],
                                        epsilon=1e-3, momentum=0.75)
                with self.subTest(opset=opset, outputs=outputs):
                    self.agree(run(model_of(node, given, opset), given), expected[:outputs])

    def test_softmax_without_elements(self):
        for operator in ("Softmax", "LogSoftmax", "Hardmax"):
            for opset, shape in ((1, (4, 0, 3)), (11, (1, 3, 0)), (11, (0, 2)), (13, (2, 0))):
                for axis in range(len(shape)):
                    x = {"x": np.zeros(shape, np.float32)}
                    node = helper.make_node(operator, ["x"], ["y"], axis=axis)
                    self.agree(run(model_of(node, x, opset), x), [x["x"]])


class Broadcast(Case):
    def test_parameters_of_normalizations(self):
        choose, values = random.Random(3), np.random.default_rng(3)
        others = 0
        for number in range(80):
            rank = choose.randint(1, 4)
            shape = [choose.choice((1, 2, 3, 5)) for _ in range(rank)]
            axis = choose.randrange(rank)
            def parameter():
                of = [1 if choose.random() < 0.4 else e for e in shape]
                return values.standard_normal(of[choose.randint(0, rank - 1):]).astype(np.float32)
            operator = choose.choice(("LayerNormalization", "RMSNormalization"))
            inputs = {"x": values.standard_normal(shape).astype(np.float32), "s": parameter()}
            if operator == "LayerNormalization" and choose.random() < 0.6:
                inputs["b"] = parameter()
            others += any(list(p.shape) != shape[axis:] for name, p in inputs.items() if name != "x")
            axes = tuple(range(axis, rank))
            x = inputs["x"].astype(np.float64)
            if operator == "LayerNormalization":
                x = x - x.mean(axes, keepdims=True)
            expected = x / np.sqrt((x * x).mean(axes, keepdims=True) + 1e-5) * inputs["s"] + inputs.get("b", 0)
            node = helper.make_node(operator, list(inputs), ["y"], axis=choose.choice((axis, axis - rank)))
            with self.subTest(number, operator=operator, axis=axis, shapes=[p.shape for p in inputs.values()]):
                self.agree(run(model_of(node, inputs, 23), inputs), [expected.astype(np.float32)])
        self.assertGreater(others, 30)


class SmallTypes(unittest.TestCase):
    """A Scan from either end, and a Loop that collects, of elements that share bytes."""

    def found(self, nodes, inputs, kind):
        kinds = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in inputs.items()}
        graph = helper.make_graph(
            nodes, "test", [helper.make_tensor_value_info(name, kinds[name], x.shape) for name, x in inputs.items()],
            [onnx.ValueInfoProto(name=name) for name in nodes[-1].output])
        model = helper.make_model(graph, ir_version=13, opset_imports=[helper.make_opsetid("", 25)])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            onnx.save(model, path / "model.onnx")
            command = [TOOL, "run", path / "model.onnx", "--output-dir", path]
            for name, x in inputs.items():
                (path / f"{name}.pb").write_bytes(numpy_helper.from_array(x, name).SerializeToString())
                command += ["--input", f"{name}={path / name}.pb"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = [np.load(path / f"output_{i}.npy") for i in range(len(model.graph.output))]
            # NumPy's files know no small types: an element is a byte.
            return [y.view(kind) for y in found]

    def test_are_scanned_and_collected(self):
        for kind in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2, ml_dtypes.float4_e2m1fn):
            number = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
            for rows, columns in ((3, 5), (4, 1), (1, 7), (0, 3)):
                x = (np.arange(rows * columns) % 2).reshape(rows, columns).astype(kind)
                def row(name):
                    return helper.make_tensor_value_info(name, number, (columns,))
                body = helper.make_graph([helper.make_node("Identity", ["e"], ["f"])], "body", [row("e")], [row("f")])
                for backwards in (0, 1):
                    scan = helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1,
                                            scan_input_directions=[backwards], scan_output_directions=[1])
                    with self.subTest(kind=kind, rows=rows, columns=columns, backwards=backwards):
                        y, = self.found([scan], {"x": x}, kind)
                        expected = x if backwards else x[::-1]
                        np.testing.assert_array_equal(y.astype(float), expected.astype(float))
                body = helper.make_graph(
                    [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Identity", ["s"], ["t"]),
                     helper.make_node("Identity", ["s"], ["u"])], "body",
                    [helper.make_tensor_value_info("i", TensorProto.INT64, ()),
                     helper.make_tensor_value_info("c", TensorProto.BOOL, ()),
                     helper.make_tensor_value_info("s", number, x.shape)],
                    [helper.make_tensor_value_info("d", TensorProto.BOOL, ()),
                     helper.make_tensor_value_info("t", number, x.shape),
                     helper.make_tensor_value_info("u", number, x.shape)])
                nodes = [helper.make_node("Constant", [], ["n"], value_int=3),
                         helper.make_node("Loop", ["n", "", "x"], ["y", "ys"], body=body)]
                with self.subTest(kind=kind, rows=rows, columns=columns):
                    y, ys = self.found(nodes, {"x": x}, kind)
                    np.testing.assert_array_equal(y.astype(float), x.astype(float))
                    np.testing.assert_array_equal(ys.astype(float), np.stack([x] * 3).astype(float))

    def test_fill(self):
        for kind in (ml_dtypes.int4, ml_dtypes.uint2, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e5m2):
            value = numpy_helper.from_array(np.array([1], kind), "value")
            node = helper.make_node("ConstantOfShape", ["s"], ["y"], value=value)
            y, = self.found([node], {"s": np.array([3, 7])}, kind)
            self.assertEqual(y.astype(float).tolist(), [[1.0] * 7] * 3)


class Memory(Case):
    def test_an_arena_that_does_not_fit_is_named(self):
        inputs = {"x": np.zeros((1, 1, 3, 3), np.float32), "w": np.zeros((1, 1, 1, 1), np.float32)}
        node = helper.make_node("Conv", list(inputs), ["y"], pads=[0, 0, 0, 10**9])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.onnx")
            onnx.save(model_of(node, inputs), path)
            done = subprocess.run(["bash", "-c", f"ulimit -v 4000000; exec '{TOOL}' bench '{path}'"],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "the plan needs an arena of 12[0-9]{9} bytes.*--dim")


class Text(Case):
    def test_different_words(self):
        choose = random.Random(4)
        for shape, axis in (((9,), None), ((4, 3), None), ((5, 2), 0), ((2, 6), -1), ((0,), None), ((1,), 0)):
            for in_order in (0, 1):
                words = [choose.choice(("", "a", "ab", "b", "Zo\u00eb", "zz")) for _ in range(int(np.prod(shape)))]
                inputs = {"x": np.array(words, object).reshape(shape)}
                more = {} if axis is None else {"axis": axis}
                node = helper.make_node("Unique", ["x"], ["y", "i", "j", "n"], sorted=in_order, **more)
                y, first, inverse, counts = run(model_of(node, inputs), inputs)
                e, ei, ej, en = np.unique(inputs["x"].astype(str), True, True, True, axis=axis)
                if not in_order:
                    order = np.argsort(ei)
                    back = np.argsort(order)
                    e, ei, ej, en = np.take(e, order, axis or 0), ei[order], back[ej.reshape(-1)], en[order]
                self.assertEqual(np.char.decode(y, "utf-8").tolist(), e.tolist())
                for a, b in ((first, ei), (inverse, ej.reshape(-1)), (counts, en)):
                    self.assertEqual(a.tolist(), b.tolist())

    def test_words_that_are_there(self):
        inputs = {"x": np.array([["", "a"], ["b", ""]], object)}
        node = helper.make_node("NonZero", ["x"], ["y"])
        self.exactly(model_of(node, inputs), inputs, np.array([[0, 1], [1, 0]]))


if __name__ == "__main__":
    unittest.main()
