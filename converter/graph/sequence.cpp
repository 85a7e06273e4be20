// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/sequence.h"

#include "converter/graph/strings.h"
#include "converter/passes/fold.h"
#include "intarsia/sequence.h"

namespace intarsia::converter {

using definitions::SequencePointer;
using definitions::SequenceType;

Constant sequence_of(DataType kind, const std::vector<Constant>& elements) {
  int64_t size = 0;
  for (const Constant& element : elements) {
    size += sequence_entry_bytes(static_cast<int64_t>(element.size));
  }
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  std::string characters;
  SequenceWriter writer(bytes);
  for (const Constant& element : elements) {
    if (element.rank() > kMaxRank) {
      throw Error("an element of a sequence has more than " + std::to_string(kMaxRank) +
                  " axes, which is not supported");
    }
    const std::vector<int32_t> extents(element.extents.begin(), element.extents.end());
    std::vector<std::byte> data = with_strings_in(element, characters);
    static_cast<void>(writer.append(
        {data.data(), extents.data(), element.type, static_cast<uint8_t>(extents.size())}));
  }
  return with_characters(kind, {size}, std::move(bytes), characters);
}

namespace {

SequenceView view_of(std::span<const std::byte> bytes) {
  const auto view = SequenceView::of(bytes);
  if (!view) throw Error("the bytes of a sequence are none");
  return *view;
}

SequencePointer type_of_map(const SequenceView& parts) {
  if (parts.size() != 0 && parts.size() != 2) throw Error("the bytes of a map are none");
  auto type = std::make_shared<SequenceType>();
  type->key = parts.size() == 0 ? DataType::kInt64 : parts[0].type;
  type->type = parts.size() == 0 ? DataType::kFloat : parts[1].type;
  type->count = parts.size() == 0 ? 0 : parts[0].count();
  return type;
}

SequencePointer type_of_elements(DataType kind, std::span<const std::byte> bytes) {
  if (kind == DataType::kMap) return type_of_map(view_of(bytes));
  SequencePointer type = std::make_shared<SequenceType>();
  for (const TensorView& element : view_of(bytes)) {
    Shape<definitions::Dim> shape;
    for (int32_t extent : element.dims()) shape.push(extent);
    SequencePointer inner;
    if (holds_elements(element.type)) {
      inner = type_of_elements(
          element.type, {element.as<const std::byte>(), static_cast<size_t>(element.bytes())});
    }
    type = with_element(type, {element.type, shape, 1, inner});
  }
  return type;
}

}  // namespace

std::vector<Constant> elements_of(const Constant& sequence) {
  std::vector<Constant> elements;
  const auto read = [&sequence](StringRef string) { return sequence.text(string); };
  for (const TensorView& element : view_of(sequence.bytes())) {
    const auto* data = element.as<const std::byte>();
    elements.push_back(with_characters(
        element.type, {element.extents, element.extents + element.rank},
        std::vector<std::byte>(data, data + static_cast<size_t>(element.bytes())), read));
  }
  return elements;
}

SequencePointer sequence_type(const Constant& sequence) {
  return holds_elements(sequence.type) ? type_of_elements(sequence.type, sequence.bytes())
                                       : nullptr;
}

SequencePointer sequence_type(const Value& value) {
  const Constant* known = known_constant(value);
  return known != nullptr ? sequence_type(*known) : value.sequence;
}

namespace {

bool may_hold_strings(const definitions::SequenceType* type) {
  return type != nullptr && (type->type == DataType::kString || type->key == DataType::kString ||
                             may_hold_strings(type->inner.get()));
}

}  // namespace

bool may_hold_strings(const Value& value) {
  if (value.constant && holds_elements(value.constant->type)) {
    return value.constant->characters != nullptr;
  }
  const DataType type = value.constant ? value.constant->type : value.type;
  return type == DataType::kString || may_hold_strings(value.sequence.get());
}

}  // namespace intarsia::converter
