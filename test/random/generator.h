// SPDX-License-Identifier: Apache-2.0
//
// Makes random models out of all operators that a library defines.
//
// A node is proposed (operator, attributes, operands) and kept if the operator's own shape rule
// takes it and its reference kernel executes it in every run. Where the rule says which operand it
// refuses and what it expected instead, that operand is mended and the rule asked again, so that no
// operator is known here by name. Nodes are also refused whose results would say little: not
// finite, huge, or so sensitive to rounding that nothing could be compared.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "test/random/random.h"
#include "test/random/random_model.h"

namespace intarsia::test {

/// How often each operator was taken, by qualified name.
using Coverage = std::map<std::string, int64_t>;

/// Those that any model may name, or the converter's own besides, which others become.
enum class Operators : uint8_t { kOfModels, kAll };

/// The operators that models are made of. Of the converter's own only those of tensors: what it
/// writes about a sequence is as long as that one may get, which only a plan knows.
std::vector<const OperatorDefinition*> operators_of(const converter::OperatorLibrary& library,
                                                    Operators which = Operators::kOfModels);

/// The model of that seed: the same on every host. Adds its nodes to `coverage`.
RandomModel random_model(uint64_t seed, const converter::OperatorLibrary& library,
                         Coverage& coverage, Operators which = Operators::kOfModels);

/// A model of one node of `op`. Only its inputs have elements: no reference kernel has seen them.
/// Nothing where all proposals were refused, or where a node needs graphs or sequences.
std::optional<RandomModel> random_node(uint64_t seed, const OperatorDefinition& op,
                                       const converter::OperatorLibrary& library,
                                       const Sizes& sizes = kOrdinarySizes);

}  // namespace intarsia::test
