// SPDX-License-Identifier: Apache-2.0
//
// What `intarsia inspect` tells of a plan: memory, entry points, states, nodes with their tensors.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

namespace intarsia::tool {

/// REQUIRES: `plan` passes plan_info.
nlohmann::ordered_json plan_json(std::span<const std::byte> plan);

}  // namespace intarsia::tool
