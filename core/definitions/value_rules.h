// SPDX-License-Identifier: Apache-2.0
//
// What the rules of data propagation are made of: a node as they see it, and how the result of a
// rule becomes what is known of an output. For their sources only.
//
// Elements of real tensors are followed as fractions with one denominator per tensor, as long as
// the arithmetic on reals is exact: numerators fit the significand and the denominator is a power
// of two. Any other denominator stands for a quotient that was rounded once; rounding it down or up
// to a whole number is still exact, and nothing else may be done with it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "core/definitions/value_propagation.h"

namespace intarsia::definitions::propagation {

using Inputs = std::span<const SymbolicInput>;
using Outputs = std::span<const SymbolicOutput>;
using List = std::vector<Dim>;
using Result = std::optional<List>;

/// Largest power of two by which a constant real is multiplied in search of a whole number.
inline constexpr int64_t kLargestDenominator = 1024;

/// Up to this number a real type has every whole number; 0 for other types.
inline int64_t exact_limit(DataType type) {
  switch (type) {
    case DataType::kDouble:
      return int64_t{1} << 53;
    case DataType::kFloat:
      return int64_t{1} << 24;
    case DataType::kFloat16:
      return int64_t{1} << 11;
    case DataType::kBfloat16:
      return int64_t{1} << 8;
    default:
      return 0;
  }
}

inline bool is_real_type(DataType type) {
  return exact_limit(type) != 0;
}

/// True if every number is exact in the type. Integers are taken as they are.
inline bool fits(DataType type, const List& numbers) {
  const int64_t limit = exact_limit(type);
  return std::all_of(numbers.begin(), numbers.end(), [limit](const Dim& number) {
    return limit == 0 || (number.lower() >= -limit && number.upper() <= limit);
  });
}

/// What is known of an input as fractions.
inline Elements fractions(const SymbolicInput& input) {
  if (!input.reals) return {input.values, input.denominator};
  for (int64_t denominator = 1; denominator <= kLargestDenominator; denominator *= 2) {
    List numerators;
    for (const double value : *input.reals) {
      const double scaled = value * static_cast<double>(denominator);
      if (scaled != std::trunc(scaled) || !(std::abs(scaled) <= 0x1p53)) break;
      numerators.emplace_back(static_cast<int64_t>(scaled));
    }
    if (numerators.size() == input.reals->size()) return {std::move(numerators), denominator};
  }
  return {};
}

/// Constant extents, row-major.
struct Extents {
  int rank = 0;
  std::array<int64_t, kMaxRank> extents{};
  int64_t count() const {
    int64_t product = 1;
    for (int axis = 0; axis < rank; ++axis) product *= extents[static_cast<size_t>(axis)];
    return product;
  }
  int64_t operator[](int axis) const { return extents[static_cast<size_t>(axis)]; }
};
using Index = std::array<int64_t, kMaxRank>;

/// The extents if they are constant and the tensor is small enough to follow.
inline std::optional<Extents> small(const Shape<Dim>& shape) {
  Extents result;
  result.rank = shape.rank;
  Dim count = 1;
  for (int axis = 0; axis < shape.rank; ++axis) {
    if (!shape[axis].is_constant() || shape[axis].constant() < 0) return std::nullopt;
    result.extents[static_cast<size_t>(axis)] = shape[axis].constant();
    count *= shape[axis];
  }
  if (count.constant() > kMaxPropagatedElements) return std::nullopt;
  return result;
}

inline Index index_of(const Extents& extents, int64_t position) {
  Index index{};
  for (int axis = extents.rank - 1; axis >= 0; --axis) {
    index[static_cast<size_t>(axis)] = position % extents[axis];
    position /= extents[axis];
  }
  return index;
}

inline int64_t position_of(const Extents& extents, const Index& index) {
  int64_t position = 0;
  for (int axis = 0; axis < extents.rank; ++axis) {
    position = position * extents[axis] + index[static_cast<size_t>(axis)];
  }
  return position;
}

/// One node, as the rules see it.
struct Call {
  const std::byte* attributes;
  std::span<const SymbolicInput> inputs;
  std::span<const SymbolicOutput> outputs;

  bool has(size_t input) const { return input < inputs.size() && inputs[input].present; }
  const Shape<Dim>& shape(size_t input) const { return inputs[input].shape; }

  /// Elements of an input, if they are as many as the extents say. A rule is given whole numbers.
  Result elements(size_t input) const {
    if (!has(input) || !inputs[input].values) return std::nullopt;
    const std::optional<Extents> extents = small(inputs[input].shape);
    const auto count = static_cast<int64_t>(inputs[input].values->size());
    return extents && count == extents->count() ? inputs[input].values : std::nullopt;
  }
  /// Elements of an input if all are constants.
  std::optional<std::vector<int64_t>> integers(size_t input) const {
    const Result list = elements(input);
    if (!list) return std::nullopt;
    std::vector<int64_t> result;
    for (const Dim& element : *list) {
      if (!element.is_constant()) return std::nullopt;
      result.push_back(element.constant());
    }
    return result;
  }
  std::optional<Extents> output() const { return small(outputs[0].shape); }
  template <class A>
  const A& typed() const {
    return *reinterpret_cast<const A*>(attributes);
  }
};

inline bool is_power_of_two(int64_t number) {
  return (number & (number - 1)) == 0;
}

/// The result of a rule, if it has as many elements as the output and arithmetic on reals is exact.
inline KnownElements first_known(Outputs outputs, Result numerators, int64_t denominator) {
  KnownElements results(outputs.size());
  const std::optional<Extents> extents = small(outputs[0].shape);
  if (!numerators || !extents) return results;
  if (static_cast<int64_t>(numerators->size()) != extents->count()) return results;
  if (!fits(outputs[0].type, *numerators)) return results;
  if (denominator > 1) {
    const Dim common = denominator;
    const bool whole = std::all_of(numerators->begin(), numerators->end(), [&](const Dim& number) {
      return floor_div(number, common) * common == number;
    });
    for (Dim& number : *numerators) number = whole ? floor_div(number, common) : number;
    if (whole) denominator = 1;
  }
  results[0] = {std::move(numerators), denominator};
  return results;
}

/// Known elements of real inputs as whole multiples of 1 / `denominator`, those of integers as they
/// are. False if a denominator is no power of two.
inline bool to_multiples(Inputs inputs, std::vector<SymbolicInput>& multiples,
                         int64_t& denominator) {
  multiples.assign(inputs.begin(), inputs.end());
  denominator = 1;
  for (SymbolicInput& input : multiples) {
    Elements known = fractions(input);
    input.values = std::move(known.values);
    input.denominator = known.denominator;
    input.reals.reset();
    if (!is_power_of_two(known.denominator)) return false;
    denominator = std::max(denominator, known.denominator);
  }
  for (SymbolicInput& input : multiples) {
    if (!input.values || !is_real_type(input.type)) continue;
    for (Dim& number : *input.values) number *= Dim(denominator / input.denominator);
    input.denominator = 1;
  }
  return true;
}

/// A rule about output 0 that holds for multiples of any unit.
template <Result (*Rule)(const Call&)>
KnownElements first_output(const std::byte* attributes, Inputs inputs, Outputs outputs) {
  std::vector<SymbolicInput> multiples;
  int64_t denominator = 1;
  if (outputs.empty() || !small(outputs[0].shape)) return KnownElements(outputs.size());
  if (!to_multiples(inputs, multiples, denominator)) return KnownElements(outputs.size());
  Result result = Rule({attributes, multiples, outputs});
  return first_known(outputs, std::move(result), is_real_type(outputs[0].type) ? denominator : 1);
}

/// A rule that holds for whole numbers only.
template <Result (*Rule)(const Call&)>
KnownElements whole_output(const std::byte* attributes, Inputs inputs, Outputs outputs) {
  for (const SymbolicInput& input : inputs) {
    if (fractions(input).denominator != 1) return KnownElements(outputs.size());
  }
  return first_output<Rule>(attributes, inputs, outputs);
}

}  // namespace intarsia::definitions::propagation
