// SPDX-License-Identifier: Apache-2.0
//
// Sums and products of codes, MapCodes and SumCodes against their formulas, exactly, on every
// instruction set: rows of any length, operands that broadcast, numbers in the middle between two
// codes, and such that no code stands for. Beside ONNX Runtime:
// test/nodes/contrib_quantized_test.py.
#include <cmath>
#include <limits>

#include "core/operators/reduction/reduction.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

template <class T>
std::vector<T> some_codes(int64_t count, std::mt19937& engine) {
  using L = std::numeric_limits<T>;
  return random_values<T>(count, engine, L::min(), L::max());
}

template <class T>
T saturated(float number) {
  using L = std::numeric_limits<T>;
  return static_cast<T>(std::clamp<float>(std::nearbyint(number), L::min(), L::max()));
}

/// `numbers`: of the node, behind a and b. `formula(a, b)`.
template <class T, class Formula>
void expect_combined(const std::string& name, std::initializer_list<float> numbers,
                     const Formula& formula) {
  std::mt19937 engine(5);
  const std::pair<Dims, Dims> shapes[] = {
      {{3, 1100}, {3, 1100}}, {{3, 1100}, {3, 1}}, {{1}, {2, 77}}, {{4, 5}, {4, 5}}, {{}, {}},
      {{0, 3}, {0, 3}}};
  for (const auto& [a_dims, b_dims] : shapes) {
    const Dims& y_dims = count_of(b_dims) > count_of(a_dims) ? b_dims : a_dims;
    const int64_t row = y_dims.empty() ? 1 : y_dims.back();
    const auto a = some_codes<T>(count_of(a_dims), engine);
    const auto b = some_codes<T>(count_of(b_dims), engine);
    std::vector<T> expected;
    for (int64_t i = 0; i < count_of(y_dims); ++i) {
      const auto at = [&](const std::vector<T>& codes) {
        const auto size = static_cast<int64_t>(codes.size());
        const int64_t place = size == count_of(y_dims) ? i : size == 1 ? 0 : i / row;
        return static_cast<float>(codes[static_cast<size_t>(place)]);
      };
      expected.push_back(saturated<T>(formula(at(a), at(b))));
    }
    for (const Isa isa : cpu::available_isas()) {
      SCOPED_TRACE(name + " on " + cpu::isa_name(isa));
      Node node;
      node.input<T>(a_dims, a).template input<T>(b_dims, b);
      for (const float number : numbers) node.input<float>({}, {number});
      node.output<T>(y_dims).isa(isa).threads(2);
      const std::string type = std::is_signed_v<T> ? "<int8>" : "<uint8>";
      ASSERT_TRUE(node.run("intarsia:" + name + type).ok()) << node.diagnostic().what;
      EXPECT_EQ(node.result<T>(), expected);
    }
  }
}

template <class T>
void expect_all_combined() {
  // Numbers without roundings, or with no middles between codes, can be fused as well.
  for (const auto& [f, c, g] : {std::array{0.5f, -17.5f, 0.25f},
                                {1e30f, -17.5f, 0.25f},
                                {-0.3125f, 200, 1.5f},
                                {0.3f, -17.31f, 0.283f}}) {
    expect_combined<T>("AddCodes", {f, c, g},
                       [f = f, c = c, g = g](float a, float b) { return (a * f + c) + b * g; });
  }
  // Powers of two make middles between codes; large ones leave their range.
  for (const float f : {0.5f, 0.3f, 1e30f}) {
    const float c = -17.5f, g = 0.25f;
    expect_combined<T>("MultiplyCodes", {3, -7, f / 16, c},
                       [=](float a, float b) { return (a - 3) * (b + 7) * (f / 16) + c; });
    // Rounded before the zero point, which is odd, is added.
    const float s = 0.375f;
    expect_combined<T>("AddDequantized", {5, f, -9, g, s, 17}, [=](float a, float b) {
      return std::nearbyint(((a - 5) * f + (b + 9) * g) / s) + 17;
    });
    expect_combined<T>("MultiplyDequantized", {5, f, -9, g, 2 * s, 17}, [=](float a, float b) {
      return std::nearbyint((a - 5) * f * ((b + 9) * g) / (2 * s)) + 17;
    });
  }
}

TEST(Codes, AreCombined) {
  expect_all_combined<int8_t>();
  expect_all_combined<uint8_t>();
}

TEST(Codes, AreMapped) {
  std::mt19937 engine(6);
  for (const int32_t count : {0, 1, 31, 64, 65, 127, 300, 5000}) {
    const auto x = some_codes<int8_t>(count, engine), table = some_codes<int8_t>(256, engine);
    std::vector<int8_t> expected;
    for (const int8_t code : x) expected.push_back(table[static_cast<uint8_t>(code)]);
    for (const Isa isa : cpu::available_byte_isas()) {
      for (const bool in_place : {false, true}) {
        Node node;
        node.input<int8_t>({count}, x).input<int8_t>({256}, table).output<int8_t>({count});
        if (in_place) node.in_place(0);
        ASSERT_TRUE(node.isa(isa).threads(2).run("intarsia:MapCodes<int8>").ok());
        EXPECT_EQ(node.result<int8_t>(), expected) << cpu::isa_name(isa);
      }
    }
  }
}

template <class T>
void expect_summed(const Dims& dims, const std::vector<T>& x) {
  for (const std::vector<int64_t>& axes :
       {std::vector<int64_t>{2, 3}, {1}, {0, 3}, {-1}, {0, 1, 2, 3}}) {
    bool reduced[4] = {};
    for (const int64_t axis : axes) reduced[axis < 0 ? axis + 4 : axis] = true;
    Dims y_dims;
    for (size_t axis = 0; axis < 4; ++axis) y_dims.push_back(reduced[axis] ? 1 : dims[axis]);
    std::vector<int32_t> expected(static_cast<size_t>(count_of(y_dims)));
    for (int64_t i = 0; i < count_of(dims); ++i) {
      int64_t rest = i, place = 0, step = 1;
      for (size_t axis = 4; axis-- > 0;) {
        if (!reduced[axis]) place += rest % dims[axis] * step;
        step *= y_dims[axis];
        rest /= dims[axis];
      }
      expected[static_cast<size_t>(place)] += x[static_cast<size_t>(i)];
    }
    for (const Isa isa : cpu::available_isas()) {
      Node node;
      node.input<T>(dims, x).template input<int64_t>({static_cast<int32_t>(axes.size())}, axes);
      node.output<int32_t>(y_dims).attributes(ReduceAttributes{}).isa(isa).threads(3);
      const std::string type = std::is_signed_v<T> ? "<int8>" : "<uint8>";
      ASSERT_TRUE(node.run("intarsia:SumCodes" + type).ok()) << node.diagnostic().what;
      EXPECT_EQ(node.result<int32_t>(), expected) << cpu::isa_name(isa);
    }
  }
}

TEST(Codes, AreSummed) {
  std::mt19937 engine(7);
  const Dims dims{3, 41, 5, 7};
  const auto count = count_of(dims);
  expect_summed(dims, some_codes<uint8_t>(count, engine));
  expect_summed(dims, some_codes<int8_t>(count, engine));
  // What most of a sum can be, at either end.
  for (const int end : {-128, 127}) {
    expect_summed(dims, std::vector(static_cast<size_t>(count), static_cast<uint8_t>(end + 128)));
    expect_summed(dims, std::vector(static_cast<size_t>(count), static_cast<int8_t>(end)));
  }
}

TEST(Codes, Refused) {
  const auto add = [](const Dims& a, const Dims& b, const Dims& number) {
    Node node;
    node.input<uint8_t>(a, std::vector<uint8_t>(static_cast<size_t>(count_of(a))));
    node.input<uint8_t>(b, std::vector<uint8_t>(static_cast<size_t>(count_of(b))));
    node.input<float>({}, {1}).input<float>(number, {1}).input<float>({}, {1});
    return node.output<uint8_t>({2, 3}).check("intarsia:AddCodes<uint8>").code();
  };
  EXPECT_EQ(add({2, 3}, {3}, {}), Code::kOk);
  EXPECT_EQ(add({2, 3}, {3}, {1}), Code::kWrongRank);
  EXPECT_NE(add({2, 3}, {2}, {}), Code::kOk);
  Node map;
  map.input<uint8_t>({2}, {1, 2}).input<uint8_t>({255}, std::vector<uint8_t>(255));
  EXPECT_EQ(map.output<uint8_t>({2}).check("intarsia:MapCodes<uint8>").code(), Code::kWrongExtent);
}

}  // namespace
}  // namespace intarsia::test
