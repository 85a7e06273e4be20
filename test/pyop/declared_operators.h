// SPDX-License-Identifier: Apache-2.0
//
// Operators that are declared here and computed in declared_kernels.py, as a program or a library
// would have them (intarsia/python_kernel.h).
#pragma once

#include "intarsia/python_kernel.h"

namespace declared {

using namespace intarsia;  // NOLINT: a user's file would do the same

/// y = x where x > 0, else 0. The default shape function: y is like x.
template <class T>
struct UserRelu {
  static constexpr OperatorInfo info{
      .domain = "user", .name = "user_relu", .inputs = {"x"}, .outputs = {"y"}};
  static void run(Input<T> x, Output<T> y);
  using Kernel = PythonKernel<UserRelu>;
  static constexpr std::string_view python = "declared_kernels:forward";
};

/// Repeats the rows of x; attributes of every kind, an operand that may be absent and two outputs.
struct Repeat {
  static constexpr OperatorInfo info{
      .domain = "user", .name = "Repeat", .inputs = {"x", "offset"}, .outputs = {"y", "last"}};
  struct Attributes {
    int64_t times = 1;
    float gain = 1.0f;
    int32_t mode = 0;
    StringAttribute label;
    ListAttribute<float> taps;
    ListAttribute<StringAttribute> names;
    FixedList<int32_t, 4> axes;
    TensorAttribute table;
    uint32_t reserved = 0;
    template <class V>
    void fields(V& v) {
      v.required("times", times);
      v("gain", gain);
      v.choice("mode", mode, {"rows", "blocks"});
      v("label", label, "none");
      v("taps", taps, {0.5f, 0.25f});
      v("names", names);
      v("axes", axes);
      v("table", table);
    }
  };
  template <class S>
  static Status infer(S& s) {
    if (s.rank(0) != 2) return s.fail(Code::kWrongRank, "rank", 2, s.rank(0), 0);
    auto y = s.shape(0);
    y[0] = y[0] * typename S::Dim(s.template attributes<Attributes>().times);
    if (Status status = s.set_output(0, s.type(0), y); !status) return status;
    auto last = s.shape(0);
    last[0] = 1;
    return s.set_output(1, s.type(0), last);
  }
  static void run(const Attributes& attributes, Input<float> x, Optional<Input<float>> offset,
                  Output<float> y, Optional<Output<float>> last);
  using Kernel = PythonKernel<Repeat>;
  static constexpr std::string_view python = "declared_kernels:Repeat.forward";
};

/// As many inputs and outputs as the node has.
struct Reverse {
  static constexpr OperatorInfo info{
      .domain = "user", .name = "Reverse", .inputs = {"xs"}, .outputs = {"ys"}};
  template <class S>
  static Status infer(S& s) {
    for (int i = 0; i < s.output_count(); ++i) {
      if (Status status = s.set_output(i, s.type(0), s.shape(s.input_count() - 1 - i)); !status) {
        return status;
      }
    }
    return {};
  }
  static void run(Variadic<Input<float>> xs, Variadic<Output<float>> ys);
  using Kernel = PythonKernel<Reverse>;
  static constexpr std::string_view python = "declared_kernels:reverse";
};

/// Only a run can tell how many elements it keeps.
struct Positive {
  static constexpr OperatorInfo info{.domain = "user",
                                     .name = "Positive",
                                     .inputs = {"x"},
                                     .outputs = {"y"},
                                     .extents_vary = true};
  template <class S>
  static Status infer(S& s) {
    return s.set_output_type(0, s.type(0));
  }
  static void run(Input<float> x, Output<float> y);
  using Kernel = PythonKernel<Positive>;
  static constexpr std::string_view python = "declared_kernels:positive";
};

struct Missing : UserRelu<float> {
  static constexpr OperatorInfo info{
      .domain = "user", .name = "Missing", .inputs = {"x"}, .outputs = {"y"}};
  using Kernel = PythonKernel<Missing>;
  static constexpr std::string_view python = "declared_kernels:no_such_function";
};

using Operators =
    OperatorList<UserRelu<float>, UserRelu<double>, Repeat, Reverse, Positive, Missing>;

}  // namespace declared
