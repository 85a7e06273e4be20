// SPDX-License-Identifier: Apache-2.0
//
// Definitions of the recurrent layers.
#include "core/definitions/nn.h"
#include "core/operators/rnn.h"

namespace intarsia::definitions {

void add_rnn_definitions(DefinitionRows& rows) {
  constexpr auto kOptional = Parameter::kOptional;
  constexpr std::string_view kHeader = "core/operators/rnn.h";
  const std::vector<TypeConstraint> constraints = {{"T", kFloatTypes},
                                                   {"T1", types({DataType::kInt32})}};
  const std::vector<Parameter> inputs = {{"X", "T"},
                                         {"W", "T"},
                                         {"R", "T"},
                                         {"B", "T", kOptional},
                                         {"sequence_lens", "T1", kOptional},
                                         {"initial_h", "T", kOptional}};
  const std::vector<Parameter> outputs = {{"Y", "T", kOptional}, {"Y_h", "T", kOptional}};
  add<ops::Rnn>(rows, "intarsia::ops::Rnn", kHeader,
                {.name = "RNN",
                 .inputs = inputs,
                 .outputs = outputs,
                 .types = constraints,
                 .attributes = codec_of<RnnAttributes>()});
  add<ops::Gru>(rows, "intarsia::ops::Gru", kHeader,
                {.name = "GRU",
                 .inputs = inputs,
                 .outputs = outputs,
                 .types = constraints,
                 .attributes = codec_of<GruAttributes>()});
  std::vector<Parameter> cell_inputs = inputs;
  cell_inputs.push_back({"initial_c", "T", kOptional});
  cell_inputs.push_back({"P", "T", kOptional});
  std::vector<Parameter> cell_outputs = outputs;
  cell_outputs.push_back({"Y_c", "T", kOptional});
  add<ops::Lstm>(rows, "intarsia::ops::Lstm", kHeader,
                 {.name = "LSTM",
                  .inputs = cell_inputs,
                  .outputs = cell_outputs,
                  .types = constraints,
                  .attributes = codec_of<LstmAttributes>()});
}

}  // namespace intarsia::definitions
