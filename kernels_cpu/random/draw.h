// SPDX-License-Identifier: Apache-2.0
//
// What kernels that draw random numbers share: the state of their node, and the numbers of one run.
//
// Element i of an execution takes word i of a stream that the node's key and the number of the
// execution select; doubles take further bits from word i of a second one, so that a double is the
// float with more digits. So numbers depend neither on how elements are shared among threads nor on
// how many there are, nor, but for their precision, on their type.
#pragma once

#include "core/operators/random/random.h"
#include "core/runtime/operand_check.h"
#include "intarsia/services.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

/// Of a node that draws.
struct RandomState {
  uint64_t key = 0;
  uint64_t executions = 0;
};

/// Elements that are drawn at a time, a multiple of 4.
inline constexpr int kPiece = 256;

/// The numbers of one execution.
class Numbers {
 public:
  explicit Numbers(const RandomState& state, Isa isa = Isa::kPortable)
      : key_(state.key), execution_(state.executions), isa_(isa) {}

  /// Words [first, first + count) of a stream, rounded up to whole counters. REQUIRES: first is a
  /// multiple of kPiece, or of 4 where count is at most 4; count is at most kPiece.
  void words(uint32_t stream, int64_t first, int count, uint32_t* to) const;

  /// Uniform in [0, 1): multiples of 2^-24, of 2^-53 for doubles.
  void uniforms(int64_t first, int count, float* to) const;
  void uniforms(int64_t first, int count, double* to) const;

  Isa isa() const { return isa_; }

 private:
  uint64_t key_, execution_;
  Isa isa_;
};

/// Calls body(first, count) for pieces of at most kPiece elements, on the context's threads.
template <class Body>
void for_pieces(const KernelContext& context, int64_t elements, const Body& body) {
  static_assert(kPointwiseGrain % kPiece == 0);
  for_elements(context, elements, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kPiece) {
      const int64_t left = end - first;
      body(first, left < kPiece ? static_cast<int>(left) : kPiece);
    }
  });
}

/// The part of an operator's attributes that says which numbers it draws.
template <class Attributes>
const auto& numbers_of(const Attributes& attributes) {
  if constexpr (requires { attributes.numbers; }) {
    return attributes.numbers;
  } else {
    return attributes;
  }
}

/// The base of kernels that draw: the state of a node.
template <class Attributes, Draws kDraws>
struct DrawingKernel {
  static constexpr int64_t state_bytes = sizeof(RandomState);

  static Status create(const KernelContext& context) {
    if (Status status = check_attributes<Attributes>(context); !status) return status;
    if (context.state() == nullptr || context.state_bytes() < state_bytes) {
      return context.fail(Code::kCorruptPlan, "bytes of state", state_bytes, context.state_bytes());
    }
    uint64_t key = random_key(numbers_of(context.attributes<Attributes>()), kDraws);
    const auto* seed = static_cast<const uint64_t*>(context.service(kRandomSeedService));
    if (seed != nullptr) key = mix_bits(key + mix_bits(*seed));
    *static_cast<RandomState*>(context.state()) = {key, 0};
    return {};
  }

  /// The numbers of this execution; the next one has others.
  static Numbers next_numbers(const KernelContext& context) {
    auto& state = *static_cast<RandomState*>(context.state());
    const Numbers numbers(state, context.isa());
    ++state.executions;
    return numbers;
  }
};

/// `check` of RandomNormal, RandomUniform and their Like forms, which read no element of an input.
template <class Rule>
Status check_filled(const KernelContext& context, KernelType drawn) {
  if constexpr (requires(typename Rule::Attributes a) { a.shape; }) {
    return check_operands<Rule>(context, {.inputs = {}, .required_inputs = 0, .outputs = {drawn}});
  } else {
    return check_operands<Rule>(context, {.inputs = {kAnyType}, .outputs = {drawn}});
  }
}

/// The base of these kernels.
template <class Rule, class T, Draws kDraws>
struct FillingKernel : DrawingKernel<typename Rule::Attributes, kDraws> {
  static constexpr KernelId id{Rule::name, "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    return check_filled<Rule>(context, kernel_type_of<T>);
  }

  /// Fills the output piece by piece: draw(numbers, first, count, drawn), place(drawn, y, count).
  template <class Draw, class Place>
  static Status fill(const KernelContext& context, const Draw& draw, const Place& place) {
    auto* y = context.output(0).as<typename Element<T>::Stored>();
    const Numbers numbers = FillingKernel::next_numbers(context);
    for_pieces(context, context.output(0).count(), [&](int64_t first, int count) {
      typename Element<T>::Value drawn[kPiece];
      draw(numbers, first, count, drawn);
      on_isa(numbers.isa(), [=, &drawn, &place] { place(drawn, y + first, count); });
    });
    return {};
  }
};

}  // namespace intarsia::cpu
