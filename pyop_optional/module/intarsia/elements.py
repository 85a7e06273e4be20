# SPDX-License-Identifier: Apache-2.0
"""Element types: their numbers in a plan (ONNX's), their names in a signature (MLIR's), and the
numpy type that carries them.

numpy has no bfloat16, float8, float6, float4 or integers of 2 and 4 bits. Their elements are carried
as bits: bfloat16 in uint16, float8, float6 and float4 in uint8; small integers by value in int8 and
uint8. An
array of the ml_dtypes type of the same name is accepted as an input, and an output becomes one by
`output.view(ml_dtypes.bfloat16)`; the package itself does not need ml_dtypes. Strings are str objects
in arrays of dtype object; arrays of numpy's own strings and of bytes are accepted, too.
"""

from typing import NamedTuple

import numpy as np


class Element(NamedTuple):
    name: str                  # in a signature
    dtype: np.dtype
    ml_dtype: str = ""         # the name of the same type in ml_dtypes, where numpy has none
    bits: int = 0              # of an element in a plan


STRING, MAP, OPTIONAL, SEQUENCE = 8, 29, 30, 31
HOLDING_ELEMENTS = (MAP, OPTIONAL, SEQUENCE)


def _element(name, dtype, ml_dtype="", bits=0):
    dtype = np.dtype(dtype)
    return Element(name, dtype, ml_dtype, bits or 8 * dtype.itemsize)


ELEMENTS = {
    1: _element("f32", np.float32),
    2: _element("ui8", np.uint8),
    3: _element("i8", np.int8),
    4: _element("ui16", np.uint16),
    5: _element("i16", np.int16),
    6: _element("i32", np.int32),
    7: _element("i64", np.int64),
    STRING: _element("string", np.object_),
    9: _element("i1", np.bool_),
    10: _element("f16", np.float16),
    11: _element("f64", np.float64),
    12: _element("ui32", np.uint32),
    13: _element("ui64", np.uint64),
    14: _element("complex<f32>", np.complex64),
    15: _element("complex<f64>", np.complex128),
    16: _element("bf16", np.uint16, "bfloat16"),
    17: _element("f8E4M3FN", np.uint8, "float8_e4m3fn"),
    18: _element("f8E4M3FNUZ", np.uint8, "float8_e4m3fnuz"),
    19: _element("f8E5M2", np.uint8, "float8_e5m2"),
    20: _element("f8E5M2FNUZ", np.uint8, "float8_e5m2fnuz"),
    21: _element("ui4", np.uint8, "uint4", 4),
    22: _element("i4", np.int8, "int4", 4),
    23: _element("f4E2M1FN", np.uint8, "float4_e2m1fn", 4),
    24: _element("f8E8M0FNU", np.uint8, "float8_e8m0fnu"),
    25: _element("ui2", np.uint8, "uint2", 2),
    26: _element("i2", np.int8, "int2", 2),
    27: _element("f6E2M3FN", np.uint8, "float6_e2m3fn", 6),
    28: _element("f6E3M2FN", np.uint8, "float6_e3m2fn", 6),
    MAP: _element("map", np.object_),  # these three: what they hold is a port's (ports.py)
    OPTIONAL: _element("optional", np.object_),
    SEQUENCE: _element("sequence", np.object_),
}
