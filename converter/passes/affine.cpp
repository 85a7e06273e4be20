// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/affine.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "converter/passes/branches.h"
#include "converter/passes/channel_affine.h"
#include "converter/passes/rewrite.h"
#include "converter/passes/simplify.h"
#include "core/operators/linear_algebra/matmul.h"
#include "core/operators/nn/conv.h"

namespace intarsia::converter {
namespace {

/// A node W x + b, whose input 1 are the weights and input 2 the bias.
struct Weighted {
  int axis = 1;  // of the result, along which its channels lie
  int64_t channels = 0;
  int64_t run = 1;       // neighbours in the weights that belong to one channel
  int64_t groups = 1;    // parts of the weights, each of which has channels of its own
  double addend = 1;     // what b is multiplied with
  bool product = false;  // of matrices, in one of which
  bool scalable = true;  // channels of the weights are those of the result

  /// The channel to which an element of the weights belongs.
  size_t channel(int64_t element, int64_t count) const {
    const int64_t own = channels / groups, part = count / groups;
    return static_cast<size_t>(element / part * own + element / run % own);
  }
};

int64_t product_of(const Constant& constant, size_t first) {
  int64_t product = 1;
  for (size_t i = first; i < constant.extents.size(); ++i) product *= constant.extents[i];
  return product;
}

std::optional<Weighted> weighted(const Node& node) {
  const Value *w = node.input(1), *y = node.outputs[0];
  if (w == nullptr || !y->shape || y->shape->rank < 1) return std::nullopt;
  const int rank = y->shape->rank;
  const definitions::Epilogue* epilogue = epilogue_of(node);
  const bool stack = epilogue != nullptr && epilogue->bias == 2;  // a bias of columns
  const bool gemm = has_epilogue(node, "Gemm"), transposed = node.fuses_as("ConvTranspose");
  if (!stack && !gemm && !transposed && !has_epilogue(node, "Conv")) return std::nullopt;
  if (epilogue != nullptr &&
      (!is_open(node, *epilogue) || node.input(epilogue->residual) != nullptr)) {
    return std::nullopt;
  }
  Weighted result;
  result.product = stack || gemm;
  if (stack) {
    // A vector as the second factor takes an axis away: then the last one is not the columns.
    const int b_rank = w->constant ? w->constant->rank() : (w->shape ? w->shape->rank : 0);
    if (b_rank < 2) return std::nullopt;
    result.axis = rank - 1;
    result.scalable = epilogue->op == "MatMul";
  }
  if (result.axis >= rank || !is_constant((*y->shape)[result.axis])) return std::nullopt;
  result.channels = constant_value((*y->shape)[result.axis]);
  if (result.channels == 0) return std::nullopt;
  size_t behind = 1;  // axes of the weights behind that of the channels
  if (gemm) {
    const auto& attributes = node.typed<GemmAttributes>();
    result.addend = static_cast<double>(attributes.beta);
    if (result.addend == 0) return std::nullopt;
    if (attributes.trans_b == 0) behind = 2;
  } else if (stack) {
    behind = static_cast<size_t>(w->constant ? w->constant->rank() : 0);
  } else if (transposed) {
    result.groups = node.typed<ConvTransposeAttributes>().group;
    behind = 2;
  }
  if (w->constant) result.run = product_of(*w->constant, behind);
  return result;
}

class AffineFolding {
 public:
  explicit AffineFolding(Graph& graph) {
    std::set<const std::byte*> counted;  // values share constants
    for_each_value(graph, [&](const Value& value) {
      if (!value.constant || !counted.insert(value.constant->data.get()).second) return;
      bytes_left_ += value.constant->size;
    });
  }

  bool apply(Node& node) {
    Node* next = only_reader(node.outputs[0]);
    if (next == nullptr) return false;
    const std::optional<Weighted> form = weighted(node);
    if (!form || (next->outputs.size() > 1 && next->output(1) != nullptr)) return false;
    // As many numbers as the model has anyway.
    const auto has_channels = [&](const Value* value) {
      return value != nullptr && value->constant && value->constant->count() >= form->channels;
    };
    if (!has_channels(node.input(1)) && !std::ranges::any_of(next->inputs, has_channels)) {
      return false;
    }
    const std::optional<ChannelAffine> affine =
        affine_of(*next, node.outputs[0], form->axis, form->channels);
    if (!affine) return false;
    const std::optional<std::vector<double>> bias = bias_of(node, *form);
    if (!bias) return false;
    if (affine->scales()) {
      const Value* weights = node.input(1);
      if (!form->scalable || !weights->constant || !weights->constant->is_real()) return false;
      if (!scale_weights(node, *form, *affine, *next)) return false;
    }
    set_bias(node, *form, *affine, *bias);
    absorb(node, *next);
    return true;
  }

 private:
  // Nothing is removed from the values of a graph while its nodes are folded, so that an address
  // names one value.
  using Key = std::tuple<const Graph*, const Value*, std::vector<double>, int64_t, int64_t>;

  /// What is added to each channel, if that is constant.
  static std::optional<std::vector<double>> bias_of(const Node& node, const Weighted& form) {
    const Value* bias = node.input(2);
    const auto channels = static_cast<size_t>(form.channels);
    if (bias == nullptr) return std::vector<double>(channels);
    const int rank = std::max(1, bias->constant ? bias->constant->rank() : 0);
    std::optional<std::vector<double>> values = per_channel(bias, rank, rank - 1, form.channels);
    if (values) {
      for (double& value : *values) value *= form.addend;
    }
    return values;
  }

  /// True if there is room for a copy of `weights`, and for what `affine` holds; takes it.
  bool afford(const Value& weights, const Node& affine) {
    size_t bytes = weights.constant->size;
    for (const Value* operand : affine.inputs) {
      if (operand->constant) bytes += operand->constant->size;
    }
    if (bytes > bytes_left_) return false;
    bytes_left_ -= bytes;
    return true;
  }

  bool scale_weights(Node& node, const Weighted& form, const ChannelAffine& affine,
                     const Node& next) {
    const Value* weights = node.input(1);
    const bool shared = weights->uses.size() > 1;
    if (shared && form.product) return false;  // tied embeddings are large
    const Key key{node.graph, weights, affine.scale, form.run, form.groups};
    const auto known = shared ? known_.find(key) : known_.end();
    if (known != known_.end()) {
      node.set_input(1, known->second);
      return true;
    }
    if (shared && !afford(*weights, next)) return false;
    const Constant& w = *weights->constant;
    std::vector<double> scaled = w.reals();
    for (int64_t i = 0; i < w.count(); ++i) {
      scaled[static_cast<size_t>(i)] *= affine.scale[form.channel(i, w.count())];
    }
    Value* made = add_reals(*node.graph, weights->name, w.type, w.extents, scaled);
    node.set_input(1, made);
    if (shared) known_[key] = made;
    return true;
  }

  void set_bias(Node& node, const Weighted& form, const ChannelAffine& affine,
                const std::vector<double>& bias) {
    if (node.input(2) == nullptr && !affine.shifts()) return;
    std::vector<double> values = bias;
    for (size_t c = 0; c < values.size(); ++c) {
      values[c] = (values[c] * affine.scale[c] + affine.shift[c]) / form.addend;
    }
    const DataType type = node.outputs[0]->type;
    Value*& made = biases_[{node.graph, static_cast<int>(type), values}];
    if (made == nullptr) {
      made = add_reals(*node.graph, node.name + "_bias", type, {form.channels}, values);
    }
    if (const definitions::Epilogue* epilogue = epilogue_of(node);
        epilogue != nullptr && epilogue->bias == 2) {
      take_epilogue(node, *epilogue);
    }
    node.set_input(2, made);
  }

  size_t bytes_left_ = 0;
  std::map<Key, Value*> known_;
  std::map<std::tuple<const Graph*, int, std::vector<double>>, Value*> biases_;
};

/// Folds a scale and a shift of the input's channels into the weights and the bias of the only
/// reader, a convolution; a shift only where there is no padding, which it would have to reach.
/// What computed them is left behind without a reader.
bool fold_into_reader(Node& conv) {
  if (!has_epilogue(conv, "Conv")) return false;
  const Value* from = conv.input(0);
  const Node* node = from->producer;
  const Value *weights = conv.input(1), *bias = conv.input(2);
  if (node == nullptr || only_reader(from) != &conv || node->outputs.size() > 1) return false;
  if (!weights->constant || weights->uses.size() > 1 || !weights->constant->is_real()) return false;
  if (bias != nullptr && (!bias->constant || bias->uses.size() > 1)) return false;
  const auto& attributes = conv.typed<ConvAttributes>();
  const Constant& w = *weights->constant;
  const int64_t filters = w.extents[0], depth = w.extents[1];
  const auto varies =
      std::ranges::find_if(node->inputs, [](const Value* v) { return !v->constant; });
  if (w.count() == 0 || varies == node->inputs.end()) return false;
  Value* x = *varies;
  const std::optional<ChannelAffine> affine = affine_of(*node, x, 1, attributes.group * depth);
  if (!affine || !same_extents(*x, *from)) return false;
  const bool pads = attributes.window.same() || std::ranges::any_of(attributes.window.pads.view(),
                                                                    [](auto n) { return n != 0; });
  if (affine->shifts() && pads) return false;

  std::vector<double> scaled = w.reals();
  std::vector<double> sums =
      bias != nullptr ? bias->constant->reals() : std::vector<double>(static_cast<size_t>(filters));
  const int64_t taps = w.count() / filters / depth;
  for (int64_t f = 0, at = 0; f < filters; ++f) {
    const int64_t first = f / (filters / attributes.group) * depth;
    for (int64_t i = 0; i < depth * taps; ++i, ++at) {
      const auto channel = static_cast<size_t>(first + i / taps);
      sums[static_cast<size_t>(f)] += scaled[static_cast<size_t>(at)] * affine->shift[channel];
      scaled[static_cast<size_t>(at)] *= affine->scale[channel];
    }
  }
  Graph& graph = *conv.graph;
  conv.set_input(0, x);
  conv.set_input(1, add_reals(graph, weights->name, w.type, w.extents, scaled));
  if (!affine->shifts()) return true;
  conv.set_input(2, add_reals(graph, conv.name + "_bias", w.type, {filters}, sums));
  return true;
}

}  // namespace

void fold_affine(Graph& graph) {
  AffineFolding folding(graph);
  apply_rule(graph, [&](Node& node) { return folding.apply(node) || merge_branches(node); });
  for (bool folds = true; folds; remove_dead_nodes(graph)) {
    folds = false;
    apply_rule(graph, [&](Node& node) { return fold_into_reader(node) && (folds = true); });
  }
}

}  // namespace intarsia::converter
