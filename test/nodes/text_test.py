# SPDX-License-Identifier: Apache-2.0
"""Operators on text and labels beside ONNX Runtime, and beside plain Python where it has no kernel."""

import itertools
import random
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from one_node import Case, run

ML = "ai.onnx.ml"


def strings(*words):
    return np.array(words, object)


def model_of(nodes, inputs, outputs, opset=21, ml=4):
    """Nodes on inputs; `outputs` are names and types."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    graph = helper.make_graph(
        nodes, "test",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for name, x in inputs.items()],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()])
    return helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid(ML, ml)])


def runtime(model, inputs):
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


class TextCase(Case):
    def equal(self, found, expected):
        self.assertIsInstance(found, list, found)
        for a, b in zip(found, expected, strict=True):
            self.assertEqual(a.shape, b.shape)
            if b.dtype == object:
                self.assertEqual(np.char.decode(a, "utf-8").tolist(), b.tolist())
            else:
                self.assertEqual(a.dtype, b.dtype)
                np.testing.assert_array_equal(a, b)

    def refused(self, model, inputs, *words):
        found = run(model, inputs)
        self.assertIsInstance(found, str, "not refused")
        for word in words:
            self.assertIn(word, found)


LISTS = {
    "strings": (TensorProto.STRING, ["cat", "", "d\u00f6g", "a longer word than eight bytes", "b"],
                ["cat", "Cat", "", "d\u00f6g", "dog", "a longer word than eight bytes",
                 "a longer word than eight bytez", "b"]),
    "int64s": (TensorProto.INT64, [5, -1, 0, 2**62, -2**63], [5, 6, -1, 0, 2**62, -2**63, 2**62 + 1]),
    "floats": (TensorProto.FLOAT, [0.5, -1.25, 0.0, 3e38, -2.0],
               [0.5, 0.25, -1.25, 0.0, -0.0, 3e38, np.nan, np.inf]),
}
DTYPES = {TensorProto.STRING: object, TensorProto.INT64: np.int64, TensorProto.FLOAT: np.float32,
          TensorProto.INT32: np.int32, TensorProto.INT16: np.int16, TensorProto.DOUBLE: np.float64}


def label_encoder(**attributes):
    return helper.make_node("LabelEncoder", ["x"], ["y"], domain=ML, **attributes)


class LabelEncoder(TextCase):
    def test_every_pair_of_lists(self):
        for (key, (_, keys, x)), (value, (kind, values, _)) in itertools.product(
                LISTS.items(), LISTS.items()):
            for defaults, ml in itertools.product([False, True], [2, 4]):
                attributes = {f"keys_{key}": keys, f"values_{value}": values}
                if defaults:
                    attributes |= {"default_string": "none", "default_int64": 77, "default_float": 7.5}
                    if ml == 4:  # there only that of the values is allowed
                        unused = {"strings": "string", "int64s": "int64", "floats": "float"}
                        attributes = {name: each for name, each in attributes.items()
                                      if not name.startswith("default")
                                      or name == "default_" + unused[value]}
                inputs = {"x": np.array(x, DTYPES[LISTS[key][0]])}
                model = model_of(label_encoder(**attributes), inputs, {"y": kind}, ml=ml)
                with self.subTest(ml=ml, **attributes):
                    self.equal(run(model, inputs), runtime(model, inputs))

    def test_tensors_of_every_type(self):
        kinds = [TensorProto.STRING, TensorProto.INT64, TensorProto.FLOAT, TensorProto.INT32,
                 TensorProto.INT16, TensorProto.DOUBLE]
        words = ["zero", "one", "two"]

        def tensor(kind, numbers, name):
            text = kind == TensorProto.STRING
            return helper.make_tensor(name, kind, [len(numbers)],
                                      [words[i].encode() for i in numbers] if text else numbers)

        for key, value in itertools.product(kinds, kinds):
            attributes = {"keys_tensor": tensor(key, [2, 0, 1], "k"),
                          "values_tensor": tensor(value, [1, 2, 0], "v"),
                          "default_tensor": tensor(value, [2], "d")}
            x = np.array([["one", "two", "zero", "three"]]) if key == TensorProto.STRING else np.array(
                [[1, 2, 0, 3]])
            y = [[0, 1, 2, 2]]
            expected = np.array([[words[i] for i in row] for row in y] if value == TensorProto.STRING
                                else y, DTYPES[value])
            inputs = {"x": x.astype(DTYPES[key])}
            model = model_of(label_encoder(**attributes), inputs, {"y": value})
            with self.subTest(key=key, value=value):
                self.equal(run(model, inputs), [expected])

    def test_a_nan_is_a_nan_and_the_last_key_counts(self):
        x = np.array([np.nan, -np.nan, 0.0, -0.0, 1.0, 2.0], np.float32)
        node = label_encoder(keys_floats=[np.nan, 0.0, 1.0, 1.0], values_int64s=[1, 2, 3, 4])
        found = run(model_of(node, {"x": x}, {"y": TensorProto.INT64}), {"x": x})
        self.equal(found, [np.array([1, 1, 2, 2, 4, -1])])

    def test_extents(self):
        node = label_encoder(keys_int64s=[1, 2], values_strings=["a", "b"])
        for x in [np.array(2), np.zeros((0, 3), np.int64), np.arange(12).reshape(2, 1, 3, 2)]:
            inputs = {"x": x.astype(np.int64)}
            model = model_of(node, inputs, {"y": TensorProto.STRING})
            self.equal(run(model, inputs), runtime(model, inputs))

    def test_first_version(self):
        classes = ["a", "b", "\u00e9", ""]
        for x, kind in [(strings("b", "z", "", "\u00e9"), TensorProto.INT64),
                        (np.array([[0, 3], [4, -1]]), TensorProto.STRING)]:
            node = label_encoder(classes_strings=classes, default_int64=-7, default_string="?")
            model = model_of(node, {"x": x}, {"y": kind}, ml=1)
            self.equal(run(model, {"x": x}), runtime(model, {"x": x}))

    def test_many_keys(self):
        count = 100_000
        keys = [f"key {i}" for i in range(count)]
        x = strings(*(f"key {3 * i}" for i in range(count)))
        node = label_encoder(keys_strings=keys, values_int64s=list(range(count)))
        expected = np.array([3 * i if 3 * i < count else -1 for i in range(count)])
        found = run(model_of(node, {"x": x}, {"y": TensorProto.INT64}), {"x": x})
        self.equal(found, [expected])

    def test_refused(self):
        x = np.array([1, 2])
        for attributes, words in [
                ({"keys_int64s": [1], "values_int64s": [1, 2]}, ["1 keys and 2 values"]),
                ({"values_int64s": [1]}, ["'keys_tensor'"]),
                ({"keys_int64s": [1], "keys_floats": [1.0], "values_int64s": [1]}, ["2 attributes"]),
                ({"keys_floats": [1.0], "values_int64s": [1]}, ["float", "int64", "Cast"])]:
            model = model_of(label_encoder(**attributes), {"x": x}, {"y": TensorProto.INT64})
            self.refused(model, {"x": x}, "LabelEncoder", *words)


class Categories(TextCase):
    def test_category_mapper(self):
        for x, kind in [(strings("b", "a", "c"), TensorProto.INT64),
                        (np.array([[9, -3, 4]]), TensorProto.STRING)]:
            for defaults in [{}, {"default_string": "other", "default_int64": 100}]:
                node = helper.make_node("CategoryMapper", ["x"], ["y"], domain=ML,
                                        cats_strings=["a", "b"], cats_int64s=[9, -3], **defaults)
                model = model_of(node, {"x": x}, {"y": kind}, ml=1)
                self.equal(run(model, {"x": x}), runtime(model, {"x": x}))

    def test_one_hot_encoder(self):
        numbers = {"cats_int64s": [3, 0, -2, 10**12]}
        for x, categories in [
                (strings("b", "z", ""), {"cats_strings": ["a", "", "b"]}),
                (np.array([[3, 0], [-2, 1], [10**12, -10**12]]), numbers),
                (np.array([3.9, -2.0, -0.5, 1e30, -1e30], np.float32), numbers),
                (np.array([[1e12, 3.0]]), numbers)]:
            node = helper.make_node("OneHotEncoder", ["x"], ["y"], domain=ML, **categories)
            model = model_of(node, {"x": x}, {"y": TensorProto.FLOAT}, ml=1)
            with self.subTest(x=x):
                self.equal(run(model, {"x": x}), runtime(model, {"x": x}))

    def test_one_hot_encoder_of_int32_and_nan(self):
        node = helper.make_node("OneHotEncoder", ["x"], ["y"], domain=ML, cats_int64s=[1, 0])
        for x in [np.array([1, 2, 0], np.int32), np.array([1, np.nan, 0.5], np.float32)]:
            model = model_of(node, {"x": x}, {"y": TensorProto.FLOAT}, ml=1)
            self.equal(run(model, {"x": x}), [np.array([[1, 0], [0, 0], [0, 1]], np.float32)])

    def test_unknown_categories_may_be_an_error(self):
        node = helper.make_node("OneHotEncoder", ["x"], ["y"], domain=ML, cats_strings=["a"], zeros=0)
        for x, known in [(strings("a", "a"), True), (strings("a", "b"), False)]:
            model = model_of(node, {"x": x}, {"y": TensorProto.FLOAT}, ml=1)
            if known:
                self.equal(run(model, {"x": x}), [np.ones((2, 1), np.float32)])
            else:
                self.refused(model, {"x": x}, "none of the categories, at element")


def count_ngrams(row, grams, columns, least, most, skips, mode):
    """The specification's words as loops. `grams` are tuples with their columns and weights."""
    y = np.zeros(columns)
    for length in range(least, most + 1):
        for distance in range(1, 2 if length == 1 else skips + 2):
            for start in range(len(row) - distance * (length - 1)):
                gram = tuple(row[start + distance * i] for i in range(length))
                if gram in grams:
                    column, weight = grams[gram]
                    y[column] = weight if mode == "IDF" else y[column] + weight
    return y.astype(np.float32)


class TfIdf(TextCase):
    def draw(self, rng):
        """A pool, where its n-grams begin, and the n-grams."""
        words = [rng.choice("abcdefg") * rng.randint(1, 3) for _ in range(12)]
        text = rng.random() < 0.5
        tokens = sorted(set(words)) if text else list(range(-3, 8))
        pool, begins, grams = [], [], []
        for length in range(1, rng.randint(1, 4) + 1):
            begins.append(len(pool))
            for gram in sorted(set(tuple(rng.choices(tokens, k=length))
                                   for _ in range(rng.randint(0, 9)))):
                pool += gram
                grams.append(gram)
        if not pool:
            return self.draw(rng)
        return text, tokens, pool, begins, grams

    def test_beside_runtime_and_loops(self):
        rng = random.Random(5)
        for number in range(150):
            text, tokens, pool, begins, grams = self.draw(rng)
            columns = list(range(len(grams)))
            rng.shuffle(columns)
            least = rng.randint(1, len(begins))
            most = rng.randint(least, len(begins))
            skips = rng.choice([0, 0, 1, 2, 5, 1000])
            mode = rng.choice(["TF", "IDF", "TFIDF"])
            weights = [rng.uniform(0.1, 3) for _ in grams] if rng.random() < 0.6 else None
            more = {} if weights is None else {"weights": weights}
            node = helper.make_node(
                "TfIdfVectorizer", ["x"], ["y"], mode=mode, min_gram_length=least,
                max_gram_length=most, max_skip_count=skips, ngram_counts=begins,
                ngram_indexes=columns, **{"pool_strings" if text else "pool_int64s": pool}, **more)
            length = rng.randint(1, 25)
            shape = rng.choice([(length,), (1, length), (4, length)])
            x = np.array([rng.choice([*tokens, tokens[0]]) if rng.random() < 0.9
                          else ("other" if text else 99) for _ in range(int(np.prod(shape)))],
                         object if text else rng.choice([np.int32, np.int64])).reshape(shape)
            model = model_of(node, {"x": x}, {"y": TensorProto.FLOAT})
            known = {gram: (column, 1 if weights is None or mode == "TF" else weights[i])
                     for i, (gram, column) in enumerate(zip(grams, columns))}
            expected = np.array([
                count_ngrams(row.tolist(), known, len(grams), least, most, skips, mode)
                for row in x.reshape(-1, shape[-1])])
            with self.subTest(number=number, node=node, shape=shape):
                found = run(model, {"x": x})
                self.agree(found, runtime(model, {"x": x}))
                self.agree(found, [expected.reshape(*shape[:-1], -1)])

    def test_gaps_and_empty_rows(self):
        node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], mode="TFIDF", min_gram_length=1,
                                max_gram_length=2, max_skip_count=0, ngram_counts=[0, 2],
                                ngram_indexes=[5, 1, 1], pool_int64s=[7, 8, 7, 8], weights=[2.0, 3.0, 4.0])
        for x in [[7, 8, 9], [], [[8], [7]]]:
            inputs = {"x": np.array(x, np.int64)}
            model = model_of(node, inputs, {"y": TensorProto.FLOAT})
            self.agree(run(model, inputs), runtime(model, inputs))

    def test_refused(self):
        given = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0,
                 "ngram_counts": [0], "ngram_indexes": [0], "pool_int64s": [1]}
        x = {"x": np.array([1, 2])}
        for attributes, words in [
                ({"mode": "BM25"}, ["'mode' is 'BM25'"]), ({"min_gram_length": 0}, ["min_gram_length"]),
                ({"ngram_counts": [0, 2]}, ["ngram_counts", "pool of 1"]),
                ({"ngram_indexes": [-1]}, ["ngram_indexes"]),
                ({"pool_int64s": [1, 2]}, ["fewer than the pool"]),
                ({"pool_strings": ["a"]}, ["exactly one"]),
                ({"mode": "IDF", "weights": [1.0, 2.0]}, ["'weights' has 2"])]:
            node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], **(given | attributes))
            self.refused(model_of(node, x, {"y": TensorProto.FLOAT}), x, "TfIdfVectorizer", *words)


PATTERNS = [
    r"", r"a", r"a*", r"(a|b)*abb", r"[\w.+-]+@[\w-]+\.[\w.]+", r"www\.[\w.-]+\.\bcom\b", r".", r".*", r"(?s).*",
    r"^a$", r"\Aa\z", r"(?m)^a$\n^b$", r"a{2}", r"a{2,}", r"a{2,3}", r"a{,2}", r"a{0}", r"(ab){2}c?", r"a+?b*?",
    r"(?i)stra\x{df}e", r"(?i)k", r"(?i)[^k]", r"(?i:A)b", r"(?-i:a)", r"(?i)\w", r"(?i)\W", r"(?U)a+",
    r"[[:alpha:]]+", r"[[:^alpha:]]+", r"[^a-c]", r"[]a]", r"[^]a]", r"[a-]", r"[\d-]", r"[\]\\]", r"[a-c-e]",
    r"\d+", r"\D+", r"\s+", r"\S+", r"\w+", r"\W+", r"\pL+", r"\p{Lu}\p{Ll}*", r"\P{L}", r"\p{^L}", r"[\pN\pP]+",
    r"\p{Zs}", r"\x41", r"\x{1F600}", r"\101", r"\0", r"\t\n\r\f\v\a", r"\Qa.b\E+", r"\Q\E", r"\.\*\+\[",
    r"(?P<name>a)(?<other>b)", r"(?:)", r"()", r"(|a)+", r"(a*)*", r"(a|b|)c", r"\ba\b", r"\Ba\B", r"a\bb", r"a\B",
    r"\B", r"\b", r"\ba b\b", "\u00e9+", "[\u00e0-\u00ff]+", "[^\u00e9]", "\U0001f600?", r"[^\x00-\x{10FFFF}]",
    r"[\x00-\x{10FFFF}]*", r".{3}", r"(.)(.)", r"a.{3}b", r"(x+x+)+y", r"[a-z]{2,4}\d{1,3}", r"a||b", r"(a$)|b",
    r"(^a|b)c", r"a$|b", r"(?s:.)a.", r"\pLa", r"[[:word:]]", r"[[:space:]]", r"[[:punct:]]", r"\C", r"\C\C", r"{", r"a{",
    r"a{1", r"}", r"]", r"-", r"(((((a)))))", r".*a.{6}", r"(?i)\p{Lu}",
    r".*a.{30}", r"(?i).*[ak].{25}\b", r"(.*a.{25})?",  # of these a table would be too large
]
TEXTS = ["", "a", "b", "aa", "aaa", "ab", "abb", "aabb", "babb", "A", "B", "k", "K", "\u212a", "\u017f", "s", "S", "c",
         "stra\u00dfe", "STRA\u1e9eE", "Stra\u00dfe", "www.google.com", "www.facebook.com", "www.bbc.co.uk",
         "account@gmail.com", "account@hotmail.com", "not email", "yes@yahoo.com", "a\nb", "a\n", "\n", "\t\n\r\f\x0b\x07",
         " ", "  ", "a b", "\u00e9", "\u00e9\u00e9", "\u00c9", "\u20ac", "\U0001f600", "\U0001f600a", "\u0434", "\u0414\u0430",
         "1", "42", "x1", "ab12", "abcd123", "_", "-", ".", "]", "\\", "{", "}", "a{", "a{1", "a{,2}", ".*+[", "xxxxy",
         "xxxxxxxxxxxxxxxxxxxxxxxx", "ababc", "abc", "a.b", "a.bb", "acccb", "a\u20ac\u20ac\u20acb", "ac", "bc", "\u00a0",
         "\u2003", "\u2163", "e", "aaaaaaaaaaab", "baaaaaaa", "ba" + "\u00e9" * 30, "a" * 31, "K" + "." * 24 + "a", "a" * 26, "bbabbbbbb", "\u0131", "\u0130", "i", "I"]


class Regex(TextCase):
    def beside_runtime(self, patterns, texts):
        x = {"x": strings(*texts)}
        nodes = [helper.make_node("RegexFullMatch", ["x"], [f"y{i}"], pattern=pattern)
                 for i, pattern in enumerate(patterns)]
        model = model_of(nodes, x, {f"y{i}": TensorProto.BOOL for i in range(len(nodes))})
        found = run(model, x)
        self.assertIsInstance(found, list, found)
        for pattern, a, b in zip(patterns, found, runtime(model, x), strict=True):
            wrong = [text for text, p, q in zip(texts, a, b, strict=True) if p != q]
            self.assertEqual(wrong, [], f"of {pattern!r}")

    def test_patterns_as_re2_matches_them(self):
        self.beside_runtime(PATTERNS, TEXTS)

    def test_random_patterns(self):
        rng = random.Random(7)
        letters = ["a", "b", "_", "\u00e9", "\u20ac", "\n", " ", "\U0001f600"]
        assertions = [r"\b", r"\B", "^", "$", r"\A", r"\z"]

        def atom(depth):
            kind = rng.random()
            if kind < 0.4:
                return rng.choice(["a", "b", "_", "\u00e9", "\u20ac", r"\n", " ", "\U0001f600", "."])
            if kind < 0.6:
                parts = rng.sample(["a", "b-z", "\u00e9", r"\w", r"\s", "\u20ac-\U0001f600", r"\n", r"\D"],
                                   rng.randint(1, 3))
                return "[" + rng.choice(["", "^"]) + "".join(parts) + "]"
            if kind < 0.75:
                return rng.choice([r"\w", r"\W", r"\s", r"\S", r"\d", *assertions])
            if depth == 0:
                return "a"
            return rng.choice(["(", "(?:", "(?m:", "(?s:", "(?i:"]) + choice(depth - 1) + ")"

        def piece(depth):
            made = atom(depth)
            if made in assertions or rng.random() < 0.6:
                return made
            return made + rng.choice(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?"])

        def choice(depth):
            return "|".join("".join(piece(depth) for _ in range(rng.randint(0, 3)))
                            for _ in range(rng.choice([1, 1, 2, 3])))

        texts = [""] + ["".join(rng.choices(letters, k=rng.randint(1, 7))) for _ in range(150)]
        self.beside_runtime([choice(3) for _ in range(400)], texts)

    def test_extents_and_constants(self):
        node = helper.make_node("RegexFullMatch", ["x"], ["y"], pattern="a+")
        for x in [np.array("aa", object), np.empty((0, 2), object),
                  np.array([[["a"], ["b"]]], object)]:
            model = model_of(node, {"x": x}, {"y": TensorProto.BOOL})
            self.equal(run(model, {"x": x}), runtime(model, {"x": x}))
        words = helper.make_node("Constant", [], ["w"], value_strings=["a", "b"])
        both = [words, helper.make_node("RegexFullMatch", ["w"], ["y"], pattern="a"),
                helper.make_node("Identity", ["x"], ["z"])]
        x = {"x": np.zeros(1, np.float32)}
        found = run(model_of(both, x, {"y": TensorProto.BOOL, "z": TensorProto.FLOAT}), x)
        self.equal(found, [np.array([True, False]), x["x"]])

    def test_long_strings(self):
        x = {"x": strings("a" * 250, "a" * 250 + "b")}
        node = helper.make_node("RegexFullMatch", ["x"], ["y"], pattern="(a*)*")
        model = model_of(node, x, {"y": TensorProto.BOOL})
        self.equal(run(model, x), [np.array([True, False])])

    def test_refused(self):
        x = {"x": strings("a")}
        for pattern, word in [
                ("(a", "missing )"), ("a)", "unexpected )"), ("*a", "nothing to repeat"), ("a**", "repetition"),
                ("a{1001}", "1000"), ("a{2,1}", "{2,1}"), ("[a", "missing ]"), ("[z-a]", "range"),
                (r"(a)\1", r"back reference \1"), ("(?=a)", "(?= is not supported"), ("(?<!a)", "(?<!"),
                (r"\p{Greek}", "Greek"), (r"\Z", r"\Z"), ("\\", "backslash"), ("[[:foo:]]", "[:foo:]"),
                ("(a{1000}){1000}", "too large"), ("((((a{100}){100}){100}){100}){100}", "too large"),
                ("(?z)", "(?z"), (r"\x{110000}", "last code point"), ("(" * 2000 + ")" * 2000, "nested")]:
            node = helper.make_node("RegexFullMatch", ["x"], ["y"], pattern=pattern)
            with self.subTest(pattern=pattern[:40]):
                self.refused(model_of(node, x, {"y": TensorProto.BOOL}), x, "RegexFullMatch", "'pattern'", word)


class Hashes(Case):
    def test_murmur_hash(self):
        choose, values = random.Random(5), np.random.default_rng(5)
        letters = "ab \u00f6\u4e2d\U0001f600"
        for kind, seed, positive in itertools.product(
                (np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64, object),
                (None, 0, 7, -1, 2 ** 31, 2 ** 32 - 1), (None, 0, 1)):
            shape = choose.choice(((), (0,), (1,), (5, 3), (2, 1, 4), (70,)))
            if kind is object:
                x = np.empty(shape, object)
                for place in np.ndindex(shape):
                    x[place] = "".join(choose.choices(letters, k=choose.randint(0, 9)))
            else:
                bits = values.integers(0, 256, (*shape, np.dtype(kind).itemsize), np.uint8)
                x = bits.view(kind).reshape(shape)
            given = {name: value for name, value in (("seed", seed), ("positive", positive)) if value is not None}
            node = helper.make_node("MurmurHash3", ["x"], ["y"], domain="com.microsoft", **given)
            model = model_of(node, {"x": x}, {"y": TensorProto.INT32 if positive == 0 else TensorProto.UINT32}, 17)
            model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
            with self.subTest(kind=kind, shape=shape, **given):
                found, expected = run(model, {"x": x}), runtime(model, {"x": x})
                self.assertIsInstance(found, list, found)
                self.assertEqual(found[0].dtype, expected[0].dtype)
                np.testing.assert_array_equal(found[0], expected[0])

    def test_refused(self):
        for x, attributes, message in ((np.zeros(2, np.int16), {}, "int16"),
                                       (np.zeros(2, np.int32), {"positive": 2}, "positive")):
            node = helper.make_node("MurmurHash3", ["x"], ["y"], domain="com.microsoft", **attributes)
            model = model_of(node, {"x": x}, {"y": TensorProto.UINT32}, 17)
            model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
            self.assertIn(message, run(model, {"x": x}))


if __name__ == "__main__":
    unittest.main()
