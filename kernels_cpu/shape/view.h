// SPDX-License-Identifier: Apache-2.0
//
// Operators whose output holds the bytes of their input under other extents: Identity, Reshape,
// Squeeze, Unsqueeze, Flatten; and Dropout outside training, with a mask that is all true.
//
// One kernel per operator serves every element type. The planner usually lets input and output
// share memory; then there is nothing to copy.
#pragma once

#include "intarsia/kernel.h"

namespace intarsia::cpu {

/// Copies input 0 to output 0 unless they are the same memory.
/// Copies one operand.
struct CopyBytes {
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};
/// The same, with a list of extents or axes that the shape rule has read.
struct CopyListed : CopyBytes {
  static Status check(const KernelContext& context);
};

struct Identity : CopyBytes {
  static constexpr KernelId id{"Identity", "", {}};
};
struct Reshape : CopyListed {
  static constexpr KernelId id{"Reshape", "", {}};
};
struct Squeeze : CopyBytes {
  static constexpr KernelId id{"Squeeze", "", {}};
  static Status check(const KernelContext& context);
};
struct Unsqueeze : CopyListed {
  static constexpr KernelId id{"Unsqueeze", "", {}};
};
struct Flatten : CopyBytes {
  static constexpr KernelId id{"Flatten", "", {}};
};

struct Dropout {
  static constexpr KernelId id{"Dropout", "", {}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
