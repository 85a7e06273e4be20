// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/linear_algebra/narrow_product.h"

#include "kernels_cpu/linear_algebra/fours.h"

namespace intarsia::cpu {
namespace {

/// Rows of the longest vectors, and those behind them that fours may reach.
constexpr int64_t kStep = 8, kSpare = 4;

/// What all rows of a call share.
template <class V>
struct Narrow {
  int64_t k, a_pitch, c_pitch, residual_pitch;
  V b[kNarrowElements];  ///< [k][columns]
  V bias[4];
  Four lower, upper;
};

/// N columns of kFourRows<V> rows.
template <class V, int N>
inline void rows_of(const Narrow<V>& x, const float* a, float* c, const float* residual) {
  V sums[4] = {};
  for (int64_t k0 = 0; k0 < x.k; k0 += 4) {
    V v[4];
    load_fours(a + k0, x.a_pitch, v);
    turn(v);
    const V* b = x.b + k0 * N;
    INTARSIA_UNROLLED
    for (int i = 0; i < 4; ++i) {
      if (k0 + i >= x.k) break;
      INTARSIA_UNROLLED
      for (int j = 0; j < N; ++j) sums[j] += v[i] * b[i * N + j];
    }
  }
  INTARSIA_UNROLLED
  for (int j = 0; j < N; ++j) sums[j] += x.bias[j];
  turn(sums);
  INTARSIA_UNROLLED
  for (int r = 0; r < kFourRows<V>; ++r) {
    Four y;
    part(sums[r % 4], r / 4, y);
    if (residual != nullptr) {
      Four term;
      std::memcpy(&term, residual + r * x.residual_pitch, sizeof term);
      y += term;
    }
    y = y < x.lower ? x.lower : y;
    y = y > x.upper ? x.upper : y;
    std::memcpy(c + r * x.c_pitch, &y, N * sizeof(float));
  }
}

/// Columns [first, first + count) of scale * B, as [k][columns], and of the bias.
struct Columns {
  float b[kNarrowElements];
  float bias[4] = {};

  [[gnu::noinline]] Columns(const GemmArgs& args, const NarrowFactor& from, float scale,
                            int64_t first, int64_t count) {
    float* to = b;
    for (int64_t k = 0; k < args.shape.k; ++k) {
      for (int64_t j = 0; j < count; ++j) {
        *to++ = scale * args.b[k * from.k_step + (first + j) * from.column_step];
      }
    }
    for (int64_t j = 0; args.bias != nullptr && j < count; ++j) bias[j] = args.bias[first + j];
  }
};

/// Rows of N columns from `first` on, a multiple of kStep; fours are read of each.
template <int N>
void columns_of(const GemmArgs& args, const NarrowFactor& b, float scale, int64_t first) {
  const GemmShape& s = args.shape;
  const Columns columns(args, b, scale, first, N);
  on_fours(args.isa, [&]<class V>(std::type_identity<V>) {
    Narrow<V> x{s.k, args.a_pitch, args.c_pitch, args.residual_pitch, {}, {}, {}, {}};
    x.lower = args.epilogue.lower - Four{};
    x.upper = args.epilogue.upper - Four{};
    for (int64_t i = 0; i < s.k * N; ++i) x.b[i] = columns.b[i] - V{};
    for (int j = 0; j < N; ++j) x.bias[j] = columns.bias[j] - V{};
    const float *a = args.a, *residual = args.residual != nullptr ? args.residual + first : nullptr;
    float* c = args.c + first;
    for (int64_t row = 0; row < s.m; row += kFourRows<V>) {
      rows_of<V, N>(x, a + row * x.a_pitch, c + row * x.c_pitch,
                    residual != nullptr ? residual + row * x.residual_pitch : nullptr);
    }
  });
}

/// Whole rows, a multiple of kStep.
void run_rows(const GemmArgs& args, const NarrowFactor& b, float scale) {
  for (int64_t first = 0; first < args.shape.n; first += 4) {
    switch (args.shape.n - first) {
      case 1:
        columns_of<1>(args, b, scale, first);
        break;
      case 2:
        columns_of<2>(args, b, scale, first);
        break;
      case 3:
        columns_of<3>(args, b, scale, first);
        break;
      default:
        columns_of<4>(args, b, scale, first);
    }
  }
}

void copy_rows(const float* from, int64_t from_pitch, int64_t rows, int64_t columns, float* to,
               int64_t to_pitch) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < columns; ++i) to[r * to_pitch + i] = from[r * from_pitch + i];
  }
}

}  // namespace

void narrow_run(const GemmArgs& args, const NarrowFactor& b, float scale, int64_t begin,
                int64_t end) {
  const GemmShape& s = args.shape;
  const int64_t from = begin * kNarrowRows, to = end * kNarrowRows < s.m ? end * kNarrowRows : s.m;
  GemmArgs part = args;
  const auto take = [&](int64_t row, int64_t rows) {
    part.shape.m = rows;
    part.a = args.a + row * args.a_pitch;
    part.c = args.c + row * args.c_pitch;
    if (args.residual != nullptr) part.residual = args.residual + row * args.residual_pitch;
  };
  // What is read behind the last rows may not be there, or be another thread's: they are copied.
  const int64_t rows = to - from, direct = rows < kSpare ? 0 : (rows - kSpare) / kStep * kStep;
  take(from, direct);
  run_rows(part, b, scale);
  constexpr int64_t kCopied = 2 * kStep, kColumns = 8;
  float a[kCopied * kNarrowTerms] = {}, c[kCopied * kColumns],
                    residual[kCopied * kColumns + 4] = {};
  take(from + direct, rows - direct);
  copy_rows(part.a, part.a_pitch, rows - direct, s.k, a, kNarrowTerms);
  if (part.residual != nullptr) {
    copy_rows(part.residual, part.residual_pitch, rows - direct, s.n, residual, kColumns);
    part.residual = residual;
  }
  float* const last = part.c;
  part.shape.m = kCopied;
  part.a = a;
  part.a_pitch = kNarrowTerms;
  part.residual_pitch = part.c_pitch = kColumns;
  part.c = c;
  run_rows(part, b, scale);
  copy_rows(c, kColumns, rows - direct, s.n, last, args.c_pitch);
  if (args.epilogue.activate != nullptr) {
    args.epilogue.activate(args.epilogue.spec, args.c + from * args.c_pitch, args.c_pitch, rows,
                           s.n);
  }
}

}  // namespace intarsia::cpu
