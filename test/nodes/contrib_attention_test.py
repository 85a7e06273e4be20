# SPDX-License-Identifier: Apache-2.0
"""Attention and rotary embeddings of ONNX Runtime's domain beside ONNX Runtime. Usage:
contrib_attention_test.py TOOL"""

import itertools
import random
import unittest

import numpy as np
from contrib import ContribCase, contrib_model
from one_node import run
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT


class Contrib(ContribCase):
    def setUp(self):
        self.choose = random.Random(self._testMethodName)
        self.values = np.random.default_rng(11)

    def draw(self, *shape):
        return self.values.standard_normal(shape).astype(np.float32)

    def maybe(self, value):
        return value if self.choose.random() < 0.5 else None

    def refused(self, message, operator, inputs, outputs=(FLOAT,), **attributes):
        model = contrib_model(operator, inputs, outputs, **attributes)
        found = run(model, {name: x for name, x in inputs.items() if x is not None})
        with self.subTest(operator, message=message):
            self.assertIn(message, found)

    def mask(self, batch, queries, keys, past):
        """One of the forms that a mask has; each leaves something open to every query."""
        total = keys + past
        def some(*shape):
            mask = (self.values.random(shape) < 0.7).astype(np.int32)
            mask[..., 0] = 1
            return mask
        lengths = self.values.integers(1, total + 1, batch).astype(np.int32)
        kind = self.choose.choice(("none", "lengths", "ends", "keys", "queries", "square"))
        if kind == "lengths":
            return lengths
        if kind == "ends":
            starts = np.minimum(self.values.integers(0, total, batch), lengths - 1)
            return np.concatenate([lengths, starts.astype(np.int32)])
        if kind == "keys":
            return some(batch, total)
        if kind == "queries":
            return some(batch, queries, total)
        if kind == "square":
            return some(batch, 1, total + 2, total + 2)
        return None

    def test_attention(self):
        for _ in range(80):
            batch, length, heads = (self.choose.randint(1, 3) for _ in range(3))
            size, hidden = self.choose.choice((2, 4)), self.choose.choice((4, 6))
            past = self.choose.choice((0, 0, 3))
            width = heads * size
            attributes = {"num_heads": heads}
            sizes = [width] * 3
            if past == 0 and self.choose.random() < 0.3:
                sizes = [width, width, 2 * width]
                attributes["qkv_hidden_sizes"] = sizes
            if self.choose.random() < 0.3:
                attributes["unidirectional"] = 1
            if self.choose.random() < 0.3:
                attributes["scale"] = 0.3
            if self.choose.random() < 0.3:
                attributes["mask_filter_value"] = -50.0
            weights = self.draw(hidden, sum(sizes))
            inputs = {"x": self.draw(batch, length, hidden), "w": weights,
                      "b": self.draw(sum(sizes)), "m": self.mask(batch, length, length, past),
                      "p": self.draw(2, batch, heads, past, size) if past else None,
                      "a": None if past else self.maybe(
                          self.draw(self.choose.choice((1, batch)), self.choose.choice((1, heads)), length,
                                    length))}
            outputs = (FLOAT, FLOAT) if past or self.choose.random() < 0.3 else (FLOAT,)
            if attributes.get("qkv_hidden_sizes"):
                outputs = (FLOAT,)
            reference = None
            if inputs["m"] is not None and inputs["m"].ndim == 4:  # which the CPU provider does not take
                rows = inputs["m"][:, 0, past:past + length, :past + length]
                reference = {**inputs, "m": np.ascontiguousarray(rows)}
            self.beside("Attention", inputs, outputs, tolerance=1e-4, reference=reference, **attributes)

    def test_multi_head_attention(self):
        for _ in range(100):
            batch, length, heads = (self.choose.randint(1, 3) for _ in range(3))
            size = self.choose.choice((2, 4))
            value_size = self.choose.choice((size, size, 3))
            keys = self.choose.choice((length, length, length + 2))
            form = self.choose.choice(("apart", "apart", "past", "cross", "key_value", "all"))
            attributes = {"num_heads": heads}
            if self.choose.random() < 0.3:
                attributes["scale"] = 0.4
            if self.choose.random() < 0.3:
                attributes["unidirectional"] = 1
            past = 2 if form == "past" else 0
            if form != "apart":
                value_size = size
            if form in ("all", "past"):
                keys = length
            width, value_width = heads * size, heads * value_size
            inputs = dict.fromkeys(("q", "k", "v", "b", "m", "a", "pk", "pv"))
            if form == "all":
                inputs["q"] = self.draw(batch, length, heads, 3, size)
            else:
                inputs["q"] = self.draw(batch, length, width)
            if form == "key_value":
                inputs["k"] = self.draw(batch, keys, heads, 2, size)
            elif form == "cross":
                inputs["k"] = self.draw(batch, heads, keys, size)
                inputs["v"] = self.draw(batch, heads, keys, value_size)
            elif form != "all":
                inputs["k"], inputs["v"] = self.draw(batch, keys, width), self.draw(batch, keys, value_width)
            if form != "cross":
                inputs["b"] = self.maybe(self.draw(2 * width + value_width))
            if past:
                inputs["pk"] = self.draw(batch, heads, past, size)
                inputs["pv"] = self.draw(batch, heads, past, value_size)
            total = keys + past
            mask = self.choose.choice(("none", "lengths", "keys", "queries"))
            if mask == "lengths" and form != "past":
                inputs["m"] = self.values.integers(1, total + 1, batch).astype(np.int32)
            elif mask in ("keys", "queries"):
                shape = (batch, total) if mask == "keys" else (batch, length, total)
                inputs["m"] = (self.values.random(shape) < 0.7).astype(np.int32)
                inputs["m"][..., 0] = 1
            inputs["a"] = self.maybe(self.draw(self.choose.choice((1, batch)),
                                               self.choose.choice((1, heads)), length, total))
            outputs = (FLOAT, FLOAT, FLOAT) if past else (FLOAT,)
            reference = None  # packed operands are not for its CPU provider
            row = lambda x: np.ascontiguousarray(x.reshape(batch, x.shape[1], -1))
            if form == "all":
                reference = {**inputs, **{name: row(inputs["q"][:, :, :, i]) for i, name in enumerate("qkv")}}
            elif form == "key_value":
                reference = {**inputs, **{name: row(inputs["k"][:, :, :, i]) for i, name in enumerate("kv")}}
            self.beside("MultiHeadAttention", inputs, outputs, tolerance=1e-4, reference=reference,
                        **attributes)

    def test_multi_head_presents(self):
        """Keys and values are outputs without a past, too, and with one they need not be."""
        for length, keys, biased, past in ((3, 3, True, 0), (3, 5, False, 0), (2, 2, True, 3)):
            inputs = {"q": self.draw(2, length, 8), "k": self.draw(2, keys, 8), "v": self.draw(2, keys, 8),
                      "b": self.draw(24) if biased else None, "m": None, "a": None,
                      "pk": self.draw(2, 2, past, 4) if past else None,
                      "pv": self.draw(2, 2, past, 4) if past else None}
            found = self.beside("MultiHeadAttention", inputs, (FLOAT,) * 3, num_heads=2)
            self.alone("MultiHeadAttention", inputs, found[0], num_heads=2)

    def test_mask_filters(self):
        """A key that is closed has a score that exceeds others' by as much as the filter takes away: both weigh the
        same. Where all keys are closed, a filter changes nothing."""
        for given, causal, masks in itertools.product(
                (None, -100.0, -1.0), (0, 1), (([[0, 1, 1], [1, 1, 0]]), ([[0, 0, 0], [1, 0, 0]]))):
            reach = np.sqrt(-(given or -10000.0))
            mask = np.array(masks, np.int32)
            x = np.array([[[reach, 1], [0, 3], [reach / 2, 5]], [[0, 2], [reach, 7], [reach, 4]]], np.float32)
            w = np.array([[1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 2]], np.float32)  # q and k: the first, v: the second
            attributes = {"num_heads": 1, "scale": 1.0, "unidirectional": causal}
            attributes |= {} if given is None else {"mask_filter_value": given}
            for form in (mask, mask[:, None].repeat(3, 1)):
                self.beside("Attention", {"x": x, "w": w, "b": np.zeros(6, np.float32), "m": form}, **attributes)
                q, k, v = np.split(x @ w, 3, -1)
                self.beside("MultiHeadAttention", {"q": q, "k": k, "v": v, "b": None, "m": form}, **attributes)
            codes = (x * [128 / reach, 1]).astype(np.uint8)
            scales = np.array([reach / 128] * 4 + [1, 1], np.float32)
            self.beside("QAttention", {
                "x": codes, "w": w.astype(np.int8), "b": np.zeros(6, np.float32), "xs": np.array(1, np.float32),
                "ws": scales, "m": mask, "xz": None, "wz": None}, tolerance=1e-4, **attributes)

    def test_rotary_embedding(self):
        for interleaved in (0, 1):
            for rank in (3, 4):
                for offset in (True, False):
                    for heads, size, rotated in ((2, 8, 8), (3, 4, 4), (2, 8, 4)):
                        batch, length, longest = 2, 3, 7
                        x = self.draw(batch, length, heads * size)
                        if rank == 4:
                            x = self.draw(batch, heads, length, size)
                        angles = self.values.uniform(-3, 3, (longest, rotated // 2)).astype(np.float32)
                        places = (np.array([2], np.int64) if offset else
                                  self.values.integers(0, longest, (batch, length)).astype(np.int64))
                        attributes = {"interleaved": interleaved}
                        if rotated != size:
                            attributes.update(rotary_embedding_dim=rotated, num_heads=heads)
                        self.beside("RotaryEmbedding",
                                    {"x": x, "p": places, "c": np.cos(angles), "s": np.sin(angles)},
                                    **attributes)

    def test_group_query_attention(self):
        for number in range(80):
            batch, groups, theirs = (self.choose.randint(1, 3) for _ in range(3))
            size, longest = self.choose.choice((16, 32)), 12
            mine = groups * theirs
            first = self.choose.random() < 0.4
            length = self.choose.randint(1, 4) if first else 1
            if first:
                total = length
                ends = self.values.integers(1, length + 1, batch) if length > 1 else np.ones(batch)
                ends[0] = length
                past = self.choose.choice((0, 0, longest))
            else:
                past = self.choose.choice((5, longest))
                ends = self.values.integers(2, 6, batch) + 1
                total = int(ends.max())
                if past == 5:
                    past = total - 1
            packed = self.choose.random() < 0.3
            width, their_width = mine * size, theirs * size
            inputs = {"q": self.draw(batch, length, width + 2 * their_width if packed else width),
                      "k": None if packed else self.draw(batch, length, their_width),
                      "v": None if packed else self.draw(batch, length, their_width),
                      "pk": self.draw(batch, theirs, past, size), "pv": self.draw(batch, theirs, past, size),
                      "ends": (ends - 1).astype(np.int32), "total": np.array([total], np.int32),
                      "c": None, "s": None}
            attributes = {"num_heads": mine, "kv_num_heads": theirs}
            if self.choose.random() < 0.5:
                angles = self.values.uniform(-3, 3, (longest, size // 2)).astype(np.float32)
                inputs["c"], inputs["s"] = np.cos(angles), np.sin(angles)
                attributes.update(do_rotary=1, rotary_interleaved=self.choose.randint(0, 1))
            if self.choose.random() < 0.3:
                attributes["softcap"] = 2.0
            if self.choose.random() < 0.3:
                attributes["local_window_size"] = self.choose.randint(1, 3)
            if self.choose.random() < 0.3:
                attributes["scale"] = 0.3
            self.group_query(inputs, ends.astype(int), length, attributes)

    def test_group_query_of_given_places(self):
        """Of a first run ONNX Runtime reads the first number alone, of others all."""
        angles = self.values.uniform(-3, 3, (20, 8)).astype(np.float32)
        many, one = [[2, 0, 5], [1, 7, 3]], [[2], [7]]
        for places, past, ends, in_constant in itertools.product(
                (many, one, many[:1]), (0, 8), ((3, 3), (1, 1), (5, 4), (6,)), (False, True)):
            batch, length = len(places), len(places[0])
            first = max(ends) == length
            if len(ends) != batch or (past == 0 and not first) or (batch > 1 and length > 1 and not first):
                continue
            inputs = {"q": self.draw(batch, length, 64), "k": self.draw(batch, length, 32),
                      "v": self.draw(batch, length, 32), "pk": self.draw(batch, 2, past, 16),
                      "pv": self.draw(batch, 2, past, 16), "ends": np.array(ends, np.int32) - np.int32(1),
                      "total": np.array([max(ends)], np.int32), "c": np.cos(angles), "s": np.sin(angles),
                      "places": np.array(places, np.int64)}
            self.group_query(inputs, np.array(ends), length,
                             {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1,
                              "rotary_interleaved": int(in_constant)}, ("total",) if in_constant else ())

    def test_group_query_bias(self):
        """Of every form that scores take, with and without a past."""
        for (length, past, total), batches, heads, packed in itertools.product(
                ((3, 0, 3), (3, 8, 3), (1, 6, 7), (1, 8, 5)), (1, 2), (1, 4), (False, True)):
            inputs = {"q": self.draw(2, length, 128 if packed else 64),
                      "k": None if packed else self.draw(2, length, 32),
                      "v": None if packed else self.draw(2, length, 32), "pk": self.draw(2, 2, past, 16),
                      "pv": self.draw(2, 2, past, 16), "ends": np.array([total - 1] * 2, np.int32),
                      "total": np.array([total], np.int32), "c": None, "s": None, "p": None,
                      "bias": 2 * self.draw(batches, heads, length, total)}
            attributes = {"softcap": 1.5} if packed else {"local_window_size": 2} if heads == 1 else {}
            self.group_query(inputs, np.array([total] * 2), length,
                             {"num_heads": 4, "kv_num_heads": 2, **attributes})

    def test_group_query_of_symbolic_extents(self):
        """Whether a run is the first one, and how long a bias is, shows only then."""
        angles = self.values.uniform(-3, 3, (20, 8)).astype(np.float32)
        names = {"q": "bs-", "k": "bs-", "v": "bs-", "pk": "b-p-", "pv": "b-p-", "ends": "b", "places": "bs", "bias": "b-st"}
        for (length, past, total), shared in itertools.product(
                ((3, 0, 3), (1, 5, 6), (1, 8, 5), (3, 8, 3), (1, 8, 1)), (False, True)):
            inputs = {"q": self.draw(2, length, 64), "k": self.draw(2, length, 32), "v": self.draw(2, length, 32),
                      "pk": self.draw(2, 2, past, 16), "pv": self.draw(2, 2, past, 16),
                      "ends": np.full(2, total - 1, np.int32), "total": np.array([total], np.int32),
                      "c": np.cos(angles), "s": np.sin(angles),
                      "places": np.array([[2, 0, 5], [1, 7, 3]])[:, :length].copy(),
                      "bias": self.draw(2, 1, length, total)}
            symbols = {name: [None if axis == "-" else axis if shared else f"{name}_{axis}" for axis in axes]
                       for name, axes in names.items()}
            self.group_query(inputs, np.array([total] * 2), length,
                             {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}, symbols=symbols)

    def group_query(self, inputs, ends, length, attributes, constants=(), symbols=None):
        """What is behind the end of an item is of no meaning, in queries and in caches."""
        import onnxruntime
        model = contrib_model("GroupQueryAttention", inputs, (FLOAT, FLOAT, FLOAT), constants=constants, **attributes)
        fed = {name: x for name, x in inputs.items() if x is not None and name not in constants}
        for each in model.graph.input:
            for name, dim in zip((symbols or {}).get(each.name, ()), each.type.tensor_type.shape.dim):
                if name is not None:
                    dim.dim_param = name
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        shapes = {name: x.shape for name, x in fed.items()}
        with self.subTest(shapes=shapes, ends=ends.tolist(), **attributes):
            expected, found = session.run(None, fed), run(model, fed)
            self.assertIsInstance(found, list, found)
            for a, b in zip(found, expected, strict=True):
                self.assertEqual(a.shape, b.shape)
            for item, end in enumerate(ends):
                queries = min(length, end)
                np.testing.assert_allclose(found[0][item, :queries], expected[0][item, :queries],
                                           rtol=1e-4, atol=1e-4)
                for cache in (1, 2):
                    np.testing.assert_allclose(found[cache][item, :, :end], expected[cache][item, :, :end],
                                               rtol=1e-4, atol=1e-4)
        if not constants:
            self.alone("GroupQueryAttention", inputs, found[0], **attributes)

    def test_relative_position_bias(self):
        """Against T5's formula: ONNX Runtime has none on the CPU. The numbers of a head follow one another."""
        for both, buckets, distance, kind in itertools.product((None, 0, 1), (8, 32), (20, 128), (np.float32, np.float16)):
            queries, keys, heads = 37, 41, 3
            ahead = np.arange(keys)[None] - np.arange(queries)[:, None]
            count = buckets // 2 if both else buckets
            far = np.abs(ahead) if both else np.maximum(-ahead, 0)
            exact = count // 2
            grown = np.log(np.maximum(far, 1).astype(np.float32) / exact) / np.log(distance / exact) * (count - exact)
            bucket = np.where(far < exact, far, np.minimum(exact + grown.astype(int), count - 1))
            bucket += np.where(ahead > 0, count, 0) if both else 0
            table = self.draw(buckets, heads).astype(kind)
            inputs = {"table": table, "queries": np.array([queries]), "keys": np.array([keys])}
            element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
            model = contrib_model("RelativePositionBias", inputs, (element,), constants=("queries", "keys"),
                                  max_distance=distance, **({} if both is None else {"is_bidirectional": both}))
            with self.subTest(both=both, buckets=buckets, distance=distance, kind=kind):
                self.agree(run(model, {"table": table}), [table.reshape(heads, buckets)[:, bucket][None]], 0)
        for extents, attributes, word in (((8,), {}, "2 axes"), ((1, 2), {}, "bias_table"),
                                          ((8, 2), {"max_distance": 2}, "max_distance")):
            inputs = {"table": self.draw(*extents), "queries": np.array([3]), "keys": np.array([3])}
            message = run(contrib_model("RelativePositionBias", inputs, (FLOAT,), **{"max_distance": 9} | attributes),
                          inputs)
            self.assertIsInstance(message, str)
            self.assertIn(word, message)

    def test_what_is_not_supported_is_named(self):
        x, w = self.draw(1, 2, 4), self.draw(4, 12)
        past = np.array([1], np.int32)
        self.refused("input 'past_sequence_length' is not supported", "Attention",
                     {"x": x, "w": w, "b": self.draw(12), "m": None, "p": None, "a": None, "n": past},
                     num_heads=2)
        self.refused('attribute "do_rotary"', "Attention", {"x": x, "w": w, "b": self.draw(12)},
                     num_heads=2, do_rotary=1)
        self.refused("mask_index has 3 elements, expected one or two for each of 1", "Attention",
                     {"x": x, "w": w, "b": self.draw(12), "m": np.ones(3, np.int32)}, num_heads=2)
        self.refused('attribute "num_heads"', "MultiHeadAttention", {"q": x, "k": x, "v": x})
        self.refused("key is missing", "MultiHeadAttention", {"q": x}, num_heads=2)
        self.refused("attribute 'scale' has to be 1", "RotaryEmbedding",
                     {"x": x, "p": np.zeros(1, np.int64), "c": self.draw(3, 1), "s": self.draw(3, 1)},
                     scale=2.0)
        self.refused('attribute "smooth_softmax"', "GroupQueryAttention",
                     {"q": x, "k": x, "v": x, "pk": None, "pv": None, "e": np.zeros(1, np.int32),
                      "t": np.array([2], np.int32)}, num_heads=2, kv_num_heads=2, smooth_softmax=1)


if __name__ == "__main__":
    unittest.main()
