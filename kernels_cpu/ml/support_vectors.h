// SPDX-License-Identifier: Apache-2.0
//
// SupportVectors: y[n, g, s] = sum of coefficients[s, v] * k(x[n], vectors[v]) over the vectors v
// of group g, where k is
//   LINEAR   x . v
//   POLY     (gamma * x . v + coef0) ^ degree
//   RBF      exp(-gamma * |x - v|^2)
//   SIGMOID  tanh(gamma * x . v + coef0)
//
// What its kernels share: blocks of rows are computed on the caller's threads, k in T, and sums
// over vectors in double.
// https://onnx.ai/onnx/operators/onnx_aionnxml_SVMClassifier.html
#pragma once

#include <algorithm>
#include <cmath>

#include "core/operators/ml/support_vectors.h"
#include "core/runtime/operand_check.h"
#include "intarsia/checked_int.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/math/vector_math.h"

namespace intarsia::cpu {

constexpr int64_t kSupportRows = 16;  ///< Of a block.

/// The most sums that become k at once.
constexpr int64_t kSupportSums = 256;

/// The functions of kernels that the instruction set has for floats.
struct SupportFunctions {
  explicit SupportFunctions(Isa isa) {
    exp = pick_vector_math(isa, [](auto math) -> VectorMap { return &decltype(math)::exp; });
    tanh = pick_vector_math(isa, [](auto math) -> VectorMap { return &decltype(math)::tanh; });
  }
  VectorMap exp, tanh;
};

/// y = y ^ degree. Small whole powers are products, which are right to the last bits.
template <class T>
void raise_sums(T* y, int64_t count, T degree) {
  constexpr int kMostFactors = 16;
  const int whole = degree >= 1 && degree <= kMostFactors ? static_cast<int>(degree) : -1;
  if (static_cast<T>(whole) != degree) {
    for (int64_t i = 0; i < count; ++i) y[i] = std::pow(y[i], degree);
    return;
  }
  T base[kSupportSums];
  std::copy_n(y, count, base);
  for (int factor = 1; factor < whole; ++factor) {
    for (int64_t i = 0; i < count; ++i) y[i] *= base[i];
  }
}

/// k of `count` sums, at most kSupportSums, in their place.
template <class T>
void finish_sums(const SupportVectorsAttributes& a, const SupportFunctions& functions, T* sums,
                 int64_t count) {
  if (a.kernel == SupportVectorsAttributes::kLinear) return;
  const bool distance = a.kernel == SupportVectorsAttributes::kRbf;
  const T factor = static_cast<T>(distance ? -a.gamma : a.gamma);
  const T shift = static_cast<T>(distance ? 0 : a.coef0);
  for (int64_t i = 0; i < count; ++i) sums[i] = factor * sums[i] + shift;
  if (a.kernel == SupportVectorsAttributes::kPoly)
    return raise_sums(sums, count, static_cast<T>(a.degree));
  if constexpr (std::is_same_v<T, float>) {
    (distance ? functions.exp : functions.tanh)(sums, sums, count, 0);
  } else {
    for (int64_t i = 0; i < count; ++i) sums[i] = distance ? std::exp(sums[i]) : std::tanh(sums[i]);
  }
}

/// A dot product in several sums, none of which waits for another.
template <class T>
double dot_in_double(const T* a, const T* b, int64_t count) {
  constexpr int64_t kParts = 8;
  double parts[kParts] = {};
  int64_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (int64_t part = 0; part < kParts; ++part) {
      parts[part] += static_cast<double>(a[i + part]) * static_cast<double>(b[i + part]);
    }
  }
  double sum = 0;
  for (; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  for (const double part : parts) sum += part;
  return sum;
}

/// One row of the result, from k of the row and all vectors.
template <class T>
void sum_up(const KernelContext& context, const T* near, double* y) {
  const auto* coefficients = context.input(2).as<const T>();
  const auto* bounds = context.input(3).as<const int32_t>();
  const int64_t vectors = context.input(1).extents[1], sums = context.input(2).extents[0];
  for (int64_t g = 0; g + 1 < context.input(3).extents[0]; ++g) {
    const int64_t first = bounds[g], count = bounds[g + 1] - first;
    for (int64_t s = 0; s < sums; ++s) {
      *y++ = dot_in_double(coefficients + s * vectors + first, near + first, count);
    }
  }
}

/// k of a block of rows for each thread.
template <class T>
int64_t support_workspace(const KernelContext& context) {
  const CheckedInt vectors(context.input(1).extents[1]);
  return (vectors * kSupportRows * int64_t{sizeof(T)} * context.threads()).value();
}

template <class T>
Status check_support_vectors(const KernelContext& context) {
  constexpr DataType kType = data_type_of<T>;
  Status status = check_operands<ops::SupportVectors>(
      context, {.inputs = {kType, kType, kType, DataType::kInt32},
                .required_inputs = 4,
                .outputs = {DataType::kDouble}});
  return status.ok() ? check_workspace(context, support_workspace<T>(context)) : status;
}

/// `compare(functions, rows, columns, count, near)` stores k of `count` rows and all vectors at
/// `near`.
template <class T, class Compare>
Status run_support_vectors(const KernelContext& context, const Compare& compare) {
  const TensorView &x = context.input(0), &starts = context.input(3), &y = context.output(0);
  if (y.count() == 0) return {};
  const int64_t vectors = context.input(1).extents[1], groups = starts.extents[0] - 1;
  const auto* bounds = starts.as<const int32_t>();
  for (int64_t g = 0; g <= groups; ++g) {
    const int32_t least = g == 0 ? 0 : bounds[g - 1];
    if (bounds[g] < least || bounds[g] > vectors) {
      return context.fail(Code::kIndexOutOfRange, "bound of a group", vectors, bounds[g], 3);
    }
  }
  const int64_t rows = y.extents[0], columns = x.extents[x.rank - 1];
  const int64_t results = groups * context.input(2).extents[0];
  const SupportFunctions functions(context.isa());
  const PerThread<T> memory(context.workspace(), context.threads(), kSupportRows * vectors);
  const int64_t blocks = (rows + kSupportRows - 1) / kSupportRows;
  context.parallel_for(blocks, [&](int64_t begin, int64_t end, int thread) {
    T* near = memory[thread];
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kSupportRows, count = std::min(kSupportRows, rows - first);
      const T* from = x.as<const T>() + first * columns;
      on_widest_isa(context.isa(), [&] {
        compare(functions, from, columns, count, near);
        for (int64_t i = 0; i < count; ++i) {
          sum_up(context, near + i * vectors, y.as<double>() + (first + i) * results);
        }
      });
    }
  });
  return {};
}

}  // namespace intarsia::cpu
