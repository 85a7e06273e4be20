// SPDX-License-Identifier: Apache-2.0
//
// Counts what a program asks of the heap, to show that a session asks nothing.
//
// A program that links heap_calls.cpp has malloc and its relatives replaced by ones that count and
// then do what the C library does. Counts on Linux with the GNU C library, without sanitizers.
#pragma once

namespace examples {

/// Calls so far of malloc, calloc, realloc, free, aligned_alloc and posix_memalign, by any thread
/// (`new` and `delete` end there too); -1 where they cannot be counted.
long heap_calls();

}  // namespace examples
