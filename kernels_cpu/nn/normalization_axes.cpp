// SPDX-License-Identifier: Apache-2.0
//
// Normalisations without parameters, along any axes (ONNX LpNormalization,
// MeanVarianceNormalization):
//
//     LpNormalization            Y = X / norm_p(X along axis), 0 where the norm is 0
//     MeanVarianceNormalization  Y = (X - mean) / (deviation + 1e-9) over `axes`
//
// Sums are in double. Y may be the same memory as X.
// Specification: https://onnx.ai/onnx/operators/onnx__LpNormalization.html
#include <cmath>
#include <type_traits>

#include "core/kernel_list.h"
#include "core/operators/nn/normalization.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/nn/moments.h"
#include "kernels_cpu/reduction/reduce_loop.h"

namespace intarsia::cpu {
namespace {

/// Rows of fewer elements than this fill no vector.
constexpr int kShortRow = 8;

/// Slices along the reduced axes: side by side, or of neighbours (`rows`), of which several follow
/// one another if they are of nothing else.
template <int kBytes, class T>
struct Slices {
  Isa isa;
  const ReduceLoop& loop;
  const T* x;  ///< The first element of the first of `lanes` slices.
  T* y;
  int64_t lanes;
  bool rows;

  /// sums[j] += the sum of what term(element, j) makes of elements, a double or a vector of them,
  /// over slice j.
  template <class Term>
  void sum(double* sums, Term term) const {
    if constexpr (!kIsHalf<T>) {
      if (is_short()) {
        return for_each([&](int64_t j, const T* from, T*, int64_t step, auto count) {
          double sum = 0;
          for (int64_t k = 0; k < count; ++k) {
            auto value = static_cast<double>(from[k * step]);
            term(value, j);
            sum += value;
          }
          sums[j] += sum;
        });
      }
    }
    if (!rows) {
      return for_runs(
          [&](int64_t offset, int64_t length) { add_rows(sums, x + offset, length, term); });
    }
    for (int64_t j = 0; j < lanes; ++j) {
      const T* from = x + j * loop.reduced.count;
      for_runs([&](int64_t offset, int64_t length) {
        sums[j] += sum_of<kBytes>(isa, from + offset, length, [=](auto& v) { term(v, j); });
      });
    }
  }
  /// y = function(element, j) for the elements of slice j.
  template <class Function>
  void map(Function function) const {
    if constexpr (!kIsHalf<T>) {
      if (is_short()) {
        return for_each([&](int64_t j, const T* from, T* to, int64_t step, auto count) {
          for (int64_t k = 0; k < count; ++k) {
            to[k * step] = static_cast<T>(function(static_cast<double>(from[k * step]), j));
          }
        });
      }
    }
    for (int64_t j = 0; rows && j < lanes; ++j) {
      const int64_t row = j * loop.reduced.count;
      for_runs([&](int64_t offset, int64_t length) {
        map_run(isa, x + row + offset, y + row + offset, length,
                [=](double v, int64_t) { return function(v, j); });
      });
    }
    if (rows) return;
    const int64_t stride = loop.stride();
    for_runs([&](int64_t offset, int64_t length) {
      for (int64_t at = offset; at < offset + length * stride; at += stride) {
        map_run(isa, x + at, y + at, lanes, function);
      }
    });
  }

 private:
  /// Whether slices are taken element by element: a few of them, or a few neighbours, fill no
  /// vector.
  bool is_short() const {
    return INTARSIA_HAS_VECTORS && loop.reduced.rank == 1 &&
           (rows ? loop.reduced.count < kShortRow : lanes < 8);
  }
  /// Calls body(slice, from, to, step, count) for such slices; of short rows, count is a constant.
  template <int N = 1, class Body>
  void for_each(const Body& body) const {
    const int64_t count = loop.reduced.count;
    if constexpr (N < kShortRow) {
      if (rows && count != N) return for_each<N + 1>(body);
      if (rows) {
        INTARSIA_INDEPENDENT
        for (int64_t j = 0; j < lanes; ++j) {
          body(j, x + j * N, y + j * N, 1, std::integral_constant<int64_t, N>());
        }
        return;
      }
    }
    for (int64_t j = 0; j < lanes; ++j) body(j, x + j, y + j, loop.stride(), count);
  }

  /// Most often there is but one run, which may be short.
  template <class Body>
  void for_runs(const Body& body) const {
    if (loop.reduced.rank == 1) return body(0, loop.reduced.count);
    loop.for_runs(0, loop.reduced.count, body);
  }

  template <class Term>
  void add_rows(double* sums, const T* from, int64_t count, Term term) const {
    typename Element<T>::Value block[kReduceLanes];
    for (; count > 0; --count, from += loop.stride()) {
      const auto* values = values_at(isa, from, block, lanes);
      INTARSIA_INDEPENDENT
      for (int64_t j = 0; j < lanes; ++j) {
        auto value = static_cast<double>(values[j]);
        term(value, j);
        sums[j] += value;
      }
    }
  }
};

/// Calls `normalize(slices)` for all slices along the reduced axes, in blocks.
template <class T, class Normalize>
void for_slices(const KernelContext& context, const bool (&is_reduced)[kMaxRank],
                const Normalize& normalize) {
  if (context.input(0).count() == 0) return;
  const ReduceLoop loop(context.input(0), is_reduced);
  const T* x = context.input(0).as<const T>();
  T* y = context.output(0).as<T>();
  const bool rows = INTARSIA_HAS_VECTORS && loop.row == 1 && loop.stride() == 1;
  const int64_t together =
      loop.rows_are_dense() ? runs_together(loop.reduced.count, kReduceLanes) : 0;
  context.parallel_for(loop.blocks, [&](int64_t begin, int64_t end, int) {
    const auto take = [&](auto bytes) {
      for (int64_t index = begin, taken; index < end; index += taken) {
        int64_t offset = index * loop.reduced.count, lanes = 0;
        if (rows && together > 0) {
          taken = lanes = together < end - index ? together : end - index;
        } else {
          const ReduceLoop::Block block = loop.block(index, end - index);
          taken = block.count;
          lanes = block.lanes;
          offset = block.offset;
        }
        normalize(Slices<bytes(), T>{context.isa(), loop, x + offset, y + offset, lanes, rows});
      }
    };
    if (rows) return on_vectors(context.isa(), take);
    // Lanes side by side are often few.
    on_isa(context.isa(), [&] { take(std::integral_constant<int, 16>()); });
  });
}

template <class T>
struct LpNormalization {
  static constexpr KernelId id{"LpNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::LpNormalization>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<LpNormalizationAttributes>();
    const bool squares = a.p == 2;
    bool is_reduced[kMaxRank] = {};
    is_reduced[ops::wrapped_axis(a.axis, context.input(0).rank)] = true;
    for_slices<T>(context, is_reduced, [&](const auto& slices) {
      double norms[kReduceLanes];
      for (int64_t j = 0; j < slices.lanes; ++j) norms[j] = 0;
      if (squares) {
        slices.sum(norms, [](auto& v, int64_t) { v *= v; });
      } else {
        slices.sum(norms, [](auto& v, int64_t) {
          if constexpr (std::is_same_v<decltype(v), double&>) {
            v = std::fabs(v);
          } else {
            v = v < 0 ? -v : v;
          }
        });
      }
      if (squares) {
        for (int64_t j = 0; j < slices.lanes; ++j) norms[j] = std::sqrt(norms[j]);
      }
      const double* norm = norms;
      if constexpr (std::is_same_v<T, double>) {
        slices.map([=](double v, int64_t j) { return norm[j] == 0 ? 0 : v / norm[j]; });
      } else {  // as exact as their types
        for (int64_t j = 0; j < slices.lanes; ++j) norms[j] = norms[j] == 0 ? 0 : 1 / norms[j];
        slices.map([=](double v, int64_t j) { return v * norm[j]; });
      }
    });
    return {};
  }
};

template <class T>
struct MeanVarianceNormalization {
  static constexpr KernelId id{"MeanVarianceNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::MeanVarianceNormalization>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<MeanVarianceNormalizationAttributes>();
    bool is_reduced[kMaxRank] = {};
    for (const int32_t axis : a.axes.view()) {
      is_reduced[ops::wrapped_axis(axis, context.input(0).rank)] = true;
    }
    for_slices<T>(context, is_reduced, [&](const auto& slices) {
      const auto n = static_cast<double>(slices.loop.reduced.count);
      double means[kReduceLanes], deviations[kReduceLanes];
      for (int64_t j = 0; j < slices.lanes; ++j) means[j] = deviations[j] = 0;
      slices.sum(means, [](const auto&, int64_t) {});
      for (int64_t j = 0; j < slices.lanes; ++j) means[j] /= n;
      const double* mean = means;
      slices.sum(deviations, [=](auto& v, int64_t j) { v = (v - mean[j]) * (v - mean[j]); });
      for (int64_t j = 0; j < slices.lanes; ++j) {
        deviations[j] = std::sqrt(deviations[j] / n) + 1e-9;
      }
      const double* deviation = deviations;
      slices.map([=](double v, int64_t j) { return (v - mean[j]) / deviation[j]; });
    });
    return {};
  }
};

}  // namespace

extern const KernelList normalization_axes_kernels;
constinit const KernelList normalization_axes_kernels =
    kernel_list<Each<LpNormalization, Floats>, Each<MeanVarianceNormalization, Floats>>();

}  // namespace intarsia::cpu
