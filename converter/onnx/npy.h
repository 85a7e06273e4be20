// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html,
// versions 1 to 3. Read: bool, integers, floating point and complex numbers of either endianness
// and either order of axes, and fixed-length bytes and text (as strings). Types that NumPy lacks
// are written as their bits: bfloat16 as uint16, 8-bit floats and 4-bit or 2-bit integers,
// unpacked, as int8 or uint8. Functions throw `converter::Error`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "converter/graph/constant.h"
#include "converter/graph/error.h"

namespace intarsia::converter {

Constant read_npy(const std::filesystem::path& path);
Constant parse_npy(std::span<const std::byte> bytes);

void write_npy(const std::filesystem::path& path, const Constant& constant);
/// The bytes of the file, format version 1.0, rows first.
std::vector<std::byte> format_npy(const Constant& constant);

}  // namespace intarsia::converter
