// SPDX-License-Identifier: Apache-2.0
//
// The session's memory, lent to an operator for one call.
//
// Inputs are shown without a copy, so nothing may show them when the call is over: the arena is
// used again, and its owner may free it. An operator that keeps nothing pays for a count of
// references. What one keeps all the same (the array, a slice of it, a memoryview) is found and
// given memory of its own, whatever the call's result was, and the operator is told; its later
// calls get copies.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "intarsia/tensor.h"
#include "pyop_optional/host/python.h"

namespace intarsia::pyop {

struct Tools;

/// The characters of an element of a tensor of strings.
using Characters = std::function<std::string_view(StringRef)>;

/// To be made and destroyed while the GIL is held. Everything that the caller itself has of the
/// inputs, or of what the operator returned, must be gone before the end.
class Loan {
 public:
  /// Shows `inputs`, or copies of them. An absent one is None; strings are always an array of str
  /// objects of its own. Throws Failure.
  Loan(const Tools& tools, std::span<const TensorView> inputs, const Characters& characters,
       bool copies);
  ~Loan() { end(); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  /// A tuple of the inputs. REQUIRES: not ended.
  const Ref& arguments() const { return arguments_; }
  /// Takes the memory back. True if the operator has kept something of it.
  bool end();
  /// After the end: true if native code keeps an address of the memory, which nothing can change.
  bool is_lost() const { return lost_; }

 private:
  bool is_kept() const;

  const Tools& tools_;
  std::vector<Ref> buffers_;
  Ref arguments_;
  const bool copies_;
  bool kept_ = false, lost_ = false;
};

}  // namespace intarsia::pyop
