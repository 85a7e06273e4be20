// SPDX-License-Identifier: Apache-2.0
//
// Counts the process's heap calls, by standing in front of the C library's allocator.
#pragma once

#include <cstdint>

namespace intarsia::tool {

/// Calls of malloc, calloc, realloc, aligned_alloc, memalign and posix_memalign so far; -1 where
/// they cannot be counted (sanitizers bring an allocator of their own, and only glibc is known).
int64_t heap_calls();

}  // namespace intarsia::tool
