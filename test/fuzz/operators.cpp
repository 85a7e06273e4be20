// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/operators.h"

#include "converter/operator_extension.h"
#include "test/fuzz/target.h"
#include "test/operators/sample_operators.h"

namespace intarsia::fuzz {

const std::shared_ptr<const converter::OperatorLibrary>& library() {
  static const auto kLibrary = [] {
    auto extension = std::make_shared<converter::Extension>();
    extension->name = "sample";
    const std::string problem =
        converter::extension_of<sample::Operators>(*extension, "sample_operators.h");
    require(problem.empty(), problem.c_str());
    return std::make_shared<const converter::OperatorLibrary>(converter::Extensions{extension});
  }();
  return kLibrary;
}

}  // namespace intarsia::fuzz
