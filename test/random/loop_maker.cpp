// SPDX-License-Identifier: Apache-2.0
#include "test/random/loop_maker.h"

#include <algorithm>

namespace intarsia::test {
namespace {

constexpr int64_t kMostTrips = 4;
constexpr int64_t kMostCollected = 3000;

bool same_shape(const RandomTensor& a, const RandomTensor& b) {
  return a.type == b.type && a.shape.rank == b.shape.rank &&
         std::equal(a.shape.extents, a.shape.extents + a.shape.rank, b.shape.extents);
}

bool all_constant(const Shape<Dim>& shape) {
  return std::all_of(shape.extents, shape.extents + shape.rank,
                     [](const Dim& extent) { return is_constant(extent); });
}

}  // namespace

int LoopMaker::add_tensor(RandomTensor tensor) {
  tensor.name = "t" + std::to_string(model_.tensors.size());
  model_.tensors.push_back(std::move(tensor));
  return static_cast<int>(model_.tensors.size()) - 1;
}

/// A tensor that no node makes: what the body is given. Its elements are other ones in each trip.
int LoopMaker::add_given(DataType type, const Shape<Dim>& shape, std::vector<Constant> values,
                         const std::vector<double>& errors) {
  RandomTensor given;
  given.type = type;
  given.shape = shape;
  given.values = std::move(values);
  given.errors = errors;
  given.seen.present = true;
  given.seen.type = type;
  given.seen.shape = shape;
  body().inputs.push_back(add_tensor(std::move(given)));
  return body().inputs.back();
}

void LoopMaker::add_carried(int initial) {
  const RandomTensor tensor = model_.tensor(initial);
  node_.inputs.push_back(initial);
  ++model_.tensor(initial).uses;
  carried_.push_back(add_given(tensor.type, tensor.shape, tensor.values, tensor.errors));
}

void LoopMaker::add_scanned(int number) {
  const RandomTensor tensor = model_.tensor(number);
  auto& axes = std::get<std::vector<int64_t>>(node_.attributes["scan_input_axes"]);
  auto& directions = std::get<std::vector<int64_t>>(node_.attributes["scan_input_directions"]);
  const int axis = static_cast<int>(random_.below(tensor.shape.rank));
  axes.push_back(axis);
  directions.push_back(random_.chance(30) ? 1 : 0);
  node_.inputs.push_back(number);
  ++model_.tensor(number).uses;
  Shape<Dim> shape;
  for (int i = 0; i < tensor.shape.rank; ++i) {
    if (i != axis) shape.push(tensor.shape[i]);
  }
  std::vector<Constant> slices;
  for (const Constant& value : tensor.values) {
    const int64_t last = value.extents[static_cast<size_t>(axis)] - 1;
    slices.push_back(slice_of(value, axis, directions.back() != 0 ? last : 0));
  }
  add_given(tensor.type, shape, std::move(slices), tensor.errors);
}

Pool LoopMaker::begin(const Pool& outer) {
  Pool pool = outer;
  std::vector<int> whole;  // of whole bytes
  for (int number : outer) {
    const DataType type = model_.tensor(number).type;
    if (element_bits(type) % 8 == 0 && !holds_elements(type)) whole.push_back(number);
  }
  const std::vector<double> exact(model_.runs.size(), 0);
  if (!is_scan()) {
    node_.inputs = {-1, -1};
    const auto always = [&](Constant value) {
      return std::vector<Constant>(model_.runs.size(), std::move(value));
    };
    pool.push_back(add_given(DataType::kInt64, {}, always(Constant::scalar<int64_t>(0)), exact));
    add_given(DataType::kBool, {}, always(Constant::scalar<bool>(true)), exact);
  }
  if (whole.empty()) return pool;
  for (int64_t count = random_.between(0, 3); count > 0; --count) {
    add_carried(random_.pick(whole));
  }
  if (is_scan()) {
    node_.attributes["scan_input_axes"] = std::vector<int64_t>();
    node_.attributes["scan_input_directions"] = std::vector<int64_t>();
    std::vector<int> scannable;
    for (int number : whole) {
      const RandomTensor& tensor = model_.tensor(number);
      const bool empty = std::any_of(tensor.values.begin(), tensor.values.end(),
                                     [](const Constant& value) { return value.count() == 0; });
      if (tensor.shape.rank > 0 && !empty) scannable.push_back(number);
    }
    if (!scannable.empty()) add_scanned(random_.pick(scannable));
  }
  const auto own = body().inputs.begin() + (is_scan() ? 0 : 2);
  // Twice, so that nodes of the body read them more often than others.
  pool.insert(pool.end(), own, body().inputs.end());
  pool.insert(pool.end(), own, body().inputs.end());
  return pool;
}

/// A result for carried value `carried`: what a node makes, or, if none fits, a carried value.
int LoopMaker::result_for(int carried) {
  std::vector<int> made, given;
  for (const RandomNode& node : body().nodes) {
    for (int output : node.outputs) {
      if (output >= 0 && same_shape(model_.tensor(output), model_.tensor(carried))) {
        made.push_back(output);
      }
    }
  }
  for (int other : carried_) {
    if (same_shape(model_.tensor(other), model_.tensor(carried))) given.push_back(other);
  }
  return made.empty() || random_.chance(15) ? random_.pick(given) : random_.pick(made);
}

void LoopMaker::add_elements() {
  for (const RandomNode& node : body().nodes) {
    for (int output : node.outputs) {
      if (output < 0 || elements_.size() == 3 || !random_.chance(50)) continue;
      const RandomTensor& tensor = model_.tensor(output);
      int64_t count = 1;
      for (int axis = 0; axis < tensor.shape.rank; ++axis) count *= tensor.shape[axis].upper();
      const bool whole = element_bits(tensor.type) % 8 == 0 && !holds_elements(tensor.type);
      if (whole && tensor.shape.rank < 6 && count * 8 <= kMostCollected)
        elements_.push_back(output);
    }
  }
}

/// Lets the loop make as many trips as its nodes accept. A Scan has to make one for each slice.
bool LoopMaker::count_trips() {
  if (is_scan()) {
    for (size_t run = 0; run < model_.runs.size(); ++run) {
      const Constant& scanned = model_.tensor(node_.inputs[carried_.size()]).values[run];
      const auto& axes = std::get<std::vector<int64_t>>(node_.attributes["scan_input_axes"]);
      trips_.push_back(execute_loop(model_, node_, run, library_).trips);
      if (trips_.back() != scanned.extents[static_cast<size_t>(axes[0])]) return false;
    }
    return true;
  }
  // Without a trip nothing but the planned maxima tells the extents of elements.
  const bool may_be_none = std::all_of(elements_.begin(), elements_.end(), [this](int number) {
    return all_constant(model_.tensor(number).shape);
  });
  const bool constant = random_.chance(30);
  RandomTensor count;
  count.kind = constant ? RandomTensor::kConstant : RandomTensor::kInput;
  count.type = DataType::kInt64;
  count.seen.present = true;
  count.seen.type = count.type;
  count.uses = 1;
  count.errors.assign(model_.runs.size(), 0);
  count.values.assign(model_.runs.size(), Constant::scalar<int64_t>(kMostTrips));
  node_.inputs[0] = add_tensor(std::move(count));
  for (size_t run = 0; run < model_.runs.size(); ++run) {
    const int64_t most = execute_loop(model_, node_, run, library_).trips;
    if (most == 0) return false;
    trips_.push_back(random_.between(may_be_none ? 0 : 1, most));
  }
  const int64_t fewest = *std::min_element(trips_.begin(), trips_.end());
  if (constant) trips_.assign(trips_.size(), fewest);
  for (size_t run = 0; run < trips_.size(); ++run) {
    model_.tensor(node_.inputs[0]).values[run] = Constant::scalar<int64_t>(trips_[run]);
  }
  if (constant) {
    model_.tensor(node_.inputs[0]).seen = known_input(Constant::scalar<int64_t>(fewest));
  }
  return true;
}

/// How many elements are kept, as shape rules know it.
Dim LoopMaker::collected_extent() const {
  if (is_scan()) {
    const auto& axes =
        std::get<std::vector<int64_t>>(node_.attributes.find("scan_input_axes")->second);
    return model_.tensor(node_.inputs[carried_.size()]).shape[static_cast<int>(axes[0])];
  }
  const bool constant = model_.tensor(node_.inputs[0]).kind == RandomTensor::kConstant;
  return constant ? Dim(trips_[0])
                  : Dim::unknown(0, *std::max_element(trips_.begin(), trips_.end()));
}

/// Adds the loop's outputs, with what they are in each run.
bool LoopMaker::compute() {
  std::vector<LoopResults> runs;
  for (size_t run = 0; run < model_.runs.size(); ++run) {
    runs.push_back(execute_loop(model_, node_, run, library_));
    if (runs.back().trips != trips_[run]) return false;
  }
  const int64_t most = *std::max_element(trips_.begin(), trips_.end());
  for (size_t i = 0; i < carried_.size() + elements_.size(); ++i) {
    RandomTensor output;
    const bool collected = i >= carried_.size();
    const RandomTensor& like =
        model_.tensor(collected ? elements_[i - carried_.size()] : carried_[i]);
    output.type = like.type;
    output.shape = like.shape;
    if (collected) {
      const auto found = node_.attributes.find("scan_output_axes");
      const int64_t axis = found == node_.attributes.end()
                               ? 0
                               : std::get<std::vector<int64_t>>(found->second)[i - carried_.size()];
      output.shape = {};
      for (int place = 0; place <= like.shape.rank; ++place) {
        if (place == axis) output.shape.push(collected_extent());
        if (place < like.shape.rank) output.shape.push(like.shape[place]);
      }
    }
    output.behind_layout = like.behind_layout;
    output.seen.present = true;
    output.seen.type = output.type;
    output.seen.shape = output.shape;
    for (const LoopResults& run : runs) {
      output.values.push_back(run.values[i]);
      output.errors.push_back(run.errors[i]);
    }
    node_.outputs.push_back(add_tensor(std::move(output)));
  }
  // Each trip may make strings.
  const bool strings =
      std::any_of(model_.tensors.begin(), model_.tensors.end(),
                  [](const RandomTensor& tensor) { return tensor.type == DataType::kString; });
  if (!is_scan() && (strings || !elements_.empty())) {
    model_.max_trips[node_name(model_, node_)] = most;
  }
  return true;
}

std::optional<RandomNode> LoopMaker::finish() {
  const size_t scanned = node_.inputs.size() - carried_.size() - (is_scan() ? 0 : 2);
  if (body().nodes.empty() || (is_scan() && scanned == 0)) return std::nullopt;
  if (!is_scan()) body().outputs.push_back(body().inputs[1]);
  for (int carried : carried_) body().outputs.push_back(result_for(carried));
  add_elements();
  if (carried_.empty() && elements_.empty()) return std::nullopt;
  body().outputs.insert(body().outputs.end(), elements_.begin(), elements_.end());
  for (int output : body().outputs) ++model_.tensor(output).uses;
  if (is_scan()) {
    node_.attributes["num_scan_inputs"] = static_cast<int64_t>(scanned);
    std::vector<int64_t> axes, directions;
    for (int element : elements_) {
      axes.push_back(random_.between(0, model_.tensor(element).shape.rank));
      directions.push_back(random_.chance(30) ? 1 : 0);
    }
    if (!elements_.empty()) node_.attributes["scan_output_axes"] = axes;
    if (!elements_.empty()) node_.attributes["scan_output_directions"] = directions;
  }
  if (!count_trips() || !compute()) return std::nullopt;
  return std::move(node_);
}

}  // namespace intarsia::test
