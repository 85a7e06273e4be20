// SPDX-License-Identifier: Apache-2.0
//
// The list of all operator definitions, and look-ups in it.
#include <algorithm>
#include <cctype>
#include <tuple>

#include "core/definitions/rows.h"

namespace intarsia::definitions {
namespace {

std::string_view canonical(std::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

std::tuple<std::string_view, std::string_view> key_of(const OperatorDefinition& definition) {
  return {definition.domain, definition.name};
}

const DefinitionRows& definitions() {
  static const DefinitionRows kRows = [] {
    DefinitionRows rows;
    add_shape_ops_definitions(rows);
    add_control_definitions(rows);
    add_pointwise_definitions(rows);
    add_reduction_definitions(rows);
    add_movement_definitions(rows);
    add_nn_definitions(rows);
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
    return rows;
  }();
  return kRows;
}

/// Levenshtein distance without regard to case.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) ==
                        std::tolower(static_cast<unsigned char>(b[j - 1]));
      const size_t replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

const std::vector<const OperatorDefinition*>& all_operators() {
  static const std::vector<const OperatorDefinition*> kAll = [] {
    std::vector<const OperatorDefinition*> all;
    for (const OperatorDefinition& definition : definitions()) all.push_back(&definition);
    return all;
  }();
  return kAll;
}

const OperatorDefinition* find_operator(std::string_view domain, std::string_view name) {
  const DefinitionRows& rows = definitions();
  const std::tuple<std::string_view, std::string_view> key(canonical(domain), name);
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), key,
                       [](const auto& row, const auto& wanted) { return key_of(row) < wanted; });
  return found != rows.end() && key_of(*found) == key ? &*found : nullptr;
}

std::vector<std::string> nearest_operators(std::string_view domain, std::string_view name) {
  std::vector<std::pair<size_t, std::string>> candidates;
  for (const OperatorDefinition& definition : definitions()) {
    // Half the name may differ; the right name in another domain always resembles.
    const size_t distance =
        edit_distance(definition.name, name) + (definition.domain == canonical(domain) ? 0 : 1);
    if (2 * distance <= name.size() + 1) {
      candidates.emplace_back(distance, definition.qualified_name());
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> result;
  for (const auto& [distance, candidate] : candidates) {
    if (result.size() < 3) result.push_back(candidate);
  }
  return result;
}

}  // namespace intarsia::definitions
