# SPDX-License-Identifier: Apache-2.0
"""Models that ONNX Runtime's tools have rewritten, beside ONNX Runtime. Usage:
contrib_models_test.py TOOL"""

import logging
import pathlib
import tempfile
import unittest
import unittest.mock

import numpy as np
import onnx
import onnxruntime
from contrib_models import bert, bert_inputs, cnn, cnn_inputs, gpt, t5
from model_codes import check_codes
from one_node import Case, call, exact_products, run
from onnx import TensorProto, helper
from onnxruntime import GraphOptimizationLevel, quantization
from onnxruntime.transformers.float16 import convert_float_to_float16
from onnxruntime.transformers.fusion_nhwc_conv import FusionNhwcConv
from onnxruntime.transformers.fusion_options import FusionOptions
from onnxruntime.transformers.optimizer import OnnxModel, optimize_model


def session(model, level=GraphOptimizationLevel.ORT_DISABLE_ALL, save=None):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 3  # without the warning that a saved model fits one machine
    if save is not None:
        options.optimized_model_filepath = str(save)
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def types(model):
    """The operators of a model's nodes."""
    return {f"{node.domain}:{node.op_type}" if node.domain else node.op_type
            for node in model.graph.node}


def given_to(model, inputs):
    """`inputs`, as far as the model has them and in its types."""
    return {each.name: inputs[each.name].astype(
                helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type))
            for each in model.graph.input}


class Calibration(quantization.CalibrationDataReader):
    def __init__(self, inputs):
        self.left = iter(inputs)

    def get_next(self):
        return next(self.left, None)


class Rewritten(Case):
    def setUp(self):
        logging.disable(logging.WARNING)
        self.addCleanup(logging.disable, logging.NOTSET)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "model.onnx")

    def saved(self, model, level):
        """What ONNX Runtime makes of a model."""
        session(model, level, save=self.path)
        return onnx.load(self.path)

    def fused(self, model, kind, multi_head=False):
        """What the optimizer for transformers makes of a model."""
        onnx.save(model, self.path)
        options = FusionOptions(kind)
        options.use_multi_head_attention = multi_head
        options.enable_shape_inference = False  # which needs a package more
        # That of T5 asks for it whatever the options say.
        with unittest.mock.patch.object(OnnxModel, "infer_runtime_shape", return_value=None):
            optimized = optimize_model(str(self.path), kind, num_heads=4, hidden_size=64, opt_level=0,
                                       optimization_options=options)
        optimized.save_model_to_file(str(self.path))
        return onnx.load(self.path)

    def quantized(self, model, inputs, form=None):
        """What the quantisers make of a model: the static one with a form, else the dynamic one."""
        path = self.path.with_name("quantized.onnx")
        onnx.save(model, self.path)
        in_floats = form == quantization.QuantFormat.QDQ  # as ONNX Runtime is not to optimise
        options = {"extra_options": {"DefaultTensorType": TensorProto.FLOAT},  # of what com.microsoft's operators give
                   "reduce_range": not in_floats and not exact_products()}
        if form is None:
            quantization.quantize_dynamic(str(self.path), str(path), **options)
        else:
            quantization.quantize_static(
                str(self.path), str(path), Calibration([given_to(model, each) for each in inputs]),
                quant_format=form, weight_type=quantization.QuantType.QInt8, **options)
        return onnx.load(path)

    def check(self, rewritten, original, inputs, tolerance=2e-5, expects=()):
        """Compares the rewritten model here with itself in ONNX Runtime and with what it was."""
        self.assertLessEqual({f"com.microsoft:{name}" for name in expects}, types(rewritten))
        given = given_to(rewritten, inputs)
        found = run(rewritten, given)
        before = session(original).run(None, inputs)
        self.assertGreater(np.std(before[0]), 0.3)
        self.agree(found, session(rewritten).run(None, given), tolerance)
        self.agree(found, before, tolerance)

    def check_both_widths(self, model, original, inputs, expects):
        self.check(model, original, inputs, expects=expects)
        halves = convert_float_to_float16(model, keep_io_types=True, disable_shape_infer=True)
        # They have eleven bits, and such a model some twenty steps.
        self.check(halves, original, inputs, 1.5e-2, expects)

    def test_fused_encoder(self):
        original, inputs = bert(), bert_inputs()
        for form, multi_head in (("Attention", False), ("MultiHeadAttention", True)):
            with self.subTest(form):
                model = self.fused(original, "bert", multi_head)
                self.check_both_widths(model, original, inputs, (
                    form, "EmbedLayerNormalization", "SkipLayerNormalization", "BiasGelu"))

    def test_fused_decoder(self):
        original = gpt()
        model = self.fused(original, "gpt2")
        self.check_both_widths(model, original, {"input_ids": bert_inputs(2, 9)["input_ids"]}, (
            "Attention", "EmbedLayerNormalization", "SkipLayerNormalization", "FastGelu"))

    def test_fused_encoder_of_relative_positions(self):
        """Against what it was: ONNX Runtime has no RelativePositionBias on the CPU."""
        original, inputs = t5(), bert_inputs(length=29)
        del inputs["token_type_ids"]
        model = self.fused(original, "t5")
        self.assertLessEqual({"com.microsoft:Attention", "com.microsoft:RelativePositionBias",
                              "SimplifiedLayerNormalization"}, types(model))
        before = session(original).run(None, inputs)
        self.agree(run(model, given_to(model, inputs)), before, 2e-5)
        halves = convert_float_to_float16(model, keep_io_types=True, disable_shape_infer=True)
        self.agree(run(halves, given_to(halves, inputs)), before, 1.5e-2)

    def check_quantized(self, model, original, inputs, nearness, *expects):
        """Like ONNX Runtime but for the order of sums, and about what it was."""
        self.assertLessEqual(set(expects), types(model))
        found = run(model, given_to(model, inputs))
        self.agree(found, session(model).run(None, given_to(model, inputs)), 2e-3)
        if nearness is not None:
            self.agree(found, session(original).run(None, inputs), nearness)

    def test_quantized(self):
        forms = quantization.QuantFormat
        sentences = [bert_inputs(seed=seed) for seed in range(4)]
        images = [cnn_inputs(seed=seed) for seed in range(4)]
        for original, inputs in ((bert(), sentences), (cnn(), images)):
            for form, operators in ((None, ["DynamicQuantizeLinear", "MatMulInteger"]),
                                    (forms.QDQ, ["QuantizeLinear", "DequantizeLinear"]),
                                    (forms.QOperator, ["QuantizeLinear", "com.microsoft:QLinearAdd"])):
                # Fixed steps of a mask that reaches down to -10000 hide the scores.
                hidden = form is not None and inputs is sentences
                with self.subTest(inputs=list(inputs[0]), form=form):
                    model = self.quantized(original, inputs, form)
                    self.check_quantized(model, original, inputs[0], None if hidden else 0.15, *operators)
                    check_codes(self, model, given_to(model, inputs[1]), TensorProto.INT8)

    def test_fused_and_quantized(self):
        sentences = [bert_inputs(seed=seed) for seed in range(4)]
        words = [{"input_ids": bert_inputs(2, 9, seed=seed)["input_ids"]} for seed in range(4)]
        for original, kind, multi_head, inputs in ((bert(), "bert", False, sentences),
                                                   (bert(), "bert", True, sentences),
                                                   (gpt(), "gpt2", False, words)):
            form = "MultiHeadAttention" if multi_head else "Attention"
            fused = self.fused(original, kind, multi_head)
            with self.subTest(kind=kind, form=form):
                self.check_quantized(
                    self.quantized(fused, inputs), original, inputs[0], 0.15, "MatMulInteger",
                    "com.microsoft:" + (form if multi_head else "QAttention"))
                self.check_quantized(
                    self.quantized(fused, inputs, quantization.QuantFormat.QDQ), original, inputs[0],
                    0.15, "DequantizeLinear", f"com.microsoft:{form}")

    def test_saved_encoder(self):
        for extents in (("batch", "length"), (2, 11)):
            original, inputs = bert(extents=extents), bert_inputs()
            with self.subTest(extents=extents):
                basic = self.saved(original, GraphOptimizationLevel.ORT_ENABLE_BASIC)
                self.check(basic, original, inputs)
                extended = self.saved(original, GraphOptimizationLevel.ORT_ENABLE_EXTENDED)
                fixed = isinstance(extents[0], int)
                self.check(extended, original, inputs, expects=(
                    "FusedMatMul", *(("Gelu", "SkipLayerNormalization") if fixed else ("BiasGelu",))))

    def test_saved_network(self):
        original, inputs = cnn(), cnn_inputs()
        basic = self.saved(original, GraphOptimizationLevel.ORT_ENABLE_BASIC)
        self.assertNotIn("BatchNormalization", types(basic))
        self.check(basic, original, inputs)
        extended = self.saved(original, GraphOptimizationLevel.ORT_ENABLE_EXTENDED)
        self.check(extended, original, inputs, expects=("FusedConv", "FusedGemm"))

    def test_network_of_channels_last(self):
        """As the optimizer for diffusion models makes it. Against what it was: no NhwcConv in ONNX Runtime on CPUs."""
        original, inputs = cnn(), cnn_inputs()
        for update_weight in (False, True):
            model = OnnxModel(onnx.shape_inference.infer_shapes(original))
            FusionNhwcConv(model, update_weight).apply()
            model.prune_graph()
            model.model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
            with self.subTest(update_weight=update_weight):
                self.assertIn("com.microsoft:NhwcConv", types(model.model))
                self.assertNotIn("Conv", types(model.model))
                self.agree(run(model.model, inputs), session(original).run(None, inputs), 2e-5)

    def test_a_layout_of_their_own_is_refused(self):
        everything = self.saved(cnn(), GraphOptimizationLevel.ORT_ENABLE_ALL)
        foreign = {name for name in types(everything) if name.startswith("com.microsoft.nchwc:")}
        self.assertIn("com.microsoft.nchwc:Conv", foreign)
        message = call(everything, "convert", "-o", self.path)
        lines = message.splitlines()
        self.assertEqual(len(lines), len(foreign), message)
        for name in foreign:
            [line] = [each for each in lines if f"({name})" in each]
            self.assertIn("save it at level extended", line)
            self.assertNotIn("--operators", line)
            self.assertNotIn("names like it", line)
        [convolutions] = [each for each in lines if "(com.microsoft.nchwc:Conv)" in each]
        nodes = [node.name for node in everything.graph.node
                 if node.domain == "com.microsoft.nchwc" and node.op_type == "Conv"]
        self.assertIn(f"nodes '{nodes[0]}', '{nodes[1]}', '{nodes[2]}' and {len(nodes) - 3} more "
                      "(com.microsoft.nchwc:Conv): ", convolutions)

    def test_domains_that_no_node_uses_do_not_matter(self):
        model = cnn()
        for domain in ("com.microsoft.nchwc", "com.ms.internal.nhwc", "org.pytorch.aten", "com.example"):
            model.opset_import.append(helper.make_opsetid(domain, 1))
        self.check(model, cnn(), cnn_inputs())


if __name__ == "__main__":
    unittest.main()
