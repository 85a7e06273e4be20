// SPDX-License-Identifier: Apache-2.0
//
// Definitions of the recurrent layers.
#include "core/definitions/gradient.h"
#include "core/definitions/rows.h"
#include "core/operators/recurrent/linear_attention.h"
#include "core/operators/recurrent/rnn.h"

namespace intarsia::definitions {

void add_recurrent_definitions(DefinitionRows& rows) {
  constexpr auto kOptional = Parameter::kOptional;
  const std::vector<TypeConstraint> constraints = {{"T", kFloatTypes},
                                                   {"T1", types({DataType::kInt32})}};
  const std::vector<Parameter> inputs = {
      apart({"X", "T"}),
      apart({"W", "T"}),
      apart({"R", "T"}),
      apart({"B", "T", kOptional}),
      apart({"sequence_lens", "T1", kOptional}).of(Domain::kLength),
      apart({"initial_h", "T", kOptional})};
  const std::vector<Parameter> outputs = {apart({"Y", "T", kOptional}),
                                          apart({"Y_h", "T", kOptional})};
  // Each of the attributes structs begins with those of RNN.
  const auto facts = [](GradientRule gradient) {
    return Facts{.axes = {.form = AxisForm::kPosition},
                 .state = attribute<&RnnAttributes::hidden_size>(),
                 .gradient = gradient};
  };
  add<ops::Rnn>(rows, {.name = "RNN",
                       .inputs = inputs,
                       .outputs = outputs,
                       .facts = facts(gradients::rnn),
                       .types = constraints,
                       .attributes = codec_of<RnnAttributes>()});
  add<ops::Gru>(rows, {.name = "GRU",
                       .inputs = inputs,
                       .outputs = outputs,
                       .facts = facts(gradients::gru),
                       .types = constraints,
                       .attributes = codec_of<GruAttributes>()});
  std::vector<Parameter> cell_inputs = inputs;
  cell_inputs.push_back(apart({"initial_c", "T", kOptional}));
  cell_inputs.push_back(apart({"P", "T", kOptional}));
  std::vector<Parameter> cell_outputs = outputs;
  cell_outputs.push_back(apart({"Y_c", "T", kOptional}));
  add<ops::Lstm>(rows, {.name = "LSTM",
                        .inputs = cell_inputs,
                        .outputs = cell_outputs,
                        .facts = facts(gradients::lstm),
                        .types = constraints,
                        .attributes = codec_of<LstmAttributes>()});
  for (const auto& [name, type] : {std::pair("W_scale", "T"),
                                   {"W_zero_point", "T2"},
                                   {"R_scale", "T"},
                                   {"R_zero_point", "T2"}}) {
    cell_inputs.push_back(apart({name, type}));
  }
  cell_inputs[1] = apart({"W", "T2"});
  cell_inputs[2] = apart({"R", "T2"});
  Facts of_codes = facts(nullptr);
  of_codes.rounds_within = true;  // what each step carries
  add<ops::DynamicLstm>(rows, {.domain = kInternalDomain,
                               .name = ops::DynamicLstm::name,
                               .inputs = cell_inputs,
                               .outputs = cell_outputs,
                               .facts = of_codes,
                               .types = {{"T", types({DataType::kFloat})},
                                         {"T1", types({DataType::kInt32})},
                                         {"T2", kByteTypes}},
                               .kernel_types = {"T2"},
                               .attributes = codec_of<LstmAttributes>()});
  constexpr TypeSet kReals = types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16});
  add<ops::LinearAttention>(
      rows,
      {.name = "LinearAttention",
       .since_version = 27,
       .inputs = {apart({"query", "T"}), apart({"key", "T"}), apart({"value", "T"}),
                  apart({"past_state", "S", kOptional}), apart({"decay", "T", kOptional}),
                  apart({"beta", "T", kOptional})},
       .outputs = {apart({"output", "T"}), apart({"present_state", "S"})},
       .facts = {.axes = {.form = AxisForm::kPosition}, .gradient = gradients::linear_attention},
       .types = {{"T", kReals}, {"S", kReals}},
       .kernel_types = {"T", "S"},
       .attributes = codec_of<LinearAttentionAttributes>()});
}

}  // namespace intarsia::definitions
