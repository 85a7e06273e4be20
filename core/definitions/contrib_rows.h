// SPDX-License-Identifier: Apache-2.0
//
// Rows of operators of ONNX Runtime's domain that become others. Host only.
#pragma once

#include <utility>
#include <vector>

#include "core/definitions/expansion.h"
#include "core/definitions/rows.h"

namespace intarsia::definitions {

/// Of normalisations that have no other.
struct EpsilonAttributes {
  float epsilon = 1e-12f;
  template <class V>
  void fields(V& v) {
    v("epsilon", epsilon);
  }
};

/// Adds rows to a list; called as a function.
class ContribRows {
 public:
  explicit ContribRows(DefinitionRows& rows) : rows_(rows) {}

  void operator()(std::string_view name, ExpansionRule rule, std::vector<Parameter> inputs,
                  std::vector<Parameter> outputs, std::vector<TypeConstraint> types,
                  AttributeCodec attributes, std::string_view domain = kContribDomain) const {
    rows_.push_back({.domain = domain,
                     .name = name,
                     .inputs = std::move(inputs),
                     .outputs = std::move(outputs),
                     .facts = {.expand = rule},
                     .types = std::move(types),
                     .kernel_types = {},
                     .attributes = std::move(attributes)});
  }

 private:
  DefinitionRows& rows_;
};

}  // namespace intarsia::definitions
