// SPDX-License-Identifier: Apache-2.0
//
// Integer kernels for quantised models that say with DequantizeLinear and QuantizeLinear what they
// mean ("QDQ").
//
// A DequantizeLinear moves behind operators that only choose elements, and is undone by a
// QuantizeLinear of the same parameters: what lies between them moves bytes. A Conv, MatMul or Gemm
// of two dequantised tensors becomes one of their integers, requantised where a QuantizeLinear
// follows, behind a clamp or not, and dequantised elsewhere: weights stay bytes. Sums are exact, so
// that results are those of the float operators but for the rounding of these. Add and Mul of two
// dequantised tensors combine codes, to the bit, and a function of one becomes a table of codes.
#pragma once

#include "converter/graph/graph.h"
#include "converter/graph/infer.h"

namespace intarsia::converter {

/// Rewrites `graph` and nested graphs. REQUIRES: types and extents are inferred.
void use_integers(Graph& graph, Inference& inference);

}  // namespace intarsia::converter
