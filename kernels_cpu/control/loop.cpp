// SPDX-License-Identifier: Apache-2.0
//
// Loop: runs a sub-graph of the plan until the trips are counted or the condition fails, hands
// values from each trip to the next, and collects what each one yields.
//
// The body reads a carried value where the node's output lies, and the converter lets it write the
// next one there too where nothing else needs the old one: then a trip copies nothing. Trips are
// bounded by the session (SessionOptions::max_steps), collections by their planned extents. What is
// collected of sequences is one sequence of all that they hold.
// Specification: https://onnx.ai/onnx/operators/onnx__Loop.html
#include <cstring>

#include "core/kernel_list.h"
#include "core/operators/control/control.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/sequence/sequence_operands.h"

namespace intarsia::cpu {
namespace {

struct Loop {
  static constexpr KernelId id{"Loop", "", {}};

  static Status check(const KernelContext& context) {
    if (Status status = check_attributes<LoopAttributes>(context); !status) return status;
    const uint32_t body = context.attributes<LoopAttributes>().body;
    if (body >= context.graph_count()) {
      return context.fail(Code::kCorruptPlan, "sub-graph", context.graph_count(), body);
    }
    const LoopOperands at(context.input_count(), context.output_count());
    if (!at.valid()) {
      return context.fail(Code::kCorruptPlan, "operands of a loop", context.output_count(),
                          context.input_count());
    }
    const int outputs = context.input_count();  // operands count on from the inputs
    Status status = scalar(context, at.kTripCount, DataType::kInt64, true);
    if (status.ok()) status = scalar(context, at.kCondition, DataType::kBool, true);
    if (status.ok()) status = scalar(context, at.next_condition(), DataType::kBool, false);
    if (status.ok()) status = scalar(context, outputs + at.trip(), DataType::kInt64, false);
    if (status.ok()) status = scalar(context, outputs + at.condition(), DataType::kBool, false);
    for (int i = 0; status.ok() && i < at.carried; ++i) {
      status = alike(context, at.initial(i), i, 0, true);
      if (status.ok()) status = alike(context, at.result(i), i, 0, true);
    }
    for (int i = 0; status.ok() && i < at.collected; ++i) {
      const bool sequence = holds_elements(context.output(at.collection(i)).type);
      status = alike(context, at.element(i), at.collection(i), sequence ? 0 : 1, false);
    }
    return status;
  }

  static Status run(const KernelContext& context) {
    const LoopOperands at(context.input_count(), context.output_count());
    const uint32_t body = context.attributes<LoopAttributes>().body;
    const TensorView& count = context.input(at.kTripCount);
    const TensorView& condition = context.input(at.kCondition);
    const int64_t trips = count.present() ? *count.as<const int64_t>() : INT64_MAX;
    bool goes_on = !condition.present() || *condition.as<const uint8_t>() != 0;
    for (int i = 0; i < at.carried; ++i) {
      if (Status status = set(context, i, context.input(at.initial(i))); !status) return status;
    }
    for (int i = 0; i < at.collected; ++i) {
      if (!holds_elements(context.output(at.collection(i)).type)) continue;
      if (Status s = resize_sequence(context, 0, at.collection(i)); !s) return s;
    }
    int64_t trip = 0;
    for (; goes_on && trip < trips; ++trip) {
      *context.output(at.trip()).as<int64_t>() = trip;
      *context.output(at.condition()).as<uint8_t>() = 1;
      if (Status status = context.run_graph(body); !status) return status;
      goes_on = *context.input(at.next_condition()).as<const uint8_t>() != 0;
      for (int i = 0; i < at.collected; ++i) {
        Status status = collect(context, at.collection(i), context.input(at.element(i)), trip);
        if (!status) return status;
      }
      for (int i = 0; i < at.carried; ++i) {
        if (Status status = set(context, i, context.input(at.result(i))); !status) return status;
      }
    }
    for (int i = 0; i < at.collected; ++i) {
      Status status = finish(context, at.collection(i), at.element(i), trip);
      if (!status) return status;
    }
    return {};
  }

 private:
  static const TensorView& operand(const KernelContext& context, int index) {
    return index < context.input_count() ? context.input(index)
                                         : context.output(index - context.input_count());
  }

  static Status scalar(const KernelContext& context, int index, DataType type, bool optional) {
    const TensorView& view = operand(context, index);
    if (!view.present()) {
      return optional ? Status()
                      : context.fail(Code::kCorruptPlan, "operand of a loop", 1, 0, index);
    }
    if (view.type != type) {
      return context.fail(Code::kWrongType, "element type", static_cast<int64_t>(type),
                          static_cast<int64_t>(view.type), index);
    }
    if (view.count() == 1) return {};
    return context.fail(Code::kWrongExtent, "elements of a scalar", 1, view.count(), index);
  }

  /// The output is there, and has the input's type and `more` axes in front of those of the input.
  static Status alike(const KernelContext& context, int input, int output, int more,
                      bool optional) {
    const TensorView &from = context.input(input), &to = context.output(output);
    if (!to.present() || (!optional && !from.present())) {
      return context.fail(Code::kCorruptPlan, "operand of a loop", 1, 0, input);
    }
    if (!from.present()) return {};
    if (from.type != to.type) {
      return context.fail(Code::kWrongType, "element type", static_cast<int64_t>(to.type),
                          static_cast<int64_t>(from.type), input);
    }
    // Elements of part of a byte would have to be shifted into their place.
    if (more != 0 && element_bits(from.type) % 8 != 0) {
      return context.fail(Code::kUnsupported, "bits of an element that is collected", 8,
                          element_bits(from.type), input);
    }
    if (from.rank + more == to.rank) return {};
    return context.fail(Code::kWrongRank, "rank", to.rank - more, from.rank, input);
  }

  /// Gives a carried value the contents of `from`, if that lies elsewhere.
  static Status set(const KernelContext& context, int output, const TensorView& from) {
    if (!from.present()) return {};
    const std::span<const int32_t> extents(from.extents, static_cast<size_t>(from.rank));
    if (Status status = context.resize_output(output, extents); !status) return status;
    std::memmove(context.output(output).data, from.data, static_cast<size_t>(from.bytes()));
    return {};
  }

  /// Copies an element to its place among those of earlier trips, whose extents it must have.
  static Status collect(const KernelContext& context, int output, const TensorView& element,
                        int64_t trip) {
    const int index = context.input_count() + output;
    const TensorView& all = context.output(output);
    if (holds_elements(all.type)) return append(context, output, element);
    const int32_t* most = context.planned_extents(index);
    if (trip >= most[0]) {
      return context.fail(Code::kWrongExtent, "trips of a loop whose results are collected",
                          most[0], trip + 1, index, 0);
    }
    const bool varies = most != all.extents;
    if (trip == 0 && varies) {
      if (Status status = resize(context, output, 1, element.extents); !status) return status;
    }
    for (int axis = 0; axis < element.rank; ++axis) {
      if (element.extents[axis] == all.extents[axis + 1]) continue;
      return context.fail(Code::kWrongExtent, "extent that the first trip's result has",
                          all.extents[axis + 1], element.extents[axis], index, axis + 1);
    }
    const auto bytes = static_cast<size_t>(element.bytes());
    std::memmove(all.as<std::byte>() + static_cast<size_t>(trip) * bytes, element.data, bytes);
    return {};
  }

  /// Puts what a sequence holds behind what the output does.
  static Status append(const KernelContext& context, int output, const TensorView& element) {
    const int64_t before = context.output(output).count(), bytes = element.count();
    if (Status s = resize_sequence(context, before + bytes, output); !s) return s;
    copy_bytes(context.output(output).as<std::byte>() + before, element.as<const std::byte>(),
               static_cast<size_t>(bytes));
    return {};
  }

  /// Without a trip the extents of the elements are the planned ones: nothing else tells them.
  static Status finish(const KernelContext& context, int output, int element, int64_t trips) {
    if (holds_elements(context.output(output).type)) return {};
    const int32_t* extents =
        trips > 0 ? context.output(output).extents + 1 : context.planned_extents(element);
    return resize(context, output, static_cast<int32_t>(trips), extents);
  }

  static Status resize(const KernelContext& context, int output, int32_t trips,
                       const int32_t* element) {
    const auto rank = static_cast<size_t>(context.output(output).rank);
    int32_t extents[kMaxRank] = {trips};
    for (size_t axis = 1; axis < rank; ++axis) extents[axis] = element[axis - 1];
    return context.resize_output(output, {extents, rank});
  }
};

}  // namespace

extern const KernelList loop_kernels;
constinit const KernelList loop_kernels = kernel_list<Loop>();

}  // namespace intarsia::cpu
