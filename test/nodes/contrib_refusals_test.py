# SPDX-License-Identifier: Apache-2.0
"""CTR-7: a value of an attribute that is not served is an error of the conversion that names the
node, the operator and the attribute. Usage: contrib_refusals_test.py TOOL"""

import unittest

import numpy as np
from contrib import ContribCase, contrib_model
from one_node import run
from onnx import TensorProto


def ones(*shape, kind=np.float32):
    return np.ones(shape, kind)


VECTOR, MATRIX, ROWS, IMAGE = ones(4), ones(4, 4), ones(2, 3, 4), ones(2, 4, 4, 4)
IDS = ones(2, 3, kind=np.int32)
OPERANDS = {
    "Attention": {"x": ROWS, "w": ones(4, 12)},
    "BiasSoftmax": {"x": MATRIX, "b": MATRIX},
    "EmbedLayerNormalization": {"i": IDS, "s": None, "w": MATRIX, "p": MATRIX, "e": None, "g": VECTOR,
                                "b": VECTOR},
    "FusedConv": {"x": IMAGE, "w": ones(2, 4, 1, 1)},
    "FusedGemm": {"a": MATRIX, "b": MATRIX},
    "FusedMatMul": {"a": MATRIX, "b": MATRIX},
    "GridSample": {"x": IMAGE, "g": ones(2, 3, 3, 2)},
    "GroupNorm": {"x": IMAGE, "g": VECTOR, "b": VECTOR},
    "GroupQueryAttention": {"q": ROWS, "k": ROWS, "v": ROWS, "pk": None, "pv": None,
                            "e": np.array([2, 2], np.int32), "t": np.array([3], np.int32)},
    "MultiHeadAttention": {"q": ROWS, "k": ROWS, "v": ROWS},
    "NhwcConv": {"x": IMAGE, "w": ones(2, 1, 1, 4)},
    "QuickGelu": {"x": ROWS},
    "RotaryEmbedding": {"x": ROWS, "p": ones(2, 3, kind=np.int64), "c": ones(8, 2), "s": ones(8, 2)},
    "SkipLayerNormalization": {"x": ROWS, "s": ROWS, "g": VECTOR},
    "Trilu": {"x": MATRIX},
    "UnfoldTensor": {"x": MATRIX},
}

HEADS, GROUPS = {"num_heads": 2}, {"num_heads": 2, "kv_num_heads": 2}
LENGTH = ones(1, kind=np.int32)
PAST = {"b": None, "m": None, "a": None, "pk": ones(2, 2, 1, 2), "pv": ones(2, 2, 1, 2)}
ABSENT = dict.fromkeys(("c", "s", "p", "a"))

# Operator, the attribute that is wrong and its value, what else the node needs, and the message.
WRONG = (
    ("Attention", "num_heads", 0, {}, "must lie in [1, "),
    ("Attention", "num_heads", 3, {}, "3 heads, which do not divide a width of 4"),
    ("Attention", "unidirectional", 2, {"num_heads": 2}, "must lie in [0, 1], but is 2"),
    ("Attention", "do_rotary", 1, {"num_heads": 2}, "must be 0, but is 1"),
    ("Attention", "past_present_share_buffer", 1, {"num_heads": 2}, "must be 0, but is 1"),
    ("Attention", "qkv_hidden_sizes", [4, 8], {"num_heads": 2}, "has 2 numbers, expected 3"),
    ("Attention", "qkv_hidden_sizes", [0, 0, 4], {"num_heads": 2}, "has the number 0, expected 1 or more"),
    ("BiasSoftmax", "axis", 4, {"is_inner_broadcast": 0}, "is 4, which is no axis"),
    ("BiasSoftmax", "is_inner_broadcast", None, {"axis": 1}, "is required"),
    ("EmbedLayerNormalization", "mask_index_type", 1, {}, "must be 0, but is 1"),
    ("FusedConv", "activation", "Mish", {}, 'must be one of "", "Relu"'),
    ("FusedConv", "activation_params", [1.0], {"activation": "Clip"}, "count mismatch: Clip takes 2, found 1"),
    ("FusedGemm", "activation", "Mish", {}, 'must be one of "", "Relu"'),
    ("FusedGemm", "activation", "Clip", {}, "is 'Clip', whose limits are no attributes of FusedGemm"),
    ("FusedGemm", "transA", 2, {}, "must lie in [0, 1], but is 2"),
    ("FusedMatMul", "transBatchA", 3, {}, "must lie in [0, 1], but is 3"),
    ("GridSample", "mode", "linear", {}, 'must be one of "bilinear", "nearest", "bicubic", but is "linear"'),
    ("GridSample", "padding_mode", "wrap", {}, 'but is "wrap"'),
    ("GroupNorm", "activation", 2, {"groups": 2}, "must lie in [0, 1], but is 2"),
    ("GroupNorm", "activation", None, {"groups": 2}, "is required"),
    ("GroupNorm", "groups", 0, {"activation": 0}, "must lie in [1, "),
    ("GroupQueryAttention", "smooth_softmax", 1, {"num_heads": 2, "kv_num_heads": 2}, "must be 0, but is 1"),
    ("GroupQueryAttention", "kv_num_heads", 3, {"num_heads": 2}, "3 heads, which do not divide a width of 4"),
    ("MultiHeadAttention", "num_heads", None, {}, "is required"),
    ("MultiHeadAttention", "num_heads", 3, {}, "3 heads, which do not divide a width of 4"),
    ("MultiHeadAttention", "unidirectional", -1, {"num_heads": 2}, "must lie in [0, 1], but is -1"),
    ("QuickGelu", "alpha", "a", {}, "must be a float, but is a string"),
    ("QuickGelu", "beta", 1.0, {}, 'is unknown; the operator has "alpha"'),
    ("RotaryEmbedding", "scale", 2.0, {}, "has to be 1, found 2"),
    ("RotaryEmbedding", "is_packed_batching", 1, {}, "must be 0, but is 1"),
    ("RotaryEmbedding", "rotary_embedding_dim", 2, {}, "needs attribute 'num_heads'"),
    ("RotaryEmbedding", "rotary_embedding_dim", 2, {"num_heads": 1}, "is 2, expected twice the 2 columns"),
    ("SkipLayerNormalization", "eps", 1.0, {}, 'is unknown; the operator has "epsilon"'),
    ("Trilu", "upper", 2, {}, "must lie in [0, 1], but is 2"),
    ("UnfoldTensor", "dim", 2, {"size": 1}, "is 2, which is no axis"),
    ("UnfoldTensor", "size", 0, {}, "must lie in [1, "),
    ("UnfoldTensor", "step", 0, {"size": 1}, "must lie in [1, "),
)


class Refusals(ContribCase):
    def test_ctr_07_attributes(self):
        for operator, attribute, value, others, message in WRONG:
            with self.subTest(operator, attribute=attribute, value=value):
                inputs = OPERANDS[operator]
                attributes = {**others, **({} if value is None else {attribute: value})}
                model = contrib_model(operator, inputs, (TensorProto.FLOAT,), **attributes)
                model.graph.node[0].name = "the one"
                found = run(model, {name: x for name, x in inputs.items() if x is not None})
                self.assertIsInstance(found, str)
                self.assertIn(f"node 'the one' (com.microsoft:{operator}): ", found)
                self.assertIn(attribute, found)
                self.assertIn(message, found)

    def test_ctr_07_operands(self):
        """What an operator of ONNX Runtime takes and this one does not is named, with its place."""
        for operator, more, outputs, attributes, message in (
                ("Attention", {"b": ones(12), "m": None, "p": None, "a": None, "n": LENGTH}, 1, HEADS,
                 "input 'past_sequence_length' is not supported"),
                ("MultiHeadAttention", PAST | {"n": LENGTH}, 1, HEADS,
                 "input 'past_sequence_length' is not supported"),
                ("MultiHeadAttention", PAST | {"n": None, "c": ones(2, 1, 4, kind=np.int32)}, 1, HEADS,
                 "input 'cache_indirection' is not supported"),
                ("MultiHeadAttention", {}, 4, HEADS, "output 3 ('qk') is not supported"),
                ("MultiHeadAttention", {"b": None, "m": None, "a": None, "pk": ones(2, 2, 1, 2)}, 1, HEADS,
                 "past_key and past_value belong together; one is missing"),
                ("GroupQueryAttention", ABSENT | {"h": ones(2)}, 1, GROUPS,
                 "input 'head_sink' is not supported"),
                ("GroupQueryAttention", ABSENT | {"h": None, "ks": ones(1)}, 1, GROUPS,
                 "input 'k_scale' is not supported"),
                ("GroupQueryAttention", ABSENT | {"h": None, "ks": None, "vs": ones(1)}, 1, GROUPS,
                 "input 'v_scale' is not supported"),
                ("GroupQueryAttention", {}, 4, GROUPS, "output 3 ('output_qk') is not supported"),
                ("GroupQueryAttention", {"pk": ones(2, 2, 1, 2)}, 1, GROUPS,
                 "past_key and past_value belong together; one is missing"),
                ("GroupQueryAttention", ABSENT | {"a": ones(3, 3)}, 1, GROUPS,
                 "attention_bias has 2 axes, expected 4"),
                ("GroupQueryAttention", {"v": None}, 1, GROUPS, "key and value belong together"),
                ("GroupQueryAttention", {}, 1, GROUPS | {"do_rotary": 1}, "needs inputs cos_cache and sin_cache"),
                ("RotaryEmbedding", {}, 1, {"num_heads": 2}, "cos_cache has 2 columns, expected half of the 2 elements"),
                ("NhwcConv", {"x": MATRIX}, 1, {}, "X has to have 3 axes or more, found 2"),
                ("NhwcConv", {"w": VECTOR}, 1, {}, "W has to have 3 axes or more, found 1")):
            with self.subTest(operator, message=message):
                inputs = OPERANDS[operator] | more
                kinds = [TensorProto.FLOAT if i in (0, outputs - 1) else None for i in range(outputs)]
                model = contrib_model(operator, inputs, kinds, **attributes)
                model.graph.node[0].name = "the one"
                found = run(model, {name: x for name, x in inputs.items() if x is not None})
                self.assertIsInstance(found, str)
                self.assertIn(f"node 'the one' (com.microsoft:{operator}): ", found)
                self.assertIn(message, found)


if __name__ == "__main__":
    unittest.main()
