// SPDX-License-Identifier: Apache-2.0
//
// Lists that a plug-in cannot be made of, and what the compiler says of each: this is the source
// that intarsia_add_operators generates, with the header in it.
// BROKEN=1 first: LIST of intarsia_add_operators names an intarsia::OperatorList
// BROKEN=2 first: declared in an anonymous namespace
// BROKEN=3 first: declared in an anonymous namespace
// BROKEN=4 first: an operator needs `static constexpr OperatorInfo info
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
  static void run(Input<float>, Output<float>);
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
