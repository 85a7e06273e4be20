// SPDX-License-Identifier: Apache-2.0
#include "converter/lower/target.h"

namespace intarsia::converter {

const std::vector<Target>& targets() {
  static const std::vector<Target> kTargets = {
      {"generic", KernelTarget::kGeneric},       {"x86-64-v3", KernelTarget::kX86V3},
      {"x86-64-v4", KernelTarget::kX86V4},       {"aarch64", KernelTarget::kAarch64},
      {"cortex-m", KernelTarget::kCortexM, 1.0},
  };
  return kTargets;
}

const Target* find_target(std::string_view name) {
  for (const Target& target : targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace intarsia::converter
