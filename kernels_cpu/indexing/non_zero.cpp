// SPDX-License-Identifier: Apache-2.0
//
// NonZero: the coordinates of the elements that are not 0, one column each, in row-major order; NaN
// is not 0, the empty string is. The output is resized to what was found.
// https://onnx.ai/onnx/operators/onnx__NonZero.html
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/indexing/element_order.h"

namespace intarsia::cpu {
namespace {

template <class T>
struct NonZero {
  using E = OrderedElement<T>;
  static constexpr KernelId id{"NonZero", "", {E::type}};
  static Status check(const KernelContext& context) {
    if (Status s =
            check_operand_types(context, {.inputs = {E::type}, .outputs = {DataType::kInt64}});
        !s) {
      return s;
    }
    const TensorView& y = context.output(0);
    if (y.rank != 2) return context.fail(Code::kWrongRank, "rank of the output", 2, y.rank, 1);
    if (y.extents[0] == context.input(0).rank) return {};
    return context.fail(Code::kWrongExtent, "rows of the output, one for each axis",
                        context.input(0).rank, y.extents[0], 1, 0);
  }
  static Status run(const KernelContext& context) {
    const TensorView& x = context.input(0);
    const auto* in = x.as<const typename E::Stored>();
    const int64_t count = x.count();
    const auto is_set = [&](int64_t i) { return !E::is_zero(in[i]); };
    // Blocks are counted, then each writes behind those before it.
    const int64_t block = (count / kBlocks > kLeast ? count / kBlocks : kLeast) + 1;
    const int64_t blocks = (count + block - 1) / block;
    const auto end_of = [=](int64_t i) {
      return (i + 1) * block < count ? (i + 1) * block : count;
    };
    int64_t before[kBlocks + 1] = {};
    context.parallel_for(blocks, [&](int64_t begin, int64_t end, int) {
      for (; begin < end; ++begin) {
        int64_t found = 0;
        for (int64_t i = begin * block; i < end_of(begin); ++i) found += is_set(i) ? 1 : 0;
        before[begin + 1] = found;
      }
    });
    for (int64_t i = 0; i < blocks; ++i) before[i + 1] += before[i];
    const int64_t found = before[blocks];
    if (found > INT32_MAX) {
      return context.fail(Code::kWrongExtent, "elements that are not 0", INT32_MAX, found, 1, 1);
    }
    const int32_t extents[2] = {x.rank, static_cast<int32_t>(found)};
    if (Status s = context.resize_output(0, extents); !s) return s;

    auto* out = context.output(0).as<int64_t>();
    context.parallel_for(blocks, [&](int64_t begin, int64_t end, int) {
      for (; begin < end; ++begin) {
        write(x, begin * block, end_of(begin), is_set, found, out + before[begin]);
      }
    });
    return {};
  }

 private:
  static constexpr int64_t kBlocks = 64, kLeast = 4096;

  /// The coordinates of the elements [first, end) that are set; `found` elements apart for each
  /// axis.
  template <class IsSet>
  static void write(const TensorView& x, int64_t first, int64_t end, const IsSet& is_set,
                    int64_t found, int64_t* out) {
    int64_t index[kMaxRank] = {};
    for (int64_t axis = x.rank - 1, rest = first; axis >= 0; --axis) {
      index[axis] = rest % x.extents[axis];
      rest /= x.extents[axis];
    }
    for (int64_t i = first; i < end; ++i) {
      if (is_set(i)) {
        for (int axis = 0; axis < x.rank; ++axis) out[axis * found] = index[axis];
        ++out;
      }
      for (int axis = x.rank - 1; axis >= 0; --axis) {
        if (++index[axis] < x.extents[axis]) break;
        index[axis] = 0;
      }
    }
  }
};

}  // namespace

extern const KernelList non_zero_kernels;
constinit const KernelList non_zero_kernels = kernel_list<Each<NonZero, OrderedTypes>>();

}  // namespace intarsia::cpu
