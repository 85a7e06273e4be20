// SPDX-License-Identifier: Apache-2.0
//
// What the fuzzed plans and models may name: Intarsia's own operators and kernels, and those of
// test/operators/sample_operators.h, which have attributes, workspace, states and open extents.
#pragma once

#include <memory>

#include "converter/plugin/extension.h"

namespace intarsia::fuzz {

/// Made once.
const std::shared_ptr<const converter::OperatorLibrary>& library();

}  // namespace intarsia::fuzz
