// SPDX-License-Identifier: Apache-2.0
//
// Expand (an axis of extent 1 is repeated) and Tile (the whole tensor is repeated along each axis).
//
// How often an axis is repeated follows from the extents of input and output alone; the second
// input was read by the shape function. The output does not overlap the input.
#include "core/kernel_list.h"
#include "core/operators/shape/repeat_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/repeat.h"
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
void repeat(const RepeatedAxis& axis, int left, const Element* input, Element* output);

/// The elements of an axis once, for `axis` and `left - 1` axes behind it.
template <class Element>
void write_block(const RepeatedAxis& axis, int left, const Element* input, Element* output) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Element));
  const RepeatedAxis& next = *(&axis + 1);
  if (left == 1) {
    copy_run(output, input, axis.extent * kBytes);
  } else if (left == 2 && next.extent == 1) {
    repeat_each(output, input, axis.extent, next.repeats, kBytes);
  } else {
    for (int64_t i = 0; i < axis.extent; ++i) {
      repeat(next, left - 1, input + i * axis.input_block, output + i * axis.output_block);
    }
  }
}

/// `repeats` blocks. What lies there is repeated, in pieces that grow while they are small.
template <class Element>
void write_blocks(const RepeatedAxis& axis, int left, int64_t repeats, const Element* input,
                  Element* output) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Element));
  const int64_t block = axis.extent * axis.output_block, all = block * repeats;
  if (block == 1) return repeat_each(output, input, 1, repeats, kBytes);
  write_block(axis, left, input, output);
  constexpr int64_t kSmall = 4096 / kBytes;
  for (int64_t done = block, piece = block; done < all; done += piece) {
    if (done <= kSmall) piece = done;
    if (piece > all - done) piece = all - done;
    copy_run(output + done, output, piece * kBytes);
  }
}

template <class Element>
void repeat(const RepeatedAxis& axis, int left, const Element* input, Element* output) {
  write_blocks(axis, left, axis.repeats, input, output);
}

/// Threads share the repetitions of the first axis, or, where these are few, its elements.
template <class W>
Status run_repeat(const KernelContext& context) {
  using Element = typename W::Element;
  const TensorView& input = context.input(0);
  const TensorView& output = context.output(0);
  if (output.count() == 0) return {};
  const RepeatedAxes all = repeated_axes(input, output);
  const RepeatedAxis& first = all.axes[0];
  const auto* x = input.as<const Element>();
  auto* y = output.as<Element>();
  const int64_t block = first.extent * first.output_block;
  if (all.rank == 1 || first.repeats >= 4 * context.threads()) {
    context.parallel_for(first.repeats, [&](int64_t begin, int64_t end, int) {
      write_blocks(first, all.rank, end - begin, x, y + begin * block);
    });
    return {};
  }
  context.parallel_for(first.repeats * first.extent, [&](int64_t begin, int64_t end, int) {
    RepeatedAxes part = all;
    for (int64_t at = begin; at < end; at += part.axes[0].extent) {
      const int64_t i = at % first.extent;
      part.axes[0].extent = first.extent - i < end - at ? first.extent - i : end - at;
      write_block(part.axes[0], all.rank, x + i * first.input_block, y + at * first.output_block);
    }
  });
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
