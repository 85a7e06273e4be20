// SPDX-License-Identifier: Apache-2.0
//
// What the converter knows of the device that a plan is for.
//
// A float32 plan runs correctly on every target; the target decides what is worth its bytes. Packed
// weights are padded to the width of the micro-kernels, which costs nothing where memory is
// plentiful and too much where the plan lies in flash.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include "core/kernel_descriptor.h"

namespace intarsia::converter {

struct Target {
  std::string_view name;
  KernelTarget kernels = KernelTarget::kGeneric;
  /// The most that a weight's packed form may take, as a multiple of the weight's own bytes.
  double plan_growth = std::numeric_limits<double>::infinity();
};

/// All targets; the first is the default.
const std::vector<Target>& targets();

/// The target of that name, or null.
const Target* find_target(std::string_view name);

}  // namespace intarsia::converter
