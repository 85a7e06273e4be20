// SPDX-License-Identifier: Apache-2.0
//
// Expand (an axis of extent 1 is repeated) and Tile (the whole tensor is repeated along each axis).
//
// How often an axis is repeated follows from the extents of input and output alone; the second
// input was read by the shape function. The output does not overlap the input.
#include "core/kernel_list.h"
#include "core/operators/shape/repeat_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"

namespace intarsia::cpu {
namespace {

/// One axis of the output: `extent` blocks of the input, then that many copies of them.
struct RepeatedAxis {
  int64_t extent = 1;   // of the input
  int64_t repeats = 1;  // output extent / input extent
  int64_t input_block = 1;
  int64_t output_block = 1;
};

/// Output axes in row-major order; adjacent ones that are not repeated are merged.
struct RepeatedAxes {
  int rank = 0;
  RepeatedAxis axes[kMaxRank + 1];
};

RepeatedAxes repeated_axes(const TensorView& input, const TensorView& output) {
  RepeatedAxes result;
  const int lead = output.rank - input.rank;
  for (int axis = 0; axis < output.rank; ++axis) {
    RepeatedAxis next;
    next.extent = axis < lead ? 1 : input.extents[axis - lead];
    next.repeats = next.extent > 0 ? output.extents[axis] / next.extent : 1;
    RepeatedAxis* last = result.rank > 0 ? &result.axes[result.rank - 1] : nullptr;
    if (last != nullptr && next.repeats == 1) {
      last->extent *= next.extent;  // one run of the input repeats as a whole
    } else if (last != nullptr && last->extent == 1 && next.extent == 1) {
      last->repeats *= next.repeats;
    } else {
      result.axes[result.rank++] = next;
    }
  }
  if (result.rank == 0) result.rank = 1;
  int64_t input_block = 1;
  int64_t output_block = 1;
  for (int axis = result.rank - 1; axis >= 0; --axis) {
    RepeatedAxis& current = result.axes[axis];
    current.input_block = input_block;
    current.output_block = output_block;
    input_block *= current.extent;
    output_block *= current.extent * current.repeats;
  }
  return result;
}

template <class Element>
void repeat(const RepeatedAxis* axis, int left, const Element* input, Element* output) {
  const int64_t block = axis->extent * axis->output_block;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Element));
  if (left == 1) {
    copy_run(output, input, block * kBytes);
  } else {
    for (int64_t i = 0; i < axis->extent; ++i) {
      repeat(axis + 1, left - 1, input + i * axis->input_block, output + i * axis->output_block);
    }
  }
  if (block == 1) {
    for (int64_t i = 1; i < axis->repeats; ++i) output[i] = output[0];
    return;
  }
  // What lies there is repeated, in pieces that grow while they are small.
  constexpr int64_t kSmall = 4096 / kBytes;
  const int64_t all = block * axis->repeats;
  for (int64_t done = block, piece = block; done < all; done += piece) {
    if (done <= kSmall) piece = done;
    if (piece > all - done) piece = all - done;
    copy_run(output + done, output, piece * kBytes);
  }
}

template <class W>
Status run_repeat(const KernelContext& context) {
  using Element = typename W::Element;
  const TensorView& input = context.input(0);
  const TensorView& output = context.output(0);
  if (output.count() == 0) return {};
  const RepeatedAxes axes = repeated_axes(input, output);
  repeat(axes.axes, axes.rank, input.as<const Element>(), output.as<Element>());
  return {};
}

template <class W>
struct Expand {
  static constexpr KernelId id{"Expand", "", {kernel_type_of<W>}};
  static Status check(const KernelContext& context) {
    return ops::check_repeat(context, kernel_type_of<W>, true);
  }
  static Status run(const KernelContext& context) { return run_repeat<W>(context); }
};

template <class W>
struct Tile {
  static constexpr KernelId id{"Tile", "", {kernel_type_of<W>}};
  static Status check(const KernelContext& context) {
    return ops::check_repeat(context, kernel_type_of<W>, false);
  }
  static Status run(const KernelContext& context) { return run_repeat<W>(context); }
};

}  // namespace

extern const KernelList expand_kernels;
constinit const KernelList expand_kernels = kernel_list<Each<Expand, Widths>, Each<Tile, Widths>>();

}  // namespace intarsia::cpu
