// SPDX-License-Identifier: Apache-2.0
//
// Min Max Sum Mean of any number of inputs, broadcast together and folded from the left. Blocks of
// the output are accumulated on the stack, in the type that is computed with, and stored when all
// inputs have been read: so the output may be any input of its size, even one that occurs twice.
// Specification: https://onnx.ai/onnx/operators/
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_run.h"

namespace intarsia::cpu {
namespace {

constexpr int64_t kBlock = 256;

/// Calls body(x, advances, length, place) for the pieces of `input` that are broadcast to the
/// elements [begin, end) of `output`; `place` counts from `begin`.
template <class Stored, class Body>
void for_pieces(const TensorView& output, const TensorView& input, int64_t begin, int64_t end,
                const Body& body) {
  const Stored* x = input.as<Stored>();
  if (input.count() == output.count()) return body(x + begin, true, end - begin, int64_t{0});
  const TensorView* operands[] = {&input};
  const BroadcastLoop loop(output, operands);
  loop.for_rows(begin, end, [&](int64_t first, int64_t length, const int64_t* offsets) {
    body(x + offsets[0], loop.advances(0), length, first - begin);
  });
}

template <class Op, class T>
struct Variadic {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place = InPlace::every();
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_broadcast(context, {.inputs = {t}, .outputs = {t}, .variadic_inputs = true});
  }
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    using V = typename E::Value;
    using Stored = typename E::Stored;
    const TensorView& output = context.output(0);
    const int inputs = context.input_count();
    Stored* z = output.as<Stored>();
    const auto compute_block = [&](int64_t begin, int64_t end) {
      V block[kBlock];
      for (int i = 0; i < inputs; ++i) {
        for_pieces<Stored>(output, context.input(i), begin, end,
                           [&](const Stored* x, bool advances, int64_t length, int64_t place) {
                             V* left = block + place;
                             const int64_t step = advances ? 1 : 0;
                             for (int64_t k = 0; k < length; ++k) {
                               const V value = E::load(x[k * step]);
                               left[k] = i == 0 ? value : Op::apply(left[k], value, {});
                             }
                           });
      }
      for (int64_t k = 0; k < end - begin; ++k) {
        z[begin + k] = E::store(Op::finish(block[k], inputs));
      }
    };
    for_elements(context, output.count(), [&](int64_t begin, int64_t end) {
      for (int64_t start = begin; start < end; start += kBlock) {
        compute_block(start, start + kBlock < end ? start + kBlock : end);
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList binary_variadic_kernels;
constinit const KernelList binary_variadic_kernels =
    kernel_list<EachPair<Variadic, operators::NumberFolds, Numbers>,
                EachPair<Variadic, operators::FloatFolds, Floats>>();

}  // namespace intarsia::cpu
