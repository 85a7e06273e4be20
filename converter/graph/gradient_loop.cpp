// SPDX-License-Identifier: Apache-2.0
//
// The way back through a loop: gradient_body.h.
#include "converter/graph/gradient_graphs.h"
#include "converter/graph/kernel_selection.h"

namespace intarsia::converter {
namespace {

using definitions::Dim;

bool is_true(const Value* value) {
  if (value == nullptr) return true;
  const std::optional<Dim> known = known_scalar(*value);
  return known && is_constant(*known) && constant_value(*known) != 0;
}

class LoopGradient : GraphNode {
 public:
  LoopGradient(GradientSweep& sweep, Node& node)
      : GraphNode(sweep, node),
        body_(*node.graphs[0].graph),
        carried_(body_.inputs().size() - 2),
        follows_(carried_, false) {}

  void run() {
    find_dependent();
    separate_draws(body_, dependent_);
    Value* trips = count_trips();
    const std::optional<Dim> count = known_scalar(*trips);
    if (count && is_constant(*count) && constant_value(*count) == 0) return pass_by();
    Value* one = constant(graph_, "one", Constant::scalar<int64_t>(1));
    Value* last = compute("Sub", {trips, one});

    Backwards back(*this, body_);
    const Rewriting& inside = back.place();
    back_ = &back;
    index_ = inside.compute("Sub", {last, start_body(back.graph())});
    const std::vector<Value*> results = back.copy(body_, arguments(), sweep_.budget());
    keep_draws();
    find_slices();

    ValueSet independent = reads_;
    std::vector<const Value*> xs = needed_;
    for (const StandIn& each : stand_ins_) independent.insert(each.then);
    for (const Slice& slice : slices_) {
      independent.insert(slice.taken);
      xs.push_back(slice.taken);
    }
    for (size_t i = 0; i < carried_; ++i) {
      if (follows_[i]) xs.push_back(stand_ins_[i].then);
    }
    independent.insert(index_);
    GradientSweep inner(inside, sweep_.budget(), xs, independent);
    // The gradients of what the trip returns.
    std::vector<Value*> inputs{trips, nullptr};
    for (size_t i = 0; i < carried_; ++i) {
      if (!follows_[i]) continue;
      inputs.push_back(gradient_behind(*forward_.outputs[i]));
      inner.start(*results[1 + i], given(*body_.inputs()[2 + i]));
    }
    for (size_t i = carried_; i < forward_.outputs.size(); ++i) {
      const Value* output = forward_.outputs[i];
      if (!sweep_.flows(output)) continue;
      inner.start(*results[1 + i], inside.compute("Gather", {sweep_.gradient_of(*output), index_}));
    }
    inner.run();
    finish(inner, std::move(inputs));
  }

 private:
  /// A slice that a trip takes from a tensor outside, at one place of an axis.
  struct Slice {
    Value* from;
    Value* taken;
    Value* at;
    int64_t axis;
  };

  /// A value of the copy that will be what the loop has collected of the trip.
  struct StandIn {
    Value* now;   // in the loop
    Value* then;  // in the copy
    Value* like;  // outside, of the same extents; may be null
  };

  /// What depends on what is differentiated, in some trip.
  void find_dependent() {
    dependent_.insert(needed_.begin(), needed_.end());
    for (size_t i = 0; i < carried_; ++i) {
      if (is_needed(forward_.inputs[2 + i])) dependent_.insert(body_.inputs()[2 + i]);
    }
    for (size_t before = 0; before != dependent_.size();) {
      before = dependent_.size();
      add_dependent(body_, dependent_);
      for (size_t i = 0; i < carried_; ++i) {
        const Value* result = body_.outputs()[1 + i];
        if (dependent_.contains(result)) dependent_.insert(body_.inputs()[2 + i]);
      }
    }
    for (size_t i = 0; i < carried_; ++i) follows_[i] = dependent_.contains(body_.inputs()[2 + i]);
    for (size_t i = 0; i < carried_; ++i) {
      if (follows_[i]) require_settled(*body_.inputs()[2 + i]);
    }
  }

  /// A loop without trips: what is behind it is what is before it.
  void pass_by() {
    for (size_t i = 0; i < carried_; ++i) {
      const Value *initial = forward_.inputs[2 + i], *output = forward_.outputs[i];
      if (is_needed(initial) && sweep_.flows(output)) {
        sweep_.add(*initial, sweep_.gradient_of(*output));
      }
    }
  }

  /// Fails unless the value is a tensor of the same extents in every trip.
  void require_settled(const Value& value) const {
    if (holds_elements(type_of(value))) {
      refuse(fmt::format("'{}' of each trip is needed, which is a {}", value.name,
                         data_type_name(type_of(value))));
    }
    const Shape<Dim> shape = shape_of(value);
    for (int axis = 0; axis < shape.rank; ++axis) {
      if (!shape[axis].has_unknown()) continue;
      refuse(
          fmt::format("'{}' of each trip is needed, but its extents, {}, may change from trip "
                      "to trip",
                      value.name, shape_text(shape)));
    }
  }

  /// The number of trips that the loop makes, a scalar.
  Value* count_trips() {
    if (forward_.input(0) != nullptr && is_true(body_.outputs()[0]) && is_true(forward_.input(1))) {
      Value* wanted = forward_.inputs[0];
      if (shape_of(*wanted).rank > 0) wanted = compute("Squeeze", {wanted});
      return compute("Max", {wanted, constant(graph_, "zero", Constant::scalar<int64_t>(0))});
    }
    Value* collection = collected_ < forward_.outputs.size() ? forward_.outputs[collected_]
                                                             : collect(*body_.inputs()[0]);
    return compute("Squeeze",
                   {compute("Shape", {collection}, {{"start", int64_t{0}}, {"end", int64_t{1}}})});
  }

  /// An output of the loop that has `value` of each trip.
  Value* collect(Value& value) {
    for (size_t i = carried_; i < forward_.outputs.size(); ++i) {
      if (body_.outputs()[1 + i] == &value && forward_.outputs[i] != nullptr) {
        return forward_.outputs[i];
      }
    }
    const size_t place = body_.outputs().size() - 1;
    Shape<Dim> shape;
    shape.push(place > carried_ ? shape_of(*forward_.outputs[carried_])[0] : most_trips());
    const Shape<Dim> each = shape_of(value);
    for (int axis = 0; axis < each.rank; ++axis) shape.push(each[axis]);
    body_.add_output(&value);
    forward_.complete_output(static_cast<int>(place));
    Value* collection = forward_.outputs[place];
    collection->type = type_of(value);
    collection->shape = shape;
    return collection;
  }

  Dim most_trips() const {
    const Value* wanted = forward_.input(0);
    if (wanted != nullptr && is_true(body_.outputs()[0]) && is_true(forward_.input(1))) {
      if (const auto known = known_scalar(*wanted)) return dim_max(*known, 0);
    }
    if (forward_.most_trips != definitions::kInfinite) return Dim::unknown(0, forward_.most_trips);
    throw UnboundedError(forward_.problem(
        fmt::format("the number of its trips is not known, and '{}' needs values of each",
                    node_.name),
        fmt::format("declare it with --max-trips {}=N", forward_.name)));
  }

  /// What stands for the body's inputs in the copy.
  std::vector<Value*> arguments() {
    const Rewriting& inside = back_->place();
    Value* index = index_;
    if (shape_of(*body_.inputs()[0]).rank > 0) {
      index =
          inside.compute("Reshape", {index, constant(back_->graph(), "one", Constant::ints({1}))});
    }
    std::vector<Value*> values{index,
                               constant(back_->graph(), "goes_on", Constant::scalar<bool>(true))};
    for (size_t i = 0; i < carried_; ++i) {
      values.push_back(stand_in(*body_.inputs()[2 + i], forward_.inputs[2 + i]));
    }
    return values;
  }

  Value* stand_in(Value& value, Value* like) {
    Value* made = back_->graph().add_value(graph_.unique_name(value.name + "_then"));
    made->type = type_of(value);
    made->shape = shape_of(value);
    made->sequence = value.sequence;
    stand_ins_.push_back({&value, made, like});
    return made;
  }

  /// What the trip has drawn at random is not drawn anew.
  void keep_draws() {
    const std::vector<Node*> originals = body_.node_list();
    for (size_t i = 0; i < originals.size(); ++i) {
      const Node& original = *originals[i];
      const Node& copied = *back_->copied_nodes()[i];
      require_kept(original, dependent_, "its body");
      if (is_repeatable(original)) continue;
      for (size_t output = 0; output < original.outputs.size(); ++output) {
        Value* value = original.outputs[output];
        if (value != nullptr)
          Graph::replace_uses(copied.outputs[output], stand_in(*value, nullptr));
      }
    }
  }

  void find_slices() {
    for (Node* node : back_->copied_nodes()) {
      const bool gathers = node->is("Gather") || node->is("Gather", definitions::kInternalDomain);
      if (!gathers || !is_needed(node->inputs[0])) continue;
      const Value& place = *node->inputs[1];
      if (place.producer == nullptr || place.graph != &back_->graph()) continue;
      if (shape_of(place).rank != 0) continue;
      int64_t axis = node->integer("axis", 0);
      if (axis < 0) axis += shape_of(*node->inputs[0]).rank;
      slices_.push_back({node->inputs[0], node->outputs[0], node->inputs[1], axis});
    }
  }

  Value* gradient_behind(Value& output) {
    return sweep_.flows(&output) ? sweep_.gradient_of(output) : like(output, 0);
  }

  /// An input of the body that goes back, for what is like `value`.
  Value* given(const Value& value) {
    Value* made = back_->graph().add_input(graph_.unique_name(value.name + "_gradient"));
    made->type = type_of(value);
    made->shape = shape_of(value);
    return made;
  }

  /// Writes the loop, and hands on what it gives.
  void finish(GradientSweep& inner, std::vector<Value*> inputs) {
    const Rewriting& inside = back_->place();
    std::vector<Value*> results;
    for (size_t i = 0; i < carried_; ++i) {
      if (!follows_[i]) continue;
      const Value& then = *stand_ins_[i].then;
      Value* gradient = inner.gradient_of(then);
      results.push_back(gradient != nullptr ? gradient : inside.like(then, 0));
    }
    std::vector<const Value*> summed;
    for (const Value* value : needed_) {
      Value* part = inner.gradient_of(*value);
      if (part == nullptr) continue;
      summed.push_back(value);
      inputs.push_back(like(*value, 0));
      results.push_back(inside.compute("Add", {given(*value), part}));
    }
    std::erase_if(slices_,
                  [&](const Slice& slice) { return inner.gradient_of(*slice.taken) == nullptr; });
    for (const Slice& slice : slices_) {
      results.push_back(inner.gradient_of(*slice.taken));
      results.push_back(slice.at);
    }
    end_body(back_->graph(), results);
    back_->prune(index_->producer);
    take_collections();
    Node& loop = add_loop(inputs, back_->take());
    const std::vector<Value*> gradients = loop.outputs;
    infer(loop);

    size_t next = 0;
    for (size_t i = 0; i < carried_; ++i) {
      if (!follows_[i]) continue;
      const Value* initial = forward_.inputs[2 + i];
      if (is_needed(initial)) sweep_.add(*initial, gradients[next]);
      ++next;
    }
    for (const Value* value : summed) sweep_.add(*value, gradients[next++]);
    for (const Slice& slice : slices_) {
      sweep_.add(*slice.from, scattered(slice, gradients[next], gradients[next + 1]));
      next += 2;
    }
  }

  /// Stand-ins that are used become what the loop has collected of the trip.
  void take_collections() {
    for (const StandIn& each : stand_ins_) {
      const std::vector<Use> uses = each.then->uses;
      for (const Use& use : uses) {
        const bool extents_only =
            use.node != nullptr && (use.node->is("Shape") || use.node->is("Size"));
        if (extents_only && each.like != nullptr) use.node->set_input(use.index, each.like);
      }
      if (each.then->uses.empty()) continue;
      require_settled(*each.now);
      const auto next = std::next(index_->producer->self);
      Node* behind = next == back_->graph().nodes().end() ? nullptr : next->get();
      Node& taken = add(back_->graph(), "Gather", {collect(*each.now), index_}, {}, behind,
                        definitions::kInternalDomain);
      Graph::replace_uses(each.then, taken.outputs[0]);
    }
  }

  /// Zeros like what the slices were taken from, to which each slice's gradient is added.
  Value* scattered(const Slice& slice, Value* gradients, Value* places) {
    const Value& whole = *slice.from;
    const auto list = [&](const std::vector<int64_t>& values) {
      return constant(graph_, "list", Constant::ints(values));
    };
    std::vector<int64_t> first = definitions::axes_between(0, shape_of(whole).rank);
    std::rotate(first.begin(), first.begin() + slice.axis, first.begin() + slice.axis + 1);
    Value* zero = constant(graph_, "number", Constant::scalar_of(type_of(whole), 0));
    Value* extents = compute("Gather", {compute("Shape", {slice.from}), list(first)});
    Value* at = compute("Unsqueeze", {places, list({-1})});
    Value* sums = compute("ScatterND", {compute("Expand", {zero, extents}), at, gradients},
                          {{"reduction", std::string("add")}});
    return slice.axis == 0
               ? sums
               : compute("Transpose", {sums}, {{"perm", definitions::inverse_order(first)}});
  }

  Graph& body_;
  size_t carried_;
  size_t collected_ = carried_;  // the first output that collects
  ValueSet dependent_;           // on what is differentiated: values of the body, and outside
  std::vector<bool> follows_;    // carried values that are dependent
  Backwards* back_ = nullptr;
  Value* index_ = nullptr;          // the number of the trip that is gone back through
  std::vector<StandIn> stand_ins_;  // those of the carried values first
  std::vector<Slice> slices_;
};

}  // namespace

void go_back_through_loop(GradientSweep& sweep, Node& node) {
  LoopGradient(sweep, node).run();
}

}  // namespace intarsia::converter
