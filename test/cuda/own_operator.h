// SPDX-License-Identifier: Apache-2.0
//
// An operator of a program's own with a kernel for each side: y = x + gain x[0], where the kernel
// of the device goes by way of its workspace.
#pragma once

#include "intarsia/operator.h"

namespace own {

using namespace intarsia;  // NOLINT: a user's file would do the same

struct Blend {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Blend", .inputs = {"x", "bias"}, .outputs = {"y"}};
  struct Attributes {
    float gain = 1;
    template <class V>
    void fields(V& v) {
      v("gain", gain);
    }
  };
};

struct BlendOnHost : Blend {
  static void run(const Attributes& attributes, Input<float> x, Optional<Input<float>> bias,
                  Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) {
      y[i] = x[i] + attributes.gain * x[0] + (bias ? (*bias)[0] : 0);
    }
  }
};

struct BlendOnDevice : Blend {
  static constexpr bool on_cuda = true;
  static int64_t workspace(const KernelContext&) { return sizeof(float); }
  static Status run(cuda::Stream stream, const Attributes& attributes, Input<float> x,
                    Optional<Input<float>> bias, Workspace scratch, Output<float> y);
};

/// The first `count` elements, times `factor`: numbers that the host needs. A plan may say other
/// extents than the count.
struct Leading {
  static constexpr OperatorInfo info{.domain = "own",
                                     .name = "Leading",
                                     .inputs = {"x", {"count", "I"}, "factor"},
                                     .outputs = {"y"}};
  template <class S>
  static Status infer(S& s) {
    Shape<typename S::Dim> y;
    y.push(s.value(1, 0));
    return s.set_output(0, s.type(0), y);
  }
  static Status agree(const KernelContext& context, int64_t count, int64_t given, int64_t made) {
    if (count == made && count <= given) return {};
    return context.fail(Code::kWrongExtent, "elements", count, made, context.input_count());
  }
};

struct LeadingOnHost : Leading {
  static Status run(const KernelContext& context, Input<float> x, int64_t count, float factor,
                    Output<float> y) {
    if (Status s = agree(context, count, x.size(), y.size()); !s) return s;
    for (int64_t i = 0; i < count; ++i) y[i] = factor * x[i];
    return {};
  }
};

struct LeadingOnDevice : Leading {
  static constexpr bool on_cuda = true;
  static Status run(const KernelContext& context, cuda::Stream stream, Input<float> x,
                    int64_t count, float factor, Output<float> y);
};

/// y = 2 x, on the device alone, in the memory of x where that is free.
struct Twice {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Twice", .inputs = {"x"}, .outputs = {"y"}, .in_place = {0}};
  static constexpr bool on_cuda = true;
  static inline bool in_place = false;  // whether the last run was
  static Status run(cuda::Stream stream, Input<float> x, Output<float> y);
};

/// Two type variables, for which each side has kernels of its own.
template <class I>
struct Step {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Step", .inputs = {"x", {"step", "I"}}, .outputs = {"y"}};
  static void run(Input<float> x, Input<I> step, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + static_cast<float>(step[0]);
  }
};
template <class I>
struct StepOnDevice {
  static constexpr OperatorInfo info = Step<I>::info;
  static constexpr bool on_cuda = true;
  static Status run(cuda::Stream, Input<float>, Input<I>, Output<float>) { return {}; }
};

/// Relu on the device, and 1000 more.
struct LoudRelu {
  static constexpr OperatorInfo info{
      .name = "Relu", .inputs = {"X"}, .outputs = {"Y"}, .replaces = "loud"};
  static constexpr bool on_cuda = true;
  static Status run(cuda::Stream stream, Input<float> x, Output<float> y);
};
/// The same on the host.
struct LoudReluOnHost {
  static constexpr OperatorInfo info = LoudRelu::info;
  static void run(Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] > 0 ? x[i] + 1000 : 0;
  }
};

using Operators = OperatorList<BlendOnHost, BlendOnDevice, LeadingOnHost, LeadingOnDevice>;

}  // namespace own
