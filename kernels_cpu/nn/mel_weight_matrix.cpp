// SPDX-License-Identifier: Apache-2.0
//
// MelWeightMatrix: triangles over the bins of a spectrum, one for each mel band.
//
// The corners of the bands are equally far apart on the mel scale, 2595 * log10(1 + hertz / 700);
// band i rises from corner i to corner i + 1 and falls to corner i + 2, each a whole bin,
// floor((dft_length + 1) * hertz / sample_rate). Computed in double, since the bin of a corner
// decides. The output is resized to its extents. No threads.
// Specification: https://onnx.ai/onnx/operators/onnx__MelWeightMatrix.html
#include "core/operators/nn/mel_weight_matrix.h"

#include <cmath>
#include <cstring>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

double to_mel(double hertz) {
  return 2595 * std::log10(1 + hertz / 700);
}
double to_hertz(double mel) {
  return 700 * (std::pow(10.0, mel / 2595) - 1);
}

template <class T>
struct MelWeightMatrix {
  static constexpr KernelId id{"MelWeightMatrix", "", {kernel_type_of<T>}};
  using E = Element<T>;

  static Status check(const KernelContext& context) {
    Status status = check_operand_types<ops::MelWeightMatrix>(
        context, {.inputs = {kAnyNumber, kAnyNumber, kAnyNumber, kAnyReal, kAnyReal},
                  .required_inputs = 5,
                  .outputs = {kernel_type_of<T>}});
    if (!status) return status;
    if (status = check_scalars(context, {0, 1, 2, 3, 4}); !status) return status;
    const int rank = context.output(0).rank;
    return rank == 2 ? Status() : context.fail(Code::kWrongRank, "rank", 2, rank, 5);
  }

  static Status run(const KernelContext& context) {
    const ShapeContext values(context);
    const int64_t bands = values.value(0, 0).value(), length = values.value(1, 0).value();
    const int64_t rate = values.value(2, 0).value();
    if (bands < 0 || bands > INT32_MAX) {
      return context.fail(Code::kInvalidValue, "num_mel_bins", INT32_MAX, bands, 0);
    }
    if (length < 0 || length > INT32_MAX) {
      return context.fail(Code::kInvalidValue, "dft_length", INT32_MAX, length, 1);
    }
    if (rate < 1) return context.fail(Code::kInvalidValue, "sample_rate", 1, rate, 2);
    const int64_t rows = length / 2 + 1;
    const int32_t extents[] = {static_cast<int32_t>(rows), static_cast<int32_t>(bands)};
    if (Status status = context.resize_output(0, extents); !status) return status;
    auto* y = context.output(0).as<typename E::Stored>();
    if (bands == 0) return {};
    std::memset(static_cast<void*>(y), 0, static_cast<size_t>(rows * bands) * sizeof(*y));
    const double low = to_mel(values.real_value(3, 0)), high = to_mel(values.real_value(4, 0));
    const double step = (high - low) / static_cast<double>(bands + 2);
    const auto corner = [&](int64_t i) {
      const double hertz = to_hertz(low + static_cast<double>(i) * step);
      return std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    };
    for (int64_t band = 0; band < bands; ++band) {
      const double ends[] = {corner(band), corner(band + 1), corner(band + 2)};
      for (const double end : ends) {
        // The last corner is the first bin that its band does not have.
        if (end >= 0 && end <= static_cast<double>(rows)) continue;
        const bool far = !(std::fabs(end) < 0x1p31);
        return context.fail(Code::kInvalidValue, "bin of the spectrum at an edge of a band", rows,
                            far ? INT32_MAX : static_cast<int64_t>(end), 4);
      }
      const auto first = static_cast<int64_t>(ends[0]), top = static_cast<int64_t>(ends[1]);
      const auto last = static_cast<int64_t>(ends[2]);
      const auto set = [&](int64_t row, int64_t part, int64_t whole) {
        if (row >= rows) return;
        const double weight = static_cast<double>(part) / static_cast<double>(whole);
        y[row * bands + band] = E::store(static_cast<typename E::Value>(weight));
      };
      if (first == top) set(top, 1, 1);
      for (int64_t row = first; row <= top && first < top; ++row)
        set(row, row - first, top - first);
      for (int64_t row = top; row < last; ++row) set(row, last - row, last - top);
    }
    return {};
  }
};

}  // namespace

extern const KernelList mel_weight_matrix_kernels;
constinit const KernelList mel_weight_matrix_kernels =
    kernel_list<Each<MelWeightMatrix, Numbers>>();

}  // namespace intarsia::cpu
