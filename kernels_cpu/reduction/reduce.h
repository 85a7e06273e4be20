// SPDX-License-Identifier: Apache-2.0
//
// Reduce*: y[kept] = finish(sum over the reduced axes of step(x)), over any set of axes. For the
// sources that have the operators, and for pooling over all spatial axes.
//
// An Op is the ONNX name and `Reducer<V>`: Accumulator, identity(), step(accumulator, value),
// merge(accumulator, accumulator), finish(accumulator, number of elements) and, if no elements have
// no result, kNeedsElements.
//
// Axes are an optional input whose values are read at run time; where they were not known to the
// converter the output's extents are set then. No elements give the neutral element (0, 1, the
// type's limit, -inf). Blocks of outputs are shared out over the threads; where there are few
// outputs, pieces of what is reduced. Pieces and order follow from the extents: results do not
// depend on the number of threads.
#pragma once

#include <algorithm>

#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/reduction/reduce_loop.h"
#include "kernels_cpu/reduction/reduce_rows.h"

namespace intarsia::cpu {

/// Most partial results that pieces may have.
inline constexpr int64_t kPartials = INTARSIA_HAS_VECTORS ? 2048 : 1;

/// Into how many pieces to cut what is reduced: where there are few blocks of outputs, as many as
/// make work for several threads and are worth it. Pieces of rows rather than blocks of columns,
/// and halves of an image: those are what the thread that made them has at hand.
inline int64_t pieces_of(const ReduceLoop& loop) {
  if (kPartials == 1) return 1;
  constexpr int64_t kBlocks = 64, kElements = 1 << 12;
  const int64_t room = kPartials / loop.kept.count;
  const int64_t most = kBlocks / loop.blocks;
  const int64_t worth = loop.reduced.count / (kElements / loop.kept.count + 1);
  const int64_t pieces = room < most ? room : most;
  return halves(pieces < worth ? pieces : worth);
}

/// y = finish(reduction of x, reduced elements), of type To. `accumulate(x, lanes, begin, end,
/// sums)` reduces the positions [begin, end) of `lanes` outputs, as ReduceLoop::accumulate does.
/// Each result is made of the loop's `fold` neighbouring outputs.
template <class T, class To = T, class Reducer, class Accumulate>
void reduce(const KernelContext& context, const ReduceLoop& loop, Reducer reducer,
            const Accumulate& accumulate) {
  using Stored = typename Element<T>::Stored;
  using E = Element<To>;
  using A = typename Reducer::Accumulator;
  const Stored* x = context.input(0).as<Stored>();
  auto* y = context.output(0).as<typename E::Stored>();
  const int64_t count = loop.reduced.count, fold = loop.fold;
  if (loop.blocks == 0) return;
  const int64_t pieces = pieces_of(loop), results = loop.kept.count / fold;
  A partials[kPartials];  // of each piece all results
  context.parallel_for(loop.blocks * pieces, [&](int64_t begin, int64_t end, int) {
    for (int64_t unit = begin, taken; unit < end; unit += taken) {
      const int64_t piece = pieces == 1 ? 0 : unit / loop.blocks;
      const ReduceLoop::Block block = loop.block(unit - piece * loop.blocks, end - unit);
      taken = block.count;
      A sums[kReduceLanes];
      accumulate(x + block.offset, block.lanes, count * piece / pieces,
                 count * (piece + 1) / pieces, sums);
      int64_t first = block.first, lanes = block.lanes;
      if (fold > 1) {
        first /= fold;
        lanes /= fold;
        for (int64_t lane = 0; lane < lanes; ++lane) {
          A sum = sums[lane * fold];
          for (int64_t i = 1; i < fold; ++i) sum = reducer.merge(sum, sums[lane * fold + i]);
          sums[lane] = sum;
        }
      }
      if (pieces == 1) {
        auto* to = y + first;
        INTARSIA_INDEPENDENT
        for (int64_t i = 0; i < lanes; ++i) to[i] = E::store(reducer.finish(sums[i], count * fold));
      } else {
        std::copy_n(sums, lanes, partials + piece * results + first);
      }
    }
  });
  if constexpr (kPartials > 1) {
    if (pieces == 1) return;
    for (int64_t result = 0; result < results; ++result) {
      A sum = partials[result];
      for (int64_t piece = 1; piece < pieces; ++piece) {
        sum = reducer.merge(sum, partials[piece * results + result]);
      }
      y[result] = E::store(reducer.finish(sum, count * fold));
    }
  }
}

template <class T, class Reducer>
void reduce(const KernelContext& context, ReduceLoop& loop, Reducer reducer) {
  using E = Element<T>;
  using Stored = typename E::Stored;
  if constexpr (INTARSIA_HAS_VECTORS && sizeof(typename Reducer::Accumulator) <= sizeof(double)) {
    const int64_t rows = loop.kept.count, length = loop.reduced.count;
    if (loop.rows_are_dense() && length <= kShortRow<T> && rows >= kShortRows) {
      const Stored* x = context.input(0).as<Stored>();
      Stored* y = context.output(0).as<Stored>();
      // Sums in a wider type gain nothing by longer vectors.
      constexpr int kBytes = sizeof(typename Reducer::Accumulator) < sizeof(double) ? 64 : 32;
      const auto units = [&](int64_t begin, int64_t end, int) {
        if constexpr (joins_rows<T, Reducer>(8)) {
          if (joins_rows<T, Reducer>(length)) {
            const int64_t first = begin * kShortRows, last = end * kShortRows;
            return sum_short_rows(x + first * length, y + first,
                                  (last < rows ? last : rows) - first, length, reducer);
          }
        }
        on_vectors<kBytes>(context.isa(), [=, isa = context.isa()](auto bytes) {
          for (int64_t unit = begin; unit < end; ++unit) {
            const int64_t first = unit * kShortRows, left = rows - first;
            reduce_rows<bytes(), T>(isa, x + first * length, y + first,
                                    left < kShortRows ? left : kShortRows, length, first * length,
                                    reducer);
          }
        });
      };
      context.parallel_for((rows + kShortRows - 1) / kShortRows, units);
      return;
    }
  }
  const auto load = [](Stored stored) { return E::load(stored); };
  if (INTARSIA_HAS_VECTORS) loop.take_side_by_side();
  reduce<T>(context, loop, reducer,
            [&](const Stored* x, int64_t lanes, int64_t begin, int64_t end, auto* sums) {
              on_isa(context.isa(),
                     [&] { loop.accumulate(x, lanes, begin, end, sums, reducer, load); });
            });
}

template <class Op, class T>
struct Reduce {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    return check_reduction(context, kernel_type_of<T>, kernel_type_of<T>);
  }
  static Status run(const KernelContext& context) {
    using R = typename Op::template Reducer<typename Element<T>::Value>;
    bool is_reduced[kMaxRank];
    if (Status s = resolve_reduction(context, is_reduced); !s) return s;
    ReduceLoop loop(context.input(0), is_reduced);
    if (loop.blocks == 0) return {};
    if constexpr (requires { requires R::kNeedsElements; }) {
      if (loop.reduced.count == 0) {
        return context.fail(Code::kDivisionByZero, "elements of an integer mean", 1, 0, 0);
      }
    }
    reduce<T>(context, loop, R());
    return {};
  }
};

}  // namespace intarsia::cpu
