// SPDX-License-Identifier: Apache-2.0
//
// One short rule per operator, in a table. A rule returns nothing where it cannot follow. Elements
// of real tensors are followed as long as they are whole numbers.
#include "core/definitions/value_propagation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <tuple>

#include "core/operators/movement.h"
#include "core/operators/shape_ops.h"

namespace intarsia::definitions {
namespace {

using Elements = std::vector<Dim>;
using Result = std::optional<Elements>;

constexpr double kLargestExactReal = 16777216.0;  // 2^24: float has every whole number up to it

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
std::optional<Extents> small(const Shape<Dim>& shape) {
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

Index index_of(const Extents& extents, int64_t position) {
  Index index{};
  for (int axis = extents.rank - 1; axis >= 0; --axis) {
    index[static_cast<size_t>(axis)] = position % extents[axis];
    position /= extents[axis];
  }
  return index;
}

int64_t position_of(const Extents& extents, const Index& index) {
  int64_t position = 0;
  for (int axis = 0; axis < extents.rank; ++axis) {
    position = position * extents[axis] + index[static_cast<size_t>(axis)];
  }
  return position;
}

bool is_real_type(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

Dim undecided() {
  return Dim::unknown(0, 1);
}

/// One node, as the rules see it.
struct Call {
  const std::byte* attributes;
  std::span<const SymbolicInput> inputs;
  std::span<const SymbolicOutput> outputs;

  bool has(size_t input) const { return input < inputs.size() && inputs[input].present; }
  const Shape<Dim>& shape(size_t input) const { return inputs[input].shape; }

  /// Elements of an input, if each is a whole number and they are as many as the extents say.
  Result elements(size_t input) const {
    if (!has(input)) return std::nullopt;
    const SymbolicInput& tensor = inputs[input];
    const std::optional<Extents> extents = small(tensor.shape);
    Result result = tensor.values;
    if (!result && tensor.reals) {
      result.emplace();
      for (double value : *tensor.reals) {
        if (value != std::trunc(value) || std::abs(value) > kLargestExactReal) return std::nullopt;
        result->push_back(static_cast<int64_t>(value));
      }
    }
    if (!extents || !result) return std::nullopt;
    return static_cast<int64_t>(result->size()) == extents->count() ? result : std::nullopt;
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
  bool real() const { return is_real_type(outputs[0].type); }
  template <class A>
  const A& typed() const {
    return *reinterpret_cast<const A*>(attributes);
  }
};

// ---- Operators on elements ----

using Arguments = std::vector<Dim>;
using Element = std::optional<Dim>;

/// All inputs broadcast to the output, combined element by element.
template <class Function>
Result element_wise(const Call& call, const Function& function) {
  const std::optional<Extents> output = call.output();
  if (!output) return std::nullopt;
  std::vector<Elements> operands;
  for (size_t input = 0; input < call.inputs.size(); ++input) {
    Result list = call.elements(input);
    if (!list) return std::nullopt;
    operands.push_back(std::move(*list));
  }
  Elements result;
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

Element divide(const Call& call, const Arguments& arguments) {
  const Dim& a = arguments[0];
  const Dim& b = arguments[1];
  const Dim quotient = floor_div(a, b);
  if (call.real()) return quotient * b == a && !(b == Dim(0)) ? Element(quotient) : std::nullopt;
  if (a.lower() >= 0 && b.lower() > 0) return quotient;
  if (a.is_constant() && b.is_constant() && b.constant() != 0) {
    return Dim(a.constant() / b.constant());  // towards zero
  }
  return Dim::unknown();
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
  if (yes == no) return yes;
  return Dim::unknown(std::min(yes.lower(), no.lower()), std::max(yes.upper(), no.upper()));
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
    case DataType::kFloat:
    case DataType::kDouble:
      if (value.upper() > static_cast<int64_t>(kLargestExactReal) ||
          value.lower() < -static_cast<int64_t>(kLargestExactReal)) {
        return std::nullopt;
      }
      return value;
    default:
      return std::nullopt;
  }
}

Result cast(const Call& call) {
  const SymbolicInput& input = call.inputs[0];
  const DataType to = call.outputs[0].type;
  if (!input.reals || is_real_type(to)) return each<converted>(call);
  Elements result;  // reals are cut off, not rounded
  for (double value : *input.reals) {
    if (!(std::abs(value) < 9.0e15)) return std::nullopt;
    const bool truth = to == DataType::kBool;
    const auto element = truth ? int64_t{value != 0} : static_cast<int64_t>(value);
    const Element kept = converted(call, {Dim(element)});
    if (!kept) return std::nullopt;
    result.push_back(*kept);
  }
  return result;
}

// ---- Operators on extents ----

Result shape_of(const Call& call) {
  const Shape<Dim>& shape = call.shape(0);
  const AxisRange axes(call.typed<ShapeAttributes>(), shape.rank);
  return Elements(shape.extents + axes.start, shape.extents + axes.end);
}

Result size_of(const Call& call) {
  return Elements{ops::product_of(call.shape(0), 0, call.shape(0).rank)};
}

// ---- Operators that move elements ----

Result same(const Call& call) {
  return call.elements(0);
}

/// The output's element at each index is the input's element at `source(index)`.
template <class Source>
Result moved(const Call& call, const Source& source) {
  const std::optional<Extents> output = call.output();
  const Result elements = call.elements(0);
  if (!output || !elements) return std::nullopt;
  const Extents input = *small(call.shape(0));
  Elements result;
  for (int64_t position = 0; position < output->count(); ++position) {
    const int64_t from = position_of(input, source(input, *output, index_of(*output, position)));
    if (from < 0 || from >= static_cast<int64_t>(elements->size())) return std::nullopt;
    result.push_back((*elements)[static_cast<size_t>(from)]);
  }
  return result;
}

/// Expand and Tile: an index beyond the input's extent starts again.
Result repeated(const Call& call) {
  return moved(call, [](const Extents& input, const Extents& output, const Index& index) {
    Index source{};
    for (int axis = 0; axis < input.rank; ++axis) {
      source[static_cast<size_t>(axis)] =
          index[static_cast<size_t>(axis + output.rank - input.rank)] % input[axis];
    }
    return source;
  });
}

Result transposed(const Call& call) {
  const IntList& permutation = call.typed<TransposeAttributes>().perm;
  return moved(call, [&](const Extents& input, const Extents&, const Index& index) {
    Index source{};
    for (int axis = 0; axis < input.rank; ++axis) {
      const int to = permutation.count == 0 ? input.rank - 1 - axis : permutation[axis];
      source[static_cast<size_t>(to)] = index[static_cast<size_t>(axis)];
    }
    return source;
  });
}

Result sliced(const Call& call) {
  const auto starts = call.integers(1);
  const auto steps = call.has(4) ? call.integers(4) : std::nullopt;
  const auto axes = call.has(3) ? call.integers(3) : std::nullopt;
  if (!starts || (call.has(4) && !steps) || (call.has(3) && !axes)) return std::nullopt;
  Index first{};
  Index stride{};
  stride.fill(1);
  const std::optional<Extents> input = small(call.shape(0));
  if (!input || (steps && steps->size() != starts->size()) ||
      (axes && axes->size() != starts->size())) {
    return std::nullopt;
  }
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis < 0) axis += input->rank;
    if (axis < 0 || axis >= input->rank) return std::nullopt;
    const int64_t extent = (*input)[static_cast<int>(axis)];
    const int64_t step = steps ? (*steps)[i] : 1;
    int64_t start = (*starts)[i] + ((*starts)[i] < 0 ? extent : 0);
    start = std::clamp<int64_t>(start, 0, step < 0 && extent > 0 ? extent - 1 : extent);
    first[static_cast<size_t>(axis)] = start;
    stride[static_cast<size_t>(axis)] = step;
  }
  // The output's extents say where each axis ends.
  return moved(call, [&](const Extents& from, const Extents&, Index index) {
    for (size_t axis = 0; axis < static_cast<size_t>(from.rank); ++axis) {
      index[axis] = first[axis] + index[axis] * stride[axis];
    }
    return index;
  });
}

Result gathered(const Call& call) {
  const Result data = call.elements(0);
  const Result indices = call.elements(1);
  if (!data || !indices || call.shape(0).rank != 1) return std::nullopt;
  const auto count = static_cast<int64_t>(data->size());
  Elements result;
  for (const Dim& index : *indices) {
    if (!index.is_constant()) {
      result.push_back(Dim::unknown());
      continue;
    }
    const int64_t position = index.constant() + (index.constant() < 0 ? count : 0);
    if (position < 0 || position >= count) return std::nullopt;
    result.push_back((*data)[static_cast<size_t>(position)]);
  }
  return result;
}

Result concatenated(const Call& call) {
  Elements result;
  bool any = false;
  for (size_t input = 0; input < call.inputs.size(); ++input) {
    const std::optional<Extents> extents = small(call.shape(input));
    if (!extents || extents->rank != 1 || call.real()) return std::nullopt;
    const Result elements = call.elements(input);
    any = any || elements;
    for (int64_t i = 0; i < extents->count(); ++i) {
      result.push_back(elements ? (*elements)[static_cast<size_t>(i)] : Dim::unknown());
    }
  }
  return any ? Result(std::move(result)) : std::nullopt;
}

template <Dim (*Function)(const Dim&, const Dim&)>
Result reduced(const Call& call) {
  const Result elements = call.elements(0);
  const std::optional<Extents> output = call.output();
  if (!elements || elements->empty() || !output || output->count() != 1) return std::nullopt;
  return Elements{*folded<Function>(call, *elements)};
}

Result filled(const Call& call) {
  const auto& attributes = call.typed<ConstantOfShapeAttributes>();
  const std::optional<Extents> output = call.output();
  Dim value;
  switch (static_cast<DataType>(attributes.value_type)) {
    case DataType::kInt64:
      value = attributes.value_bits;
      break;
    case DataType::kInt32:
      value = static_cast<int32_t>(attributes.value_bits);
      break;
    case DataType::kBool:
      value = (attributes.value_bits & 0xff) != 0 ? 1 : 0;
      break;
    case DataType::kFloat: {
      const auto real = std::bit_cast<float>(static_cast<uint32_t>(attributes.value_bits));
      if (real != std::trunc(real) || std::abs(static_cast<double>(real)) > kLargestExactReal) {
        return std::nullopt;
      }
      value = static_cast<int64_t>(real);
      break;
    }
    default:
      return std::nullopt;
  }
  return output ? Result(Elements(static_cast<size_t>(output->count()), value)) : std::nullopt;
}

Result counted(const Call& call) {
  const std::optional<Extents> output = call.output();
  const Result start = call.elements(0);
  const Result delta = call.elements(2);
  if (!output || !start || !delta) return std::nullopt;
  Elements result;
  for (int64_t i = 0; i < output->count(); ++i)
    result.push_back((*start)[0] + (*delta)[0] * Dim(i));
  return result;
}

struct Rule {
  std::string_view op;
  Result (*propagate)(const Call&);
};

constexpr Rule kRules[] = {
    {"Abs", each<absolute>},
    {"Add", each<folded<sum>>},
    {"And", each<folded<smallest>>},
    {"Cast", cast},
    {"Ceil", each<whole>},
    {"Concat", concatenated},
    {"ConstantOfShape", filled},
    {"Div", each<divide>},
    {"Equal", each<folded<equal>>},
    {"Expand", repeated},
    {"Flatten", same},
    {"Floor", each<whole>},
    {"Gather", gathered},
    {"Greater", each<folded<greater>>},
    {"GreaterOrEqual", each<folded<greater_or_equal>>},
    {"Identity", same},
    {"Less", each<folded<less>>},
    {"LessOrEqual", each<folded<less_or_equal>>},
    {"Max", each<folded<largest>>},
    {"Min", each<folded<smallest>>},
    {"Mod", each<modulo>},
    {"Mul", each<folded<times>>},
    {"Neg", each<negated>},
    {"Not", each<inverted>},
    {"Or", each<folded<largest>>},
    {"Range", counted},
    {"ReduceMax", reduced<largest>},
    {"ReduceMin", reduced<smallest>},
    {"ReduceProd", reduced<times>},
    {"ReduceSum", reduced<sum>},
    {"Reshape", same},
    {"Round", each<whole>},
    {"Shape", shape_of},
    {"Size", size_of},
    {"Slice", sliced},
    {"Squeeze", same},
    {"Sub", each<folded<difference>>},
    {"Tile", repeated},
    {"Transpose", transposed},
    {"Unsqueeze", same},
    {"Where", each<chosen>},
};

}  // namespace

std::vector<std::optional<std::vector<Dim>>> propagate_values(
    std::string_view op, const std::byte* attributes, std::span<const SymbolicInput> inputs,
    std::span<const SymbolicOutput> outputs) {
  std::vector<Result> results(outputs.size());
  const Call call{attributes, inputs, outputs};
  if (op == "Split") {
    const Result elements = call.elements(0);
    size_t first = 0;
    for (size_t i = 0; elements && call.shape(0).rank == 1 && i < outputs.size(); ++i) {
      const std::optional<Extents> extents = small(outputs[i].shape);
      if (!extents || first + static_cast<size_t>(extents->count()) > elements->size()) break;
      const auto begin = elements->begin() + static_cast<std::ptrdiff_t>(first);
      results[i] = Elements(begin, begin + extents->count());
      first += static_cast<size_t>(extents->count());
    }
    return results;
  }
  const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules),
                                        [op](const Rule& row) { return row.op == op; });
  if (rule == std::end(kRules) || outputs.empty()) return results;
  const std::optional<Extents> extents = call.output();
  if (!extents) return results;
  Result elements = rule->propagate(call);
  if (elements && static_cast<int64_t>(elements->size()) == extents->count()) {
    results[0] = std::move(elements);
  }
  return results;
}

}  // namespace intarsia::definitions
