// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/linear_algebra/thin_product.h"

#include "kernels_cpu/linear_algebra/fours.h"

namespace intarsia::cpu {
namespace {

constexpr int64_t kThinLanes = 16;

// sums[j] = a[k] * b[k][j], for `columns` columns. Four rows of B at a time, since sums are loaded
// and stored for each.
inline void thin_columns(const float* a, const float* b, int64_t b_pitch, int64_t k,
                         int64_t columns, float* sums) {
  for (int64_t j = 0; j < columns; ++j) sums[j] = 0;
  int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    const float a0 = a[i], a1 = a[i + 1], a2 = a[i + 2], a3 = a[i + 3];
    const float *b0 = b + i * b_pitch, *b1 = b0 + b_pitch, *b2 = b1 + b_pitch, *b3 = b2 + b_pitch;
    for (int64_t j = 0; j < columns; ++j) {
      sums[j] = sums[j] + a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
    }
  }
  for (; i < k; ++i) {
    const float factor = a[i];
    const float* row = b + i * b_pitch;
    for (int64_t j = 0; j < columns; ++j) sums[j] += factor * row[j];
  }
}

// The sum of a[k] * b[k].
inline float thin_dot(const float* a, const float* b, int64_t k) {
  float lanes[kThinLanes] = {};
  int64_t i = 0;
  for (; i + kThinLanes <= k; i += kThinLanes) {
    for (int64_t l = 0; l < kThinLanes; ++l) lanes[l] += a[i + l] * b[i + l];
  }
  for (int64_t l = 0; i + l < k; ++l) lanes[l] += a[i + l] * b[i + l];
  for (int64_t half = kThinLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

// The same of four columns, of at least as many terms as V has floats: the partial sums of one
// would wait for one another, and their ends are added up side by side.
template <class V>
inline Four thin_fours(const float* a, const float* const (&b)[4], int64_t k) {
  constexpr int64_t kWidth = kFourRows<V>;
  V sums[4] = {}, x, y;
  int64_t i = 0;
  for (; i + kWidth <= k; i += kWidth) {
    std::memcpy(&x, a + i, sizeof x);
    INTARSIA_UNROLLED
    for (int j = 0; j < 4; ++j) {
      std::memcpy(&y, b[j] + i, sizeof y);
      sums[j] += x * y;
    }
  }
  if (i < k) {  // the rest, with terms before it that are left out
    i = k - kWidth;
    V term;
    for (int l = 0; l < kWidth; ++l) term[l] = static_cast<float>(l);
    const auto before = static_cast<float>(kWidth - k % kWidth);
    std::memcpy(&x, a + i, sizeof x);
    INTARSIA_UNROLLED
    for (int j = 0; j < 4; ++j) {
      std::memcpy(&y, b[j] + i, sizeof y);
      sums[j] += term < before ? V{} : x * y;
    }
  }
  turn(sums);
  const V all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  Four result, upper{};
  part(all, 0, result);
  if (kWidth == 8) part(all, 1, upper);
  return result + upper;
}

// sums[j] = a[k] * b[j][k].
template <class V>
inline void thin_dots(const float* a, const float* b, int64_t k, int64_t columns, float* sums) {
  constexpr int64_t kLongest = kFourRows<Eight>;
  if (!INTARSIA_HAS_VECTORS || k < kLongest) {
    for (int64_t j = 0; j < columns; ++j) sums[j] = thin_dot(a, b + j * k, k);
    return;
  }
  for (int64_t j = 0; j < columns; j += 4) {
    const float* of[4];
    const int64_t left = columns - j < 4 ? columns - j : 4;
    for (int64_t i = 0; i < 4; ++i) of[i] = b + (j + (i < left ? i : left - 1)) * k;
    const Four four = thin_fours<V>(a, of, k);
    std::memcpy(sums + j, &four, static_cast<size_t>(left) * sizeof(float));
  }
}

}  // namespace

void thin_run(const GemmArgs& args, bool transposed, float scale, int64_t begin, int64_t end,
              float addend) {
  const GemmShape& shape = args.shape;
  const int64_t units = thin_units(shape) / shape.m;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t row = unit / units, first = unit % units * kThinColumns;
    const int64_t left = shape.n - first, columns = left < kThinColumns ? left : kThinColumns;
    const float* a = args.a + row * args.a_pitch;
    float* y = args.c + row * args.c_pitch + first;
    const float* bias = args.bias != nullptr ? args.bias + first : nullptr;
    const float* residual =
        args.residual != nullptr ? args.residual + row * args.residual_pitch + first : nullptr;
    const Epilogue& end_of = args.epilogue;
    const auto store = [&](const float* sums) {
      for (int64_t j = 0; j < columns; ++j) {
        float sum = sums[j] * scale + addend;
        if (bias != nullptr) sum += bias[j];
        if (residual != nullptr) sum += residual[j];
        sum = sum < end_of.lower ? end_of.lower : sum;
        y[j] = sum > end_of.upper ? end_of.upper : sum;
      }
    };
    if (transposed) {
      on_fours(args.isa, [&]<class V>(std::type_identity<V>) {
        float sums[kThinColumns];
        thin_dots<V>(a, args.b + first * shape.k, shape.k, columns, sums);
        store(sums);
      });
    } else {
      on_isa(args.isa, [&] {
        float sums[kThinColumns];
        thin_columns(a, args.b + first, shape.n, shape.k, columns, sums);
        store(sums);
      });
    }
    if (end_of.activate != nullptr) end_of.activate(end_of.spec, y, args.c_pitch, 1, columns);
  }
}

void column_run(const GemmArgs& args, int64_t begin, int64_t end) {
  float column[kColumnTerms];
  for (int64_t k = 0; k < args.shape.k; ++k) column[k] = args.b[k * kPanel];
  GemmArgs thin = turned(args);
  thin.a = column;
  thin.bias = nullptr;
  thin_run(thin, true, 1, begin, end, args.bias != nullptr ? *args.bias : 0);
}

}  // namespace intarsia::cpu
