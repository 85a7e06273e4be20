// SPDX-License-Identifier: Apache-2.0
//
// FlexAttention of ai.onnx.preview: attention with graphs of the model's between its products.
//
//     scores = Q K^T * scale, score_mod(scores)
//     probabilities = softmax(scores), prob_mod(probabilities)
//     Y = probabilities V
//
// The graphs become nodes among those of the rule. They see tensors of the type softmax_precision.
#include "core/definitions/attention_terms.h"
#include "core/definitions/expansion.h"
#include "core/definitions/rows.h"
#include "core/operators/nn/attention.h"
#include "intarsia/describe.h"

namespace intarsia::definitions {
namespace {

std::string text_of(const SymbolicInput& tensor) {
  std::string text = std::string(data_type_name(tensor.type)) + " [";
  for (int axis = 0; axis < tensor.shape.rank; ++axis) {
    text += (axis == 0 ? "" : ",") + tensor.shape[axis].to_string();
  }
  return text + "]";
}

/// True unless two extents are known to be different.
bool may_agree(const Dim& a, const Dim& b) {
  return !is_constant(a - b) || constant_value(a - b) == 0;
}

/// What the graph makes of `x`, of the same type and extents; `x` where there is no graph.
Term modified(ExpansionContext& e, std::string_view graph, Term x) {
  if (!e.has_graph(graph)) return x;
  const Term y = e.inlined(graph, std::span(&x, 1), 1).front();
  const SymbolicInput given = x.known(), made = y.known();
  bool agree = given.type == made.type && given.shape.rank == made.shape.rank;
  for (int axis = 0; agree && axis < given.shape.rank; ++axis) {
    agree = may_agree(given.shape[axis], made.shape[axis]);
  }
  if (!agree) {
    e.refuse("the graph '" + std::string(graph) + "' makes " + text_of(made) + " of " +
             text_of(given) + "; type and extents have to stay");
  }
  return y;
}

void validate(ExpansionContext& e) {
  const SymbolicInput q = e.x(0).known(), k = e.x(1).known(), v = e.x(2).known();
  if (q.shape.rank != 4 || k.shape.rank != 4 || v.shape.rank != 4) {
    e.refuse("Q, K and V have to have 4 axes, found " + text_of(q) + ", " + text_of(k) + " and " +
             text_of(v));
  }
  const auto require = [&](const char* what, const SymbolicInput& a, const SymbolicInput& b,
                           int axis) {
    if (may_agree(a.shape[axis], b.shape[axis])) return;
    e.refuse(std::string(what) + " differ along axis " + std::to_string(axis) + ": " + text_of(a) +
             " and " + text_of(b));
  };
  require("Q and K", q, k, 0);
  require("Q and K", q, k, 3);
  for (const int axis : {0, 1, 2}) require("K and V", k, v, axis);
}

/// Operands of 16 bits are computed with in float, and round once.
void flex_attention(ExpansionContext& e) {
  const auto& a = e.attributes<FlexAttentionAttributes>();
  validate(e);
  const DataType given = e.x(0).known().type;
  const DataType type = given == DataType::kDouble ? given : DataType::kFloat;
  const auto wanted = static_cast<DataType>(a.softmax_precision);
  const DataType precision = wanted != DataType::kUndefined ? wanted : type;
  const Term q = cast_to(e.x(0), type), k = cast_to(e.x(1), type);
  const Term scores = scores_of_heads(q, k, a.scale);
  const Term probabilities =
      modified(e, "prob_mod",
               call("Softmax", {modified(e, "score_mod", cast_to(scores, precision))},
                    {{"axis", int64_t{-1}}}));
  const DataType wide = precision == DataType::kDouble ? precision : type;
  const Term y = product_of_heads(cast_to(probabilities, wide), cast_to(e.x(2), wide), q, k);
  e.set(0, cast_to(y, given));
}

}  // namespace

void add_flex_attention_definitions(DefinitionRows& rows) {
  rows.push_back(
      {.domain = "ai.onnx.preview",
       .name = "FlexAttention",
       .inputs = {Parameter{"Q", "T1"}.with("B G*R S D"), Parameter{"K", "T1"}.with("B G T D"),
                  Parameter{"V", "T1"}.with("B G T E")},
       .outputs = {{"Y", "T1"}},
       .facts = {.expand = flex_attention},
       .types = {{"T1", kFloatTypes}},
       .kernel_types = {},
       .attributes = codec_of<FlexAttentionAttributes>(),
       .graphs = {"score_mod", "prob_mod"},
       .control = Control::kInlined});
}

}  // namespace intarsia::definitions
