// SPDX-License-Identifier: Apache-2.0
//
// Resize: the CUDA kernels' own sources in the emulator, beside the CPU's reference kernel.
#include "core/operators/movement/resize.h"
#include "test/cuda/kernel_cases.h"

namespace intarsia::test {
namespace {

using A = ResizeAttributes;

std::vector<double> sixteenths(int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 37 % 101) / 16;
  return values;
}

/// By sizes.
Node resize_node(DataType type, const Dims& x, const Dims& y, const A& a) {
  Node node;
  node.input(type, x, sixteenths(count_of(x))).absent().absent();
  node.input<int64_t>({static_cast<int32_t>(y.size())}, {y.begin(), y.end()});
  node.output(type, y).attributes(a);
  return node;
}
Node by_scales(const Dims& x, const Dims& y, const std::vector<float>& scales, const A& a) {
  Node node;
  node.input(kFloat, x, sixteenths(count_of(x))).input<float>({0}, {});
  node.input<float>({static_cast<int32_t>(scales.size())}, scales);
  node.output(kFloat, y).attributes(a);
  return node;
}

struct ResizeCase {
  Dims x, y;
};
const ResizeCase kResizes[] = {
    {{2, 3, 5, 7}, {2, 3, 10, 14}},
    {{2, 3, 5, 7}, {2, 3, 3, 9}},    // channels first
    {{2, 5, 7, 3}, {2, 9, 4, 3}},    // channels last
    {{2, 5, 7, 16}, {2, 9, 4, 16}},  // packs
    {{2, 3, 5, 7}, {2, 3, 5, 15}},
    {{2, 3, 5, 7}, {2, 3, 2, 7}},  // one axis
    {{2, 4, 3, 5, 2}, {2, 7, 3, 3, 5}},
    {{2, 4, 3, 5}, {2, 7, 3, 9}},  // a group between two
    {{5}, {11}},
    {{3, 5}, {3, 5}},
    {{1, 1}, {4, 3}},
};

TEST(CudaResize, EveryModeAndCoordinate) {
  for (const int32_t mode : {A::kNearest, A::kLinear, A::kCubic}) {
    for (int32_t coordinates = 0; coordinates <= A::kTfHalfPixelForNn; ++coordinates) {
      if (coordinates == A::kCropAndResize) continue;
      A a;
      a.mode = mode;
      a.coordinates = coordinates;
      a.exclude_outside = coordinates % 2;
      a.nearest_mode = coordinates % 4;
      for (const ResizeCase& c : kResizes) {
        const auto make = [&] { return resize_node(kFloat, c.x, c.y, a); };
        agree(on_device("Resize.cuda<float>"), cpu_kernel("Resize<float>"), make);
      }
    }
  }
}

TEST(CudaResize, NearestOfEveryWidth) {
  for (const auto& [type, bits] : {std::pair(DataType::kUint8, "8"), std::pair(kHalf, "16"),
                                   std::pair(kFloat, "32"), std::pair(DataType::kInt64, "64")}) {
    const std::string device = std::string("Resize.cuda nearest<") + bits + " bits>";
    const std::string host = std::string("Resize.nearest<") + bits + " bits>";
    KernelUnderTest reference = cpu_kernel(host);
    for (int32_t rounding = 0; rounding <= A::kCeil; ++rounding) {
      for (const int32_t coordinates : {A::kAsymmetric, A::kHalfPixel, A::kAlignCorners}) {
        A a;
        a.coordinates = coordinates;
        a.nearest_mode = rounding;
        for (const ResizeCase& c : kResizes) {
          agree(
              on_device(device), reference, [&, t = type] { return resize_node(t, c.x, c.y, a); },
              0);
        }
      }
    }
  }
}

TEST(CudaResize, ReductionsAreSmoothed) {
  for (const int32_t mode : {A::kLinear, A::kCubic}) {
    A a;
    a.mode = mode;
    a.antialias = 1;
    agree(on_device("Resize.cuda<float>"), cpu_kernel("Resize<float>"), [&] {
      return resize_node(kFloat, {2, 11, 17, 3}, {2, 4, 5, 3}, a);
    });
  }
}

TEST(CudaResize, HalvesAreComputedInFloat) {
  for (const int32_t mode : {A::kNearest, A::kLinear, A::kCubic}) {
    A a;
    a.mode = mode;
    agree(
        on_device("Resize.cuda<float16>"), cpu_kernel("Resize<float16>"),
        [&] {
          return resize_node(kHalf, {2, 3, 5, 7}, {2, 3, 9, 12}, a);
        },
        1e-3);
  }
}

TEST(CudaResize, ScalesMayBeFractions) {
  A a;
  a.mode = A::kLinear;
  for (const float scale : {1.5f, 0.7f, 2.0f, 1.1f}) {
    const auto extent = [&](int in) {
      return static_cast<int32_t>(static_cast<float>(in) * scale);
    };
    agree(on_device("Resize.cuda<float>"), cpu_kernel("Resize<float>"), [&] {
      return by_scales({1, 2, 6, 9}, {1, 2, extent(6), extent(9)}, {1, 1, scale, scale}, a);
    });
  }
}

TEST(CudaResize, CropsLieInsideOrAreFilled) {
  for (const int32_t mode : {A::kNearest, A::kLinear}) {
    A a;
    a.mode = mode;
    a.coordinates = A::kCropAndResize;
    a.extrapolation_value = 7.5f;
    a.axes.push(1);
    a.axes.push(2);
    const auto make = [&] {
      Node node;
      node.input(kFloat, {2, 7, 9}, sixteenths(126));
      node.input<float>({4}, {0.2f, -0.3f, 0.8f, 1.2f}).absent().input<int64_t>({2}, {5, 8});
      node.output(kFloat, {2, 5, 8}).attributes(a);
      return node;
    };
    agree(on_device("Resize.cuda<float>"), cpu_kernel("Resize<float>"), make);
    EXPECT_EQ(make().check(on_device("Resize.cuda nearest<32 bits>")).code(), Code::kUnsupported);
  }
}

TEST(CudaResize, MistakesAreFound) {
  A a;
  a.mode = A::kCubic;
  expect_mistakes_found(on_device("Resize.cuda<float>"), cpu_kernel("Resize<float>"), [&] {
    return resize_node(kFloat, {5, 7}, {9, 13}, a);
  });
}

TEST(CudaResize, WhatTheWorkspaceDoesNotHoldIsRefused) {
  A a;
  a.mode = A::kLinear;
  Node node = resize_node(kFloat, {5, 7}, {9, 13}, a);
  KernelUnderTest without = on_device("Resize.cuda<float>");
  without.workspace = nullptr;
  EXPECT_EQ(node.run(without).code(), Code::kUnsupported);
  Node four = resize_node(kFloat, {1, 2, 3, 4}, {2, 3, 4, 5}, a);
  EXPECT_EQ(four.run(on_device("Resize.cuda<float>")).code(), Code::kUnsupported);
  Node empty = resize_node(kFloat, {0, 2}, {3, 3}, a);
  EXPECT_EQ(empty.run(on_device("Resize.cuda<float>")).code(), Code::kWrongExtent);
}

}  // namespace
}  // namespace intarsia::test
