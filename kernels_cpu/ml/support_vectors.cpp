// SPDX-License-Identifier: Apache-2.0
//
// SupportVectors: y[n, g, s] = sum of coefficients[s, v] * k(x[n], vectors[v]) over the vectors v
// of group g, where k is
//   LINEAR   x . v
//   POLY     (gamma * x . v + coef0) ^ degree
//   RBF      exp(-gamma * |x - v|^2)
//   SIGMOID  tanh(gamma * x . v + coef0)
//
// Distances are summed up as they are: from products of x and v, small ones would come out wrong.
// Vectors are stored column by column, so that the loop over neighbouring vectors fills registers,
// kBlockVectors at a time for kBlockRows rows. k is computed in T, sums over vectors in double.
// Blocks of rows are computed on the caller's threads.
// https://onnx.ai/onnx/operators/onnx_aionnxml_SVMClassifier.html
#include "core/operators/ml/support_vectors.h"

#include <algorithm>
#include <cmath>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "intarsia/checked_int.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/math/vector_math.h"

namespace intarsia::cpu {
namespace {

using Attributes = SupportVectorsAttributes;

constexpr int64_t kBlockVectors = 64;
constexpr int64_t kBlockRows = 16;
constexpr int kRowsTogether = 4;  ///< Of a block; each of its vectors is read once for them.

/// The functions of kernels that the instruction set has for floats.
struct Functions {
  explicit Functions(Isa isa) {
    exp = pick_vector_math(isa, [](auto math) -> VectorMap { return &decltype(math)::exp; });
    tanh = pick_vector_math(isa, [](auto math) -> VectorMap { return &decltype(math)::tanh; });
  }
  VectorMap exp, tanh;
};

/// y = y ^ degree. Small whole powers are products, which are right to the last bits.
template <class T>
void raise(T* y, int64_t count, T degree) {
  constexpr int kMostFactors = 16;
  const int whole = degree >= 1 && degree <= kMostFactors ? static_cast<int>(degree) : -1;
  if (static_cast<T>(whole) != degree) {
    for (int64_t i = 0; i < count; ++i) y[i] = std::pow(y[i], degree);
    return;
  }
  T base[kRowsTogether * kBlockVectors];
  std::copy_n(y, count, base);
  for (int factor = 1; factor < whole; ++factor) {
    for (int64_t i = 0; i < count; ++i) y[i] *= base[i];
  }
}

/// The kernel of `count` sums, at most those of kRowsTogether rows, in their place.
template <class T>
void finish(const Attributes& a, const Functions& functions, T* sums, int64_t count) {
  if (a.kernel == Attributes::kLinear) return;
  const bool distance = a.kernel == Attributes::kRbf;
  const T factor = static_cast<T>(distance ? -a.gamma : a.gamma);
  const T shift = static_cast<T>(distance ? 0 : a.coef0);
  for (int64_t i = 0; i < count; ++i) sums[i] = factor * sums[i] + shift;
  if (a.kernel == Attributes::kPoly) return raise(sums, count, static_cast<T>(a.degree));
  if constexpr (std::is_same_v<T, float>) {
    (distance ? functions.exp : functions.tanh)(sums, sums, count, 0);
  } else {
    for (int64_t i = 0; i < count; ++i) sums[i] = distance ? std::exp(sums[i]) : std::tanh(sums[i]);
  }
}

/// Adds products of kColumns columns (4 or 1) of kRows rows (4 or 1) of x, `pitch` apart, and of
/// kBlockVectors vectors to the rows' sums, or squares of their differences, one column after the
/// other. Spelled out, since GCC makes no vectors of loops in the loop.
template <bool Distance, int kRows, int kColumns, class T>
void add_columns(const T* x, int64_t pitch, const T* vectors, int64_t stride, T* sums) {
  const int64_t more = kColumns > 1 ? stride : 0;
  const T *v1 = vectors + more, *v2 = v1 + more, *v3 = v2 + more;
#pragma GCC unroll 1
  for (int64_t i = 0; i < kBlockVectors; ++i) {
    const T from = vectors[i], from1 = v1[i], from2 = v2[i], from3 = v3[i];
    const auto add_row = [=](int row) {
      const auto product = [=](int column, T value) {
        const T factor = x[row * pitch + column];
        return Distance ? (factor - value) * (factor - value) : factor * value;
      };
      T sum = sums[row * kBlockVectors + i] + product(0, from);
      if constexpr (kColumns > 1) {
        sum = sum + product(1, from1);
        sum = sum + product(2, from2);
        sum = sum + product(3, from3);
      }
      sums[row * kBlockVectors + i] = sum;
    };
    add_row(0);
    if constexpr (kRows > 1) {
      add_row(1);
      add_row(2);
      add_row(3);
    }
  }
}

/// The sums over all columns of kRows rows, `pitch` apart, and kBlockVectors vectors; in a block of
/// its own, which no pointer can be suspected to point to.
template <bool Distance, int kRows, class T>
void sum_block(const T* x, int64_t pitch, const T* vectors, int64_t columns, int64_t stride,
               T* sums) {
  T block[kRows * kBlockVectors] = {};
  int64_t column = 0;
  for (; column + 4 <= columns; column += 4) {
    add_columns<Distance, kRows, 4>(x + column, pitch, vectors + column * stride, stride, block);
  }
  for (; column < columns; ++column) {
    add_columns<Distance, kRows, 1>(x + column, pitch, vectors + column * stride, stride, block);
  }
  std::copy_n(block, kRows * kBlockVectors, sums);
}

/// The same of one row and `count` vectors, which are fewer than a block.
template <bool Distance, class T>
void sum_few(const T* x, const T* vectors, int64_t columns, int64_t stride, int64_t count,
             T* sums) {
  for (int64_t i = 0; i < count; ++i) sums[i] = 0;
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t i = 0; i < count; ++i) {
      const T from = vectors[column * stride + i];
      const T term = Distance ? x[column] - from : x[column];
      sums[i] += term * (Distance ? term : from);
    }
  }
}

template <class T>
struct SupportVectors {
  static constexpr KernelId id{"intarsia:SupportVectors", "", {data_type_of<T>}};

  /// k of a block of rows for each thread.
  static int64_t workspace(const KernelContext& context) {
    const CheckedInt vectors(context.input(1).extents[1]);
    return (vectors * kBlockRows * int64_t{sizeof(T)} * context.threads()).value();
  }
  static Status check(const KernelContext& context) {
    constexpr DataType kType = data_type_of<T>;
    Status status = check_operands<ops::SupportVectors>(
        context, {.inputs = {kType, kType, kType, DataType::kInt32},
                  .required_inputs = 4,
                  .outputs = {DataType::kDouble}});
    return status.ok() ? check_workspace(context, workspace(context)) : status;
  }

  static Status run(const KernelContext& context) {
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
    const Functions functions(context.isa());
    const bool distance = context.attributes<Attributes>().kernel == Attributes::kRbf;
    auto* memory = reinterpret_cast<T*>(context.workspace().data());
    const int64_t blocks = (rows + kBlockRows - 1) / kBlockRows;
    context.parallel_for(blocks, [&](int64_t begin, int64_t end, int thread) {
      T* near = memory + thread * kBlockRows * vectors;
      for (int64_t block = begin; block < end; ++block) {
        const int64_t first = block * kBlockRows, count = std::min(kBlockRows, rows - first);
        const T* from = x.as<const T>() + first * columns;
        on_widest_isa(context.isa(), [&] {
          distance ? compare<true>(context, functions, from, columns, count, near)
                   : compare<false>(context, functions, from, columns, count, near);
          for (int64_t i = 0; i < count; ++i) {
            sum_up(context, near + i * vectors,
                   y.as<double>() + (first + i) * groups * sums(context));
          }
        });
      }
    });
    return {};
  }

 private:
  static int64_t sums(const KernelContext& context) { return context.input(2).extents[0]; }

  /// k of `count` rows and all vectors.
  template <bool Distance>
  static void compare(const KernelContext& context, const Functions& functions, const T* rows,
                      int64_t columns, int64_t count, T* near) {
    const int64_t vectors = context.input(1).extents[1];
    const auto* from = context.input(1).as<const T>();
    for (int64_t block = 0; block < vectors; block += kBlockVectors) {
      // The last block is a whole one too, if there are as many vectors: some are computed twice.
      const int64_t room = vectors - kBlockVectors;
      const int64_t first = room < 0 || block < room ? block : room;
      const int64_t width = std::min(kBlockVectors, vectors - first);
      for (int64_t i = 0, taken = 0; i < count; i += taken) {
        const T* x = rows + i * columns;
        T sums[kRowsTogether * kBlockVectors];
        taken = room >= 0 && i + kRowsTogether <= count ? kRowsTogether : 1;
        if (taken > 1) {
          sum_block<Distance, kRowsTogether>(x, columns, from + first, columns, vectors, sums);
        } else if (room >= 0) {
          sum_block<Distance, 1>(x, columns, from + first, columns, vectors, sums);
        } else {
          sum_few<Distance>(x, from, columns, vectors, width, sums);
        }
        finish(context.attributes<Attributes>(), functions, sums,
               taken > 1 ? taken * kBlockVectors : width);
        for (int64_t row = 0; row < taken; ++row) {
          std::copy_n(sums + row * kBlockVectors, width, near + (i + row) * vectors + first);
        }
      }
    }
  }
  /// One row of the result.
  static void sum_up(const KernelContext& context, const T* near, double* y) {
    const auto* coefficients = context.input(2).as<const T>();
    const auto* bounds = context.input(3).as<const int32_t>();
    const int64_t vectors = context.input(1).extents[1];
    for (int64_t g = 0; g + 1 < context.input(3).extents[0]; ++g) {
      const int64_t first = bounds[g], count = bounds[g + 1] - first;
      for (int64_t s = 0; s < sums(context); ++s) {
        *y++ = product(coefficients + s * vectors + first, near + first, count);
      }
    }
  }
  /// In several sums, none of which waits for another.
  static double product(const T* a, const T* b, int64_t count) {
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
};

}  // namespace

extern const KernelList support_vectors_kernels;
constinit const KernelList support_vectors_kernels =
    kernel_list<Each<SupportVectors, Types<float, double>>>();

}  // namespace intarsia::cpu
