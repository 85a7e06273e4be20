// SPDX-License-Identifier: Apache-2.0
//
// Einsum in other operators: operands are contracted two by two, from the left. Labels that both
// have and somebody needs later are a batch, others that both have are summed by MatMul; an outer
// product is a Mul. Ranks follow from the equation, save that of an ellipsis.
// Source: onnx/docs/Operators.md (Einsum), numpy.einsum.
#include <algorithm>
#include <map>
#include <numeric>

#include "converter/onnx/version_conversion_steps.h"

namespace intarsia::converter::version_steps {
namespace {

/// Letters as in the equation; axes of an ellipsis get the characters behind 'z', in order.
using Labels = std::string;
constexpr char kFirstOfEllipsis = 'z' + 1;

struct Factor {
  Value* value = nullptr;
  Labels labels;
};

bool has(const Labels& labels, char label) {
  return labels.find(label) != Labels::npos;
}
/// Those of `labels` for which the predicate holds.
template <class Predicate>
Labels those(const Labels& labels, const Predicate& predicate) {
  Labels result;
  std::copy_if(labels.begin(), labels.end(), std::back_inserter(result), predicate);
  return result;
}

class Equation {
 public:
  explicit Equation(Node& node) : node_(node), text_(node.text("equation", "")) {
    std::string text = those(text_, [](char c) { return c != ' '; });
    const size_t arrow = text.find("->");
    const std::string left = text.substr(0, arrow);
    for (size_t begin = 0;;) {
      const size_t end = left.find(',', begin);
      terms_.push_back(left.substr(begin, end == std::string::npos ? end : end - begin));
      if (end == std::string::npos) break;
      begin = end + 1;
    }
    if (terms_.size() != node.inputs.size()) {
      refuse_equation("has " + std::to_string(terms_.size()) + " terms, but the node " +
                      std::to_string(node.inputs.size()) + " inputs");
    }
    for (size_t i = 0; i < terms_.size(); ++i) {
      require_input(node, static_cast<int>(i), "an input");
      terms_[i] = labels_of(terms_[i], rank_of_ellipsis(i));
      factors_.push_back({wide(node.inputs[i]), terms_[i]});
    }
    result_ = arrow == std::string::npos ? implied() : labels_of(text.substr(arrow + 2), ellipsis_);
    for (const char label : result_) {
      const bool known = std::any_of(terms_.begin(), terms_.end(),
                                     [label](const Labels& term) { return has(term, label); });
      if (!known || std::count(result_.begin(), result_.end(), label) != 1) {
        refuse_equation("has a label in its result that no term has, or twice");
      }
    }
  }

  Value* compute() {
    for (Factor& factor : factors_) factor = diagonal(factor);
    Factor product = without(factors_[0], needed_behind(0));
    for (size_t i = 1; i < factors_.size(); ++i) {
      const Labels later = needed_behind(i);
      const Labels others = product.labels + later;
      product = contract(product, without(factors_[i], others), later);
    }
    Value* result = in_order(product, result_).value;
    return narrow(node_.inputs[0]->type) ? as_type(result, node_.inputs[0]->type) : result;
  }

 private:
  // Sums and products know no integers of 8 and 16 bits: those of 32 have the same low bits.
  static bool narrow(DataType type) {
    return definitions::contains(definitions::types({DataType::kInt8, DataType::kInt16,
                                                     DataType::kUint8, DataType::kUint16}),
                                 type);
  }
  Value* as_type(Value* value, DataType type) const {
    return add("Cast", {value}, {{"to", static_cast<int64_t>(type)}});
  }
  Value* wide(Value* input) const {
    return narrow(input->type) ? as_type(input, DataType::kInt32) : input;
  }

  [[noreturn]] void refuse_equation(const std::string& why) const {
    throw Error(node_.problem("the equation '" + text_ + "' " + why));
  }

  /// Axes that "..." stands for in an operand; the same number in all, here.
  int rank_of_ellipsis(size_t term) {
    const std::string& text = terms_[term];
    if (text.find("...") == std::string::npos) return 0;
    const Value& value = *node_.inputs[term];
    const int rank = value.constant ? value.constant->rank() : value.shape ? value.shape->rank : -1;
    const int axes = rank - static_cast<int>(text.size() - 3);
    if (rank < 0 || axes < 0) {
      refuse_equation("has an ellipsis, and the rank of '" + value.name +
                      "' is not known, or too small: write the labels");
    }
    if (ellipsis_ >= 0 && ellipsis_ != axes) {
      refuse_equation("has an ellipsis that stands for different numbers of axes");
    }
    ellipsis_ = axes;
    return axes;
  }

  Labels labels_of(const std::string& term, int ellipsis) const {
    Labels labels;
    for (size_t i = 0; i < term.size(); ++i) {
      if (term.compare(i, 3, "...") == 0) {
        for (int axis = 0; axis < ellipsis; ++axis) {
          labels += static_cast<char>(kFirstOfEllipsis + axis);
        }
        i += 2;
      } else if ((term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z')) {
        labels += term[i];
      } else {
        refuse_equation("has a character that is no letter");
      }
    }
    return labels;
  }

  /// The axes of the ellipsis, then all labels that occur once, in the order of the alphabet.
  Labels implied() const {
    std::map<char, int> count;
    for (const Labels& term : terms_) {
      for (const char label : term) ++count[label];
    }
    Labels result;
    for (int axis = 0; axis < ellipsis_; ++axis) {
      result += static_cast<char>(kFirstOfEllipsis + axis);
    }
    for (const auto& [label, times] : count) {
      if (times == 1 && label < kFirstOfEllipsis) result += label;
    }
    return result;
  }

  Labels needed_behind(size_t term) const {
    Labels labels = result_;
    for (size_t i = term + 1; i < terms_.size(); ++i) labels += terms_[i];
    return labels;
  }

  Value* ints(const std::vector<int64_t>& values) const {
    return constant(node_, "list", Constant::ints(values));
  }
  Value* add(const char* op, std::vector<Value*> inputs,
             definitions::AttributeMap attributes = {}) const {
    return emit(node_, op, std::move(inputs), std::move(attributes));
  }
  static int64_t axis_of(const Factor& factor, char label) {
    return static_cast<int64_t>(factor.labels.find(label));
  }

  /// Where a label occurs twice, the elements at which both axes agree; once each then. As one
  /// axis, side by side, both have them at every (extent + 1)-th place.
  Factor diagonal(Factor factor) const {
    for (size_t second = 0; second < factor.labels.size();) {
      const size_t first = factor.labels.find(factor.labels[second]);
      if (first == second) {
        ++second;
        continue;
      }
      std::vector<int64_t> perm(factor.labels.size());
      std::iota(perm.begin(), perm.end(), 0);
      std::rotate(perm.begin() + first + 1, perm.begin() + second, perm.begin() + second + 1);
      if (second != first + 1) {
        factor.value = add("Transpose", {factor.value}, {{"perm", perm}});
      }
      Value* extents = add("Shape", {factor.value});
      Value* extent = add("Gather", {extents, ints({static_cast<int64_t>(first)})});
      std::vector<Value*> parts;
      if (first > 0) parts.push_back(slice(extents, 0, first));
      parts.push_back(add("Mul", {extent, extent}));
      if (first + 2 < factor.labels.size()) {
        parts.push_back(slice(extents, first + 2, factor.labels.size()));
      }
      Value* flat = add("Reshape", {factor.value, add("Concat", parts, {{"axis", int64_t{0}}})});
      const auto number = [&](int64_t n) {
        return constant(node_, "number", Constant::scalar<int64_t>(n));
      };
      Value* count = add("Squeeze", {extent, ints({0})});
      Value* range = add("Range", {number(0), count, number(1)});
      Value* places = add("Mul", {range, add("Add", {count, number(1)})});
      factor.value = add("Gather", {flat, places}, {{"axis", static_cast<int64_t>(first)}});
      factor.labels.erase(second, 1);
    }
    return factor;
  }

  /// Elements [begin, end) of a list.
  Value* slice(Value* list, size_t begin, size_t end) const {
    std::vector<int64_t> places;
    for (size_t i = begin; i < end; ++i) places.push_back(static_cast<int64_t>(i));
    return add("Gather", {list, ints(places)});
  }

  Value* sum(Value* value, const std::vector<int64_t>& axes) const {
    if (axes.empty()) return value;
    return add("ReduceSum", {value, ints(axes)}, {{"keepdims", int64_t{0}}});
  }

  /// Sums over the labels that are not among `needed`.
  Factor without(Factor factor, const Labels& needed) const {
    std::vector<int64_t> axes;
    for (const char label : factor.labels) {
      if (!has(needed, label)) axes.push_back(axis_of(factor, label));
    }
    factor.value = sum(factor.value, axes);
    factor.labels = those(factor.labels, [&](char label) { return has(needed, label); });
    return factor;
  }

  Factor in_order(Factor factor, const Labels& order) const {
    if (factor.labels == order) return factor;
    std::vector<int64_t> perm;
    for (const char label : order) perm.push_back(axis_of(factor, label));
    return {add("Transpose", {factor.value}, {{"perm", perm}}), order};
  }

  /// The factor with the axes of several labels as one, even of none.
  Value* collapsed(const Factor& factor, const Labels& batch, const Labels& first,
                   const Labels& second) const {
    if (first.size() == 1 && second.size() == 1) return factor.value;
    Value* extents = add("Shape", {factor.value});
    std::vector<Value*> parts;
    if (!batch.empty()) parts.push_back(extents_of(factor, extents, batch));
    for (const Labels& labels : {first, second}) {
      parts.push_back(labels.empty() ? ints({1})
                                     : add("ReduceProd", {extents_of(factor, extents, labels)},
                                           {{"keepdims", int64_t{1}}}));
    }
    return add("Reshape", {factor.value, add("Concat", parts, {{"axis", int64_t{0}}})});
  }

  Value* extents_of(const Factor& factor, Value* extents, const Labels& labels) const {
    std::vector<int64_t> axes;
    for (const char label : labels) axes.push_back(axis_of(factor, label));
    return add("Gather", {extents, ints(axes)});
  }

  /// The product, summed over what only these two have in common.
  Factor contract(const Factor& a, const Factor& b, const Labels& later) const {
    const auto in_both = [&](char label) { return has(b.labels, label); };
    const Labels common = those(a.labels, in_both);
    const Labels batch = those(common, [&](char label) { return has(later, label); });
    const Labels summed = those(common, [&](char label) { return !has(later, label); });
    const Labels left = those(a.labels, [&](char label) { return !has(b.labels, label); });
    const Labels right = those(b.labels, [&](char label) { return !has(a.labels, label); });
    const Labels result = batch + left + right;
    if (summed.empty()) {
      return {add("Mul", {spread(in_order(a, batch + left), result),
                          spread(in_order(b, batch + right), result)}),
              result};
    }
    const Factor rows = in_order(a, batch + left + summed);
    const Factor columns = in_order(b, batch + summed + right);
    Value* product = add(
        "MatMul", {collapsed(rows, batch, left, summed), collapsed(columns, batch, summed, right)});
    if (left.size() == 1 && right.size() == 1) return {product, result};
    if (result.empty()) return {add("Reshape", {product, ints({})}), result};
    std::vector<Value*> parts;
    if (!(batch + left).empty()) {
      parts.push_back(extents_of(rows, add("Shape", {rows.value}), batch + left));
    }
    if (!right.empty()) {
      parts.push_back(extents_of(columns, add("Shape", {columns.value}), right));
    }
    return {add("Reshape", {product, add("Concat", parts, {{"axis", int64_t{0}}})}), result};
  }

  /// With axes of extent 1 for the labels of `all` that the factor lacks. REQUIRES: the same order.
  Value* spread(const Factor& factor, const Labels& all) const {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!has(factor.labels, all[i])) axes.push_back(static_cast<int64_t>(i));
    }
    return axes.empty() ? factor.value : add("Unsqueeze", {factor.value, ints(axes)});
  }

  Node& node_;
  const std::string text_;
  std::vector<Labels> terms_;
  std::vector<Factor> factors_;
  Labels result_;
  int ellipsis_ = -1;
};

}  // namespace

void einsum(Node& node) {
  become_results(node, {Equation(node).compute()});
}

}  // namespace intarsia::converter::version_steps
