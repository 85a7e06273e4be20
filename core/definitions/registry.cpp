// SPDX-License-Identifier: Apache-2.0
//
// The list of all operator definitions, and look-ups in it.
#include "core/definitions/registry.h"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "core/definitions/rows.h"

namespace intarsia::definitions {
namespace {

std::string_view canonical(std::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}

using Name = std::tuple<std::string_view, std::string_view>;

Name name_of(const OperatorDefinition* definition) {
  return {definition->domain, definition->name};
}

DefinitionRows make_builtin_rows() {
  DefinitionRows rows;
  add_shape_ops_definitions(rows);
  add_control_definitions(rows);
  add_pointwise_definitions(rows);
  add_reduction_definitions(rows);
  add_movement_definitions(rows);
  add_indexing_definitions(rows);
  add_nn_definitions(rows);
  add_nn_normalization_definitions(rows);
  add_linear_algebra_definitions(rows);
  add_recurrent_definitions(rows);
  add_random_definitions(rows);
  add_quantization_definitions(rows);
  add_string_definitions(rows);
  add_sequence_definitions(rows);
  add_map_definitions(rows);
  add_ml_definitions(rows);
  add_training_definitions(rows);
  add_expanded_definitions(rows);
  add_attention_definitions(rows);
  add_flex_attention_definitions(rows);
  add_fourier_definitions(rows);
  add_window_definitions(rows);
  add_quantized_product_definitions(rows);
  add_contrib_definitions(rows);
  add_contrib_normalization_definitions(rows);
  add_contrib_attention_definitions(rows);
  add_contrib_group_query_definitions(rows);
  add_contrib_quantized_definitions(rows);
  add_contrib_quantized_product_definitions(rows);
  add_contrib_quantized_block_definitions(rows);
  return rows;
}

std::string lower(std::string_view text) {
  std::string result;
  for (char c : text) result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Levenshtein distance.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// How far a name is from the wanted one without regard to case, and whether that is near: at most
/// a third of its letters differ, or one is an abbreviation of the other (LayerNorm,
/// LayerNormalization).
bool resembles(std::string_view name, std::string_view wanted, size_t& distance) {
  constexpr size_t kShortest = 4;
  const std::string a = lower(name), b = lower(wanted);
  distance = edit_distance(a, b);
  if (3 * distance <= std::max(a.size(), b.size())) return true;
  const std::string& longer = a.size() < b.size() ? b : a;
  const std::string& shorter = a.size() < b.size() ? a : b;
  return shorter.size() >= kShortest && longer.starts_with(shorter);
}

std::string versions_text(const OperatorDefinition& definition) {
  std::string since = std::to_string(definition.since_version);
  if (definition.until_version == kLatestVersion) return since + " and later";
  if (definition.until_version == definition.since_version) return since;
  return since + " to " + std::to_string(definition.until_version);
}

}  // namespace

const OperatorRegistry& OperatorRegistry::builtin() {
  static const DefinitionRows kRows = make_builtin_rows();
  static const OperatorRegistry kRegistry = [] {
    OperatorRegistry registry;
    registry.add(kRows);
    return registry;
  }();
  return kRegistry;
}

std::vector<std::string> OperatorRegistry::add(const DefinitionRows& rows) {
  std::vector<std::string> refused;
  const auto order = [](const OperatorDefinition* a, const OperatorDefinition* b) {
    return std::tuple(name_of(a), a->since_version) < std::tuple(name_of(b), b->since_version);
  };
  for (const OperatorDefinition& row : rows) {
    const bool overlaps = std::any_of(rows_.begin(), rows_.end(), [&row](const auto* other) {
      return name_of(other) == name_of(&row) && other->since_version <= row.until_version &&
             row.since_version <= other->until_version;
    });
    if (overlaps) {
      refused.push_back(row.qualified_name());
      continue;
    }
    rows_.insert(std::upper_bound(rows_.begin(), rows_.end(), &row, order), &row);
  }
  return refused;
}

void OperatorRegistry::replace(const OperatorDefinition* row, const OperatorDefinition* fresh) {
  std::replace(rows_.begin(), rows_.end(), row, fresh);
}

const OperatorDefinition* OperatorRegistry::find(std::string_view domain, std::string_view name,
                                                 int version) const {
  const Name wanted(canonical(domain), name);
  const auto first =
      std::lower_bound(rows_.begin(), rows_.end(), wanted,
                       [](const auto* row, const Name& key) { return name_of(row) < key; });
  const OperatorDefinition* newest = nullptr;
  for (auto row = first; row != rows_.end() && name_of(*row) == wanted; ++row) {
    if ((*row)->since_version <= version && version <= (*row)->until_version) return *row;
    newest = *row;
  }
  if (newest != nullptr && version == kLatestVersion) return newest;
  for (const DefinitionFinder& finder : finders_) {
    if (const OperatorDefinition* found = finder(canonical(domain), name, version)) return found;
  }
  return nullptr;
}

std::vector<std::string> OperatorRegistry::nearest(std::string_view domain,
                                                   std::string_view name) const {
  std::vector<std::pair<size_t, std::string>> candidates;
  for (const OperatorDefinition* definition : rows_) {
    if (definition->domain == kInternalDomain) continue;
    size_t distance = 0;
    if (!resembles(definition->name, name, distance)) continue;
    // The right name in another domain comes before a wrong name in the right one; a wrong name in
    // another domain is another operator.
    const bool same_domain = definition->domain == canonical(domain);
    if (!same_domain && distance != 0) continue;
    distance = 2 * distance + (same_domain ? 0 : 1);
    candidates.emplace_back(distance, definition->qualified_name());
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> result;
  for (const auto& [distance, candidate] : candidates) {
    const bool known = std::find(result.begin(), result.end(), candidate) != result.end();
    if (result.size() < 3 && !known) result.push_back(candidate);
  }
  return result;
}

std::string OperatorRegistry::hint(std::string_view domain, std::string_view name) const {
  std::string versions;
  for (const OperatorDefinition* definition : rows_) {
    if (name_of(definition) != Name(canonical(domain), name)) continue;
    versions += (versions.empty() ? "" : ", ") + versions_text(*definition);
  }
  if (!versions.empty()) return "it is registered for versions " + versions;
  std::string names;
  for (const std::string& near : nearest(domain, name)) names += (names.empty() ? "" : ", ") + near;
  return names.empty() ? "" : "names like it: " + names;
}

}  // namespace intarsia::definitions
