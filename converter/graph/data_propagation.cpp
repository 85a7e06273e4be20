// SPDX-License-Identifier: Apache-2.0
//
// Data propagation: elements of small tensors that are computed from extents, between the values of
// a graph and the rules of operators (core/definitions/value_propagation.h).
#include <algorithm>

#include "converter/graph/infer.h"
#include "converter/graph/sequence.h"
#include "converter/passes/fold.h"
#include "core/definitions/value_propagation.h"

namespace intarsia::converter {

using definitions::Dim;
using definitions::SymbolicInput;

std::optional<Constant> propagated_constant(const Value& value) {
  if (!value.elements.values || !value.shape) return std::nullopt;
  std::vector<int64_t> extents, elements;
  for (int axis = 0; axis < value.shape->rank; ++axis) {
    if (!is_constant((*value.shape)[axis])) return std::nullopt;
    extents.push_back(constant_value((*value.shape)[axis]));
  }
  for (const Dim& element : *value.elements.values) {
    if (!is_constant(element)) return std::nullopt;
    elements.push_back(constant_value(element));
  }
  switch (value.type) {
    case DataType::kInt64:
      return Constant::of<int64_t>(extents, std::span<const int64_t>(elements));
    case DataType::kInt32: {
      const std::vector<int32_t> narrow(elements.begin(), elements.end());
      return Constant::of<int32_t>(extents, std::span<const int32_t>(narrow));
    }
    case DataType::kFloat: {
      // Exact: numerators fit the type, and the denominator is a power of two.
      std::vector<float> reals;
      for (int64_t element : elements) {
        reals.push_back(static_cast<float>(element) /
                        static_cast<float>(value.elements.denominator));
      }
      return Constant::of<float>(extents, std::span<const float>(reals));
    }
    case DataType::kBool: {
      std::vector<std::byte> bytes;
      for (int64_t element : elements) bytes.push_back(std::byte{element != 0});
      return Constant::own(DataType::kBool, extents, std::move(bytes));
    }
    default:
      return std::nullopt;
  }
}

SymbolicInput symbolic_input(const Value* value) {
  SymbolicInput input;
  if (value == nullptr) return input;
  input.present = true;
  input.sequence = sequence_type(*value);
  const Constant* known = known_constant(*value);
  if (known == nullptr) {
    input.type = value->type;
    input.shape = value->shape.value_or(Shape<Dim>{});
    input.values = value->elements.values;
    input.denominator = value->elements.denominator;
    return input;
  }
  const Constant& constant = *known;
  input.type = constant.type;
  for (int64_t extent : constant.extents) input.shape.push(extent);
  if (constant.count() > definitions::kMaxPropagatedElements) return input;
  if (constant.is_integer()) {
    const std::vector<int64_t> integers = constant.integers();
    input.values.emplace(integers.begin(), integers.end());
  } else if (constant.is_real()) {
    input.reals = constant.reals();
  }
  return input;
}

std::optional<Dim> known_scalar(const Value& value) {
  const SymbolicInput known = symbolic_input(&value);
  if (!known.values || known.values->size() != 1) return std::nullopt;
  return known.values->front();
}

std::vector<SymbolicInput> symbolic_inputs(const Node& node) {
  std::vector<SymbolicInput> inputs;
  for (const Value* input : node.inputs) inputs.push_back(symbolic_input(input));
  return inputs;
}

std::vector<SymbolicInput> shortened(std::vector<SymbolicInput> inputs,
                                     const definitions::SymbolTable& symbols) {
  std::vector<std::pair<Dim, Dim>> short_forms;
  const auto shorten = [&](Dim& dim) {
    if (dim.is_constant()) return;
    const std::vector<int> used = dim.symbols();
    if (used.size() == 1 && dim == symbols.dim(used[0])) return;
    const auto found = std::ranges::find(short_forms, dim, &std::pair<Dim, Dim>::first);
    if (found != short_forms.end()) {
      dim = found->second;
      return;
    }
    short_forms.emplace_back(dim, Dim::unknown(dim.lower(), dim.upper()));
    dim = short_forms.back().second;
  };
  for (SymbolicInput& input : inputs) {
    for (int axis = 0; axis < input.shape.rank; ++axis) shorten(input.shape[axis]);
    if (input.values) std::ranges::for_each(*input.values, shorten);
  }
  return inputs;
}

}  // namespace intarsia::converter
