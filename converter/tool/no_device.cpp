// SPDX-License-Identifier: Apache-2.0
//
// The command in builds without CUDA: plans for a device are refused by intarsia::Session.
#include "converter/tool/open_plan.h"

namespace intarsia::tool {

OpenOnDevice open_on_device() {
  return nullptr;
}

}  // namespace intarsia::tool
