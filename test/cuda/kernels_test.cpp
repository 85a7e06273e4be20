// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators, softmax and Inverse: the CUDA kernels' own sources in the
// emulator, beside the CPU's reference kernels.
#include "kernels_cuda/elementwise/binary.h"
#include "kernels_cuda/elementwise/unary.h"
#include "test/cuda/kernel_cases.h"
#include "test/kernels/linear_algebra/inverse_naive.h"

namespace intarsia::test {
namespace {

constexpr DataType kFloat = DataType::kFloat;

std::vector<double> numbers(const Dims& dims, unsigned seed, double low = -2, double high = 2) {
  std::mt19937 random(seed);
  return random_numbers(kFloat, count_of(dims), random, low, high);
}

KernelUnderTest reference(std::string_view op) {
  return cpu_kernel(std::string(op) + "<float>");
}
KernelUnderTest on_device_for_float(std::string_view op) {
  return on_device(std::string(op) + ".cuda<float>");
}

/// The interval in which a function has its values and its bends.
struct Interval {
  std::string_view op;
  double low, high;
};
constexpr Interval kIntervals[] = {
    {"Acos", -1, 1},      {"Acosh", 1, 4},        {"Asin", -1, 1}, {"Atanh", -0.9, 0.9},
    {"HardSwish", -5, 5}, {"Log", 0.1, 4},        {"Pow", 0.1, 2}, {"Sqrt", 0, 4},
    {"Tan", -1.4, 1.4},   {"Reciprocal", 0.5, 4}, {"Div", 0.5, 2}, {"Mod", 0.5, 2},
};
Interval interval_of(std::string_view op, double reach) {
  for (const Interval& each : kIntervals) {
    if (each.op == op) return each;
  }
  return {op, -reach, reach};
}

template <class Op>
void unary(const typename Op::Attributes& attributes = {}) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Interval interval = interval_of(Op::name, 3);
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{7, 33}, Dims{0, 3}, Dims{2, 3, 5, 41}}) {
    std::vector<double> x = numbers(dims, 1, interval.low, interval.high);
    if (x.size() > 1000) {
      x[3] = kInf;
      x[5] = -kInf;
      x[7] = std::numeric_limits<double>::quiet_NaN();
    }
    agree(on_device_for_float(Op::name), reference(Op::name), [&] {
      Node node;
      node.input(kFloat, dims, x).output(data_type_of<typename Op::template Result<float>>, dims);
      if (!std::is_empty_v<typename Op::Attributes>) node.attributes(attributes);
      return node;
    });
  }
}
template <class... Ops>
void each_unary(Types<Ops...>) {
  (unary<Ops>(), ...);
}

TEST(CudaKernels, UnaryOperators) {
  each_unary(cuda::UnaryOperators());
  unary<CeluOp>(AlphaAttributes{0.7f});
  unary<EluOp>(AlphaAttributes{0.7f});
  unary<GeluOp>(GeluAttributes{GeluAttributes::kTanh});
  unary<HardSigmoidOp>(HardSigmoidAttributes{0.3f, 0.4f});
  unary<IsInfOp>(IsInfAttributes{0, 1});
  unary<IsInfOp>(IsInfAttributes{1, 0});
  unary<LeakyReluOp>(LeakyReluAttributes{0.2f});
  unary<SeluOp>(SeluAttributes{1.2f, 0.9f});
  unary<SwishOp>(AlphaAttributes{1.5f});
  unary<ThresholdedReluOp>(AlphaAttributes{0.7f});
}

TEST(CudaKernels, UnaryMistakesAreFound) {
  const Dims dims{7, 33};
  expect_mistakes_found(on_device("Exp.cuda<float>"), cpu_kernel("Exp<float>"), [&] {
    Node node;
    node.input(kFloat, dims, numbers(dims, 2)).output(kFloat, dims);
    return node;
  });
}

TEST(CudaKernels, UnaryOperatorsMayOverwriteTheirInput) {
  const Dims dims{5, 77};
  agree(on_device("Sigmoid.cuda<float>"), cpu_kernel("Sigmoid<float>"), [&] {
    Node node;
    node.input(kFloat, dims, numbers(dims, 3)).output(kFloat, dims).in_place(0);
    return node;
  });
}

Node clip_node(const Dims& dims, int bounds, double low, double high) {
  Node node;
  node.input(kFloat, dims, numbers(dims, 4));
  if ((bounds & 1) != 0) {
    node.input(kFloat, {}, {low});
  } else {
    node.absent();
  }
  if ((bounds & 2) != 0) node.input(kFloat, {}, {high});
  node.output(kFloat, dims);
  return node;
}

TEST(CudaKernels, ClipTakesEitherBoundBothOrNone) {
  const auto device = on_device("Clip.cuda<float>"), reference = cpu_kernel("Clip<float>");
  for (int bounds = 0; bounds < 4; ++bounds) {
    for (const Dims& dims : {Dims{}, Dims{3, 229}, Dims{3, 0}}) {
      agree(
          device, reference, [&] { return clip_node(dims, bounds, -0.5, 0.75); }, 0);
    }
  }
  // Bounds that cross.
  agree(
      device, reference,
      [] {
        return clip_node({3, 29}, 3, 0.75, -0.5);
      },
      0);
  expect_mistakes_found(
      device, reference,
      [] {
        return clip_node({3, 229}, 3, -0.5, 0.75);
      },
      0);
}

struct BroadcastCase {
  Dims x, y, z;
};
const BroadcastCase kBroadcasts[] = {
    {{3, 5, 7}, {3, 5, 7}, {3, 5, 7}},
    {{3, 5, 7}, {7}, {3, 5, 7}},
    {{3, 1, 7}, {5, 1}, {3, 5, 7}},
    {{}, {2, 300}, {2, 300}},
    {{2, 1, 3, 1}, {4, 1, 5}, {2, 4, 3, 5}},
    {{0, 3}, {1, 3}, {0, 3}},
    {{}, {}, {}},
    {{5, 1}, {1, 311}, {5, 311}},
};

template <class Op>
void binary(const typename Op::Attributes& attributes = {}) {
  constexpr bool kPredicate = std::is_same_v<typename Op::template Result<float>, bool>;
  constexpr bool kPow = std::is_same_v<Op, PowOp>;  // named by both types
  const Interval interval = interval_of(Op::name, 2);
  const auto operand = [&](const Dims& dims, unsigned seed) {
    std::vector<double> values = numbers(dims, seed, interval.low, interval.high);
    // Few values, so that many pairs are equal.
    for (double& value : values) value = kPredicate ? std::round(value) : value;
    return values;
  };
  for (const BroadcastCase& c : kBroadcasts) {
    if (std::is_same_v<Op, PReluOp> && c.x != c.z) continue;
    agree(kPow ? on_device("Pow.cuda<float, float>") : on_device_for_float(Op::name),
          kPow ? cpu_kernel("Pow<float, float>") : reference(Op::name), [&] {
            Node node;
            node.input(kFloat, c.x, operand(c.x, 5)).input(kFloat, c.y, operand(c.y, 6));
            node.output(kPredicate ? DataType::kBool : kFloat, c.z);
            if (!std::is_empty_v<typename Op::Attributes>) node.attributes(attributes);
            return node;
          });
  }
}
template <class... Ops>
void each_binary(Types<Ops...>) {
  (binary<Ops>(), ...);
}

TEST(CudaKernels, BinaryOperatorsBroadcast) {
  each_binary(cuda::BinaryOperators());
  binary<ModOp>(ModAttributes{1});
  const Dims x{2, 3, 7}, slope{3, 1};
  agree(on_device("PRelu.cuda<float>"), cpu_kernel("PRelu<float>"), [&] {
    Node node;
    node.input(kFloat, x, numbers(x, 7)).input(kFloat, slope, numbers(slope, 8));
    node.output(kFloat, x);
    return node;
  });
}

TEST(CudaKernels, BinaryMistakesOfNodesAreFound) {
  Node wider;
  wider.input<float>({1}, {1}).input<float>({2}, {1, 2}).output<float>({2});
  EXPECT_EQ(wider.check(on_device("PRelu.cuda<float>")).code(), Code::kWrongExtent);
  Node mode;
  mode.input<float>({1}, {1}).input<float>({1}, {2}).output<float>({1});
  EXPECT_EQ(mode.check(on_device("Mod.cuda<float>")).code(), Code::kCorruptPlan);
  mode.attributes(ModAttributes{2});
  EXPECT_EQ(mode.check(on_device("Mod.cuda<float>")).code(), Code::kInvalidValue);
}

TEST(CudaKernels, BinaryMistakesAreFound) {
  expect_mistakes_found(on_device("Sub.cuda<float>"), cpu_kernel("Sub<float>"), [&] {
    Node node;
    node.input(kFloat, {3, 1, 7}, numbers({3, 1, 7}, 9)).input(kFloat, {5, 7}, numbers({5, 7}, 10));
    node.output(kFloat, {3, 5, 7});
    return node;
  });
}

Node softmax_node(const Dims& dims, int32_t axis) {
  Node node;
  node.input(kFloat, dims, numbers(dims, 11, -6, 6)).output(kFloat, dims);
  node.attributes(SoftmaxAttributes{axis});
  return node;
}

TEST(CudaKernels, SoftmaxAlongAnyAxis) {
  for (const Dims& dims :
       {Dims{}, Dims{1}, Dims{5, 301}, Dims{3, 37, 4}, Dims{2, 1, 33}, Dims{0, 4}}) {
    for (int axis = 0; axis < std::max<int>(1, static_cast<int>(dims.size())); ++axis) {
      const auto make = [&] { return softmax_node(dims, axis); };
      agree(on_device("Softmax.cuda<float>"), cpu_kernel("Softmax<float>"), make);
      agree(on_device("LogSoftmax.cuda<float>"), cpu_kernel("LogSoftmax<float>"), make);
    }
  }
}

Node rotate_node(const Dims& dims, const Dims& angles, int32_t interleaved) {
  Node node;
  node.input(kFloat, dims, numbers(dims, 12)).input(kFloat, angles, numbers(angles, 13));
  node.input(kFloat, angles, numbers(angles, 14)).output(kFloat, dims);
  node.attributes(RotateAttributes{interleaved});
  return node;
}

TEST(CudaKernels, RotateEqualsTheCpu) {
  for (const Dims& angles : {Dims{2, 1, 5, 3}, Dims{2, 3, 1, 4}, Dims{1, 1, 1, 0}}) {
    for (int32_t interleaved : {0, 1}) {
      const auto make = [&] { return rotate_node({2, 3, 5, 8}, angles, interleaved); };
      agree(on_device("intarsia:Rotate.cuda<float>"), cpu_kernel("intarsia:Rotate<float>"), make);
    }
  }
}

TEST(CudaKernels, SoftmaxMistakesAreFound) {
  // The result depends on the largest element only where exponentials overflow: it is found by
  // every warp, and as either of a thread's elements, in one of the lines.
  const auto make = [] {
    const Dims dims{6, 256};
    std::vector<double> values = numbers(dims, 11, -6, 6);
    size_t line = 0;
    for (const size_t largest : {0, 32, 64, 96, 128}) values[256 * line++ + largest] = 200;
    Node node;
    node.input(kFloat, dims, values).output(kFloat, dims).attributes(SoftmaxAttributes{1});
    return node;
  };
  expect_mistakes_found(on_device("LogSoftmax.cuda<float>"), cpu_kernel("LogSoftmax<float>"), make,
                        1e-6);
}

/// The reference for `agree`; computes in double whatever the type is.
Status run_naive_inverse(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (x.count() == 0) return {};
  store_numbers(y.type,
                naive_inverse(load_numbers(x.type, x.data, x.count()), x.extents[x.rank - 1]),
                static_cast<uint8_t*>(y.data));
  return {};
}
KernelUnderTest naive() {
  KernelUnderTest kernel;
  kernel.name = "naive inverse";
  kernel.run = &run_naive_inverse;
  return kernel;
}

Node inverse_node(DataType type, const Dims& dims, const std::vector<double>& values) {
  Node node;
  node.input(type, dims, values).output(type, dims);
  return node;
}

/// Random matrices with a zero in the corner, so that pivoting matters, far from singular.
std::vector<double> matrices(DataType type, const Dims& dims, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values = random_numbers(type, count_of(dims), random, -1, 1);
  const int n = dims.back();
  for (size_t i = 0; n > 1 && i < values.size(); i += static_cast<size_t>(n) * n) {
    for (int k = 0; k < n; ++k) values[i + static_cast<size_t>(k * n + (k + 1) % n)] += n;
    values[i] = 0;
  }
  std::vector<uint8_t> rounded(values.size() * 8);
  store_numbers(type, values, rounded.data());
  return load_numbers(type, rounded.data(), static_cast<int64_t>(values.size()));
}

TEST(CudaKernels, CTR_1_TheInverseTestsOfTheSpecification) {
  const std::vector<double> two{4, 7, 2, 6};
  const std::vector<double> four{4, 0, 0, 0, 0, 0, 2, 0, 0, 1, 2, 0, 1, 0, 0, 1};
  std::vector<double> twelve;
  for (int i = 0; i < 12; ++i) twelve.insert(twelve.end(), four.begin(), four.end());
  const auto check = [&]<class T>(T, double tolerance) {
    const DataType type = data_type_of<T>;
    const KernelUnderTest kernel = on_device(kernel_name("com.microsoft:Inverse.cuda", {type}));
    agree(
        kernel, naive(),
        [&] {
          return inverse_node(type, {2, 2}, two);
        },
        tolerance);
    agree(
        kernel, naive(),
        [&] {
          return inverse_node(type, {4, 4}, four);
        },
        tolerance);
    agree(
        kernel, naive(),
        [&] {
          return inverse_node(type, {3, 4, 4, 4}, twelve);
        },
        tolerance);
    const std::vector<double> sixteen = matrices(type, {5, 16, 16}, 14);
    agree(
        kernel, naive(),
        [&] {
          return inverse_node(type, {5, 16, 16}, sixteen);
        },
        tolerance);
  };
  check(float(), 1e-5);
  check(double(), 1e-13);
  check(Float16(), 1e-3);
}

TEST(CudaKernels, CTR_1_Float16OfAConditionNearHundred) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    // The largest element of the inverse is at most 1, so that this is 2.4e-3 at most.
    agree(
        on_device("com.microsoft:Inverse.cuda<float16>"), naive(),
        [&] {
          return inverse_node(DataType::kFloat16, {16, 16}, conditioned_matrix(16, 90, seed));
        },
        2.4e-3);
  }
}

TEST(CudaKernels, CTR_1_ThePivotIsTheLargestInMagnitude) {
  // Each has another wrong choice, which loses all digits.
  const std::vector<double> values{1e-7, 1, -1,   1, 0.5,  1, 1e-7, 1,
                                   -1,   1, 1e-7, 1, 1e-7, 1, 0.5,  1};
  agree(on_device("com.microsoft:Inverse.cuda<float>"), naive(), [&] {
    return inverse_node(kFloat, {4, 2, 2}, values);
  });
}

/// Which matrices of a stack have no inverse.
std::vector<bool> singular_ones(const KernelUnderTest& kernel, DataType type, const Dims& dims,
                                const std::vector<double>& values) {
  emulation::Emulator::get().reset();
  Node node = inverse_node(type, dims, values);
  (void)node.run(kernel);  // fails on the CPU, is reported on the device
  TestDevice::get().report = cuda::kNoFailure;
  std::vector<bool> result;
  const std::vector<double> inverses = node.numbers();
  for (size_t i = 0; i < inverses.size(); i += static_cast<size_t>(dims[1] * dims[2])) {
    result.push_back(std::isnan(inverses[i]));
  }
  return result;
}

TEST(CudaKernels, CTR_4_TheSameMatricesAreSingularOnBothDevices) {
  std::mt19937 random(20);
  for (int n : {2, 3, 4, 5}) {
    const Dims dims{100, n, n};
    for (const double unit : {1.0, 1.0 / 3}) {
      // Few values, so that many are singular; thirds, so that rounding decides.
      std::vector<double> values;
      for (int i = 0; i < 100 * n * n; ++i) {
        values.push_back(unit * std::uniform_int_distribution<int>(-2, 2)(random));
      }
      const std::vector<bool> expected =
          singular_ones(cpu_kernel("com.microsoft:Inverse<float>"), kFloat, dims, values);
      EXPECT_GT(std::count(expected.begin(), expected.end(), true), 2);
      EXPECT_EQ(singular_ones(on_device("com.microsoft:Inverse.cuda<float>"), kFloat, dims, values),
                expected);
    }
  }
}

TEST(CudaKernels, CTR_2_InverseOfEmptyAndSmallStacks) {
  for (const Dims& dims : {Dims{0, 3, 3}, Dims{3, 0, 0}, Dims{1, 1}, Dims{2, 3, 3}, Dims{48, 48}}) {
    const std::vector<double> values =
        count_of(dims) == 1 ? std::vector<double>{-0.25} : matrices(kFloat, dims, 15);
    agree(on_device("com.microsoft:Inverse.cuda<float>"), naive(),
          [&] { return inverse_node(kFloat, dims, values); });
  }
}

TEST(CudaKernels, CTR_3_MatricesMustBeSquare) {
  Node rectangle = inverse_node(kFloat, {2, 3}, numbers({2, 3}, 16));
  EXPECT_EQ(rectangle.check(on_device("com.microsoft:Inverse.cuda<float>")).code(),
            Code::kWrongExtent);
  Node vector = inverse_node(kFloat, {3}, numbers({3}, 17));
  EXPECT_EQ(vector.check(on_device("com.microsoft:Inverse.cuda<float>")).code(), Code::kWrongRank);
}

TEST(CudaKernels, CTR_4_ASingularMatrixIsReportedAndFilledWithNaN) {
  std::vector<double> values = matrices(kFloat, {4, 3, 3}, 18);
  // Matrix 1 has no first pivot; in matrix 3, where a row repeats another, the last one is zero.
  for (size_t i = 0; i < 3; ++i) {
    values[9 * 1 + 3 * i] = 0;
    values[9 * 3 + 3 + i] = values[9 * 3 + i];
  }
  cuda::Report& report = TestDevice::get().report;
  for (const auto order : {emulation::Order::kForward, emulation::Order::kReverse}) {
    emulation::Emulator::get().reset(order);
    report = cuda::kNoFailure;
    Node node = inverse_node(kFloat, {4, 3, 3}, values);
    ASSERT_TRUE(node.run(on_device("com.microsoft:Inverse.cuda<float>")).ok());
    EXPECT_TRUE(emulation::Emulator::get().violations().empty());
    EXPECT_EQ(cuda::item_of(report), 1);
    const std::vector<double> found = node.numbers();
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(std::isnan(found[i]), i / 9 == 1 || i / 9 == 3) << i;
    }
  }
  report = cuda::kNoFailure;
}

TEST(CudaKernels, InverseMistakesAreFound) {
  const std::vector<double> values = matrices(kFloat, {2, 12, 12}, 19);
  expect_mistakes_found(
      on_device("com.microsoft:Inverse.cuda<float>"), naive(),
      [&] {
        return inverse_node(kFloat, {2, 12, 12}, values);
      },
      1e-5);
}

}  // namespace
}  // namespace intarsia::test
