// SPDX-License-Identifier: Apache-2.0
//
// `Layout`: how types lie in memory, as a number. Two compilations in which types have the same
// layout can hand objects of them to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace intarsia::converter {

/// Collects the layout of types: size, alignment, the place of each member, and the same of all
/// that members, pointers, containers and the parameters of functions lead to. `Lists` has for each
/// class a function `list(layout, const T*)` that names the members; without it the class does not
/// compile. A type that is not complete counts as a name without members.
template <class Lists>
class Layout {
 public:
  template <class T>
  void add() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_pointer_v<U> || std::is_reference_v<U>) {
      put("*");
      add<std::remove_pointer_t<std::remove_reference_t<U>>>();
    } else if constexpr (std::is_function_v<U>) {
      put("(");
      add_signature(static_cast<U*>(nullptr));
    } else if constexpr (std::is_void_v<U> || !requires { sizeof(U); }) {
      put("?");
    } else if constexpr (std::is_array_v<U>) {
      put("[", std::extent_v<U>);
      add<std::remove_extent_t<U>>();
    } else if constexpr (std::is_class_v<U>) {
      const auto [known, fresh] = numbers_.emplace(&tag<U>, numbers_.size());
      put("#", known->second);
      if (!fresh) return;
      put("{", sizeof(U), alignof(U));
      Lists::list(*this, static_cast<const U*>(nullptr));
      put("}");
    } else {
      const bool number = std::is_arithmetic_v<U>;
      put(!number                       ? "e"
          : std::is_same_v<U, bool>     ? "b"
          : std::is_floating_point_v<U> ? "f"
          : std::is_signed_v<U>         ? "i"
                                        : "u",
          sizeof(U), alignof(U));
    }
  }

  /// Members of `object`.
  template <class T, class... Members>
  void members(const T& object, const std::tuple<Members&...>& all) {
    const auto* begin = reinterpret_cast<const std::byte*>(&object);
    const auto member = [&]<class M>(const M& each) {
      put("@", static_cast<size_t>(reinterpret_cast<const std::byte*>(&each) - begin));
      add<M>();
    };
    std::apply([&](const auto&... each) { (member(each), ...); }, all);
  }

  /// 64-bit FNV-1a over all that was added.
  uint64_t number() const { return hash_; }

 private:
  template <class T>
  static constexpr char tag = 0;  // its address stands for T

  template <class R, class... As>
  void add_signature(R (*)(As...)) {
    add<R>();
    (add<As>(), ...);
    put(")");
  }

  template <class... Sizes>
  void put(std::string_view text, Sizes... sizes) {
    for (char c : text) mix(static_cast<uint8_t>(c));
    (put_size(sizes), ...);
  }
  void put_size(size_t size) {
    for (int i = 0; i < 8; ++i) mix(static_cast<uint8_t>(size >> 8 * i));
  }
  void mix(uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3u; }

  std::map<const void*, size_t> numbers_;
  uint64_t hash_ = 0xcbf29ce484222325u;
};

/// The classes of the C++ library: what they hold. What they are themselves says its name.
struct StandardLists {
  static void list(auto&, const std::string*) {}
  static void list(auto&, const std::string_view*) {}
  static void list(auto&, const std::less<>*) {}
  template <class T>
  static void list(auto& layout, const std::vector<T>*) {
    layout.template add<T>();
  }
  template <class T>
  static void list(auto& layout, const std::span<T>*) {
    layout.template add<T>();
  }
  template <class T>
  static void list(auto& layout, const std::shared_ptr<T>*) {
    layout.template add<T>();
  }
  template <class T>
  static void list(auto& layout, const std::optional<T>*) {
    layout.template add<T>();
  }
  template <class T>
  static void list(auto& layout, const std::function<T>*) {
    layout.template add<T>();
  }
  template <class A, class B>
  static void list(auto& layout, const std::pair<A, B>*) {
    layout.template add<A>(), layout.template add<B>();
  }
  template <class A, class B, class Less>
  static void list(auto& layout, const std::map<A, B, Less>*) {
    layout.template add<A>(), layout.template add<B>();
  }
  template <class A, class B, class Less>
  static void list(auto& layout, const std::multimap<A, B, Less>*) {
    layout.template add<A>(), layout.template add<B>();
  }
  template <class... Ts>
  static void list(auto& layout, const std::variant<Ts...>*) {
    (layout.template add<Ts>(), ...);
  }
};

}  // namespace intarsia::converter

/// In a struct of lists: names all members of class `type`. One that is missing does not compile.
#define INTARSIA_LIST_MEMBERS(type, ...)                    \
  static void list(auto& to, const type* sample) {          \
    if (sample != nullptr) {                                \
      [[maybe_unused]] const auto& [__VA_ARGS__] = *sample; \
    }                                                       \
    INTARSIA_TELL_MEMBERS(type, __VA_ARGS__)                \
  }
/// The same where members are private. Nobody sees that one is missing, but by the size.
#define INTARSIA_LIST_PRIVATE(type, ...)     \
  static void list(auto& to, const type*) {  \
    INTARSIA_TELL_MEMBERS(type, __VA_ARGS__) \
  }
// Only addresses are taken: some of the classes cannot be made here.
#define INTARSIA_TELL_MEMBERS(type, ...)                      \
  struct Open : type {                                        \
    auto tied() const { return std::tie(__VA_ARGS__); }       \
  };                                                          \
  alignas(Open) static std::byte place[sizeof(Open)];         \
  const auto& object = *reinterpret_cast<const Open*>(place); \
  to.members(static_cast<const type&>(object), object.tied());
