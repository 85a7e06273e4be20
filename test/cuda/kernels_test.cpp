// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators, softmax, movement and Inverse: the CUDA kernels' own sources in the
// emulator, beside the CPU's reference kernels.
#include "core/operators/movement/movement.h"
#include "kernels_cpu/elementwise/binary.h"
#include "kernels_cpu/elementwise/clip.h"
#include "kernels_cpu/elementwise/unary.h"
#include "kernels_cpu/movement/concat.h"
#include "kernels_cpu/movement/transpose.h"
#include "kernels_cuda/common/strided.h"
#include "kernels_cuda/elementwise/binary.h"
#include "kernels_cuda/elementwise/unary.h"
#include "kernels_cuda/linear_algebra/inverse.h"
#include "kernels_cuda/movement/movement.h"
#include "kernels_cuda/nn/softmax.h"
#include "test/cuda/kernel_cases.h"
#include "test/kernels/linear_algebra/inverse_naive.h"

namespace intarsia::test {
namespace {

constexpr DataType kFloat = DataType::kFloat;

std::vector<double> numbers(const Dims& dims, unsigned seed, double low = -2, double high = 2) {
  std::mt19937 random(seed);
  return random_numbers(kFloat, count_of(dims), random, low, high);
}

template <class Cuda, class Cpu, class A>
void unary(const A& attributes, double low = -3, double high = 3) {
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{7, 33}, Dims{0, 3}, Dims{2, 3, 5, 41}}) {
    agree(on_device<Cuda>(), under_test<Cpu>(), [&] {
      Node node;
      node.input(kFloat, dims, numbers(dims, 1, low, high)).output(kFloat, dims);
      if (!std::is_empty_v<A>) node.attributes(attributes);
      return node;
    });
  }
}

TEST(CudaKernels, UnaryOperators) {
  const NoAttributes none;
  unary<cuda::Unary<cuda::AbsOp>, cpu::Abs<float>>(none);
  unary<cuda::Unary<cuda::CeilOp>, cpu::Ceil<float>>(none);
  unary<cuda::Unary<cuda::EluOp>, cpu::Elu<float>>(AlphaAttributes{0.7f});
  unary<cuda::Unary<cuda::ErfOp>, cpu::Erf<float>>(none);
  unary<cuda::Unary<cuda::ExpOp>, cpu::Exp<float>>(none);
  unary<cuda::Unary<cuda::FloorOp>, cpu::Floor<float>>(none);
  unary<cuda::Unary<cuda::GeluOp>, cpu::Gelu<float>>(GeluAttributes{GeluAttributes::kNone});
  unary<cuda::Unary<cuda::GeluOp>, cpu::Gelu<float>>(GeluAttributes{GeluAttributes::kTanh});
  unary<cuda::Unary<cuda::HardSigmoidOp>, cpu::HardSigmoid<float>>(
      HardSigmoidAttributes{0.3f, 0.4f});
  unary<cuda::Unary<cuda::HardSwishOp>, cpu::HardSwish<float>>(none, -5, 5);
  unary<cuda::Unary<cuda::LeakyReluOp>, cpu::LeakyRelu<float>>(LeakyReluAttributes{0.2f});
  unary<cuda::Unary<cuda::LogOp>, cpu::Log<float>>(none, 0.1, 4);
  unary<cuda::Unary<cuda::NegOp>, cpu::Neg<float>>(none);
  unary<cuda::Unary<cuda::ReciprocalOp>, cpu::Reciprocal<float>>(none, 0.5, 4);
  unary<cuda::Unary<cuda::ReluOp>, cpu::Relu<float>>(none);
  unary<cuda::Unary<cuda::SigmoidOp>, cpu::Sigmoid<float>>(none);
  unary<cuda::Unary<cuda::SoftplusOp>, cpu::Softplus<float>>(none);
  unary<cuda::Unary<cuda::SqrtOp>, cpu::Sqrt<float>>(none, 0, 4);
  unary<cuda::Unary<cuda::SwishOp>, cpu::Swish<float>>(AlphaAttributes{1.5f});
  unary<cuda::Unary<cuda::TanhOp>, cpu::Tanh<float>>(none);
}

TEST(CudaKernels, UnaryMistakesAreFound) {
  const Dims dims{7, 33};
  expect_mistakes_found(on_device<cuda::Unary<cuda::ExpOp>>(), under_test<cpu::Exp<float>>(), [&] {
    Node node;
    node.input(kFloat, dims, numbers(dims, 2)).output(kFloat, dims);
    return node;
  });
}

TEST(CudaKernels, UnaryOperatorsMayOverwriteTheirInput) {
  const Dims dims{5, 77};
  agree(on_device<cuda::Unary<cuda::SigmoidOp>>(), under_test<cpu::Sigmoid<float>>(), [&] {
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
  const auto device = on_device<cuda::Clip>(), reference = under_test<cpu::Clip<float>>();
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

template <class Cuda, class Cpu>
void binary(double low = -2) {
  for (const BroadcastCase& c : kBroadcasts) {
    agree(on_device<Cuda>(), under_test<Cpu>(), [&] {
      Node node;
      node.input(kFloat, c.x, numbers(c.x, 5, low)).input(kFloat, c.y, numbers(c.y, 6, low));
      node.output(kFloat, c.z);
      return node;
    });
  }
}

TEST(CudaKernels, BinaryOperatorsBroadcast) {
  binary<cuda::Binary<cuda::AddOp>, cpu::Add<float>>();
  binary<cuda::Binary<cuda::SubOp>, cpu::Sub<float>>();
  binary<cuda::Binary<cuda::MulOp>, cpu::Mul<float>>();
  binary<cuda::Binary<cuda::DivOp>, cpu::Div<float>>(0.5);
  binary<cuda::Binary<cuda::MinOp>, cpu::Min<float>>();
  binary<cuda::Binary<cuda::MaxOp>, cpu::Max<float>>();
  binary<cuda::Binary<cuda::SumOp>, cpu::Sum<float>>();
  binary<cuda::Binary<cuda::PowOp>, cpu::Pow<float, float>>(0.1);
  const Dims x{2, 3, 7}, slope{3, 1};
  agree(on_device<cuda::Binary<cuda::PReluOp>>(), under_test<cpu::PRelu<float>>(), [&] {
    Node node;
    node.input(kFloat, x, numbers(x, 7)).input(kFloat, slope, numbers(slope, 8));
    node.output(kFloat, x);
    return node;
  });
}

TEST(CudaKernels, AxesMergeWhereNeighboursFormOneRunInEveryOperand) {
  cuda::StridedAxes<2> dense;
  for (const int64_t extent : {3, 1, 5, 7}) {
    const int64_t step = extent == 3 ? 35 : extent == 5 ? 7 : 1;
    dense.add(extent, {step, step});
  }
  EXPECT_EQ(dense.rank, 1);
  EXPECT_EQ(dense.extents[0], 105);
  for (const int broadcast : {0, 1}) {
    cuda::StridedAxes<2> axes;
    axes.add(3, {broadcast == 0 ? 0 : 7, broadcast == 1 ? 0 : 7});
    axes.add(7, {1, 1});
    EXPECT_EQ(axes.rank, 2);
    int64_t at[2];
    axes.locate(8, at);
    EXPECT_EQ(at[broadcast], 1);
    EXPECT_EQ(at[1 - broadcast], 8);
  }
}

TEST(CudaKernels, BinaryMistakesAreFound) {
  expect_mistakes_found(on_device<cuda::Binary<cuda::SubOp>>(), under_test<cpu::Sub<float>>(), [&] {
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
      agree(on_device<cuda::SoftmaxLike<cuda::SoftmaxOp>>(), cpu_kernel("Softmax<float>"), make);
      agree(on_device<cuda::SoftmaxLike<cuda::LogSoftmaxOp>>(), cpu_kernel("LogSoftmax<float>"),
            make);
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
  expect_mistakes_found(on_device<cuda::SoftmaxLike<cuda::LogSoftmaxOp>>(),
                        cpu_kernel("LogSoftmax<float>"), make, 1e-6);
}

TEST(CudaKernels, TransposeOfEveryWidth) {
  const auto node = [](DataType type, bool empty = false) {
    std::mt19937 random(12);
    const Dims dims{3, 5, empty ? 0 : 6, 7};
    TransposeAttributes attributes;
    for (int32_t axis : {2, 0, 3, 1}) attributes.perm.push(axis);
    Node made;
    made.input(type, dims, random_numbers(type, count_of(dims), random, 0, 100));
    made.output(type, {dims[2], 3, 7, 5}).attributes(attributes);
    return made;
  };
  agree(
      on_device<cuda::Transpose<ElementWidth::k8>>(), under_test<cpu::Transpose<cpu::Width<8>>>(),
      [&] { return node(DataType::kUint8, true); }, 0);
  agree(
      on_device<cuda::Transpose<ElementWidth::k8>>(), under_test<cpu::Transpose<cpu::Width<8>>>(),
      [&] { return node(DataType::kUint8); }, 0);
  agree(
      on_device<cuda::Transpose<ElementWidth::k16>>(), under_test<cpu::Transpose<cpu::Width<16>>>(),
      [&] { return node(DataType::kInt16); }, 0);
  agree(
      on_device<cuda::Transpose<ElementWidth::k64>>(), under_test<cpu::Transpose<cpu::Width<64>>>(),
      [&] { return node(DataType::kInt64); }, 0);
  expect_mistakes_found(
      on_device<cuda::Transpose<ElementWidth::k32>>(), under_test<cpu::Transpose<cpu::Width<32>>>(),
      [&] { return node(kFloat); }, 0);
}

TEST(CudaKernels, ViewsCopyWhatTheyCannotShare) {
  KernelUnderTest copy;
  copy.name = "copy";
  copy.run = [](const KernelContext& context) {
    std::memcpy(context.output(0).data, context.input(0).data,
                static_cast<size_t>(context.input(0).bytes()));
    return Status();
  };
  for (const DataType type : {kFloat, DataType::kInt64, DataType::kUint8}) {
    for (const Dims& dims : {Dims{3, 4, 7}, Dims{3, 0, 7}, Dims{1, 1, 1}}) {
      agree(
          on_device<cuda::View<cuda::FlattenOp>>(), copy,
          [&] {
            std::mt19937 random(21);
            Node node;
            node.input(type, dims, random_numbers(type, count_of(dims), random, 0, 100));
            node.output(type, {dims[0], dims[1] * dims[2]});
            return node;
          },
          0);
    }
  }
}

TEST(CudaKernels, ConcatAlongAnyAxis) {
  for (int32_t axis : {0, 1, -1}) {
    const auto make = [&] {
      Dims parts[3] = {{9, 8, 10}, {9, 8, 10}, {9, 8, 10}};
      const size_t at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      parts[0][at] = 0;
      parts[2][at] = 2;
      Dims whole{9, 8, 10};
      whole[at] = parts[1][at] + 2;
      Node node;
      for (unsigned i = 0; i < 3; ++i) node.input(kFloat, parts[i], numbers(parts[i], 13 + i));
      node.output(kFloat, whole).attributes(AxisAttributes{axis});
      return node;
    };
    agree(on_device<cuda::Concat<ElementWidth::k32>>(), under_test<cpu::Concat<cpu::Width<32>>>(),
          make, 0);
  }
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
    const KernelUnderTest kernel = on_device<cuda::Inverse<T>>();
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
        on_device<cuda::Inverse<Float16>>(), naive(),
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
  agree(on_device<cuda::Inverse<float>>(), naive(), [&] {
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
      EXPECT_EQ(singular_ones(on_device<cuda::Inverse<float>>(), kFloat, dims, values), expected);
    }
  }
}

TEST(CudaKernels, CTR_2_InverseOfEmptyAndSmallStacks) {
  for (const Dims& dims : {Dims{0, 3, 3}, Dims{3, 0, 0}, Dims{1, 1}, Dims{2, 3, 3}, Dims{48, 48}}) {
    const std::vector<double> values =
        count_of(dims) == 1 ? std::vector<double>{-0.25} : matrices(kFloat, dims, 15);
    agree(on_device<cuda::Inverse<float>>(), naive(),
          [&] { return inverse_node(kFloat, dims, values); });
  }
}

TEST(CudaKernels, CTR_3_MatricesMustBeSquare) {
  Node rectangle = inverse_node(kFloat, {2, 3}, numbers({2, 3}, 16));
  EXPECT_EQ(rectangle.check<cuda::Inverse<float>>().code(), Code::kWrongExtent);
  Node vector = inverse_node(kFloat, {3}, numbers({3}, 17));
  EXPECT_EQ(vector.check<cuda::Inverse<float>>().code(), Code::kWrongRank);
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
    ASSERT_TRUE(node.run(on_device<cuda::Inverse<float>>()).ok());
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
      on_device<cuda::Inverse<float>>(), naive(),
      [&] {
        return inverse_node(kFloat, {2, 12, 12}, values);
      },
      1e-5);
}

}  // namespace
}  // namespace intarsia::test
