// SPDX-License-Identifier: Apache-2.0
//
// SupportVectors (support_vectors.h) in float and double, for any vectors.
//
// Distances are summed up as they are: from products of x and v, small ones would come out wrong.
// Vectors are stored column by column, so that the loop over neighbouring vectors fills registers,
// kBlockVectors at a time for four rows.
#include "kernels_cpu/ml/support_vectors.h"

#include "core/kernel_list.h"

namespace intarsia::cpu {
namespace {

constexpr int kRowsTogether = 4;  ///< Of a block; each of its vectors is read once for them.
constexpr int64_t kBlockVectors = kSupportSums / kRowsTogether;

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

  static int64_t workspace(const KernelContext& context) { return support_workspace<T>(context); }
  static Status check(const KernelContext& context) { return check_support_vectors<T>(context); }
  static Status run(const KernelContext& context) {
    const bool distance =
        context.attributes<SupportVectorsAttributes>().kernel == SupportVectorsAttributes::kRbf;
    return run_support_vectors<T>(context, [&](const SupportFunctions& functions, const T* rows,
                                               int64_t columns, int64_t count, T* near) {
      distance ? compare<true>(context, functions, rows, columns, count, near)
               : compare<false>(context, functions, rows, columns, count, near);
    });
  }

 private:
  /// k of `count` rows and all vectors.
  template <bool Distance>
  static void compare(const KernelContext& context, const SupportFunctions& functions,
                      const T* rows, int64_t columns, int64_t count, T* near) {
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
        finish_sums(context.attributes<SupportVectorsAttributes>(), functions, sums,
                    taken > 1 ? taken * kBlockVectors : width);
        for (int64_t row = 0; row < taken; ++row) {
          std::copy_n(sums + row * kBlockVectors, width, near + (i + row) * vectors + first);
        }
      }
    }
  }
};

}  // namespace

extern const KernelList support_vectors_kernels;
constinit const KernelList support_vectors_kernels =
    kernel_list<Each<SupportVectors, Types<float, double>>>();

}  // namespace intarsia::cpu
