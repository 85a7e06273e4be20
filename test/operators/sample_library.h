// SPDX-License-Identifier: Apache-2.0
//
// Intarsia's operators and those of sample_operators.h, for converter and runtime alike.
#pragma once

#include <memory>
#include <stdexcept>

#include "converter/plugin/operator_extension.h"
#include "test/operators/sample_operators.h"

namespace intarsia::test {

/// Throws std::logic_error if the operators contradict one another.
inline std::shared_ptr<const converter::OperatorLibrary> sample_library() {
  auto extension = std::make_shared<converter::Extension>();
  extension->name = "sample";
  const std::string problem = converter::extension_of<sample::Operators>(
      *extension, {"sample_operators.h", "sample::Operators"});
  if (!problem.empty()) throw std::logic_error(problem);
  return std::make_shared<const converter::OperatorLibrary>(converter::Extensions{extension});
}

}  // namespace intarsia::test
