// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/products.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "converter/passes/rewrite.h"
#include "core/operators/movement/transpose.h"

namespace intarsia::converter {
namespace {

constexpr definitions::TypeSet kReals = definitions::types(
    {DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBfloat16});

/// x where `node` is x times a number, or x divided by it, and `factor` times that is still one
/// that an attribute holds; multiplies `factor`.
Value* scaled_by(const Node& node, double& factor) {
  const bool mul = node.fuses_as("Mul"), div = node.fuses_as("Div");
  if ((!mul && !div) || node.inputs.size() != 2) return nullptr;
  for (size_t i = div ? 1 : 0; i < 2; ++i) {
    const Value *number = node.inputs[i], *x = node.inputs[1 - i];
    if (!number->constant || number->constant->count() != 1 || !number->constant->is_real()) {
      continue;
    }
    const double value = number->constant->real(0);
    // Others would bring what overflows, or what nothing is left of, to other places.
    constexpr double kMost = 0x1p20;
    if (x->constant || !(std::fabs(value) <= kMost) || !(std::fabs(value) >= 1 / kMost)) continue;
    if (!same_extents(*x, *node.outputs[0])) continue;
    const double product = factor * (mul ? value : 1 / value);
    if (!definitions::float_attribute(product, x->type)) continue;
    factor = product;
    return node.inputs[1 - i];
  }
  return nullptr;
}

/// An operand of a product, and what is done to it that the product can do.
struct Operand {
  Value* x;
  bool transposed = false;
  std::vector<int64_t> order;  // of a Transpose that is left to do; empty if none is

  int rank() const { return x->shape ? x->shape->rank : 0; }
};

/// The axes as a Transpose puts them; empty if the node is none.
std::vector<int64_t> order_of(const Node& node, int rank) {
  std::vector<int64_t> order;
  if (!node.fuses_as("Transpose")) return order;
  const auto& perm = node.typed<TransposeAttributes>().perm;
  for (int i = 0; i < rank; ++i) order.push_back(perm.count != 0 ? perm[i] : rank - 1 - i);
  return order;
}

/// Follows an operand upwards, as long as the product is the only one that needs what it passes.
Operand trace(Value* operand, double& factor) {
  Operand found{operand, false, {}};
  for (const Node* node = operand->producer; node != nullptr; node = found.x->producer) {
    if (only_reader(found.x) == nullptr || node->outputs.size() != 1 || !found.x->shape) break;
    double scaled = factor;
    // What makes numbers larger may be there so that none of both operands becomes too large.
    if (Value* x = scaled_by(*node, scaled);
        x != nullptr && std::fabs(scaled) <= std::fabs(factor)) {
      factor = scaled;
      found.x = x;
      continue;
    }
    const int rank = found.rank();
    std::vector<int64_t> order = order_of(*node, rank);
    if (order.empty() || rank < 2 || found.transposed || node->inputs[0]->constant) break;
    if (order.back() == rank - 1) break;  // whole rows are moved, as fast as the product would be
    std::swap(order.end()[-1], order.end()[-2]);
    if (order.back() != rank - 1) break;
    found.transposed = true;
    found.x = node->inputs[0];
    if (!std::is_sorted(order.begin(), order.end())) found.order = std::move(order);
  }
  return found;
}

/// The operand, behind what is left to do of its Transpose.
Value* arranged(const Operand& operand, Node& last, Inference& inference) {
  if (operand.order.empty()) return operand.x;
  return insert_before(last, "", "Transpose", {{operand.x}}, {{"perm", operand.order}}, inference)
      .outputs[0];
}

}  // namespace

bool fold_into_product(Node& last, Inference& inference) {
  double alpha = 1;
  const Node* product = &last;
  if (Value* x = scaled_by(last, alpha)) {
    product = only_reader(x) == &last ? x->producer : nullptr;
  } else if (const Node* reader = only_reader(last.outputs[0])) {
    double unused = 1;
    if (scaled_by(*reader, unused) != nullptr) return false;  // it comes later
  }
  if (product == nullptr || !product->fuses_as("MatMul") || product->inputs.size() != 2 ||
      !definitions::contains(kReals, last.outputs[0]->type)) {
    return false;
  }
  if (product->inputs[0]->constant || product->inputs[1]->constant) return false;
  const Operand a = trace(product->inputs[0], alpha), b = trace(product->inputs[1], alpha);
  if (a.rank() < 2 || b.rank() < 2) return false;
  if (!a.transposed && !b.transposed && alpha == 1) return false;
  const bool matrices = a.rank() == 2 && b.rank() == 2;
  Value* const inputs[] = {arranged(a, last, inference), arranged(b, last, inference)};
  replace_by(last, matrices ? "" : definitions::kInternalDomain, matrices ? "Gemm" : "ScaledMatMul",
             inputs,
             {{"alpha", static_cast<float>(alpha)},
              {"transA", int64_t{a.transposed}},
              {"transB", int64_t{b.transposed}}},
             inference);
  return true;
}

}  // namespace intarsia::converter
