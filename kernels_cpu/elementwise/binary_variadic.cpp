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

/// left[k] = x[k], or what Op makes of both; an x that stands still is read once.
template <class Op, class E>
void fold(bool first, const typename E::Stored* x, bool advances, typename E::Value* left,
          int64_t n) {
  using V = typename E::Value;
  if (!advances) {
    const V still = E::load(*x);
    for (int64_t k = 0; k < n; ++k) left[k] = first ? still : Op::apply(left[k], still, {});
  } else if (first) {
    for (int64_t k = 0; k < n; ++k) left[k] = E::load(x[k]);
  } else {
    for (int64_t k = 0; k < n; ++k) left[k] = Op::apply(left[k], E::load(x[k]), {});
  }
}

template <class Op, class E>
void finish(const typename E::Value* sums, typename E::Stored* z, int64_t n, int inputs) {
  for (int64_t k = 0; k < n; ++k) z[k] = E::store(Op::finish(sums[k], inputs));
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
                             fold<Op, E>(i == 0, x, advances, block + place, length);
                           });
      }
      finish<Op, E>(block, z + begin, end - begin, inputs);
    };
    compute_elements(context, output.count(), [&](int64_t begin, int64_t end) {
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
