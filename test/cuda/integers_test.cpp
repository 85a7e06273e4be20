// SPDX-License-Identifier: Apache-2.0
//
// CUDA kernels that masks, indices and conversions go through, beside the CPU's reference kernels:
// integers and bool, Cast, Where.
#include "kernels_cuda/elementwise/binary.h"
#include "kernels_cuda/elementwise/cast.h"
#include "test/cuda/typed_cases.h"

namespace intarsia::test {
namespace {

struct IntegerBroadcast {
  Dims x, y, z;
};
const IntegerBroadcast kIntegerBroadcasts[] = {
    {{3, 5, 7}, {3, 5, 7}, {3, 5, 7}}, {{3, 1, 7}, {5, 1}, {3, 5, 7}}, {{}, {2, 300}, {2, 300}},
    {{0, 3}, {1, 3}, {0, 3}},          {{9, 16}, {16}, {9, 16}},       {{9, 1}, {1, 32}, {9, 32}},
};

/// Node z = x op y of few values; no divisor is zero.
template <class Op, class T>
Node integer_node(const IntegerBroadcast& c) {
  constexpr DataType type = data_type_of<T>;
  std::vector<double> y = numbers_of(type, c.y, 2, -3, 3);
  if (Op::divides) std::replace(y.begin(), y.end(), 0.0, -1.0);
  Node node;
  node.input(type, c.x, numbers_of(type, c.x, 1, -9, 9)).input(type, c.y, y);
  node.output(data_type_of<typename Op::template Result<T>>, c.z);
  if constexpr (!std::is_empty_v<typename Op::Attributes>) {
    node.attributes(typename Op::Attributes());
  }
  return node;
}

template <class T, class... Ops>
void each_of(Types<Ops...>) {
  const auto one = [&]<class Op>(Op) {
    for (const IntegerBroadcast& c : kIntegerBroadcasts) {
      agree(
          cuda_kernel_of(Op::name, {data_type_of<T>}), cpu_kernel_of(Op::name, {data_type_of<T>}),
          [&] { return integer_node<Op, T>(c); }, 0);
    }
  };
  (one(Ops()), ...);
}

TEST(CudaIntegers, PairsOfIntegersAndBooleans) {
  each_of<int32_t>(cuda::IntegerOperators());
  each_of<int64_t>(cuda::IntegerOperators());
  each_of<bool>(cuda::BoolOperators());
  // What int64 holds and no float does; what wraps; the quotient that overflows.
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Equal", "Less"}) {
    const bool predicate = op[0] == 'E' || op[0] == 'L';
    Node expected, found;
    for (Node* node : {&expected, &found}) {
      node->input<int64_t>(
          {4}, {kLeast, (int64_t{1} << 60) + 1, std::numeric_limits<int64_t>::max(), 7});
      node->input<int64_t>({4}, {-1, int64_t{1} << 60, 2, -2});
      node->output(predicate ? DataType::kBool : DataType::kInt64, {4});
    }
    ASSERT_TRUE(expected.run(kernel_name(op, {DataType::kInt64})).ok());
    ASSERT_TRUE(found.run(cuda_kernel_of(op, {DataType::kInt64})).ok());
    if (predicate) {
      EXPECT_EQ(found.numbers(), expected.numbers()) << op;
    } else {
      EXPECT_EQ(found.result<int64_t>(), expected.result<int64_t>()) << op;
    }
  }
}

TEST(CudaIntegers, DivisorsAreConstantsOtherThanZero) {
  for (const char* op : {"Div", "Mod"}) {
    const KernelDescriptor* kernel =
        find_kernel(cuda::kernel_list(), std::string(op) + ".cuda<int32>");
    ASSERT_NE(kernel, nullptr);
    int32_t values[] = {1, 2, 0};
    const int32_t three = 3, two = 2;
    KernelContext context;
    TensorView operands[3] = {{nullptr, &three, DataType::kInt32, 1},
                              {values, &three, DataType::kInt32, 1},
                              {nullptr, &three, DataType::kInt32, 1}};
    context.operands_ = operands;
    context.input_count_ = 2;
    context.output_count_ = 1;
    EXPECT_FALSE(kernel->supports(context));
    operands[1].extents = &two;  // 1 and 2
    EXPECT_TRUE(kernel->supports(context));
    operands[1].data = nullptr;
    EXPECT_FALSE(kernel->supports(context));
  }
}

TEST(CudaIntegers, AnyByteButZeroIsTrue) {
  const std::vector<uint8_t> bytes{0, 1, 2, 255, 128, 0, 3, 1, 0, 0, 1, 2, 4, 8, 16, 32, 64};
  for (const bool packs : {true, false}) {
    const auto make = [&] {
      Node node;
      node.input<uint8_t>({17}, bytes).retype_input(0, DataType::kBool);
      node.output(DataType::kBool, {17});
      return node;
    };
    const KernelUnderTest device = on_device("Not.cuda<bool>");
    agree(packs ? device : unaligned(device), cpu_kernel("Not<bool>"), make, 0);
    const auto both = [&] {
      Node node;
      node.input<uint8_t>({17}, bytes).input<uint8_t>({1}, {2});
      node.retype_input(0, DataType::kBool).retype_input(1, DataType::kBool);
      node.output(DataType::kBool, {17});
      return node;
    };
    agree(on_device("And.cuda<bool>"), cpu_kernel("And<bool>"), both, 0);
    agree(on_device("Equal.cuda<bool>"), cpu_kernel("Equal<bool>"), both, 0);
  }
}

/// Numbers that a type tells from another: fractions, limits and what lies beyond them.
std::vector<double> numbers_for_casts(DataType from) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  switch (from) {
    case DataType::kBool:
      return {0, 1, 1, 0, 1, 0, 0};
    case DataType::kUint8:
      return {0, 1, 127, 128, 255, 77, 3};
    case DataType::kInt8:
      return {0, 1, -1, 127, -128, 77, 3};
    case DataType::kInt32:
      return {0, -1, 2049, 65519, 65520, -2147483648.0, 2147483647, 70000, 257};
    case DataType::kInt64:
      return {0, -1, 2051, 65519, 65520, -0x1p62, 0x1p53 - 1, 0x1p31, 257};
    default:
      return {0, -0.5, 0.5, -1.5, 2.5, 300, -300, 65504, kInf, -kInf, NAN, 1e-7, -127.9};
  }
}

template <class In, class... Outs>
void casts_from(Types<Outs...>) {
  constexpr DataType from = data_type_of<In>;
  for (const DataType to : {data_type_of<Outs>...}) {
    std::vector<double> x = numbers_for_casts(from);
    while (x.size() < 700) x.insert(x.end(), x.begin(), x.begin() + 5);
    const Dims dims{static_cast<int32_t>(x.size())};
    for (const bool packs : {true, false}) {
      const KernelUnderTest device = cuda_kernel_of("Cast", {from, to});
      agree(
          packs ? device : unaligned(device), cpu_kernel_of("Cast", {from, to}),
          [&] {
            Node node;
            node.input(from, dims, x).output(to, dims);
            return node;
          },
          0);
    }
  }
}
template <class... Ts>
void all_casts(Types<Ts...>) {
  (casts_from<Ts>(cuda::CastTypes()), ...);
}

TEST(CudaIntegers, CastsBetweenAllTypes) {
  all_casts(cuda::CastTypes());
}

struct WhereCase {
  Dims c, x, y, z;
};
Node where_node(DataType type, const WhereCase& w) {
  Node node;
  node.input(DataType::kBool, w.c, numbers_of(DataType::kBool, w.c, 1));
  node.input(type, w.x, numbers_of(type, w.x, 2, 0, 60));
  node.input(type, w.y, numbers_of(type, w.y, 3, 61, 120)).output(type, w.z);
  return node;
}

TEST(CudaIntegers, WhereBroadcastsAllThree) {
  const WhereCase cases[] = {
      {{3, 5, 7}, {3, 5, 7}, {3, 5, 7}, {3, 5, 7}},
      {{5, 1}, {7}, {3, 1, 1}, {3, 5, 7}},
      {{2, 1, 1, 48}, {2, 3, 5, 48}, {}, {2, 3, 5, 48}},
      {{}, {2, 300}, {1}, {2, 300}},
      {{0, 4}, {4}, {}, {0, 4}},
  };
  for (const DataType type :
       {DataType::kUint8, DataType::kFloat16, DataType::kFloat, DataType::kInt64}) {
    const KernelUnderTest device =
        on_device("Where.cuda<" + std::to_string(element_bits(type)) + " bits>");
    const KernelUnderTest reference = cpu_kernel(width_kernel_name("Where", type));
    for (const WhereCase& w : cases) {
      agree(
          device, reference, [&] { return where_node(type, w); }, 0);
      agree(
          unaligned(device), reference, [&] { return where_node(type, w); }, 0);
    }
  }
  expect_mistakes_found(
      on_device("Where.cuda<32 bits>"), cpu_kernel("Where<32 bits>"),
      [&] { return where_node(DataType::kFloat, cases[2]); }, 0);
  Node mixed;
  mixed.input(DataType::kBool, {1}, {1}).input<float>({1}, {1}).input<int32_t>({1}, {1});
  mixed.output<float>({1});
  EXPECT_EQ(mixed.check(on_device("Where.cuda<32 bits>")).code(), Code::kWrongType);
}

}  // namespace
}  // namespace intarsia::test
