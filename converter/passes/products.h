// SPDX-License-Identifier: Apache-2.0
//
// What lies around a product of two computed tensors and can be part of it: operands whose last two
// axes are exchanged, factors that are one number.
//
//     MatMul(Transpose(A), c * Transpose(B)) / d  ->  ScaledMatMul(A, B), alpha = c / d
//
// Two matrices become a Gemm.
#pragma once

#include "converter/graph/graph.h"
#include "converter/graph/infer.h"

namespace intarsia::converter {

/// Replaces `last`, a MatMul or a factor behind one, if there is something to take into the
/// product. Leaves dead nodes behind.
bool fold_into_product(Node& last, Inference& inference);

}  // namespace intarsia::converter
