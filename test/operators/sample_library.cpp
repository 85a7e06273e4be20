// SPDX-License-Identifier: Apache-2.0
#include "test/operators/sample_library.h"

namespace intarsia::test {

std::shared_ptr<const converter::OperatorLibrary> sample_library() {
  return sample_library_of<sample::Operators>("sample::Operators");
}

}  // namespace intarsia::test
