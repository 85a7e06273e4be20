// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/integers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "converter/graph/random_streams.h"
#include "converter/passes/axis_change.h"
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

  /// An operator that chooses among elements chooses among codes.
  void choose_codes(Node& node) {
    if (!node.op->facts.selects || node.outputs.size() != 1) return;
    std::vector<Value*> inputs = node.inputs;
    std::optional<Dequantized> first;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const definitions::Parameter* parameter = definitions::formal(node.op->inputs, i);
      if (inputs[i] == nullptr || parameter->type != node.op->outputs[0].type) continue;
      const auto here = dequantized_bytes(inputs[i]);
      if (!here || (first && !first->by.same(here->by))) return;
      if (!first) first = here;
      inputs[i] = here->codes;
    }
    if (!first || !first->by.is_single()) return;
    if (!permits(*node.op, node.op->outputs[0].type, first->by.type)) return;
    const Node* codes = add(node.domain, node.type, node, inputs, node.attributes, &node);
    Value* scale =
        constant(node.name + "_scale", Constant::scalar_of(DataType::kFloat, first->by.scales[0]));
    const Node* numbers =
        add("", "DequantizeLinear", node, {codes->outputs[0], scale, first->by.zero}, {}, &node);
    replace(node.outputs[0], numbers->outputs[0]);
  }

  /// A single zero point as a number.
  Value* zero_number(const Node& node, const Quantization& by) {
    return constant(node.name + "_zero",
                    Constant::scalar_of(DataType::kFloat, static_cast<double>(by.zeros()[0])));
  }

  /// A sum or a product of two tensors of codes that becomes such codes.
  void combine(Node& node) {
    const bool add_them = node.fuses_as("Add");
    if (!add_them && !node.fuses_as("Mul")) return;
    const auto a = dequantized_bytes(node.inputs[0]), b = dequantized_bytes(node.inputs[1]);
    if (!a || !b || !a->by.is_single() || !b->by.is_single()) return;
    const auto end = end_of(node);
    if (!end || a->by.type != end->by.type || b->by.type != end->by.type) return;
    std::vector<Value*> inputs{a->codes, b->codes};
    for (const Quantization* by : {&a->by, &b->by}) {
      inputs.push_back(zero_number(node, *by));
      inputs.push_back(scale_of(node, *by));
    }
    inputs.push_back(scale_of(node, end->by));
    inputs.push_back(zero_number(node, end->by));
    finish(*end, add(kInternalDomain, add_them ? "AddDequantized" : "MultiplyDequantized",
                     *end->quantize, inputs, {}, end->quantize));
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
    Node& last = *next;
    std::vector<std::byte> all(256);
    for (size_t code = 0; code < all.size(); ++code) all[code] = static_cast<std::byte>(code);
    const auto step = [&](std::string_view type, std::vector<Value*> inputs, AttributeMap with) {
      return add("", type, last, std::move(inputs), std::move(with), &last)->outputs[0];
    };
    Value* codes = constant(node.name + "_codes", Constant::own(by->type, {256}, std::move(all)));
    Value* numbers = step("DequantizeLinear", {codes, scale_of(node, x->by), x->by.zero}, {});
    const Node* values = add(node.domain, node.type, node, {numbers}, node.attributes, &last);
    Value* table = step("QuantizeLinear", {values->outputs[0], last.inputs[1], last.input(2)},
                        last.attributes);
    replace(last.outputs[0],
            add(kInternalDomain, "MapCodes", last, {x->codes, table}, {}, &last)->outputs[0]);
  }

  /// A product of two dequantised tensors.
  struct Product {
    Dequantized a, b;
    int64_t axis;        ///< Of the result, along which `factors` and `bias` belong.
    int64_t columns;     ///< Positions of that axis; -1: not known.
    int64_t scale_axis;  ///< Of b, along which its scales may differ.
    Value* bias = nullptr;
    bool turned = false;  ///< b is transposed first.
  };

  static std::optional<Product> product_of(const Node& node) {
    const bool conv = node.fuses_as("Conv"), gemm = node.fuses_as("Gemm");
    if (!conv && !gemm && !node.fuses_as("MatMul")) return std::nullopt;
    const auto a = dequantized_bytes(node.inputs[0]), b = dequantized_bytes(node.inputs[1]);
    if (!a || !b || !a->by.is_single()) return std::nullopt;
    Product p{*a, *b, -1, -1, -1};
    const int rank = rank_of(*p.b.codes);
    int64_t terms_axis = rank - 2;
    if (conv) {
      p.axis = 1;
      p.scale_axis = 0;
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
    p.bias = conv || gemm ? node.input(2) : nullptr;
    return p;
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
    const std::optional<Product> product = product_of(node);
    if (!product) return;
    std::vector<int32_t> bias;
    if (product->bias != nullptr) {
      const auto integers = integer_bias(*product);
      if (!integers) return;
      bias = *integers;
    }
    Value* b = product->b.codes;
    if (product->turned) {
      const std::vector<int64_t> order{1, 0};
      const Constant* elements = constant_of(b);
      b = elements != nullptr
              ? constant(b->name + "_turned", reordered(*elements, order, 2))
              : add("", "Transpose", node, {b}, {{"perm", order}}, &node)->outputs[0];
    }
    const bool conv = node.fuses_as("Conv");
    const auto end = end_of(node);
    if (end && conv) {
      const Codes codes = codes_of(*product, *end, bias);
      finish(*end, add(kInternalDomain, "ConvRequantize", *end->quantize,
                       {product->a.codes, b, codes.scale, codes.zero, product->a.by.zero,
                        product->b.by.zero, codes.bias},
                       node.attributes, end->quantize));
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
