// SPDX-License-Identifier: Apache-2.0
//
// Operators that draw random numbers.
#include "core/operators/random/random.h"

#include "core/definitions/gradient.h"
#include "core/definitions/rows.h"

namespace intarsia::definitions {
namespace {

constexpr TypeSet kDropoutTypes = kFloatTypes | kFloat8Types;

/// Outside training; a training_mode that is not known to be false stays for the kernel to look at.
bool copies_without_training(const std::byte*, std::span<const SymbolicInput> inputs) {
  if (inputs.size() < 3 || !inputs[2].present) return true;
  const auto& training = inputs[2].values;
  return training && training->size() == 1 && training->front() == Dim(0);
}

template <auto... Members>
constexpr Facts drawing(GradientRule gradient = nullptr) {
  return {.exact = true, .gradient = gradient, .stream = attribute<Members...>()};
}

}  // namespace

void add_random_definitions(DefinitionRows& rows) {
  using Normals = ShapedAttributes<NormalAttributes>;
  using Uniforms = ShapedAttributes<UniformAttributes>;
  add<ops::RandomNormal>(rows, {.name = "RandomNormal",
                                .since_version = 22,
                                .outputs = {ordered({"output", "T"})},
                                .facts = drawing<&Normals::numbers, &NormalAttributes::stream>(),
                                .types = {{"T", kFloatTypes}},
                                .attributes = codec_of<Normals>()});
  add<ops::RandomUniform>(rows, {.name = "RandomUniform",
                                 .since_version = 22,
                                 .outputs = {ordered({"output", "T"})},
                                 .facts = drawing<&Uniforms::numbers, &UniformAttributes::stream>(),
                                 .types = {{"T", kFloatTypes}},
                                 .attributes = codec_of<Uniforms>()});
  add<ops::RandomNormalLike>(rows, {.name = "RandomNormalLike",
                                    .since_version = 22,
                                    .inputs = {ordered({"input", "T1"})},
                                    .outputs = {ordered({"output", "T2"})},
                                    .facts = drawing<&NormalAttributes::stream>(gradients::zero),
                                    .types = {{"T1", kPlainTypes}, {"T2", kFloatTypes}},
                                    .kernel_types = {"T2"},
                                    .attributes = codec_of<NormalAttributes>()});
  add<ops::RandomUniformLike>(rows, {.name = "RandomUniformLike",
                                     .since_version = 22,
                                     .inputs = {ordered({"input", "T1"})},
                                     .outputs = {ordered({"output", "T2"})},
                                     .facts = drawing<&UniformAttributes::stream>(gradients::zero),
                                     .types = {{"T1", kPlainTypes}, {"T2", kFloatTypes}},
                                     .kernel_types = {"T2"},
                                     .attributes = codec_of<UniformAttributes>()});
  add<ops::Bernoulli>(rows, {.name = "Bernoulli",
                             .since_version = 22,
                             .inputs = {ordered({"input", "T1"}).of(Domain::kFraction)},
                             .outputs = {ordered({"output", "T2"})},
                             .facts = drawing<&BernoulliAttributes::stream>(gradients::zero),
                             .types = {{"T1", kFloatTypes}, {"T2", kNumericTypes | kBoolType}},
                             .kernel_types = {"T1", "T2"},
                             .attributes = codec_of<BernoulliAttributes>()});
  add<ops::Multinomial>(rows, {.name = "Multinomial",
                               .since_version = 22,
                               .inputs = {ordered({"input", "T1"})},
                               .outputs = {ordered({"output", "T2"})},
                               .facts = drawing<&MultinomialAttributes::stream>(),
                               .types = {{"T1", kFloatTypes}, {"T2", kIndexTypes}},
                               .kernel_types = {"T1", "T2"},
                               .attributes = codec_of<MultinomialAttributes>()});
  add<ops::Dropout>(
      rows, {.name = "Dropout",
             .since_version = 22,
             .inputs = {ordered({"data", "T"}),
                        apart({"ratio", "T1", Parameter::kOptional}).of(Domain::kFraction),
                        apart({"training_mode", "T2", Parameter::kOptional})},
             .outputs = {ordered({"output", "T"}), ordered({"mask", "T2", Parameter::kOptional})},
             .facts = {.exact = true,
                       .copies = copies_without_training,
                       .gradient = gradients::dropout,
                       .stream = attribute<&DropoutAttributes::stream>()},
             .types = {{"T", kDropoutTypes}, {"T1", kDropoutTypes}, {"T2", kBoolType}},
             .attributes = codec_of<DropoutAttributes>()});
}

}  // namespace intarsia::definitions
