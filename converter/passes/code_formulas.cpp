// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/code_formulas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace intarsia::converter {
namespace {

constexpr int kCodes = 256;

/// The codes that a formula gives for all pairs.
class AllPairs {
 public:
  /// `number(a, b)`: what is rounded; `zero` is added to the integer.
  template <class Number>
  AllPairs(DataType type, float zero, const Number& number)
      : low_(type == DataType::kInt8 ? -128.0f : 0.0f) {
    codes_.reserve(kCodes * kCodes);
    for_pairs([&](float a, float b) {
      const float quotient = number(a, b);
      finite_ = finite_ && std::isfinite(quotient);
      codes_.push_back(code(std::nearbyint(quotient) + zero));
      return true;
    });
  }

  /// Whether all numbers were finite, as those of codes are.
  bool is_finite() const { return finite_; }

  /// Whether another formula gives the same codes.
  template <class Number>
  bool are_of(const Number& number) const {
    size_t at = 0;
    return for_pairs(
        [&](float a, float b) { return code(std::nearbyint(number(a, b))) == codes_[at++]; });
  }

 private:
  float code(float number) const { return std::clamp(number, low_, low_ + (kCodes - 1)); }

  /// Ends with false as soon as a body does.
  template <class Body>
  bool for_pairs(const Body& body) const {
    for (int a = 0; a < kCodes; ++a) {
      for (int b = 0; b < kCodes; ++b) {
        if (!body(low_ + static_cast<float>(a), low_ + static_cast<float>(b))) return false;
      }
    }
    return true;
  }

  float low_;
  bool finite_ = true;
  std::vector<float> codes_;
};

/// Floats at and around a number, the nearest ones first.
std::vector<float> around(double number, int steps) {
  constexpr float kFar = std::numeric_limits<float>::infinity();
  const auto middle = static_cast<float>(number);
  std::vector<float> all{middle};
  for (float below = middle, above = middle; steps > 0; --steps) {
    all.push_back(below = std::nextafter(below, -kFar));
    all.push_back(above = std::nextafter(above, kFar));
  }
  return all;
}

/// Addends around a number: by a part of what a sum of codes is rounded by.
std::vector<float> addends_around(double number) {
  constexpr double kStep = 0x1p-19;
  std::vector<float> all;
  for (int step = 0; step <= 8; ++step) {
    all.push_back(static_cast<float>(number + step * kStep));
    if (step > 0) all.push_back(static_cast<float>(number - step * kStep));
  }
  return all;
}

}  // namespace

std::optional<std::array<float, 3>> as_sum_of_codes(DataType type, const DequantizedNumbers& by) {
  const AllPairs exact(type, by.zero, [&](float a, float b) {
    return ((a - by.a_zero) * by.a_scale + (b - by.b_zero) * by.b_scale) / by.scale;
  });
  if (!exact.is_finite()) return std::nullopt;
  const double scale = by.scale, a_factor = by.a_scale / scale, b_factor = by.b_scale / scale;
  const double addend = by.zero - by.a_zero * a_factor - by.b_zero * b_factor;
  for (const float f : around(a_factor, 2)) {
    for (const float g : around(b_factor, 2)) {
      for (const float c : addends_around(addend)) {
        if (exact.are_of([=](float a, float b) { return (a * f + c) + b * g; }) &&
            exact.are_of([=](float a, float b) { return std::fma(b, g, std::fma(a, f, c)); })) {
          return std::array{f, c, g};
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<std::array<float, 4>> as_product_of_codes(DataType type,
                                                        const DequantizedNumbers& by) {
  const AllPairs exact(type, by.zero, [&](float a, float b) {
    return (a - by.a_zero) * by.a_scale * ((b - by.b_zero) * by.b_scale) / by.scale;
  });
  if (!exact.is_finite()) return std::nullopt;
  const double factor = double{by.a_scale} * by.b_scale / by.scale;
  for (const float f : around(factor, 4)) {
    for (const float c : addends_around(by.zero)) {
      const auto number = [&](float a, float b) {
        return (a - by.a_zero) * (b - by.b_zero) * f + c;
      };
      if (exact.are_of(number)) return std::array{by.a_zero, by.b_zero, f, c};
    }
  }
  return std::nullopt;
}

}  // namespace intarsia::converter
