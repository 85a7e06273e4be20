// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of Range, and the number of its elements, which rule and kernel agree
// on.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct RangeAttributes {
  /// Type in which 16-bit elements are computed; kFloat is the only one.
  int32_t stash_type = static_cast<int32_t>(DataType::kFloat);
  template <class V>
  void fields(V& v) {
    v("stash_type", stash_type, between(1, 1));
  }
};
static_assert(is_plan_struct<RangeAttributes>);

namespace ops {

/// Number of elements of Range over reals; -1 if there is no such number.
inline int64_t real_range_count(double start, double limit, double delta) {
  const double count = (limit - start) / delta;
  if (!(count < 9.0e15) || delta == 0) return -1;  // NaN included
  if (count <= 0) return 0;
  const auto whole = static_cast<int64_t>(count);
  return whole + (static_cast<double>(whole) < count ? 1 : 0);
}

/// Number of elements of Range over integers. REQUIRES: delta is not 0.
template <class Dim>
Dim range_count(const Dim& start, const Dim& limit, const Dim& delta) {
  return dim_max(Dim(0), ceil_div(limit - start, delta));
}
inline CheckedInt range_count(CheckedInt from, CheckedInt to, CheckedInt by) {
  const int64_t start = from.value(), limit = to.value(), delta = by.value();
  if (delta > 0 ? limit <= start : limit >= start) return 0;
  // The distance of two int64 may need 64 bits.
  const uint64_t distance =
      delta > 0 ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
  const uint64_t step = delta > 0 ? uint64_t(delta) : uint64_t{0} - uint64_t(delta);
  const uint64_t count = (distance - 1) / step + 1;
  return count > uint64_t{INT64_MAX} ? CheckedInt::kBeyond : static_cast<int64_t>(count);
}

struct Range {
  using Attributes = RangeAttributes;
  static constexpr std::string_view name = "Range";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    for (int input = 0; input < 3; ++input) {
      if (Status status = s.require_equal(1, s.value_count(input), "number of elements", input);
          !status) {
        return status;
      }
    }
    Shape<Dim> result;
    const bool real = s.type(0) == DataType::kFloat || s.type(0) == DataType::kDouble ||
                      s.type(0) == DataType::kFloat16 || s.type(0) == DataType::kBfloat16;
    if (real && s.has_values(0) && s.has_values(1) && s.has_values(2)) {
      const int64_t count =
          real_range_count(s.real_value(0, 0), s.real_value(1, 0), s.real_value(2, 0));
      if (count < 0)
        return s.fail(Code::kInvalidValue, "delta, or the number of elements", 0, 0, 2);
      result.push(count);
    } else {
      const Dim delta = s.value(2, 0);
      if (delta == Dim(0)) return s.fail(Code::kInvalidValue, "delta 0", 0, 0, 2);
      // A real step that is not known may be a fraction: no bound of the others bounds the count.
      const bool open = real && !is_constant(delta);
      result.push(open ? any_extent<Dim>() : range_count(s.value(0, 0), s.value(1, 0), delta));
    }
    return s.set_output(0, s.type(0), result);
  }
};

}  // namespace ops
}  // namespace intarsia
