// SPDX-License-Identifier: Apache-2.0
//
// Element-wise CUDA kernels beside the CPU's reference kernels, of every element type, by packs and
// element by element.
#include "kernels_cuda/elementwise/binary.h"
#include "kernels_cuda/elementwise/broadcast.h"
#include "kernels_cuda/elementwise/unary.h"
#include "test/cuda/typed_cases.h"

namespace intarsia::test {
namespace {

std::vector<double> numbers(const Dims& dims, unsigned seed, double low = -2, double high = 2) {
  return numbers_of(kFloat, dims, seed, low, high);
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

template <class Op, class T>
Node unary_node(const Dims& dims, const std::vector<double>& x,
                const typename Op::Attributes& attributes) {
  Node node;
  node.input(data_type_of<T>, dims, x);
  node.output(data_type_of<typename Op::template Result<T>>, dims);
  if (!std::is_empty_v<typename Op::Attributes>) node.attributes(attributes);
  return node;
}

template <class T, class Op>
void unary_of(const typename Op::Attributes& attributes) {
  constexpr DataType type = data_type_of<T>;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Interval interval = interval_of(Op::name, 3);
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{7, 33}, Dims{0, 3}, Dims{2, 3, 5, 71}}) {
    std::vector<double> x = numbers_of(type, dims, 1, interval.low, interval.high);
    if (x.size() > 1000) {
      x[3] = kInf;
      x[5] = -kInf;
      x[7] = std::numeric_limits<double>::quiet_NaN();
    }
    agree(
        cuda_kernel_of(Op::name, {type}), cpu_kernel_of(Op::name, {type}),
        [&] { return unary_node<Op, T>(dims, x, attributes); }, tolerance_of(type));
  }
}
template <class Op>
void unary(const typename Op::Attributes& attributes = {}) {
  unary_of<float, Op>(attributes);
  unary_of<Float16, Op>(attributes);
}
template <class... Ops>
void each_unary(Types<Ops...>) {
  (unary<Ops>(), ...);
}

TEST(CudaElementwise, UnaryOperators) {
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

TEST(CudaElementwise, UnaryMistakesAreFound) {
  const auto find = [](DataType type, const Dims& dims) {
    const KernelUnderTest device = cuda_kernel_of("Exp", {type});
    for (const KernelUnderTest& kernel : {device, unaligned(device)}) {
      expect_mistakes_found(
          kernel, cpu_kernel_of("Exp", {type}),
          [&] {
            Node node;
            return std::move(node.input(type, dims, numbers_of(type, dims, 2)).output(type, dims));
          },
          tolerance_of(type));
    }
  };
  find(kFloat, {7, 333});
  find(DataType::kFloat16, {7, 777});
}

TEST(CudaElementwise, OperandsThatPacksDoNotSuitAreTakenOneByOne) {
  const Dims dims{5, 77};
  for (const DataType type : {kFloat, DataType::kFloat16}) {
    for (const bool in_place : {false, true}) {
      const auto make = [&] {
        Node node;
        node.input(type, dims, numbers_of(type, dims, 3)).output(type, dims);
        if (in_place) node.in_place(0);
        return node;
      };
      const KernelUnderTest device = cuda_kernel_of("Sigmoid", {type});
      agree(device, cpu_kernel_of("Sigmoid", {type}), make, tolerance_of(type));
      agree(unaligned(device), cpu_kernel_of("Sigmoid", {type}), make, tolerance_of(type));
    }
  }
  agree(
      unaligned(on_device("IsNaN.cuda<float>")), cpu_kernel("IsNaN<float>"),
      [] {
        return unary_node<IsNaNOp, float>({6}, {1, 2, NAN, 3, NAN, 4}, {});
      },
      0);
}

Node clip_node(DataType type, const Dims& dims, int bounds, double low, double high) {
  Node node;
  node.input(type, dims, numbers_of(type, dims, 4));
  if ((bounds & 1) != 0) {
    node.input(type, {}, {low});
  } else {
    node.absent();
  }
  if ((bounds & 2) != 0) node.input(type, {}, {high});
  node.output(type, dims);
  return node;
}

TEST(CudaElementwise, ClipTakesEitherBoundBothOrNone) {
  for (const DataType type : {kFloat, DataType::kFloat16}) {
    const auto device = cuda_kernel_of("Clip", {type}), reference = cpu_kernel_of("Clip", {type});
    for (int bounds = 0; bounds < 4; ++bounds) {
      for (const Dims& dims : {Dims{}, Dims{3, 229}, Dims{3, 0}}) {
        agree(
            device, reference, [&] { return clip_node(type, dims, bounds, -0.5, 0.75); }, 0);
      }
    }
    // Bounds that cross.
    agree(
        device, reference,
        [&] {
          return clip_node(type, {3, 29}, 3, 0.75, -0.5);
        },
        0);
    expect_mistakes_found(
        device, reference,
        [&] {
          return clip_node(type, {3, 2229}, 3, -0.5, 0.75);
        },
        0);
  }
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
    // By packs: a row for all, a column, a mask, one pack to a row.
    {{9, 7, 16}, {16}, {9, 7, 16}},
    {{9, 48}, {9, 1}, {9, 48}},
    {{2, 1, 1, 24}, {2, 3, 5, 24}, {2, 3, 5, 24}},
    {{6, 8}, {8}, {6, 8}},
};

template <class T, class Op>
void binary_of(const typename Op::Attributes& attributes) {
  using Result = typename Op::template Result<T>;
  constexpr DataType type = data_type_of<T>;
  constexpr bool kPow = std::is_same_v<Op, PowOp>;  // named by both types
  const std::vector<DataType> types(kPow ? 2 : 1, type);
  const Interval interval = interval_of(Op::name, 2);
  const auto operand = [&](const Dims& dims, unsigned seed) {
    std::vector<double> values = numbers_of(type, dims, seed, interval.low, interval.high);
    // Few values, so that many pairs are equal.
    for (double& value : values) value = std::is_same_v<Result, bool> ? std::round(value) : value;
    return values;
  };
  for (const BroadcastCase& c : kBroadcasts) {
    if (std::is_same_v<Op, PReluOp> && c.x != c.z) continue;
    agree(
        cuda_kernel_of(Op::name, types), cpu_kernel_of(Op::name, types),
        [&] {
          Node node;
          node.input(type, c.x, operand(c.x, 5)).input(type, c.y, operand(c.y, 6));
          node.output(data_type_of<Result>, c.z);
          if (!std::is_empty_v<typename Op::Attributes>) node.attributes(attributes);
          return node;
        },
        tolerance_of(type));
  }
}
template <class Op>
void binary(const typename Op::Attributes& attributes = {}) {
  binary_of<float, Op>(attributes);
  binary_of<Float16, Op>(attributes);
}
template <class... Ops>
void each_binary(Types<Ops...>) {
  (binary<Ops>(), ...);
}

TEST(CudaElementwise, BinaryOperatorsBroadcast) {
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

TEST(CudaElementwise, BinaryMistakesOfNodesAreFound) {
  Node wider;
  wider.input<float>({1}, {1}).input<float>({2}, {1, 2}).output<float>({2});
  EXPECT_EQ(wider.check(on_device("PRelu.cuda<float>")).code(), Code::kWrongExtent);
  Node mode;
  mode.input<float>({1}, {1}).input<float>({1}, {2}).output<float>({1});
  EXPECT_EQ(mode.check(on_device("Mod.cuda<float>")).code(), Code::kCorruptPlan);
  mode.attributes(ModAttributes{2});
  EXPECT_EQ(mode.check(on_device("Mod.cuda<float>")).code(), Code::kInvalidValue);
}

/// How x and y are read for z, if all begin where packs of four may.
cuda::Broadcast<2> plan_of(const Dims& x, const Dims& y, const Dims& z) {
  const auto view = [](const Dims& dims) {
    return TensorView{nullptr, dims.data(), kFloat, static_cast<uint8_t>(dims.size())};
  };
  const TensorView first = view(x), second = view(y);
  return {view(z), {&first, &second}, 4, {true, true, true}};
}

TEST(CudaElementwise, PacksAreTakenWhereTheInnermostAxisAllowsThem) {
  EXPECT_TRUE(plan_of({3, 5, 7}, {3, 5, 7}, {3, 5, 7}).flat);
  EXPECT_EQ(plan_of({3, 5, 7}, {3, 5, 7}, {3, 5, 7}).packs, 26);  // and an element
  EXPECT_EQ(plan_of({3, 5, 7}, {1}, {3, 5, 7}).packs, 26);
  EXPECT_EQ(plan_of({9, 7, 16}, {16}, {9, 7, 16}).packs, 9 * 7 * 4);
  EXPECT_EQ(plan_of({9, 16}, {9, 1}, {9, 16}).packs, 9 * 4);
  EXPECT_EQ(plan_of({9, 7}, {7}, {9, 7}).packs, 0);
}

TEST(CudaElementwise, BinaryMistakesAreFound) {
  const auto find = [](DataType type, const Dims& x, const Dims& y, const Dims& z) {
    const KernelUnderTest device = cuda_kernel_of("Sub", {type});
    for (const KernelUnderTest& kernel : {device, unaligned(device)}) {
      expect_mistakes_found(
          kernel, cpu_kernel_of("Sub", {type}),
          [&] {
            Node node;
            node.input(type, x, numbers_of(type, x, 9)).input(type, y, numbers_of(type, y, 10));
            node.output(type, z);
            return node;
          },
          tolerance_of(type));
    }
  };
  find(kFloat, {3, 1, 7}, {5, 7}, {3, 5, 7});
  find(kFloat, {3, 16}, {16}, {3, 16});
  find(DataType::kFloat16, {3, 1, 16}, {5, 16}, {3, 5, 16});
}

}  // namespace
}  // namespace intarsia::test
