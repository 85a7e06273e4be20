// SPDX-License-Identifier: Apache-2.0
//
// Control flow. The extents of its outputs are those of the branches' outputs: the converter joins
// them, so that there is no shape function.
#include "core/operators/control/control.h"

#include "core/definitions/rows.h"

namespace intarsia::definitions {

namespace {

/// Lists as long as the node has operands: they stay as the model has them, since no Scan gets into
/// a plan.
AttributeCodec scan_attributes() {
  AttributeCodec codec;
  codec.read = [](const AttributeMap& attributes, std::vector<std::byte>& blob) -> std::string {
    blob.clear();
    for (const auto& [name, value] : attributes) {
      const bool number = name == "num_scan_inputs";
      const bool list = name == "scan_input_axes" || name == "scan_input_directions" ||
                        name == "scan_output_axes" || name == "scan_output_directions";
      if (!number && !list) return "attribute '" + name + "' is unknown";
      if (number && !std::holds_alternative<int64_t>(value)) {
        return "attribute '" + name + "' is no integer";
      }
      if (list && !std::holds_alternative<std::vector<int64_t>>(value)) {
        return "attribute '" + name + "' is no list of integers";
      }
    }
    return attributes.count("num_scan_inputs") != 0 ? "" : "lacks the attribute 'num_scan_inputs'";
  };
  codec.list = [] {
    return std::vector<AttributeField>{
        {.name = "num_scan_inputs", .kind = AttributeField::kInteger, .required = true},
        {.name = "scan_input_axes", .kind = AttributeField::kIntegers},
        {.name = "scan_input_directions", .kind = AttributeField::kIntegers},
        {.name = "scan_output_axes", .kind = AttributeField::kIntegers},
        {.name = "scan_output_directions", .kind = AttributeField::kIntegers}};
  };
  codec.print = [](std::span<const std::byte>) {
    return std::vector<std::pair<std::string, std::string>>();
  };
  return codec;
}

}  // namespace

void add_control_definitions(DefinitionRows& rows) {
  rows.push_back({.name = "If",
                  .since_version = 11,
                  .inputs = {apart({"cond", "B"})},
                  .outputs = {apart({"outputs", "", Parameter::kVariadic, 1, true})},
                  .types = {{"B", kBoolType}},
                  .kernel_types = {},
                  .attributes = codec_of<IfAttributes>(),
                  .graphs = {"then_branch", "else_branch"}});
  rows.push_back({.name = "Loop",
                  .since_version = 1,
                  .inputs = {apart({"M", "I", Parameter::kOptional}),
                             apart({"cond", "B", Parameter::kOptional}),
                             apart({"v_initial", "", Parameter::kVariadic, 0})},
                  .outputs = {apart({"v_final_and_scan_outputs", "", Parameter::kVariadic, 0})},
                  .types = {{"I", kInt64Type}, {"B", kBoolType}},
                  .kernel_types = {},
                  .attributes = codec_of<LoopAttributes>(),
                  .graphs = {"body"},
                  .control = Control::kLoop});
  rows.push_back(
      {.name = "Scan",
       .since_version = 9,
       .inputs = {apart({"initial_state_and_scan_inputs", "", Parameter::kVariadic, 0})},
       .outputs = {apart({"final_state_and_scan_outputs", "", Parameter::kVariadic, 1, true})},
       .kernel_types = {},
       .attributes = scan_attributes(),
       .graphs = {"body"},
       .control = Control::kScan});
  rows.push_back({.name = "SequenceMap",
                  .since_version = 17,
                  .inputs = {apart({"input_sequence", "S"}),
                             apart({"additional_inputs", "", Parameter::kVariadic, 0})},
                  .outputs = {apart({"out_sequence", "S", Parameter::kVariadic})},
                  .types = {{"S", types({DataType::kSequence})}},
                  .kernel_types = {},
                  .attributes = codec_of<NoAttributes>(),
                  .graphs = {"body"},
                  .control = Control::kMap});
  // Stands for a branch that cannot be executed; the converter writes the message, which is all
  // that its attributes hold.
  rows.push_back({.domain = "intarsia",
                  .name = "Contradiction",
                  .outputs = {apart({"outputs", "", Parameter::kVariadic, 1, true})},
                  .kernel_types = {},
                  .attributes = codec_of<NoAttributes>(),
                  .impure = true});
  // Fails a run in which an input has another value than the plan was made for.
  rows.push_back({.domain = "intarsia",
                  .name = "ValueCheck",
                  .inputs = {apart({"found", "T"}), apart({"expected", "T"})},
                  .types = {{"T", kNumericTypes | kBoolType}},
                  .kernel_types = {},
                  .attributes = codec_of<NoAttributes>(),
                  .impure = true});
  // Copies between the memories of host and device, planned by the converter.
  for (const std::string_view name : {"ToDevice", "ToHost"}) {
    rows.push_back({.domain = "intarsia",
                    .name = name,
                    .inputs = {same({"x", "T"})},
                    .outputs = {same({"y", "T"})},
                    .facts = {.element_wise = true, .exact = true},
                    .types = {{"T", kAnyTypes}},
                    .kernel_types = {},
                    .attributes = codec_of<NoAttributes>(),
                    .impure = true});
  }
}

}  // namespace intarsia::definitions
