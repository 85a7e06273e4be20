// SPDX-License-Identifier: Apache-2.0
//
// Lists among a node's inputs (starts, pads, ...) that the host reads in `run`, though the plan has
// them in the device's memory: constants of the model, which the host finds in the plan.
#pragma once

#include <initializer_list>

#include "intarsia/kernel.h"

namespace intarsia::cuda {

/// A node as a shape rule reads it in `run`: the lists among its inputs lie where the host finds
/// them. They are constants of the model, as `are_constants` (widths.h) sees to.
class HostLists {
 public:
  HostLists(const KernelContext& context, std::initializer_list<int> inputs);
  /// Fails if a list is no constant, which no plan of the converter's has.
  Status status() const;
  const KernelContext& context() const { return context_; }
  HostLists(const HostLists&) = delete;
  HostLists& operator=(const HostLists&) = delete;

 private:
  static constexpr int kMost = 8;
  TensorView operands_[kMost];
  KernelContext context_;
  int lacking_ = -1;
};

}  // namespace intarsia::cuda
