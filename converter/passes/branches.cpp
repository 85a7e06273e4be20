// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/branches.h"

#include <optional>
#include <vector>

#include "converter/passes/channel_affine.h"
#include "converter/passes/rewrite.h"
#include "core/operators/nn/conv.h"

namespace intarsia::converter {
namespace {

/// The taps along a spatial axis: at `start`, counted from stride times the output's place, and
/// `step` apart.
struct Taps {
  int64_t count = 1, start = 0, step = 1;
};

/// A convolution of `groups` groups and strides that are known.
struct Branch {
  std::vector<double> weights;  // [filters][depth][taps...]
  std::vector<double> bias;     // [filters]
  std::vector<Taps> taps;       // of each spatial axis
};

/// A convolution that only `sum` reads, with weights of its own.
bool is_mergeable(const Node* node, const Node& sum) {
  if (node == nullptr || node->op == nullptr || !has_epilogue(*node, "Conv")) return false;
  if (only_reader(node->outputs[0]) != &sum) return false;
  const Value *w = node->input(1), *bias = node->input(2);
  if (!w->constant || !w->constant->is_real() || w->uses.size() > 1 || w->constant->count() == 0) {
    return false;
  }
  return bias == nullptr || (bias->constant && bias->constant->is_real());
}

std::optional<Branch> branch_of(const Node& conv) {
  const auto& window = conv.typed<ConvAttributes>().window;
  if (window.same()) return std::nullopt;  // the padding depends on the extents
  const Constant& w = *conv.input(1)->constant;
  Branch branch{w.reals(), std::vector<double>(static_cast<size_t>(w.extents[0])), {}};
  if (const Value* bias = conv.input(2)) branch.bias = bias->constant->reals();
  for (int axis = 0; axis + 2 < w.rank(); ++axis) {
    branch.taps.push_back({w.extents[static_cast<size_t>(axis) + 2], -window.explicit_pad(axis),
                           window.dilation(axis)});
  }
  return branch;
}

/// What makes `value` of x, if it only scales and shifts channels, as a convolution like `conv`.
std::optional<Branch> affine_branch(const Value* value, const Value* x, const Node& conv) {
  const auto& attributes = conv.typed<ConvAttributes>();
  const Constant& w = *conv.input(1)->constant;
  const int64_t filters = w.extents[0], depth = w.extents[1];
  if (depth * attributes.group != filters || (value == x && depth > 1)) return std::nullopt;
  const int spatial = w.rank() - 2;
  for (int axis = 0; axis < spatial; ++axis) {
    if (attributes.window.stride(axis) != 1) return std::nullopt;
  }
  const auto channels = static_cast<size_t>(filters);
  std::vector<double> scale(channels, 1.0), shift(channels);
  while (value != x) {
    const Node* node = value->producer;
    if (node == nullptr || node->op == nullptr || only_reader(value) == nullptr) {
      return std::nullopt;
    }
    if (node->outputs.size() > 1 && node->output(1) != nullptr) return std::nullopt;
    const auto from = std::ranges::find_if(
        node->inputs, [](const Value* input) { return input != nullptr && !input->constant; });
    if (from == node->inputs.end() || !same_extents(**from, *value)) return std::nullopt;
    const auto affine = affine_of(*node, *from, 1, filters);
    if (!affine) return std::nullopt;
    for (size_t c = 0; c < channels; ++c) {
      shift[c] += scale[c] * affine->shift[c];
      scale[c] *= affine->scale[c];
    }
    value = *from;
  }
  Branch branch{std::vector<double>(static_cast<size_t>(filters * depth)), std::move(shift),
                std::vector<Taps>(static_cast<size_t>(spatial))};
  for (int64_t f = 0; f < filters; ++f) {
    branch.weights[static_cast<size_t>(f * depth + f % depth)] = scale[static_cast<size_t>(f)];
  }
  return branch;
}

/// Adds the taps of `other` to those of `wide` at the same places; false if it lacks one.
bool add_taps(Branch& wide, const Branch& other) {
  const size_t planes = other.weights.size();
  size_t taps = 1, wide_taps = 1;
  std::vector<size_t> places{0};  // of the other's taps, among the wide ones
  for (size_t axis = 0; axis < wide.taps.size(); ++axis) {
    const Taps &to = wide.taps[axis], &from = other.taps[axis];
    taps *= static_cast<size_t>(from.count);
    wide_taps *= static_cast<size_t>(to.count);
    std::vector<size_t> finer;
    for (const size_t place : places) {
      for (int64_t tap = 0; tap < from.count; ++tap) {
        const int64_t distance = from.start + tap * from.step - to.start;
        if (distance < 0 || distance % to.step != 0 || distance / to.step >= to.count) return false;
        finer.push_back(place * static_cast<size_t>(to.count) +
                        static_cast<size_t>(distance / to.step));
      }
    }
    places = std::move(finer);
  }
  for (size_t i = 0; i < planes; ++i) {
    wide.weights[i / taps * wide_taps + places[i % taps]] += other.weights[i];
  }
  for (size_t f = 0; f < wide.bias.size(); ++f) wide.bias[f] += other.bias[f];
  return true;
}

/// Whether both convolutions have the same groups, filters and strides, and a window of one rank.
bool alike(const Node& a, const Node& b) {
  const auto &first = a.typed<ConvAttributes>(), &second = b.typed<ConvAttributes>();
  const Constant &v = *a.input(1)->constant, &w = *b.input(1)->constant;
  if (first.group != second.group || v.rank() != w.rank() || v.extents[0] != w.extents[0]) {
    return false;
  }
  for (int axis = 0; axis + 2 < v.rank(); ++axis) {
    if (first.window.stride(axis) != second.window.stride(axis)) return false;
  }
  return true;
}

}  // namespace

bool merge_branches(Node& sum) {
  if ((!sum.fuses_as("Add") && !sum.fuses_as("Sum")) || sum.inputs.size() != 2) return false;
  for (size_t i : {size_t{0}, size_t{1}}) {
    const Value* other = sum.inputs[1 - i];
    Node* conv = sum.inputs[i]->producer;
    const Node* second = other->producer;
    if (!is_mergeable(conv, sum) || !same_extents(*other, *conv->outputs[0])) continue;
    const bool both = is_mergeable(second, sum) && second->inputs[0] == conv->inputs[0];
    if (both && !alike(*conv, *second)) return false;
    std::optional<Branch> branch = branch_of(*conv);
    const std::optional<Branch> added =
        both ? branch_of(*second) : affine_branch(other, conv->inputs[0], *conv);
    if (!branch || !added || !add_taps(*branch, *added)) continue;
    Graph& graph = *sum.graph;
    const Value& w = *conv->input(1);
    const Constant& weights = *w.constant;
    conv->set_input(1, add_reals(graph, w.name, weights.type, weights.extents, branch->weights));
    conv->set_input(2, add_reals(graph, conv->name + "_bias", weights.type, {weights.extents[0]},
                                 branch->bias));
    absorb(*conv, sum);
    return true;
  }
  return false;
}

}  // namespace intarsia::converter
