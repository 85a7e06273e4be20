// SPDX-License-Identifier: Apache-2.0
//
// TopK: the k largest or smallest elements along an axis and their indices, best first; of equal
// elements the one with the smaller index comes first, NaN counts as largest. The order is the
// same if `sorted` is 0. Each row keeps the best k of its elements in a heap; rows are spread over
// the caller's threads. https://onnx.ai/onnx/operators/onnx__TopK.html
#include "core/kernel_list.h"
#include "core/operators/indexing/selection.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/indexing/index_heap.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

/// Extent of the values along the attribute's axis; 0 if there is no such axis.
int64_t planned_k(const KernelContext& context) {
  const TensorView& y = context.output(0);
  int64_t axis = context.attributes<TopKAttributes>().axis;
  if (axis < 0) axis += y.rank;
  return axis >= 0 && axis < y.rank ? y.extents[axis] : 0;
}

/// One row: its elements are `stride` apart.
template <class E>
struct Row {
  using V = typename E::Value;
  const typename E::Stored* x;
  int64_t stride;
  bool largest;

  V value(int64_t i) const { return E::load(x[i * stride]); }
  static bool better(V a, V b, bool largest) {
    return largest ? less_nan_last(b, a) : less_nan_last(a, b);
  }
  /// Element a is better than element b.
  bool before(int32_t a, int32_t b) const {
    const V u = value(a), v = value(b);
    if (better(u, v, largest)) return true;
    return a < b && !better(v, u, largest);
  }
};

/// The end of the blocks from `i` on in which no element is better than `worst`.
template <class E, bool kLargest>
int64_t skip_blocks(const typename E::Stored* x, int64_t i, int64_t count,
                    typename E::Value worst) {
  constexpr int64_t kBlock = 32;
  for (; i + kBlock <= count; i += kBlock) {
    unsigned found = 0;
    for (int64_t j = 0; j < kBlock; ++j) {
      found |= static_cast<unsigned>(Row<E>::better(E::load(x[i + j]), worst, kLargest));
    }
    if (found != 0) break;
  }
  return i;
}

/// The first element from `i` on that is better than `worst`, or `count`.
template <class E>
int64_t next_better(Row<E> row, int64_t i, int64_t count, typename E::Value worst) {
  if (INTARSIA_HAS_VECTORS && row.stride == 1) {
    i = row.largest ? skip_blocks<E, true>(row.x, i, count, worst)
                    : skip_blocks<E, false>(row.x, i, count, worst);
  }
  for (; i < count; ++i) {
    const auto value = row.value(i);
    if (row.largest ? value <= worst : value >= worst) continue;  // all that most elements need
    if (Row<E>::better(value, worst, row.largest)) break;
  }
  return i;
}

/// Fills heap[0, k) with the indices of the best of `count` elements, best first.
/// REQUIRES: 0 < k <= count.
template <class E>
void select(Isa isa, int32_t* heap, int64_t k, int64_t count, Row<E> row) {
  const auto before = [=](int32_t a, int32_t b) { return row.before(a, b); };
  for (int64_t i = 0; i < k; ++i) heap[i] = static_cast<int32_t>(i);
  make_heap(heap, k, before);
  for (int64_t i = k;; ++i) {
    const auto worst = row.value(heap[0]);  // of equals the one that came first stays
    on_isa(isa, [&] { i = next_better(row, i, count, worst); });
    if (i == count) break;
    heap[0] = static_cast<int32_t>(i);
    sift_down(heap, k, 0, before);
  }
  sort_heap(heap, k, before);
}

template <class T>
struct TopK {
  static constexpr KernelId id{"TopK", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    if (Status s = check_operand_types<ops::TopK>(context, {.inputs = {kType, DataType::kInt64},
                                                            .required_inputs = 2,
                                                            .outputs = {kType, DataType::kInt64},
                                                            .required_outputs = 2});
        !s) {
      return s;
    }
    return check_workspace(context, workspace(context));
  }
  static int64_t workspace(const KernelContext& context) {
    return (CheckedInt(planned_k(context)) * context.threads() * sizeof(int32_t)).value();
  }
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    if (Status s = check_extents<ops::TopK>(context); !s) return s;
    const auto& a = context.attributes<TopKAttributes>();
    const TensorView& x = context.input(0);
    const int axis = a.axis < 0 ? a.axis + x.rank : a.axis;
    const int64_t k = planned_k(context);
    const int64_t count = x.extents[axis];
    const int64_t inner = span_count(x, axis + 1, x.rank);
    const int64_t rows = k > 0 ? span_count(x, 0, axis) * inner : 0;
    const bool largest = a.largest != 0;
    const auto* in = x.as<const typename E::Stored>();
    auto* values = context.output(0).as<typename E::Stored>();
    auto* indices = context.output(1).as<int64_t>();
    auto* heaps = reinterpret_cast<int32_t*>(context.workspace().data());
    context.parallel_for(rows, [&](int64_t begin, int64_t end, int thread) {
      int32_t* heap = heaps + thread * k;
      for (int64_t line = begin; line < end; ++line) {
        const auto* from = in + line / inner * count * inner + line % inner;
        select(context.isa(), heap, k, count, Row<E>{from, inner, largest});
        const int64_t to = line / inner * k * inner + line % inner;
        for (int64_t i = 0; i < k; ++i) {
          values[to + i * inner] = from[heap[i] * inner];
          indices[to + i * inner] = heap[i];
        }
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList topk_kernels;
constinit const KernelList topk_kernels = kernel_list<Each<TopK, Numbers>>();

}  // namespace intarsia::cpu
