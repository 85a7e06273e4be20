# SPDX-License-Identifier: Apache-2.0
"""Models of XGBoost and LightGBM, converted by onnxmltools, beside these libraries' own predictions. Objectives
and boosters that onnxmltools refuses, or writes down as another function, are not here.
Usage: boosting_test.py TOOL"""

import unittest

import lightgbm
import numpy as np
import xgboost
from one_node import Case, run
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType

RNG = np.random.default_rng(1)
X = RNG.normal(size=(400, 5)).astype(np.float32)
X[:, 4] = RNG.integers(0, 9, 400)
TWO = (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(np.int64)
THREE = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.5, 0.6])
NAMES = np.array(["ash", "birch", "elm"])[THREE]
REAL = X @ np.array([1, 2, -1, 0.5, 0], np.float32) + np.sin(3 * X[:, 0]) + 3 * (X[:, 4] % 3 == 1)
COUNTS = RNG.poisson(np.exp(0.3 * X[:, 0])).astype(np.float32)
TARGETS = {"poisson": COUNTS, "count:poisson": COUNTS, "gamma": COUNTS + 0.5, "reg:gamma": COUNTS + 0.5,
           "tweedie": COUNTS, "reg:tweedie": COUNTS, "reg:squaredlogerror": COUNTS}
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X).astype(np.float32)
ROWS = slice(300, 400)

XGBOOST = {"n_estimators": 12, "max_depth": 4, "n_jobs": 1, "random_state": 0}
LIGHTGBM = {"n_estimators": 12, "num_leaves": 12, "n_jobs": 1, "random_state": 0, "verbose": -1}


class Boosting(Case):
    def converted(self, model, x, y, **options):
        """What our plan and the library give for the rows that the model has not seen."""
        model.fit(x[:300], y[:300])
        convert = convert_lightgbm if isinstance(model, lightgbm.LGBMModel) else convert_xgboost
        onnx = convert(model, initial_types=[("x", FloatTensorType([None, x.shape[1]]))], target_opset=15,
                       **options)
        self.assertTrue(any(node.op_type.startswith("TreeEnsemble") for node in onnx.graph.node))
        found = run(onnx, {"x": x[ROWS]})
        self.assertIsInstance(found, list, found)
        classifies = hasattr(model, "predict_proba")
        return found, (model.predict_proba if classifies else model.predict)(x[ROWS])

    def regression(self, model, x=X, y=REAL, **options):
        with self.subTest(model=model, **options):
            found, expected = self.converted(model, x, y, **options)
            self.assertGreater(np.std(expected), 0.05)
            np.testing.assert_allclose(found[0].reshape(expected.shape), expected, rtol=2e-5, atol=2e-5)

    def classification(self, model, x=X, y=THREE, **options):
        with self.subTest(model=model, classes=np.unique(y), **options):
            found, expected = self.converted(model, x, y, **options)
            self.assertGreater(np.std(expected), 0.05)
            if options.get("zipmap"):
                self.assertEqual(len(found[1]), len(expected))
                labels = np.unique(y).tolist()
                for row in found[1]:
                    self.assertEqual(sorted(row), labels)
                found[1] = np.array([[row[label] for label in labels] for row in found[1]])
            np.testing.assert_allclose(found[1], expected, atol=2e-5)
            best = np.sort(expected, axis=1)
            sure = best[:, -1] - best[:, -2] > 1e-4
            self.assertGreater(np.count_nonzero(sure), 80)
            self.assertEqual(found[0][sure].astype(str).tolist(), model.predict(x[ROWS])[sure].astype(str).tolist())

    def test_xgboost_regressors(self):
        for objective in ("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror",
                          "reg:squaredlogerror", "count:poisson", "reg:gamma", "reg:tweedie"):
            more = {"quantile_alpha": 0.3} if objective == "reg:quantileerror" else {}
            self.regression(xgboost.XGBRegressor(objective=objective, **XGBOOST, **more),
                            y=TARGETS.get(objective, REAL))
        self.regression(xgboost.XGBRFRegressor(**XGBOOST))
        self.regression(xgboost.XGBRegressor(base_score=7.5, **XGBOOST))
        self.regression(xgboost.XGBRegressor(**XGBOOST), HOLES)
        deep = xgboost.XGBRegressor(**XGBOOST | {"max_depth": 0, "n_estimators": 3}, grow_policy="lossguide",
                                    max_leaves=60)
        self.regression(deep, HOLES)

    def test_xgboost_classifiers(self):
        for y in (TWO, THREE):
            self.classification(xgboost.XGBClassifier(**XGBOOST), y=y)
            self.classification(xgboost.XGBClassifier(**XGBOOST), HOLES, y)
        self.classification(xgboost.XGBClassifier(objective="multi:softprob", **XGBOOST))
        self.classification(xgboost.XGBClassifier(base_score=0.2, **XGBOOST), y=TWO)
        self.classification(xgboost.XGBRFClassifier(**XGBOOST), y=TWO)

    def test_lightgbm_regressors(self):
        for booster in ("gbdt", "dart", "goss"):
            for objective in ("regression", "regression_l1", "huber", "quantile", "poisson", "gamma", "tweedie"):
                if booster != "gbdt" and objective not in ("regression", "poisson"):
                    continue
                self.regression(lightgbm.LGBMRegressor(boosting_type=booster, objective=objective, **LIGHTGBM),
                                y=TARGETS.get(objective, REAL))
        self.regression(lightgbm.LGBMRegressor(**LIGHTGBM), HOLES)
        self.regression(lightgbm.LGBMRegressor(use_missing=False, **LIGHTGBM))
        self.regression(lightgbm.LGBMRegressor(**LIGHTGBM), split=5)

    def test_lightgbm_categories(self):
        """A set of categories is a chain of nodes that compare for equality, with one branch in common."""
        model = lightgbm.LGBMRegressor(categorical_feature=[4], min_data_per_group=5, cat_smooth=1, **LIGHTGBM)
        self.regression(model)
        self.assertIn("num_cat=1", model.booster_.model_to_string())

    def test_lightgbm_classifiers(self):
        for zipmap in (True, False):
            for y in (TWO, THREE, NAMES):
                self.classification(lightgbm.LGBMClassifier(**LIGHTGBM), y=y, zipmap=zipmap)
            self.classification(lightgbm.LGBMClassifier(**LIGHTGBM), HOLES, zipmap=zipmap)
        for booster in ("dart", "goss"):
            self.classification(lightgbm.LGBMClassifier(boosting_type=booster, **LIGHTGBM), zipmap=False)


if __name__ == "__main__":
    unittest.main()
