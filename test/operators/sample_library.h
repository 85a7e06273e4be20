// SPDX-License-Identifier: Apache-2.0
//
// Intarsia's operators and those of sample_operators.h, for converter and runtime alike.
#pragma once

#include <memory>

#include "test/operators/own_library.h"
#include "test/operators/sample_operators.h"

namespace intarsia::test {

/// They are many, so one source makes them for all. Throws as options_with does.
std::shared_ptr<const converter::OperatorLibrary> sample_library();

}  // namespace intarsia::test
