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
#include "kernels_cpu/common/transpose_panel.h"
#include "kernels_cpu/nn/moments.h"
#include "kernels_cpu/reduction/reduce_loop.h"

namespace intarsia::cpu {
namespace {

/// Slices side by side along the reduced axes.
template <class T>
struct Slices {
  Isa isa;
  const ReduceLoop& loop;
  const T* x;  ///< The first element of the first of `lanes` slices side by side.
  T* y;
  int64_t lanes;
  int64_t stride;  ///< From an element to the next one of its slice.

  /// sums[j] += the sum of term(element, j) over slice j.
  template <class Term>
  void sum(double* sums, Term term) const {
    for_runs([&](int64_t offset, int64_t length) {
      if (dense()) {
        sums[0] += sum_of(isa, x + offset, length, [=](double v) { return term(v, 0); });
      } else {
        add_rows(sums, x + offset, length, term);
      }
    });
  }
  /// y = function(element, j) for the elements of slice j.
  template <class Function>
  void map(Function function) const {
    for_runs([&](int64_t offset, int64_t length) {
      if (dense()) {
        map_run(isa, x + offset, y + offset, length,
                [=](double v, int64_t) { return function(v, 0); });
        return;
      }
      for (int64_t at = offset; at < offset + length * stride; at += stride) {
        map_run(isa, x + at, y + at, lanes, function);
      }
    });
  }

 private:
  /// Most often there is but one run, which may be short.
  template <class Body>
  void for_runs(const Body& body) const {
    if (loop.reduced.rank == 1) return body(0, loop.reduced.count);
    loop.for_runs(0, loop.reduced.count, body);
  }
  /// One slice, whose elements are neighbours.
  bool dense() const { return INTARSIA_HAS_VECTORS && lanes == 1 && stride == 1; }

  template <class Term>
  void add_rows(double* sums, const T* from, int64_t rows, Term term) const {
    typename Element<T>::Value block[kReduceLanes];
    for (; rows > 0; --rows, from += stride) {
      const auto* values = values_at(isa, from, block, lanes);
      INTARSIA_INDEPENDENT
      for (int64_t j = 0; j < lanes; ++j) sums[j] += term(static_cast<double>(values[j]), j);
    }
  }
};

/// The most elements of rows that are taken side by side: alone they are hardly a vector.
constexpr int64_t kShortRow = INTARSIA_HAS_VECTORS ? 16 : 0;

/// Calls `normalize(slices)` for dense rows of up to kShortRow elements, of which several become
/// slices side by side in a tile.
template <class T, class Normalize>
void for_short_rows(Isa isa, const ReduceLoop& loop, const T* x, T* y, int64_t rows,
                    const Normalize& normalize) {
  constexpr int64_t kRows = 64;
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t,
                                  std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  const int64_t count = loop.reduced.count;
  T tile[kShortRow * kRows + 1];  // none where there are no vectors
  for (int64_t lanes; rows > 0; rows -= lanes, x += lanes * count, y += lanes * count) {
    lanes = rows < kRows ? rows : kRows;
    transpose_panel<Bits>({count, lanes, lanes, 1, count}, reinterpret_cast<Bits*>(tile),
                          reinterpret_cast<const Bits*>(x));
    normalize(Slices<T>{isa, loop, tile, tile, lanes, lanes});
    transpose_panel<Bits>({lanes, count, count, 1, lanes}, reinterpret_cast<Bits*>(y),
                          reinterpret_cast<const Bits*>(tile));
  }
}

/// Calls `normalize(slices)` for all slices along the reduced axes, in blocks.
template <class T, class Normalize>
void for_slices(const KernelContext& context, const bool (&is_reduced)[kMaxRank],
                const Normalize& normalize) {
  if (context.input(0).count() == 0) return;
  const ReduceLoop loop(context.input(0), is_reduced);
  const T* x = context.input(0).as<const T>();
  T* y = context.output(0).as<T>();
  context.parallel_for(loop.blocks, [&](int64_t begin, int64_t end, int) {
    on_isa(context.isa(), [&] {
      const int64_t count = loop.reduced.count;
      if (loop.rows_are_dense() && count <= kShortRow && loop.reduced.rank == 1) {
        return for_short_rows(context.isa(), loop, x + begin * count, y + begin * count,
                              end - begin, normalize);
      }
      if (loop.rows_are_dense()) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t offset = row * count;
          normalize(Slices<T>{context.isa(), loop, x + offset, y + offset, 1, loop.stride()});
        }
        return;
      }
      for (int64_t index = begin, taken; index < end; index += taken) {
        const ReduceLoop::Block block = loop.block(index, end - index);
        taken = block.count;
        normalize(Slices<T>{context.isa(), loop, x + block.offset, y + block.offset, block.lanes,
                            loop.stride()});
      }
    });
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
    for_slices<T>(context, is_reduced, [&](const Slices<T>& slices) {
      double norms[kReduceLanes];
      for (int64_t j = 0; j < slices.lanes; ++j) norms[j] = 0;
      if (squares) {
        slices.sum(norms, [](double v, int64_t) { return v * v; });
      } else {
        slices.sum(norms, [](double v, int64_t) { return std::fabs(v); });
      }
      for (int64_t j = 0; j < slices.lanes; ++j) {
        norms[j] = squares ? std::sqrt(norms[j]) : norms[j];
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
    for_slices<T>(context, is_reduced, [&](const Slices<T>& slices) {
      const auto n = static_cast<double>(slices.loop.reduced.count);
      double means[kReduceLanes], deviations[kReduceLanes];
      for (int64_t j = 0; j < slices.lanes; ++j) means[j] = deviations[j] = 0;
      slices.sum(means, [](double v, int64_t) { return v; });
      for (int64_t j = 0; j < slices.lanes; ++j) means[j] /= n;
      const double* mean = means;
      slices.sum(deviations, [=](double v, int64_t j) { return (v - mean[j]) * (v - mean[j]); });
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
