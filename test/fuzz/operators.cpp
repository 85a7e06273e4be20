// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/operators.h"

#include "test/operators/sample_library.h"

namespace intarsia::fuzz {

const std::shared_ptr<const converter::OperatorLibrary>& library() {
  static const auto kLibrary = test::sample_library();
  return kLibrary;
}

}  // namespace intarsia::fuzz
