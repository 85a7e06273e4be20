# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and inverses."""

import numpy

from sweep_cases import MATRIX, Input, case, constant, integers, normal, weight

SCALE = 1024 ** -0.5


def regular(*shape, type="float32"):
    """Matrices with a dominant diagonal: well conditioned."""
    def draw(rng):
        noise = rng.standard_normal(shape) / shape[-1]
        return (noise + 2 * numpy.eye(shape[-1])).astype(type)
    return Input(draw)


MATRICES = [
    case("MatMul", "constant", [normal(*MATRIX), weight(*MATRIX)]),
    case("MatMul", "computed", [normal(*MATRIX), normal(*MATRIX, scale=SCALE)]),
    case("MatMul", "tokens", [normal(1, 128, 768), weight(768, 768)]),
    case("MatMul", "one row", [normal(1, 1024), weight(*MATRIX)]),
    case("MatMul", "matrix by vector", [normal(*MATRIX), normal(1024)]),
    case("MatMul", "scores", [normal(1, 12, 128, 64), normal(1, 12, 64, 128)]),
    case("MatMul", "mix", [normal(1, 12, 128, 128), normal(1, 12, 128, 64)]),
    case("MatMul", "float64", [normal(512, 512, type="float64"), normal(512, 512, type="float64")]),
    case("MatMul", "int32", [integers(-9, 9, 256, 256, type="int32"),
                             integers(-9, 9, 256, 256, type="int32")]),
    *(case("Gemm", f"trans{side}", [normal(*MATRIX), weight(*MATRIX), constant(normal(1024))],
           **{f"trans{side}": 1}) for side in "AB"),
    case("Gemm", "computed", [normal(*MATRIX), normal(*MATRIX, scale=SCALE), normal(*MATRIX)]),
    case("Gemm", "one row", [normal(1, 1024), weight(1000, 1024), constant(normal(1000))],
         transB=1),
    case("Gemm", "alpha and beta", [normal(256, 256), weight(256, 256), constant(normal(256, 256))],
         alpha=0.5, beta=2.0),
]

INVERSES = [
    case("com.microsoft:Inverse", "4x4", [regular(256, 4, 4)]),
    case("com.microsoft:Inverse", "64x64", [regular(8, 64, 64)]),
    case("com.microsoft:Inverse", "float64", [regular(8, 64, 64, type="float64")]),
]

DETERMINANTS = [case("Det", "", [normal(64, 32, 32)], opset=11)]

CASES = MATRICES + INVERSES + DETERMINANTS
