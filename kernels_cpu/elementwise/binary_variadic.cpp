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

/// Elements of a block: starting the loops of all inputs takes as long as many of them.
template <class V>
inline constexpr int64_t kBlock = INTARSIA_HAS_VECTORS ? 8192 / int64_t{sizeof(V)} : kFloatBlock;

/// left[k] = x[k], or what Op makes of both; an x that stands still is read once.
template <class Op, class E>
void fold(bool first, const typename E::Stored* x, bool advances, typename E::Value* left,
          int64_t n) {
  using V = typename E::Value;
  // The case outside of each loop: compilers do not take it out of one they vectorise.
  if (!advances) {
    const V still = E::load(*x);
    if (first) {
      for (int64_t k = 0; k < n; ++k) left[k] = still;
    } else {
      for (int64_t k = 0; k < n; ++k) left[k] = Op::apply(left[k], still, {});
    }
  } else if (first) {
    for (int64_t k = 0; k < n; ++k) left[k] = E::load(x[k]);
  } else {
    for (int64_t k = 0; k < n; ++k) left[k] = Op::apply(left[k], E::load(x[k]), {});
  }
}

/// The same of elements of T.
template <class Op, class T>
void fold_elements(Isa isa, bool first, const T* x, bool advances, typename Element<T>::Value* left,
                   int64_t n) {
  if constexpr (kIsHalf<T>) {
    float wide[kFloatBlock];
    if (!advances) {
      to_floats(isa, x, wide, 1);
      return fold<Op, Element<float>>(first, wide, false, left, n);
    }
    for (int64_t k = 0, some; k < n; k += some) {
      some = n - k < kFloatBlock ? n - k : kFloatBlock;
      to_floats(isa, x + k, wide, some);
      fold<Op, Element<float>>(first, wide, true, left + k, some);
    }
  } else {
    fold<Op, Element<T>>(first, x, advances, left, n);
  }
}

template <class Op, class T>
void finish(Isa isa, typename Element<T>::Value* sums, typename Element<T>::Stored* z, int64_t n,
            int inputs) {
  if constexpr (kIsHalf<T>) {
    for (int64_t k = 0; k < n; ++k) sums[k] = Op::finish(sums[k], inputs);
    from_floats(isa, sums, z, n);
  } else {
    for (int64_t k = 0; k < n; ++k) z[k] = Element<T>::store(Op::finish(sums[k], inputs));
  }
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
    const Isa isa = context.isa();
    if (INTARSIA_HAS_VECTORS && inputs == 2) {  // without a block in between
      compute_elements_of<T, E>(context,
                                [](V x, V y) { return Op::finish(Op::apply(x, y, {}), 2); });
      return {};
    }
    Stored* z = output.as<Stored>();
    const auto compute_block = [&](int64_t begin, int64_t end) {
      V block[kBlock<V>];
      for (int i = 0; i < inputs; ++i) {
        const TensorView* input[] = {&context.input(i)};
        const Stored* x = input[0]->as<Stored>();
        if (input[0]->count() == output.count()) {
          fold_elements<Op, T>(isa, i == 0, x + begin, true, block, end - begin);
          continue;
        }
        if (input[0]->count() == 1) {
          fold_elements<Op, T>(isa, i == 0, x, false, block, end - begin);
          continue;
        }
        const BroadcastOperand operand[] = {x};
        const BroadcastLoop loop(output, input);
        BroadcastPieces pieces(loop, operand, begin, end);
        for (BroadcastPiece piece; pieces.next(piece);) {
          fold_elements<Op, T>(isa, i == 0, piece.at<Stored>(0), piece.advances[0],
                               block + piece.first - begin, piece.length);
        }
      }
      finish<Op, T>(isa, block, z + begin, end - begin, inputs);
    };
    compute_elements(context, output.count(), [&](int64_t begin, int64_t end) {
      for (int64_t start = begin; start < end; start += kBlock<V>) {
        compute_block(start, start + kBlock<V> < end ? start + kBlock<V> : end);
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
