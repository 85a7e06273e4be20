// SPDX-License-Identifier: Apache-2.0
//
// Fast convolutions and transposed convolutions, with constant and with computed weights, against
// the reference kernels in double: random windows of 1 to 3 spatial axes, every instruction set.
#include "core/operators/nn/conv.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/nn/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using cpu::Random;

struct Drawn {
  Dims x, w, y;  // channels last; w as ONNX has it
  int32_t group = 1;
  int32_t filters = 1;
  bool residual = true;
  bool placed = false;  ///< Weights pick a place of the window for each channel of a group.
  WindowAttributes window;
  FixedList<int32_t, kMaxSpatial> extra;
};

int32_t draw(Random& random, int64_t least, int64_t most) {
  return static_cast<int32_t>(random.between(least, most));
}

/// False if the window does not fit. `columns`: at most so many of the data.
bool draw_window(Random& random, bool transposed, Drawn& d, bool depthwise = false,
                 int32_t columns = 0) {
  const int spatial = draw(random, 1, 3);
  d.group = depthwise ? draw(random, 2, 40) : random.coin() ? 1 : draw(random, 2, 3);
  const int32_t depth = depthwise ? 1 : draw(random, 1, random.coin() ? 3 : 20);
  d.residual = random.coin();
  d.filters = depthwise && random.coin() ? 1 : draw(random, transposed && !depthwise ? 4 : 1, 20);
  d.x = {draw(random, 1, 2)};
  d.y = d.x;
  d.w = transposed ? Dims{d.group * depth, d.filters} : Dims{d.group * d.filters, depth};
  d.window.pads.count = 2 * spatial;
  for (int i = 0; i < spatial; ++i) {
    const int32_t usual = spatial == 3 ? 5 : 9;
    const int32_t most = columns > 0 && i + 1 == spatial ? columns : usual;
    const int32_t in = draw(random, 1, most), kernel = draw(random, 1, 4);
    const int32_t stride = draw(random, 1, 3), dilation = draw(random, 1, 3);
    const int32_t before = draw(random, 0, 3), after = draw(random, 0, 3);
    const int32_t extra = transposed ? draw(random, 0, stride - 1) : 0;
    const int32_t reach = dilation * (kernel - 1) + 1;
    const int32_t out = transposed ? stride * (in - 1) + extra + reach - before - after
                                   : (in + before + after - reach) / stride + 1;
    if (out < 1 || (!transposed && in + before + after < reach)) return false;
    d.x.push_back(in);
    d.y.push_back(out);
    d.w.push_back(kernel);
    d.window.strides.push(stride);
    d.window.dilations.push(dilation);
    d.window.pads.values[i] = before;
    d.window.pads.values[spatial + i] = after;
    d.extra.push(extra);
  }
  d.x.push_back(d.group * depth);
  d.y.push_back(d.group * d.filters);
  return true;
}

/// Rounded to R, as T.
template <class T, class R>
std::vector<T> as(const std::vector<float>& values) {
  std::vector<T> result;
  for (const float value : values) {
    const auto rounded = static_cast<float>(static_cast<R>(value));
    result.push_back(static_cast<T>(rounded));
  }
  return result;
}

std::vector<float> weights_of(const Drawn& d, Random& values) {
  std::vector<float> weights = values.floats(count_of(d.w));
  const size_t taps = weights.size() / static_cast<size_t>(d.w[0] * d.w[1]);
  for (size_t i = 0; d.placed && i < weights.size(); ++i) {
    weights[i] = i / taps % taps == i % taps ? 1.0f : 0.0f;
  }
  return weights;
}

/// The node of these operands, of which the weights are constant if the kernel packs them. Values
/// are numbers of R.
template <class T, class R, class A>
void run_node(const std::string& kernel, const Drawn& d, const A& attributes, Random values,
              const std::function<void(Node&)>& set, std::vector<T>& result) {
  Node node;
  node.input<T>(d.x, as<T, R>(values.floats(count_of(d.x))));
  node.input<T>(d.w, as<T, R>(weights_of(d, values)));
  node.input<T>({d.group * d.filters}, as<T, R>(values.floats(d.group * d.filters)));
  if (std::is_same_v<A, ConvAttributes> && d.residual)
    node.input<T>(d.y, as<T, R>(values.floats(count_of(d.y))));
  node.output<T>(d.y).attributes(attributes);
  if (kernel.find("computed<") == std::string::npos) node.constant(1);
  set(node);
  ASSERT_TRUE(node.run(kernel).ok()) << kernel << ": " << node.diagnostic().what;
  result = node.result<T>();
}

/// The same variants in halves: sums in float, rounded once.
template <class T, class A>
void compare_halves(const std::string& op, const Drawn& d, const A& attributes, uint32_t seed,
                    std::initializer_list<const char*> variants, double loss) {
  std::vector<double> expected;
  run_node<double, T>(
      op + "<double>", d, attributes, Random(seed), [](Node&) {}, expected);
  const double sums =
      16 * loss * epsilon_of<float>() * std::sqrt(static_cast<double>(count_of(d.w)));
  for (const std::string variant : variants) {
    if (variant.find("winograd") != std::string::npos) continue;  // of float only
    const std::string kernel =
        kernel_name(op + variant.substr(0, variant.find('<')), {data_type_of<T>});
    SCOPED_TRACE(kernel);
    std::vector<T> found;
    run_node<T, T>(
        kernel, d, attributes, Random(seed),
        [&](Node& node) { node.isa(cpu::available_isas().back()).threads(2); }, found);
    expect_near<T>(found, expected, sums + epsilon_of<T>(), sums);
  }
}

template <class A>
void compare(const std::string& op, const Drawn& d, const A& attributes, uint32_t seed,
             std::initializer_list<const char*> variants = {".packed<float>", ".computed<float>"},
             double loss = 1) {
  if (seed % 4 == 0) compare_halves<Float16>(op, d, attributes, seed, variants, loss);
  if (seed % 4 == 2) compare_halves<BFloat16>(op, d, attributes, seed, variants, loss);
  std::vector<double> expected;
  run_node<double, float>(
      op + "<double>", d, attributes, Random(seed), [](Node&) {}, expected);
  const double tolerance =
      16 * loss * epsilon_of<float>() * std::sqrt(static_cast<double>(count_of(d.w)));
  for (const char* variant : variants) {
    std::vector<float> single;
    for (const Isa isa : cpu::available_isas()) {
      SCOPED_TRACE(op + variant + " " + cpu::isa_name(isa));
      for (const int threads : {1, 3}) {
        std::vector<float> found;
        run_node<float, float>(
            op + variant, d, attributes, Random(seed),
            [&](Node& node) { node.isa(isa).threads(threads); }, found);
        expect_near<float>(found, expected, tolerance, tolerance);
        if (threads > 1) {
          EXPECT_EQ(found, single) << "bits depend on threads";
        }
        single = found;
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

ConvAttributes direct(const Drawn& d) {
  ConvAttributes attributes;
  attributes.window = d.window;
  attributes.group = d.group;
  attributes.channels_last = 1;
  return attributes;
}

ConvTransposeAttributes transposed(const Drawn& d) {
  ConvTransposeAttributes attributes;
  attributes.window = d.window;
  attributes.output_padding = d.extra;
  attributes.group = d.group;
  attributes.channels_last = 1;
  return attributes;
}

TEST(FastConv, EqualsTheReference) {
  int compared = 0;
  for (uint32_t seed = 100; compared < part_of(60); ++seed) {
    Random random(seed);
    Drawn d;
    if (!draw_window(random, false, d)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare("Conv", d, direct(d), seed);
    if (HasFailure()) return;
    ++compared;
  }
}

/// The same convolution in ONNX's order of axes.
Drawn of_planes(Drawn d) {
  for (Dims* dims : {&d.x, &d.y}) std::rotate(dims->begin() + 1, dims->end() - 1, dims->end());
  return d;
}

void compare_planes(const Drawn& drawn, uint32_t seed) {
  const Drawn d = of_planes(drawn);
  ConvAttributes attributes = direct(d);
  attributes.channels_last = 0;
  compare("Conv", d, attributes, seed, {".planes<float>", ".planes_computed<float>"});
}

TEST(FastConv, OfPlanesEqualsTheReference) {
  int compared = 0;
  for (uint32_t seed = 1700; compared < part_of(120); ++seed) {
    Random random(seed);
    Drawn d;
    if (!draw_window(random, false, d, seed % 3 == 0, seed % 2 == 0 ? 9 : 150)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare_planes(d, seed);
    if (HasFailure()) return;
    ++compared;
  }
}

/// Windows of one pixel, mostly without padding: then rows of the image are computed as one.
void make_pixels(Random& random, Drawn& d) {
  const size_t spatial = d.x.size() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    const int32_t most = draw(random, 0, 4) == 0 ? 2 : 0;
    const int32_t before = draw(random, 0, most), after = draw(random, 0, most);
    d.w[2 + i] = 1;
    d.window.pads.values[i] = before;
    d.window.pads.values[spatial + i] = after;
    d.y[1 + i] = (d.x[1 + i] + before + after - 1) / d.window.strides.values[i] + 1;
  }
}

TEST(FastConv, OfPixelsOfPlanesEqualsTheReference) {
  int compared = 0;
  for (uint32_t seed = 2300; compared < part_of(80); ++seed) {
    Random random(seed);
    Drawn d;
    if (!draw_window(random, false, d, false, seed % 2 == 0 ? 9 : 150)) continue;
    make_pixels(random, d);
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare_planes(d, seed);
    if (HasFailure()) return;
    ++compared;
  }
}

// Sums of several passes, images of several units, rows of several pieces.
TEST(FastConv, OfLargePlanesEqualsTheReference) {
  struct Case {
    Dims x, kernel, y;  // channels last
    int32_t filters, group, stride, dilation, pad;
  };
  const Case cases[] = {
      {{1, 30, 70, 43}, {5, 5}, {1, 30, 70, 14}, 14, 1, 1, 1, 2},
      {{1, 17, 40, 24}, {3, 3}, {1, 9, 20, 30}, 15, 2, 2, 1, 1},
      {{1, 3001, 3}, {7}, {1, 1000, 5}, 5, 1, 3, 2, 5},
      {{2, 40, 41, 600}, {1, 1}, {2, 40, 41, 13}, 13, 1, 1, 1, 0},
      {{1, 6, 12, 35, 20}, {3, 3, 3}, {1, 6, 12, 35, 3}, 3, 1, 1, 1, 1},
      {{2, 41, 56, 600}, {1, 1}, {2, 21, 28, 13}, 13, 1, 2, 1, 0},
      {{1, 20, 1000, 60}, {1, 1}, {1, 7, 334, 30}, 15, 2, 3, 2, 0},
  };
  uint32_t seed = 2000;
  for (const Case& c : cases) {
    Drawn d;
    d.x = c.x;
    d.y = c.y;
    d.group = c.group;
    d.filters = c.filters;
    d.w = {c.filters * c.group, c.x.back() / c.group};
    d.window.pads.count = static_cast<int32_t>(2 * c.kernel.size());
    for (size_t i = 0; i < c.kernel.size(); ++i) {
      d.w.push_back(c.kernel[i]);
      d.window.strides.push(c.stride);
      d.window.dilations.push(c.dilation);
      d.window.pads.values[i] = d.window.pads.values[c.kernel.size() + i] = c.pad;
    }
    SCOPED_TRACE("case " + std::to_string(seed - 2000));
    compare_planes(d, seed++);
    if (HasFailure()) return;
  }
}

TEST(FastConvTranspose, OfOneChannelEqualsTheReference) {
  int compared = 0;
  for (uint32_t seed = 900; compared < part_of(100); ++seed) {
    Random random(seed);
    Drawn d;
    if (!draw_window(random, true, d, true)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare("ConvTranspose", d, transposed(d), seed,
            {".depthwise<float>", ".depthwise_computed<float>"});
    if (HasFailure()) return;
    ++compared;
  }
}

TEST(FastConv, OfOneChannelEqualsTheReference) {
  int compared = 0;
  for (uint32_t seed = 1300; compared < part_of(60); ++seed) {
    Random random(seed);
    Drawn d;
    if (!draw_window(random, false, d, true)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare("Conv", d, direct(d), seed, {".depthwise<float>", ".depthwise_computed<float>"});
    if (HasFailure()) return;
    ++compared;
  }
}

TEST(FastConvTranspose, EqualsTheReference) {
  int compared = 0;
  for (uint32_t seed = 500; compared < part_of(100); ++seed) {
    Random random(seed);
    Drawn d;
    if (!draw_window(random, true, d)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare("ConvTranspose", d, transposed(d), seed,
            {".packed<float>", ".computed<float>", ".columns<float>", ".columns_computed<float>"});
    if (HasFailure()) return;
    ++compared;
  }
}

// Through the kernels, which take only images of many tiles and channels.
TEST(FastConv, OfThreeByThreeEqualsTheReference) {
  for (uint32_t seed = 0; seed < static_cast<uint32_t>(part_of(24)); ++seed) {
    Random random(seed);
    Drawn d;
    const int32_t depth = seed % 4 == 0 ? draw(random, 1, 3) : 0;  // of a volume
    const int32_t channels = draw(random, 16, 40), filters = draw(random, 16, 50);
    d.filters = filters;
    d.x = {draw(random, 1, 2)}, d.y = d.x, d.w = {filters, channels};
    d.residual = random.coin();
    const auto add = [&d](int32_t in, int32_t kernel) {
      d.x.push_back(in), d.y.push_back(in), d.w.push_back(kernel);
      d.window.pads.push(kernel / 2);
    };
    if (depth > 0) add(draw(random, 1, 3), 2 * (depth / 2) + 1);
    add(draw(random, 14, 20), 3), add(draw(random, 14, 20), 3);
    for (int i = 0, spatial = depth > 0 ? 3 : 2; i < spatial; ++i) {
      d.window.pads.push(d.window.pads.values[i]);
    }
    d.x.push_back(channels), d.y.push_back(filters);
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare("Conv", d, direct(d), seed, {".winograd_4x4<float>", ".winograd_2x2<float>"}, 3);
    if (HasFailure()) return;
  }
}

/// The same with channels first.
void compare_channels_first(Drawn d, uint32_t seed, std::initializer_list<const char*> variants) {
  for (Dims* dims : {&d.x, &d.y}) {
    dims->insert(dims->begin() + 1, dims->back());
    dims->pop_back();
  }
  ConvTransposeAttributes attributes = transposed(d);
  attributes.channels_last = 0;
  compare("ConvTranspose", d, attributes, seed, variants);
}

TEST(FastConvTranspose, InOnnxOrderEqualsTheReference) {
  int compared = 0;
  for (uint32_t seed = 700; compared < part_of(100); ++seed) {
    Random random(seed);
    Drawn d;
    if (!draw_window(random, true, d)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare_channels_first(d, seed, {".columns<float>", ".columns_computed<float>"});
    if (HasFailure()) return;
    ++compared;
  }
}

/// So many that several are multiplied together.
TEST(FastConvTranspose, OfManySmallImagesEqualsTheReference) {
  int compared = 0;
  for (uint32_t seed = 4000; compared < part_of(24); ++seed) {
    Random random(seed);
    Drawn d;
    if (!draw_window(random, true, d, false, 3)) continue;
    int32_t pixels = 1;
    for (size_t axis = 1; axis + 1 < d.x.size(); ++axis) pixels *= d.x[axis];
    if (pixels > 20) continue;
    d.x[0] = d.y[0] = draw(random, 33, 90);
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare("ConvTranspose", d, transposed(d), seed, {".columns<float>"});
    compare_channels_first(d, seed, {".columns<float>"});
    if (HasFailure()) return;
    ++compared;
  }
}

TEST(FastConvTranspose, OfPlacesEqualsTheReference) {
  int compared = 0;
  for (uint32_t seed = 2100; compared < part_of(80); ++seed) {
    Random random(seed);
    Drawn d;
    if (!draw_window(random, true, d)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    int32_t taps = 1;
    for (size_t axis = 2; axis < d.w.size(); ++axis) taps *= d.w[axis];
    d.placed = true;
    d.filters = d.w[1] = 1;
    d.w[0] = d.group * taps;
    d.x.pop_back(), d.y.pop_back();
    d.x.insert(d.x.begin() + 1, d.w[0]);
    d.y.insert(d.y.begin() + 1, d.group);
    ConvTransposeAttributes attributes = transposed(d);
    attributes.channels_last = 0;
    compare("ConvTranspose", d, attributes, seed, {".places<float>"});
    if (HasFailure()) return;
    ++compared;
  }
}

/// Images of one column, or one pixel high as well: of lines long enough for several bands and
/// blocks, with weights as packed.
TEST(FastConv, OfLinesEqualTheReference) {
  for (uint32_t seed = 3000; seed < 3000 + static_cast<uint32_t>(part_of(48)); ++seed) {
    Random random(seed);
    Drawn d;
    const bool transposed_too = seed % 2 != 0;
    const int spatial = 1 + static_cast<int>(seed / 2 % 3), along = draw(random, 0, spatial - 1);
    d.x = {draw(random, 1, 2)}, d.y = d.x;
    const int32_t channels = draw(random, 1, 9);
    d.filters = draw(random, 1, transposed_too ? 2 : 18);
    d.w = transposed_too ? Dims{channels, d.filters} : Dims{d.filters, channels};
    d.window.pads.count = 2 * spatial;
    for (int i = 0; i < spatial; ++i) {
      const bool line = i == along;
      const int32_t in = line ? draw(random, 1, 1500) : 1, kernel = line ? draw(random, 1, 5) : 1;
      const int32_t stride = draw(random, 1, 3), dilation = draw(random, 1, 2);
      const int32_t reach = (kernel - 1) * dilation + 1,
                    pad = line ? draw(random, 0, reach / 2) : 0;
      d.x.push_back(in), d.w.push_back(kernel);
      d.y.push_back(transposed_too ? stride * (in - 1) + reach - 2 * pad
                                   : (in + 2 * pad - reach) / stride + 1);
      d.window.strides.push(stride), d.window.dilations.push(dilation), d.extra.push(0);
      d.window.pads.values[i] = d.window.pads.values[spatial + i] = pad;
    }
    if (d.y[static_cast<size_t>(1 + along)] < 1 ||
        (!transposed_too && d.x[static_cast<size_t>(1 + along)] < 12))
      continue;
    d.x.push_back(channels), d.y.push_back(d.filters);
    SCOPED_TRACE("seed " + std::to_string(seed));
    if (!transposed_too) {
      compare("Conv", d, direct(d), seed);
    } else {
      compare("ConvTranspose", d, transposed(d), seed,
              {".packed<float>", ".columns<float>", ".columns_computed<float>"});
      compare_channels_first(d, seed, {".columns<float>"});
    }
    if (HasFailure()) return;
  }
}

/// An axis of no inputs has outputs where output_shape says so: they are the bias.
TEST(FastConvTranspose, WithoutPixelsGivesTheBias) {
  for (const int axis : {0, 1, 2}) {
    for (const int last : {0, 1}) {
      Drawn d;
      const int first = last != 0 ? 1 : 2;
      d.x = last != 0 ? Dims{1, 4, 4, 4, 3} : Dims{1, 3, 4, 4, 4};
      d.y = last != 0 ? Dims{1, 1, 1, 1, 2} : Dims{1, 2, 1, 1, 1};
      d.x[static_cast<size_t>(first + axis)] = 0;
      d.w = {3, 2, 2, 2, 2};
      d.filters = 2;
      ConvTransposeAttributes attributes;
      for (int i = 0; i < 3; ++i) attributes.output_shape.push(1);
      attributes.channels_last = last;
      compare("ConvTranspose", d, attributes, 7, {".columns<float>"});
    }
  }
}

/// The padding follows from the output's extent, and with it which outputs a phase has: the weights
/// that were packed for one image serve another.
TEST(FastConvTranspose, PackedWeightsServeAnyPadding) {
  for (const int32_t out : {9, 8, 7, 6, 5, 4}) {
    Drawn d;
    d.x = {1, 4, 3}, d.w = {3, 5, 4}, d.y = {1, out, 5};
    d.filters = 5;
    d.window.strides.push(2);
    ConvTransposeAttributes attributes;
    attributes.window = d.window;
    attributes.output_shape.push(out);
    attributes.channels_last = 1;
    compare("ConvTranspose", d, attributes, 7, {".packed<float>", ".columns<float>"});
  }
}

}  // namespace
}  // namespace intarsia::test
