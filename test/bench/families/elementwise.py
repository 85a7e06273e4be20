# SPDX-License-Identifier: Apache-2.0
"""Operators on single elements, with and without broadcasting.

The inputs lie where the function is defined and has no pole nearby.
"""

from sweep_cases import IMAGE, TOKENS, case, constant, exactly, flags, integers, normal, uniform

IMAGE_CHANNELS = (1, 64, 1, 1)
PLAIN = ("Abs Atan Asinh Ceil Celu Cos Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Mish "
         "Neg Relu Round Selu Shrink Sigmoid Sign Sin Softplus Softsign Tanh ThresholdedRelu").split()
LIMITED = {  # operator: values from, to
    "Acos": (-0.9, 0.9), "Asin": (-0.9, 0.9), "Atanh": (-0.9, 0.9), "Acosh": (1.1, 9),
    "Cosh": (-3, 3), "Sinh": (-3, 3), "Tan": (-1.2, 1.2), "Log": (0.1, 9), "Sqrt": (0, 9),
    "Reciprocal": (0.5, 2),
}
# Three in eight are infinite or no number.
SPECIALS = exactly(([0.5, float("nan"), -1.5, 3, float("inf"), 0, float("-inf"), 7] * 25088),
                   "float32")


UNARY = [
    *(case(name, "", [normal(*IMAGE, scale=2)]) for name in PLAIN),
    *(case(name, "", [uniform(low, high, *IMAGE)]) for name, (low, high) in LIMITED.items()),
    case("Swish", "", [normal(*IMAGE, scale=2)], opset=24),
    case("Gelu", "tanh", [normal(*TOKENS)], approximate="tanh"),
    case("IsInf", "", [SPECIALS]),
    case("IsNaN", "", [SPECIALS]),
    case("IsInf", "float16", [normal(*IMAGE, type="float16")], opset=20),
    case("Celu", "alpha below 0", [normal(*IMAGE, scale=2)], alpha=-0.5),
    case("Shrink", "int32", [integers(-9, 9, *IMAGE, type="int32")], lambd=2.5),
    case("Not", "", [flags(*IMAGE)]),
    case("BitwiseNot", "int32", [integers(-1000, 1000, *IMAGE, type="int32")]),
    case("Abs", "int32", [integers(-1000, 1000, *IMAGE, type="int32")]),
    case("Neg", "int64", [integers(-1000, 1000, *IMAGE)]),
    case("Relu", "float64", [normal(*IMAGE, type="float64")]),
    case("Sigmoid", "tokens", [normal(*TOKENS)]),
    *(case(name, "float64", [normal(*IMAGE, type="float64")])
      for name in ("Exp", "Sigmoid", "Tanh")),
    case("Log", "float64", [uniform(0.1, 9, *IMAGE, type="float64")]),
    *(case(name, "float16", [normal(*IMAGE, type="float16")])
      for name in ("Exp", "Gelu", "Sin", "Tanh")),
    case("Clip", "0 to 6", [normal(*IMAGE, scale=4), constant(exactly(0, "float32")),
                            constant(exactly(6, "float32"))]),
    case("PRelu", "per channel", [normal(*IMAGE), constant(uniform(0.1, 0.4, 64, 1, 1))]),
]

ARITHMETIC = [
    *(case(name, "", [normal(*IMAGE), normal(*IMAGE)]) for name in ("Add", "Sub", "Mul")),
    case("Div", "", [normal(*IMAGE), uniform(0.5, 2, *IMAGE)]),
    *(case(name, "channel vector", [normal(*IMAGE), normal(*IMAGE_CHANNELS)])
      for name in ("Add", "Mul", "Max", "Min")),
    *(case(name, "last axis", [normal(*TOKENS), normal(768)]) for name in ("Add", "Mul", "Sub")),
    case("Add", "short rows", [normal(50000, 4), normal(4)]),
    case("Add", "four short axes", [normal(300, 1, 5, 3), normal(300, 6, 1, 3)]),
    case("Min", "three broadcasts", [normal(4, 1, 30, 50), normal(1, 20, 30, 1), normal(4, 20, 1, 50)]),
    case("Mul", "short rows by columns", [normal(50000, 3), normal(50000, 1)]),
    case("Max", "short rows", [normal(50000, 4), normal(4)]),
    case("Div", "by scalar", [normal(*TOKENS), constant(exactly(8, "float32"))]),
    case("Mul", "rows by columns", [normal(1024, 1), normal(1, 1024)]),
    *(case(name, "int64", [integers(-99, 99, *IMAGE), integers(1, 99, *IMAGE)])
      for name in ("Add", "Mul", "Div", "Max")),
    *(case(name, "int32", [integers(-99, 99, *IMAGE, type="int32"),
                           integers(1, 99, *IMAGE, type="int32")]) for name in ("Add", "Sub")),
    *(case(name, "float64", [normal(*IMAGE, type="float64"), uniform(1, 2, *IMAGE, type="float64")])
      for name in ("Add", "Div")),
    *(case(name, "float16", [normal(*IMAGE, type="float16"), uniform(1, 2, *IMAGE, type="float16")])
      for name in ("Add", "Mul")),
    case("Mod", "int64", [integers(-99, 99, *IMAGE), integers(1, 9, *IMAGE)]),
    case("Mod", "fmod float64", [normal(*IMAGE, type="float64", scale=9), uniform(1, 2, *IMAGE, type="float64")],
         fmod=1),
    case("Mod", "fmod", [normal(*IMAGE, scale=9), uniform(1, 2, *IMAGE)], fmod=1, tolerance=1e-3),
    case("Pow", "", [uniform(0.1, 4, *IMAGE), uniform(-2, 2, *IMAGE)]),
    case("Pow", "square", [normal(*TOKENS), constant(exactly(2, "float32"))]),
    case("Pow", "root", [uniform(0.1, 4, *TOKENS), constant(exactly(0.5, "float32"))]),
    *(case(name, "of three", [normal(*IMAGE), normal(*IMAGE), normal(*IMAGE)])
      for name in ("Sum", "Mean", "Max", "Min")),
    case("Clip", "int32", [integers(-99, 99, *IMAGE, type="int32"),
                           constant(exactly(-9, "int32")), constant(exactly(9, "int32"))]),
]

LOGIC = [
    *(case(name, "", [flags(*IMAGE), flags(*IMAGE)]) for name in ("And", "Or", "Xor")),
    *(case(name, "", [normal(*IMAGE), normal(*IMAGE)])
      for name in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual")),
    case("Equal", "", [integers(0, 3, *IMAGE, type="float32"),
                       integers(0, 3, *IMAGE, type="float32")]),
    case("Equal", "int64", [integers(0, 3, *IMAGE), integers(0, 3, *IMAGE)]),
    case("Greater", "scalar", [normal(*IMAGE), constant(exactly(0.5, "float32"))]),
    *(case(name, "int32", [integers(-99, 99, *IMAGE, type="int32"),
                           integers(-99, 99, *IMAGE, type="int32")])
      for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    case("BitShift", "uint32", [integers(0, 999, *IMAGE, type="uint32"),
                                integers(0, 9, *IMAGE, type="uint32")], direction="LEFT"),
    case("Where", "", [flags(*IMAGE), normal(*IMAGE), normal(*IMAGE)]),
    case("Where", "mask and scalar", [flags(1, 1, 128, 128), normal(1, 12, 128, 128),
                                      constant(exactly(-1e4, "float32"))]),
]

CASTS = [
    *(case("Cast", f"{source} to {name}", [uniform(0, 99, *IMAGE, type=source)], to=number)
      for source, name, number in (
          ("float32", "float16", 10), ("float32", "float64", 11), ("float32", "int32", 6),
          ("float32", "int64", 7), ("float32", "uint8", 2), ("float32", "bool", 9),
          ("float16", "float32", 1), ("int64", "float32", 1), ("int32", "int64", 7),
          ("uint8", "float32", 1))),
    case("Cast", "bool to float32", [flags(*IMAGE)], to=1),
]

CASES = UNARY + ARITHMETIC + LOGIC + CASTS
