// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/loop_collections.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "converter/graph/kernel_selection.h"
#include "converter/graph/sequence.h"

namespace intarsia::converter {

using definitions::Dim;
using definitions::kInfinite;

namespace {

/// The one element of a scalar, as far as it is known; `otherwise` where there is no operand.
Dim scalar(const Value* value, const Dim& otherwise, const Dim& unknown) {
  return value == nullptr ? otherwise : known_scalar(*value).value_or(unknown);
}

}  // namespace

Node* resolved(const Node& loop, Node* node) {
  const auto& operators = definitions::OperatorRegistry::builtin();
  const std::string error = node->resolve_as(*operators.find("", node->type));
  if (!error.empty()) throw Error(loop.problem(error));
  return node;
}

LoopTrips::LoopTrips(const Node& loop, const InferenceOptions& options) {
  const Dim wanted = scalar(loop.input(0), Dim::unknown(0), Dim::unknown(0));
  const Dim starts = scalar(loop.input(1), 1, Dim::unknown(0, 1));
  count_ = dim_max(wanted, 0);
  if (is_constant(starts) && constant_value(starts) == 0) count_ = 0;
  always_starts_ = is_constant(starts);
  const auto limit = options.max_trips.find(loop.name);
  if (limit != options.max_trips.end() && count_.upper() > limit->second) {
    count_ = Dim::unknown(0, limit->second);
  }
}

std::optional<Dim> LoopTrips::exact(const Node& loop) const {
  const Value* condition = loop.graphs[0].graph->outputs()[0];
  const Dim goes_on = scalar(condition, 0, Dim::unknown(0, 1));
  const bool counted = always_starts_ && loop.input(0) != nullptr && is_constant(goes_on) &&
                       constant_value(goes_on) != 0;
  return counted && !count_.has_unknown() ? std::optional<Dim>(count_) : std::nullopt;
}

size_t LoopCollections::take_appended(size_t carried) {
  for (size_t i = 0; i < carried;) {
    if (Node* insert = appended(i)) {
      take(i, *insert);
      --carried;
    } else {
      ++i;
    }
  }
  return carried;
}

/// The node that puts an element behind those of a sequence, if that is all that a trip does with
/// carried value `i`, and if it is empty at first.
Node* LoopCollections::appended(size_t i) const {
  const Value& initial = *loop_.inputs[2 + i];
  const definitions::SequencePointer first = sequence_type(initial);
  const bool empty = type_of(initial) == DataType::kSequence && first && first->empty();
  const Value* given = body_.inputs()[2 + i];
  const Value* result = body_.outputs()[1 + i];
  if (!empty || given->uses.size() != 1 || result->uses.size() != 1) return nullptr;
  Node* insert = result->producer;
  const bool appends = insert != nullptr && insert->graph == &body_ &&
                       insert->is("SequenceInsert") && insert->input(0) == given &&
                       insert->input(2) == nullptr;
  return appends ? insert : nullptr;
}

/// Lets each trip yield a sequence of one, behind all other results.
void LoopCollections::take(size_t i, Node& insert) {
  Value* element[] = {insert.inputs[1]};
  const Node* one = resolved(
      loop_, body_.add_node("", "SequenceConstruct", insert.name, element, 1, &insert, &insert));
  // What comes behind it moves up, here, in the body and among the results.
  const auto last = static_cast<int>(body_.outputs().size()) - 1;
  for (int at = static_cast<int>(1 + i); at < last; ++at) {
    body_.set_output(at, body_.outputs()[static_cast<size_t>(at) + 1]);
  }
  body_.set_output(last, one->outputs[0]);
  body_.remove(&insert);
  body_.remove_input(body_.inputs()[2 + i]);
  for (size_t at = 2 + i; at + 1 < loop_.inputs.size(); ++at) {
    loop_.set_input(static_cast<int>(at), loop_.inputs[at + 1]);
  }
  loop_.truncate_inputs(static_cast<int>(loop_.inputs.size()) - 1);
  const auto outputs = std::span(loop_.outputs).subspan(i);
  std::rotate(outputs.begin(), outputs.begin() + 1, outputs.end());
  for (size_t at = i; at < loop_.outputs.size(); ++at) {
    loop_.outputs[at]->output = static_cast<int>(at);
  }
}

void LoopCollections::set_outputs(size_t carried, const LoopTrips& trips) const {
  for (size_t i = carried; i < loop_.outputs.size(); ++i) set_output(i, trips);
}

/// The elements of all trips, one behind another; of sequences those that they hold.
void LoopCollections::set_output(size_t i, const LoopTrips& trips) const {
  Value& output = *loop_.outputs[i];
  const Value& element = *body_.outputs()[1 + i];
  output.type = type_of(element);
  output.shape.emplace();
  if (holds_elements(output.type)) {
    set_sequence(output, element, trips);
  } else {
    const Shape<Dim> shape = shape_of(element);
    if (shape.rank >= kMaxRank) {
      throw Error(loop_.problem(fmt::format("output {} has more than {} axes", i, kMaxRank)));
    }
    const std::optional<Dim> exact = trips.exact(loop_);
    output.shape->push(exact ? *exact : Dim::unknown(0, most_collected(output, 1, trips)));
    // What varies may differ from trip to trip.
    for (int axis = 0; axis < shape.rank; ++axis) {
      output.shape->push(definitions::fresh(shape[axis]));
    }
  }
  inference_.apply_bounds(output);
}

void LoopCollections::set_sequence(Value& output, const Value& element,
                                   const LoopTrips& trips) const {
  const definitions::SequencePointer each = sequence_type(element);
  if (output.type != DataType::kSequence || each == nullptr) {
    throw Error(loop_.problem(
        fmt::format("'{}' collects values of type {}", output.name, data_type_name(output.type))));
  }
  const int64_t most = most_collected(output, shape_of(element)[0].upper(), trips);
  output.shape->push(Dim::unknown(0, most));
  auto all = std::make_shared<definitions::SequenceType>(*each);
  for (int axis = 0; all->shape && axis < all->shape->rank; ++axis) {
    (*all->shape)[axis] = definitions::fresh((*all->shape)[axis]);
  }
  const std::optional<Dim> exact = trips.exact(loop_);
  const Dim entry = entry_bytes(all->type, all->shape);
  all->count = exact && is_constant(each->count)
                   ? *exact * each->count
                   : Dim::unknown(0, most / std::max<int64_t>(entry.lower(), 1));
  output.sequence = all;
}

/// The most that `output` holds, to which each trip adds so much.
int64_t LoopCollections::most_collected(const Value& output, int64_t each,
                                        const LoopTrips& trips) const {
  int64_t most = kInfinite;
  if (each < kInfinite && trips.most() < kInfinite) most = (Dim(each) * Dim(trips.most())).upper();
  const auto& tried = output.trial.largest;
  if (most == kInfinite && tried) most = tried->front();
  const bool bounded = most != kInfinite || inference_.options_.bounds.count(output.name) != 0;
  if (!bounded && inference_.copies_ == 0) {
    throw UnboundedError(loop_.problem(
        fmt::format("the number of its trips is not known, and '{}' collects a result of each",
                    output.name),
        fmt::format("declare it with --max-trips {}=N", loop_.name)));
  }
  return most;
}

}  // namespace intarsia::converter
