// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/movement/host_lists.h"

#include "intarsia/operator.h"

namespace intarsia::cuda {

HostLists::HostLists(const KernelContext& context, std::initializer_list<int> inputs)
    : context_(context) {
  const int count = context.input_count() + context.output_count();
  for (int i = 0; i < count && i < kMost; ++i) operands_[i] = context.operands_[i];
  for (const int input : inputs) {
    TensorView& view = operands_[input];
    if (input >= context.input_count() || !view.present() || view.count() == 0) continue;
    view.data = const_cast<void*>(host_constant(context, input));
    if (view.data == nullptr) lacking_ = input;
  }
  context_.operands_ = operands_;
}

Status HostLists::status() const {
  if (lacking_ < 0) return {};
  return context_.fail(Code::kCorruptPlan, "a list that is no constant", 0, 0, lacking_);
}

}  // namespace intarsia::cuda
