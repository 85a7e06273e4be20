// SPDX-License-Identifier: Apache-2.0
#include "test/operators/sample_library.h"

namespace intarsia::test {

std::shared_ptr<const converter::OperatorLibrary> sample_library() {
  return options_with<sample::Operators>().library;
}

}  // namespace intarsia::test
