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
    case("MatMul", "one computed row", [normal(8, 1, 64), normal(8, 64, 1024)]),
    case("MatMul", "matrix by vector", [normal(*MATRIX), normal(1024)]),
    case("MatMul", "scores", [normal(1, 12, 128, 64), normal(1, 12, 64, 128)]),
    case("MatMul", "mix", [normal(1, 12, 128, 128), normal(1, 12, 128, 64)]),
    case("MatMul", "float64", [normal(512, 512, type="float64"), normal(512, 512, type="float64")]),
    case("MatMul", "float64, one row", [normal(1, 1024, type="float64"),
                                        weight(*MATRIX, type="float64")]),
    case("MatMul", "float64, one column", [normal(*MATRIX, type="float64"),
                                           normal(1024, type="float64")]),
    case("MatMul", "float64, stacked", [normal(12, 128, 64, type="float64"),
                                        normal(12, 64, 128, type="float64")]),
    *(case("MatMul", type, [integers(0, 9, 256, 256, type=type)] * 2)
      for type in ("int32", "uint32", "int64", "uint64")),
    case("MatMul", "float16", [normal(512, 512, type="float16"),
                               normal(512, 512, type="float16", scale=512 ** -0.5)]),
    case("MatMul", "float16, tokens", [normal(1, 128, 768, type="float16"),
                                       weight(768, 768, type="float16")]),
    case("MatMul", "float16, few columns", [normal(2000, 13, type="float16"),
                                            weight(13, 3, type="float16")]),
    case("MatMul", "float16, one column", [normal(10000, 13, type="float16"),
                                           weight(13, 1, type="float16")]),
    case("MatMul", "float16, one row", [normal(1, 1024, type="float16"),
                                        weight(*MATRIX, type="float16")]),
    *(case("Gemm", f"trans{side}", [normal(*MATRIX), weight(*MATRIX), constant(normal(1024))],
           **{f"trans{side}": 1}) for side in "AB"),
    case("Gemm", "computed", [normal(*MATRIX), normal(*MATRIX, scale=SCALE), normal(*MATRIX)]),
    case("Gemm", "computed, both turned", [normal(256, 128), normal(512, 256)], transA=1, transB=1),
    *(case("Gemm", f"{type}, {turned}",
           [normal(512, 512, type=type), normal(512, 512, type=type, scale=512 ** -0.5),
            normal(512, type=type)], **attributes)
      for type in ("float64", "float16")
      for turned, attributes in (("transA", {"transA": 1}), ("transB", {"transB": 1}))),
    case("Gemm", "float64, alpha and beta", [normal(512, 512, type="float64")] * 3, alpha=0.5,
         beta=2.0),
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
