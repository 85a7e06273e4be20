// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/graph/sequence.h"
#include "intarsia/session.h"

namespace intarsia::tool {

using converter::Constant;

namespace {

/// Distance between neighbouring numbers of `type` around `value`.
double ulp_of(DataType type, double value) {
  int digits = 24, lowest = -126;
  switch (type) {
    case DataType::kDouble:
      digits = 53, lowest = -1022;
      break;
    case DataType::kFloat16:
      digits = 11, lowest = -14;
      break;
    case DataType::kBfloat16:
      digits = 8;
      break;
    default:
      break;
  }
  const int exponent = value == 0 ? lowest : std::max(lowest, std::ilogb(value));
  return std::ldexp(1.0, exponent - digits + 1);
}

}  // namespace

std::string compare(const Constant& found, const Constant& expected, const Tolerance& tolerance) {
  if (found.type != expected.type) {
    return fmt::format("type {}, expected {}", data_type_name(found.type),
                       data_type_name(expected.type));
  }
  if (holds_elements(expected.type)) {
    const auto left = converter::elements_of(found), right = converter::elements_of(expected);
    if (left.size() != right.size()) {
      return fmt::format("{} elements, expected {}", left.size(), right.size());
    }
    for (size_t i = 0; i < left.size(); ++i) {
      const std::string difference = compare(left[i], right[i], tolerance);
      if (difference.empty()) continue;
      const bool map = expected.type == DataType::kMap;
      return map ? fmt::format("{}: {}", i == 0 ? "keys" : "values", difference)
                 : fmt::format("element {}: {}", i, difference);
    }
    return {};
  }
  if (found.extents != expected.extents) {
    return fmt::format("extents {}, expected {}", converter::extents_text(found.extents),
                       converter::extents_text(expected.extents));
  }
  const int64_t count = expected.count();
  if (!expected.is_real()) {
    if (found == expected) return {};
    for (int64_t i = 0; expected.type == DataType::kString && i < count; ++i) {
      if (found.string(i) == expected.string(i)) continue;
      return fmt::format("element {} is '{}', expected '{}'", i, found.string(i),
                         expected.string(i));
    }
    for (int64_t i = 0; expected.is_integer() && i < count; ++i) {
      if (found.integer(i) == expected.integer(i)) continue;
      return fmt::format("element {} is {}, expected {}", i, found.integer(i), expected.integer(i));
    }
    return expected.is_integer() ? std::string() : "bytes differ";
  }
  double worst = 0;
  int64_t at = -1, wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double a = found.real(i), b = expected.real(i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    double excess = std::fabs(a - b) - (tolerance.absolute + tolerance.relative * std::fabs(b));
    if (std::isnan(excess) || std::isinf(b)) excess = std::numeric_limits<double>::infinity();
    if (excess <= 0) continue;
    ++wrong;
    if (at < 0 || excess > worst) worst = excess, at = i;
  }
  if (at < 0) return {};
  return fmt::format("{} of {} elements differ; the worst is element {}: {}, expected {}", wrong,
                     count, at, found.real(at), expected.real(at));
}

double largest_magnitude(const Constant& tensor) {
  double largest = 0;
  for (int64_t i = 0; tensor.is_real() && i < tensor.count(); ++i) {
    const double value = std::fabs(tensor.real(i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

Difference difference(const Constant& found, const Constant& expected) {
  Difference result;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double a = expected.is_real() ? found.real(i) : static_cast<double>(found.integer(i));
    const double b =
        expected.is_real() ? expected.real(i) : static_cast<double>(expected.integer(i));
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    double distance = std::fabs(a - b);
    if (std::isnan(distance)) distance = std::numeric_limits<double>::infinity();
    result.absolute = std::max(result.absolute, distance);
    if (expected.is_real()) result.ulp = std::max(result.ulp, distance / ulp_of(expected.type, b));
  }
  const double scale = largest_magnitude(expected);
  if (result.absolute > 0) {
    result.relative = scale > 0 ? result.absolute / scale : std::numeric_limits<double>::infinity();
  }
  return result;
}

uint32_t node_count(std::span<const std::byte> plan) {
  const Result<PlanInfo> info = plan_info(plan);
  return info.ok() ? info.value().node_count : 0;
}

}  // namespace intarsia::tool
