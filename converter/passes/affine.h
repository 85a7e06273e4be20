// SPDX-License-Identifier: Apache-2.0
//
// Constant scales and shifts of channels, as BatchNormalization, Mul and Add have them, become part
// of the weights and the bias beside them:
//
//     scale * (W x + b) + shift  ->  (scale * W) x + (scale * b + shift)
//     W (scale * x + shift) + b  ->  (W * scale) x + (W shift + b)
//
// of Conv, ConvTranspose, Gemm and MatMul. A shift alone asks for no constant weights.
#pragma once

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// Folds what comes behind and in front of the nodes of `graph` and of nested graphs.
///
/// Nodes that share weights may be followed by the same scale and shift: they share the products,
/// too. Where these differ, each node gets its own; such copies may together take as many bytes as
/// all constants had. What is beyond stays a node, or a small model would become a large plan.
void fold_affine(Graph& graph);

}  // namespace intarsia::converter
