// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/axis_change.h"

#include <algorithm>
#include <numeric>

#include "converter/graph/infer.h"

namespace intarsia::converter {
namespace {

using definitions::AxisForm;
using definitions::AxisNaming;
using definitions::AxisRole;
using definitions::NoAxes;
using definitions::Parameter;
using Axes = std::vector<int64_t>;

/// Where axis `axis` of the old order stands in the new one.
int64_t place_of(int64_t axis, const AxisOrder& order) {
  return std::find(order.begin(), order.end(), axis) - order.begin();
}

Axes places_of(const Axes& axes, const AxisOrder& order) {
  Axes result;
  for (int64_t axis : axes) result.push_back(place_of(axis, order));
  return result;
}

AxisRole role_of(const std::vector<Parameter>& parameters, size_t index) {
  const Parameter* parameter = formal(parameters, index);
  return parameter != nullptr ? parameter->axes : AxisRole::kUnknown;
}

/// Calls `visit(value, role, index, is_output)` for every operand that is present; stops at false.
template <class Visit>
bool all_operands(const Node& node, const Visit& visit) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == nullptr) continue;
    if (!visit(*node.inputs[i], role_of(node.op->inputs, i), i, false)) return false;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == nullptr) continue;
    if (!visit(*node.outputs[i], role_of(node.op->outputs, i), i, true)) return false;
  }
  return true;
}

/// Rank of the axis space: that of every operand that has all its axes; -1 if they disagree.
int space_rank(const Node& node) {
  int rank = -1;
  const bool agree = all_operands(node, [&rank](const Value& value, AxisRole role, size_t, bool) {
    if (role != AxisRole::kSame) return true;
    if (rank < 0) rank = rank_of(value);
    return rank == rank_of(value);
  });
  return agree ? rank : -1;
}

/// Number of elements of the first list beside the named axes.
int64_t listed_count(const Node& node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Value* value = node.inputs[i];
    if (value == nullptr || role_of(node.op->inputs, i) != AxisRole::kApart) continue;
    if (rank_of(*value) != 1) continue;
    if (value->constant) return value->constant->count();
    const auto& extent = (*value->shape)[0];
    return is_constant(extent) ? constant_value(extent) : -1;
  }
  return -1;
}

/// The axes that a node names, counted from the front.
struct NamedAxes {
  Axes axes;
  bool given = true;  ///< by the node, and not by what absence means
};

std::optional<NamedAxes> absent_axes(const Node& node, int rank) {
  const AxisNaming& naming = node.op->facts.axes;
  NamedAxes result{{}, false};
  if (naming.none_if_absent.flag(node.attribute_bytes.data())) return result;
  int64_t count = 0;
  switch (naming.absent) {
    case NoAxes::kAll:
      count = rank;
      break;
    case NoAxes::kLeading:
      count = listed_count(node);
      if (count < 0 || count > rank) return std::nullopt;
      break;
    case NoAxes::kUnit:
      for (int axis = 0; axis < rank; ++axis) {
        if (shape_of(*node.inputs[0])[axis] == definitions::Dim(1)) result.axes.push_back(axis);
      }
      return result;
    case NoAxes::kImpossible:
      return result;
    default:
      return std::nullopt;
  }
  result.axes.resize(static_cast<size_t>(count));
  std::iota(result.axes.begin(), result.axes.end(), 0);
  return result;
}

std::optional<NamedAxes> named_axes(const Node& node, int rank) {
  const AxisNaming& naming = node.op->facts.axes;
  NamedAxes result;
  if (naming.attribute) {
    result.axes = naming.attribute.get(node.attribute_bytes.data());
  } else if (const Value* value = node.input(naming.input)) {
    if (!value->constant) return std::nullopt;
    result.axes = value->constant->integers();
  }
  if (result.axes.empty()) return absent_axes(node, rank);
  for (int64_t& axis : result.axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
  }
  return result;
}

/// Elements of a list with one for each axis, in the new order.
std::optional<Axes> per_axis(const Node& node, const AxisOrder& order) {
  const Value* value = node.input(node.op->facts.axes.input);
  if (value == nullptr || !value->constant || value->constant->rank() != 1) return std::nullopt;
  const Axes listed = value->constant->integers();
  if (listed.size() > order.size()) return std::nullopt;
  Axes all(order.size() - listed.size(), 1);  // leaves an axis as it is
  all.insert(all.end(), listed.begin(), listed.end());
  Axes result;
  for (int64_t axis : order) result.push_back(all[static_cast<size_t>(axis)]);
  return result;
}

/// What the node has to name. False if it cannot. `axes`: those that its naming names.
bool name_anew(const Node& node, const AxisOrder& order, AxisChange& change, Axes& axes) {
  const AxisNaming& naming = node.op->facts.axes;
  const int rank = change.rank;
  switch (naming.form) {
    case AxisForm::kNone:
      return true;
    case AxisForm::kImage:
      return naming.channels_last && !naming.channels_last.flag(node.attribute_bytes.data());
    case AxisForm::kPerAxis:
      change.named = per_axis(node, order);
      return change.named.has_value();
    case AxisForm::kPermutation:
    case AxisForm::kPosition:
      return false;
    default:
      break;
  }
  if (naming.fixed_if.flag(node.attribute_bytes.data())) return false;
  const std::optional<NamedAxes> named = named_axes(node, rank);
  if (!named) return false;
  axes = named->axes;
  Axes moved = places_of(axes, order);
  if (naming.form == AxisForm::kSuffix) {
    if (axes.size() != 1) return false;
    const auto first = static_cast<size_t>(axes[0]);
    const bool suffix = std::all_of(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
                                    [&](int64_t axis) { return axis >= axes[0]; });
    if (suffix) change.named = axes;
    return suffix;
  }
  if (naming.form == AxisForm::kSet) std::sort(moved.begin(), moved.end());
  if (named->given || naming.form == AxisForm::kList) change.named = std::move(moved);
  return true;
}

/// True if the axes that are left without `axes` follow each other alike in both orders.
bool keeps_the_rest(const Axes& axes, const AxisOrder& order) {
  int64_t last = -1;
  for (int64_t axis : order) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

bool is_single(const Value& value) {
  return value.constant ? value.constant->count() == 1 : rank_of(value) == 0;
}

/// Rank of the operand whose axes stand in the place of the named one.
int replacement_rank(const Node& node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (role_of(node.op->inputs, i) == AxisRole::kReplacement) return rank_of(*node.inputs[i]);
  }
  return -1;
}

/// What becomes of one operand; nothing if its axes cannot follow.
std::optional<AxisChange::Operand> follow(const Node& node, const Value& value, AxisRole role,
                                          const AxisChange& change, const AxisOrder& order,
                                          const Axes& axes) {
  const AxisNaming& naming = node.op->facts.axes;
  // Elements are moved as bytes.
  const DataType type = value.constant ? value.constant->type : value.type;
  const bool movable = element_bits(type) >= 8;
  switch (role) {
    case AxisRole::kApart:
    case AxisRole::kReplacement:
      return AxisChange::kKept;
    case AxisRole::kSame:
      if (!movable) return std::nullopt;
      return AxisChange::kMoved;
    case AxisRole::kBroadcast:
      if (is_single(value)) return AxisChange::kKept;
      if (!movable) return std::nullopt;
      if (!value.constant && rank_of(value) != change.rank) return std::nullopt;
      return AxisChange::kBroadcast;
    case AxisRole::kDropped:
      if (naming.keep.flag(node.attribute_bytes.data())) return AxisChange::kMoved;
      break;
    case AxisRole::kReplaced:
      if (replacement_rank(node) == 1) return AxisChange::kMoved;
      if (replacement_rank(node) != 0) return std::nullopt;
      break;
    default:
      return std::nullopt;
  }
  if (!keeps_the_rest(axes, order)) return std::nullopt;
  return AxisChange::kKept;
}

/// Type of a list of axes that a node lacks: that of an operand of the same type variable.
DataType list_type(const Node& node, int input) {
  const Parameter& wanted = node.op->inputs[static_cast<size_t>(input)];
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Parameter* parameter = formal(node.op->inputs, i);
    if (node.inputs[i] != nullptr && parameter->type == wanted.type) {
      return node.inputs[i]->constant ? node.inputs[i]->constant->type : node.inputs[i]->type;
    }
  }
  return DataType::kInt64;
}

Constant list_constant(DataType type, std::vector<int64_t> extents, const Axes& values) {
  if (type != DataType::kInt32) {
    return Constant::of<int64_t>(std::move(extents), std::span<const int64_t>(values));
  }
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Constant::of<int32_t>(std::move(extents), std::span<const int32_t>(narrow));
}

}  // namespace

AxisOrder channels_last_order(int rank) {
  AxisOrder order{0};
  for (int axis = 2; axis < rank; ++axis) order.push_back(axis);
  order.push_back(1);
  return order;
}

AxisOrder channels_first_order(int rank) {
  AxisOrder order{0, rank - 1};
  for (int axis = 1; axis < rank - 1; ++axis) order.push_back(axis);
  return order;
}

int rank_of(const Value& value) {
  if (value.constant) return value.constant->rank();
  return value.shape ? value.shape->rank : -1;
}

std::optional<AxisChange> channels_last_change(const Node& node) {
  if (node.op == nullptr || !node.graphs.empty()) return std::nullopt;
  AxisChange change;
  change.rank = space_rank(node);
  if (change.rank < 3) return std::nullopt;
  const AxisOrder order = channels_last_order(change.rank);
  Axes axes;
  if (!name_anew(node, order, change, axes)) return std::nullopt;
  change.inputs.resize(node.inputs.size());
  change.outputs.resize(node.outputs.size());
  const bool all =
      all_operands(node, [&](const Value& value, AxisRole role, size_t index, bool is_output) {
        const auto operand = follow(node, value, role, change, order, axes);
        if (operand) (is_output ? change.outputs : change.inputs)[index] = *operand;
        return operand.has_value();
      });
  if (!all) return std::nullopt;
  return change;
}

void name_axes(Node& node, const AxisChange& change) {
  const AxisNaming& naming = node.op->facts.axes;
  if (naming.channels_last) {
    naming.channels_last.set(node.attribute_bytes.data(), std::vector<int64_t>{1});
  }
  if (!change.named) return;
  if (naming.attribute) {
    naming.attribute.set(node.attribute_bytes.data(), *change.named);
    return;
  }
  const Value* old = node.input(naming.input);
  const DataType type = old != nullptr ? old->constant->type : list_type(node, naming.input);
  const bool scalar = old != nullptr && old->constant->rank() == 0;
  std::vector<int64_t> extents;
  if (!scalar) extents.push_back(static_cast<int64_t>(change.named->size()));
  Value* made = node.graph->add_constant(node.graph->unique_name(node.name + "_axes"),
                                         list_constant(type, std::move(extents), *change.named));
  made->type = type;
  node.set_input(naming.input, made);
}

Constant reordered(const Constant& constant, const AxisOrder& order, int least_rank) {
  const size_t rank = order.size();
  std::vector<int64_t> extents(rank - constant.extents.size(), 1);
  extents.insert(extents.end(), constant.extents.begin(), constant.extents.end());
  std::vector<int64_t> strides(rank, 1);
  for (size_t axis = rank - 1; axis-- > 0;) strides[axis] = strides[axis + 1] * extents[axis + 1];
  std::vector<int64_t> moved;
  for (int64_t axis : order) moved.push_back(extents[static_cast<size_t>(axis)]);
  const auto element = static_cast<size_t>(element_bits(constant.type) / 8);
  std::vector<std::byte> bytes(constant.size);
  std::vector<int64_t> index(rank, 0);
  for (size_t at = 0; at + element <= bytes.size(); at += element) {
    int64_t source = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      source += index[axis] * strides[static_cast<size_t>(order[axis])];
    }
    std::copy_n(constant.data.get() + static_cast<size_t>(source) * element, element,
                bytes.begin() + static_cast<std::ptrdiff_t>(at));
    for (size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < moved[axis]) break;
      index[axis] = 0;
    }
  }
  while (static_cast<int>(moved.size()) > least_rank && moved.front() == 1) {
    moved.erase(moved.begin());
  }
  return constant.with(std::move(moved), std::move(bytes));
}

}  // namespace intarsia::converter
