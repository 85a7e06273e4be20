// SPDX-License-Identifier: Apache-2.0
//
// float16 in the place of float32, for those who ask for it (`--precision f16`).
//
// A node of the main graph that computes in float32 computes in float16 if its operator allows that
// and a kernel for it exists where it shall run: weights and results take half the memory, sums
// inside of kernels are float32 as before. Everything else stays float32, with Casts between:
// - inputs, outputs and states of the model, control flow and what stands in it,
// - operators without such a kernel,
// - reductions that sum up, and results that only these read: they may be larger than 65504,
// - a node that computes with such results, unless it multiplies them by weights,
// - a node one of whose constants is a single number that would become zero, such as an epsilon.
// Constants beyond the largest float16 become that one: masks of -3.4e38 do not become infinite.
#pragma once

#include "converter/graph/graph.h"
#include "converter/graph/kernel_selection.h"

namespace intarsia::converter {

/// Where kernels for float16 have to be.
struct HalfKernels {
  const definitions::KernelRows* rows = nullptr;
  KernelChoice choice;
};

/// REQUIRES: types and extents are inferred. Leaves dead nodes behind.
void use_halves(Graph& graph, const HalfKernels& kernels);

}  // namespace intarsia::converter
