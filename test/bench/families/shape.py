# SPDX-License-Identifier: Apache-2.0
"""Shapes, fills and repetition.

Where nothing is computed the family is `call`: what an engine takes for being called.
"""

import onnx
import onnx.helper

from sweep_cases import IMAGE, MATRIX, TOKENS, case, constant, exactly, integers, normal

HALF = onnx.helper.make_tensor("value", onnx.TensorProto.FLOAT, [1], [0.5])

CASES = [
    case("Identity", "of one element", [normal(1)], family="call"),
    case("Shape", "", [normal(*IMAGE)], family="call"),
    case("Size", "", [normal(*IMAGE)], family="call"),
    case("Identity", "", [normal(*IMAGE)]),
    case("Reshape", "", [normal(*TOKENS), constant([1, 128, 12, 64])]),
    case("Flatten", "", [normal(*IMAGE)]),
    case("Squeeze", "", [normal(*IMAGE), constant([0])]),
    case("Unsqueeze", "", [normal(*MATRIX), constant([0, 3])]),
    case("Dropout", "", [normal(*IMAGE)]),
    case("Expand", "rows", [normal(1, 1024), constant([1024, 1024])]),
    case("Expand", "columns", [normal(1024, 1), constant([1024, 1024])]),
    case("Expand", "heads", [normal(1, 4, 1, 128, 64), constant([1, 4, 3, 128, 64])]),
    case("Tile", "", [normal(1, 64, 28, 28), constant([1, 1, 2, 2])]),
    case("ConstantOfShape", "", [exactly([1, 64, 56, 56])], value=HALF),
    case("Range", "", [exactly(0), exactly(100000), exactly(1)]),
    case("EyeLike", "", [normal(*MATRIX)]),
    case("Expand", "columns of float64", [normal(300, 1, type="float64"), constant([300, 512])]),
    case("Expand", "columns of bytes", [integers(0, 255, 300, 1, type="uint8"), constant([300, 512])]),
    case("Expand", "int64", [integers(0, 9, 1, 1024), constant([1024, 1024])]),
]
