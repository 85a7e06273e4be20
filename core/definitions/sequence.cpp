// SPDX-License-Identifier: Apache-2.0
//
// Sequences and optional values.
#include "core/operators/sequence/sequence.h"

#include "core/definitions/rows.h"
#include "core/definitions/value_propagation.h"
#include "intarsia/sequence.h"

namespace intarsia::definitions {
namespace {

using Context = SymbolicShapeContext;

constexpr TypeSet kSequenceType = types({DataType::kSequence});
constexpr TypeSet kOptionalType = types({DataType::kOptional});
// Elements of sequences are tensors, optional values may be sequences.
constexpr TypeSet kOptionalElements = kElementTypes | kSequenceType;

/// An input as an element.
SequenceType element_of(const Context& context, int input) {
  return {context.type(input), context.shape(input), 1, context.sequence(input)};
}

Status set_sequence(Context& context, DataType kind, const Dim& bytes, SequencePointer type) {
  Shape<Dim> shape;
  shape.push(bytes);
  if (Status status = context.set_output(0, kind, shape); !status) return status;
  context.set_sequence(0, std::move(type));
  return {};
}

/// Output 0 is an element of the sequence. Where nothing is known of it, neither are the extents.
Status set_element(Context& context, const SequencePointer& sequence) {
  if (sequence == nullptr || !sequence->shape) {
    return context.set_output_type(0, sequence != nullptr ? sequence->type : DataType::kUndefined);
  }
  Shape<Dim> shape;
  for (int axis = 0; axis < sequence->shape->rank; ++axis)
    shape.push(fresh((*sequence->shape)[axis]));
  if (Status status = context.set_output(0, sequence->type, shape); !status) return status;
  if (sequence->inner == nullptr) return {};
  // As its extents: what joined two of them may have kept the number of either.
  auto inner = std::make_shared<SequenceType>(*sequence->inner);
  inner->count = fresh(inner->count);
  context.set_sequence(0, inner);
  return {};
}

Status infer_construct(Context& context) {
  Dim bytes = 0;
  SequencePointer type = std::make_shared<SequenceType>();
  for (int i = 0; i < context.input_count(); ++i) {
    const SequenceType element = element_of(context, i);
    bytes += entry_bytes(element.type, element.shape);
    type = with_element(type, element);
  }
  return set_sequence(context, DataType::kSequence, bytes, type);
}

Status infer_empty(Context& context) {
  SequenceType type;
  type.type = static_cast<DataType>(context.attributes<SequenceEmptyAttributes>().dtype);
  return set_sequence(context, DataType::kSequence, 0, std::make_shared<SequenceType>(type));
}

/// What the attribute of an empty optional value says of its element.
SequenceType declared_element(std::span<const int64_t> words) {
  SequenceType element;
  if (words.empty()) return element;
  element.type = static_cast<DataType>(words[0]);
  if (holds_elements(element.type)) {
    element.inner = std::make_shared<SequenceType>(declared_element(words.subspan(1)));
    element.shape.emplace();
    element.shape->push(Dim::unknown(0));
  }
  return element;
}

Status infer_optional(Context& context) {
  if (context.has_input(0)) {
    const SequenceType element = element_of(context, 0);
    return set_sequence(context, DataType::kOptional, entry_bytes(element.type, element.shape),
                        std::make_shared<SequenceType>(element));
  }
  SequenceType element = declared_element(context.attributes<OptionalAttributes>().type.view());
  if (element.type == DataType::kUndefined) {
    return context.fail(Code::kInvalidValue, "attribute type is missing, and so is the input");
  }
  element.shape.reset();
  return set_sequence(context, DataType::kOptional, 0, std::make_shared<SequenceType>(element));
}

Status infer_insert(Context& context) {
  const SequenceType element = element_of(context, 1);
  return set_sequence(context, DataType::kSequence,
                      context.dim(0, 0) + entry_bytes(element.type, element.shape),
                      with_element(context.sequence(0), element));
}

Status infer_erase(Context& context) {
  const SequencePointer& sequence = context.sequence(0);
  if (sequence == nullptr) {
    return set_sequence(context, DataType::kSequence, Dim::unknown(0, context.dim(0, 0).upper()),
                        nullptr);
  }
  if (Status s = context.require_at_least(1, sequence->count, "elements of a sequence", 0); !s) {
    return s;
  }
  auto less = std::make_shared<SequenceType>(*sequence);
  less->count = sequence->count - 1;
  const Dim entry = entry_bytes(sequence->type, sequence->shape);
  const Dim bytes =
      is_constant(entry) ? context.dim(0, 0) - entry : Dim::unknown(0, context.dim(0, 0).upper());
  return set_sequence(context, DataType::kSequence, bytes, less);
}

Status infer_at(Context& context) {
  return set_element(context, context.sequence(0));
}

/// One number for each element that there may be, behind their number.
Status infer_index(Context& context) {
  int64_t most = context.dim(0, 0).upper() / sequence_entry_bytes(0);
  if (const SequencePointer& sequence = context.sequence(0)) {
    most = std::min(most, std::max<int64_t>(sequence->count.upper(), 0));
  }
  Shape<Dim> shape;
  shape.push(most + 1);
  return context.set_output(0, DataType::kInt32, shape);
}

Status infer_get_element(Context& context) {
  if (context.type(0) == DataType::kOptional) return set_element(context, context.sequence(0));
  if (Status s = context.set_output(0, context.type(0), context.shape(0)); !s) return s;
  context.set_sequence(0, context.sequence(0));
  return {};
}

Status infer_has_element(Context& context) {
  return context.set_output(0, DataType::kBool, {});
}

Status infer_length(Context& context) {
  return context.set_output(0, DataType::kInt64, {});
}

Status infer_concat(Context& context) {
  const auto& attributes = context.attributes<ConcatFromSequenceAttributes>();
  const SequencePointer& sequence = context.sequence(0);
  if (sequence == nullptr || !sequence->shape) {
    return context.set_output_type(0, sequence != nullptr ? sequence->type : DataType::kUndefined);
  }
  const Shape<Dim>& element = *sequence->shape;
  const bool new_axis = attributes.new_axis != 0;
  const int rank = element.rank + (new_axis ? 1 : 0);
  const int axis = attributes.axis + (attributes.axis < 0 ? rank : 0);
  if (axis < 0 || axis >= rank) {
    return context.fail(Code::kIndexOutOfRange, "axis out of range", rank, attributes.axis, 0);
  }
  if (rank > kMaxRank) {
    return context.fail(Code::kWrongRank, "rank of the result", kMaxRank, rank, 1);
  }
  Shape<Dim> shape;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) {
      shape.push(fresh(element[new_axis && i > axis ? i - 1 : i]));
      continue;
    }
    const Dim extent = new_axis ? Dim(1) : element[axis];
    const Dim least = Dim(std::max<int64_t>(sequence->count.lower(), 0)) * Dim(extent.lower());
    const Dim most = Dim(sequence->count.upper()) * Dim(extent.upper());
    shape.push(extent.has_unknown() || sequence->count.has_unknown()
                   ? Dim::unknown(constant_value(least), constant_value(most))
                   : extent * sequence->count);
  }
  return context.set_output(0, sequence->type, shape);
}

/// Input 0 as an element, with another extent at the axis.
SequenceType part_of(const Context& context, int axis, const Dim& size, const Dim& count) {
  SequenceType part = element_of(context, 0);
  (*part.shape)[axis] = size;
  part.count = count;
  part.inner = nullptr;
  return part;
}

/// Parts of which little is known.
Status set_parts(Context& context, int axis, const Dim& count, const Dim& size) {
  const SequenceType whole = element_of(context, 0);
  const Dim data = entry_bytes(whole.type, whole.shape);
  const Dim most =
      Dim(count.upper()) * Dim(sequence_entry_bytes(kSequenceAlignment)) + Dim(data.upper());
  return set_sequence(context, DataType::kSequence, Dim::unknown(0, constant_value(most)),
                      std::make_shared<SequenceType>(part_of(context, axis, size, count)));
}

/// Parts of known sizes.
Status set_parts(Context& context, int axis, const std::vector<Dim>& sizes) {
  Dim bytes = 0;
  SequencePointer parts = std::make_shared<SequenceType>();
  for (const Dim& size : sizes) {
    const SequenceType part = part_of(context, axis, size, 1);
    bytes += entry_bytes(part.type, part.shape);
    parts = with_element(parts, part);
  }
  return set_sequence(context, DataType::kSequence, bytes, parts);
}

Status infer_split(Context& context) {
  const auto& attributes = context.attributes<SplitToSequenceAttributes>();
  const int rank = context.rank(0);
  const int axis = attributes.axis + (attributes.axis < 0 ? rank : 0);
  if (axis < 0 || axis >= rank) {
    return context.fail(Code::kIndexOutOfRange, "axis out of range", rank, attributes.axis, 0);
  }
  const Dim extent = context.dim(0, axis);
  if (!context.has_input(1)) {
    SequenceType slices = part_of(context, axis, 1, extent);
    if (attributes.keepdims == 0) {
      Shape<Dim> rest;
      for (int i = 0; i < rank; ++i) {
        if (i != axis) rest.push(context.dim(0, i));
      }
      slices.shape = rest;
    }
    return set_sequence(context, DataType::kSequence, sequence_bytes(slices),
                        std::make_shared<SequenceType>(slices));
  }
  const Dim open = Dim::unknown(0, extent.upper());
  if (context.rank(1) == 1) {
    const int64_t count = context.value_count(1);
    if (count < 0 || !context.has_values(1)) {
      return set_parts(context, axis, context.dim(1, 0), open);
    }
    std::vector<Dim> sizes;
    Dim total = 0;
    for (int64_t i = 0; i < count; ++i) {
      sizes.push_back(context.value(1, i));
      total += sizes.back();
      if (Status s = context.require_at_least(0, sizes.back(), "size of a part", 1); !s) return s;
    }
    if (Status s = context.require_equal(extent, total, "sum of the parts", 1); !s) return s;
    return set_parts(context, axis, sizes);
  }
  if (!context.has_values(1)) return set_parts(context, axis, open, open);
  const Dim size = context.value(1, 0);
  if (Status s = context.require_at_least(1, size, "size of the parts", 1); !s) return s;
  if (!is_constant(size)) return set_parts(context, axis, open, open);
  const Dim count = ceil_div(extent, size);
  if (!is_constant(count) || constant_value(count) > kMaxPropagatedElements) {
    return set_parts(context, axis, count, Dim::unknown(0, std::min(size.upper(), extent.upper())));
  }
  std::vector<Dim> sizes(static_cast<size_t>(constant_value(count)), size);
  if (!sizes.empty()) sizes.back() = extent - size * Dim(constant_value(count) - 1);
  return set_parts(context, axis, sizes);
}

// ---- Known elements ----

Elements one_element(const Dim& value) {
  return {std::vector<Dim>{value}, 1};
}

KnownElements known_length(const std::byte*, std::span<const SymbolicInput> inputs,
                           std::span<const SymbolicOutput>) {
  if (inputs[0].sequence == nullptr) return {};
  return {one_element(inputs[0].sequence->count)};
}

KnownElements known_presence(const std::byte*, std::span<const SymbolicInput> inputs,
                             std::span<const SymbolicOutput>) {
  if (inputs.empty() || !inputs[0].present) return {one_element(0)};
  if (inputs[0].type != DataType::kOptional) return {one_element(1)};
  if (inputs[0].sequence == nullptr || !is_constant(inputs[0].sequence->count)) return {};
  return {one_element(inputs[0].sequence->count)};
}

void add_row(DefinitionRows& rows, OperatorDefinition definition, SymbolicRule infer) {
  definition.infer = std::move(infer);
  definition.kernel_types = {};
  rows.push_back(std::move(definition));
}

/// The converter's own: what SequenceAt becomes in a loop (passes/sequence_index.h).
void add_indexed(DefinitionRows& rows) {
  const Parameter sequence = apart({"sequence", "S"}), index = apart({"index", "X"});
  const TypeConstraint s{"S", kSequenceType}, x{"X", types({DataType::kInt32})};
  add_row(rows,
          {.domain = kInternalDomain,
           .name = "SequenceIndex",
           .inputs = {sequence},
           .outputs = {index},
           .facts = {.exact = true},
           .types = {s, x},
           .attributes = codec_of<NoAttributes>()},
          infer_index);
  add_row(rows,
          {.domain = kInternalDomain,
           .name = "SequenceElement",
           .inputs = {sequence, apart({"position", "I"}), index},
           .outputs = {apart({"tensor", "T"})},
           .facts = {.exact = true},
           .types = {s, {"I", kIndexTypes}, x, {"T", kAnyTypes}},
           .attributes = codec_of<NoAttributes>()},
          infer_at);
}

}  // namespace

void add_sequence_definitions(DefinitionRows& rows) {
  add_indexed(rows);
  const auto add = [&rows](OperatorDefinition definition, SymbolicRule infer) {
    add_row(rows, std::move(definition), std::move(infer));
  };
  const Parameter sequence = apart({"input_sequence", "S"});
  const Parameter position = apart({"position", "I", Parameter::kOptional});
  const Parameter result = apart({"output_sequence", "S"});
  const TypeConstraint s{"S", kSequenceType}, i{"I", kIndexTypes}, t{"T", kAnyTypes};
  const TypeConstraint optional{"O", kOptionalType}, any{"V", kOptionalElements};
  const TypeConstraint flag{"B", kBoolType}, number{"L", kInt64Type};

  add({.name = "SequenceConstruct",
       .since_version = 11,
       .inputs = {apart({"inputs", "T", Parameter::kVariadic})},
       .outputs = {result},
       .facts = {.exact = true},
       .types = {t, s},
       .attributes = codec_of<NoAttributes>()},
      infer_construct);
  add({.name = "SequenceEmpty",
       .since_version = 11,
       .outputs = {result},
       .facts = {.exact = true},
       .types = {s},
       .kernel_operator = "SequenceConstruct",
       .attributes = codec_of<SequenceEmptyAttributes>()},
      infer_empty);
  add({.name = "SequenceInsert",
       .since_version = 11,
       .inputs = {sequence, apart({"tensor", "T"}), position},
       .outputs = {result},
       .facts = {.exact = true},
       .types = {s, t, i},
       .attributes = codec_of<NoAttributes>()},
      infer_insert);
  add({.name = "SequenceErase",
       .since_version = 11,
       .inputs = {sequence, position},
       .outputs = {result},
       .facts = {.exact = true},
       .types = {s, i},
       .attributes = codec_of<NoAttributes>()},
      infer_erase);
  add({.name = "SequenceAt",
       .since_version = 11,
       .inputs = {sequence, apart({"position", "I"})},
       .outputs = {apart({"tensor", "T"})},
       .facts = {.exact = true},
       .types = {s, i, t},
       .attributes = codec_of<NoAttributes>()},
      infer_at);
  add({.name = "SequenceLength",
       .since_version = 11,
       .inputs = {sequence},
       .outputs = {apart({"length", "L"})},
       .facts = {.exact = true, .propagate = known_length},
       .types = {s, number},
       .attributes = codec_of<NoAttributes>()},
      infer_length);
  add({.name = "ConcatFromSequence",
       .since_version = 11,
       .inputs = {sequence},
       .outputs = {apart({"concat_result", "T"})},
       .facts = {.exact = true},
       .types = {s, t},
       .attributes = codec_of<ConcatFromSequenceAttributes>()},
      infer_concat);
  add({.name = "SplitToSequence",
       .since_version = 24,
       .inputs = {apart({"input", "T"}), apart({"split", "I", Parameter::kOptional})},
       .outputs = {result},
       .facts = {.exact = true},
       .types = {t, i, s},
       .attributes = codec_of<SplitToSequenceAttributes>()},
      infer_split);
  add({.name = "Optional",
       .since_version = 15,
       .inputs = {apart({"input", "V", Parameter::kOptional})},
       .outputs = {apart({"output", "O"})},
       .facts = {.exact = true},
       .types = {any, optional},
       .kernel_operator = "SequenceConstruct",
       .attributes = codec_of<OptionalAttributes>()},
      infer_optional);
  add({.name = "OptionalGetElement",
       .since_version = 18,
       .inputs = {apart({"input", "O"})},
       .outputs = {apart({"output", "V"})},
       .facts = {.exact = true},
       .types = {{"O", kOptionalElements | kOptionalType}, any},
       .attributes = codec_of<NoAttributes>()},
      infer_get_element);
  add({.name = "OptionalHasElement",
       .since_version = 18,
       .inputs = {apart({"input", "O", Parameter::kOptional})},
       .outputs = {apart({"output", "B"})},
       .facts = {.exact = true, .propagate = known_presence},
       .types = {{"O", kOptionalElements | kOptionalType}, flag},
       .attributes = codec_of<NoAttributes>()},
      infer_has_element);
}

}  // namespace intarsia::definitions
