# SPDX-License-Identifier: Apache-2.0
"""Models as ONNX Runtime's tools quantise them, beside ONNX Runtime. Usage: quantizers_test.py TOOL"""

import logging
import pathlib
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from model_codes import check_codes
from one_node import Case, exact_products, run
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization


class Network:
    def __init__(self, seed):
        self.values, self.nodes, self.held = np.random.default_rng(seed), [], []

    def weights(self, *shape):
        array = (self.values.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32)
        return self.constant(array)

    def constant(self, array):
        self.held.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.held)}"))
        return self.held[-1].name

    def op(self, operator, *inputs, **attributes):
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [f"{name}_out"], name=name, **attributes))
        return self.nodes[-1].output[0]

    def model(self, result, shape, kind=TensorProto.FLOAT):
        graph = helper.make_graph(self.nodes, "test", [helper.make_tensor_value_info("x", kind, shape)],
                                  [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)], self.held)
        return onnx.shape_inference.infer_shapes(
            helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]))


def convolutional():
    """Residual blocks, every kind of pooling, activations, a classifier."""
    n = Network(1)
    x = n.op("Relu", n.op("Conv", "x", n.weights(8, 3, 3, 3), n.weights(8), pads=[1] * 4))
    y = n.op("Conv", x, n.weights(8, 8, 3, 3), n.weights(8), pads=[1] * 4)
    x = n.op("LeakyRelu", n.op("Add", x, y), alpha=0.1)
    x = n.op("Concat", n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]),
             n.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), axis=1)
    x = n.op("Mul", x, n.op("Sigmoid", n.op("Conv", x, n.weights(16, 16, 1, 1), n.weights(16))))
    x = n.op("Flatten", n.op("GlobalAveragePool", x))
    return n.model(n.op("Softmax", n.op("Gemm", x, n.weights(16, 10), n.weights(10))), (2, 3, 16, 16))


def transformer():
    """A block of a BERT on features: one head, products of activations, normalisation."""
    n, size = Network(2), 32
    q, k, v = (n.op("Add", n.op("MatMul", "x", n.weights(size, size)), n.weights(size)) for _ in range(3))
    scores = n.op("Div", n.op("MatMul", q, n.op("Transpose", k, perm=[0, 2, 1])), n.constant(np.float32(5.7)))
    x = n.op("Add", "x", n.op("MatMul", n.op("Softmax", scores, axis=-1), v))
    x = n.op("LayerNormalization", x, n.constant(np.ones(size, np.float32)), n.weights(size))
    y = n.op("Relu", n.op("Add", n.op("MatMul", x, n.weights(size, 64)), n.weights(64)))
    return n.model(n.op("Add", x, n.op("MatMul", y, n.weights(64, size))), (2, 12, size))


def recurrent():
    """Two layers, the first in both directions."""
    n = Network(3)
    x = n.op("LSTM", "x", n.weights(2, 64, 6), n.weights(2, 64, 16), n.weights(2, 128), hidden_size=16,
             direction="bidirectional")
    x = n.op("Reshape", n.op("Transpose", x, perm=[0, 2, 1, 3]), n.constant(np.array([0, 0, -1])))
    x = n.op("LSTM", x, n.weights(1, 32, 32), n.weights(1, 32, 8), n.weights(1, 64), hidden_size=8)
    x = n.op("Squeeze", x, n.constant(np.array([1])))
    return n.model(n.op("MatMul", x, n.weights(8, 5)), (7, 2, 6))


class Calibration(quantization.CalibrationDataReader):
    def __init__(self, inputs):
        self.left = iter(inputs)

    def get_next(self):
        return next(self.left, None)


class Quantizers(Case):
    def setUp(self):
        logging.disable(logging.WARNING)

    def tearDown(self):
        logging.disable(logging.NOTSET)

    def inputs(self, model):
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        return [{"x": np.random.default_rng(i).standard_normal(shape).astype(np.float32)} for i in range(4)]

    def compare(self, model, fed, tolerance, wanted):
        """Differences of a step or two of 8 bits, which later layers spread."""
        kinds = {node.op_type for node in model.graph.node}
        self.assertLessEqual(set(wanted), kinds)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1  # as the states of an LSTM are quantised together
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        expected, found = session.run(None, fed)[0], run(model, fed)
        self.assertIsInstance(found, list, found)
        self.assertEqual((found[0].shape, found[0].dtype), (expected.shape, expected.dtype))
        self.assertLessEqual(np.abs(found[0] - expected).max(), tolerance * np.abs(expected).max())

    def quantized(self, model, quantize, **options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            onnx.save(model, path / "model.onnx")
            quantize(str(path / "model.onnx"), str(path / "quantized.onnx"), reduce_range=not exact_products(), **options)
            return onnx.load(path / "quantized.onnx")

    def test_static(self):
        wanted = {convolutional: ["QLinearConv", "QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu",
                                  "QLinearConcat", "QLinearAveragePool", "QLinearGlobalAveragePool", "QGemm",
                                  "QLinearSoftmax"],
                  transformer: ["QLinearMatMul", "QLinearAdd", "QLinearSoftmax"]}
        kinds = quantization.QuantType
        for make, operators in wanted.items():
            model = make()
            for form, channels, activations in (
                    (quantization.QuantFormat.QOperator, False, kinds.QUInt8),
                    (quantization.QuantFormat.QOperator, True, kinds.QUInt8),
                    (quantization.QuantFormat.QOperator, False, kinds.QInt8),
                    (quantization.QuantFormat.QDQ, False, kinds.QUInt8),
                    (quantization.QuantFormat.QDQ, True, kinds.QInt8)):
                inputs = self.inputs(model)
                with self.subTest(make.__name__, form=form, channels=channels, activations=activations):
                    quantized = self.quantized(model, quantization.quantize_static,
                                               calibration_data_reader=Calibration(inputs), quant_format=form,
                                               per_channel=channels, activation_type=activations,
                                               weight_type=kinds.QInt8)
                    integers = form == quantization.QuantFormat.QOperator
                    self.compare(quantized, inputs[0], 0.02,
                                 operators if integers else ["QuantizeLinear", "DequantizeLinear"])
                    check_codes(self, quantized, inputs[1], TensorProto.UINT8 if activations == kinds.QUInt8
                                else TensorProto.INT8)

    def test_16_bits(self):
        """QuantizeLinear and DequantizeLinear of ONNX Runtime's domain."""
        model, kinds = convolutional(), quantization.QuantType
        inputs = self.inputs(model)
        quantized = self.quantized(model, quantization.quantize_static, calibration_data_reader=Calibration(inputs),
                                   activation_type=kinds.QUInt16, weight_type=kinds.QInt8,
                                   extra_options={"UseQDQContribOps": True})
        self.assertIn("com.microsoft", {node.domain for node in quantized.graph.node})
        self.compare(quantized, inputs[0], 1e-3, ["QuantizeLinear"])

    def test_dynamic(self):
        for make, operators in ((transformer, ["DynamicQuantizeLinear", "MatMulInteger"]),
                                (recurrent, ["DynamicQuantizeLSTM"])):
            model = make()
            with self.subTest(make.__name__):
                quantized = self.quantized(model, quantization.quantize_dynamic)
                self.compare(quantized, self.inputs(model)[0], 1e-4 if make == recurrent else 0.01, operators)
                check_codes(self, quantized, self.inputs(model)[1], TensorProto.UINT8)


if __name__ == "__main__":
    unittest.main()
