// SPDX-License-Identifier: Apache-2.0
//
// The element-wise operators by the element types that they have. The kernels of every device are
// made from these lists: an operator of floats that joins one has kernels on the CPU and on CUDA
// devices.
#pragma once

#include "core/kernel_descriptor.h"
#include "core/operators/elementwise/binary_arithmetic.h"
#include "core/operators/elementwise/binary_logic.h"
#include "core/operators/elementwise/unary_activations.h"
#include "core/operators/elementwise/unary_arithmetic.h"
#include "core/operators/elementwise/unary_functions.h"

namespace intarsia::operators {

// ---- of one input ----

using FloatFunctions = Types<AcosOp, AcoshOp, AsinOp, AsinhOp, AtanOp, AtanhOp, CosOp, CoshOp,
                             ErfOp, ExpOp, LogOp, SinOp, SinhOp, TanOp, TanhOp>;
using FloatActivations =
    Types<CeluOp, EluOp, GeluOp, HardSigmoidOp, HardSwishOp, LeakyReluOp, MishOp, SeluOp, SigmoidOp,
          SoftplusOp, SoftsignOp, SwishOp, ThresholdedReluOp>;
using SignedActivations = Types<ReluOp>;  // of floats and signed integers
using FloatArithmetic = Types<CeilOp, FloorOp, IsInfOp, IsNaNOp, ReciprocalOp, RoundOp, SqrtOp>;
using SignedArithmetic = Types<NegOp>;
using NumberArithmetic = Types<AbsOp, ShrinkOp, SignOp>;
using BoolLogic = Types<NotOp>;
using IntegerLogic = Types<BitwiseNotOp>;

// ---- of two inputs of one type ----

using NumberPairs = Types<AddOp, DivOp, MulOp, SubOp>;
using Comparisons = Types<EqualOp, GreaterOp, GreaterOrEqualOp, LessOp, LessOrEqualOp>;
using BoolPairs = Types<AndOp, OrOp, XorOp>;
using IntegerPairs = Types<BitShiftOp, BitwiseAndOp, BitwiseOrOp, BitwiseXorOp>;

// ---- of any number of inputs ----

using NumberFolds = Types<MaxOp, MinOp>;
using FloatFolds = Types<MeanOp, SumOp>;

}  // namespace intarsia::operators
