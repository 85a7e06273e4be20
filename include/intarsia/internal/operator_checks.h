// SPDX-License-Identifier: Apache-2.0
//
// What the compiler is to say of an operator type (intarsia/operator.h) that is none: each mistake
// in one sentence, before anything else stumbles over it. Not for direct inclusion. Nothing of this
// is left in a program.
#pragma once

#include "intarsia/attributes.h"

namespace intarsia {

struct OperatorInfo;

namespace internal {

struct NoOperator;

/// True if `K::info` is a constant.
template <class K>
inline constexpr bool has_info = requires {
  requires std::is_same_v<decltype(K::info), const OperatorInfo>;
  typename std::bool_constant<K::info.name.empty()>;
};
template <class K>
inline constexpr bool has_run = requires {
  &K::run;
};

template <class K>
struct SoundOperator {
  static_assert(has_info<K>, "an operator needs `static constexpr OperatorInfo info{...}`");
  static_assert(has_run<K>,
                "an operator needs one function `run`; it is missing, overloaded or a template");
  using type = std::conditional_t<has_info<K> && has_run<K>, K, NoOperator>;
};
/// K, if it has what every operator has.
template <class K>
using Sound = typename SoundOperator<K>::type;

template <class T>
inline constexpr bool is_field =
    std::is_integral_v<T> || std::is_same_v<T, float> || std::is_same_v<T, StringAttribute> ||
    std::is_same_v<T, TensorAttribute>;
template <class T>
inline constexpr bool is_field<ListAttribute<T>> = true;
template <class T, int N>
inline constexpr bool is_field<FixedList<T, N>> = true;

/// A visitor of `fields` that only compiles: what may stand there, and a sentence for the rest.
class FieldTypes {
 public:
  template <class T, class... Rest>
  void operator()(std::string_view, T&, const Rest&...) {
    check_member<T>();
    constexpr bool kText = std::is_same_v<T, StringAttribute>;
    static_assert(sizeof...(Rest) == 0 || (std::is_same_v<Rest, AttributeLimits> || ... || false) ||
                      (kText && (std::is_convertible_v<const Rest&, std::string_view> && ...)),
                  "fields: the default of a number is the initialiser of its member; only "
                  "StringAttribute and ListAttribute take one, as in v(\"taps\", taps, {1.0f})");
  }
  template <class T>
  void operator()(std::string_view, ListAttribute<T>&, ListDefault<T>) {}
  template <class T>
  void required(std::string_view, T&, AttributeLimits = {}) {
    check_member<T>();
  }
  template <class T>
  void choice(std::string_view, T&, std::initializer_list<std::string_view>) {
    static_assert(std::is_same_v<T, int32_t>, "fields: a choice is stored in an int32_t");
  }
  template <class T>
  void choices(std::string_view, T&, std::initializer_list<std::string_view>) {
    static_assert(is_field<T>, "fields: choices are stored in a FixedList<int32_t, N>");
  }
  void scalar(std::string_view, int64_t&, int32_t&) {}
  template <class T>
  void internal(std::string_view, T&) {}
  void ignored(std::string_view) {}

 private:
  template <class T>
  static constexpr void check_member() {
    static_assert(is_field<T>,
                  "fields: a member is an integer, a bool, a float, a StringAttribute, a "
                  "ListAttribute<T>, a FixedList<T, N> or a TensorAttribute; ONNX has no other "
                  "attributes, so a double is given as a float");
  }
};
template <class A>
void visit_fields(A& attributes, FieldTypes& visitor) {
  attributes.fields(visitor);
}
/// Lets the compiler look at `fields`. Nothing of it is left in a program.
template <class A>
constexpr bool are_fields_sound() {
  if constexpr (std::is_empty_v<A>) {
    return true;
  } else if constexpr (requires { &A::template fields<FieldTypes>; }) {
    static_cast<void>(&visit_fields<A>);
    return true;
  } else {
    return false;
  }
}

}  // namespace internal
}  // namespace intarsia
