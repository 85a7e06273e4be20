// SPDX-License-Identifier: Apache-2.0
//
// A plan from anywhere is opened with every kernel, those of test/fuzz/operators.h and of the
// emulated CUDA device among them, and run, in memory of exactly the size that it asks for.
#pragma once

#include <span>

#include "test/fuzz/target.h"

namespace intarsia::fuzz {

/// Largest arenas that are tried; what asks for more is not run. A device is emulated slowly.
inline constexpr uint64_t kLargestArena = uint64_t{1} << 20;
inline constexpr uint64_t kLargestDeviceArena = uint64_t{1} << 14;

enum class Outcome { kRefused, kTooLarge, kFailed, kRan };

/// Opens `plan` and runs it a few times on inputs and extents drawn from `values`. Requires that
/// the plan's bytes come out as they went in. `plan` starts at a multiple of 64 bytes.
Outcome open_and_run(std::span<const std::byte> plan, Bytes values);

}  // namespace intarsia::fuzz
