# SPDX-License-Identifier: Apache-2.0
"""Random numbers.

Every engine draws others: of reals only type, extents and scale are compared, and classes are drawn
of which one is certain.
"""

import numpy
import onnx

from sweep_cases import IMAGE, MATRIX, Input, case, constant, exactly, normal, uniform

OTHERS = 4.0  # of the scale: numbers of another generator


def certain(rows, classes):
    """Logits of which one leaves the others no chance."""
    return Input(lambda rng: (rng.standard_normal((rows, classes))
                              + 500 * (numpy.arange(classes) == classes // 3)).astype("float32"))


def ratio(value):
    return constant(exactly(value, "float32"))


TRAINING = constant(exactly(True, "bool"))

CASES = [
    case("RandomNormal", "", [], shape=MATRIX, tolerance=OTHERS),
    case("RandomUniform", "", [], shape=MATRIX, tolerance=OTHERS),
    case("RandomNormalLike", "", [normal(*IMAGE)], tolerance=OTHERS),
    case("RandomUniformLike", "", [normal(*IMAGE)], tolerance=OTHERS),
    case("RandomNormal", "float64", [], shape=MATRIX, dtype=onnx.TensorProto.DOUBLE,
         tolerance=OTHERS),
    case("RandomUniform", "16 elements", [], shape=[16], tolerance=OTHERS, family="call"),
    case("Bernoulli", "", [uniform(0, 1, *IMAGE)], tolerance=OTHERS),
    case("Multinomial", "one of 50257", [certain(1, 50257)], sample_size=1),
    case("Multinomial", "1000 of 100", [certain(16, 100)], sample_size=1000),
    case("Dropout", "in training", [normal(*IMAGE), ratio(0.1), TRAINING], tolerance=OTHERS),
]
