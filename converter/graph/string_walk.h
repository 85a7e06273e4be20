// SPDX-License-Identifier: Apache-2.0
//
// The strings in a value's bytes: those of a tensor of strings, and those of the tensors in a
// sequence. Needs no more than the runtime.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "intarsia/string_pool.h"
#include "intarsia/types.h"

namespace intarsia::converter {

/// Calls `change` with each, in the order of their places. REQUIRES: the bytes of a value of
/// `type`, at an address that is a multiple of 16 if that is a sequence.
void for_each_string(DataType type, std::span<std::byte> bytes,
                     const std::function<void(StringRef&)>& change);

}  // namespace intarsia::converter
