// SPDX-License-Identifier: Apache-2.0
//
// Forks: the child has one thread, the one that forked. Locks that other threads held stay locked,
// and nobody wakes up who would do the work of the others.
#pragma once

#include <cstdint>

namespace intarsia {

/// A number that changes in the child of every fork. Costs a load; to be called before the forks
/// that shall count.
uint32_t fork_count();

}  // namespace intarsia
