// SPDX-License-Identifier: Apache-2.0
//
// Nodes of hostile numbers for a kernel, from its row and its operator's definition alone: no
// kernel is named, so that later ones take part by existing.
//
//     NodeMaker maker(row, seed);
//     HostileNode node = maker.next();      // operands without data, any attributes
//     node.check(row);
//
// Extents are at their limits, or small and related to one another, so that some nodes are valid;
// attributes are the struct's words with such numbers in them. What the words of a struct are is
// found by printing it (`struct_words`).
#pragma once

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/definitions/kernel_descriptor.h"
#include "core/definitions/registry.h"

namespace intarsia::test {

using definitions::KernelDescriptor;
using definitions::OperatorDefinition;
using definitions::Parameter;

/// A field of an attributes struct: its place among the 32-bit words. A list has its count first.
struct FieldWords {
  size_t first = 0, count = 1;
  bool is_list = false;
};

/// The fields of the struct that a codec reads, by what changes in print when a word does.
inline std::vector<FieldWords> struct_words(const definitions::AttributeCodec& codec) {
  const size_t words = codec.bytes / 4;
  std::vector<FieldWords> fields;
  std::vector<uint64_t> zero((codec.bytes + 7) / 8);
  const auto print = [&](const std::vector<uint64_t>& blob) {
    return codec.print(std::as_bytes(std::span(blob)).first(codec.bytes));
  };
  if (words == 0 || codec.print == nullptr) return fields;
  const auto before = print(zero);
  for (size_t word = 0; word < words; ++word) {
    std::vector<uint64_t> one = zero;
    reinterpret_cast<uint32_t*>(one.data())[word] = 1;
    const auto after = print(one);
    size_t field = 0;
    while (field < after.size() && after[field] == before[field]) ++field;
    if (field == after.size()) continue;  // an element of a list, or reserved
    if (!fields.empty()) fields.back().count = word - fields.back().first;
    fields.push_back({word, words - word, before[field].second == "[]"});
  }
  return fields;
}

/// One node: its operands and what a KernelContext refers to.
struct HostileNode {
  struct Operand {
    DataType type = DataType::kUndefined;  // absent
    std::vector<int32_t> extents;
    std::vector<uint64_t> data;  // of small integer inputs
  };
  std::vector<Operand> inputs, outputs;
  std::vector<uint64_t> attributes;
  uint32_t attribute_bytes = 0;
  int64_t workspace_bytes = 0;
  std::string text;  ///< The attributes, for messages.

  /// The views of the operands; data is null, or with `values` that of the inputs that have some.
  std::vector<TensorView> views(bool values) {
    std::vector<TensorView> result;
    for (auto* list : {&inputs, &outputs}) {
      for (Operand& operand : *list) {
        TensorView view;
        view.type = operand.type;
        view.rank = static_cast<uint8_t>(operand.extents.size());
        view.extents = operand.extents.data();
        if (values && !operand.data.empty()) view.data = operand.data.data();
        result.push_back(view);
      }
    }
    return result;
  }
  std::string describe() const {
    std::string result = text;
    for (const auto* list : {&inputs, &outputs}) {
      result += list == &inputs ? "; inputs" : "; outputs";
      for (const Operand& operand : *list) {
        result += " " + std::to_string(static_cast<int>(operand.type)) + "[";
        for (int32_t extent : operand.extents) result += std::to_string(extent) + ",";
        result += "]";
      }
    }
    return result;
  }
};

/// A context over a node's views, for one call.
class HostileContext {
 public:
  HostileContext(HostileNode& node, std::vector<TensorView> views) : views_(std::move(views)) {
    host_.diagnostic = &diagnostic;
    host_.graph_count = 2;
    host_.resize_output = [](const KernelContext& c, int output, std::span<const int32_t> extents) {
      return static_cast<HostileContext*>(c.runtime_)->resize(output, extents);
    };
    host_.capacity = [](const KernelContext& c, int operand) {
      const auto& self = *static_cast<const HostileContext*>(c.runtime_);
      const size_t index = static_cast<size_t>(operand);
      return index < self.capacities.size() ? self.capacities[index] : int64_t{0};
    };
    context.operands_ = views_.data();
    context.input_count_ = static_cast<int32_t>(node.inputs.size());
    context.output_count_ = static_cast<int32_t>(node.outputs.size());
    context.attribute_bytes_ = node.attribute_bytes;
    context.attributes_ = node.attributes.data();
    context.workspace_bytes_ = static_cast<size_t>(node.workspace_bytes);
    context.host_ = &host_;
    context.runtime_ = this;
    context.node_ = 0;
    outputs_ = &node.outputs;
    capacities.assign(views_.size(), INT64_MAX);
  }
  HostileContext(const HostileContext&) = delete;
  HostileContext& operator=(const HostileContext&) = delete;

  /// Lets `resize_output` set extents of any rank, as a shape function over nothing does.
  void accept_any() { any_ = true; }
  TensorView& view(size_t operand) { return views_[operand]; }
  size_t size() const { return views_.size(); }

  KernelContext context;
  Diagnostic diagnostic;
  std::vector<int64_t> capacities;

 private:
  Status resize(int output, std::span<const int32_t> extents) {
    const size_t place = static_cast<size_t>(context.input_count() + output);
    if (output < 0 || output >= context.output_count()) return Code::kInvalidArgument;
    TensorView& view = views_[place];
    auto& planned = (*outputs_)[static_cast<size_t>(output)].extents;
    if (any_) {
      planned.assign(extents.begin(), extents.end());
      view.extents = planned.data();
      view.rank = static_cast<uint8_t>(extents.size());
      return {};
    }
    if (extents.size() != view.rank) return Code::kWrongRank;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      if (extents[axis] < 0 || extents[axis] > planned[axis]) return Code::kWrongExtent;
    }
    actual_[static_cast<size_t>(output) % 4].assign(extents.begin(), extents.end());
    view.extents = actual_[static_cast<size_t>(output) % 4].data();
    return {};
  }

  std::vector<TensorView> views_;
  std::vector<HostileNode::Operand>* outputs_ = nullptr;
  std::vector<int32_t> actual_[4];
  KernelHost host_;
  bool any_ = false;
};

/// Makes nodes for one kernel.
class NodeMaker {
 public:
  NodeMaker(const KernelDescriptor& row, uint64_t seed) : row_(row), random_(seed) {
    for (const OperatorDefinition* each : definitions::OperatorRegistry::builtin().all()) {
      const bool revision = each->kernel_revision == 0 || each->kernel_revision == row.id.revision;
      if (each->kernel_name() == row.id.op && revision) definitions_.push_back(each);
    }
  }
  /// Definitions that the kernel serves.
  const std::vector<const OperatorDefinition*>& known() const { return definitions_; }
  /// That of the last node.
  const OperatorDefinition& definition() const { return *definition_; }

  /// The next node. Its outputs have the extents that the shape function gives, if it gives any.
  HostileNode next() {
    definition_ = definitions_[pick(definitions_.size())];
    HostileNode node;
    choose_types();
    make_attributes(node);
    make_operands(node);
    valid_ = infer(node);
    if (!valid_) guess_outputs(node);
    return node;
  }
  /// True if the operator has lists among its attributes, as windows have: more to combine.
  bool has_lists() const { return lists_; }
  /// True if the shape function accepted the last node.
  bool valid() const { return valid_; }
  /// A type that no operand of this type variable may have, and of another width than `own`, since
  /// kernels that move elements know their width alone. No type at all where the kernel does not
  /// look at the variable.
  DataType foreign_type(std::string_view variable, DataType own) const {
    const auto& selecting = definition_->kernel_types;
    const auto constraint = constraint_of(variable);
    const bool selects = std::find(selecting.begin(), selecting.end(), variable) != selecting.end();
    for (uint8_t code = 1; selects && code <= kLastDataType; ++code) {
      const auto type = static_cast<DataType>(code);
      if (!definitions::contains(constraint, type) && element_bits(type) != element_bits(own)) {
        return type;
      }
    }
    return static_cast<DataType>(0xff);
  }
  size_t pick(size_t count) { return count == 0 ? 0 : random_() % count; }
  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }

 private:
  definitions::TypeSet constraint_of(std::string_view variable) const {
    for (const auto& each : definition_->types) {
      if (each.variable == variable) return each.allowed;
    }
    return 0;
  }

  void choose_types() {
    types_.clear();
    for (const auto& constraint : definition_->types) {
      std::vector<DataType> allowed;
      KernelType wanted;
      bool selects = false;
      for (size_t i = 0; i < definition_->kernel_types.size() && i < 3; ++i) {
        if (definition_->kernel_types[i] != constraint.variable) continue;
        wanted = row_.id.types[i];
        selects = wanted != KernelType();
      }
      for (uint8_t code = 1; code <= kLastDataType; ++code) {
        const auto type = static_cast<DataType>(code);
        if (!definitions::contains(constraint.allowed, type)) continue;
        if (!selects || wanted.accepts(type)) allowed.push_back(type);
      }
      if (allowed.empty()) allowed.push_back(DataType::kFloat);
      types_.emplace_back(constraint.variable, allowed[pick(allowed.size())]);
    }
  }
  DataType type_of(const Parameter& parameter) const {
    for (const auto& [variable, type] : types_) {
      if (variable == parameter.type) return type;
    }
    return DataType::kFloat;
  }

  /// Numbers that are small, or at a limit.
  int32_t number(int limits) {
    static constexpr int32_t kLimits[] = {INT32_MAX, INT32_MAX - 1, INT32_MIN, INT32_MIN + 1,
                                          1 << 30,   1 << 16,       65535,     -1,
                                          1 << 20,   0x3f800000,    0,         46341};
    if (chance(limits)) return kLimits[pick(std::size(kLimits))];
    static constexpr int32_t kSmall[] = {0, 1, 1, 1, 2, 2, 3, 4, -1, -2};
    return kSmall[pick(std::size(kSmall))];
  }

  void make_attributes(HostileNode& node) {
    const auto& codec = definition_->attributes;
    std::vector<std::byte> blob;
    if (codec.read) (void)codec.read({}, blob);
    if (blob.size() < codec.bytes) blob.assign(codec.bytes, std::byte{});
    node.attributes.assign(blob.size() / 8 + 1, 0);
    if (!blob.empty()) std::memcpy(node.attributes.data(), blob.data(), blob.size());
    node.attribute_bytes = static_cast<uint32_t>(blob.size());
    auto* words = reinterpret_cast<int32_t*>(node.attributes.data());
    auto& fields = fields_of_[definition_];
    if (fields.empty()) fields = struct_words(codec);
    const int limits = chance(50) ? 0 : 15;
    const bool extreme = chance(40);
    const bool coherent =
        extreme || chance(75);  // lists of one length, or twice as long, of positive numbers
    spatial_ = static_cast<int>(1 + pick(3));
    lists_ = false;
    for (const FieldWords& field : fields) {
      const auto most = static_cast<int32_t>(field.count - 1);
      lists_ = lists_ || field.is_list;
      if (chance(coherent ? 50 : 40)) continue;
      if (!field.is_list) {
        words[field.first] =
            coherent && limits == 0 ? static_cast<int32_t>(pick(4)) : number(limits);
        continue;
      }
      const bool twice = most >= 2 * (kMaxRank - 2);
      const int32_t lengths[] = {spatial_ * (twice ? 2 : 1), static_cast<int32_t>(pick(9)),
                                 number(limits)};
      const int32_t length = lengths[coherent ? 0 : pick(3)];
      words[field.first] = chance(limits / 3) ? length : std::clamp(length, 0, most);
      for (size_t i = 1; i < field.count; ++i) {
        const int32_t extremes[] = {1, 2, 3, INT32_MAX, INT32_MAX, INT32_MAX};
        const int32_t value = extreme ? extremes[pick(6)] : number(limits);
        words[field.first + i] = coherent ? std::max(twice ? 0 : 1, value) : value;
      }
    }
    for (const auto& [name, text] : printed(node)) node.text += name + "=" + text + " ";
  }
  std::vector<std::pair<std::string, std::string>> printed(const HostileNode& node) const {
    if (definition_->attributes.print == nullptr) return {};
    return definition_->attributes.print(
        std::as_bytes(std::span(node.attributes)).first(node.attribute_bytes));
  }

  int32_t extent() {
    static constexpr int32_t kLimits[] = {INT32_MAX, 1 << 30, 1 << 20, 65536, 0, 46341, 1 << 10};
    return limits_ && chance(25)
               ? kLimits[pick(std::size(kLimits))]
               : static_cast<int32_t>(chance(8) ? 0 : 1 + pick(chance(25) ? 12 : 4));
  }
  /// Holds the promise that a verified plan makes of each tensor.
  static void keep_possible(std::vector<int32_t>& extents) {
    int64_t product = 1;
    for (int32_t& each : extents) {
      if (each == 0) continue;
      if (product > kMaxElements / each) each = 1;
      product *= each;
    }
  }

  std::vector<int32_t> related(const std::vector<int32_t>& base) {
    std::vector<int32_t> extents;
    const size_t kind = pick(8);
    if (kind <= 1 || base.empty()) {
      extents = base;
      if (kind == 1) std::shuffle(extents.begin(), extents.end(), random_);
    } else if (kind == 2) {
      extents = {base[pick(base.size())]};
    } else if (kind == 3) {
      extents = {};
    } else if (kind == 4) {
      extents = {static_cast<int32_t>(pick(5))};
    } else if (kind == 5) {
      extents.assign(base.begin() + static_cast<int64_t>(pick(base.size())), base.end());
    } else if (kind == 6) {  // weights: as many axes, channels of the image, a window
      const bool last = chance(50);
      extents = {extent(), last ? base.back() : base[base.size() > 1 ? 1 : 0]};
      while (extents.size() < base.size()) extents.push_back(extent());
    } else {
      extents = base;
      extents[pick(extents.size())] = extent();
    }
    return extents;
  }

  void fill(HostileNode::Operand& operand, int rank) {
    int64_t count = 1;
    for (int32_t each : operand.extents) count *= each;
    const bool integers = operand.type == DataType::kInt64 || operand.type == DataType::kInt32;
    if (!integers || count > 16 || count == 0) return;
    operand.data.assign(static_cast<size_t>(count), 0);
    const int limits = limits_ ? 20 : 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t wide[] = {INT64_MAX,        INT64_MIN,     INT64_MIN + 1,
                              int64_t{1} << 32, INT64_MAX - 1, int64_t{1} << 62};
      int64_t value = chance(limits) ? wide[pick(std::size(wide))] : number(limits);
      if (chance(30) && rank > 0) value = static_cast<int64_t>(pick(static_cast<size_t>(rank)));
      if (operand.type == DataType::kInt64) {
        std::memcpy(reinterpret_cast<char*>(operand.data.data()) + 8 * i, &value, 8);
      } else {
        const auto narrow = static_cast<int32_t>(value);
        std::memcpy(reinterpret_cast<char*>(operand.data.data()) + 4 * i, &narrow, 4);
      }
    }
  }

  void make_operands(HostileNode& node) {
    limits_ = chance(50);
    const size_t ranks[] = {pick(5), static_cast<size_t>(spatial_) + 2, pick(kMaxRank + 1)};
    std::vector<int32_t> base(ranks[lists_ && chance(70) ? 1 : pick(3)]);
    for (int32_t& each : base) each = extent();
    keep_possible(base);
    const auto add = [&](const Parameter& parameter, bool input) {
      auto& list = input ? node.inputs : node.outputs;
      HostileNode::Operand operand;
      const bool lacks = parameter.kind == Parameter::kOptional && chance(50);
      if (!lacks) {
        operand.type = type_of(parameter);
        if (!input && definition_->result_type != DataType::kUndefined) {
          operand.type = definition_->result_type;
        }
        const bool first = input && list.empty();
        operand.extents = first ? base : related(base);
        keep_possible(operand.extents);
        if (input && !first) fill(operand, static_cast<int>(base.size()));
      }
      list.push_back(std::move(operand));
    };
    for (const bool input : {true, false}) {
      for (const Parameter& parameter : input ? definition_->inputs : definition_->outputs) {
        const bool variadic = parameter.kind == Parameter::kVariadic;
        const size_t times = variadic ? static_cast<size_t>(parameter.minimum) + pick(3) : 1;
        for (size_t i = 0; i < times; ++i) add(parameter, input);
      }
    }
  }

  /// Asks the shape function; what it expects and does not find is put right as far as it says what
  /// and where, so that operands that belong together come to agree.
  bool infer(HostileNode& node) {
    if (definition_->shape.infer == nullptr) return false;
    for (int left = chance(90) ? 24 : 1; left > 0; --left) {
      HostileContext hostile(node, node.views(true));
      hostile.accept_any();
      if (definition_->shape.infer(hostile.context).ok()) return possible(node.outputs);
      if (!repair(node, hostile.diagnostic)) return false;
    }
    return false;
  }
  bool repair(HostileNode& node, const Diagnostic& problem) {
    const int32_t inputs = static_cast<int32_t>(node.inputs.size());
    if (problem.operand < 0 || problem.operand >= inputs) return false;
    HostileNode::Operand& operand = node.inputs[static_cast<size_t>(problem.operand)];
    if (problem.expected < 0 || problem.expected > INT32_MAX) return false;
    if (problem.code == Code::kWrongRank && problem.expected <= kMaxRank) {
      while (static_cast<int64_t>(operand.extents.size()) < problem.expected) {
        operand.extents.push_back(extent());
      }
      operand.extents.resize(static_cast<size_t>(problem.expected));
    } else if (problem.code == Code::kWrongExtent && problem.axis >= 0 &&
               problem.axis < static_cast<int32_t>(operand.extents.size())) {
      // Some numbers are what is missing, or what has to divide: then others may do.
      operand.extents[static_cast<size_t>(problem.axis)] =
          chance(80) ? static_cast<int32_t>(problem.expected) : extent();
    } else {
      return false;
    }
    operand.data.clear();
    if (!possible(node.inputs)) {
      keep_possible(operand.extents);
      return false;
    }
    fill(operand, static_cast<int>(operand.extents.size()));
    return true;
  }
  /// The promise of a verified plan.
  static bool possible(const std::vector<HostileNode::Operand>& operands) {
    return std::all_of(operands.begin(), operands.end(), [](const auto& operand) {
      std::vector<int32_t> extents = operand.extents;
      keep_possible(extents);
      return extents == operand.extents;
    });
  }
  void guess_outputs(HostileNode& node) {
    for (auto& output : node.outputs) {
      if (!node.inputs.empty() && chance(60)) {
        output.extents = node.inputs[pick(node.inputs.size())].extents;
      }
      keep_possible(output.extents);
    }
  }

  const KernelDescriptor& row_;
  std::mt19937_64 random_;
  std::vector<const OperatorDefinition*> definitions_;
  const OperatorDefinition* definition_ = nullptr;
  std::vector<std::pair<std::string_view, DataType>> types_;
  std::map<const OperatorDefinition*, std::vector<FieldWords>> fields_of_;
  int spatial_ = 1;     // axes that lists in the attributes speak of
  bool lists_ = false;  // there are such lists
  bool limits_ = false;
  bool valid_ = false;
};

}  // namespace intarsia::test
