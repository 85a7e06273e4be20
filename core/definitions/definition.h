// SPDX-License-Identifier: Apache-2.0
//
// Operator definitions: the one description of each operator that the converter works from.
//
// A definition says what the ONNX specification says of an operator in its newest form: operands,
// type constraints, attributes, shape function. Older forms are rewritten by the importer, so there
// is one definition per operator. This is host-only code: the runtime links shape functions by type
// (core/operators/) and never sees a definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/definitions/facts.h"
#include "core/definitions/symbolic_shape.h"
#include "core/kernel_descriptor.h"
#include "intarsia/kernel_set.h"
#include "intarsia/shape.h"

namespace intarsia::definitions {

/// One formal input or output.
struct Parameter {
  enum Kind : uint8_t { kRequired, kOptional, kVariadic };
  std::string_view name;
  /// Type variable as in the specification, for instance "T": operands of one variable agree in
  /// type.
  std::string_view type;
  Kind kind = kRequired;
  /// Operands that a variadic parameter takes at least; several of them the same number.
  int minimum = 1;
  /// Its operands may be left empty among others: the kernels then save the work.
  bool may_lack = false;
  /// How its axes relate to the operator's axis space, and what its values must be (facts.h).
  AxisRole axes = AxisRole::kUnknown;
  Values values = {};
  /// How its extents hang together with those of other operands, where no shape rule says so: one
  /// expression for each axis, "B S num_heads*D". A name is that of an integer attribute, or stands
  /// for the same number in all operands; there are numbers, +, * and / (rounded up). A leading
  /// "..." stands for the same axes, none or more. Forms that a node may have are set apart by "|":
  /// the n-th of one operand goes with the n-th of the others, a single one with all.
  std::string_view extents = {};

  /// This parameter with other values.
  constexpr Parameter of(Domain domain, int input = 0, bool decide_extents = false) const {
    Parameter result = *this;
    result.values = {domain, static_cast<int8_t>(input), decide_extents};
    return result;
  }
  /// This parameter with extents.
  constexpr Parameter with(std::string_view forms) const {
    Parameter result = *this;
    result.extents = forms;
    return result;
  }
  /// The same, where the values decide the extents of outputs.
  constexpr Parameter deciding(Domain domain, int input = 0) const {
    return of(domain, input, true);
  }
};

// How a definition's row says what role the axes of a parameter play: `same({"X", "T"})`.
constexpr Parameter with_role(Parameter parameter, AxisRole role) {
  parameter.axes = role;
  return parameter;
}
constexpr Parameter same(Parameter parameter) {
  return with_role(parameter, AxisRole::kSame);
}
constexpr Parameter apart(Parameter parameter) {
  return with_role(parameter, AxisRole::kApart);
}
constexpr Parameter broadcast(Parameter parameter) {
  return with_role(parameter, AxisRole::kBroadcast);
}
constexpr Parameter dropped(Parameter parameter) {
  return with_role(parameter, AxisRole::kDropped);
}
constexpr Parameter ordered(Parameter parameter) {
  return with_role(parameter, AxisRole::kOrdered);
}

/// How many variadic parameters there are. They come last; several take operands in turn, as many
/// each.
inline size_t variadic_count(const std::vector<Parameter>& parameters) {
  size_t count = 0;
  while (count < parameters.size() &&
         parameters[parameters.size() - 1 - count].kind == Parameter::kVariadic) {
    ++count;
  }
  return count;
}

/// The formal parameter of operand `index`, or null if there is none; a variadic one serves every
/// further operand whose turn it is.
inline const Parameter* formal(const std::vector<Parameter>& parameters, size_t index) {
  if (index < parameters.size()) return &parameters[index];
  const size_t turns = variadic_count(parameters);
  if (turns == 0) return nullptr;
  const size_t first = parameters.size() - turns;
  return &parameters[first + (index - first) % turns];
}

struct TypeConstraint {
  std::string_view variable;
  TypeSet allowed = 0;
};

/// A tensor that is an attribute's value: dense elements in little-endian order.
struct TensorValue {
  DataType type = DataType::kUndefined;
  std::vector<int64_t> extents;
  std::shared_ptr<const std::byte> data;
  size_t size = 0;
  /// What the StringRefs of a tensor of strings count from; null where there is no character.
  std::shared_ptr<const std::string> characters = nullptr;

  std::string_view text(StringRef string) const {
    const size_t all = characters != nullptr ? characters->size() : 0;
    const bool inside = string.offset <= all && string.length <= all - string.offset;
    return inside && string.length != 0
               ? std::string_view(*characters).substr(string.offset, string.length)
               : std::string_view();
  }
};

/// An ONNX attribute's value, as imported. Graph attributes are kept by the converter's Node.
using AttributeValue = std::variant<int64_t, float, std::string, std::vector<int64_t>,
                                    std::vector<float>, std::vector<std::string>, TensorValue>;
using AttributeMap = std::map<std::string, AttributeValue, std::less<>>;

/// One attribute, for whoever makes up or lists models.
struct AttributeField {
  enum Kind : uint8_t { kInteger, kReal, kText, kIntegers, kReals, kTexts, kTensor };
  std::string name;
  Kind kind = kInteger;
  bool required = false;
  /// Most elements of a list; 0: any number.
  int limit = 0;
  /// The texts that are allowed; empty: all of them.
  std::vector<std::string> choices = {};
  /// Of integers.
  AttributeLimits limits = {};
};

/// Where a member of an attributes struct lies.
struct AttributeMember {
  std::string name;
  size_t place = 0;
  size_t bytes = 0;
  friend bool operator==(const AttributeMember&, const AttributeMember&) = default;
};

/// Type-erased access to an attributes struct; made by `codec_of<A>()` (attribute_codec.h), or by
/// hand for operators whose attributes no struct describes.
struct AttributeCodec {
  /// Size of the struct; what a node stores may be longer.
  size_t bytes = 0;
  /// Sets `blob` from ONNX attributes. Returns "" or a sentence that names the attribute, what was
  /// expected and what was found. Unknown attributes are an error.
  std::function<std::string(const AttributeMap& attributes, std::vector<std::byte>& blob)> read;
  /// The fields as name and text, of any blob that begins with the struct; what its members say of
  /// bytes outside is not read.
  std::vector<std::pair<std::string, std::string>> (*print)(std::span<const std::byte> blob) =
      nullptr;
  /// The attributes that a model may give; null where only the node tells.
  std::vector<AttributeField> (*list)() = nullptr;
  /// The struct's members; null where no struct describes the attributes.
  std::vector<AttributeMember> (*members)() = nullptr;
};

/// A shape function over symbolic extents.
using SymbolicRule = std::function<Status(SymbolicShapeContext&)>;

/// Domain of nodes that only the converter makes.
inline constexpr std::string_view kInternalDomain = "intarsia";

/// What an operator with sub-graphs does with them.
enum class Control : uint8_t {
  kBranches,  ///< Runs one of two, as ONNX's If.
  kLoop,      ///< Runs one again and again, as ONNX's Loop.
  kScan,      ///< A Loop over slices of its inputs; inference makes it one.
  kMap,       ///< A Loop over the elements of sequences; inference makes it one.
  kInlined,   ///< Puts those that it has among the nodes that it becomes (Facts::expand).
};

struct OperatorDefinition {
  /// "" for ai.onnx.
  std::string_view domain;
  std::string_view name;
  /// Operator-set versions of the domain that this form is valid for, after the importer's
  /// rewriting.
  int since_version = 1;
  int until_version = 0x7fffffff;
  std::vector<Parameter> inputs;
  std::vector<Parameter> outputs;
  Facts facts = {};
  std::vector<TypeConstraint> types;
  /// The operator whose kernels execute this one; "" for those of its own (KernelId::op).
  std::string_view kernel_operator;
  /// Type variables that select a kernel, in the order of KernelId::types.
  std::vector<std::string_view> kernel_types = {"T"};
  /// KernelId::revision of this form's kernels, where forms of several versions have kernels of
  /// their own; 0 accepts every one.
  uint8_t kernel_revision = 0;
  AttributeCodec attributes;

  /// Shape function over symbolic extents, the same at run time, and its rule's name.
  SymbolicRule infer;
  ShapeFunction shape;
  std::string_view shape_name;
  /// Where programs find it: see KernelDescriptor.
  ProgramSource source;
  /// Element type of the outputs where it is not that of the shape function's choice.
  DataType result_type = DataType::kUndefined;

  /// Output 0 holds the same bytes as input 0 (Reshape, Squeeze, ...).
  bool view = false;
  /// The result depends on more than the inputs (random numbers, host services): never folded.
  bool impure = false;
  /// Its kernel makes strings, although it names no types.
  bool makes_strings = false;
  /// Kernels of the program's own take the place of others: a node stays what it is, with the order
  /// of axes that ONNX says, and no pass puts it into another node or another into it.
  bool has_replacement = false;
  /// The shape function may leave extents open (`set_output_type`): only the kernel can tell them.
  /// They come from what the model declares of the output, else from the shape function, else from
  /// `trial`, else from `--bound`.
  bool extents_vary = false;
  /// Of such an operator: an extent that the model declares, or the shape function fixes, holds at
  /// every run. The session refuses another one: the operator is the user's own.
  bool promises_extents = false;
  /// Executes the operator on zeros to see its extents; null where that is not allowed.
  SymbolicRule trial;
  /// What a user can do about extents that remain unknown, apart from `--bound`.
  std::string_view extents_hint;
  /// Attributes that name values of the graph. On import these values become inputs behind the
  /// node's own, in this order, so that they stay what they are however names and values change.
  std::vector<std::string_view> value_names;
  /// Names of sub-graph attributes, in the order of the graph indices at the start of the
  /// attributes struct (control flow only). A node has all of them; of kInlined, any.
  std::vector<std::string_view> graphs;
  Control control = Control::kBranches;
  /// The sub-graph is run as often as needed, with inputs that change from run to run. What it
  /// reads from outside stays until the last one.
  bool repeats() const { return control == Control::kLoop; }

  /// "Conv" or "com.microsoft:Inverse".
  std::string qualified_name() const {
    return domain.empty() ? std::string(name) : std::string(domain) + ":" + std::string(name);
  }
  /// What KernelId::op of its kernels says.
  std::string kernel_name() const {
    return kernel_operator.empty() ? qualified_name() : std::string(kernel_operator);
  }
};

}  // namespace intarsia::definitions
