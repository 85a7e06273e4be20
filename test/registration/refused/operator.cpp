// SPDX-License-Identifier: Apache-2.0
//
// CUS-14, CUS-5: operator types that are wrong, and what the compiler says of each.
// BROKEN=1 only: only the last input and the last output may be Variadic
// BROKEN=2 only: an argument is none of Input<T>
// BROKEN=3 only: inputs come before outputs
// BROKEN=4 only: returns intarsia::Status, or void
// BROKEN=5 only: info.inputs has to name every input
// BROKEN=6 only: info.outputs has to name every output
// BROKEN=7 only: share a type variable
// BROKEN=8 only: members have fixed widths
// BROKEN=9 only: it is missing, overloaded or a template
// BROKEN=10 only: an argument is none of Input<T>
// BROKEN=11 only: at least one output
// BROKEN=12 only: only the last input and the last output may be Variadic
// BROKEN=13 only: attributes and context are taken as `const Attributes&`
// BROKEN=14 only: attributes and context are taken as `const Attributes&`
// BROKEN=15 only: an argument is none of Input<T>
// BROKEN=16 only: an argument is none of Input<T>
// BROKEN=17 only: an argument is none of Input<T>
// BROKEN=18 only: an argument is none of Input<T>
// BROKEN=19 only: an operator needs `static constexpr OperatorInfo info
// BROKEN=20 only: an operator needs `static constexpr OperatorInfo info
// BROKEN=21 only: a member is an integer, a bool, a float, a StringAttribute
// BROKEN=22 only: a member is an integer, a bool, a float, a StringAttribute
// BROKEN=23 only: the default of a number is the initialiser of its member
// BROKEN=24 only: Attributes: needs `template <class V> void fields
#include <string>

#include "intarsia/operator.h"

using namespace intarsia;  // NOLINT

#ifndef BROKEN
#define BROKEN 0
#endif

struct Operator {
#if BROKEN == 5
  static constexpr OperatorInfo info{
      .domain = "d", .name = "Op", .inputs = {"x"}, .outputs = {"y"}};
#elif BROKEN == 6
  static constexpr OperatorInfo info{
      .domain = "d", .name = "Op", .inputs = {"x", "z"}, .outputs = {"y", "w"}};
#elif BROKEN == 12
  static constexpr OperatorInfo info{
      .domain = "d", .name = "Op", .inputs = {"x", "z"}, .outputs = {"y", "w"}};
#elif BROKEN == 11
  static constexpr OperatorInfo info{.domain = "d", .name = "Op", .inputs = {"x", "z"}};
#elif BROKEN == 19  // none
#elif BROKEN == 20
  OperatorInfo info{.domain = "d", .name = "Op", .inputs = {"x", "z"}, .outputs = {"y"}};
#else
  static constexpr OperatorInfo info{
      .domain = "d", .name = "Op", .inputs = {"x", "z"}, .outputs = {"y"}};
#endif
  struct Attributes {
    float factor = 1;
#if BROKEN == 8
    std::string text;
#elif BROKEN == 21
    double exact = 1;
#elif BROKEN == 22
    const char* text = "";
#endif
#if BROKEN == 24
    void field_names() {}
#else
    template <class V>
    void fields(V& v) {
#if BROKEN == 21
      v("exact", exact);
#elif BROKEN == 22
      v.required("text", text);
#elif BROKEN == 23
      v("factor", factor, 1.0f);
#else
      v("factor", factor);
#endif
    }
#endif
  };

#if BROKEN == 1
  static Status run(Variadic<Input<float>>, Input<float>, Output<float>);
#elif BROKEN == 2
  static Status run(std::string, Input<float>, Input<float>, Output<float>);
#elif BROKEN == 3
  static Status run(Input<float>, Output<float>, Input<float>);
#elif BROKEN == 4
  static bool run(Input<float>, Input<float>, Output<float>);
#elif BROKEN == 7
  static Status run(Input<float>, Input<double>, Output<float>);
#elif BROKEN == 9
  template <class T>
  static Status run(Input<T>, Input<T>, Output<T>);
#elif BROKEN == 10
  static Status run(Input<float>, float&, Output<float>);
#elif BROKEN == 11
  static Status run(Input<float>, Input<float>);
#elif BROKEN == 12
  static Status run(Input<float>, Input<float>, Variadic<Output<float>>, Output<float>);
#elif BROKEN == 13
  static Status run(Attributes, Input<float>, Input<float>, Output<float>);
#elif BROKEN == 14
  static Status run(KernelContext, Input<float>, Input<float>, Output<float>);
#elif BROKEN == 15
  static Status run(Input<float>, Optional<float>, Output<float>);
#elif BROKEN == 16
  static Status run(Input<float>, Variadic<float>, Output<float>);
#elif BROKEN == 17
  static Status run(Input<float>, Optional<Variadic<Input<float>>>, Output<float>);
#elif BROKEN == 18
  static Status run(Attributes&, Input<float>, Input<float>, Output<float>);
#else
  static Status run(const Attributes&, Input<float>, Optional<Input<float>>, Output<float>);
#endif
};

constexpr KernelId kId = OperatorKernel<Operator>::id;
constexpr Status (*kCheck)(const KernelContext&) = &OperatorKernel<Operator>::check;
static_assert(BROKEN != 0 || kId.op == "d:Op");
