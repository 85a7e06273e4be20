// SPDX-License-Identifier: Apache-2.0
//
// Intarsia's operators and those of sample_operators.h, for converter and runtime alike.
#pragma once

#include <memory>
#include <stdexcept>

#include "converter/plugin/operator_extension.h"
#include "test/operators/sample_operators.h"

namespace intarsia::test {

/// Those of one list. Throws std::logic_error if the operators contradict one another.
template <class Operators>
std::shared_ptr<const converter::OperatorLibrary> sample_library_of(const char* list) {
  auto extension = std::make_shared<converter::Extension>();
  extension->name = "sample";
  const std::string problem =
      converter::extension_of<Operators>(*extension, {"sample_operators.h", list});
  if (!problem.empty()) throw std::logic_error(problem);
  return std::make_shared<const converter::OperatorLibrary>(converter::Extensions{extension});
}
/// Those of sample::Operators. They are many, so one source makes them for all.
std::shared_ptr<const converter::OperatorLibrary> sample_library();

}  // namespace intarsia::test
