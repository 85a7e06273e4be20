// SPDX-License-Identifier: Apache-2.0
//
// Lists that a plug-in cannot be made of, and what the compiler says of each: this is the source
// that intarsia_add_operators generates, with the header in it.
// BROKEN=1 only: LIST of intarsia_add_operators names an intarsia::OperatorList
// BROKEN=2 only: declared in an anonymous namespace
// BROKEN=3 only: declared in an anonymous namespace
// BROKEN=4 only: an operator needs `static constexpr OperatorInfo info
// BROKEN=5 only: Attributes: needs `template <class V> void fields
// BROKEN=6 only: Attributes: members have fixed widths
// BROKEN=7 only: an operator needs one function `run`
#include "converter/plugin/operator_extension.h"

using namespace intarsia;  // NOLINT

#ifndef BROKEN
#define BROKEN 0
#endif

#if BROKEN == 2
namespace {
#else
namespace mine {
#endif

struct Operator {
#if BROKEN != 4
  static constexpr OperatorInfo info{
      .domain = "d", .name = "Op", .inputs = {"x"}, .outputs = {"y"}};
#endif
#if BROKEN == 5
  struct Attributes {
    float factor = 1;
  };
  static void run(const Attributes&, Input<float>, Output<float>);
#elif BROKEN == 6
  struct Attributes {
    std::string text;
    template <class V>
    void fields(V&) {}
  };
  static void run(const Attributes&, Input<float>, Output<float>);
#elif BROKEN != 7
  static void run(Input<float>, Output<float>);
#endif
};

template <class T>
struct Of : Operator {};

namespace {
struct Hidden {};
}  // namespace

#if BROKEN == 1
using Operators = Operator;
#elif BROKEN == 3
using Operators = OperatorList<Operator, Of<Hidden> >;
#else
using Operators = OperatorList<Operator>;
#endif

}  // namespace

#if BROKEN == 2
using List = Operators;
#else
using List = mine::Operators;
#endif

std::string load(converter::Extension& extension) {
  return converter::program_extension_of<List>(extension, {"mine.h", "mine::Operators"});
}
