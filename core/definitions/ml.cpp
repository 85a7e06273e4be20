// SPDX-License-Identifier: Apache-2.0
//
// The converter's own operators for classical models, of which the importer makes those of
// ai.onnx.ml.
#include "core/definitions/rows.h"
#include "core/operators/ml/support_vectors.h"
#include "core/operators/ml/tree_ensemble.h"

namespace intarsia::definitions {

void add_ml_definitions(DefinitionRows& rows) {
  constexpr auto kOptional = Parameter::kOptional;
  const TypeConstraint reals{"T", types({DataType::kFloat, DataType::kDouble})};
  const TypeConstraint single{"F", types({DataType::kFloat})};
  const TypeConstraint twofold{"D", types({DataType::kDouble})};
  const TypeConstraint whole{"I", types({DataType::kInt32})};
  const Facts facts = {.axes = {.form = AxisForm::kPosition}};
  add<ops::TreeEnsemble>(
      rows, {.domain = kInternalDomain,
             .name = "TreeEnsemble",
             .inputs = {apart({"X", "T"}), apart({"nodes", "N"}), apart({"trees", "I"}),
                        apart({"weights", "T"}), apart({"targets", "I", kOptional})},
             .outputs = {apart({"Y", "T"})},
             .facts = facts,
             .types = {reals, whole, {"N", types({DataType::kUint64})}},
             .attributes = codec_of<TreeEnsembleAttributes>()});
  add<ops::SupportVectors>(rows, {.domain = kInternalDomain,
                                  .name = "SupportVectors",
                                  .inputs = {apart({"X", "T"}), apart({"vectors", "T"}),
                                             apart({"coefficients", "T"}), apart({"starts", "I"})},
                                  .outputs = {apart({"Y", "D"})},
                                  .facts = facts,
                                  .types = {reals, whole, twofold},
                                  .attributes = codec_of<SupportVectorsAttributes>()});
  add<ops::PairwiseProbabilities>(
      rows, {.domain = kInternalDomain,
             .name = "PairwiseProbabilities",
             .inputs = {apart({"scores", "D"}), apart({"prob_a", "F"}), apart({"prob_b", "F"})},
             .outputs = {apart({"Y", "F"})},
             .facts = facts,
             .types = {single, twofold},
             .kernel_types = {},
             .attributes = codec_of<PairwiseAttributes>()});
}

}  // namespace intarsia::definitions
