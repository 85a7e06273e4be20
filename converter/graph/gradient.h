// SPDX-License-Identifier: Apache-2.0
//
// Gradients: the operator Gradient of ai.onnx.preview.training becomes ordinary nodes.
//
//     dw = Gradient(w, x; xs = ["w"], zs = ["x"], y = "loss")
//
// asks for the gradient of the sum of `loss` by `w`. The attributes name the differentiated graph:
// all that leads from xs and zs to y. Each of xs and zs is independent of the others, also where a
// node computes it from them. The inputs are where the gradient is taken; where an input is not the
// value that is named, the nodes that depend on it are copied with it in the name's place.
//
// Backwards from y each node's inputs get gradients by the rule in its operator's definition
// (core/definitions/gradient.h), summed where several nodes read a value. Integers carry no
// gradient: what depends on an x by way of them only does not depend on it here. Where y depends
// on no way on an x, the gradient is zeros.
#pragma once

#include "converter/graph/graph.h"
#include "converter/graph/infer.h"

namespace intarsia::converter {

/// Replaces every Gradient node of `graph` and of nested graphs, a node before those that need it,
/// so that the y of one may be what another computes. Throws Error that lists each node on the way
/// whose operator has no rule. REQUIRES: the graph is inferred.
void expand_gradients(Graph& graph, Inference& inference);

}  // namespace intarsia::converter
