// SPDX-License-Identifier: Apache-2.0
//
// Inference of loops: of what they carry. What a body is given from the second trip on is what it
// returns, so the extents of carried values are found on copies of the body: those that a trip
// leaves as they are stay what the initial value has, the others vary. How far they grow follows
// from how much a trip adds and from the number of trips, from options, or from the trial
// execution.
#include <fmt/format.h>

#include <algorithm>

#include "converter/graph/infer.h"
#include "converter/graph/kernel_selection.h"
#include "converter/graph/loop_collections.h"
#include "converter/graph/loop_trial.h"
#include "converter/graph/sequence.h"
#include "converter/onnx/declaration.h"
#include "converter/onnx/version_conversion_steps.h"
#include "converter/passes/fold.h"
#include "core/definitions/computed_types.h"

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
    for (int input = 0; input < 2; ++input) require_single(node_, input);
    check_signature();
    LoopCollections collections(inference_, node_);
    carried_ = collections.take_appended(carried_);
    trips_ = LoopTrips(node_, options_);
    node_.most_trips = trips_.most();
    for (size_t i = 0; i < carried_; ++i) {
      shapes_.push_back(tracked(*initial(i)));
      sequences_.push_back(sequence_type(*initial(i)));
    }
    varying_.assign(carried_, {});
    settle();
    for (size_t i = 0; i < carried_; ++i) bound_extents(i);
    set_inputs(body_);
    inference_.infer_graph(body_);
    set_outputs();
    collections.set_outputs(carried_, trips_);
    for (Node* node : unwrapping_) inference_.visit(node);
    check_declarations(node_);
  }

 private:
  const Value* initial(size_t i) const { return node_.inputs[2 + i]; }

  /// The extents that trips may change; of a sequence its bytes, and behind them the number of its
  /// elements.
  static Shape<Dim> tracked(const Value& value) {
    Shape<Dim> shape = shape_of(value);
    if (!holds_elements(type_of(value))) return shape;
    const definitions::SequencePointer sequence = sequence_type(value);
    shape.push(sequence != nullptr ? sequence->count : Dim::unknown(0));
    return shape;
  }
  /// Sets extents as `tracked` gives them.
  void set_tracked(Value& value, size_t i, const Shape<Dim>& shape) const {
    value.shape = shape;
    value.sequence = sequences_[i];
    if (!holds_elements(type_of(*initial(i)))) return;
    value.shape->rank = 1;
    // Nothing has been put into an empty one yet: it has no elements to count.
    if (sequences_[i] == nullptr || sequences_[i]->empty()) return;
    auto counted = std::make_shared<definitions::SequenceType>(*sequences_[i]);
    counted->count = shape[1];
    value.sequence = counted;
  }

  /// Finds what no trip changes, then how fast the rest grows: once the tensors have bounds, once
  /// more the sequences that hold them.
  void settle() {
    const std::vector<definitions::SequencePointer> first = sequences_;
    while (!settled()) {
    }
    if (std::none_of(first.begin(), first.end(),
                     [](const auto& type) { return type != nullptr; })) {
      return;
    }
    for (size_t i = 0; i < carried_; ++i) {
      if (first[i] == nullptr) bound_extents(i);
    }
    sequences_ = first;
    joins_ = 0;
    while (!settled()) {
    }
  }

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

  void set_inputs(Graph& body) const {
    const auto set_scalar = [](Value& value, DataType type, const Dim& element) {
      value.type = type;
      value.shape.emplace();
      // Exporters write scalars as lists of one, too.
      if (value.declared && value.declared->size() == 1) value.shape->push(1);
      value.elements.values = {element};
    };
    const int64_t last = trips_.most() == kInfinite ? kInfinite : trips_.most() - 1;
    set_scalar(*body.inputs()[0], DataType::kInt64, Dim::unknown(0, std::max<int64_t>(last, 0)));
    set_scalar(*body.inputs()[1], DataType::kBool, 1);
    for (size_t i = 0; i < carried_; ++i) {
      body.inputs()[2 + i]->type = type_of(*initial(i));
      set_tracked(*body.inputs()[2 + i], i, shapes_[i]);
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
    for (size_t i = 0; i < carried_; ++i) {
      const bool optional = type_of(*initial(i)) == DataType::kOptional;
      if (!optional || type_of(*body->outputs()[1 + i]) == DataType::kOptional) continue;
      carry_optional(i);
      return false;
    }
    for (size_t i = carried_; i + 1 < body->outputs().size(); ++i) {
      const DataType type = type_of(*body->outputs()[1 + i]);
      if (definitions::whole_bytes(type) == type) continue;
      collect_bytes(i, type);
      return false;
    }
    bool same = true;
    growth_.assign(carried_, {});
    for (size_t i = 0; i < carried_; ++i) same = compare(i, *body->outputs()[1 + i]) && same;
    if (same && inference_.tries()) {
      LoopTrial trial(inference_);
      static_cast<void>(trial.run(node_, *body));
      trial.note(node_, copies);
    }
    return same;
  }

  /// Lets the body return an optional value, as it is given one, and takes the element out behind
  /// the loop: models hand on what they have put into one.
  void carry_optional(size_t i) {
    Value* const result[] = {body_.outputs()[1 + i]};
    const Node* optional = resolved(
        node_, body_.add_node("", "Optional", body_.unique_name(result[0]->name + "_optional"),
                              result, 1));
    body_.set_output(static_cast<int>(1 + i), optional->outputs[0]);
    unwrapping_.push_back(
        resolved(node_, version_steps::append(node_, static_cast<int>(i), "OptionalGetElement")));
  }

  /// Lets the body return elements of less than a byte as whole ones, of which each trip fills its
  /// own, and makes them small again behind the loop.
  void collect_bytes(size_t i, DataType type) {
    Value* const result[] = {body_.outputs()[1 + i]};
    Node* wide =
        body_.add_node("", "Cast", body_.unique_name(result[0]->name + "_bytes"), result, 1);
    wide->attributes["to"] = static_cast<int64_t>(definitions::whole_bytes(type));
    body_.set_output(static_cast<int>(1 + i), resolved(node_, wide)->outputs[0]);
    Node* small = version_steps::append(node_, static_cast<int>(i), "Cast");
    small->attributes["to"] = static_cast<int64_t>(type);
    unwrapping_.push_back(resolved(node_, small));
  }

  bool compare(size_t i, const Value& result) {
    const std::string& name = body_.inputs()[2 + i]->name;
    if (type_of(result) != type_of(*initial(i))) {
      throw Error(node_.problem(fmt::format("'{}' has type {} in the first trip and {} afterwards",
                                            name, data_type_name(type_of(*initial(i))),
                                            data_type_name(type_of(result)))));
    }
    const Shape<Dim> shape = tracked(result);
    if (shape.rank != shapes_[i].rank) {
      throw Error(node_.problem(
          fmt::format("'{}' has rank {} ({}) in the first trip and rank {} ({}) afterwards", name,
                      shapes_[i].rank, shape_text(shapes_[i]), shape.rank, shape_text(shape))));
    }
    bool same = holds_same(i, result);
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

  /// True if a trip leaves what a sequence holds as it is, but for the number of elements; else
  /// makes it what is true before and after the trip.
  bool holds_same(size_t i, const Value& result) {
    if (sequences_[i] == nullptr) return true;
    const definitions::SequencePointer after = join(sequences_[i], sequence_type(result));
    if (after != nullptr) {
      auto before = std::make_shared<definitions::SequenceType>(*sequences_[i]);
      before->count = after->count;
      if (same(before, after)) return true;
    }
    sequences_[i] = after;
    // Elements that grow from trip to trip have no bound that more trips would find.
    if (++joins_ >= kMostJoins) sequences_[i] = widened(after);
    return false;
  }

  /// Gives the varying extents of a carried value their bound, as far as one is known.
  void bound_extents(size_t i) {
    const Shape<Dim> first = tracked(*initial(i));
    const Value* inside = body_.inputs()[2 + i];
    const Value* outside = node_.outputs[i];
    for (int axis = 0; axis < first.rank; ++axis) {
      if (!varying_[i][axis]) continue;
      const auto place = static_cast<size_t>(axis);
      const auto [largest, step] = growth_[i][place];
      const int64_t start = first[axis].upper();
      int64_t bound = std::max(start, largest);
      if (largest == kInfinite && step <= 0) bound = start;
      if (bound == kInfinite && step < kInfinite && trips_.most() < kInfinite) {
        bound = (Dim(start) + Dim(step) * Dim(trips_.most())).upper();
      }
      for (const Value* value : {inside, outside}) {
        const auto given = options_.bounds.find(value->name);
        if (given != options_.bounds.end() && place < given->second.size()) {
          bound = std::min(bound, given->second[place]);
        }
      }
      // The last trip gives what only the output shows.
      const auto &given = inside->trial.largest, &left = outside->trial.largest;
      if (bound == kInfinite && given && left && place < given->size()) {
        bound = std::max({start, (*given)[place], (*left)[place]});
      }
      // The number of a sequence's elements follows from its bytes.
      const bool stored = axis < shape_of(*initial(i)).rank;
      if (bound == kInfinite && step < kInfinite && stored && inference_.copies_ == 0) {
        ask_for_trips(i, step);
      }
      shapes_[i][axis] = Dim::unknown(0, bound);
    }
    if (sequences_[i] != nullptr) bound_sequence(i);
  }

  [[noreturn]] void ask_for_trips(size_t i, int64_t step) const {
    const char* unit = holds_elements(type_of(*initial(i))) ? "bytes" : "elements";
    throw UnboundedError(node_.problem(
        fmt::format("'{}' grows by up to {} {} in a trip, and the number of trips is not known",
                    node_.outputs[i]->name, step, unit),
        fmt::format("declare it with --max-trips {}=N", node_.name)));
  }

  /// The bytes of a sequence bound the number of its elements, and the other way round.
  void bound_sequence(size_t i) {
    Dim &bytes = shapes_[i][0], &count = shapes_[i][1];
    const Dim entry = entry_bytes(sequences_[i]->type, sequences_[i]->shape);
    const Dim most = Dim(count.upper()) * Dim(entry.upper());
    if (bytes.upper() == kInfinite) bytes = Dim::unknown(0, constant_value(most));
    if (count.upper() == kInfinite && bytes.upper() != kInfinite) {
      count = Dim::unknown(0, bytes.upper() / std::max<int64_t>(entry.lower(), 1));
    }
  }

  void set_outputs() {
    for (size_t i = 0; i < carried_; ++i) {
      Value& output = *node_.outputs[i];
      output.type = type_of(*initial(i));
      // After the last trip a value has other extents than the body saw in it.
      Shape<Dim> shape = shapes_[i];
      for (int axis = 0; axis < shape.rank; ++axis) {
        if (varying_[i][axis]) shape[axis] = Dim::unknown(0, shape[axis].upper());
      }
      set_tracked(output, i, shape);
    }
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
  LoopTrips trips_;
  std::vector<Shape<Dim>> shapes_;  // of the carried values, as the body sees them
  std::vector<definitions::SequencePointer> sequences_;  // what the carried values hold
  std::vector<Node*> unwrapping_;                        // behind the loop
  int joins_ = 0;                                        // trips that have changed that
  static constexpr int kMostJoins = 8;
  std::vector<std::array<bool, kMaxRank>> varying_;
  std::vector<std::array<Growth, kMaxRank>> growth_;
};

void Inference::visit_loop(Node* node) {
  LoopInference(*this, *node).run();
}

}  // namespace intarsia::converter
