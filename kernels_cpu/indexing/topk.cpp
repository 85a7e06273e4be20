// SPDX-License-Identifier: Apache-2.0
//
// TopK: the k largest or smallest elements along an axis and their indices, best first; of equal
// elements the one with the smaller index comes first, NaN counts as largest. The order is the
// same if `sorted` is 0. Lines whose elements are neighbours are taken together; short ones are
// turned first, so that they are. Lines are spread over the caller's threads.
// https://onnx.ai/onnx/operators/onnx__TopK.html
#include "core/kernel_list.h"
#include "core/operators/indexing/selection.h"
#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/indexing/best_of_line.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/reduction/arg_search.h"

namespace intarsia::cpu {
namespace {

constexpr int64_t kTogether = INTARSIA_HAS_VECTORS ? kMaskBits : 1;
static_assert(kMaskBits == kShortLines);

/// Extent of the values along the attribute's axis; 0 if there is no such axis.
int64_t planned_k(const KernelContext& context) {
  const TensorView& y = context.output(0);
  int64_t axis = context.attributes<TopKAttributes>().axis;
  if (axis < 0) axis += y.rank;
  return axis >= 0 && axis < y.rank ? y.extents[axis] : 0;
}
/// Lines whose elements are neighbours.
int64_t inner_of(const KernelContext& context, const TensorView& view) {
  const int64_t axis = context.attributes<TopKAttributes>().axis;
  return span_count(view, static_cast<int>(axis < 0 ? axis + view.rank : axis) + 1, view.rank);
}

/// The best k of each line of x, [outer][count][inner].
template <class T, bool kLargest>
class Selection {
 public:
  using E = Element<T>;
  using Stored = typename E::Stored;
  using V = typename E::Value;

  Selection(const KernelContext& context, int64_t count, int64_t lines)
      : x_(context.input(0).as<const Stored>()),
        values_(context.output(0).as<Stored>()),
        indices_(context.output(1).as<int64_t>()),
        count_(count),
        inner_(inner_of(context, context.input(0))),
        k_(planned_k(context)),
        lines_(lines) {}

  void run(const KernelContext& context) const {
    const Isa isa = context.isa();
    if constexpr (INTARSIA_HAS_VECTORS) {
      if (inner_ < kTogether && count_ <= kShortLine && k_ <= kFewTurned) {
        return context.parallel_for((lines_ + kTogether - 1) / kTogether,
                                    [&](int64_t begin, int64_t end, int) {
                                      on_isa(isa, [&] { take_turned(begin, end); });
                                    });
      }
    }
    // Units of whole masks, and of the single lines that are left.
    const int64_t masks = kTogether > 1 ? inner_ / kTogether : 0;
    const int64_t per_outer = masks + inner_ - masks * kTogether;
    const int64_t own = k_ * (masks > 0 ? kTogether : 1);
    const PerThread<Entry<V>> memory(context.workspace(), context.threads(), own);
    context.parallel_for(lines_ / inner_ * per_outer, [&](int64_t begin, int64_t end, int thread) {
      on_isa(isa, [&] {
        Entry<V>* entries = memory[thread];
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t first = unit / per_outer * inner_, place = unit % per_outer;
          const int64_t line =
              first + (place < masks ? place * kTogether : masks * kTogether + place - masks);
          const Stored* from = x_ + start_of(line, count_);
          if constexpr (INTARSIA_HAS_VECTORS) {
            if (place < masks) {
              take_together(line, kTogether, from, inner_, entries);
              continue;
            }
          }
          const Best<V, kLargest> best{entries, k_};
          select_line<E>(best, from, inner_, count_);
          write(line, best, from, inner_);
        }
      });
    });
  }

 private:
  /// Lines of at most so many elements, with at most so many results, are turned.
  static constexpr int64_t kShortLine = 32, kFewTurned = 8;

  /// The first element of a line in a tensor with `extent` elements along the axis.
  int64_t start_of(int64_t line, int64_t extent) const {
    return inner_ == 1 ? line * extent : line / inner_ * extent * inner_ + line % inner_;
  }
  /// The results of a line whose elements are `stride` apart from `from` on.
  void write(int64_t line, const Best<V, kLargest>& best, const Stored* from,
             int64_t stride) const {
    best.sort();
    int64_t to = start_of(line, k_);
    for (int64_t i = 0; i < k_; ++i, to += inner_) {
      const int32_t index = best.entries[i].index;
      values_[to] = from[index * stride];
      indices_[to] = index;
    }
  }
  /// `lanes` lines from `line` on. REQUIRES: there are kMaskBits to read.
  void take_together(int64_t line, int64_t lanes, const Stored* from, int64_t stride,
                     Entry<V>* entries) const {
    if (k_ == 1) {
      int64_t where[kMaskBits];
      extreme_indices<E, kMaskBits>(from, 1, stride, count_, lanes, false, where,
                                    [](V value, V best) { return better<kLargest>(value, best); });
      for (int64_t l = 0; l < lanes; ++l) {  // a result a line
        values_[line + l] = from[where[l] * stride + l];
        indices_[line + l] = where[l];
      }
      return;
    }
    select_lines<E>(Best<V, kLargest>{entries, k_}, from, stride, count_);
    for (int64_t l = 0; l < lanes; ++l) {
      write(line + l, Best<V, kLargest>{entries + l * k_, k_}, from + l, stride);
    }
  }
  /// Blocks [begin, end) of kTogether lines.
  void take_turned(int64_t begin, int64_t end) const {
    Stored turned[kShortLine * kMaskBits];
    Entry<V> entries[kFewTurned * kMaskBits];
    for (int64_t line = begin * kTogether; line < end * kTogether; line += kTogether) {
      const int64_t rest = lines_ - line, lanes = rest < kTogether ? rest : kTogether;
      turn_lines(x_, count_, inner_, line, lanes, turned);
      for (int64_t l = lanes; l < kTogether; ++l) {  // as the last, for those are read, too
        for (int64_t i = 0; i < count_ * kTogether; i += kTogether)
          turned[i + l] = turned[i + l - 1];
      }
      take_together(line, lanes, turned, kMaskBits, entries);
    }
  }

  const Stored* x_;
  Stored* values_;
  int64_t* indices_;
  int64_t count_, inner_, k_, lines_;
};

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
    const int64_t k = planned_k(context);
    if (k == 0) return 0;
    const int64_t lines = inner_of(context, context.output(0)) < kTogether ? 1 : kTogether;
    return (CheckedInt(k) * lines * context.threads() * sizeof(Entry<typename Element<T>::Value>))
        .value();
  }
  static Status run(const KernelContext& context) {
    if (Status s = check_extents<ops::TopK>(context); !s) return s;
    if (context.output(0).count() == 0) return {};
    const auto& a = context.attributes<TopKAttributes>();
    const TensorView& x = context.input(0);
    const int64_t count = x.extents[a.axis < 0 ? a.axis + x.rank : a.axis];
    if (a.largest != 0) {
      Selection<T, true>(context, count, x.count() / count).run(context);
    } else {
      Selection<T, false>(context, count, x.count() / count).run(context);
    }
    return {};
  }
};

}  // namespace

extern const KernelList topk_kernels;
constinit const KernelList topk_kernels = kernel_list<Each<TopK, Numbers>>();

}  // namespace intarsia::cpu
