// SPDX-License-Identifier: Apache-2.0
//
// Operator fusion: what follows a Conv, Gemm or MatMul becomes part of it.
//
// First constant scales and shifts per channel (BatchNormalization, Mul, Add) are folded into
// weights and bias; then a residual sum, then an activation, are attached to the node's epilogue:
// Y = activation(product + bias + residual). Chains of element-wise nodes that spell out one
// operator (x * sigmoid(x), the erf form of Gelu) are replaced by it first.
#pragma once

#include "converter/graph/graph.h"
#include "converter/graph/infer.h"

namespace intarsia::converter {

/// Applies all fusions to `graph` and nested graphs. REQUIRES: types and extents are inferred.
void fuse(Graph& graph, Inference& inference);

}  // namespace intarsia::converter
