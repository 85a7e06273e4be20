// SPDX-License-Identifier: Apache-2.0
//
// Inference of loops. What a body is given from the second trip on is what it returns, so the
// extents of carried values are found on copies of the body: those that a trip leaves as they are
// stay what the initial value has, the others vary. How far they grow follows from how much a trip
// adds and from the number of trips, from options, or from the trial execution.
#include <fmt/format.h>

#include <algorithm>

#include "converter/graph/infer.h"
#include "converter/graph/kernel_selection.h"
#include "converter/graph/loop_trial.h"
#include "converter/onnx/declaration.h"
#include "converter/passes/fold.h"

namespace intarsia::converter {

using definitions::Dim;
using definitions::kInfinite;

class LoopInference {
 public:
  LoopInference(Inference& inference, Node& node)
      : inference_(inference),
        options_(inference.options_),
        node_(node),
        body_(*node.graphs[0].graph) {}

  void run() {
    inference_.check_types(node_);
    check_signature();
    count_trips();
    for (size_t i = 0; i < carried_; ++i) shapes_.push_back(shape_of(*initial(i)));
    varying_.assign(carried_, {});
    while (!settled()) {
    }
    for (size_t i = 0; i < carried_; ++i) bound_extents(i);
    set_inputs(body_);
    inference_.infer_graph(body_);
    set_outputs();
    check_declarations(node_);
  }

 private:
  const Value* initial(size_t i) const { return node_.inputs[2 + i]; }

  void check_signature() {
    if (body_.inputs().size() < 2 || body_.outputs().empty()) {
      throw Error(node_.problem(
          fmt::format("its body has {} inputs and {} outputs; a body has at least the number of "
                      "the trip and the condition as inputs, and the condition as output",
                      body_.inputs().size(), body_.outputs().size())));
    }
    carried_ = body_.inputs().size() - 2;
    const size_t given = std::max<size_t>(node_.inputs.size(), 2) - 2;
    const size_t results = body_.outputs().size() - 1;
    if (given != carried_ || results < carried_ || node_.outputs.size() > results) {
      throw Error(node_.problem(
          fmt::format("carries {} values and has {} outputs, but its body takes {} values and "
                      "returns {} beside the condition",
                      given, node_.outputs.size(), carried_, results)));
    }
    for (size_t i = 0; i < carried_; ++i) {
      if (initial(i) == nullptr) {
        throw Error(node_.problem(
            fmt::format("lacks the initial value of '{}'", body_.inputs()[2 + i]->name)));
      }
    }
    for (size_t i = 0; i < results; ++i) node_.complete_output(static_cast<int>(i));
  }

  /// The one element of a scalar, as far as it is known; `otherwise` where there is no operand.
  static Dim scalar(const Value* value, const Dim& otherwise, const Dim& unknown) {
    if (value == nullptr) return otherwise;
    const definitions::SymbolicInput known = symbolic_input(value);
    return known.values && known.values->size() == 1 ? known.values->front() : unknown;
  }

  void count_trips() {
    const Dim wanted = scalar(node_.input(0), Dim::unknown(0), Dim::unknown(0));
    const Dim starts = scalar(node_.input(1), 1, Dim::unknown(0, 1));
    trips_ = dim_max(wanted, 0);
    if (is_constant(starts) && constant_value(starts) == 0) trips_ = 0;
    always_starts_ = is_constant(starts);
    const auto limit = options_.max_trips.find(node_.name);
    if (limit != options_.max_trips.end() && trips_.upper() > limit->second) {
      trips_ = Dim::unknown(0, limit->second);
    }
  }

  void set_inputs(Graph& body) const {
    const auto set_scalar = [](Value& value, DataType type, const Dim& element) {
      value.type = type;
      value.shape.emplace();
      // Exporters write scalars as lists of one, too.
      if (value.declared && value.declared->size() == 1) value.shape->push(1);
      value.elements.values = {element};
    };
    const int64_t last = trips_.upper() == kInfinite ? kInfinite : trips_.upper() - 1;
    set_scalar(*body.inputs()[0], DataType::kInt64, Dim::unknown(0, std::max<int64_t>(last, 0)));
    set_scalar(*body.inputs()[1], DataType::kBool, 1);
    for (size_t i = 0; i < carried_; ++i) {
      body.inputs()[2 + i]->type = type_of(*initial(i));
      body.inputs()[2 + i]->shape = shapes_[i];
    }
  }

  /// Infers a copy of the body. True if a trip leaves the extents as they are that are not marked
  /// as varying; else marks those that it does not.
  bool settled() {
    body_.walk([this](const Node&) { --inference_.loop_nodes_left_; });
    if (inference_.loop_nodes_left_ < 0) {
      throw Error(node_.problem("loops in loops take too long to infer",
                                "fix the extents that their values carry with --shape or --dim"));
    }
    std::unordered_map<const Value*, Value*> copies;
    const std::unique_ptr<Graph> body = body_.clone(node_.graph, copies);
    set_inputs(*body);
    ++inference_.copies_;
    inference_.infer_graph(*body);
    --inference_.copies_;
    bool same = true;
    growth_.assign(carried_, {});
    for (size_t i = 0; i < carried_; ++i) same = compare(i, *body->outputs()[1 + i]) && same;
    if (same && !inference_.trial_.empty()) {
      LoopTrial trial(inference_);
      static_cast<void>(trial.run(node_, *body));
      trial.note(node_, copies);
    }
    return same;
  }

  bool compare(size_t i, const Value& result) {
    const std::string& name = body_.inputs()[2 + i]->name;
    if (type_of(result) != type_of(*initial(i))) {
      throw Error(node_.problem(fmt::format("'{}' has type {} in the first trip and {} afterwards",
                                            name, data_type_name(type_of(*initial(i))),
                                            data_type_name(type_of(result)))));
    }
    const Shape<Dim> shape = shape_of(result);
    if (shape.rank != shapes_[i].rank) {
      throw Error(node_.problem(
          fmt::format("'{}' has rank {} ({}) in the first trip and rank {} ({}) afterwards", name,
                      shapes_[i].rank, shape_text(shapes_[i]), shape.rank, shape_text(shape))));
    }
    bool same = true;
    for (int axis = 0; axis < shape.rank; ++axis) {
      Dim& before = shapes_[i][axis];
      if (varying_[i][axis]) {
        growth_[i][static_cast<size_t>(axis)] = {shape[axis].upper(),
                                                 (shape[axis] - before).upper()};
      } else if (!(shape[axis] == before)) {
        varying_[i][axis] = true;
        before = Dim::unknown(0);
        same = false;
      }
    }
    return same;
  }

  /// Gives the varying extents of a carried value their bound, as far as one is known.
  void bound_extents(size_t i) {
    const Shape<Dim> first = shape_of(*initial(i));
    const Value* inside = body_.inputs()[2 + i];
    const Value* outside = node_.outputs[i];
    const auto tried = inference_.trial_extents_.find(inside);
    for (int axis = 0; axis < first.rank; ++axis) {
      if (!varying_[i][axis]) continue;
      const auto place = static_cast<size_t>(axis);
      const auto [largest, step] = growth_[i][place];
      const int64_t start = first[axis].upper();
      int64_t bound = std::max(start, largest);
      if (largest == kInfinite && step <= 0) bound = start;
      if (bound == kInfinite && step < kInfinite && trips_.upper() < kInfinite) {
        bound = (Dim(start) + Dim(step) * Dim(trips_.upper())).upper();
      }
      for (const Value* value : {inside, outside}) {
        const auto given = options_.bounds.find(value->name);
        if (given != options_.bounds.end() && place < given->second.size()) {
          bound = std::min(bound, given->second[place]);
        }
      }
      if (bound == kInfinite && tried != inference_.trial_extents_.end()) {
        bound = std::max(start, tried->second[place]);
      }
      shapes_[i][axis] = Dim::unknown(0, bound);
    }
  }

  void set_outputs() {
    for (size_t i = 0; i < carried_; ++i) {
      Value& output = *node_.outputs[i];
      output.type = type_of(*initial(i));
      output.shape = shapes_[i];
      // After the last trip a value has other extents than the body saw in it.
      for (int axis = 0; axis < shapes_[i].rank; ++axis) {
        if (varying_[i][axis]) (*output.shape)[axis] = Dim::unknown(0, shapes_[i][axis].upper());
      }
    }
    for (size_t i = carried_; i < node_.outputs.size(); ++i) set_collection(i);
  }

  /// The elements of all trips, one behind another.
  void set_collection(size_t i) {
    Value& output = *node_.outputs[i];
    const Value& element = *body_.outputs()[1 + i];
    output.type = type_of(element);
    output.shape.emplace();
    output.shape->push(collected_trips(output));
    const Shape<Dim> shape = shape_of(element);
    if (shape.rank >= kMaxRank) {
      throw Error(node_.problem(fmt::format("output {} has more than {} axes", i, kMaxRank)));
    }
    for (int axis = 0; axis < shape.rank; ++axis) {
      const Dim& extent = shape[axis];
      output.shape->push(extent.has_unknown() ? Dim::unknown(0, extent.upper()) : extent);
    }
    inference_.apply_bounds(output);
  }

  Dim collected_trips(const Value& output) const {
    const Dim goes_on = scalar(body_.outputs()[0], 0, Dim::unknown(0, 1));
    const bool counted = always_starts_ && node_.input(0) != nullptr && is_constant(goes_on) &&
                         constant_value(goes_on) != 0;
    if (counted && !trips_.has_unknown()) return trips_;
    int64_t most = trips_.upper();
    const auto tried = inference_.trial_extents_.find(&output);
    if (most == kInfinite && tried != inference_.trial_extents_.end()) most = tried->second[0];
    const bool bounded = most != kInfinite || options_.bounds.count(output.name) != 0;
    if (!bounded && inference_.copies_ == 0) {
      throw UnboundedError(node_.problem(
          fmt::format("the number of its trips is not known, and '{}' collects a result of each",
                      output.name),
          fmt::format("declare it with --max-trips {}=N", node_.name)));
    }
    return Dim::unknown(0, most);
  }

  /// What a trip makes of an extent that varies.
  struct Growth {
    int64_t largest = 0;  // the extent at most, whatever it was before
    int64_t step = 0;     // at most so much more than before
  };

  Inference& inference_;
  const InferenceOptions& options_;
  Node& node_;
  Graph& body_;
  size_t carried_ = 0;
  Dim trips_;
  bool always_starts_ = false;
  std::vector<Shape<Dim>> shapes_;  // of the carried values, as the body sees them
  std::vector<std::array<bool, kMaxRank>> varying_;
  std::vector<std::array<Growth, kMaxRank>> growth_;
};

void Inference::visit_loop(Node* node) {
  LoopInference(*this, *node).run();
}

}  // namespace intarsia::converter
