// SPDX-License-Identifier: Apache-2.0
//
// ArgMax, ArgMin: the index of the extreme element along one axis, as int64. Of equal elements the
// first counts, or the last (select_last_index); NaN counts as more extreme than any number. An
// axis of extent 0 is an error unless the result is empty too. Specification:
// https://onnx.ai/onnx/operators/onnx__ArgMax.html
#include "core/kernel_list.h"
#include "core/operators/reduction/reduction.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/reduction/arg_search.h"
#include "kernels_cpu/reduction/reduce_axis.h"

namespace intarsia::cpu {
namespace {

struct ArgMaxOp {
  static constexpr std::string_view name = "ArgMax";
  template <class V>
  static bool better(V a, V b) {
    return a > b;
  }
};
struct ArgMinOp {
  static constexpr std::string_view name = "ArgMin";
  template <class V>
  static bool better(V a, V b) {
    return a < b;
  }
};

template <class Op, class T>
struct ArgReduce {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    if (Status s = check_operands<ops::ArgReduce>(
            context, {.inputs = {kernel_type_of<T>}, .outputs = {DataType::kInt64}});
        !s) {
      return s;
    }
    const AxisLoop loop(context.input(0), context.attributes<ArgReduceAttributes>().axis);
    if (loop.length == 0 && loop.lines() > 0) {
      return context.fail(Code::kWrongExtent, "extent of the axis to search", 1, 0, 0);
    }
    return {};
  }
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    const auto& attributes = context.attributes<ArgReduceAttributes>();
    const bool last = attributes.select_last_index != 0;
    const AxisLoop loop(context.input(0), attributes.axis);
    const auto* x = context.input(0).as<typename E::Stored>();
    auto* y = context.output(0).as<int64_t>();
    if (loop.length == 0 || loop.lines() == 0) return {};
    const auto better = [](auto a, auto b) { return Op::better(a, b); };
    if (INTARSIA_HAS_VECTORS && loop.inner == 1) {
      context.parallel_for(loop.outer, [&](int64_t begin, int64_t end, int) {
        on_isa(context.isa(), [&] {
          extreme_of_rows<E>(x + begin * loop.length, loop.length, end - begin, last, y + begin,
                             better);
        });
      });
      return {};
    }
    if constexpr (INTARSIA_HAS_VECTORS) {
      if (short_lines(loop.length, loop.inner)) {
        const int64_t lines = loop.lines();
        context.parallel_for(
            (lines + kShortLines - 1) / kShortLines, [&](int64_t begin, int64_t end, int) {
              const int64_t stop = end * kShortLines;
              on_isa(context.isa(), [&] {
                extreme_indices_of_short<E>(x, loop.length, loop.inner, begin * kShortLines,
                                            stop < lines ? stop : lines, last, y, better);
              });
            });
        return {};
      }
      if (loop.inner < kFewLines) {
        context.parallel_for(loop.outer, [&](int64_t begin, int64_t end, int) {
          on_isa(context.isa(), [&] {
            for (int64_t i = begin; i < end; ++i) {
              extreme_indices_of_few<E>(x + i * loop.length * loop.inner, loop.inner, loop.length,
                                        last, y + i * loop.inner, better);
            }
          });
        });
        return {};
      }
    }
    if (INTARSIA_HAS_VECTORS && loop.outer == 1 && pieces_of_lines(loop.length, loop.inner) > 1) {
      search_pieces<E>(context, x, loop, last, y);
      return {};
    }
    loop.for_lines(context, [&](int64_t first, int64_t line, int64_t lanes) {
      on_isa(context.isa(), [&] {
        extreme_indices<E, kAxisLanes>(x + first, 1, loop.inner, loop.length, lanes, last, y + line,
                                       replacing(better));
      });
    });
    return {};
  }

 private:
  /// Of lines side by side, a piece of all of them at a time, and then the extreme of the pieces.
  template <class E>
  static void search_pieces(const KernelContext& context, const typename E::Stored* x,
                            const AxisLoop& loop, bool last, int64_t* y) {
    const auto better = [](auto a, auto b) { return Op::better(a, b); };
    const int64_t lines = loop.inner, pieces = pieces_of_lines(loop.length, lines);
    const auto begin_of = [&](int64_t piece) { return loop.length * piece / pieces; };
    int64_t found[kMostFound];
    context.parallel_for(pieces, [&](int64_t begin, int64_t end, int) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t first = begin_of(piece), count = begin_of(piece + 1) - first;
        int64_t* indices = found + piece * lines;
        on_isa(context.isa(), [&] {
          extreme_indices<E, kAxisLanes>(x + first * lines, 1, lines, count, lines, last, indices,
                                         replacing(better));
        });
        for (int64_t line = 0; line < lines; ++line) indices[line] += first;
      }
    });
    for (int64_t line = 0; line < lines; ++line) {
      int64_t best = found[line];
      for (int64_t piece = 1; piece < pieces; ++piece) {
        best = extreme_of_two<E>(x + line, lines, best, found[piece * lines + line], last, better);
      }
      y[line] = best;
    }
  }
};

}  // namespace

extern const KernelList arg_reduce_kernels;
constinit const KernelList arg_reduce_kernels =
    kernel_list<EachPair<ArgReduce, Types<ArgMaxOp, ArgMinOp>,
                         Join<WideNumbers, Types<int8_t, uint8_t, int16_t, uint16_t>>>>();

}  // namespace intarsia::cpu
