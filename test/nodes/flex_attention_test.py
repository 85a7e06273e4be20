# SPDX-License-Identifier: Apache-2.0
"""FlexAttention of ai.onnx.preview with graphs of many kinds, beside NumPy. Usage:
flex_attention_test.py TOOL"""

import random
import unittest

import numpy as np
import onnx
from one_node import Case, model_of, run
from onnx import helper


class FlexAttention(Case):
    @staticmethod
    def modifier(name, kind, nodes, constants, result="y"):
        """A graph attribute of FlexAttention, over its input x."""
        element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        return helper.make_graph(
            nodes, name, [helper.make_tensor_value_info("x", element, None)],
            [helper.make_tensor_value_info(result, element, None)],
            [onnx.numpy_helper.from_array(value, key) for key, value in constants.items()])

    @staticmethod
    def flex_model(inputs, **attributes):
        node = helper.make_node("FlexAttention", ["q", "k", "v"], ["y"], domain="ai.onnx.preview",
                                **attributes)
        model = model_of(node, inputs, 26)
        model.opset_import.append(helper.make_opsetid("ai.onnx.preview", 1))
        return model

    def test_flex_attention_of_random_forms(self):
        choose, values = random.Random(8), np.random.default_rng(8)
        make = helper.make_node
        def branch(name, operator):
            return helper.make_graph([make(operator, ["x"], [name])], name, [],
                                     [onnx.ValueInfoProto(name=name)])
        for number in range(100):
            batch, groups, theirs = choose.randint(1, 3), choose.choice((1, 1, 2, 3)), choose.randint(1, 3)
            queries, keys = choose.randint(1, 5), choose.randint(1, 6)
            size, value_size = choose.randint(1, 8), choose.randint(1, 8)
            kind = choose.choice((np.float32, np.float32, np.float64, np.float16))
            inputs = {"q": values.standard_normal((batch, theirs * groups, queries, size)).astype(kind),
                      "k": values.standard_normal((batch, theirs, keys, size)).astype(kind),
                      "v": values.standard_normal((batch, theirs, keys, value_size)).astype(kind)}
            attributes, scale = {}, size ** -0.5
            precision = np.float64 if kind == np.float64 else np.float32
            if choose.random() < 0.3:
                scale = attributes["scale"] = 0.25
            if choose.random() < 0.4:
                precision = choose.choice((np.float16, np.float32, np.float64))
                attributes["softmax_precision"] = helper.np_dtype_to_tensor_dtype(np.dtype(precision))
            def constant(value, kind=precision):
                return np.asarray(value, kind)
            bias = values.standard_normal((queries, keys)).astype(precision)
            below = np.arange(keys) <= np.arange(queries)[:, None]
            index = {"zero": constant(0, np.int64), "one": constant(1, np.int64), "low": constant(-1e4),
                     "qs": constant([1, -1], np.int64), "ks": constant([1, 1, -1], np.int64)}
            causal = [make("Shape", ["x"], ["l"], start=2, end=3), make("Shape", ["x"], ["s"], start=3),
                      make("Squeeze", ["l"], ["l0"]), make("Squeeze", ["s"], ["s0"]),
                      make("Range", ["zero", "l0", "one"], ["i"]), make("Range", ["zero", "s0", "one"], ["j"]),
                      make("Reshape", ["i", "qs"], ["i1"]), make("Reshape", ["j", "ks"], ["j1"]),
                      make("Transpose", ["i1"], ["i2"]), make("LessOrEqual", ["j1", "i2"], ["open"]),
                      make("Where", ["open", "x", "low"], ["y"])]
            chosen = make("If", ["true"], ["y"], then_branch=branch("a", "Neg"), else_branch=branch("b", "Abs"))
            graphs = {  # nodes, their constants, the result's name, what it is
                "none": None,
                "same": ([], {}, "x", lambda x: x),
                "cap": ([make("Tanh", ["x"], ["t"]), make("Mul", ["t", "c"], ["y"])], {"c": constant(2)}, "y",
                        lambda x: 2 * np.tanh(x)),
                "causal": (causal, index, "y", lambda x: np.where(below, x, -1e4)),
                "captured": ([make("Add", ["x", "bias"], ["y"])], {}, "y", lambda x: x + bias),
                "replaced": ([make("Abs", ["x"], ["t"]), make("CastLike", ["t", "x"], ["y"])], {}, "y", np.abs),
                "decided": ([chosen], {"true": np.array(True)}, "y", lambda x: -x),
            }
            work = {}
            for name in ("score_mod", "prob_mod"):
                work[name] = choose.choice(list(graphs))
                if (graph := graphs[work[name]]) is not None:
                    attributes[name] = self.modifier(name, precision, *graph[:3])
            if "captured" in work.values():
                inputs["bias"] = bias
            wide = {name: x.astype(np.float64) for name, x in inputs.items()}
            k, v = (np.repeat(wide[name], groups, 1) for name in "kv")
            x = wide["q"] @ k.swapaxes(2, 3) * scale
            for name in ("score_mod", "prob_mod"):
                if (graph := graphs[work[name]]) is not None:
                    x = graph[3](x)
                if name == "score_mod":
                    x = np.exp(x - x.max(-1, keepdims=True))
                    x /= x.sum(-1, keepdims=True)
            half = np.float16 in (kind, precision)
            with self.subTest(number, kind=kind, precision=precision, work=work, groups=groups):
                found = run(self.flex_model(inputs, **attributes), inputs)
                self.assertIsInstance(found, list, found)
                self.assertEqual(found[0].dtype, kind)
                self.agree([found[0].astype(np.float64)], [x @ v], 2e-2 if half else 1e-4)

    def test_flex_attention_refuses_what_means_nothing(self):
        make, x = helper.make_node, np.ones((1, 4, 2, 6), np.float32)
        float32, float16 = np.float32, np.float16
        total = [make("ReduceSum", ["x"], ["y"], keepdims=1)]
        three = {name: x for name in "qkv"}
        for inputs, attributes, message in (
                (three | {"k": x[0]}, {}, "Q, K and V have to have 4 axes"),
                (three | {"k": x[:, :3], "v": x[:, :3]}, {}, "multiple of the second"),
                (three | {"v": x[:, :, :1]}, {}, "K and V differ along axis 2"),
                (three | {"q": x[..., :5]}, {}, "Q and K differ along axis 3"),
                (three, {"softmax_precision": 7}, "softmax_precision"),
                (three, {"score_mod": self.modifier("g", float16, [make("Neg", ["x"], ["y"])], {})},
                 "the graph 'score_mod' takes 'x' as float16, but is given float"),
                (three, {"prob_mod": self.modifier("g", float32, total, {})},
                 "the graph 'prob_mod' makes float [1,1,1,1] of float [1,4,2,2]"),
                (three, {"other_mod": self.modifier("g", float32, total, {})}, '"other_mod" is unknown')):
            with self.subTest(message):
                self.assertIn(message, run(self.flex_model(inputs, **attributes), inputs))
        many = self.modifier("g", float32, [make("Neg", ["x"], ["y"])], {})
        many.input.append(helper.make_tensor_value_info("z", 1, None))
        self.assertIn("has 2 inputs and 1 outputs, expected 1 and 1",
                      run(self.flex_model(three, score_mod=many), three))


if __name__ == "__main__":
    unittest.main()
