// SPDX-License-Identifier: Apache-2.0
//
// Gemm, MatMul, convolution and pooling: the CUDA kernels' own sources in the emulator, beside the
// CPU's reference kernels, over random extents with odd tails.
#include "core/operators/linear_algebra/matmul.h"
#include "core/operators/nn/conv.h"
#include "core/operators/nn/pool.h"
#include "test/cuda/kernel_cases.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

/// Both sum in float; of float16 either may round its last bit (2^-11) otherwise.
double product_tolerance(DataType type) {
  return type == kFloat ? 1e-5 : 2e-3;
}
KernelUnderTest of_device(std::string_view op, DataType type) {
  return on_device(kernel_name(op, {type}));
}
KernelUnderTest of_cpu(std::string_view op, DataType type) {
  return cpu_kernel(kernel_name(op, {type}));
}

int32_t pick(std::mt19937& random, int32_t low, int32_t high) {
  return std::uniform_int_distribution<int32_t>(low, high)(random);
}
std::vector<double> draw(std::mt19937& random, const Dims& dims) {
  return random_numbers(kFloat, count_of(dims), random, -1, 1);
}

struct GemmCase {
  int32_t rows, columns, depth;
  GemmAttributes attributes;
  int addend = 0;  // 0 none, 1 scalar, 2 a row, 3 a column, 4 a matrix
  bool residual = false;
};

Node gemm_node(const GemmCase& c, unsigned seed, DataType type = kFloat) {
  std::mt19937 random(seed);
  const Dims a = c.attributes.trans_a != 0 ? Dims{c.depth, c.rows} : Dims{c.rows, c.depth};
  const Dims b = c.attributes.trans_b != 0 ? Dims{c.columns, c.depth} : Dims{c.depth, c.columns};
  const Dims addends[] = {{}, {}, {c.columns}, {c.rows, 1}, {c.rows, c.columns}};
  const Dims y{c.rows, c.columns};
  Node node;
  node.input(type, a, draw(random, a)).input(type, b, draw(random, b)).constant(1);
  if (c.addend > 0 || c.residual) {
    const Dims& addend = addends[c.addend];
    if (c.addend > 0) {
      node.input(type, addend, draw(random, addend));
    } else {
      node.absent();
    }
  }
  if (c.residual) node.input(type, y, draw(random, y));
  node.output(type, y).attributes(c.attributes);
  return node;
}

TEST(CudaProducts, GemmOfRandomExtents) {
  std::mt19937 random(1);
  for (unsigned i = 0; i < (kSlowBuild ? 10 : 24); ++i) {
    GemmCase c{pick(random, 1, 70), pick(random, 1, 90), pick(random, 1, 50), {}, 0, false};
    // Extents of which 16 bytes can be read at once.
    if (pick(random, 0, 1) != 0) c.columns = pick(random, 1, 10) * 8;
    if (pick(random, 0, 1) != 0) c.depth = pick(random, 1, 40) * 8;
    c.attributes.trans_a = pick(random, 0, 1);
    c.attributes.trans_b = pick(random, 0, 1);
    c.attributes.alpha = i % 3 == 0 ? 0.5f : 1.0f;
    c.attributes.beta = i % 5 == 0 ? -2.0f : 1.0f;
    c.addend = pick(random, 0, 4);
    c.residual = pick(random, 0, 1) != 0;
    c.attributes.activation = pick(random, 0, static_cast<int32_t>(Activation::kSoftplus));
    c.attributes.activation_alpha = 0.2f;
    c.attributes.activation_beta = 0.6f;
    for (DataType type : kReals) {
      const auto make = [&] { return gemm_node(c, i, type); };
      const KernelUnderTest reference = of_cpu("Gemm", type);
      agree(of_device("Gemm.cuda", type), reference, make, product_tolerance(type));
      if (c.attributes.trans_b != 0) {
        agree(of_device("Gemm.cuda packed", type), reference, make, product_tolerance(type));
      }
    }
  }
}

TEST(CudaProducts, GemmWithLargeTilesAndWithNothing) {
  // 132 tiles of 128 x 128, the last ones not full; rows that are read by 16 bytes, and that are
  // not.
  for (DataType type : kReals) {
    for (const GemmCase& c :
         {GemmCase{1400, 1536, 8, {}, 2, true}, GemmCase{513, 1001, 3, {}, 2, false},
          GemmCase{0, 5, 3, {}, 2, false}, GemmCase{3, 5, 0, {}, 2, false}}) {
      if (kSlowBuild && c.rows == (type == kFloat ? 513 : 1400)) continue;
      agree(
          of_device("Gemm.cuda", type), of_cpu("Gemm", type), [&] { return gemm_node(c, 2, type); },
          product_tolerance(type), 1);  // so many blocks take the emulator long
    }
  }
}

TEST(CudaProducts, BetaIsOfTheAddend) {
  GemmCase c{5, 8, 8, {}, 0, false};
  c.attributes.beta = std::numeric_limits<float>::infinity();
  agree(on_device("Gemm.cuda<float>"), cpu_kernel("Gemm<float>"), [&] { return gemm_node(c, 4); });
}

TEST(CudaProducts, BlocksShareTheDepthOfATile) {
  for (DataType type : kReals) {
    for (const GemmCase& c :
         {GemmCase{3, 20, 1000, {}, 2, true}, GemmCase{70, 72, 300, {}, 0, false},
          GemmCase{1, 64, 2048, {}, 2, false}}) {
      const int64_t bytes = static_cast<int64_t>(element_bits(type)) / 8;
      EXPECT_GT(cuda::ProductExtents({c.rows, c.columns, c.depth, 1})
                    .workspace_bytes(static_cast<size_t>(bytes)),
                0);
      agree(
          of_device("Gemm.cuda", type), of_cpu("Gemm", type), [&] { return gemm_node(c, 7, type); },
          product_tolerance(type));
    }
  }
}

TEST(CudaProducts, GemmMistakesAreFound) {
  // A tile of 64 x 64, two parts of its depth; then a depth that two blocks share.
  for (DataType type : kReals) {
    const int32_t part = type == kFloat ? 16 : 32;
    GemmCase c{64, 64, 2 * part, {}, 2, true};
    c.attributes.trans_b = 1;
    const auto make = [&] { return gemm_node(c, 3, type); };
    for (const char* variant : {"Gemm.cuda", "Gemm.cuda packed"}) {
      expect_mistakes_found(of_device(variant, type), of_cpu("Gemm", type), make,
                            product_tolerance(type));
    }
    c.depth = 8 * part;
    expect_mistakes_found(of_device("Gemm.cuda packed", type), of_cpu("Gemm", type), make,
                          product_tolerance(type));
  }
}

TEST(CudaProducts, MatMulBroadcastsItsBatches) {
  struct Case {
    Dims a, b, y;
  };
  const Case cases[] = {{{5}, {5}, {}},
                        {{5}, {5, 7}, {7}},
                        {{7, 5}, {5}, {7}},
                        {{33, 18}, {18, 35}, {33, 35}},
                        {{2, 3, 4, 5}, {5, 6}, {2, 3, 4, 6}},
                        {{2, 1, 4, 5}, {3, 5, 6}, {2, 3, 4, 6}},
                        {{4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}},
                        {{3, 1, 4, 5}, {5}, {3, 1, 4}},
                        {{5}, {2, 3, 5, 6}, {2, 3, 6}},
                        {{2, 3, 20, 32}, {2, 3, 32, 24}, {2, 3, 20, 24}},
                        {{3, 20, 32}, {32, 72}, {3, 20, 72}},
                        {{0, 4, 5}, {5, 6}, {0, 4, 6}}};
  for (const Case& c : cases) {
    for (int extras = 0; extras < 4; ++extras) {
      const DataType type = kReals[extras / 2];
      if (extras % 2 == 1 && c.b.size() < 2) continue;
      const auto make = [&] {
        std::mt19937 random(4);
        MatMulAttributes attributes;
        Node node;
        node.input(type, c.a, draw(random, c.a)).input(type, c.b, draw(random, c.b));
        if (extras % 2 == 1) {
          const Dims columns{c.b.back()};
          node.input(type, columns, draw(random, columns)).input(type, c.y, draw(random, c.y));
          attributes.activation = static_cast<int32_t>(Activation::kTanh);
        }
        node.output(type, c.y).attributes(attributes);
        return node;
      };
      agree(of_device("MatMul.cuda", type), of_cpu("MatMul", type), make, product_tolerance(type));
    }
  }
}

TEST(CudaProducts, OperandsMayLieTransposedAndBeScaled) {
  struct Case {
    Dims a, b, y;
    bool trans_a, trans_b;
  };
  const Case cases[] = {{{2, 3, 20, 32}, {2, 3, 24, 32}, {2, 3, 20, 24}, false, true},
                        {{3, 32, 20}, {32, 72}, {3, 20, 72}, true, false},
                        {{5, 9}, {2, 7, 5}, {2, 9, 7}, true, true},
                        {{6}, {4, 11, 6}, {4, 11}, false, true}};
  for (const Case& c : cases) {
    for (const DataType type : kReals) {
      const auto make = [&] {
        std::mt19937 random(4);
        ScaledMatMulAttributes attributes;
        attributes.alpha = -0.375f;
        attributes.trans_a = c.trans_a ? 1 : 0;
        attributes.trans_b = c.trans_b ? 1 : 0;
        const Dims columns{c.y.back()};
        Node node;
        node.input(type, c.a, draw(random, c.a)).input(type, c.b, draw(random, c.b));
        node.input(type, columns, draw(random, columns)).input(type, c.y, draw(random, c.y));
        node.output(type, c.y).attributes(attributes);
        return node;
      };
      agree(of_device("intarsia:ScaledMatMul.cuda", type), of_cpu("intarsia:ScaledMatMul", type),
            make, product_tolerance(type));
    }
  }
}

struct ConvCase {
  int32_t batch = 1, groups = 1, channels = 1, filters = 1;  // of a group
  std::vector<int32_t> in, kernel, strides, dilations, pads;
  int32_t auto_pad = 0;
  bool last = false, bias = false, residual = false;
  Activation activation = Activation::kNone;

  ConvAttributes attributes() const {
    ConvAttributes a;
    a.window.auto_pad = auto_pad;
    for (int32_t v : kernel) a.window.kernel_shape.push(v);
    for (int32_t v : strides) a.window.strides.push(v);
    for (int32_t v : dilations) a.window.dilations.push(v);
    for (int32_t v : pads) a.window.pads.push(v);
    a.group = groups;
    a.channels_last = last ? 1 : 0;
    a.activation = static_cast<int32_t>(activation);
    a.activation_alpha = 0.1f;
    a.activation_beta = 0.5f;
    return a;
  }
  Dims image(int32_t depth, const std::vector<int32_t>& spatial) const {
    Dims dims{batch};
    if (!last) dims.push_back(depth);
    dims.insert(dims.end(), spatial.begin(), spatial.end());
    if (last) dims.push_back(depth);
    return dims;
  }
  std::vector<int32_t> out() const {
    std::vector<int32_t> extents;
    for (size_t i = 0; i < in.size(); ++i) {
      const int32_t reach = dilations[i] * (kernel[i] - 1) + 1;
      extents.push_back(auto_pad != 0
                            ? (in[i] + strides[i] - 1) / strides[i]
                            : (in[i] + pads[i] + pads[in.size() + i] - reach) / strides[i] + 1);
    }
    return extents;
  }
};

Node conv_node(const ConvCase& c, unsigned seed, DataType type = kFloat) {
  std::mt19937 random(seed);
  const Dims x = c.image(c.groups * c.channels, c.in);
  Dims w{c.groups * c.filters, c.channels};
  w.insert(w.end(), c.kernel.begin(), c.kernel.end());
  const Dims bias{c.groups * c.filters};
  const Dims y = c.image(c.groups * c.filters, c.out());
  Node node;
  node.input(type, x, draw(random, x)).input(type, w, draw(random, w)).constant(1);
  if (c.bias) node.input(type, bias, draw(random, bias));
  if (c.residual) {
    if (!c.bias) node.absent();
    node.input(type, y, draw(random, y));
  }
  node.output(type, y).attributes(c.attributes());
  return node;
}

ConvCase random_conv(std::mt19937& random) {
  ConvCase c;
  c.batch = pick(random, 1, 2);
  c.groups = pick(random, 0, 2) == 0 ? pick(random, 2, 4) : 1;
  c.channels = pick(random, 1, 9);
  c.filters = pick(random, 1, 37);
  if (pick(random, 0, 1) != 0) c.channels = 8 * pick(random, 1, 9);
  if (pick(random, 0, 1) != 0) c.filters = 8 * pick(random, 1, 10);
  c.last = pick(random, 0, 1) != 0;
  c.bias = pick(random, 0, 1) != 0;
  c.residual = pick(random, 0, 1) != 0;
  c.activation = static_cast<Activation>(pick(random, 0, 12));
  c.auto_pad = pick(random, 0, 3) == 0 ? pick(random, 1, 2) : 0;
  const size_t spatial = pick(random, 0, 3) == 0 ? 1 : 2;
  for (size_t i = 0; i < spatial; ++i) {
    c.kernel.push_back(pick(random, 1, 4));
    c.dilations.push_back(pick(random, 1, 2));
    c.strides.push_back(pick(random, 1, 3));
    c.in.push_back(pick(random, 7, 13));
  }
  for (size_t i = 0; i < 2 * spatial && c.auto_pad == 0; ++i) c.pads.push_back(pick(random, 0, 2));
  return c;
}

TEST(CudaProducts, ConvolutionsOfRandomExtents) {
  std::mt19937 random(5);
  for (unsigned i = 0; i < (kSlowBuild ? 16 : 40); ++i) {
    const ConvCase c = random_conv(random);
    const DataType type = kReals[i % 2];
    const auto make = [&] { return conv_node(c, i, type); };
    for (const char* variant : {"Conv.cuda", "Conv.cuda packed"}) {
      agree(of_device(variant, type), of_cpu("Conv", type), make, product_tolerance(type));
    }
  }
}

TEST(CudaProducts, DepthwiseConvolutionsOfRandomExtents) {
  std::mt19937 random(8);
  for (unsigned i = 0; i < 40; ++i) {
    ConvCase c = random_conv(random);
    c.groups = i % 3 == 0 ? pick(random, 1, 40) : 8 * pick(random, 1, 9);
    c.channels = c.filters = 1;
    c.last = true;
    const DataType type = kReals[i % 2];
    agree(
        of_device("Conv.cuda depthwise", type), of_cpu("Conv", type),
        [&] { return conv_node(c, i, type); }, product_tolerance(type));
  }
}

TEST(CudaProducts, ThreeSpatialAxesAreRefused) {
  ConvCase c;
  c.in = c.kernel = c.strides = c.dilations = {1, 1, 1};
  c.pads = {0, 0, 0, 0, 0, 0};
  Node node = conv_node(c, 16);
  EXPECT_EQ(node.run(on_device("Conv.cuda<float>")).code(), Code::kWrongRank);
  EXPECT_EQ(node.diagnostic().found, 5);
}

TEST(CudaProducts, ConvolutionMistakesAreFound) {
  // 64 output positions and filters fill a tile, in two parts of its depth. (Elements of float16
  // one by one are not copied while others are multiplied, so that not each of their barriers is
  // needed.)
  ConvCase c;
  c.filters = 64;
  c.in = {4, 17};
  c.kernel = {1, 2};
  c.strides = c.dilations = {1, 1};
  c.pads = {0, 0, 0, 0};
  c.last = c.bias = c.residual = true;
  for (DataType type : kReals) {
    c.channels = type == kFloat ? 16 : 32;
    const auto make = [&] { return conv_node(c, 6, type); };
    for (const char* variant : {"Conv.cuda", "Conv.cuda packed"}) {
      if (type != kFloat && variant == std::string("Conv.cuda")) continue;
      expect_mistakes_found(of_device(variant, type), of_cpu("Conv", type), make,
                            product_tolerance(type));
    }
  }
  c.groups = 64;
  c.channels = c.filters = 1;
  for (DataType type : kReals) {
    const auto make = [&] { return conv_node(c, 6, type); };
    expect_mistakes_found(of_device("Conv.cuda depthwise", type), of_cpu("Conv", type), make,
                          product_tolerance(type));
  }
}

template <class A>
Node pool_node(const ConvCase& c, A attributes, bool ceil, unsigned seed) {
  std::mt19937 random(seed);
  PoolAttributes& pool = attributes.pool;
  pool.window = c.attributes().window;
  pool.ceil_mode = ceil ? 1 : 0;
  pool.channels_last = c.last ? 1 : 0;
  std::vector<int32_t> out;
  for (size_t i = 0; i < c.in.size(); ++i) {
    const int axis = static_cast<int>(i);
    const CheckedInt slack = c.in[i] + pool.window.explicit_pad(axis) +
                             pool.window.explicit_pad(static_cast<int>(c.in.size()) + axis) -
                             pool.window.reach(axis, c.kernel[i]);
    CheckedInt extent = (ceil ? ceil_div(slack, c.strides[i]) : floor_div(slack, c.strides[i])) + 1;
    if (ceil) {
      const CheckedInt starts = c.in[i] + pool.window.explicit_pad(axis);
      extent = std::min(extent, ceil_div(starts, c.strides[i]));
    }
    out.push_back(pool.window.same() ? (c.in[i] + c.strides[i] - 1) / c.strides[i]
                                     : static_cast<int32_t>(extent.value()));
  }
  const Dims x = c.image(c.channels, c.in);
  Node node;
  node.input(kFloat, x, draw(random, x)).output(kFloat, c.image(c.channels, out));
  node.attributes(attributes);
  return node;
}

TEST(CudaProducts, PoolingOfRandomExtents) {
  std::mt19937 random(7);
  for (unsigned i = 0; i < 40; ++i) {
    const ConvCase c = random_conv(random);
    const bool ceil = pick(random, 0, 1) != 0;
    agree(
        on_device("MaxPool.cuda<float>"), cpu_kernel("MaxPool<float>"),
        [&] { return pool_node(c, MaxPoolAttributes(), ceil, i); }, 0);
    AveragePoolAttributes attributes;
    attributes.count_include_pad = pick(random, 0, 1);
    agree(on_device("AveragePool.cuda<float>"), cpu_kernel("AveragePool<float>"),
          [&] { return pool_node(c, attributes, ceil, i); });
  }
}

TEST(CudaProducts, PoolingMistakesAreFound) {
  ConvCase c;
  c.channels = 19;
  c.in = {9, 11};
  c.kernel = {2, 3};
  c.strides = {2, 3};
  c.dilations = {1, 1};
  c.pads = {0, 0, 0, 0};
  expect_mistakes_found(
      on_device("MaxPool.cuda<float>"), cpu_kernel("MaxPool<float>"),
      [&] { return pool_node(c, MaxPoolAttributes(), false, 8); }, 0);
}

Node global_node(const Dims& x, bool last) {
  std::mt19937 random(9);
  Dims y{x[0]};
  if (!last) y.push_back(x[1]);
  y.insert(y.end(), x.size() - 2, 1);
  if (last) y.push_back(x.back());
  Node node;
  node.input(kFloat, x, draw(random, x)).output(kFloat, y);
  node.attributes(GlobalPoolAttributes{last ? 1 : 0});
  return node;
}

TEST(CudaProducts, GlobalPoolingInBothLayouts) {
  for (const Dims& dims : {Dims{2, 7, 7, 37}, Dims{1, 5, 1}, Dims{3, 4, 70}, Dims{2, 3, 2, 3, 5}}) {
    for (bool last : {false, true}) {
      const auto make = [&] { return global_node(dims, last); };
      agree(on_device("GlobalAveragePool.cuda<float>"), cpu_kernel("GlobalAveragePool<float>"),
            make);
      agree(on_device("GlobalMaxPool.cuda<float>"), cpu_kernel("GlobalMaxPool<float>"), make, 0);
    }
  }
}

TEST(CudaProducts, AnEmptyBatchIsNoWork) {
  std::mt19937 random(15);
  ConvCase c = random_conv(random);
  c.batch = 0;
  const auto make = [&] { return conv_node(c, 1); };
  agree(on_device("Conv.cuda<float>"), cpu_kernel("Conv<float>"), make);
  agree(on_device("Conv.cuda packed<float>"), cpu_kernel("Conv<float>"), make);
  agree(on_device("MaxPool.cuda<float>"), cpu_kernel("MaxPool<float>"),
        [&] { return pool_node(c, MaxPoolAttributes(), false, 2); });
  agree(on_device("GlobalMaxPool.cuda<float>"), cpu_kernel("GlobalMaxPool<float>"), [] {
    return global_node({0, 3, 5}, false);
  });
}

TEST(CudaProducts, GlobalPoolingMistakesAreFound) {
  for (bool last : {false, true}) {
    expect_mistakes_found(
        on_device("GlobalAveragePool.cuda<float>"), cpu_kernel("GlobalAveragePool<float>"),
        [&] {
          return global_node({2, 16, 16, 64}, last);  // a position for every thread
        },
        1e-6);
  }
}

}  // namespace
}  // namespace intarsia::test
