// SPDX-License-Identifier: Apache-2.0
//
// Convolution and depthwise convolution of the f32 GEMM family against loops in double precision,
// for every instruction set of the machine. Operands as in gemm_test.cpp.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "kernels_cpu/gemm/conv.h"
#include "kernels_cpu/gemm/depthwise.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/gemm/winograd.h"
#include "test/kernels/gemm/harness.h"
#include "test/slow_build.h"

namespace intarsia::cpu {
namespace {

class ConvFamily : public ::testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(Isas, ConvFamily, ::testing::ValuesIn(available_isas()),
                         [](const auto& info) { return isa_name(info.param); });

struct ConvCase {
  ConvShape shape;
  int64_t residual_pad;
  bool bias, residual;
  ActivationSpec activation;
};

std::string describe(const ConvShape& s) {
  std::string text;
  for (int64_t v : {s.batch,      s.in_d,       s.in_h,      s.in_w,     s.in_c,     s.out_d,
                    s.out_h,      s.out_w,      s.out_c,     s.kernel_d, s.kernel_h, s.kernel_w,
                    s.stride_d,   s.dilation_d, s.pad_front, s.stride_h, s.stride_w, s.dilation_h,
                    s.dilation_w, s.pad_top,    s.pad_left,  s.groups,   s.in_pitch, s.out_pitch}) {
    text += " " + std::to_string(v);
  }
  return text;
}

// The sum of one output element, weights in ONNX's order.
Sum convolve(const ConvShape& s, const float* input, const float* weights, int64_t b, int64_t z,
             int64_t y, int64_t x, int64_t o) {
  const int64_t channels = s.in_c / s.groups;
  const int64_t first = o / (s.out_c / s.groups) * channels;
  Sum sum;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < s.kernel_d * s.kernel_h * s.kernel_w; ++tap) {
      const int64_t h = tap / s.kernel_w / s.kernel_h, i = tap / s.kernel_w % s.kernel_h;
      const int64_t in_z = z * s.stride_d - s.pad_front + h * s.dilation_d;
      const int64_t in_y = y * s.stride_h - s.pad_top + i * s.dilation_h;
      const int64_t in_x = x * s.stride_w - s.pad_left + tap % s.kernel_w * s.dilation_w;
      if (in_z < 0 || in_z >= s.in_d || in_y < 0 || in_y >= s.in_h) continue;
      if (in_x < 0 || in_x >= s.in_w) continue;
      const int64_t pixel = ((b * s.in_d + in_z) * s.in_h + in_y) * s.in_w + in_x;
      const float w = weights[(o * channels + c) * s.kernel_d * s.kernel_h * s.kernel_w + tap];
      sum.add(double{input[pixel * s.in_pitch + first + c]} * w);
    }
  }
  return sum;
}

// Runs `run(begin, end)` whole and unit by unit into `output`, and compares with the definition.
template <class Run>
void check_output(const ConvCase& p, const std::vector<float>& input,
                  const std::vector<float>& weights, const std::vector<float>& bias,
                  const std::vector<float>& residual, std::vector<float>& output, int64_t units,
                  Run run, double loss = 1) {
  const ConvShape& s = p.shape;
  run(0, units);
  for (int64_t pixel = 0; pixel < s.batch * s.out_d * s.out_h * s.out_w; ++pixel) {
    const int64_t x = pixel % s.out_w, y = pixel / s.out_w % s.out_h;
    const int64_t plane = pixel / s.out_w / s.out_h, b = plane / s.out_d, z = plane % s.out_d;
    for (int64_t o = 0; o < s.out_c; ++o) {
      Sum sum = convolve(s, input.data(), weights.data(), b, z, y, x, o);
      if (p.bias) sum.add(bias[o]);
      if (loss > 1) sum.spread(s.kernel_d * s.kernel_h * s.kernel_w * s.in_c);
      if (p.residual) sum.add(residual[pixel * (s.out_c + p.residual_pad) + o]);
      ASSERT_TRUE(close(p.activation, sum, output[pixel * s.out_pitch + o], loss))
          << "image " << b << " z " << z << " y " << y << " x " << x << " channel " << o;
    }
    for (int64_t o = s.out_c; o < s.out_pitch; ++o) {
      const auto at = static_cast<size_t>(pixel * s.out_pitch + o);
      if (at < output.size()) {
        ASSERT_EQ(output[at], kUntouched);
      }
    }
  }
  const std::vector<float> whole = output;
  for (float& v : output) v = kUntouched;
  for (int64_t unit = units; unit-- > 0;) run(unit, unit + 1);
  EXPECT_EQ(std::memcmp(whole.data(), output.data(), output.size() * sizeof(float)), 0)
      << "the result depends on the split of the units";
}

int64_t pixel_floats(int64_t pixels, int64_t channels, int64_t pitch) {
  return (pixels - 1) * pitch + channels;
}

// Winograd's transforms mix the terms of a whole tile, and their factors add to the rounding. A
// wrong operand is off by thousands of these tolerances.
constexpr double kLosses[] = {1, 0, 1.5, 0, 3};

// `winograd` is the tile of winograd.h, 0 for the sums as they are.
void check_conv(Isa isa, const ConvCase& p, uint32_t seed, int winograd = 0) {
  const ConvShape& s = p.shape;
  SCOPED_TRACE("seed " + std::to_string(seed) + " shape" + describe(s));
  Random random(seed);
  const int64_t channels = s.in_c / s.groups;
  const int64_t out_pixels = s.batch * s.out_d * s.out_h * s.out_w;
  const int64_t taps = s.kernel_d * s.kernel_h * s.kernel_w;
  const int64_t r_pitch = s.out_c + p.residual_pad;
  const auto input =
      random.floats(pixel_floats(s.batch * s.in_d * s.in_h * s.in_w, s.in_c, s.in_pitch));
  const auto weights = random.floats(s.out_c * channels * taps);
  const auto bias = random.floats(s.out_c);
  const auto residual = random.floats(pixel_floats(out_pixels, s.out_c, r_pitch));
  std::vector<float> output(static_cast<size_t>(pixel_floats(out_pixels, s.out_c, s.out_pitch)),
                            kUntouched);
  std::vector<float> packed;
  if (winograd == 0) {
    packed.resize(
        static_cast<size_t>(packed_floats(s.groups, taps * channels, s.out_c / s.groups)));
    pack_conv(weights.data(), s.groups, s.out_c / s.groups, channels, taps, packed.data());
  } else {
    const CheckedInt bytes = winograd_bytes(winograd, s.kernel_d, channels, s.out_c);
    packed.resize(static_cast<size_t>(bytes.value()) / sizeof(float));
    pack_winograd(winograd, weights.data(), s.out_c, channels, s.kernel_d, packed.data());
  }
  ConvArgs args{s, input.data(), packed.data(), output.data()};
  args.bias = p.bias ? bias.data() : nullptr;
  args.residual = p.residual ? residual.data() : nullptr;
  args.residual_pitch = r_pitch;
  args.epilogue = epilogue_of(p.activation, isa);
  args.isa = isa;
  const CheckedInt bytes =
      winograd == 0 ? conv_workspace_bytes(s) : winograd_workspace_bytes(winograd, s);
  const auto run = [&](int64_t begin, int64_t end) {
    // Fresh and full of NaN each time: nothing may be expected of it.
    std::vector<uint8_t> workspace(static_cast<size_t>(bytes.value()), 0xff);
    if (winograd == 0) {
      conv_run(args, begin, end, workspace.data());
    } else {
      winograd_run(winograd, args, begin, end, workspace.data());
    }
  };
  const int64_t units = winograd == 0 ? conv_units(s) : winograd_units(winograd, s);
  check_output(p, input, weights, bias, residual, output, units, run, kLosses[winograd]);
}

// Strides, dilations and extents at their limits: the strip of a block does not fit 64 bits, and
// must not look small.
TEST(ConvWorkspace, IsNeverLessThanTheStripOfTwoColumns) {
  Random random(7);
  const auto limit = [&random](int64_t most) {
    return random.between(0, 2) == 0 ? random.between(1, 4) : most - random.between(0, 3);
  };
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  int beyond = 0;
  for (int i = 0; i < 2000; ++i) {
    ConvShape s;
    s.in_c = random.between(1, 8);
    s.out_c = 1;
    s.kernel_h = random.between(1, 4);
    s.kernel_w = random.between(2, 4);
    s.out_h = limit(kMost);
    s.out_w = limit(kMost);
    s.stride_h = limit(kMost);
    s.stride_w = limit(kMost);
    s.dilation_h = limit(kMost);
    s.in_h = s.in_w = limit(kMost);
    const CheckedInt bytes = conv_workspace_bytes(s);
    const auto real = [](int64_t value) { return static_cast<double>(value); };
    const double height = real(s.kernel_h - 1) * real(s.dilation_h) + 1;
    const double width = (s.out_w > 1 ? real(s.stride_w) : 0.0) + real(s.kernel_w);
    const double least = height * width * real(s.in_c) * sizeof(float);
    beyond += bytes.exact() ? 0 : 1;
    ASSERT_GE(real(bytes.value()) * (1 + 1e-12), std::min(least, 0x1p63)) << describe(s);
  }
  EXPECT_GT(beyond, 100);
}

// A random window and the output extent that some padding at the end gives; false if empty.
bool draw_axis(Random& random, int64_t extent, int64_t most_taps, int64_t& kernel, int64_t& stride,
               int64_t& dilation, int64_t& pad, int64_t& out) {
  kernel = random.between(1, most_taps);
  stride = random.between(1, 3);
  dilation = random.coin() ? 1 : random.between(1, 3);
  pad = random.between(0, (kernel - 1) * dilation);
  const int64_t pad_end = random.between(0, (kernel - 1) * dilation);
  const int64_t room = extent + pad + pad_end - (kernel - 1) * dilation - 1;
  out = room < 0 ? 0 : room / stride + 1;
  return out > 0;
}

bool draw_conv(Random& random, ConvShape& s) {
  s.batch = random.between(1, 2);
  s.in_h = random.coin() ? 1 : random.between(1, 14);
  s.in_w = random.between(1, 20);
  s.in_pitch = s.in_c + (random.coin() ? 0 : random.between(1, 5));
  s.out_pitch = s.out_c + (random.coin() ? 0 : random.between(1, 5));
  return draw_axis(random, s.in_h, s.in_h == 1 ? 1 : 5, s.kernel_h, s.stride_h, s.dilation_h,
                   s.pad_top, s.out_h) &&
         draw_axis(random, s.in_w, 5, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left, s.out_w);
}

bool draw_depth(Random& random, ConvShape& s) {
  s.in_d = random.between(1, 5);
  return draw_axis(random, s.in_d, 3, s.kernel_d, s.stride_d, s.dilation_d, s.pad_front, s.out_d);
}

TEST_P(ConvFamily, RandomConvolutions) {
  const uint32_t base = 771000;
  int checked = 0;
  for (uint32_t trial = 0; checked < 250; ++trial) {
    Random random(base + trial);
    ConvCase p{};
    ConvShape& s = p.shape;
    s.groups = random.between(0, 2) == 0 ? random.between(2, 4) : 1;
    s.in_c = s.groups * random.between(1, random.coin() ? 4 : 20);
    s.out_c = s.groups * random.between(1, random.coin() ? 5 : 40);
    if (!draw_conv(random, s)) continue;
    if (trial % 3 == 0 && !draw_depth(random, s)) continue;
    p.bias = random.coin();
    p.residual = random.coin();
    p.residual_pad = random.between(0, 2);
    p.activation = spec_of(static_cast<int>(trial) % kActivations);
    check_conv(GetParam(), p, base + trial);
    if (HasFatalFailure()) return;
    ++checked;
  }
}

// Shapes that reach each way of conv.cpp with several blocks, passes over K and parts of a row.
TEST_P(ConvFamily, ConvolutionBlocksAndPasses) {
  ConvCase p{};
  p.bias = p.residual = true;
  p.activation = spec_of(1);
  // batch; input, output: h, w, c; kernel; stride; dilation; padding; groups
  const auto check = [&](const std::array<int64_t, 16>& v) {
    ConvShape s;
    s.batch = v[0], s.in_h = v[1], s.in_w = v[2], s.in_c = v[3];
    s.out_h = v[4], s.out_w = v[5], s.out_c = v[6], s.kernel_h = v[7], s.kernel_w = v[8];
    s.stride_h = v[9], s.stride_w = v[10], s.dilation_h = v[11], s.dilation_w = v[12];
    s.pad_top = v[13], s.pad_left = v[14], s.groups = v[15];
    s.in_pitch = s.in_c;
    s.out_pitch = s.out_c;
    p.shape = s;
    check_conv(GetParam(), p, 91);
  };
  check({1, 30, 40, 3, 15, 20, 35, 7, 7, 2, 2, 1, 1, 3, 3, 1});    // strip of rows
  check({2, 1, 900, 1, 1, 449, 20, 1, 5, 1, 2, 1, 1, 0, 1, 1});    // strip of a part of a row
  check({1, 3, 300, 4, 3, 300, 9, 3, 3, 1, 1, 1, 1, 1, 1, 1});     // the same in rows
  check({1, 9, 9, 80, 9, 9, 40, 3, 3, 1, 1, 1, 1, 1, 1, 1});       // several taps in a pass
  check({1, 5, 6, 300, 5, 6, 33, 3, 3, 1, 1, 1, 1, 1, 1, 1});      // parts of a tap
  check({1, 20, 20, 24, 10, 10, 130, 1, 1, 2, 2, 1, 1, 0, 0, 1});  // 1 x 1 with a stride
  check({1, 20, 20, 24, 20, 20, 130, 1, 1, 1, 1, 1, 1, 0, 0, 1});  // matrix product
  check({1, 16, 16, 24, 16, 16, 48, 3, 3, 1, 1, 1, 1, 1, 1, 6});   // groups
  check({1, 40, 40, 2, 20, 20, 8, 11, 13, 2, 2, 1, 1, 5, 6, 1});   // large window
  check({1, 40, 40, 9, 20, 20, 8, 11, 13, 2, 2, 1, 1, 5, 6, 1});   // the same without a strip
  // Taps that meet padding alone: several in a pass, parts of a tap, in groups, all of a tile.
  check({1, 10, 12, 80, 10, 12, 40, 3, 3, 1, 1, 9, 9, 9, 9, 1});
  check({1, 10, 12, 400, 10, 12, 33, 3, 3, 1, 1, 9, 5, 9, 5, 1});
  check({1, 16, 16, 24, 16, 16, 48, 3, 3, 1, 1, 14, 14, 14, 14, 6});
  check({2, 3, 3, 20, 15, 15, 33, 3, 3, 1, 1, 1, 1, 7, 7, 1});
  check({1, 3, 3, 400, 15, 15, 33, 3, 3, 1, 1, 1, 1, 7, 7, 1});
}

TEST_P(ConvFamily, RandomWinograd) {
  for (uint32_t trial = 0; trial < test::part_of(120); ++trial) {
    Random random(553000 + trial);
    ConvCase p{};
    ConvShape& s = p.shape;
    s.batch = random.between(1, 3);
    s.in_c = random.between(1, random.coin() ? 20 : 70);
    s.out_c = random.between(1, random.coin() ? 20 : 90);
    s.in_pitch = s.in_c + random.between(0, 2);
    s.out_pitch = s.out_c + random.between(0, 2);
    s.kernel_h = s.kernel_w = 3;
    s.pad_top = random.between(-1, 4);
    s.pad_left = random.between(-1, 4);
    s.in_h = random.between(1, 12);
    s.in_w = random.between(1, 14);
    s.out_h = random.between(1, 13);
    s.out_w = random.between(1, 13);
    if (trial % 3 == 0) {
      s.kernel_d = random.between(1, 3);
      s.in_d = random.between(1, 4);
      s.out_d = random.between(1, 4);
      s.stride_d = random.between(1, 2);
      s.dilation_d = random.between(1, 2);
      s.pad_front = random.between(0, 2);
    }
    p.bias = random.coin();
    p.residual = random.coin();
    p.residual_pad = random.between(0, 2);
    p.activation = spec_of(static_cast<int>(trial) % kActivations);
    ASSERT_TRUE(is_winograd(s));
    check_conv(GetParam(), p, trial, trial % 2 == 0 ? 4 : 2);
    if (HasFatalFailure()) return;
  }
}

// Several blocks of tiles, several parts of the filters, passes over many channels, and rows that
// would lie a multiple of 1,024 bytes apart.
TEST_P(ConvFamily, WinogradBlocksAndParts) {
  ConvCase p{};
  p.bias = p.residual = true;
  p.activation = spec_of(1);
  ConvShape& s = p.shape;
  s.kernel_h = s.kernel_w = 3;
  s.pad_top = s.pad_left = 1;
  test::Part part(5);
  for (const int64_t channels : {40, 256, 400}) {
    s.in_h = s.out_h = s.in_w = s.out_w = channels == 40 ? 50 : 13;
    s.in_c = s.in_pitch = channels;
    s.out_c = s.out_pitch = 36;
    for (const int tile : {2, 4}) {
      if (part.takes()) check_conv(GetParam(), p, 3, tile);
    }
  }
}

// What the planned, largest image asks for serves every smaller one.
TEST(WinogradWorkspace, GrowsWithTheImage) {
  ConvShape s;
  s.kernel_h = s.kernel_w = 3;
  s.in_c = s.out_c = 64;
  int64_t last = 0;
  for (s.out_h = s.out_w = 1; s.out_h < 120; ++s.out_h, ++s.out_w) {
    const int64_t bytes = winograd_workspace_bytes(4, s).value();
    EXPECT_GE(bytes, last) << s.out_h;
    last = bytes;
  }
}

template <int Cols, int Stride>
void add_if_fits(const ConvShape& s, Isa isa, std::vector<DepthwiseFunction>& kernels) {
  if (Cols > 0 && (s.kernel_w != Cols || s.stride_w != Stride * s.dilation_w)) return;
  if (Cols > 0 && s.out_c != s.in_c) return;
  kernels.push_back(depthwise_kernel<DepthwiseWindow<Cols, Stride>>(isa));
}

// The one for any window, and that of this window, if it has one.
std::vector<DepthwiseFunction> depthwise_kernels_for(const ConvShape& s, Isa isa) {
  std::vector<DepthwiseFunction> kernels;
  add_if_fits<0, 0>(s, isa, kernels);
  add_if_fits<3, 1>(s, isa, kernels);
  add_if_fits<3, 2>(s, isa, kernels);
  add_if_fits<5, 1>(s, isa, kernels);
  add_if_fits<5, 2>(s, isa, kernels);
  add_if_fits<7, 1>(s, isa, kernels);
  return kernels;
}

TEST_P(ConvFamily, RandomDepthwise) {
  const uint32_t base = 555000;
  int checked = 0;
  for (uint32_t trial = 0; checked < 250; ++trial) {
    Random random(base + trial);
    ConvCase p{};
    ConvShape& s = p.shape;
    s.groups = s.in_c = s.out_c = random.between(1, random.coin() ? 8 : 70);
    if (random.coin()) s.out_c *= random.between(1, 20);
    if (!draw_conv(random, s) || (trial % 2 == 0 && !draw_depth(random, s))) continue;
    if (trial % 3 == 0) {  // the windows that have kernels of their own
      s.kernel_w = random.coin() ? 3 : random.coin() ? 5 : 7;
      s.stride_w = random.between(1, 2);
      s.dilation_w = random.between(1, 2);
      s.pad_left = s.kernel_w / 2 * s.dilation_w;
      if (random.coin()) s.in_w = random.between(30, 300);  // rows are cut, too
      s.out_w = (s.in_w - 1) / s.stride_w + 1;
    }
    p.bias = random.coin();
    p.residual = random.coin();
    p.residual_pad = s.out_pitch - s.out_c;
    p.activation = spec_of(static_cast<int>(trial) % kActivations);
    const uint32_t seed = base + trial;
    SCOPED_TRACE("seed " + std::to_string(seed) + " shape" + describe(s));
    const int64_t taps = s.kernel_d * s.kernel_h * s.kernel_w;
    const auto input =
        random.floats(pixel_floats(s.batch * s.in_d * s.in_h * s.in_w, s.in_c, s.in_pitch));
    const auto weights = random.floats(s.out_c * taps);
    const auto bias = random.floats(s.out_c);
    std::vector<float> packed(weights.size());
    pack_depthwise(weights.data(), s.out_c, taps, packed.data());
    const int64_t pixels = s.batch * s.out_d * s.out_h * s.out_w;
    const auto residual = random.floats(pixel_floats(pixels, s.out_c, s.out_pitch));
    std::vector<float> output(residual.size(), kUntouched);
    DepthwiseArgs args{s, input.data(), packed.data(), output.data()};
    args.bias = p.bias ? bias.data() : nullptr;
    args.residual = p.residual ? residual.data() : nullptr;
    args.epilogue = epilogue_of(p.activation, GetParam());
    for (const DepthwiseFunction kernel : depthwise_kernels_for(s, GetParam())) {
      args.kernel = kernel;
      std::ranges::fill(output, kUntouched);
      check_output(p, input, weights, bias, residual, output, depthwise_units(s),
                   [&](int64_t begin, int64_t end) { depthwise_run(args, begin, end); });
      if (HasFatalFailure()) return;
    }
    ++checked;
  }
}

}  // namespace
}  // namespace intarsia::cpu
