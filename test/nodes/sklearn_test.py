# SPDX-License-Identifier: Apache-2.0
"""Models of scikit-learn, converted by skl2onnx, beside scikit-learn's own predictions.
Usage: sklearn_test.py TOOL"""

import unittest
import warnings

import numpy as np
import onnx.helper
from one_node import Case, run
from skl2onnx import to_onnx
from skl2onnx.common import _container
from skl2onnx.common.data_types import StringTensorType
from sklearn import (compose, ensemble, feature_extraction, impute, linear_model, naive_bayes, neighbors,
                     neural_network, pipeline, preprocessing, svm, tree)

warnings.filterwarnings("ignore")
OPSETS = {"": 18, "ai.onnx.ml": 3}


def listed(make):
    """skl2onnx gives some attributes as arrays or flags, which newer versions of onnx refuse."""
    def plain(value):
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(value, list):
            return value
        return [int(each) if isinstance(each, (bool, np.bool_)) else each for each in value]

    def make_node(*args, **attributes):
        return make(*args, **{name: plain(value) for name, value in attributes.items()})
    return make_node


_container.make_node = listed(onnx.helper.make_node)
RNG = np.random.default_rng(1)
X = RNG.normal(size=(400, 5)).astype(np.float32)
TWO = (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(np.int64)
THREE = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.5, 0.6])
NAMES = np.array(["ash", "birch", "elm"])[THREE]
REAL = X @ np.array([1, 2, -1, 0.5, 0], np.float32) + np.sin(3 * X[:, 0])
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X).astype(np.float32)

CLASSIFIERS = [
    tree.DecisionTreeClassifier(max_depth=5),
    ensemble.RandomForestClassifier(20, max_depth=7, random_state=0),
    ensemble.RandomForestClassifier(15, random_state=0),
    ensemble.ExtraTreesClassifier(15, random_state=0),
    ensemble.GradientBoostingClassifier(n_estimators=12, random_state=0),
    ensemble.HistGradientBoostingClassifier(max_iter=12),
    ensemble.AdaBoostClassifier(n_estimators=8, random_state=0),
    ensemble.BaggingClassifier(n_estimators=4, random_state=0),
    svm.SVC(probability=True, random_state=0),
    svm.SVC(kernel="poly", degree=2),
    svm.SVC(kernel="linear"),
    svm.NuSVC(probability=True, random_state=0, nu=0.3),
    svm.LinearSVC(),
    linear_model.LogisticRegression(),
    linear_model.SGDClassifier(random_state=0),
    neural_network.MLPClassifier((16, 8), max_iter=60, random_state=0),
    naive_bayes.GaussianNB(),
    neighbors.KNeighborsClassifier(3),
    pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
    pipeline.make_pipeline(
        compose.ColumnTransformer([("a", preprocessing.StandardScaler(), [0, 1]),
                                   ("b", preprocessing.MinMaxScaler(), [2, 3, 4])]),
        ensemble.RandomForestClassifier(10, max_depth=5, random_state=0)),
]
REGRESSORS = [
    tree.DecisionTreeRegressor(max_depth=6),
    ensemble.RandomForestRegressor(20, max_depth=7, random_state=0),
    ensemble.ExtraTreesRegressor(15, max_depth=9, random_state=0),
    ensemble.GradientBoostingRegressor(n_estimators=30, random_state=0),
    ensemble.HistGradientBoostingRegressor(max_iter=30),
    svm.SVR(C=10.0),
    svm.SVR(kernel="poly"),
    svm.SVR(kernel="sigmoid", C=0.5),
    svm.NuSVR(),
    linear_model.Ridge(),
    neural_network.MLPRegressor(hidden_layer_sizes=(16,), max_iter=60, random_state=0),
    neighbors.KNeighborsRegressor(4),
    pipeline.make_pipeline(preprocessing.StandardScaler(), preprocessing.Normalizer(),
                           linear_model.LinearRegression()),
]


def convert(model, x, **options):
    converted = to_onnx(model, x[:1], target_opset=OPSETS,
                        options={id(model): options} if options else None)
    converted.graph.input[0].type.tensor_type.shape.dim[0].dim_value = len(x)
    return converted


class Models(Case):
    def found(self, model, x):
        result = run(model, {model.graph.input[0].name: x})
        self.assertIsInstance(result, list, result)
        return result

    def labels(self, model, x, scores, found):
        """Equal where the two best scores are not."""
        expected = model.predict(x)
        ordered = np.sort(scores, axis=1) if scores.ndim == 2 else np.stack([-scores, scores], 1)
        sure = np.abs(ordered[:, -1] - ordered[:, -2]) > 1e-4
        self.assertGreater(np.count_nonzero(sure), len(x) // 2)
        self.assertEqual(found[sure].astype(str).tolist(), expected[sure].astype(str).tolist())

    def test_classifiers(self):
        for model in CLASSIFIERS:
            for target in (TWO, THREE, NAMES):
                model.fit(X[:300], target[:300])
                probable = hasattr(model, "predict_proba")
                with self.subTest(model=model, classes=len(set(target))):
                    final = model[-1] if isinstance(model, pipeline.Pipeline) else model
                    options = {} if isinstance(final, svm.LinearSVC) else {"zipmap": False}
                    converted = to_onnx(model, X[:1], target_opset=OPSETS, options={id(final): options})
                    converted.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 100
                    found = self.found(converted, X[300:])
                    scores = model.predict_proba(X[300:]) if probable else model.decision_function(X[300:])
                    self.labels(model, X[300:], scores, found[0])
                    if probable:
                        np.testing.assert_allclose(found[1], scores, atol=2e-5)

    def test_regressors(self):
        for model in REGRESSORS:
            model.fit(X[:300], REAL[:300])
            with self.subTest(model=model):
                found = self.found(convert(model, X[300:]), X[300:])
                np.testing.assert_allclose(found[0].ravel(), model.predict(X[300:]), rtol=2e-5, atol=2e-5)

    def test_missing_values(self):
        for model, target in ((ensemble.HistGradientBoostingRegressor(max_iter=20), REAL),
                              (ensemble.HistGradientBoostingClassifier(max_iter=10), THREE)):
            model.fit(HOLES[:300], target[:300])
            with self.subTest(model=model):
                found = self.found(convert(model, HOLES[300:], **(
                    {"zipmap": False} if target is THREE else {})), HOLES[300:])
                if target is THREE:
                    np.testing.assert_allclose(found[1], model.predict_proba(HOLES[300:]), atol=1e-5)
                else:
                    np.testing.assert_allclose(found[0].ravel(), model.predict(HOLES[300:]), rtol=1e-5,
                                               atol=1e-5)

    def test_neighbours_fill_holes(self):
        """Its branches differ in rank where a row has no neighbour; that one fails if it is taken, which
        ONNX Runtime does as well."""
        for fitted, rows, count in ((HOLES[:60], HOLES[300:340], 3), (HOLES[:60], X[300:310], 5),
                                    (HOLES[:200], HOLES[300:301], 2)):
            model = impute.KNNImputer(n_neighbors=count).fit(fitted)
            with self.subTest(fitted=fitted.shape, rows=rows.shape, count=count):
                found = self.found(convert(model, rows), rows)
                np.testing.assert_allclose(found[0], model.transform(rows), rtol=1e-5, atol=1e-6)
        alone = np.full((2, 5), np.nan, np.float32)
        alone[1] = 1
        message = run(convert(model, alone), {"X": alone})
        self.assertIsInstance(message, str)
        self.assertIn("contradicts itself", message)

    def test_hashed_features(self):
        words = np.array([["ash", "elm"], ["", "birch"], ["\u00f6rt", "ash"], ["a long word", "x"]], object)
        for features, sign in ((8, True), (5, False), (1024, True)):
            model = feature_extraction.FeatureHasher(features, input_type="string", alternate_sign=sign,
                                                     dtype=np.float32)
            converted = to_onnx(model, initial_types=[("X", StringTensorType([None, 2]))], target_opset=OPSETS)
            with self.subTest(features=features, sign=sign):
                np.testing.assert_array_equal(self.found(converted, words)[0], model.transform(words).toarray())

    def test_outliers(self):
        for model in (svm.OneClassSVM(), ensemble.IsolationForest(n_estimators=10, random_state=0)):
            model.fit(X[:300])
            with self.subTest(model=model):
                found = self.found(convert(model, X[300:]), X[300:])
                scores = model.decision_function(X[300:])
                sure = np.abs(scores) > 1e-4
                self.assertEqual(found[0].ravel()[sure].tolist(), model.predict(X[300:])[sure].tolist())


if __name__ == "__main__":
    unittest.main()
