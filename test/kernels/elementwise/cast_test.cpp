// SPDX-License-Identifier: Apache-2.0
//
// Cast between the types that C++ has: rounding, wrap-around and saturation as the specification
// has them, on every instruction set.
#include <cmath>
#include <limits>

#include "core/operators/elementwise/elementwise.h"
#include "kernels_cpu/math/element.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/kernels/gemm/harness.h"

namespace intarsia::test {
namespace {

template <class In, class Out>
std::vector<Out> cast(const std::vector<In>& x, Isa isa = Isa::kPortable) {
  Node node;
  node.isa(isa);
  const Dims dims{static_cast<int32_t>(x.size())};
  node.input<In>(dims, x).template output<Out>(dims).attributes(
      CastAttributes{static_cast<int32_t>(data_type_of<Out>), 1, 0});
  EXPECT_TRUE(node.run(kernel_name("Cast", {data_type_of<In>, data_type_of<Out>})).ok());
  return node.result<Out>();
}

TEST(Cast, Rules) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ((cast<int16_t, int8_t>({200, -3})), (std::vector<int8_t>{-56, -3}));
  EXPECT_EQ((cast<int64_t, uint32_t>({-1, int64_t{1} << 32})),
            (std::vector<uint32_t>{0xffffffffu, 0}));
  EXPECT_EQ((cast<float, int32_t>({-2.7f, 2.7f, 3e10f, -inf, NAN})),
            (std::vector<int32_t>{-2, 2, std::numeric_limits<int32_t>::max(),
                                  std::numeric_limits<int32_t>::min(), 0}));
  EXPECT_EQ((cast<double, uint64_t>({1.9, -0.9, 1e30})),
            (std::vector<uint64_t>{1, 0, std::numeric_limits<uint64_t>::max()}));
  EXPECT_EQ((cast<double, int64_t>({-9223372036854775808.0, 9223372036854774784.0})),
            (std::vector<int64_t>{std::numeric_limits<int64_t>::min(), 9223372036854774784}));
  EXPECT_EQ((cast<float, bool>({0.0f, -0.0f, 0.1f, NAN})),
            (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ((cast<bool, float>({true, false})), (std::vector<float>{1, 0}));
  EXPECT_EQ((cast<double, float>({1e300, -1e300})), (std::vector<float>{inf, -inf}));
  const auto halves = cast<double, Float16>({65520, 65519.99, 0.1, 1 + 0x1p-11 + 0x1p-40});
  EXPECT_EQ(halves[0].bits, 0x7c00);
  EXPECT_EQ(halves[1].bits, 0x7bff);
  EXPECT_EQ(halves[2].bits, 0x2e66);
  EXPECT_EQ(halves[3].bits, 0x3c01);  // rounding twice would lose the 2^-40 and go to the even 1
  const auto brains = cast<int32_t, BFloat16>({(1 << 24) + (1 << 16) + 1, -3});
  EXPECT_EQ(static_cast<float>(brains[0]), (1 << 24) + (1 << 17));
  EXPECT_EQ(static_cast<float>(brains[1]), -3);
  EXPECT_EQ((cast<Float16, int8_t>({Float16(-7.5f)})), (std::vector<int8_t>{-7}));
}

/// Real numbers within the limits of Out, at them and beyond, at every place of a vector and in
/// every number of elements up to some vectors and above a block.
template <class In, class Out>
void expect_saturated(Isa isa) {
  using Limits = std::numeric_limits<Out>;
  const double low = Limits::min(), high = static_cast<double>(Limits::max());
  const double inf = std::numeric_limits<double>::infinity();
  const double values[] = {0,          -0.9,     1.9, -2.7, 99.5, low,      low + 1,  low - 1, high,
                           high - 1.5, high + 1, NAN, inf,  -inf, low * 16, high * 4, 64.25};
  for (size_t count = 1; count < 600; count += count < 70 ? 1 : 97) {
    std::vector<In> x(count);
    std::vector<Out> expected(count);
    for (size_t i = 0; i < count; ++i) {
      x[i] = In(static_cast<float>(values[(i + count) % std::size(values)]));
      if constexpr (std::is_same_v<In, double>) x[i] = values[(i + count) % std::size(values)];
      expected[i] = saturate_cast<Out>(static_cast<double>(cpu::Element<In>::load(x[i])));
    }
    ASSERT_EQ((cast<In, Out>(x, isa)), expected) << count << " on " << static_cast<int>(isa);
  }
}

TEST(Cast, SaturatesOnEveryInstructionSet) {
  for (const Isa isa : cpu::available_isas()) {
    const auto of = [isa](auto in) {
      using In = decltype(in);
      expect_saturated<In, int8_t>(isa);
      expect_saturated<In, uint8_t>(isa);
      expect_saturated<In, int16_t>(isa);
      expect_saturated<In, uint16_t>(isa);
      expect_saturated<In, int32_t>(isa);
      expect_saturated<In, uint32_t>(isa);
      expect_saturated<In, int64_t>(isa);
      expect_saturated<In, uint64_t>(isa);
    };
    of(float{});
    of(double{});
    of(Float16{});
  }
}

TEST(Cast, IntegersOf64BitsToDoubleOnEveryInstructionSet) {
  for (const Isa isa : cpu::available_isas()) {
    std::vector<int64_t> x(37);
    std::vector<uint64_t> wide(37);
    for (size_t i = 0; i < x.size(); ++i) {
      wide[i] = uint64_t{0x9e3779b97f4a7c15} * (i + 1) >> (i % 3 * 20);
      x[i] = static_cast<int64_t>(wide[i]);
    }
    EXPECT_EQ((cast<int64_t, double>(x, isa)), (std::vector<double>(x.begin(), x.end())));
    EXPECT_EQ((cast<int64_t, float>(x, isa)), (std::vector<float>(x.begin(), x.end())));
    EXPECT_EQ((cast<uint64_t, double>(wide, isa)), (std::vector<double>(wide.begin(), wide.end())));
  }
}

}  // namespace
}  // namespace intarsia::test
