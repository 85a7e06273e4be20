// SPDX-License-Identifier: Apache-2.0
#include "test/converter/gradient_cases.h"

#include <map>
#include <utility>

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;
using definitions::AttributeField;
using definitions::Domain;
using definitions::OperatorDefinition;
using definitions::Parameter;
using Extents = std::vector<int64_t>;

// -- Element by element
// -------------------------------------------------------------------------------

std::string variable_of(GradientSample& s, const Parameter& operand, const Extents& extents) {
  switch (operand.values.domain) {
    case Domain::kPositive:
    case Domain::kNonNegative:
      return s.variable(extents, 0.5, 2);
    case Domain::kNonZero:
      return s.variable(extents, 0.5, 2, true);
    case Domain::kUnit:
      return s.variable(extents, -0.9, 0.9);
    case Domain::kAtLeastOne:
      return s.variable(extents, 1.2, 3);
    case Domain::kSmall:
      return s.variable(extents, -1.5, 1.5);
    default:
      return s.variable(extents, -4, 4);
  }
}

void set_attributes(GradientSample& s, onnx::NodeProto& node) {
  for (const AttributeField& field : s.definition.attributes.list()) {
    if (field.kind == AttributeField::kReal) {
      OnnxBuilder::set(node, field.name, static_cast<float>(s.random.between(3, 9)) / 10);
    } else if (!field.choices.empty()) {
      OnnxBuilder::set(node, field.name, s.choices.pick(field.choices).c_str());
    }
  }
}

void element_wise(GradientSample& s) {
  const Extents whole = s.extents(s.rank(3));
  Names inputs;
  for (const Parameter& operand : s.definition.inputs) {
    if (operand.kind == Parameter::kOptional) continue;
    const bool variadic = operand.kind == Parameter::kVariadic;
    const int64_t count = variadic ? s.random.between(1, 3) : 1;
    for (int64_t i = 0; i < count; ++i) {
      const bool broadcast = operand.axes == definitions::AxisRole::kBroadcast;
      inputs.push_back(variable_of(s, operand, broadcast ? s.part_of(whole) : whole));
    }
  }
  set_attributes(s, s.node(inputs));
}

void away_from_poles(GradientSample& s) {
  s.node({s.variable(s.extents(2), -1, 1)});
}

void cast(GradientSample& s) {
  // Other types have too few digits for differences.
  const std::string x = s.variable(s.extents(2));
  OnnxBuilder::set(s.node({x}), "to", static_cast<int64_t>(DataType::kDouble));
}

void select(GradientSample& s) {
  const Extents whole = s.extents(3);
  s.node({s.flags(s.part_of(whole)), s.variable(s.part_of(whole)), s.variable(s.part_of(whole))});
}

void clip(GradientSample& s) {
  const Extents whole = s.extents(2);
  const std::string low = s.choices.chance(30) ? "" : s.variable({}, -1, 0.5);
  const std::string high = s.choices.chance(30) ? "" : s.variable({}, -0.2, 1);
  s.node({s.variable(whole), low, high});
}

/// In training and outside of it, with a ratio of another type and without one.
void dropout(GradientSample& s) {
  const bool given = s.choices.chance(60);
  if (given) s.model.floats("ratio", {}, {0.125f * static_cast<float>(s.random.between(0, 7))});
  s.node({s.variable(s.extents(3)), given ? "ratio" : "", s.flags({})},
         s.choices.chance(50) ? 2 : 1);
  s.results = {"y0"};  // the mask has no gradient
}

// -- Movement
// -------------------------------------------------------------------------------

void reshape(GradientSample& s) {
  const Extents whole = s.extents(3);
  s.node({s.variable(whole), s.integers({whole[2], -1})});
}

void squeeze(GradientSample& s) {
  s.node({s.variable({1, 3, 1, 2}), s.integers({s.choices.pick({0, 2, -2, -4})})});
}

void unsqueeze(GradientSample& s) {
  s.node({s.variable(s.extents(2)), s.integers({-1, 1})});
}

void flatten(GradientSample& s) {
  OnnxBuilder::set(s.node({s.variable(s.extents(3))}), "axis", s.random.between(-3, 3));
}

void expand(GradientSample& s) {
  const Extents whole = s.extents(3);
  s.node({s.variable(s.part_of(whole)), s.integers(whole)});
}

void tile(GradientSample& s) {
  s.node({s.variable(s.extents(3)), s.integers(s.extents(3, 3))});
}

void transpose(GradientSample& s) {
  Extents perm{0, 1, 2};
  s.random.shuffle(perm);
  auto& node = s.node({s.variable(s.extents(3))});
  if (s.choices.chance(70)) OnnxBuilder::set(node, "perm", perm);
}

void blocks(GradientSample& s) {
  const bool out = s.definition.name == "DepthToSpace";
  const Extents extents = out ? Extents{1, 8, 2, 3} : Extents{2, 1, 4, 2};
  auto& node = s.node({s.variable(extents)});
  OnnxBuilder::set(node, "blocksize", int64_t{2});
}

void join(GradientSample& s) {
  const Extents whole = s.extents(3);
  const int64_t axis = s.random.below(3);
  Names inputs;
  for (int64_t i = s.random.between(1, 3); i > 0; --i) {
    Extents part = whole;
    part[static_cast<size_t>(axis)] = s.random.between(1, 3);
    inputs.push_back(s.variable(part));
  }
  OnnxBuilder::set(s.node(inputs), "axis", s.choices.chance(50) ? axis : axis - 3);
}

void split(GradientSample& s) {
  auto& node = s.node({s.variable({2, 6, 2}), s.integers({1, 3, 2})}, 3);
  OnnxBuilder::set(node, "axis", s.choices.pick({int64_t{1}, int64_t{-2}}));
  // One that nobody wants.
  if (s.choices.chance(50)) {
    node.set_output(1, "");
    s.results.erase(s.results.begin() + 1);
  }
}

void slice(GradientSample& s) {
  const int64_t step = s.choices.pick({int64_t{1}, int64_t{2}, int64_t{-1}, int64_t{-2}});
  const int64_t start = step > 0 ? s.random.between(0, 2) : -1;
  const int64_t end = step > 0 ? 100 : -100;
  s.node({s.variable({2, 5, 3}), s.integers({start, 1}), s.integers({end, 3}), s.integers({1, -1}),
          s.integers({step, 1})});
}

void pad(GradientSample& s) {
  auto& node = s.node({s.variable({3, 4}), s.integers({1, -1, s.random.between(-1, 2), 2})});
  OnnxBuilder::set(node, "mode",
                   s.choices.pick<const char*>({"constant", "reflect", "edge", "wrap"}));
}

void triangle(GradientSample& s) {
  auto& node = s.node({s.variable({2, 3, 4}), s.indices({}, {s.random.between(-1, 1)})});
  OnnxBuilder::set(node, "upper", s.choices.flag());
}

void cumulate(GradientSample& s) {
  auto& node = s.node({s.variable(s.extents(2)), s.indices({}, {s.random.between(-2, 1)})});
  OnnxBuilder::set(node, "exclusive", s.choices.flag());
  OnnxBuilder::set(node, "reverse", s.choices.flag());
}

void cumulate_products(GradientSample& s) {
  cumulate(s);
  // Nothing is divided by.
  s.variables[0].low = 0;
}

void one_hot(GradientSample& s) {
  const Extents at = s.extents(2);
  auto& node = s.node({s.indices(at, s.below(at, 3)), s.indices({}, {3}), s.variable({2})});
  OnnxBuilder::set(node, "axis", s.random.between(-3, 2));
}

void top(GradientSample& s) {
  auto& node = s.node({s.variable({2, 4, 3}), s.integers({s.random.between(1, 3)})}, 2);
  s.results = {"y0"};
  OnnxBuilder::set(node, "axis", s.choices.pick({int64_t{1}, int64_t{-1}}));
  OnnxBuilder::set(node, "largest", s.choices.flag());
}

void compress(GradientSample& s) {
  const bool flattened = s.choices.chance(40);
  auto& node = s.node({s.variable({2, 3, 2}), s.flags({flattened ? 7 : 3})});
  if (!flattened) OnnxBuilder::set(node, "axis", s.choices.pick({int64_t{1}, int64_t{-2}}));
}

void reverse_sequence(GradientSample& s) {
  const int64_t time = s.choices.flag();
  auto& node = s.node({s.variable({3, 3, 2}), s.integers({1, 3, s.random.between(0, 3)})});
  OnnxBuilder::set(node, "time_axis", time);
  OnnxBuilder::set(node, "batch_axis", 1 - time);
}

void gather(GradientSample& s) {
  const Extents data = s.extents(3), at = s.extents(static_cast<int>(s.random.between(0, 2)));
  const int64_t axis = s.random.below(3);
  const Extents drawn = s.below(at, data[static_cast<size_t>(axis)]);
  OnnxBuilder::set(s.node({s.variable(data), s.indices(at, drawn)}), "axis",
                   s.choices.chance(50) ? axis : axis - 3);
}

void gather_elements(GradientSample& s) {
  const Extents at{2, 5};
  OnnxBuilder::set(s.node({s.variable({2, 3}), s.indices(at, s.below(at, 3))}), "axis", int64_t{1});
}

void gather_tuples(GradientSample& s) {
  const Extents at{4, 2};
  s.node({s.variable({3, 3, 2}), s.indices(at, s.below(at, 3))});
}

/// One of the reductions, and indices below `limit`. Without a reduction no place may be written
/// twice: these indices are `distinct`.
std::pair<const char*, std::string> scattered(GradientSample& s, const Extents& extents,
                                              int64_t limit, const Extents& distinct) {
  const auto* reduction = s.choices.pick<const char*>({"none", "add", "mul", "max", "min"});
  const bool none = reduction == std::string_view("none");
  return {reduction, s.indices(extents, none ? distinct : s.below(extents, limit))};
}

void scatter(GradientSample& s) {
  const auto [reduction, at] = scattered(s, {2, 4}, 3, {0, -1, 2, 1, 3, -4, 1, 2});
  const bool first = s.choices.chance(50);
  const Extents data = first ? Extents{4, 4} : Extents{2, 4};
  auto& node = s.node({s.variable(data), at, s.variable({2, 4})});
  OnnxBuilder::set(node, "axis", first ? int64_t{0} : s.choices.pick({int64_t{1}, int64_t{-1}}));
  OnnxBuilder::set(node, "reduction", reduction);
}

void scatter_tuples(GradientSample& s) {
  const auto [reduction, at] = scattered(s, {4, 1}, 4, {2, 0, -1, 1});
  const std::string data = s.variable({4, 2});
  auto& node = s.node({data, at, s.variable({4, 2})});
  OnnxBuilder::set(node, "reduction", reduction);
}

// -- Of several elements
// -------------------------------------------------------------------------------

void reduce(GradientSample& s) {
  const Extents extents = s.extents(3);
  const bool positive = s.definition.inputs[0].values.domain == Domain::kPositive;
  Names inputs{s.variable(extents, positive ? 0.5 : -2)};
  if (s.choices.chance(75)) {
    inputs.push_back(s.integers(s.choices.pick<Extents>({{1}, {-1}, {0, 2}, {2, -2, 0}, {}})));
  }
  auto& node = s.node(inputs);
  OnnxBuilder::set(node, "keepdims", s.choices.flag());
  OnnxBuilder::set(node, "noop_with_empty_axes", s.choices.flag());
}

void along_axis(GradientSample& s) {
  const int rank = s.rank(3);
  auto& node = s.node({s.variable(s.extents(rank))});
  if (rank > 0) OnnxBuilder::set(node, "axis", s.random.between(-rank, rank - 1));
}

void global_pool(GradientSample& s) {
  s.node({s.variable(s.extents(static_cast<int>(s.random.between(3, 4))))});
}

void matmul(GradientSample& s) {
  const int64_t m = s.random.between(1, 3), k = s.random.between(1, 3), n = s.random.between(1, 3);
  const Extents batch = s.extents(static_cast<int>(s.random.between(0, 2)), 3);
  const auto operand = [&](int64_t rows, int64_t columns) {
    Extents extents = s.part_of(batch);
    extents.insert(extents.end(), {rows, columns});
    return extents;
  };
  const Extents a = s.choices.chance(25) ? Extents{k} : operand(m, k);
  const Extents b = s.choices.chance(25) ? Extents{k} : operand(k, n);
  const std::string left = s.variable(a);
  s.node({left, s.variable(b)});
}

void gemm(GradientSample& s) {
  const int64_t m = s.random.between(1, 3), k = s.random.between(1, 3), n = s.random.between(1, 3);
  const bool ta = s.choices.chance(50), tb = s.choices.chance(50);
  Names inputs{s.variable(ta ? Extents{k, m} : Extents{m, k})};
  inputs.push_back(s.variable(tb ? Extents{n, k} : Extents{k, n}));
  if (s.choices.chance(75)) inputs.push_back(s.variable(s.part_of({m, n})));
  auto& node = s.node(inputs);
  OnnxBuilder::set(node, "transA", int64_t{ta});
  OnnxBuilder::set(node, "transB", int64_t{tb});
  OnnxBuilder::set(node, "alpha", 0.7F);
  OnnxBuilder::set(node, "beta", 1.3F);
}

void matrices(GradientSample& s) {
  // Far from those without an inverse.
  const int64_t size = s.random.between(1, 3);
  const std::string x = s.variable({2, size, size}, -0.3, 0.3);
  std::vector<double> diagonal(static_cast<size_t>(size * size));
  for (int64_t i = 0; i < size; ++i) diagonal[static_cast<size_t>(i * (size + 1))] = 1.5;
  s.model.initializer("diagonal", DataType::kDouble, {size, size}, diagonal.data(),
                      diagonal.size() * sizeof(double));
  s.model.node("Add", {x, "diagonal"}, {"matrices"});
  s.node({"matrices"});
}

void modulo(GradientSample& s) {
  // Quotients between 1 and 2, of either sign: far from the jumps.
  const Extents whole = s.extents(2);
  const std::string left = s.variable(s.part_of(whole), 2.4, 2.8, true);
  auto& node = s.node({left, s.variable(s.part_of(whole), 1.5, 2, true)});
  OnnxBuilder::set(node, "fmod", s.choices.flag());
}

/// Of 0 and more axes, with values from 0 to 1.
void fractions(GradientSample& s) {
  s.node({s.variable(s.extents(2), 0.1, 0.9)});
}

const std::map<std::string_view, GradientCase>& cases() {
  static const std::map<std::string_view, GradientCase> kCases = {
      {"Bernoulli", fractions},
      {"Cast", cast},
      {"Clip", clip},
      {"Compress", compress},
      {"Concat", join},
      {"CumProd", cumulate_products},
      {"CumSum", cumulate},
      {"DepthToSpace", blocks},
      {"Det", matrices},
      {"Dropout", dropout},
      {"Expand", expand},
      {"EyeLike", fractions},
      {"Flatten", flatten},
      {"Gather", gather},
      {"GatherElements", gather_elements},
      {"GatherND", gather_tuples},
      {"Gemm", gemm},
      {"GlobalAveragePool", global_pool},
      {"GlobalMaxPool", global_pool},
      {"Hardmax", along_axis},
      {"Inverse", matrices},
      {"LogSoftmax", along_axis},
      {"MatMul", matmul},
      {"Mod", modulo},
      {"OneHot", one_hot},
      {"Pad", pad},
      {"RandomNormalLike", fractions},
      {"RandomUniformLike", fractions},
      {"Reshape", reshape},
      {"ReverseSequence", reverse_sequence},
      {"ScatterElements", scatter},
      {"ScatterND", scatter_tuples},
      {"Slice", slice},
      {"Softmax", along_axis},
      {"SpaceToDepth", blocks},
      {"Split", split},
      {"Squeeze", squeeze},
      {"Tan", away_from_poles},
      {"Tile", tile},
      {"TopK", top},
      {"Transpose", transpose},
      {"Trilu", triangle},
      {"Unsqueeze", unsqueeze},
      {"Where", select},
  };
  return kCases;
}

}  // namespace

GradientCase gradient_case(const OperatorDefinition& op) {
  const auto found = cases().find(op.name);
  if (found != cases().end()) return found->second;
  if (const GradientCase image = image_gradient_case(op.name)) return image;
  if (const GradientCase control = control_gradient_case(op.name)) return control;
  if (op.name.starts_with("Reduce")) return reduce;
  return op.facts.element_wise ? element_wise : nullptr;
}

std::vector<const OperatorDefinition*> differentiable() {
  std::vector<const OperatorDefinition*> list;
  for (const OperatorDefinition* op : definitions::OperatorRegistry::builtin().all()) {
    const bool models = op->domain != definitions::kInternalDomain;
    // Ways back through loops and branches are the converter's (gradient_body.h).
    using enum definitions::Control;
    const bool runs = !op->graphs.empty() && op->control != kMap && op->control != kInlined;
    if (models && (op->facts.gradient != nullptr || runs)) list.push_back(op);
  }
  return list;
}

}  // namespace intarsia::test
