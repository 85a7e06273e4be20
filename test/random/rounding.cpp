// SPDX-License-Identifier: Apache-2.0
#include "test/random/rounding.h"

#include <algorithm>
#include <cmath>

#include "test/random/expanded_node.h"
#include "test/random/values.h"

namespace intarsia::test {
namespace {

constexpr double kLargest = 1024;
constexpr double kLargestInteger = 1 << 20;
// Of the result's scale: what fast kernels of transcendental functions and sums may be off by.
constexpr double kRoundings = 64;
constexpr double kLeastScale = 0x1p-10;
// Of what rounding the inputs once does.
constexpr double kSensitive = 4;
// Of the result's scale: beyond it a comparison would show nothing.
constexpr double kLost = 0.02;
constexpr int kTrials = 7;

using Pointers = std::vector<const Constant*>;

Pointers pointers_to(const std::vector<Constant>& constants,
                     std::span<const Constant* const> like) {
  Pointers pointers;
  for (size_t i = 0; i < like.size(); ++i) {
    pointers.push_back(like[i] != nullptr ? &constants[i] : nullptr);
  }
  return pointers;
}

/// The node with every operand of rounded numbers as what `convert` makes of it.
std::optional<std::vector<Constant>> execute_as(Constant (*convert)(const Constant&),
                                                const Candidate& candidate,
                                                std::span<const Constant* const> inputs,
                                                const converter::OperatorLibrary& library) {
  std::vector<Constant> converted(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    converted[i] = is_rounded(inputs[i]->type) ? convert(*inputs[i]) : *inputs[i];
  }
  return execute(candidate, pointers_to(converted, inputs), library);
}

/// Largest distance from the results in double precision; infinite where that tells nothing.
double own_error(const Constant& result, const Constant* precise) {
  if (precise == nullptr || precise->extents != result.extents || !precise->is_real()) {
    return HUGE_VAL;
  }
  double largest = 0;
  for (int64_t i = 0; i < result.count(); ++i) {
    const double a = result.real(i), b = precise->real(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!std::isfinite(a) || !std::isfinite(b)) return HUGE_VAL;
    largest = std::max(largest, std::fabs(a - b));
  }
  return largest;
}

/// Whether results in double precision are those of float, with operands that float holds: then
/// nothing was rounded, in whatever order a kernel adds. True where there is no kernel for floats.
bool float_suffices(const Candidate& candidate, std::span<const Constant* const> inputs,
                    const Constant& result, size_t output,
                    const converter::OperatorLibrary& library) {
  for (const Constant* input : inputs) {
    if (input == nullptr || !is_rounded(input->type)) continue;
    const Constant coarse = as_float(*input);
    if (own_error(*input, &coarse) != 0) return false;
  }
  const auto coarse = execute_as(as_float, candidate, inputs, library);
  return !coarse || own_error(result, &(*coarse)[output]) == 0;
}

/// Whether an element has more bits than a float holds of its product with another such.
bool has_long_elements(const Constant& tensor) {
  if (!is_rounded(tensor.type)) return false;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    int exponent = 0;
    const double fraction = std::frexp(tensor.real(i), &exponent) * 0x1p12;
    if (std::isfinite(fraction) && fraction != std::nearbyint(fraction)) return true;
  }
  return false;
}

/// Whether results are also those of double precision where all operands are positive, and where
/// parts of one are 0. With signs a sum may cancel to a number that float holds, though it does not
/// hold what other kernels find on their way there; a sum without signs is the largest of its
/// parts, and one without some of them shows what the others have lost together. True where the
/// node refuses such operands.
bool exact_without_signs(const Candidate& candidate, std::span<const Constant* const> inputs,
                         size_t output, const converter::OperatorLibrary& library, Random& random) {
  constexpr int kFewParts = 3, kManyParts = 16;
  std::vector<size_t> rounded;
  bool many = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || !is_rounded(inputs[i]->type)) continue;
    rounded.push_back(i);
    many = many || has_long_elements(*inputs[i]);
  }
  for (int part = 0; part < (many ? kManyParts : kFewParts); ++part) {
    std::vector<Constant> some(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != nullptr) some[i] = *inputs[i];
    }
    const size_t thinned =
        rounded.empty() ? 0 : rounded[static_cast<size_t>(part) % rounded.size()];
    for (const size_t i : rounded) {
      some[i] = changed(some[i], [&](double value) {
        return part == 0 || i != thinned || random.chance(50) ? std::fabs(value) : 0;
      });
    }
    const Pointers pointers = pointers_to(some, inputs);
    const auto coarse = execute(candidate, pointers, library);
    const auto precise = execute_as(as_double, candidate, pointers, library);
    if (!coarse || !precise) continue;
    const double error = own_error((*coarse)[output], &(*precise)[output]);
    if (error != 0 && error != HUGE_VAL) return false;
  }
  return true;
}

bool tells_something(const Constant& result, Random& random) {
  const Scale scale = scale_of(result);
  if (scale.nonfinite > 0 && (2 * scale.nonfinite > result.count() || !random.chance(15))) {
    return false;
  }
  const double limit = is_rounded(result.type) ? kLargest : kLargestInteger;
  return scale.largest <= limit || random.chance(2);
}

/// What the errors of the inputs do to the results; false if they change what may not change.
bool carry_errors(const Candidate& candidate, std::span<const Constant* const> inputs,
                  std::span<const double> input_errors, const converter::OperatorLibrary& library,
                  Random& random, Results& results) {
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<Constant> moved(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      moved[i] = *inputs[i];
      const double error = input_errors[i];
      if (error == 0) continue;
      moved[i] = changed(*inputs[i], [&](double value) {
        // All up, all down, all that may be to numbers as they are drawn, which others are compared
        // with, and each its own way and so far that no two cancel.
        if (trial < 2) return value + (trial == 0 ? error : -error);
        if (trial == 2) {
          const double drawn = std::nearbyint(value * 8) / 8;
          return std::fabs(drawn - value) <= error ? drawn : value;
        }
        const double part = 0.5 + static_cast<double>(random.below(1 << 20)) / (1 << 21);
        return value + (random.chance(50) ? part : -part) * error;
      });
    }
    const auto other = execute(candidate, pointers_to(moved, inputs), library);
    if (!other) return false;
    for (size_t i = 0; i < results.values.size(); ++i) {
      if (!candidate.outputs[i]) continue;
      const std::optional<double> moved_by = distance((*other)[i], results.values[i]);
      if (!moved_by) return false;
      if (!is_rounded(results.values[i].type)) {
        if (*moved_by != 0) return false;
        continue;
      }
      results.errors[i] = std::max(results.errors[i], 2 * *moved_by);
    }
  }
  return true;
}

/// What becomes of the results where every element of the inputs is rounded, as the parts of sums
/// are on their way: more than the results' scale tells where large parts cancel.
std::vector<double> sensitivity(const Candidate& candidate, std::span<const Constant* const> inputs,
                                const converter::OperatorLibrary& library, Random& random,
                                const std::vector<Constant>& values) {
  constexpr int kTimes = 3;
  std::vector<double> largest(values.size(), 0);
  for (int time = 0; time < kTimes; ++time) {
    std::vector<Constant> moved(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      moved[i] = *inputs[i];
      if (!is_rounded(moved[i].type)) continue;
      const double step = epsilon_of(moved[i].type);
      moved[i] = changed(
          moved[i], [&](double value) { return value * (1 + (random.chance(50) ? step : -step)); });
    }
    const auto other = execute(candidate, pointers_to(moved, inputs), library);
    for (size_t i = 0; other && i < values.size(); ++i) {
      if (!candidate.outputs[i] || !is_rounded(values[i].type)) continue;
      largest[i] = std::max(largest[i], distance((*other)[i], values[i]).value_or(0));
    }
  }
  return largest;
}

/// Whether results are the same if NaN and zeros have the other sign: nothing says what that of NaN
/// is, and kernels that add in another order find another zero.
bool ignores_signs(const Candidate& candidate, std::span<const Constant* const> inputs,
                   const converter::OperatorLibrary& library, const Results& results) {
  const auto turns = [](const Constant* input) {
    if (input == nullptr || !is_rounded(input->type)) return false;
    for (int64_t i = 0; i < input->count(); ++i) {
      if (const double value = input->real(i); value == 0 || std::isnan(value)) return true;
    }
    return false;
  };
  if (std::none_of(inputs.begin(), inputs.end(), turns)) return true;
  const auto other = execute_as(with_signs_turned, candidate, inputs, library);
  if (!other) return false;
  for (size_t i = 0; i < results.values.size(); ++i) {
    if (candidate.outputs[i] && distance((*other)[i], results.values[i]) != 0) return false;
  }
  return true;
}

/// False for results that are lost in their errors.
bool above_errors(const Candidate& candidate, const Results& results) {
  for (size_t i = 0; i < results.values.size(); ++i) {
    if (!candidate.outputs[i] || results.errors[i] == 0 || !is_rounded(results.values[i].type)) {
      continue;
    }
    const double scale = std::max(scale_of(results.values[i]).largest, kLeastScale);
    if (results.errors[i] > kLost * scale) return false;
  }
  return true;
}

/// False for results that would show little whatever errors they have.
bool tell_something(const Candidate& candidate, const std::vector<Constant>& values,
                    Random& random) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (candidate.outputs[i] && !tells_something(values[i], random)) return false;
  }
  return true;
}

/// The errors of results.
std::optional<Results> with_errors(const Candidate& candidate,
                                   std::span<const Constant* const> inputs,
                                   std::span<const double> input_errors,
                                   std::vector<Constant> values,
                                   const converter::OperatorLibrary& library, Random& random) {
  Results results{std::move(values), {}};
  results.errors.assign(results.values.size(), 0);
  const auto rule = candidate.op->facts.rounds_integers;
  const bool rounds_integers = rule != nullptr && rule(candidate.blob.data());
  bool rounded = false;
  for (size_t i = 0; i < results.values.size(); ++i) {
    if (!candidate.outputs[i]) continue;
    if (is_rounded(results.values[i].type)) {
      rounded = true;
    } else if (rounds_integers && results.values[i].is_integer()) {
      results.errors[i] = 1;
    }
  }
  const bool inexact_inputs =
      std::any_of(input_errors.begin(), input_errors.end(), [](double e) { return e != 0; });
  if (inexact_inputs && !carry_errors(candidate, inputs, input_errors, library, random, results)) {
    return std::nullopt;
  }
  if (!ignores_signs(candidate, inputs, library, results)) return std::nullopt;
  if (!rounded) return results;
  const auto precise = execute_as(as_double, candidate, inputs, library);
  std::vector<double> sensitive(results.values.size(), 0);
  if (!candidate.op->facts.exact && !candidate.op->facts.element_wise) {
    sensitive = sensitivity(candidate, inputs, library, random, results.values);
  }
  for (size_t i = 0; i < results.values.size(); ++i) {
    const Constant& value = results.values[i];
    if (!candidate.outputs[i] || !is_rounded(value.type)) continue;
    const double own = own_error(value, precise ? &(*precise)[i] : nullptr);
    // Without a kernel for doubles the definition's word must do.
    const bool exact =
        candidate.op->facts.exact && (own == 0 || !precise) &&
        exact_without_signs(candidate, inputs, i, library, random) &&
        (value.type != DataType::kDouble || float_suffices(candidate, inputs, value, i, library));
    // Kernels may compute in the type of an operand that is no more precise than the result.
    double epsilon = epsilon_of(value.type);
    for (const Constant* input : inputs) {
      if (input != nullptr && is_rounded(input->type)) {
        epsilon = std::max(epsilon, epsilon_of(input->type));
      }
    }
    // Zeros too: another kernel's may have another sign, or be no more than small.
    const double scale = std::max(scale_of(value).largest, kLeastScale);
    if (!exact) {
      results.errors[i] += kRoundings * epsilon * scale + kSensitive * sensitive[i];
      if (std::isfinite(own)) results.errors[i] += 8 * own;
    }
  }
  return results;
}

}  // namespace

std::optional<Results> execute_within(const Candidate& candidate,
                                      std::span<const Constant* const> inputs,
                                      std::span<const double> input_errors,
                                      const converter::OperatorLibrary& library, Random& random) {
  auto values = execute(candidate, inputs, library);
  if (!values) return std::nullopt;
  return with_errors(candidate, inputs, input_errors, std::move(*values), library, random);
}

std::optional<Results> execute_with_errors(const Candidate& candidate,
                                           std::span<const Constant* const> inputs,
                                           std::span<const double> input_errors,
                                           const converter::OperatorLibrary& library,
                                           Random& random) {
  std::optional<Results> results;
  if (candidate.expanded != nullptr) {
    results = candidate.expanded->execute(inputs, input_errors, library, random);
    if (!results || !tell_something(candidate, results->values, random)) return std::nullopt;
  } else {
    auto values = execute(candidate, inputs, library);
    if (!values || !tell_something(candidate, *values, random)) return std::nullopt;
    results = with_errors(candidate, inputs, input_errors, std::move(*values), library, random);
  }
  if (!results || !above_errors(candidate, *results)) return std::nullopt;
  return results;
}

}  // namespace intarsia::test
