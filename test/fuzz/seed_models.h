// SPDX-License-Identifier: Apache-2.0
//
// Models that fuzzing starts from besides what the generator of the random models draws.
#pragma once

#include <map>
#include <string>

#include "test/converter/onnx_builder.h"

namespace intarsia::fuzz {

/// Serialized models by name, for what single nodes do not reach: fusions, layouts, branches,
/// states, varying extents, functions, operators of one's own, devices.
std::map<std::string, std::string> seed_models();

/// The same of single nodes that are hardly ever drawn.
std::map<std::string, std::string> seed_nodes();

}  // namespace intarsia::fuzz
