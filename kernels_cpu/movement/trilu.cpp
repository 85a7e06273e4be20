// SPDX-License-Identifier: Apache-2.0
//
// Trilu: the upper (columns >= row + k) or lower (columns <= row + k) triangle of each matrix in
// the last two axes, 0 elsewhere. T is a Width: 0 is all bits 0 in every type. The output may be
// the input. https://onnx.ai/onnx/operators/onnx__Trilu.html
#include "core/operators/movement/trilu.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

/// Small matrices go through a mask, as many at once as fill it: their rows are too short to copy.
template <class E>
constexpr bool kMasked = INTARSIA_HAS_VECTORS && sizeof(E) <= sizeof(uint64_t);
constexpr int64_t kMaskRoom = 1024, kShortRow = 32;

/// y = x in the columns [first_of(row), last_of(row)) of each row, else 0.
template <class E, class First, class Last>
Status keep_by_mask(const KernelContext& context, int64_t rows, int64_t columns,
                    const First& first_of, const Last& last_of) {
  const int64_t size = rows * columns;
  const int64_t block = kMaskRoom / size * size, count = context.input(0).count();
  E mask[kMaskRoom];
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = first_of(row), last = last_of(row);
    for (int64_t i = 0; i < columns; ++i) {
      mask[row * columns + i] = first <= i && i < last ? static_cast<E>(~E{0}) : E{0};
    }
  }
  for (int64_t i = size; i < block; ++i) mask[i] = mask[i - size];
  const E* x = context.input(0).as<const E>();
  E* y = context.output(0).as<E>();
  const int64_t blocks = (count + block - 1) / block;
  for_items(context, blocks, block * static_cast<int64_t>(sizeof(E)),
            [&](int64_t begin, int64_t end) {
              on_isa(context.isa(), [&] {
                for (int64_t at = begin * block; at < end * block; at += block) {
                  const int64_t n = count - at < block ? count - at : block;
                  const E *from = x + at, *kept = mask;
                  E* to = y + at;
                  INTARSIA_INDEPENDENT
                  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<E>(from[i] & kept[i]);
                }
              });
            });
  return {};
}

template <class T>
struct Trilu {
  static constexpr KernelId id{"Trilu", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operands<ops::Trilu>(context,
                                      {.inputs = {kType, DataType::kInt64}, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    const TensorView& x = context.input(0);
    const int64_t rows = x.extents[x.rank - 2], columns = x.extents[x.rank - 1];
    const bool upper = context.attributes<TriluAttributes>().upper != 0;
    const auto clamp = [](int64_t value, int64_t low, int64_t high) {
      return value < low ? low : value < high ? value : high;
    };
    int64_t k = context.input(1).present() ? *context.input(1).as<const int64_t>() : 0;
    k = clamp(k, -ops::kBeyondExtents, ops::kBeyondExtents);
    const E* in = x.as<const E>();
    E* out = context.output(0).as<E>();
    const int64_t all = columns > 0 ? x.count() / columns : 0;
    constexpr auto kBytes = static_cast<int64_t>(sizeof(E));
    // Rows before `low` are all on one side of the diagonal, those from `high` on on the other one.
    const int64_t low = clamp(upper ? 1 - k : -k, 0, rows);
    const int64_t high = clamp(upper ? columns - k : columns - 1 - k, low, rows);
    const auto keep = [=](int64_t at, int64_t count) {
      if (in != out) copy_run(out + at, in + at, count * kBytes);
    };
    const auto clear = [=](int64_t at, int64_t count) {
      std::memset(static_cast<void*>(out + at), 0, static_cast<size_t>(count * kBytes));
    };
    const auto first_of = [=](int64_t row) { return upper ? clamp(row + k, 0, columns) : 0; };
    const auto last_of = [=](int64_t row) {
      return upper ? columns : clamp(row + k + 1, 0, columns);
    };
    if constexpr (kMasked<E>) {
      if (columns <= kShortRow && 0 < rows * columns && rows * columns <= kMaskRoom) {
        return keep_by_mask<E>(context, rows, columns, first_of, last_of);
      }
    }
    for_items(context, all, columns * kBytes, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin, taken; row < end; row += taken) {
        const int64_t place = row % rows, at = row * columns;
        if (place < low || place >= high) {
          taken = (place < low ? low : rows) - place;
          if (taken > end - row) taken = end - row;
          (place < low) == upper ? keep(at, taken * columns) : clear(at, taken * columns);
          continue;
        }
        taken = 1;
        const int64_t first = first_of(place), last = last_of(place);
        keep(at + first, last - first);
        clear(at, first);
        clear(at + last, columns - last);
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList trilu_kernels;
constinit const KernelList trilu_kernels = kernel_list<Each<Trilu, Widths>>();

}  // namespace intarsia::cpu
