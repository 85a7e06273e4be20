// SPDX-License-Identifier: Apache-2.0
//
// Layout assignment: convolutional regions compute channels-last.
//
// ONNX images are N,C,spatial...; the fast kernels want N,spatial...,C. The pass walks a graph in
// execution order and keeps, for values where that pays, a channels-last twin. Convolutions and
// poolings read and write twins; element-wise operators, Concat and others follow when their inputs
// have twins; whatever else needs the ONNX layout gets it through one Transpose (or, where only one
// of channels and pixels is more than 1, a Reshape, which costs nothing).
#pragma once

#include "converter/graph/graph.h"
#include "converter/graph/infer.h"

namespace intarsia::converter {

/// REQUIRES: types and extents are inferred. Leaves dead nodes behind.
void assign_layout(Graph& graph, Inference& inference);

}  // namespace intarsia::converter
