// SPDX-License-Identifier: Apache-2.0
//
// Data propagation: arithmetic on elements. One short rule per kind of operator; a rule returns
// nothing where it cannot follow.
#include <tuple>

#include "core/definitions/value_rules.h"

namespace intarsia::definitions::propagation {
namespace {

Dim undecided() {
  return Dim::unknown(0, 1);
}

using Arguments = std::vector<Dim>;
using Element = std::optional<Dim>;

/// All inputs broadcast to the output, combined element by element.
template <class Function>
Result element_wise(const Call& call, const Function& function) {
  const std::optional<Extents> output = call.output();
  if (!output) return std::nullopt;
  std::vector<List> operands;
  for (size_t input = 0; input < call.inputs.size(); ++input) {
    Result list = call.elements(input);
    if (!list) return std::nullopt;
    operands.push_back(std::move(*list));
  }
  List result;
  for (int64_t position = 0; position < output->count(); ++position) {
    const Index index = index_of(*output, position);
    std::vector<Dim> arguments;
    for (size_t input = 0; input < operands.size(); ++input) {
      const Extents extents = *small(call.shape(input));
      Index source{};
      for (int axis = 0; axis < extents.rank; ++axis) {
        const int aligned = axis + output->rank - extents.rank;
        source[static_cast<size_t>(axis)] =
            extents[axis] == 1 ? 0 : index[static_cast<size_t>(aligned)];
      }
      arguments.push_back(operands[input][static_cast<size_t>(position_of(extents, source))]);
    }
    const std::optional<Dim> element = function(call, arguments);
    if (!element) return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

template <Element (*Function)(const Call&, const Arguments&)>
Result each(const Call& call) {
  return element_wise(call, Function);
}

template <Dim (*Function)(const Dim&, const Dim&)>
Element folded(const Call&, const Arguments& arguments) {
  Dim result = arguments[0];
  for (size_t i = 1; i < arguments.size(); ++i) result = Function(result, arguments[i]);
  return result;
}

Dim sum(const Dim& a, const Dim& b) {
  return a + b;
}
Dim difference(const Dim& a, const Dim& b) {
  return a - b;
}
Dim times(const Dim& a, const Dim& b) {
  return a * b;
}
Dim largest(const Dim& a, const Dim& b) {
  return dim_max(a, b);
}
Dim smallest(const Dim& a, const Dim& b) {
  return dim_min(a, b);
}
Dim less(const Dim& a, const Dim& b) {
  const Dim gap = b - a;
  return gap.lower() > 0 ? Dim(1) : gap.upper() <= 0 ? Dim(0) : undecided();
}
Dim greater(const Dim& a, const Dim& b) {
  return less(b, a);
}
Dim less_or_equal(const Dim& a, const Dim& b) {
  return less(a, b + Dim(1));
}
Dim greater_or_equal(const Dim& a, const Dim& b) {
  return less(b, a + Dim(1));
}
Dim equal(const Dim& a, const Dim& b) {
  const Dim gap = a - b;
  if (gap == Dim(0)) return 1;
  return gap.lower() > 0 || gap.upper() < 0 ? Dim(0) : undecided();
}

Element divide(const Call&, const Arguments& arguments) {
  const Dim& a = arguments[0];
  const Dim& b = arguments[1];
  if (a.lower() >= 0 && b.lower() > 0) return floor_div(a, b);
  if (a.is_constant() && b.is_constant() && b.constant() != 0) {
    return Dim(a.constant() / b.constant());  // towards zero
  }
  return Dim::unknown();
}

/// The quotient of reals, if it is a whole number.
Element divide_exactly(const Call&, const Arguments& arguments) {
  const Dim quotient = floor_div(arguments[0], arguments[1]);
  const bool exact = quotient * arguments[1] == arguments[0] && !(arguments[1] == Dim(0));
  return exact ? Element(quotient) : std::nullopt;
}

Element modulo(const Call&, const Arguments& arguments) {
  const Dim& a = arguments[0];
  const Dim& b = arguments[1];
  // Of other signs the result depends on the attribute fmod.
  if (a.lower() < 0 || b.lower() <= 0) return std::nullopt;
  return a - b * floor_div(a, b);
}

Element negated(const Call&, const Arguments& arguments) {
  return -arguments[0];
}
Element absolute(const Call&, const Arguments& arguments) {
  return dim_max(arguments[0], -arguments[0]);
}
Element inverted(const Call&, const Arguments& arguments) {
  return Dim(1) - arguments[0];
}
Element whole(const Call&, const Arguments& arguments) {
  return arguments[0];
}

Element chosen(const Call&, const Arguments& arguments) {
  const auto& [condition, yes, no] = std::tie(arguments[0], arguments[1], arguments[2]);
  if (condition.is_constant()) return condition.constant() != 0 ? yes : no;
  return dim_either(yes, no);
}

Element converted(const Call& call, const Arguments& arguments) {
  const Dim& value = arguments[0];
  const DataType to = call.outputs[0].type;
  switch (to) {
    case DataType::kInt64:
      return value;
    case DataType::kInt32:
      // Expressions are extents and small multiples of them.
      if (value.is_constant() && value.constant() != static_cast<int32_t>(value.constant())) {
        return std::nullopt;
      }
      return value;
    case DataType::kBool:
      return Dim(1) - equal(value, 0);
    default:
      return is_real_type(to) ? Element(value) : std::nullopt;
  }
}

template <Dim (*Function)(const Dim&, const Dim&)>
Result reduced(const Call& call) {
  const Result elements = call.elements(0);
  const std::optional<Extents> output = call.output();
  if (!elements || elements->empty() || !output || output->count() != 1) return std::nullopt;
  return List{*folded<Function>(call, *elements)};
}

// ---- Fractions ----

/// Numerators of the inputs, whose denominators the caller accounts for.
std::vector<SymbolicInput> numerators_of(Inputs inputs, std::vector<int64_t>& denominators) {
  std::vector<SymbolicInput> result(inputs.begin(), inputs.end());
  for (SymbolicInput& input : result) {
    Elements known = fractions(input);
    denominators.push_back(known.denominator);
    input.values = std::move(known.values);
    input.denominator = 1;
    input.reals.reset();
  }
  return result;
}

KnownElements multiplied(const std::byte* attributes, Inputs inputs, Outputs outputs) {
  std::vector<int64_t> denominators;
  const std::vector<SymbolicInput> numerators = numerators_of(inputs, denominators);
  Dim product = 1;
  for (int64_t denominator : denominators) {
    if (!is_power_of_two(denominator)) return KnownElements(outputs.size());
    product *= Dim(denominator);
  }
  return first_known(outputs, each<folded<times>>({attributes, numerators, outputs}),
                     product.constant());
}

KnownElements divided(const std::byte* attributes, Inputs inputs, Outputs outputs) {
  if (outputs.empty() || !is_real_type(outputs[0].type)) {
    return first_output<each<divide>>(attributes, inputs, outputs);
  }
  std::vector<SymbolicInput> multiples;
  int64_t unit = 1;
  if (inputs.size() != 2 || !to_multiples(inputs, multiples, unit)) {
    return KnownElements(outputs.size());
  }
  const Call call{attributes, multiples, outputs};
  if (Result exact = each<divide_exactly>(call)) return first_known(outputs, std::move(exact), 1);
  // By one positive number: a fraction, rounded unless the number is a power of two.
  const std::optional<std::vector<int64_t>> divisor = call.integers(1);
  if (!divisor || divisor->size() != 1 || divisor->front() <= 0 ||
      divisor->front() > exact_limit(outputs[0].type)) {
    return KnownElements(outputs.size());
  }
  return first_known(outputs, call.elements(0), divisor->front());
}

enum class Rounding : uint8_t { kDown, kUp, kTowardsZero };

/// Whole numbers from fractions, from rounded ones too.
template <Rounding kRounding>
KnownElements rounded(const std::byte* attributes, Inputs inputs, Outputs outputs) {
  std::vector<int64_t> denominators;
  std::vector<SymbolicInput> numerators = numerators_of(inputs, denominators);
  if (outputs.empty() || !numerators[0].values) return KnownElements(outputs.size());
  const Dim denominator = denominators[0];
  for (Dim& number : *numerators[0].values) {
    if (denominator == Dim(1)) break;
    if (kRounding == Rounding::kUp || (kRounding == Rounding::kTowardsZero && number.upper() < 0)) {
      number = ceil_div(number, denominator);
    } else if (kRounding == Rounding::kDown || number.lower() >= 0) {
      number = floor_div(number, denominator);
    } else {
      return KnownElements(outputs.size());
    }
  }
  return first_known(outputs, each<converted>({attributes, numerators, outputs}), 1);
}

KnownElements cast(const std::byte* attributes, Inputs inputs, Outputs outputs) {
  const bool from_real = is_real_type(inputs[0].type);
  if (!from_real || is_real_type(outputs[0].type) || outputs[0].type == DataType::kBool) {
    return first_output<each<converted>>(attributes, inputs, outputs);
  }
  // Constants are cut off one by one.
  std::vector<SymbolicInput> whole(inputs.begin(), inputs.end());
  if (whole[0].reals) {
    List numbers;
    for (const double value : *whole[0].reals) {
      if (!(std::abs(value) < 0x1p53)) return KnownElements(outputs.size());
      numbers.emplace_back(static_cast<int64_t>(value));
    }
    whole[0].values = std::move(numbers);
    whole[0].reals.reset();
  }
  return rounded<Rounding::kTowardsZero>(attributes, whole, outputs);
}

}  // namespace

constinit const PropagationRule kAbsolute = first_output<each<absolute>>;
constinit const PropagationRule kSum = first_output<each<folded<sum>>>;
constinit const PropagationRule kDifference = first_output<each<folded<difference>>>;
constinit const PropagationRule kProduct = multiplied;
constinit const PropagationRule kQuotient = divided;
constinit const PropagationRule kRemainder = first_output<each<modulo>>;
constinit const PropagationRule kNegation = first_output<each<negated>>;
constinit const PropagationRule kFloor = rounded<Rounding::kDown>;
constinit const PropagationRule kCeil = rounded<Rounding::kUp>;
constinit const PropagationRule kRound = whole_output<each<whole>>;
constinit const PropagationRule kMaximum = first_output<each<folded<largest>>>;
constinit const PropagationRule kMinimum = first_output<each<folded<smallest>>>;
constinit const PropagationRule kCast = cast;
constinit const PropagationRule kSelect = first_output<each<chosen>>;
constinit const PropagationRule kEqual = first_output<each<folded<equal>>>;
constinit const PropagationRule kGreater = first_output<each<folded<greater>>>;
constinit const PropagationRule kGreaterOrEqual = first_output<each<folded<greater_or_equal>>>;
constinit const PropagationRule kLess = first_output<each<folded<less>>>;
constinit const PropagationRule kLessOrEqual = first_output<each<folded<less_or_equal>>>;
constinit const PropagationRule kNot = whole_output<each<inverted>>;
constinit const PropagationRule kReduceMax = first_output<reduced<largest>>;
constinit const PropagationRule kReduceMin = first_output<reduced<smallest>>;
constinit const PropagationRule kReduceProduct = whole_output<reduced<times>>;
constinit const PropagationRule kReduceSum = first_output<reduced<sum>>;

}  // namespace intarsia::definitions::propagation
