// SPDX-License-Identifier: Apache-2.0
//
// Gradient of ai.onnx.preview.training. It gets into no plan: the converter puts the nodes that
// compute the gradients in its place (converter/graph/gradient.h).
#include "core/definitions/gradient.h"
#include "core/definitions/rows.h"

namespace intarsia::definitions {
namespace {

struct GradientAttributes {
  ListAttribute<StringAttribute> xs, zs;
  StringAttribute y;
  template <class V>
  void fields(V& v) {
    v.required("xs", xs);
    v("zs", zs);
    v.required("y", y);
  }
};

/// Output i is like the value that is given for the i-th of xs. Behind the given values stand those
/// that the attributes name.
Status infer_gradient(SymbolicShapeContext& s) {
  const auto& attributes = s.attributes<GradientAttributes>();
  const auto xs = static_cast<int>(attributes.xs.size());
  const int expected = xs + static_cast<int>(attributes.zs.size());
  const int given = s.input_count() - expected - 1;
  if (given != expected) {
    return s.fail(Code::kInvalidValue, "number of inputs, one for each name in xs and zs", expected,
                  given);
  }
  if (s.output_count() > xs) {
    return s.fail(Code::kInvalidValue, "number of outputs, one for each name in xs", xs,
                  s.output_count());
  }
  for (int i = 0; i < s.output_count(); ++i) {
    if (Status status = s.set_output(i, s.type(i), s.shape(i)); !status) return status;
  }
  return {};
}

}  // namespace

void add_training_definitions(DefinitionRows& rows) {
  rows.push_back({.domain = kTrainingDomain,
                  .name = "Gradient",
                  .inputs = {apart({"Inputs", "", Parameter::kVariadic})},
                  .outputs = {apart({"Outputs", "T2", Parameter::kVariadic, 1, true})},
                  .types = {{"T2", kFloatTypes}},
                  .kernel_types = {},
                  .attributes = codec_of<GradientAttributes>(),
                  .infer = infer_gradient,
                  .impure = true,
                  .value_names = {"xs", "zs", "y"}});
}

}  // namespace intarsia::definitions
