// SPDX-License-Identifier: Apache-2.0
//
// From an ONNX model to the converter's representation.
//
// The model is untrusted. What comes out satisfies `Graph::check`: names are resolved, nodes are in
// execution order, model-local functions are inlined, Constant nodes and initialisers are
// constants. Operators are as the model's operator sets have them; `convert_versions`
// (version_conversion.h) brings them to their newest forms. Functions throw `converter::Error`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// Reads a model file. External data is looked up in the file's folder.
Model import_file(const std::filesystem::path& path);

/// Reads a model from memory. `folder` holds external data; empty: external data is an error.
Model import_bytes(std::span<const std::byte> bytes, const std::filesystem::path& folder = {});

/// The files beside a model file that its tensors lie in, in some order; they need not exist. None
/// for a file that is no model.
std::vector<std::filesystem::path> external_files(const std::filesystem::path& path);

}  // namespace intarsia::converter
