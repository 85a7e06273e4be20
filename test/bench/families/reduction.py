# SPDX-License-Identifier: Apache-2.0
"""Reductions, positions of extremes, softmax and running sums."""

from sweep_cases import IMAGE, MATRIX, TOKENS, case, constant, flags, integers, normal, uniform

PLAIN = "L1 L2 LogSumExp Max Mean Min Sum SumSquare".split()

REDUCTIONS = [
    *(case(f"Reduce{name}", "last axis", [normal(*TOKENS), constant([-1])]) for name in PLAIN),
    case("ReduceLogSum", "last axis", [uniform(0.1, 2, *TOKENS), constant([-1])]),
    case("ReduceProd", "last axis", [uniform(0.9, 1.1, *TOKENS), constant([-1])]),
    *(case(f"Reduce{name}", "first axis", [normal(*MATRIX), constant([0])])
      for name in ("Sum", "Mean", "Max", "L2")),
    *(case(f"Reduce{name}", "last two axes", [normal(*IMAGE), constant([2, 3])])
      for name in ("Sum", "Mean", "Max", "SumSquare")),
    case("ReduceMean", "channels", [normal(*IMAGE), constant([1])]),
    case("ReduceSum", "all", [normal(*MATRIX)], keepdims=0, tolerance=1e-3),
    case("ReduceSum", "middle axis", [normal(32, 128, 256), constant([1])]),
    case("ReduceSum", "int64", [integers(-9, 9, *MATRIX), constant([1])]),
    case("ReduceMax", "int32", [integers(-999, 999, *MATRIX, type="int32"), constant([1])]),
    case("ReduceMean", "float64", [normal(*MATRIX, type="float64"), constant([1])]),
    case("ReduceSum", "rows of 20", [normal(4096, 20), constant([1])]),
    case("ReduceMax", "rows of 5", [normal(4096, 5), constant([1])]),
    case("ReduceLogSumExp", "rows of 3", [normal(4096, 3), constant([1])]),
    case("ReduceMin", "bool", [flags(*MATRIX), constant([1])], opset=20),
    case("ReduceMean", "float16, rows of 64", [normal(1024, 64, type="float16"), constant([1])],
         tolerance=1e-3),
]

EXTREMES = [
    case("ArgMax", "last axis", [normal(*MATRIX)], axis=-1),
    case("ArgMax", "few lines side by side", [normal(200, 50, 5)], axis=1),
    case("ArgMax", "channels", [normal(*IMAGE)], axis=1),
    case("ArgMin", "last axis", [normal(*MATRIX)], axis=-1),
    case("ArgMin", "first axis", [normal(*MATRIX)], axis=0),
    case("ArgMax", "rows of 20", [normal(4096, 20)], axis=1),
]

SOFTMAX = [
    case("Softmax", "tokens", [normal(*TOKENS)], axis=-1),
    case("Softmax", "attention", [normal(1, 12, 128, 128)], axis=-1),
    case("Softmax", "1000 classes", [normal(1, 1000)], axis=-1),
    case("Softmax", "few lines side by side", [normal(20, 100, 20)], axis=1),
    case("Softmax", "channels", [normal(*IMAGE)], axis=1),
    case("Softmax", "float64", [normal(256, 100, type="float64")], axis=-1),
    case("Softmax", "rows of 10", [normal(4096, 10)], axis=-1),
    case("LogSoftmax", "tokens", [normal(*TOKENS)], axis=-1),
    case("Hardmax", "tokens", [normal(*TOKENS)], axis=-1),
]

RUNNING = [
    case("CumSum", "last axis", [normal(*MATRIX), constant(integers(1, 1))]),
    case("CumSum", "first axis", [normal(*MATRIX), constant(integers(0, 0))]),
    case("CumSum", "int64", [integers(0, 1, *MATRIX), constant(integers(1, 1))]),
    case("CumProd", "last axis", [uniform(0.9, 1.1, *MATRIX), constant(integers(1, 1))], opset=26),
]

CASES = REDUCTIONS + EXTREMES + SOFTMAX + RUNNING
