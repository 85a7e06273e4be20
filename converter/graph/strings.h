// SPDX-License-Identifier: Apache-2.0
//
// The strings in a value's bytes: those of a tensor of strings, and those of the tensors in a
// sequence.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "converter/graph/constant.h"
#include "intarsia/string_pool.h"

namespace intarsia::converter {

/// Calls `change` with each, in the order of their places. REQUIRES: the bytes of a value of
/// `type`, at an address that is a multiple of 16 if that is a sequence.
void for_each_string(DataType type, std::span<std::byte> bytes,
                     const std::function<void(StringRef&)>& change);

/// A value whose StringRefs `read` understands.
Constant with_characters(DataType type, std::vector<int64_t> extents, std::vector<std::byte> bytes,
                         const std::function<std::string_view(StringRef)>& read);

/// The same for StringRefs that `with_strings_in` has made.
Constant with_characters(DataType type, std::vector<int64_t> extents, std::vector<std::byte> bytes,
                         const std::string& characters);

/// The bytes of `constant` with each of its strings replaced by what `make` makes of it.
std::vector<std::byte> with_strings(const Constant& constant,
                                    const std::function<StringRef(std::string_view)>& make);

/// The same for characters that are appended to `characters`: their StringRefs say so, and that
/// they are constants (StringPool::kConstant). Throws Error if they are too many.
std::vector<std::byte> with_strings_in(const Constant& constant, std::string& characters);

}  // namespace intarsia::converter
