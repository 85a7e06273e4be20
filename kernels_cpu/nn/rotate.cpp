// SPDX-License-Identifier: Apache-2.0
//
// Rotate: pairs (a, b) of elements become (cos a - sin b, sin a + cos b), for rotary embeddings; in
// float for types of 16 bits. The output may be the input: a pair is read before it is written.
// J. Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021;
// https://onnx.ai/onnx/operators/onnx__RotaryEmbedding.html
#include "core/kernel_list.h"
#include "core/operators/nn/attention.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

/// Pair i is x[i * step] and x[i * step + distance].
template <int64_t step, class T>
void rotate_row(const T* x, const T* cosines, const T* sines, T* y, int64_t pairs,
                int64_t distance) {
  using E = Element<T>;
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < pairs; ++i) {
    const auto a = E::load(x[i * step]), b = E::load(x[i * step + distance]);
    const auto cosine = E::load(cosines[i]), sine = E::load(sines[i]);
    y[i * step] = E::store(cosine * a - sine * b);
    y[i * step + distance] = E::store(sine * a + cosine * b);
  }
}

template <class T>
struct Rotate {
  static constexpr KernelId id{"intarsia:Rotate", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::Rotate>(context, {.inputs = {t, t, t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const TensorView &x = context.input(0), &angles = context.input(1);
    const bool interleaved = context.attributes<RotateAttributes>().interleaved != 0;
    const int64_t size = x.extents[3], pairs = angles.extents[3];
    const T* from = x.as<const T>();
    const T* cosines = angles.as<const T>();
    const T* sines = context.input(2).as<const T>();
    T* to = context.output(0).as<T>();
    int64_t strides[kMaxRank];
    dense_strides(angles, strides);
    const auto row_of_angles = [&](int64_t row) {
      int64_t place = 0;
      for (int axis = 2; axis >= 0; --axis) {
        if (angles.extents[axis] != 1) place += row % x.extents[axis] * strides[axis];
        row /= x.extents[axis];
      }
      return place;
    };
    const int64_t bytes = size * static_cast<int64_t>(sizeof(T));
    for_items(context, span_count(x, 0, 3), bytes, [&](int64_t begin, int64_t end) {
      on_isa(context.isa(), [&] {
        for (int64_t row = begin; row < end; ++row) {
          const T* in = from + row * size;
          T* out = to + row * size;
          const int64_t place = row_of_angles(row);
          if (interleaved) {
            rotate_row<2>(in, cosines + place, sines + place, out, pairs, 1);
          } else {
            rotate_row<1>(in, cosines + place, sines + place, out, pairs, pairs);
          }
          if (in == out) continue;
          for (int64_t i = 2 * pairs; i < size; ++i) out[i] = in[i];
        }
      });
    });
    return {};
  }
};

}  // namespace

extern const KernelList rotate_kernels;
constinit const KernelList rotate_kernels =
    kernel_list<Each<Rotate, Types<float, Float16, BFloat16>>, OfHalves<Rotate<float>>>();

}  // namespace intarsia::cpu
