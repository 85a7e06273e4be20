# SPDX-License-Identifier: Apache-2.0
"""Operators that copy elements to other places."""

from sweep_cases import (IMAGE, MATRIX, TOKENS, case, constant, exactly, integers, normal,
                         uniform)

SCALES = constant(exactly([1, 1, 2, 2], "float32"))

JOINS = [
    case("Concat", "channels", [normal(*IMAGE), normal(*IMAGE)], axis=1),
    case("Concat", "last axis", [normal(*TOKENS), normal(*TOKENS)], axis=-1),
    case("Concat", "int64", [integers(0, 9, *MATRIX), integers(0, 9, *MATRIX)], axis=0),
    case("Concat", "short rows", [normal(3000, 20), normal(3000, 20)], axis=1),
    case("Split", "channels", [normal(*IMAGE), constant([32, 32])], outputs=2, axis=1),
    case("Split", "last axis", [normal(1, 128, 2304), constant([768] * 3)], outputs=3, axis=-1),
    case("Slice", "channels", [normal(*IMAGE), constant([0]), constant([32]), constant([1])]),
    case("Slice", "border", [normal(*IMAGE), constant([1, 1]), constant([55, 55]),
                             constant([2, 3])]),
    case("Slice", "every second", [normal(*IMAGE), constant([0, 0]), constant([56, 56]),
                                   constant([2, 3]), constant([2, 2])]),
    case("Slice", "backwards", [normal(*MATRIX), constant([-1]), constant([-2000]), constant([1]),
                                constant([-1])]),
    case("Pad", "zeros", [normal(*IMAGE), constant([0, 0, 1, 1, 0, 0, 1, 1])]),
    case("Pad", "reflect", [normal(*IMAGE), constant([0, 0, 3, 3, 0, 0, 3, 3])], mode="reflect"),
    case("Pad", "edge", [normal(*IMAGE), constant([0, 0, 3, 3, 0, 0, 3, 3])], mode="edge"),
]

ORDERS = [
    case("Transpose", "matrix", [normal(*MATRIX)], perm=[1, 0]),
    case("Transpose", "NCHW to NHWC", [normal(*IMAGE)], perm=[0, 2, 3, 1]),
    case("Transpose", "NHWC to NCHW", [normal(1, 56, 56, 64)], perm=[0, 3, 1, 2]),
    case("Transpose", "heads", [normal(1, 128, 12, 64)], perm=[0, 2, 1, 3]),
    case("Transpose", "uint8", [integers(0, 255, 1, 224, 224, 3, type="uint8")],
         perm=[0, 3, 1, 2]),
    case("DepthToSpace", "DCR", [normal(*IMAGE)], blocksize=2, mode="DCR"),
    case("DepthToSpace", "CRD", [normal(*IMAGE)], blocksize=2, mode="CRD"),
    case("SpaceToDepth", "", [normal(*IMAGE)], blocksize=2),
    case("ReverseSequence", "", [normal(128, 8, 256), exactly([128, 100, 64, 3, 1, 77, 128, 9])],
         time_axis=0, batch_axis=1),
    case("Trilu", "upper", [normal(*MATRIX)], upper=1),
    case("Trilu", "lower", [normal(1, 12, 128, 128)], upper=0),
]

RESIZES = [
    case("Resize", "nearest", [normal(*IMAGE), None, SCALES], mode="nearest",
         nearest_mode="floor", coordinate_transformation_mode="asymmetric"),
    case("Resize", "linear", [normal(*IMAGE), None, SCALES], mode="linear"),
    case("Resize", "align corners", [normal(*IMAGE), None, SCALES], mode="linear",
         coordinate_transformation_mode="align_corners"),
    case("Resize", "cubic", [normal(1, 3, 224, 224), None, SCALES], mode="cubic"),
    case("Resize", "down, nearest", [normal(*IMAGE), None, None, constant([1, 64, 28, 28])],
         mode="nearest"),
]

SAMPLES = [
    case("GridSample", "bilinear", [normal(1, 16, 64, 64), uniform(-1, 1, 1, 64, 64, 2)], opset=20),
    case("GridSample", "nearest", [normal(1, 16, 64, 64), uniform(-1, 1, 1, 64, 64, 2)], opset=20,
         mode="nearest"),
    case("AffineGrid", "", [normal(4, 2, 3), constant([4, 1, 64, 64])], opset=20),
]

CASES = JOINS + ORDERS + RESIZES + SAMPLES
