// SPDX-License-Identifier: Apache-2.0
//
// The part of the import that builds graphs: names to values, nodes, sub-graphs, functions.
// Internal to import.cpp.
#pragma once

#include "converter/graph/graph.h"
#include "converter/onnx/import_tensor.h"
#include "converter/onnx/onnx.pb.h"

namespace intarsia::converter {

using OpsetMap = std::map<std::string, int, std::less<>>;

/// Operator-set versions by domain, "ai.onnx" being "".
OpsetMap opset_map(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

/// Fills `model.graph` from `proto.graph`, with functions inlined. Tensors move out of `proto`.
/// REQUIRES: `model.opsets` and `model.symbols` are set.
void import_graph(Model& model, onnx::ModelProto& proto, ExternalFiles& files);

}  // namespace intarsia::converter
