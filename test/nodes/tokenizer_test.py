# SPDX-License-Identifier: Apache-2.0
"""Tokenizer of com.microsoft, with which skl2onnx writes the text of scikit-learn, beside ONNX Runtime; the
vectorizers of scikit-learn, and pipelines over them. Usage: tokenizer_test.py TOOL"""

import random
import unittest

import numpy as np
import onnx
import onnxruntime
from one_node import Case, run
from onnx import TensorProto, helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn import feature_extraction, linear_model, naive_bayes, pipeline

WORDS = ("the", "cat", "Dog", "sat", "on", "a", "tree-house", "\u00e9t\u00e9", "1st", "", "  ", ".", "x.y", "\u4e2d\u6587", "a,b")


def texts(choose, count, words=WORDS, most=7):
    return [" ".join(choose.choices(words, k=choose.randint(0, most))) for _ in range(count)]


class Tokenizer(Case):
    def model(self, shape, **attributes):
        attributes = {"mark": 0, "mincharnum": 1, "pad_value": "#"} | attributes
        node = helper.make_node("Tokenizer", ["x"], ["y"], domain="com.microsoft", **attributes)
        graph = helper.make_graph([node], "test", [helper.make_tensor_value_info("x", TensorProto.STRING, shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.STRING, None)])
        return helper.make_model(graph, ir_version=10, opset_imports=[
            helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])

    def beside(self, x, **attributes):
        model = self.model(x.shape, **attributes)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        expected, = session.run(None, {"x": x})
        with self.subTest(x=x.tolist(), **attributes):
            found = run(model, {"x": x})
            self.assertIsInstance(found, list, found)
            self.assertEqual(found[0].shape, expected.shape)
            if expected.size:
                self.assertEqual(np.char.decode(found[0], "utf-8").tolist(), expected.tolist())

    def test_beside_onnx_runtime(self):
        choose = random.Random(1)
        forms = ({"tokenexp": "[a-zA-Z0-9_]+"}, {"tokenexp": "[a-z]+|[0-9]+"}, {"tokenexp": "\\w\\w+"}, {"tokenexp": "."},
                 {"tokenexp": "a|ab|abc.*"}, {"tokenexp": "[a-z]*"}, {"tokenexp": "\\pL+"},
                 {"separators": [" "]}, {"separators": [" ", "[.]", "\\?", ",", ";", ":", "\\!"]},
                 {"separators": [""]}, {"separators": [" +"]}, {"separators": ["[ ,.-]"]}, {"separators": [", |the"]},
                 {"separators": ["x*"]})
        for form in forms:
            for number in range(6):
                shape = choose.choice(((4,), (1,), (2, 2), (3, 1)))
                x = np.array(texts(choose, int(np.prod(shape))), object).reshape(shape)
                least = choose.choice((1, 1, 2, 3))
                if "." in form.values() or [""] in form.values():  # characters
                    least = 1
                self.beside(x, **form, mark=number % 2, mincharnum=least)
            self.beside(np.array(["", ""], object), **form)

    def test_says_what_it_does_not_take(self):
        x = {"x": np.array(["a b"], object)}
        for form, message in (({}, "both or neither of 'separators' and 'tokenexp'"),
                              ({"tokenexp": "a", "separators": ["b"]}, "both or neither"),
                              ({"separators": ["a", "bc"]}, "'bc' is more than one character"),
                              ({"tokenexp": "\\bword"}, "what lies around a match"),
                              ({"tokenexp": "(a"}, "attribute 'tokenexp'")):
            self.assertIn(message, run(self.model((1,), **form), x))


class Vectorizers(Case):
    def test_beside_scikit_learn(self):
        text = feature_extraction.text
        choose = random.Random(2)
        words = ("the", "cat", "Dog", "sat", "on", "mat", "tree-house", "1st", "no", "xy_z")
        learned = np.array(texts(choose, 60, words) + ["the cat"], object)
        classes = np.array([choose.randint(0, 2) for _ in learned])
        pattern = "[a-zA-Z0-9_]+"
        for vectorizer in (
                text.TfidfVectorizer(token_pattern=pattern), text.CountVectorizer(token_pattern=pattern),
                text.TfidfVectorizer(token_pattern=pattern, ngram_range=(1, 2), norm="l1"),
                text.TfidfVectorizer(token_pattern=pattern, max_features=4, use_idf=False),
                text.CountVectorizer(token_pattern="[a-zA-Z]+", binary=True, lowercase=False),
                text.TfidfVectorizer(token_pattern=pattern, stop_words=["the", "on"]),
                text.CountVectorizer(analyzer="char", ngram_range=(1, 3))):
            for last in (None, linear_model.LogisticRegression(), naive_bayes.MultinomialNB()):
                model = vectorizer if last is None else pipeline.make_pipeline(vectorizer, last)
                model.fit(learned, classes)
                converted = to_onnx(model, initial_types=[("x", StringTensorType([None]))],
                                    target_opset={"": 18, "ai.onnx.ml": 3},
                                    options={} if last is None else {id(last): {"zipmap": False}})
                for count in (1, 9):
                    x = np.array(texts(choose, count, words), object)
                    x[0] = "the cat sat"
                    converted.graph.input[0].type.tensor_type.shape.dim[0].dim_value = count
                    with self.subTest(model=model, count=count):
                        found = run(converted, {"x": x})
                        self.assertIsInstance(found, list, found)
                        if last is None:
                            expected = model.transform(x).toarray()
                        else:
                            expected = model.predict_proba(x)
                            self.assertEqual(found[0].tolist(), model.predict(x).tolist())
                        np.testing.assert_allclose(found[-1], expected, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
