// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/integers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "converter/graph/random_streams.h"
#include "converter/passes/axis_change.h"
#include "converter/passes/code_formulas.h"
#include "converter/passes/quantization.h"
#include "core/operators/common/activation_spec.h"
#include "core/operators/linear_algebra/matmul.h"
#include "core/operators/nn/conv.h"
#include "core/operators/quantization/quantize.h"

namespace intarsia::converter {
namespace {

using definitions::AttributeMap;
using definitions::kInternalDomain;

/// Products of more terms might leave 32 bits.
constexpr int64_t kMostTerms = (int64_t{1} << 31) / (255 * 255);

/// True if a type variable of the operator may be that type.
bool permits(const definitions::OperatorDefinition& op, std::string_view variable, DataType type) {
  return std::any_of(op.types.begin(), op.types.end(), [&](const definitions::TypeConstraint& c) {
    return c.variable == variable && definitions::contains(c.allowed, type);
  });
}

class Integers {
 public:
  Integers(Graph& graph, Inference& inference) : graph_(graph), inference_(inference) {}

  void run() {
    for (Node* node : graph_.node_list()) {
      for (const SubGraph& sub : node->graphs) use_integers(*sub.graph, inference_);
      if (node->op == nullptr || node->output(0) == nullptr || node->output(0)->known) continue;
      if (!node->graphs.empty()) continue;
      undo(*node);
      choose_codes(*node);
      multiply(*node);
      combine(*node);
      map(*node);
    }
  }

 private:
  // -- Graph
  // ---------------------------------------------------------------------------------------

  Value* constant(const std::string& name, Constant elements) {
    Value* value = graph_.add_constant(graph_.unique_name(name), std::move(elements));
    value->type = value->constant->type;
    return value;
  }

  Node* add(std::string_view domain, std::string_view type, const Node& like,
            std::vector<Value*> inputs, AttributeMap attributes, Node* before) {
    while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
    Node* node = graph_.add_node(domain, type, graph_.unique_name(like.name + "_integers"), inputs,
                                 static_cast<int>(like.outputs.size()), before);
    node->attributes = std::move(attributes);
    const std::string error =
        node->resolve_as(*definitions::OperatorRegistry::builtin().find(domain, type));
    if (!error.empty()) throw Error(node->problem(error));
    inference_.infer_and_execute(*node);
    return node;
  }

  static void replace(Value* old, Value* by) {
    if (by->producer != nullptr) by->name = old->name;
    Graph::replace_uses(old, by);
  }

  // -- Rules
  // ---------------------------------------------------------------------------------------

  /// QuantizeLinear(DequantizeLinear(codes)) of the same parameters: the codes.
  void undo(Node& node) {
    const auto to = quantizes(&node);
    if (!to) return;
    const auto from = dequantized_bytes(node.inputs[0]);
    if (!from || !from->by.same(*to)) return;
    // An output of a graph keeps a name of its own.
    Graph::replace_uses_if(node.outputs[0], from->codes,
                           [](const Use& use) { return use.node != nullptr; });
  }

  /// An operator that chooses among elements chooses among codes; among those of several
  /// quantisations, if they become codes of one.
  void choose_codes(Node& node) {
    if (!node.op->facts.selects || node.outputs.size() != 1) return;
    std::vector<Value*> inputs = node.inputs;
    std::optional<Dequantized> first;
    Node* last = only_reader(node.outputs[0]);
    const auto to = quantizes(last);
    bool same = true, mapped = to && to->is_single();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const definitions::Parameter* parameter = definitions::formal(node.op->inputs, i);
      if (inputs[i] == nullptr || parameter->type != node.op->outputs[0].type) continue;
      const auto here = dequantized_bytes(inputs[i]);
      if (!here || !here->by.is_single()) return;
      if (!first) first = here;
      same = same && first->by.same(here->by);
      mapped = mapped && here->by.type == to->type;
      inputs[i] = here->codes;
    }
    if (!first || !(same || mapped)) return;
    if (!permits(*node.op, node.op->outputs[0].type, first->by.type)) return;
    if (!same) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i] == node.inputs[i]) continue;
        const auto from = dequantized_bytes(node.inputs[i]);
        if (!from->by.same(*to)) inputs[i] = map_codes(*from, *last, nullptr);
      }
      const Node* codes = add(node.domain, node.type, node, inputs, node.attributes, last);
      return replace(last->outputs[0], codes->outputs[0]);
    }
    const Node* codes = add(node.domain, node.type, node, inputs, node.attributes, &node);
    Value* scale =
        constant(node.name + "_scale", Constant::scalar_of(DataType::kFloat, first->by.scales[0]));
    const Node* numbers =
        add("", "DequantizeLinear", node, {codes->outputs[0], scale, first->by.zero}, {}, &node);
    replace(node.outputs[0], numbers->outputs[0]);
  }

  /// A sum or a product of two tensors of codes that becomes such codes: by a short formula, if it
  /// gives the same for all of them.
  void combine(Node& node) {
    const bool add_them = node.fuses_as("Add");
    if (!add_them && !node.fuses_as("Mul")) return;
    const auto a = dequantized_bytes(node.inputs[0]), b = dequantized_bytes(node.inputs[1]);
    if (!a || !b || !a->by.is_single() || !b->by.is_single()) return;
    const auto end = end_of(node);
    if (!end || a->by.type != end->by.type || b->by.type != end->by.type) return;
    const auto combined = [&](std::string_view type, std::span<const float> numbers) {
      std::vector<Value*> inputs{a->codes, b->codes};
      for (const float number : numbers) {
        inputs.push_back(
            constant(node.name + "_number", Constant::scalar_of(DataType::kFloat, number)));
      }
      finish(*end, add(kInternalDomain, type, *end->quantize, inputs, {}, end->quantize));
    };
    const auto zero = [](const Quantization& by) { return static_cast<float>(by.zeros()[0]); };
    const auto scale = [](const Quantization& by) { return static_cast<float>(by.scales[0]); };
    const DequantizedNumbers by{zero(a->by),  scale(a->by),   zero(b->by),
                                scale(b->by), scale(end->by), zero(end->by)};
    const auto sum = add_them ? as_sum_of_codes(end->by.type, by) : std::nullopt;
    const auto product = add_them ? std::nullopt : as_product_of_codes(end->by.type, by);
    if (sum) return combined("AddCodes", *sum);
    if (product) return combined("MultiplyCodes", *product);
    const float all[] = {by.a_zero, by.a_scale, by.b_zero, by.b_scale, by.scale, by.zero};
    combined(add_them ? "AddDequantized" : "MultiplyDequantized", all);
  }

  Value* scale_of(const Node& node, const Quantization& by) {
    return constant(node.name + "_scale", Constant::scalar_of(DataType::kFloat, by.scales[0]));
  }

  /// A function of single elements between codes: a table of what all codes become.
  void map(Node& node) {
    if (!node.op->facts.element_wise || node.outputs.size() != 1 || node.inputs.size() != 1) return;
    if (node.op->impure || draws(node)) return;
    const auto x = dequantized_bytes(node.inputs[0]);
    if (!x || !x->by.is_single()) return;
    Node* next = only_reader(node.outputs[0]);
    const auto by = quantizes(next);
    if (!by || !by->is_single() || by->type != x->by.type) return;
    replace(next->outputs[0], map_codes(*x, *next, &node));
  }

  /// What the QuantizeLinear `last` makes of x, or of `function` of x: by a table of all codes,
  /// which the nodes themselves compute.
  Value* map_codes(const Dequantized& x, Node& last, const Node* function) {
    std::vector<std::byte> all(256);
    for (size_t code = 0; code < all.size(); ++code) all[code] = static_cast<std::byte>(code);
    const auto step = [&](std::string_view type, std::vector<Value*> inputs, AttributeMap with) {
      return add("", type, last, std::move(inputs), std::move(with), &last)->outputs[0];
    };
    Value* codes = constant(last.name + "_codes", Constant::own(x.by.type, {256}, std::move(all)));
    Value* values = step("DequantizeLinear", {codes, scale_of(last, x.by), x.by.zero}, {});
    if (function != nullptr) {
      const Node& f = *function;
      values = add(f.domain, f.type, f, {values}, f.attributes, &last)->outputs[0];
    }
    Value* table = step("QuantizeLinear", {values, last.inputs[1], last.input(2)}, last.attributes);
    return add(kInternalDomain, "MapCodes", last, {x.codes, table}, {}, &last)->outputs[0];
  }

  /// A product of two dequantised tensors.
  struct Product {
    Dequantized a, b;
    int64_t axis;        ///< Of the result, along which `factors` and `bias` belong.
    int64_t columns;     ///< Positions of that axis; -1: not known.
    int64_t scale_axis;  ///< Of b, along which its scales may differ.
    Value* bias = nullptr;
    bool turned = false;  ///< b is transposed first.
    int64_t block = 1;    ///< Of a transposed convolution: each pixel becomes block x block.
  };

  /// The block of a transposed convolution of images whose windows meet only at their edges;
  /// else 1.
  static int64_t block_of(const Node& node) {
    if (!node.fuses_as("ConvTranspose") || rank_of(*node.inputs[0]) != 4) return 1;
    const auto& a = node.typed<ConvTransposeAttributes>();
    const Constant* w = constant_of(dequantized_bytes(node.inputs[1])->codes);
    if (w == nullptr || a.group != 1 || a.window.same() || a.output_shape.count > 0) return 1;
    const int64_t block = w->extents[2];
    for (int axis = 0; axis < 2; ++axis) {
      const bool whole = a.window.explicit_pad(axis) + a.window.explicit_pad(2 + axis) == 0 &&
                         a.window.dilation(axis) == 1 &&
                         (a.output_padding.count == 0 || a.output_padding[axis] == 0);
      if (!whole || w->extents[size_t(2 + axis)] != block || a.window.stride(axis) != block) {
        return 1;
      }
    }
    return block;
  }

  static std::optional<Product> product_of(const Node& node) {
    const bool conv = node.fuses_as("Conv"), gemm = node.fuses_as("Gemm");
    const bool transposed = node.fuses_as("ConvTranspose");
    if (!conv && !gemm && !transposed && !node.fuses_as("MatMul")) return std::nullopt;
    const auto a = dequantized_bytes(node.inputs[0]), b = dequantized_bytes(node.inputs[1]);
    if (!a || !b || !a->by.is_single()) return std::nullopt;
    Product p{*a, *b, -1, -1, -1};
    const int rank = rank_of(*p.b.codes);
    int64_t terms_axis = rank - 2;
    if (conv) {
      p.axis = 1;
      p.scale_axis = 0;
    } else if (transposed) {
      p.block = block_of(node);
      if (p.block == 1) return std::nullopt;
      p.axis = p.scale_axis = 1;
      terms_axis = 0;
    } else if (gemm) {
      const auto& g = node.typed<GemmAttributes>();
      if (g.alpha != 1 || g.beta != 1 || g.trans_a != 0) return std::nullopt;
      p.turned = g.trans_b != 0;
      p.scale_axis = p.turned ? 0 : 1;
      terms_axis = p.turned ? 1 : 0;
    } else {
      if (rank < 2 || rank_of(*p.a.codes) < 2) return std::nullopt;
      p.scale_axis = rank - 1;
    }
    const auto extent = [&](int64_t axis) {
      const auto& shape = *node.inputs[1]->shape;
      return is_constant(shape[static_cast<int>(axis)])
                 ? constant_value(shape[static_cast<int>(axis)])
                 : int64_t{-1};
    };
    if (rank < 2 || !node.inputs[1]->shape) return std::nullopt;
    p.columns = extent(p.scale_axis);
    int64_t terms = conv ? 1 : extent(terms_axis);
    for (int axis = 1; conv && axis < rank; ++axis) terms *= extent(axis);
    if (terms < 0 || terms > kMostTerms || p.columns < 0) return std::nullopt;
    if (!p.b.by.is_single()) {
      const int64_t axis = p.b.by.axis < 0 ? p.b.by.axis + rank : p.b.by.axis;
      if (axis != p.scale_axis) return std::nullopt;
    }
    p.bias = conv || gemm || transposed ? node.input(2) : nullptr;
    return p;
  }

  /// Filters for each pixel of a block, in the place of those of a transposed convolution.
  void use_filters_of_pixels(const Node& node, Product& p, std::vector<int32_t>& bias) {
    const auto times = static_cast<size_t>(p.block * p.block);
    const auto repeated = [times](auto list) {
      const size_t count = list.size();
      list.resize(count * times);
      for (size_t i = count; i < list.size(); ++i) list[i] = list[i - count];
      return list;
    };
    const Constant& w = *constant_of(p.b.codes);
    const int64_t channels = w.extents[0], filters = w.extents[1];
    // C, O, y, x to y, x, O, C.
    Constant all = reordered(w, {2, 3, 1, 0}, 4);
    all.extents = {p.block * p.block * filters, channels, 1, 1};
    p.b.codes = constant(node.name + "_filters", std::move(all));
    if (p.b.by.zero != nullptr && constant_of(p.b.by.zero)->count() > 1) {
      const Constant& zeros = *constant_of(p.b.by.zero);
      std::vector<std::byte> bytes(zeros.bytes().begin(), zeros.bytes().end());
      const int64_t count = zeros.count() * p.block * p.block;
      p.b.by.zero =
          constant(node.name + "_zeros", Constant::own(zeros.type, {count}, repeated(bytes)));
    }
    if (!p.b.by.is_single()) p.b.by.scales = repeated(p.b.by.scales);
    bias = repeated(bias);
    p.columns *= p.block * p.block;
  }

  /// The bias in units of what the sums are in; nothing if it is none of these integers.
  static std::optional<std::vector<int32_t>> integer_bias(const Product& p) {
    const Constant* bias = constant_of(p.bias);
    if (bias == nullptr || !bias->is_real() || (bias->count() != p.columns && bias->count() != 1)) {
      return std::nullopt;
    }
    const std::vector<double> numbers = bias->reals();
    std::vector<int32_t> integers;
    for (int64_t c = 0; c < p.columns; ++c) {
      const double unit = p.a.by.scales[0] * p.b.by.scales[p.b.by.is_single() ? 0 : size_t(c)];
      const double steps = numbers[bias->count() == 1 ? 0 : size_t(c)] / unit;
      // As far from whole as the roundings of scales and bias to floats can make it.
      const double slack = 1e-3 + 4 * std::fabs(steps) * std::numeric_limits<float>::epsilon();
      const double whole = std::nearbyint(steps);
      if (!(std::fabs(whole) < 0x1p30) || std::fabs(steps - whole) > slack) return std::nullopt;
      integers.push_back(static_cast<int32_t>(whole));
    }
    return integers;
  }

  /// What stands between a product and its QuantizeLinear.
  struct End {
    Node* quantize;
    Quantization by;
    double low, high;  ///< Bounds of a clamp.
  };
  static std::optional<End> end_of(const Node& product) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    Node* next = only_reader(product.outputs[0]);
    if (next == nullptr || next->op == nullptr) return std::nullopt;
    End end{next, {}, -kFar, kFar};
    if (next->op->facts.activation != nullptr && next->input(0) == product.outputs[0]) {
      const auto spec =
          next->op->facts.activation(next->attribute_bytes.data(), symbolic_inputs(*next));
      if (!spec || (spec->kind != Activation::kRelu && spec->kind != Activation::kClip)) {
        return std::nullopt;
      }
      const bool relu = spec->kind == Activation::kRelu;
      end.low = relu ? 0 : double{spec->alpha};
      end.high = relu ? kFar : double{spec->beta};
      end.quantize = next = only_reader(next->outputs[0]);
    }
    const auto by = quantizes(next);
    if (!by || !by->is_single() || next == nullptr) return std::nullopt;
    end.by = *by;
    return end;
  }

  void multiply(Node& node) {
    std::optional<Product> product = product_of(node);
    const auto end = end_of(node);
    if (!product || (product->block > 1 && !end)) return;
    std::vector<int32_t> bias;
    if (product->bias != nullptr) {
      const auto integers = integer_bias(*product);
      if (!integers) return;
      bias = *integers;
    }
    const bool conv = node.fuses_as("Conv") || product->block > 1;
    if (product->block > 1) use_filters_of_pixels(node, *product, bias);
    Value* b = product->b.codes;
    if (product->turned) {
      const std::vector<int64_t> order{1, 0};
      const Constant* elements = constant_of(b);
      b = elements != nullptr
              ? constant(b->name + "_turned", reordered(*elements, order, 2))
              : add("", "Transpose", node, {b}, {{"perm", order}}, &node)->outputs[0];
    }
    if (end && conv) {
      const Codes codes = codes_of(*product, *end, bias);
      Node* y = add(kInternalDomain, "ConvRequantize", *end->quantize,
                    {product->a.codes, b, codes.scale, codes.zero, product->a.by.zero,
                     product->b.by.zero, codes.bias},
                    product->block > 1 ? AttributeMap{} : node.attributes, end->quantize);
      if (product->block > 1) {
        y = add("", "DepthToSpace", *end->quantize, {y->outputs[0]},
                {{"blocksize", product->block}}, end->quantize);
      }
      finish(*end, y);
      return;
    }
    const Node* sums = add("", conv ? "ConvInteger" : "MatMulInteger", node,
                           {product->a.codes, b, product->a.by.zero, product->b.by.zero},
                           conv ? node.attributes : AttributeMap{}, &node);
    if (end) {
      const Codes codes = codes_of(*product, *end, bias);
      finish(*end, add(kInternalDomain, "Requantize", *end->quantize,
                       {sums->outputs[0], codes.scale, codes.zero, codes.bias}, along(*product),
                       end->quantize));
    } else {
      dequantize(node, *product, bias, sums->outputs[0]);
    }
  }

  /// Scales of the sums, over `unit`, in float as the operators that stand there multiply them.
  Value* factors(const Node& node, const Product& p, double unit) {
    std::vector<float> values;
    for (double scale : p.b.by.scales) {
      values.push_back(static_cast<float>(p.a.by.scales[0]) * static_cast<float>(scale) /
                       static_cast<float>(unit));
    }
    std::vector<int64_t> extents;
    if (!p.b.by.is_single()) extents.push_back(static_cast<int64_t>(values.size()));
    return constant(node.name + "_factor",
                    Constant::of<float>(std::move(extents), std::span<const float>(values)));
  }

  static AttributeMap along(const Product& p) { return {{"axis", p.axis}}; }

  /// What makes codes of sums.
  struct Codes {
    Value *scale, *zero, *bias;  ///< No bias: null.
  };
  Codes codes_of(const Product& p, const End& end, const std::vector<int32_t>& bias) {
    const Node& last = *end.quantize;
    Value* zero = end.by.zero;
    if (zero == nullptr) zero = constant(last.name + "_zero", Constant::scalar_of(end.by.type, 0));
    Value* shift = nullptr;
    if (!bias.empty()) {
      shift = constant(last.name + "_bias", Constant::of<int32_t>({p.columns}, std::span(bias)));
    }
    return {factors(last, p, end.by.scales[0]), zero, shift};
  }

  /// `codes` in place of what the QuantizeLinear gives.
  void finish(const End& end, Node* codes) {
    Node& last = *end.quantize;
    const bool is_signed = end.by.type == DataType::kInt8;
    const int64_t lowest = is_signed ? -128 : 0, highest = is_signed ? 127 : 255;
    const auto bound = [&](double number) {
      const double code =
          std::nearbyint(static_cast<float>(number) / static_cast<float>(end.by.scales[0])) +
          static_cast<double>(end.by.zeros()[0]);
      return static_cast<int64_t>(
          std::clamp(code, static_cast<double>(lowest), static_cast<double>(highest)));
    };
    const int64_t low = bound(end.low), high = bound(end.high);
    if (low > lowest || high < highest) {
      const auto limit = [&](const char* name, int64_t code) {
        return constant(last.name + name,
                        Constant::scalar_of(end.by.type, static_cast<double>(code)));
      };
      codes = add("", "Clip", last, {codes->outputs[0], limit("_low", low), limit("_high", high)},
                  {}, &last);
    }
    replace(last.outputs[0], codes->outputs[0]);
  }

  void dequantize(Node& node, const Product& p, const std::vector<int32_t>& bias, Value* sums) {
    if (!bias.empty()) {
      std::vector<int64_t> extents{p.columns};
      if (node.fuses_as("Conv")) extents.resize(static_cast<size_t>(rank_of(*p.b.codes)) - 1, 1);
      Value* shift = constant(node.name + "_bias", Constant::of<int32_t>(extents, std::span(bias)));
      sums = add("", "Add", node, {sums, shift}, {}, &node)->outputs[0];
    }
    const Node* numbers =
        add("", "DequantizeLinear", node, {sums, factors(node, p, 1)}, along(p), &node);
    replace(node.outputs[0], numbers->outputs[0]);
  }

  Graph& graph_;
  Inference& inference_;
};

}  // namespace

void use_integers(Graph& graph, Inference& inference) {
  Integers(graph, inference).run();
}

}  // namespace intarsia::converter
