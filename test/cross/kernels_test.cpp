// SPDX-License-Identifier: Apache-2.0
//
// The vector kernels as a processor without vectors and without an operating system has them, where
// googletest does not run: formulas over all floats, and every depthwise window and some
// convolutions against loops in double precision. Prints what failed; the exit status counts it.
#include "board.h"
#include "kernels_cpu/gemm/conv.h"
#include "kernels_cpu/gemm/depthwise.h"
#include "kernels_cpu/gemm/pack.h"
#include "test/kernels/math/formulas.h"

namespace {

using namespace intarsia;       // NOLINT(google-build-using-namespace)
using namespace intarsia::cpu;  // NOLINT(google-build-using-namespace)

int failures = 0;

void expect(bool right, const char* what) {
  if (right) return;
  ++failures;
  board::print("wrong: ");
  board::print(what);
  board::print("\n");
}

constexpr int kMost = 4096;
float input[kMost], weights[kMost], packed[kMost], output[kMost];
float bias[64], residual[kMost];
alignas(64) std::byte workspace[1 << 14];

void fill(float* values, int count) {
  static uint32_t state = 1;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    values[i] = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
  }
}

// The largest error of `output`, as a part of what is allowed.
double error_of(const ConvShape& s, double upper) {
  const int64_t channels = s.in_c / s.groups;
  double worst = 0;
  for (int64_t pixel = 0; pixel < s.out_h * s.out_w; ++pixel) {
    for (int64_t o = 0; o < s.out_c; ++o) {
      double sum = double{bias[o]} + double{residual[pixel * s.out_c + o]};
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t i = 0; i < s.kernel_h; ++i) {
          for (int64_t j = 0; j < s.kernel_w; ++j) {
            const int64_t y = pixel / s.out_w * s.stride_h - s.pad_top + i * s.dilation_h;
            const int64_t x = pixel % s.out_w * s.stride_w - s.pad_left + j * s.dilation_w;
            if (y < 0 || y >= s.in_h || x < 0 || x >= s.in_w) continue;
            sum +=
                double{input[(y * s.in_w + x) * s.in_c + o / (s.out_c / s.groups) * channels + c]} *
                double{weights[((o * channels + c) * s.kernel_h + i) * s.kernel_w + j]};
          }
        }
      }
      sum = sum < 0 ? 0 : sum > upper ? upper : sum;
      worst = std::fmax(worst, std::fabs(output[pixel * s.out_c + o] - sum) / 1e-5);
    }
  }
  return worst;
}

Epilogue bounds() {
  return bounds_of({Activation::kClip, 0, 0.75f});
}

// A window at all edges: padding before and after, extents that are no multiple of a group.
template <int Cols, int Stride>
void test_depthwise(int cols, int stride, int dilation, const char* what) {
  ConvShape s;
  s.groups = s.in_c = s.out_c = 5;
  s.in_h = 9;
  s.in_w = 11;
  s.kernel_h = 3;
  s.kernel_w = cols;
  s.stride_h = s.stride_w = stride;
  s.dilation_h = s.dilation_w = dilation;
  s.pad_top = dilation;
  s.pad_left = cols / 2 * dilation;
  s.out_h = (s.in_h - 1) / stride + 1;
  s.out_w = (s.in_w - 1) / stride + 1;
  s.in_pitch = s.in_c;
  s.out_pitch = s.out_c;
  fill(input, kMost);
  fill(weights, kMost);
  fill(bias, 64);
  fill(residual, kMost);
  fill(output, kMost);
  pack_depthwise(weights, s.in_c, s.kernel_h * s.kernel_w, packed);
  DepthwiseArgs args{s, input, packed, output, bias, residual, bounds()};
  args.kernel = depthwise_kernel<DepthwiseWindow<Cols, Stride>>(detect_isa());
  depthwise_run(args, 0, depthwise_units(s));
  expect(error_of(s, 0.75) <= 1, what);
}

void test_conv(int in_c, int out_c, int kernel, int groups, const char* what) {
  ConvShape s;
  s.in_c = in_c;
  s.out_c = out_c;
  s.groups = groups;
  s.in_h = 7;
  s.in_w = 6;
  s.kernel_h = s.kernel_w = kernel;
  s.pad_top = s.pad_left = kernel / 2;
  s.out_h = s.in_h;
  s.out_w = s.in_w;
  s.in_pitch = in_c;
  s.out_pitch = out_c;
  fill(input, kMost);
  fill(weights, kMost);
  fill(bias, 64);
  fill(residual, kMost);
  fill(output, kMost);
  pack_conv(weights, groups, out_c / groups, in_c / groups, kernel * kernel, packed);
  ConvArgs args;
  args.shape = s;
  args.input = input;
  args.weights = packed;
  args.output = output;
  args.bias = bias;
  args.residual = residual;
  args.residual_pitch = out_c;
  args.epilogue = bounds();
  args.isa = detect_isa();
  if (conv_workspace_bytes(s) > sizeof workspace) return expect(false, "too large");
  conv_run(args, 0, conv_units(s), workspace);
  expect(error_of(s, 0.75) <= 1, what);
}

}  // namespace

int main() {
#if defined(__aarch64__)
  constexpr Isa kBest = Isa::kNeon;
#else
  constexpr Isa kBest = Isa::kPortable;
#endif
  expect(compiled_isa(detect_isa()) == kBest, "the instruction set");
  const Isa chosen = pick_isa(detect_isa(), [](auto i) { return decltype(i)::value; });
  expect(chosen == kBest, "the instruction set that is chosen");
  test_depthwise<3, 1>(3, 1, 1, "depthwise 3x1");
  test_depthwise<3, 1>(3, 2, 2, "depthwise 3x1, dilation 2");
  test_depthwise<3, 2>(3, 2, 1, "depthwise 3x2");
  test_depthwise<5, 1>(5, 1, 1, "depthwise 5x1");
  test_depthwise<5, 2>(5, 2, 1, "depthwise 5x2");
  test_depthwise<7, 1>(7, 1, 1, "depthwise 7x1");
  test_depthwise<0, 0>(3, 1, 1, "depthwise");
  test_depthwise<0, 0>(4, 3, 2, "depthwise, even kernel");
  test_conv(3, 20, 3, 1, "convolution by strips");
  test_conv(12, 20, 3, 1, "convolution by taps");
  test_conv(12, 8, 3, 4, "convolution in groups");
  test_conv(16, 33, 1, 1, "product");
  constexpr uint32_t kStep =
      6700417;  // 641 floats: the C library computes doubles in software here
  for (const test::Formula& formula : test::kVectorFormulas) {
    expect(test::check(formula, detect_isa(), kStep).used <= 1, formula.name);
  }
  for (const test::Formula& formula : test::kScalarFormulas) {
    expect(test::check(formula, Isa::kPortable, kStep).used <= 1, formula.name);
  }
  board::print(failures == 0 ? "ok\n" : "failed\n");
  return failures;
}
