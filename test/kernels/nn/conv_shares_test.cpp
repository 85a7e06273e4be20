// SPDX-License-Identifier: Apache-2.0
//
// Threads have even shares of convolutions, by whatever kernel, and pixels of their own where these
// are more than the weights: then they find in their caches what they wrote before.
#include "core/operators/nn/conv.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/common/thread_shares.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

struct SharedConvolution {
  int32_t size, channels, filters, kernel, group = 1;

  int64_t multiply_adds() const {
    return int64_t{size} * size * filters * kernel * kernel * channels / group;
  }
  int64_t weights() const { return int64_t{filters} * kernel * kernel * channels / group; }
  int64_t pixels() const { return int64_t{size} * size * (channels + filters); }
};

std::ostream& operator<<(std::ostream& out, const SharedConvolution& i) {
  return out << i.size << " x " << i.size << " x " << i.channels << " to " << i.filters << ", "
             << i.kernel << " x " << i.kernel << " in " << i.group;
}

template <class Attributes>
Attributes attributes_of(const SharedConvolution& conv) {
  Attributes attributes;
  attributes.group = conv.group;
  attributes.channels_last = 1;
  const int64_t pad = conv.kernel / 2;
  attributes.window.pads.count = 4;
  for (int i = 0; i < 4; ++i) attributes.window.pads[i] = pad;
  return attributes;
}

/// What two threads write of a convolution of floats, or, if `bytes`, of codes.
ThreadShares shares_of(const std::string& variant, const SharedConvolution& i, bool bytes) {
  std::mt19937 engine(7);
  ThreadShares shares(2);
  Node node;
  const Dims x{1, i.size, i.size, i.channels}, y{1, i.size, i.size, i.filters};
  const Dims w{i.filters, i.channels / i.group, i.kernel, i.kernel};
  const auto input = [&](DataType type, const Dims& dims, double low, double high) {
    node.input(type, dims, random_numbers(type, count_of(dims), engine, low, high));
  };
  if (bytes) {
    input(DataType::kUint8, x, 0, 255);
    input(DataType::kInt8, w, -127, 127);
    input(DataType::kFloat, {}, 1e-3, 2e-3);
    input(DataType::kUint8, {}, 128, 128);
    node.attributes(attributes_of<IntegerConvAttributes>(i));
  } else {
    input(DataType::kFloat, x, -1, 1);
    input(DataType::kFloat, w, -1, 1);
    node.attributes(attributes_of<ConvAttributes>(i));
  }
  node.constant(1).output(bytes ? DataType::kUint8 : DataType::kFloat, y);
  node.isa(detect_isa()).shares(shares);
  const std::string kernel =
      bytes ? "intarsia:ConvRequantize" + variant + "<uint8, int8, uint8>" : "Conv" + variant;
  EXPECT_TRUE(node.run(kernel).ok()) << kernel << " " << i << ": " << node.diagnostic().what;
  return shares;
}

struct SharedKernel {
  const char* variant;
  bool bytes = false;
  int32_t kernel = 0;  ///< 0: 1 or 3.
  bool depthwise = false;
  int most_uneven = 5;  ///< Shapes of which a thread has a fifth more than its part, in percent.
};
/// Tiles of Winograd's are few, and its filters are parted by 32.
constexpr SharedKernel kSharedKernels[] = {
    {".packed<float>"},
    {".winograd_4x4<float>", false, 3, false, 30},
    {".winograd_2x2<float>", false, 3, false, 12},
    {".depthwise_3x1<float>", false, 3, true},
    {".depthwise_5x1<float>", false, 5, true},
    {".panels", true, 0, false, 8},
    {".depthwise", true, 3, true},
};

/// Fewer tell little of how many are uneven.
constexpr uint32_t kSeeds = kSlowBuild ? 25 : 250;

/// False for shapes whose work two threads would not share well, or that take long.
bool draw(SharedConvolution& conv, const SharedKernel& kernel, uint32_t seed) {
  cpu::Random random(seed);
  conv.size = static_cast<int32_t>(random.between(6, 40));
  conv.channels = static_cast<int32_t>(random.between(4, 80)) * 4;
  conv.filters = static_cast<int32_t>(random.between(4, 300));
  conv.kernel = kernel.kernel != 0 ? kernel.kernel : random.coin() ? 1 : 3;
  if (kernel.depthwise) conv.group = conv.filters = conv.channels;
  const int64_t least = kernel.depthwise ? 1 << 18 : 1 << 23;
  return conv.multiply_adds() >= least && conv.multiply_adds() <= 1 << 28;
}

TEST(ConvShares, AreEven) {
  for (const SharedKernel& kernel : kSharedKernels) {
    int shapes = 0, uneven = 0;
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      SharedConvolution conv{};
      if (!draw(conv, kernel, 300 + seed)) continue;
      const int64_t percent = shares_of(kernel.variant, conv, kernel.bytes).unevenness();
      EXPECT_LE(percent, 75) << kernel.variant << " " << conv;
      ++shapes;
      uneven += percent > 20 ? 1 : 0;
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(shapes, 0) << kernel.variant;
    if (kSlowBuild) continue;
    EXPECT_LE(uneven * 100, kernel.most_uneven * shapes)
        << kernel.variant << ": " << uneven << " of " << shapes << " shapes";
  }
}

TEST(ConvShares, ArePixels) {
  for (const SharedKernel& kernel : {SharedKernel{".packed<float>"}, {".panels", true}}) {
    int shapes = 0;
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      SharedConvolution conv{};
      if (!draw(conv, kernel, 500 + seed)) continue;
      if (conv.weights() > std::min<int64_t>(conv.pixels() / 2, 1 << 17)) continue;
      const ThreadShares shares = shares_of(kernel.variant, conv, kernel.bytes);
      const auto all = shares.shares()[0].bytes + shares.shares()[1].bytes;
      // They may meet within a block of rows.
      EXPECT_LE((shares.shares()[0].last - shares.shares()[1].first) * 2, all)
          << kernel.variant << " " << conv;
      ++shapes;
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(shapes, 0) << kernel.variant;
  }
}

/// What two threads write of a transposed convolution.
ThreadShares transposed_shares(const SharedConvolution& i, int32_t stride, bool depthwise) {
  std::mt19937 engine(7);
  ThreadShares shares(2);
  Node node;
  const int32_t out = (i.size - 1) * stride + i.kernel;
  const auto input = [&](const Dims& dims) {
    node.input(DataType::kFloat, dims,
               random_numbers(DataType::kFloat, count_of(dims), engine, -1, 1));
  };
  input({1, i.size, i.size, i.channels});
  input({i.channels, i.filters / i.group, i.kernel, i.kernel});
  ConvTransposeAttributes attributes;
  attributes.group = i.group;
  attributes.channels_last = 1;
  attributes.window.strides.count = 2;
  for (int axis = 0; axis < 2; ++axis) attributes.window.strides[axis] = stride;
  node.attributes(attributes).constant(1).output(DataType::kFloat, {1, out, out, i.filters});
  node.isa(detect_isa()).shares(shares);
  const std::string kernel =
      depthwise ? "ConvTranspose.depthwise<float>" : "ConvTranspose.packed<float>";
  EXPECT_TRUE(node.run(kernel).ok()) << kernel << " " << i << ": " << node.diagnostic().what;
  return shares;
}

// Phases of the output, whose pixels lie between each other, are cut alike.
TEST(ConvTransposeShares, ArePixelsOfAllPhases) {
  for (const bool depthwise : {false, true}) {
    int shapes = 0, uneven = 0;
    for (uint32_t seed = 0; seed < kSeeds / 2; ++seed) {
      cpu::Random random(700 + seed);
      SharedConvolution conv{static_cast<int32_t>(random.between(12, 40)),
                             static_cast<int32_t>(random.between(2, 16)) * 8, 0,
                             static_cast<int32_t>(random.between(2, 5))};
      conv.filters = depthwise ? conv.channels : static_cast<int32_t>(random.between(16, 64));
      if (depthwise) conv.group = conv.channels;
      const auto stride = static_cast<int32_t>(random.between(1, 3));
      if (conv.multiply_adds() < 1 << 21 || conv.weights() > conv.pixels() / 2) continue;
      const ThreadShares shares = transposed_shares(conv, stride, depthwise);
      const auto all = shares.shares()[0].bytes + shares.shares()[1].bytes;
      EXPECT_LE((shares.shares()[0].last - shares.shares()[1].first) * 2, all)
          << conv << " stride " << stride;
      uneven += shares.unevenness() > 20 ? 1 : 0;
      ++shapes;
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(shapes, 0);
    if (kSlowBuild) continue;
    EXPECT_LE(uneven * 100, 12 * shapes) << uneven << " of " << shapes;
  }
}

}  // namespace
}  // namespace intarsia::test
