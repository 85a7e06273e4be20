// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/linear_algebra/few_sums.h"

#include "kernels_cpu/linear_algebra/fours.h"

namespace intarsia::cpu {
namespace {

/// Terms of the longest vectors, and those behind them that fours may reach.
constexpr int64_t kStep = 8, kSpare = 4;

/// v[lane] = as many terms as a V has of `lanes` lanes. Of rows, whatever they are, fours are read.
template <class V>
inline void load_terms(const float* p, const FewSteps& steps, int64_t lanes, V (&v)[4]) {
  if (steps.k != 1) {
    load_fours(p, steps.k, v);
    turn(v);
    return;
  }
  INTARSIA_UNROLLED
  for (int lane = 0; lane < 4; ++lane) {
    if (lane < lanes) std::memcpy(&v[lane], p + lane * steps.lane, sizeof v[lane]);
  }
}

/// Partial sums of four by four elements, of which a V is used.
struct Sums {
  alignas(32) float parts[4][4][8];
};

/// Adds k terms, a multiple of kStep, to M rows, of which `rows` exist, of up to four columns.
template <class V, int M>
inline void add_terms(const float* a, const FewSteps& a_steps, const float* b,
                      const FewSteps& b_steps, const GemmShape& s, Sums& sums) {
  V acc[M][4], x[4] = {}, y[4] = {};
  INTARSIA_UNROLLED
  for (int i = 0; i < M; ++i) {
    INTARSIA_UNROLLED
    for (int j = 0; j < 4; ++j) std::memcpy(&acc[i][j], sums.parts[i][j], sizeof(V));
  }
  for (int64_t k = 0; k < s.k; k += kFourRows<V>) {
    load_terms(a + k * a_steps.k, a_steps, s.m, x);
    load_terms(b + k * b_steps.k, b_steps, s.n, y);
    INTARSIA_UNROLLED
    for (int i = 0; i < M; ++i) {
      INTARSIA_UNROLLED
      for (int j = 0; j < 4; ++j) acc[i][j] += x[i] * y[j];
    }
  }
  INTARSIA_UNROLLED
  for (int i = 0; i < M; ++i) {
    INTARSIA_UNROLLED
    for (int j = 0; j < 4; ++j) std::memcpy(sums.parts[i][j], &acc[i][j], sizeof(V));
  }
}

void add_terms(Isa isa, const float* a, const FewSteps& a_steps, const float* b,
               const FewSteps& b_steps, const GemmShape& s, Sums& sums) {
  on_fours(isa, [&]<class V>(std::type_identity<V>) {
    switch (s.m) {
      case 1:
        add_terms<V, 1>(a, a_steps, b, b_steps, s, sums);
        break;
      case 2:
        add_terms<V, 2>(a, a_steps, b, b_steps, s, sums);
        break;
      default:
        add_terms<V, 4>(a, a_steps, b, b_steps, s, sums);
    }
  });
}

/// Terms that are copied as lanes[lane][term].
constexpr int64_t kCopied = 16;
void copy_terms(const float* from, const FewSteps& steps, int64_t lanes, int64_t terms, float* to) {
  for (int64_t lane = 0; lane < lanes; ++lane) {
    for (int64_t k = 0; k < terms; ++k) {
      to[lane * kCopied + k] = from[lane * steps.lane + k * steps.k];
    }
  }
}

/// A block of up to four by four elements.
void sum_block(Isa isa, const float* a, const FewSteps& a_steps, const float* b,
               const FewSteps& b_steps, const GemmShape& s, float (&y)[4][4]) {
  Sums sums{};
  GemmShape part = s;
  part.k = (s.k - kSpare) / kStep * kStep;
  add_terms(isa, a, a_steps, b, b_steps, part, sums);
  // Fours of the last rows may end behind the factor: these terms are copied, followed by zeros.
  float of_a[4 * kCopied] = {}, of_b[4 * kCopied] = {};
  copy_terms(a + part.k * a_steps.k, a_steps, s.m, s.k - part.k, of_a);
  copy_terms(b + part.k * b_steps.k, b_steps, s.n, s.k - part.k, of_b);
  part.k = kCopied;
  add_terms(isa, of_a, {kCopied, 1}, of_b, {kCopied, 1}, part, sums);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      float(&parts)[8] = sums.parts[i][j];
      for (int half = 4; half > 0; half /= 2) {
        for (int l = 0; l < half; ++l) parts[l] += parts[l + half];
      }
      y[i][j] = parts[0];
    }
  }
}

}  // namespace

void few_run(const GemmArgs& args, const FewSteps& a, const FewSteps& b, float scale, int64_t begin,
             int64_t end) {
  const GemmShape& s = args.shape;
  const Epilogue& end_of = args.epilogue;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t row = unit % ((s.m + 3) / 4) * 4, column = unit / ((s.m + 3) / 4) * 4;
    const int64_t rows = s.m - row < 4 ? s.m - row : 4;
    const int64_t columns = s.n - column < 4 ? s.n - column : 4;
    float sums[4][4];
    sum_block(args.isa, args.a + row * a.lane, a, args.b + column * b.lane, b, {rows, columns, s.k},
              sums);
    for (int64_t i = 0; i < rows; ++i) {
      float* y = args.c + (row + i) * args.c_pitch + column;
      for (int64_t j = 0; j < columns; ++j) {
        float sum = sums[i][j] * scale;
        if (args.bias != nullptr) sum += args.bias[column + j];
        if (args.residual != nullptr) {
          sum += args.residual[(row + i) * args.residual_pitch + column + j];
        }
        sum = sum < end_of.lower ? end_of.lower : sum;
        y[j] = sum > end_of.upper ? end_of.upper : sum;
      }
    }
    if (end_of.activate != nullptr) {
      end_of.activate(end_of.spec, args.c + row * args.c_pitch + column, args.c_pitch, rows,
                      columns);
    }
  }
}

}  // namespace intarsia::cpu
