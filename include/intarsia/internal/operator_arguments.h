// SPDX-License-Identifier: Apache-2.0
//
// The arguments that `run` of an operator type (intarsia/operator.h) may have. Not for direct
// inclusion.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "intarsia/attributes.h"
#include "intarsia/types.h"

namespace intarsia {

class KernelContext;
struct Any;
template <class T>
class Input;
template <class T>
class Output;
template <class Operand>
class Optional;
template <class Operand>
class Variadic;
class Workspace;
class StateMemory;
namespace cuda {
class Stream;
}

namespace internal {

/// What an argument of `run` stands for.
enum class ArgumentKind : uint8_t {
  kUnknown,
  kInput,
  kOptionalInput,
  kVariadicInput,
  kScalar,
  kOutput,
  kOptionalOutput,
  kVariadicOutput,
  kAttributes,
  kWorkspace,
  kStateMemory,
  kStream,
  kContext,
};
constexpr bool is_input(ArgumentKind kind) {
  return kind >= ArgumentKind::kInput && kind <= ArgumentKind::kScalar;
}
constexpr bool is_output(ArgumentKind kind) {
  return kind >= ArgumentKind::kOutput && kind <= ArgumentKind::kVariadicOutput;
}
constexpr bool is_variadic(ArgumentKind kind) {
  return kind == ArgumentKind::kVariadicInput || kind == ArgumentKind::kVariadicOutput;
}
constexpr bool is_optional(ArgumentKind kind) {
  return kind == ArgumentKind::kOptionalInput || kind == ArgumentKind::kOptionalOutput;
}

template <class T>
struct OperandTraits {
  static constexpr ArgumentKind kind =
      data_type_of<T> != DataType::kUndefined ? ArgumentKind::kScalar : ArgumentKind::kUnknown;
  using Element = T;
};
template <class T>
struct OperandTraits<Input<T>> {
  static constexpr ArgumentKind kind = ArgumentKind::kInput;
  using Element = T;
};
template <class T>
struct OperandTraits<Output<T>> {
  static constexpr ArgumentKind kind = ArgumentKind::kOutput;
  using Element = T;
};
/// True for the tensors that Optional and Variadic may hold.
template <class Operand>
inline constexpr bool is_tensor = false;
template <class T>
inline constexpr bool is_tensor<Input<T>> = true;
template <class T>
inline constexpr bool is_tensor<Output<T>> = true;
template <class Operand>
requires is_tensor<Operand>
struct OperandTraits<Optional<Operand>> {
  static constexpr ArgumentKind kind =
      Operand::is_input ? ArgumentKind::kOptionalInput : ArgumentKind::kOptionalOutput;
  using Element = typename Operand::Element;
};
template <class Operand>
requires is_tensor<Operand>
struct OperandTraits<Variadic<Operand>> {
  static constexpr ArgumentKind kind =
      Operand::is_input ? ArgumentKind::kVariadicInput : ArgumentKind::kVariadicOutput;
  using Element = typename Operand::Element;
};
template <class Operand>
requires is_tensor<Operand>
struct OperandTraits<Variadic<Optional<Operand>>> : OperandTraits<Variadic<Operand>> {
};

/// True if the model may leave the operand out; of a variadic one, leave it empty among others.
template <class Argument>
inline constexpr bool may_lack = false;
template <class Operand>
inline constexpr bool may_lack<Optional<Operand>> = true;
template <class Operand>
inline constexpr bool may_lack<Variadic<Optional<Operand>>> = true;
template <>
struct OperandTraits<Workspace> {
  static constexpr ArgumentKind kind = ArgumentKind::kWorkspace;
  using Element = Any;
};
template <>
struct OperandTraits<StateMemory> {
  static constexpr ArgumentKind kind = ArgumentKind::kStateMemory;
  using Element = Any;
};
template <>
struct OperandTraits<cuda::Stream> {
  static constexpr ArgumentKind kind = ArgumentKind::kStream;
  using Element = Any;
};
template <>
struct OperandTraits<KernelContext> {
  static constexpr ArgumentKind kind = ArgumentKind::kContext;
  using Element = Any;
};

/// The attributes struct of an operator type; one without attributes has none.
template <class K>
struct AttributesOf {
  using type = NoAttributes;
};
template <class K>
requires requires {
  typename K::Attributes;
}
struct AttributesOf<K> {
  using type = typename K::Attributes;
};

template <class K, class Argument>
constexpr ArgumentKind kind_of() {
  using Plain = std::remove_cvref_t<Argument>;
  // Tensors and scalars come by value or as constants: a reference to write through is none.
  if (std::is_lvalue_reference_v<Argument> && !std::is_const_v<std::remove_reference_t<Argument>>) {
    return ArgumentKind::kUnknown;
  }
  if (std::is_same_v<Plain, typename AttributesOf<K>::type>) return ArgumentKind::kAttributes;
  return OperandTraits<Plain>::kind;
}

/// Takes a function type apart.
template <class F>
struct Signature;
template <class R, class... As>
struct Signature<R (*)(As...)> {
  using Result = R;
  using Arguments = std::tuple<As...>;
  static constexpr bool has_object = false;
};
template <class R, class C, class... As>
struct Signature<R (C::*)(As...)> {
  using Result = R;
  using Arguments = std::tuple<As...>;
  static constexpr bool has_object = true;
};
template <class R, class C, class... As>
struct Signature<R (C::*)(As...) const> : Signature<R (C::*)(As...)> {};
template <class R, class... As>
struct Signature<R (*)(As...) noexcept> : Signature<R (*)(As...)> {};
template <class R, class C, class... As>
struct Signature<R (C::*)(As...) noexcept> : Signature<R (C::*)(As...)> {};
template <class R, class C, class... As>
struct Signature<R (C::*)(As...) const noexcept> : Signature<R (C::*)(As...)> {};
/// `static constexpr auto run = &function;`
template <class F>
struct Signature<F* const*> : Signature<F*> {};

}  // namespace internal
}  // namespace intarsia
