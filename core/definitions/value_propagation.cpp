// SPDX-License-Identifier: Apache-2.0
//
// Data propagation: operators that read extents, move elements and make them.
#include "core/definitions/value_propagation.h"

#include <bit>

#include "core/definitions/value_rules.h"
#include "core/operators/movement/transpose.h"
#include "core/operators/shape/extents.h"
#include "core/operators/shape/fill.h"

namespace intarsia::definitions {
namespace propagation {
namespace {

// ---- Operators on extents ----

Result shape_of(const Call& call) {
  const Shape<Dim>& shape = call.shape(0);
  const AxisRange axes(call.typed<ShapeAttributes>(), shape.rank);
  return List(shape.extents + axes.start, shape.extents + axes.end);
}

Result size_of(const Call& call) {
  return List{ops::product_of(call.shape(0), 0, call.shape(0).rank)};
}

// ---- Operators that move elements ----

Result same_elements(const Call& call) {
  return call.elements(0);
}

/// The output's element at each index is the input's element at `source(index)`.
template <class Source>
Result moved(const Call& call, const Source& source) {
  const std::optional<Extents> output = call.output();
  const Result elements = call.elements(0);
  if (!output || !elements) return std::nullopt;
  const Extents input = *small(call.shape(0));
  List result;
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
  List result;
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
  List result;
  bool any = false;
  for (size_t input = 0; input < call.inputs.size(); ++input) {
    const std::optional<Extents> extents = small(call.shape(input));
    if (!extents || extents->rank != 1) return std::nullopt;
    const Result elements = call.elements(input);
    any = any || elements;
    for (int64_t i = 0; i < extents->count(); ++i) {
      result.push_back(elements ? (*elements)[static_cast<size_t>(i)] : Dim::unknown());
    }
  }
  return any ? Result(std::move(result)) : std::nullopt;
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
      if (real != std::trunc(real) || !(std::abs(real) <= 0x1p24f)) return std::nullopt;
      value = static_cast<int64_t>(real);
      break;
    }
    default:
      return std::nullopt;
  }
  return output ? Result(List(static_cast<size_t>(output->count()), value)) : std::nullopt;
}

Result counted(const Call& call) {
  const std::optional<Extents> output = call.output();
  const Result start = call.elements(0);
  const Result delta = call.elements(2);
  if (!output || !start || !delta) return std::nullopt;
  List result;
  for (int64_t i = 0; i < output->count(); ++i)
    result.push_back((*start)[0] + (*delta)[0] * Dim(i));
  return result;
}

KnownElements parted(const std::byte* attributes, Inputs inputs, Outputs outputs) {
  KnownElements results(outputs.size());
  const Call call{attributes, inputs, outputs};
  const Result elements = call.elements(0);
  size_t first = 0;
  for (size_t i = 0; elements && call.shape(0).rank == 1 && i < outputs.size(); ++i) {
    const std::optional<Extents> extents = small(outputs[i].shape);
    if (!extents || first + static_cast<size_t>(extents->count()) > elements->size()) break;
    const auto begin = elements->begin() + static_cast<std::ptrdiff_t>(first);
    results[i] = {List(begin, begin + extents->count()), inputs[0].denominator};
    first += static_cast<size_t>(extents->count());
  }
  return results;
}

}  // namespace

constinit const PropagationRule kCopy = first_output<same_elements>;
constinit const PropagationRule kConcat = first_output<concatenated>;
constinit const PropagationRule kGather = first_output<gathered>;
constinit const PropagationRule kRepeat = first_output<repeated>;
constinit const PropagationRule kSlice = first_output<sliced>;
constinit const PropagationRule kSplit = parted;
constinit const PropagationRule kTranspose = first_output<transposed>;
constinit const PropagationRule kFill = first_output<filled>;
constinit const PropagationRule kRange = first_output<counted>;
constinit const PropagationRule kShape = first_output<shape_of>;
constinit const PropagationRule kSize = first_output<size_of>;

}  // namespace propagation

KnownElements propagate_values(const OperatorDefinition& op, const std::byte* attributes,
                               std::span<const SymbolicInput> inputs,
                               std::span<const SymbolicOutput> outputs) {
  if (op.facts.propagate == nullptr) return KnownElements(outputs.size());
  return op.facts.propagate(attributes, inputs, outputs);
}

}  // namespace intarsia::definitions
