// SPDX-License-Identifier: Apache-2.0
//
// Values with strings: what makes constants of them and writes their characters.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "converter/graph/constant.h"
#include "intarsia/string_pool.h"

namespace intarsia::converter {

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
