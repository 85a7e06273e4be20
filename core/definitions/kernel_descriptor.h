// SPDX-License-Identifier: Apache-2.0
//
// Kernel descriptors (core/kernel_descriptor.h) as host tools hold them.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_descriptor.h"

namespace intarsia {

namespace definitions {
using intarsia::KernelDescriptor;
/// Descriptors of many lists.
using KernelRows = std::vector<KernelDescriptor>;
}  // namespace definitions

/// A kernel for people: "Conv.packed<float>", "Gather<32 bits, int64>", "domain:Op.cuda<float>".
std::string kernel_text(const KernelId& id);
/// Its id as C++ spells it: `{"Conv", "packed", {DataType::kFloat}}`. The same text for every
/// target and compiler.
std::string kernel_id_text(const KernelId& id);

}  // namespace intarsia
