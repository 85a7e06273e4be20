// SPDX-License-Identifier: Apache-2.0
//
// SequenceConstruct, and with fewer inputs SequenceEmpty and Optional: the inputs as elements.
// https://onnx.ai/onnx/operators/onnx__SequenceConstruct.html
#include "core/kernel_list.h"
#include "kernels_cpu/sequence/sequence_operands.h"

namespace intarsia::cpu {
namespace {

struct SequenceConstruct {
  static constexpr KernelId id{"SequenceConstruct", "", {}};

  static Status check(const KernelContext& context) {
    if (Status status = check_operand_types(context, {.inputs = {kAnyType},
                                                      .required_inputs = 0,
                                                      .outputs = {kAnyType},
                                                      .variadic_inputs = true});
        !status) {
      return status;
    }
    for (int i = 0; i < context.input_count(); ++i) {
      if (!context.input(i).present()) {
        return context.fail(Code::kCorruptPlan, "required operand is missing", 1, 0, i);
      }
    }
    return check_sequence(context, context.input_count());
  }

  static Status run(const KernelContext& context) {
    int64_t bytes = 0;
    for (int i = 0; i < context.input_count(); ++i) {
      bytes += sequence_entry_bytes(context.input(i).bytes());
    }
    if (Status status = resize_sequence(context, bytes); !status) return status;
    SequenceWriter writer(bytes_of_output(context));
    for (int i = 0; i < context.input_count(); ++i) {
      static_cast<void>(writer.append(context.input(i)));  // there is room, as computed
    }
    return {};
  }
};

}  // namespace

extern const KernelList sequence_construct_kernels;
constinit const KernelList sequence_construct_kernels = kernel_list<SequenceConstruct>();

}  // namespace intarsia::cpu
