// SPDX-License-Identifier: Apache-2.0
//
// Sequences of floats at the ports of a model and of a session.
#pragma once

#include "intarsia/sequence.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {

inline TensorView view_of(const std::vector<float>& values, const std::vector<int32_t>& extents) {
  return {const_cast<float*>(values.data()), extents.data(), DataType::kFloat,
          static_cast<uint8_t>(extents.size())};
}

inline std::vector<float> floats_of(const TensorView& view) {
  return {view.as<const float>(), view.as<const float>() + view.count()};
}

/// An input that is a sequence of tensors of float.
inline void sequence_input(converter::OnnxBuilder& model, const std::string& name) {
  auto* input = model.graph().add_input();
  input->set_name(name);
  auto* element = input->mutable_type()->mutable_sequence_type()->mutable_elem_type();
  element->mutable_tensor_type()->set_elem_type(static_cast<int32_t>(DataType::kFloat));
}

/// Fills input `index` with elements of one axis.
inline void give(Session& session, int index, const std::vector<std::vector<float>>& elements) {
  const TensorView input = session.input_port(index).value().tensor;
  ASSERT_EQ(input.type, DataType::kSequence);
  std::vector<std::byte> memory(1 << 16);
  SequenceWriter writer(memory);
  for (const auto& element : elements) {
    ASSERT_TRUE(writer.append(view_of(element, {static_cast<int32_t>(element.size())})));
  }
  const int32_t extents[] = {static_cast<int32_t>(writer.bytes())};
  ASSERT_TRUE(session.resize_input(index, extents).ok());
  if (writer.bytes() == 0) return;
  std::memcpy(session.input_port(index).value().tensor.data, memory.data(), writer.bytes());
}

/// The elements of output `index`.
inline std::vector<std::vector<float>> taken(const Session& session, int index) {
  const auto found = SequenceView::of(session.output_port(index).value().tensor);
  EXPECT_TRUE(found);
  std::vector<std::vector<float>> elements;
  for (const TensorView& element : *found) elements.push_back(floats_of(element));
  return elements;
}

/// Of input s: the most elements, and the most extents of each.
inline converter::ConvertOptions up_to(int64_t length, std::vector<int64_t> extents) {
  converter::ConvertOptions options;
  options.max_lengths["s"] = length;
  options.shapes["s"] = std::move(extents);
  return options;
}

}  // namespace intarsia::test
