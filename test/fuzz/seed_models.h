// SPDX-License-Identifier: Apache-2.0
//
// Models for what single nodes do not reach: fusions, layouts, branches, states, varying extents,
// functions, operators of one's own, devices.
#pragma once

#include <map>
#include <string>

#include "test/converter/onnx_builder.h"

namespace intarsia::fuzz {

/// Serialized models by name.
std::map<std::string, std::string> seed_models();

}  // namespace intarsia::fuzz
