// SPDX-License-Identifier: Apache-2.0
//
// What two compilations have to agree on, as a number: that it follows from every place, size and
// kind of a member, however deep, and from nothing else.
#include "converter/plugin/layout.h"

#include <gtest/gtest.h>

namespace intarsia::test {
namespace {

struct Part {
  int32_t first = 0;
  int32_t second = 0;
};
struct Swapped {  // the same members at other places
  int32_t second = 0;
  int32_t first = 0;
};
struct Real {
  int32_t first = 0;
  float second = 0;
};
struct Wide {
  int32_t first = 0;
  int64_t second = 0;
};
struct Unsigned {
  int32_t first = 0;
  uint32_t second = 0;
};
struct Hidden {  // what it has more lies in the padding
  int64_t first = 0;
  int8_t second = 0;
};
struct Shown {
  int64_t first = 0;
  int8_t second = 0;
  int8_t third = 0;
};
struct Aligned {
  alignas(16) int32_t first = 0;
  int32_t second = 0;
};
template <class T>
struct Whole {
  T part = {};
};
struct Incomplete;
struct Chain {
  const Chain* next = nullptr;
  int32_t value = 0;
};

struct Lists : converter::StandardLists {
  using converter::StandardLists::list;
  INTARSIA_LIST_MEMBERS(Part, first, second)
  INTARSIA_LIST_MEMBERS(Swapped, first, second)
  INTARSIA_LIST_MEMBERS(Real, first, second)
  INTARSIA_LIST_MEMBERS(Wide, first, second)
  INTARSIA_LIST_MEMBERS(Unsigned, first, second)
  INTARSIA_LIST_MEMBERS(Hidden, first, second)
  INTARSIA_LIST_MEMBERS(Shown, first, second, third)
  INTARSIA_LIST_MEMBERS(Aligned, first, second)
  INTARSIA_LIST_MEMBERS(Chain, next, value)
  template <class T>
  static void list(auto& layout, const Whole<T>*) {
    const Whole<T> whole{};
    layout.members(whole, std::tie(whole.part));
  }
};

template <class... Ts>
uint64_t number() {
  converter::Layout<Lists> layout;
  (layout.add<Ts>(), ...);
  return layout.number();
}

TEST(Layout, PlacesSizesAndKindsOfMembersCount) {
  const std::vector<uint64_t> all = {number<Part>(),  number<Swapped>(),  number<Real>(),
                                     number<Wide>(),  number<Unsigned>(), number<Hidden>(),
                                     number<Shown>(), number<Aligned>(),  number<Chain>()};
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t k = 0; k < i; ++k) EXPECT_NE(all[i], all[k]) << i << " and " << k;
  }
  EXPECT_EQ(number<Whole<int32_t>>(), number<Whole<int32_t>>());
  EXPECT_NE(number<Whole<int32_t>>(), number<Whole<uint32_t>>());
}

/// The number of F of a Part differs from that of F of what is not laid out like it.
template <template <class> class F>
void expect_reached() {
  EXPECT_EQ(number<F<Part>>(), number<F<Part>>());
  EXPECT_NE(number<F<Part>>(), number<F<Swapped>>());
  EXPECT_NE(number<F<Part>>(), number<F<Real>>());
}
template <class T>
using Vector = std::vector<T>;
template <class T>
using Pair = std::pair<int, T>;
template <class T>
using Map = std::map<std::string, T>;
template <class T>
using Multimap = std::multimap<std::string, T>;
template <class T>
using Variant = std::variant<int, T>;
template <class T>
using Span = std::span<T>;
template <class T>
using Shared = std::shared_ptr<const T>;
template <class T>
using Pointer = const T*;
template <class T>
using Array = T[3];
template <class T>
using Taker = void (*)(int, const T&);
template <class T>
using Maker = std::function<T(int)>;

TEST(Layout, WhatMembersLeadToCounts) {
  expect_reached<Whole>();
  expect_reached<Vector>();
  expect_reached<Pair>();
  expect_reached<Map>();
  expect_reached<Multimap>();
  expect_reached<Variant>();
  expect_reached<Span>();
  expect_reached<Shared>();
  expect_reached<std::optional>();
  expect_reached<Pointer>();
  expect_reached<Array>();
  expect_reached<Taker>();
  expect_reached<Maker>();
  EXPECT_NE(number<int[3]>(), number<int[4]>());
  EXPECT_NE(number<void (*)(int)>(), number<void (*)(int, int)>());
  EXPECT_NE((number<Pair<Part>>()), (number<std::pair<Part, int>>()));
}

TEST(Layout, TypesThatAreNotCompleteAreNotLookedInto) {
  EXPECT_EQ(number<const Incomplete*>(), number<void*>());
}

}  // namespace
}  // namespace intarsia::test
