// SPDX-License-Identifier: Apache-2.0
//
// Support vector machines of ai.onnx.ml: sums of kernels by the converter's own SupportVectors,
// what follows from them by others. Source: onnx/docs/Operators-ml.md, LIBSVM.
#include <algorithm>
#include <numeric>

#include "converter/onnx/score_steps.h"
#include "core/operators/ml/support_vectors.h"

namespace intarsia::converter::version_steps {
namespace {

void require_least(const Node& node, const char* name, size_t found, int64_t least) {
  if (static_cast<int64_t>(found) >= least) return;
  throw Error(node.problem("attribute '" + std::string(name) + "' has " + std::to_string(found) +
                           " elements, expected at least " + std::to_string(least)));
}

/// What a machine says of its kernel, its vectors and their weights.
class Machine {
 public:
  explicit Machine(Node& node)
      : node_(node),
        type_(type_of(*node.input(0)) == DataType::kDouble ? DataType::kDouble : DataType::kFloat),
        vectors_(node.reals("support_vectors")),
        coefficients_(node.reals("coefficients")),
        rho_(node.reals("rho")) {
    require_least(node, "coefficients", coefficients_.size(), 1);
    require_least(node, "rho", rho_.size(), 1);
  }

  const std::vector<float>& coefficients() const { return coefficients_; }
  const std::vector<float>& rho() const { return rho_; }
  Value* x() { return as_type(node_, node_.input(0), type_); }

  /// `sums` sums of kernels over each group of vectors: [rows, groups * sums] of double.
  Value* kernels(const std::vector<int64_t>& groups, int64_t sums) {
    std::vector<int32_t> starts = {0};
    int64_t count = 0;
    for (const int64_t group : groups) {
      count += group >= 0 && group < kMost ? group : kMost;
      if (count >= kMost) break;
      starts.push_back(static_cast<int32_t>(count));
    }
    const auto elements = static_cast<int64_t>(vectors_.size());
    if (count < 1 || count >= kMost || elements == 0 || elements % count != 0) {
      throw Error(node_.problem("attribute 'support_vectors' has " + std::to_string(elements) +
                                    " elements, expected a positive multiple of the number of " +
                                    std::to_string(count) + " vectors",
                                "vectors have a number for each column of X"));
    }
    require_least(node_, "coefficients", coefficients_.size(), sums * count);
    const int64_t columns = elements / count;
    std::vector<double> turned(vectors_.size());
    for (int64_t v = 0; v < count; ++v) {
      for (int64_t c = 0; c < columns; ++c) {
        turned[static_cast<size_t>(c * count + v)] = vectors_[static_cast<size_t>(v * columns + c)];
      }
    }
    const std::vector<double> weights(coefficients_.begin(), coefficients_.begin() + sums * count);
    const auto bounds = static_cast<int64_t>(starts.size());
    Value* sum = emit_own(node_, "SupportVectors",
                          {x(), reals(node_, "vectors", type_, turned, {columns, count}),
                           reals(node_, "coefficients", type_, weights, {sums, count}),
                           constant(node_, "starts", Constant::of<int32_t>({bounds}, starts))},
                          kernel_attributes());
    return flat(sum, static_cast<int64_t>(groups.size()) * sums);
  }

  /// X times each of the rows of coefficients, and the one `rho`.
  Value* linear(int64_t rows) {
    const auto elements = static_cast<int64_t>(coefficients_.size());
    if (elements % rows != 0) {
      throw Error(node_.problem("attribute 'coefficients' has " + std::to_string(elements) +
                                " elements, expected a multiple of " + std::to_string(rows)));
    }
    const std::vector<double> given(coefficients_.begin(), coefficients_.end());
    Value* weights = reals(node_, "coefficients", type_, given, {rows, elements / rows});
    Value* turned = emit(node_, "Transpose", {weights}, {{"perm", std::vector<int64_t>{1, 0}}});
    Value* rho = constant(node_, "rho", Constant::scalar_of(type_, rho_[0]));
    Value* sum = emit(node_, "Add", {emit(node_, "MatMul", {x(), turned}), rho});
    return as_type(node_, flat(sum, rows), DataType::kFloat);
  }

 private:
  static constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

  /// Rows of this many columns, also where X is one row without an axis for it.
  Value* flat(Value* value, int64_t columns) {
    Value* extents = constant(node_, "extents", Constant::ints({-1, columns}));
    return emit(node_, "Reshape", {value, extents});
  }
  definitions::AttributeMap kernel_attributes() const {
    std::vector<float> parameters = node_.reals("kernel_params");
    parameters.resize(std::max<size_t>(parameters.size(), 3));
    return {{"kernel", node_.text("kernel_type", "LINEAR")},
            {"gamma", parameters[0]},
            {"coef0", parameters[1]},
            {"degree", parameters[2]}};
  }

  Node& node_;
  DataType type_;
  std::vector<float> vectors_, coefficients_, rho_;
};

/// Sums over groups of vectors [rows, classes * (classes - 1)] as the scores of pairs of classes,
/// in double: those of (i, j) are the sums of i for j and of j for i. And which of each pair wins.
class Pairs {
 public:
  Pairs(Node& node, Value* sums, int64_t classes, const std::vector<float>& rho)
      : node_(node), classes_(classes) {
    std::vector<int64_t> own, other;
    for (int64_t i = 0; i < classes; ++i) {
      for (int64_t j = i + 1; j < classes; ++j) {
        own.push_back(i * (classes - 1) + j - 1);
        other.push_back(j * (classes - 1) + i);
      }
    }
    const std::vector<double> added(rho.begin(), rho.begin() + static_cast<int64_t>(own.size()));
    Value* both = emit(node, "Add", {columns(sums, own), columns(sums, other)});
    const auto count = static_cast<int64_t>(own.size());
    scores_ = emit(node, "Add", {both, reals(node, "rho", DataType::kDouble, added, {count})});
  }
  Value* scores() const { return scores_; }

  /// The class that wins most pairs; of equal ones the first. A score above 0 is for the first.
  Value* winner() {
    const auto square = static_cast<size_t>(classes_ * (classes_ - 1));
    std::vector<int64_t> pair(square);
    std::vector<uint8_t> turned(square);
    int64_t next = 0;
    for (int64_t i = 0; i < classes_; ++i) {
      for (int64_t j = i + 1; j < classes_; ++j, ++next) {
        pair[static_cast<size_t>(i * (classes_ - 1) + j - 1)] = next;
        pair[static_cast<size_t>(j * (classes_ - 1) + i)] = next;
        turned[static_cast<size_t>(j * (classes_ - 1) + i)] = 1;
      }
    }
    Value* zero = constant(node_, "zero", Constant::scalar<double>(0));
    Value* wins = columns(emit(node_, "Greater", {scores_, zero}), pair);
    Value* flips = as_type(node_, constant(node_, "flips", flags(turned)), DataType::kBool);
    wins = as_type(node_, emit(node_, "Xor", {wins, flips}), DataType::kFloat);
    const std::vector<int64_t> extents = {-1, classes_, classes_ - 1};
    wins = emit(node_, "Reshape", {wins, constant(node_, "extents", Constant::ints(extents))});
    Value* axes = constant(node_, "axes", Constant::ints({-1}));
    return best_column(node_, emit(node_, "ReduceSum", {wins, axes}, {{"keepdims", int64_t{0}}}));
  }

 private:
  static Constant flags(const std::vector<uint8_t>& values) {
    return Constant::of<uint8_t>({static_cast<int64_t>(values.size())},
                                 std::span<const uint8_t>(values));
  }
  Value* columns(Value* of, const std::vector<int64_t>& which) {
    return emit(node_, "Gather", {of, constant(node_, "columns", Constant::ints(which))},
                {{"axis", int64_t{1}}});
  }

  Node& node_;
  int64_t classes_;
  Value* scores_ = nullptr;
};

/// Scores that are linear in X, as LIBLINEAR has them: the label of the largest; of two labels the
/// second one where no coefficient is negative and one score is 0.5 or more, as in ONNX Runtime.
void linear_machine(Node& node, Machine& machine, Constant labels, const std::string& transform) {
  const int64_t classes = labels.count();
  Value* scores = machine.linear(classes);
  Value* best = best_column(node, scores);
  const std::vector<float>& all = machine.coefficients();
  const bool positive = std::all_of(all.begin(), all.end(), [](float each) { return each >= 0; });
  if (classes == 2 && positive && node.reals("prob_a").empty()) {
    Value* axes = constant(node, "axes", Constant::ints({-1}));
    Value* largest = emit(node, "ReduceMax", {scores, axes}, {{"keepdims", int64_t{0}}});
    Value* half = constant(node, "half", Constant::scalar<float>(0.5F));
    Value* second = constant(node, "second", Constant::scalar<int64_t>(1));
    Value* sure = emit(node, "GreaterOrEqual", {largest, half});
    best = emit(node, "Where", {sure, second, best});
  }
  Value* result = transformed(node, scores, DataType::kFloat, classes, transform);
  become_results(node, {labels_at(node, std::move(labels), best), result});
}

}  // namespace

/// With vectors, each pair of classes has a score, and the class that wins most pairs is chosen.
/// What is given out are probabilities where the model has numbers for them, else the scores of
/// pairs, of two classes that of the first one below 0 and that of the second. (Of the latter
/// ONNX Runtime takes no transform, and gives 1 - score where one is asked for.)
void svm_classifier(Node& node) {
  require_input(node, 0, "X");
  Machine machine(node);
  Constant labels = class_labels(node, "classlabels_strings", "classlabels_ints");
  const std::string transform = post_transform(node);
  const std::vector<int64_t> groups = node.integers("vectors_per_class");
  if (std::all_of(groups.begin(), groups.end(), [](int64_t group) { return group == 0; })) {
    linear_machine(node, machine, std::move(labels), transform);
    return;
  }
  const int64_t classes = labels.count(), pairs = classes * (classes - 1) / 2;
  if (classes < 2 || classes > PairwiseAttributes::kMostClasses ||
      static_cast<int64_t>(groups.size()) != classes) {
    throw Error(node.problem("has " + std::to_string(classes) + " labels and " +
                                 std::to_string(groups.size()) + " 'vectors_per_class'",
                             "expected a number for each of 2 labels or more"));
  }
  require_least(node, "rho", machine.rho().size(), pairs);
  Pairs scores(node, machine.kernels(groups, classes - 1), classes, machine.rho());
  Value* label = labels_at(node, std::move(labels), scores.winner());
  std::vector<float> a = node.reals("prob_a"), b = node.reals("prob_b");
  if (!a.empty() || !b.empty()) {
    require_least(node, "prob_a", a.size(), pairs);
    require_least(node, "prob_b", b.size(), pairs);
    a.resize(static_cast<size_t>(pairs));
    b.resize(static_cast<size_t>(pairs));
    Value* probabilities = emit_own(
        node, "PairwiseProbabilities",
        {scores.scores(), floats(node, "prob_a", a, {pairs}), floats(node, "prob_b", b, {pairs})},
        {{"classes", classes}});
    become_results(node,
                   {label, transformed(node, probabilities, DataType::kFloat, classes, transform)});
    return;
  }
  Value* result = as_type(node, scores.scores(), DataType::kFloat);
  if (pairs == 1) result = beside(node, emit(node, "Neg", {result}), result);
  const int64_t columns = std::max<int64_t>(pairs, 2);
  become_results(node, {label, transformed(node, result, DataType::kFloat, columns, transform)});
}

void svm_regressor(Node& node) {
  require_input(node, 0, "X");
  Machine machine(node);
  const std::string transform = post_transform(node);
  const int64_t vectors = node.integer("n_supports", 0);
  Value* result = nullptr;
  if (vectors > 0) {
    Value* rho = constant(node, "rho", Constant::scalar<double>(machine.rho()[0]));
    Value* sum = emit(node, "Add", {machine.kernels({vectors}, 1), rho});
    result = as_type(node, sum, DataType::kFloat);
  } else {
    result = machine.linear(1);
  }
  if (node.integer("one_class", 0) != 0) {
    Value* zero = constant(node, "zero", Constant::scalar<float>(0));
    Value* inside = constant(node, "inside", Constant::scalar<float>(1));
    Value* outside = constant(node, "outside", Constant::scalar<float>(-1));
    result = emit(node, "Where", {emit(node, "Greater", {result, zero}), inside, outside});
  }
  become_results(node, {transformed(node, result, DataType::kFloat, 1, transform)});
}

}  // namespace intarsia::converter::version_steps
