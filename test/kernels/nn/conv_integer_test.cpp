// SPDX-License-Identifier: Apache-2.0
//
// ConvInteger and ConvRequantize, the reference kernels in both layouts and the fast kernels on
// every instruction set, beside naive loops: random windows of 1 to 3 spatial axes, groups, odd and
// even numbers of channels, signed and unsigned bytes, zero points of each form, and of
// ConvRequantize scale and bias of each form.
#include "core/operators/nn/conv.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/nn/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using cpu::Random;

int32_t draw_integer(Random& random, int64_t least, int64_t most) {
  return static_cast<int32_t>(random.between(least, most));
}

struct Bytes {
  DataType type;
  Dims dims;
  Numbers values;
  bool has_zero;
  Numbers zeros;  // one, or one for each filter

  Bytes(DataType of, Dims extents, bool zero, int64_t zero_count, std::mt19937& engine)
      : type(of), dims(std::move(extents)), has_zero(zero) {
    const double low = type == DataType::kInt8 ? -128 : 0;
    values = random_numbers(type, count_of(dims), engine, low, low + 255);
    zeros = random_numbers(type, zero_count, engine, low, low + 255);
  }
  /// Without the zero points, which belong to the positions of the first axis.
  Numbers differences() const {
    Numbers result = values;
    const size_t line = zeros.empty() ? 1 : result.size() / zeros.size();
    for (size_t i = 0; has_zero && i < result.size(); ++i) result[i] -= zeros[i / line];
    return result;
  }
};

struct Convolution {
  NaiveWindow window;
  Dims after, x, w, y;
  int32_t group = 1;

  /// False if the window does not fit.
  bool draw_from(Random& random, bool depthwise) {
    const int spatial = draw_integer(random, 1, 3);
    const int32_t most = random.coin() ? 5 : 40;
    group = depthwise ? draw_integer(random, 2, random.coin() ? 20 : 70)
                      : (random.coin() ? 1 : draw_integer(random, 2, most == 5 ? 18 : 3));
    const int32_t depth = depthwise ? 1 : draw_integer(random, 1, most);
    const int32_t filters = depthwise ? 1 : draw_integer(random, 1, random.coin() ? 5 : 40);
    x = {draw_integer(random, 1, 2), group * depth};
    w = {group * filters, depth};
    for (int i = 0; i < spatial; ++i) {
      const int32_t in = draw_integer(random, 1, spatial == 1 ? 40 : depthwise ? 12 : 7);
      window.kernel.push_back(draw_integer(random, 1, depthwise ? 6 : 4));
      window.stride.push_back(draw_integer(random, 1, 3));
      window.dilation.push_back(depthwise && random.coin() ? 1 : draw_integer(random, 1, 3));
      window.before.push_back(draw_integer(random, 0, 3));
      after.push_back(draw_integer(random, 0, 3));
      const int32_t reach = window.dilation.back() * (window.kernel.back() - 1) + 1;
      if (in + window.before.back() + after.back() < reach) return false;
      x.push_back(in);
      w.push_back(window.kernel.back());
    }
    y = joined({x[0], w[0]}, window.output(spatial_of(x), after));
    return true;
  }
};

/// What ConvRequantize has besides.
struct Codes {
  DataType type;
  Numbers scale, bias;  // one or one for each filter; no bias
  Numbers zero;
  Numbers expected;

  Codes(const Convolution& c, const Numbers& sums, Random& random, std::mt19937& engine)
      : type(random.coin() ? DataType::kInt8 : DataType::kUint8) {
    const double low = type == DataType::kInt8 ? -128 : 0, high = low + 255;
    double largest = 1;
    for (double sum : sums) largest = std::max(largest, std::abs(sum));
    const int64_t filters = c.w[0], plane = count_of(c.y) / c.y[0] / filters;
    scale = random_numbers(DataType::kFloat, random.coin() ? 1 : filters, engine, 100 / largest,
                           200 / largest);
    if (random.coin()) {
      bias = random_numbers(DataType::kInt32, random.coin() ? 1 : filters, engine, -largest / 4,
                            largest / 4);
    }
    zero = random_numbers(type, 1, engine, low, high);
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t filter = i / static_cast<size_t>(plane) % static_cast<size_t>(filters);
      const auto of = [&](const Numbers& n) { return n[n.size() == 1 ? 0 : filter]; };
      const auto sum = static_cast<float>(sums[i] + (bias.empty() ? 0 : of(bias)));
      const float product = sum * static_cast<float>(of(scale));
      expected.push_back(std::clamp(std::nearbyint(product) + zero[0], low, high));
    }
  }
};

/// Runs every kernel; `codes` is null for ConvInteger.
void expect_kernels(const Convolution& c, const Bytes& x, const Bytes& w, const Numbers& expected,
                    const Codes* codes) {
  const DataType y = codes != nullptr ? codes->type : DataType::kInt32;
  const Numbers x_last = channels_last(c.x, x.values), last = channels_last(c.y, expected);
  const auto run = [&](const std::string& variant, bool channels_last_now, Isa isa, int threads) {
    const std::string kernel =
        codes != nullptr ? kernel_name("intarsia:ConvRequantize" + variant, {x.type, w.type, y})
                         : kernel_name("ConvInteger" + variant, {x.type, w.type});
    SCOPED_TRACE(kernel + " " + cpu::isa_name(isa) + " " + ::testing::PrintToString(c.x) +
                 ::testing::PrintToString(c.w));
    IntegerConvAttributes attributes;
    attributes.window = c.window.attributes(c.after);
    attributes.group = c.group;
    attributes.channels_last = channels_last_now ? 1 : 0;
    Node node;
    if (channels_last_now) {
      node.input(x.type, channels_last(c.x), x_last);
    } else {
      node.input(x.type, c.x, x.values);
    }
    node.input(w.type, c.w, w.values);
    if (!variant.empty() && !variant.ends_with("_computed")) node.constant(1);
    const auto list = [](const Numbers& n) { return Dims{static_cast<int32_t>(n.size())}; };
    const bool has_bias = codes != nullptr && !codes->bias.empty();
    if (codes != nullptr) {
      node.input(DataType::kFloat, list(codes->scale), codes->scale).input(y, {}, codes->zero);
    }
    if (x.has_zero) {
      node.input(x.type, {}, x.zeros);
    } else if (w.has_zero || has_bias) {
      node.absent();
    }
    if (w.has_zero) {
      node.input(w.type, list(w.zeros), w.zeros);
    } else if (has_bias) {
      node.absent();
    }
    if (has_bias) node.input(DataType::kInt32, list(codes->bias), codes->bias);
    node.output(y, channels_last_now ? channels_last(c.y) : c.y);
    node.attributes(attributes).isa(isa).threads(threads);
    ASSERT_TRUE(node.run(kernel).ok()) << node.diagnostic().what;
    expect_numbers_near(node.numbers(), channels_last_now ? last : expected, 0, 0);
  };
  run("", false, Isa::kPortable, 1);
  run("", true, Isa::kPortable, 3);
  const bool depthwise = c.group > 1 && c.w[1] == 1 && c.w[0] == c.group;
  for (Isa isa : cpu::available_byte_isas()) {
    for (int threads : {1, 3}) {
      run(".panels", true, isa, threads);
      if (c.group > 1) run(".joined", true, isa, threads);
      if (depthwise) run(".depthwise", true, isa, threads);
    }
    run(".panels_computed", true, isa, 3);
    if (depthwise) run(".depthwise_computed", true, isa, 3);
    for (const int threads : {1, 3}) {
      if (codes == nullptr) run(".products", false, isa, threads);
    }
  }
}

void expect_convolution(const Convolution& c, const Bytes& x, const Bytes& w, Random& random,
                        std::mt19937& engine) {
  const Numbers sums =
      naive_conv(c.x, x.differences(), c.w, w.differences(), {}, c.group, c.window, c.y);
  expect_kernels(c, x, w, sums, nullptr);
  const Codes codes(c, sums, random, engine);
  expect_kernels(c, x, w, codes.expected, &codes);
}

TEST(ConvInteger, AnyWindow) {
  constexpr DataType kTypes[] = {DataType::kInt8, DataType::kUint8};
  int compared = 0;
  for (uint32_t seed = 0; compared < part_of(80); ++seed) {
    Random random(seed);
    Convolution c;
    if (!c.draw_from(random, seed % 4 == 0)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 engine(seed);
    const Bytes x(kTypes[seed % 2], c.x, random.coin(), 1, engine);
    const Bytes w(kTypes[seed / 2 % 2], c.w, random.coin(), random.coin() ? 1 : c.w[0], engine);
    expect_convolution(c, x, w, random, engine);
    if (HasFailure()) return;
    ++compared;
  }
}

// Several blocks of pixels and of filters, which threads share.
TEST(ConvRequantize, Blocks) {
  for (const bool pointwise : {true, false}) {
    Random random(pointwise ? 1 : 2);
    std::mt19937 engine(5);
    Convolution c;
    const int32_t kernel = pointwise ? 1 : 3;
    c.x = {1, pointwise ? 40 : 3, kSlowBuild ? 11 : 37, kSlowBuild ? 13 : 41};
    c.w = {pointwise ? 530 : 70, c.x[1], kernel, kernel};
    for (int axis = 0; axis < 2; ++axis) {
      c.window.kernel.push_back(kernel);
      c.window.stride.push_back(1);
      c.window.dilation.push_back(1);
      c.window.before.push_back(0);
      c.after.push_back(0);
    }
    c.y = joined({c.x[0], c.w[0]}, c.window.output(spatial_of(c.x), c.after));
    const Bytes x(DataType::kUint8, c.x, true, 1, engine);
    const Bytes w(DataType::kInt8, c.w, true, c.w[0], engine);
    expect_convolution(c, x, w, random, engine);
  }
}

// Sums of more products than 32 bits hold wrap around.
TEST(ConvInteger, Wraps) {
  const int32_t channels = 33100;
  const Numbers highest(static_cast<size_t>(channels), 255);
  for (const bool last : {false, true}) {
    Node node;
    IntegerConvAttributes attributes;
    attributes.channels_last = last ? 1 : 0;
    node.input(DataType::kUint8, last ? Dims{1, 1, channels} : Dims{1, channels, 1}, highest);
    node.input(DataType::kUint8, {1, channels, 1}, highest).constant(1);
    node.output(DataType::kInt32, {1, 1, 1}).attributes(attributes);
    const std::string kernel = last ? "ConvInteger.panels" : "ConvInteger.products";
    ASSERT_TRUE(node.run(kernel_name(kernel, {DataType::kUint8, DataType::kUint8})).ok());
    const int64_t sum = int64_t{channels} * 255 * 255;
    EXPECT_EQ(node.numbers(), Numbers{static_cast<double>(sum - (int64_t{1} << 32))});
  }
}

// As many windows as pixels, in images of 1 to 3 axes and several strips; the padding lies on
// either side.
TEST(ConvInteger, WindowsForEachPixel) {
  for (uint32_t seed = 0; seed < part_of(24); ++seed) {
    Random random(seed);
    std::mt19937 engine(seed);
    const int spatial = 1 + static_cast<int>(seed % 3);
    const int32_t extents[] = {1200, 31, 10};  // of all axes
    Convolution c;
    c.x = {draw_integer(random, 1, 2), draw_integer(random, 1, 3)};
    c.w = {draw_integer(random, 1, 5), c.x[1]};
    for (int axis = 0; axis < spatial; ++axis) {
      const int32_t kernel = draw_integer(random, 1, 4), dilation = draw_integer(random, 1, 2);
      const int32_t reach = dilation * (kernel - 1);
      c.window.kernel.push_back(kernel);
      c.window.stride.push_back(1);
      c.window.dilation.push_back(dilation);
      c.window.before.push_back(draw_integer(random, 0, reach));
      c.after.push_back(reach - c.window.before.back());
      c.x.push_back(draw_integer(random, 2, extents[spatial - 1]));
      c.w.push_back(kernel);
    }
    c.y = joined({c.x[0], c.w[0]}, c.window.output(spatial_of(c.x), c.after));
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Bytes x(DataType::kUint8, c.x, true, 1, engine);
    const Bytes w(DataType::kInt8, c.w, random.coin(), 1, engine);
    expect_convolution(c, x, w, random, engine);
    if (HasFailure()) return;
  }
}

// Filters so large that strips of windows are made shorter.
TEST(ConvInteger, StripsOfManyTerms) {
  for (const int32_t channels : {60, 130}) {
    Random random(3);
    std::mt19937 engine(7);
    Convolution c;
    c.x = {1, channels, kSlowBuild ? 9 : 23, kSlowBuild ? 11 : 29};
    c.w = {5, channels, 3, 3};
    for (int axis = 0; axis < 2; ++axis) {
      c.window.kernel.push_back(3);
      c.window.stride.push_back(1);
      c.window.dilation.push_back(1);
      c.window.before.push_back(1);
      c.after.push_back(1);
    }
    c.y = joined({c.x[0], c.w[0]}, c.window.output(spatial_of(c.x), c.after));
    const Bytes x(DataType::kUint8, c.x, true, 1, engine);
    const Bytes w(DataType::kInt8, c.w, true, c.w[0], engine);
    expect_convolution(c, x, w, random, engine);
  }
}

}  // namespace
}  // namespace intarsia::test
