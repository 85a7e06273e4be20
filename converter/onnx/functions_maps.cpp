// SPDX-License-Identifier: Apache-2.0
//
// The operators of ai.onnx.ml that make maps and take them apart, as the converter's own: labels
// and vocabularies are constants there, so that their strings lie in the plan, and vocabularies are
// sorted, so that looking up takes logarithmic time.
// Source: onnx/docs/Operators-ml.md (CastMap, DictVectorizer, ZipMap).
#include <algorithm>
#include <numeric>

#include "converter/onnx/version_conversion_steps.h"
#include "core/definitions/registry.h"

namespace intarsia::converter::version_steps {
namespace {

/// Makes the node one of the converter's own operators.
void become(Node& node, const char* type) {
  node.domain = definitions::kInternalDomain;
  node.type = type;
  node.version = 1;
  node.op = definitions::OperatorRegistry::builtin().find(definitions::kInternalDomain, type);
  node.attributes.clear();
}

/// The labels that one of two attributes lists: strings or integers.
Constant labels_of(const Node& node, const std::string& strings, const std::string& integers) {
  const auto* texts = node.attribute(strings);
  const auto* numbers = node.attribute(integers);
  if ((texts != nullptr) == (numbers != nullptr)) {
    throw Error(node.problem(texts != nullptr
                                 ? "has both '" + strings + "' and '" + integers + "'"
                                 : "has neither '" + strings + "' nor '" + integers + "'",
                             "the specification asks for exactly one of them"));
  }
  if (numbers != nullptr) return Constant::ints(node.integers(integers));
  const auto* list = std::get_if<std::vector<std::string>>(texts);
  if (list == nullptr) {
    throw Error(node.problem("attribute '" + strings + "' is no list of strings"));
  }
  return Constant::strings({static_cast<int64_t>(list->size())}, *list);
}

bool less(const Constant& labels, int64_t a, int64_t b) {
  return labels.type == DataType::kString ? labels.string(a) < labels.string(b)
                                          : labels.integer(a) < labels.integer(b);
}

/// Puts the values of the map that is the node's input where the vocabulary lists their keys.
void look_up_keys(Node& node, const Constant& vocabulary) {
  std::vector<int64_t> order(static_cast<size_t>(vocabulary.count()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return less(vocabulary, a, b); });
  Constant keys;
  if (vocabulary.type == DataType::kString) {
    std::vector<std::string> sorted;
    for (const int64_t i : order) sorted.emplace_back(vocabulary.string(i));
    keys = Constant::strings(vocabulary.extents, sorted);
  } else {
    std::vector<int64_t> sorted;
    for (const int64_t i : order) sorted.push_back(vocabulary.integer(i));
    keys = Constant::ints(sorted);
  }
  become(node, "MapLookup");
  node.set_input(1, constant(node, "keys", std::move(keys)));
  node.set_input(2, constant(node, "positions", Constant::ints(order)));
}

}  // namespace

void zip_map(Node& node) {
  require_input(node, 0, "X");
  Constant labels = labels_of(node, "classlabels_strings", "classlabels_int64s");
  become(node, "ZipMap");
  node.set_input(1, constant(node, "labels", std::move(labels)));
}

void dict_vectorizer(Node& node) {
  require_input(node, 0, "X");
  look_up_keys(node, labels_of(node, "string_vocabulary", "int64_vocabulary"));
}

void cast_map(Node& node) {
  /// More elements than any map here has.
  constexpr int64_t kMost = int64_t{1} << 24;
  require_input(node, 0, "X");
  const std::string to = node.text("cast_to", "TO_FLOAT"), form = node.text("map_form", "DENSE");
  const DataType type = to == "TO_FLOAT"    ? DataType::kFloat
                        : to == "TO_STRING" ? DataType::kString
                        : to == "TO_INT64"  ? DataType::kInt64
                                            : DataType::kUndefined;
  if (type == DataType::kUndefined) {
    throw Error(node.problem("attribute 'cast_to' is '" + to +
                             "'; it has to be TO_FLOAT, TO_STRING or TO_INT64"));
  }
  const int64_t most = node.integer("max_map", 1);
  if (form == "DENSE") {
    become(node, "MapValues");
  } else if (form != "SPARSE") {
    throw Error(
        node.problem("attribute 'map_form' is '" + form + "'; it has to be DENSE or SPARSE"));
  } else if (most < 1 || most > kMost) {
    throw Error(node.problem("attribute 'max_map' is " + std::to_string(most) +
                             "; it has to lie in 1 to " + std::to_string(kMost)));
  } else {
    std::vector<int64_t> indices(static_cast<size_t>(most));
    std::iota(indices.begin(), indices.end(), 0);
    look_up_keys(node, Constant::ints(indices));
  }
  append(node, 0, "Cast")->attributes["to"] = static_cast<int64_t>(type);
}

}  // namespace intarsia::converter::version_steps
