// SPDX-License-Identifier: Apache-2.0
//
// Facts about an operator: what the passes, and whoever makes up models, need to know of it. They
// stand in its definition, so that nothing else has to know it by name.
//
// An operator has an *axis space*: a list of axes that several of its operands share. Each operand
// says how its own axes relate to the space (`AxisRole`), and `AxisNaming` says where a node names
// axes of it. From both follows, for every operator alike, what a node becomes when the axes of its
// operands change places. A fact that is not stated is `unknown`, and nothing relies on it.
//
// Host only. A new kind of fact (a cost) is a member of `Facts`; it comes with whoever reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/definitions/symbolic_shape.h"
#include "core/operators/common/activation_spec.h"
#include "intarsia/attributes.h"

namespace intarsia::definitions {

class ExpansionContext;
class GradientContext;

/// A set of element types, one bit per DataType number.
using TypeSet = uint32_t;
constexpr TypeSet types(std::initializer_list<DataType> list) {
  TypeSet set = 0;
  for (DataType type : list) set |= TypeSet{1} << static_cast<int>(type);
  return set;
}
constexpr bool contains(TypeSet set, DataType type) {
  return ((set >> static_cast<int>(type)) & 1u) != 0;
}

/// How the axes of an operand relate to the operator's axis space.
enum class AxisRole : uint8_t {
  kUnknown,
  /// Not at all: a list of axes or extents, weights, a vector over the channels.
  kApart,
  /// Axis i is axis i of the space.
  kSame,
  /// Broadcast to the space, aligned at the last axis; the rank may be smaller.
  kBroadcast,
  /// The space without the named axes; with them, at extent 1, where `AxisNaming::keep` says so.
  kDropped,
  /// The space with the named axis replaced by the axes of the operand that is kReplacement.
  kReplaced,
  kReplacement,
  /// The values depend on the order of the space's axes: positions in memory, or elements lined up
  /// along other axes (Reshape).
  kOrdered,
};

/// What the values of an operand must be, or should be for the result to mean anything.
enum class Domain : uint8_t {
  kAny,
  kPositive,
  kNonNegative,
  kNonZero,
  kUnit,        ///< -1 to 1
  kFraction,    ///< 0 to 1
  kAtLeastOne,  ///< 1 and more
  kSmall,       ///< a few units, of either sign
  kShift,       ///< number of bits to shift by, below the width of the type
  kInvertible,  ///< square matrices that have an inverse
  kIndex,       ///< below the extent of the named axis of operand `of`, or negative: from its end
  kIndexTuple,  ///< along the last axis: one index for each of the first axes of operand `of`
  kBelow,       ///< below the value of operand `of`
  kLength,      ///< 0 to the extent of the named axis of operand `of`
  kParts,       ///< sum up to the extent of the named axis of operand `of`
  kPosition,    ///< any index along the named axes of operand `of`; clamped
  kAxis,        ///< one axis, or a list of different axes, of operand `of`
  kUnitAxes,    ///< axes of operand `of` whose extent is 1
  kNewAxes,     ///< axes of the output that operand `of` does not have
  kExtents,     ///< extents of a tensor
  kReshape,     ///< extents with as many elements as operand `of`; 0 and -1 as in Reshape
  kExpand,      ///< extents that operand `of` broadcasts with
  kRepeats,     ///< one number per axis of operand `of`, not negative
  kPads,        ///< two numbers per named axis of operand `of`: in front, then behind
  kScales,      ///< one factor per named axis of operand `of`, positive
  kSizes,       ///< one extent per named axis of operand `of`
};

/// Domain of an operand's values; `of` is the number of the input that it speaks of.
struct Values {
  Domain domain = Domain::kAny;
  int8_t of = 0;
  /// Extents of outputs depend on the values: only where they are constant are the extents known.
  bool decide_extents = false;
};

/// One attribute as integers: a number as a list of one. The defaults mean that there is none.
struct IntegerAttribute {
  std::string_view (*name)() = nullptr;
  /// An absent axis (`kNoAxis`) gives an empty list. REQUIRES: the attributes struct.
  std::vector<int64_t> (*get)(const std::byte* attributes) = nullptr;
  void (*set)(std::byte* attributes, std::span<const int64_t> values) = nullptr;

  explicit operator bool() const { return get != nullptr; }
  /// The value of a flag; false if there is no such attribute.
  bool flag(const std::byte* attributes) const {
    return get != nullptr && get(attributes).front() != 0;
  }
};

enum class AxisForm : uint8_t {
  kNone,         ///< names no axis: every order of axes will do
  kOne,          ///< one axis
  kSet,          ///< several axes, in any order
  kList,         ///< several axes; other inputs have an element for each, in this order
  kPermutation,  ///< axis i of the output is the listed one of the input
  kPerAxis,      ///< an element for each axis of the space, aligned at the last one
  kSuffix,       ///< the axis from which on all are meant
  kImage,        ///< batch, channels, then spatial axes, or as `channels_last` says
  kPosition,     ///< axes mean what they mean by their position
};

/// What it means that no axes are given.
enum class NoAxes : uint8_t {
  kImpossible,  ///< always given, or the attribute has a default
  kAll,
  kLeading,    ///< the first ones, as many as the other lists have elements
  kReversed,   ///< all of them, the last one first
  kUnit,       ///< those of extent 1
  kFlattened,  ///< the elements in a row
};

/// Where a node names axes of the space, and how. Negative ones count from the end.
struct AxisNaming {
  AxisForm form = AxisForm::kNone;
  IntegerAttribute attribute = {};  ///< Which attribute holds them,
  int input = -1;                   ///< or which input.
  NoAxes absent = NoAxes::kImpossible;
  /// Dropped axes stay with extent 1 where this attribute is not 0. Without it they go.
  IntegerAttribute keep = {};
  /// Where this attribute is not 0, axes mean what they mean by their position.
  IntegerAttribute fixed_if = {};
  /// Where this attribute is not 0, no axes mean none whatever `absent` says.
  IntegerAttribute none_if_absent = {};
  /// Form kImage: the attribute that puts the channels last; without it only one order is served.
  IntegerAttribute channels_last = {};
};

/// An operand that leaves the other one as it is, bit for bit: -0 of a sum of reals.
struct NeutralElement {
  double value = 0;
  /// On either side; else it has to be the last operand.
  bool either_side = true;
};

/// True if output 0 holds the elements of input 0 in their order whenever type and extents agree.
using CopyRule = bool (*)(const std::byte* attributes, std::span<const SymbolicInput> inputs);
inline bool copies_always(const std::byte*, std::span<const SymbolicInput>) {
  return true;
}
/// A sum or a list of one.
inline bool copies_alone(const std::byte*, std::span<const SymbolicInput> inputs) {
  return inputs.size() == 1;
}

/// A constant that becomes an attribute, which is a float. Nothing if that would round what a node
/// of type `computed` computes with.
inline std::optional<float> float_attribute(double value, DataType computed) {
  const auto rounded = static_cast<float>(value);
  if (computed == DataType::kDouble && double{rounded} != value) return std::nullopt;
  return rounded;
}

/// What an operator is as an epilogue, from its attributes and constant inputs; nothing if these
/// are not what an epilogue can do.
using ActivationRule = std::optional<ActivationSpec> (*)(const std::byte* attributes,
                                                         std::span<const SymbolicInput> inputs);

/// Elements of a tensor as expressions over extents: numerators over a common denominator, which is
/// 1 for integers.
struct Elements {
  std::optional<std::vector<Dim>> values = {};
  int64_t denominator = 1;
};
/// Those of each output, as far as they follow from what is known of the inputs; `outputs` have the
/// inferred types and extents.
using KnownElements = std::vector<Elements>;
using PropagationRule = KnownElements (*)(const std::byte* attributes,
                                          std::span<const SymbolicInput> inputs,
                                          std::span<const SymbolicOutput> outputs);

/// The types that a node computes in where no kernel takes its own: one for each type variable of
/// the definition, in the order of `OperatorDefinition::types`, undefined where no input has it.
/// The rule changes those that inputs, and outputs of the same variables, have to be cast for; of
/// small types, one of the same width takes the codes as they are.
using ComputedTypes = void (*)(std::span<DataType> variables, const std::byte* attributes);
/// Writes down the gradients of the inputs (gradient.h).
using GradientRule = void (*)(GradientContext& context);
/// Writes down the nodes that stand for this one (expansion.h).
using ExpansionRule = void (*)(ExpansionContext& context);

/// What an operator can do to its result before it stores it. The operands and attributes for that
/// are none of the model's: `op`, of the converter's own domain, has them beside all that this
/// operator has, in an attributes struct of the same form.
struct Epilogue {
  std::string_view op;
  int bias = -1;      ///< Input for a vector along the last axis of the result.
  int residual = -1;  ///< Input of the result's extents.
  ActivationSpec (*get)(const std::byte* attributes) = nullptr;
  void (*set)(std::byte* attributes, ActivationSpec spec) = nullptr;

  explicit operator bool() const { return !op.empty(); }
};

/// An epilogue in the attributes struct A.
template <class A>
constexpr Epilogue epilogue_of(std::string_view op, int residual, int bias = -1) {
  return {op, bias, residual,
          [](const std::byte* attributes) {
            const A& a = *reinterpret_cast<const A*>(attributes);
            return ActivationSpec{static_cast<Activation>(a.activation), a.activation_alpha,
                                  a.activation_beta};
          },
          [](std::byte* attributes, ActivationSpec spec) {
            A& a = *reinterpret_cast<A*>(attributes);
            a.activation = static_cast<int32_t>(spec.kind);
            a.activation_alpha = spec.alpha;
            a.activation_beta = spec.beta;
          }};
}

/// Nodes of an operator with kernels that these do not take: a rule puts others in their place.
struct SpecialForm {
  bool (*holds)(const std::byte* attributes, std::span<const SymbolicInput> inputs) = nullptr;
  ExpansionRule expand = nullptr;
};

/// A node that reads an image, as far as the best order of its axes depends on it: the extents of
/// data, weights and result, the largest where some vary.
struct ImageNode {
  const std::byte* attributes;
  std::span<const int64_t> data, weights, result;
  bool computed_weights = false;  ///< They are packed in each run, if at all.
};

struct Facts {
  AxisNaming axes = {};
  /// An element of an output depends on the elements at the same place of the inputs, broadcast.
  bool element_wise = false;
  /// Arithmetic without rounding as long as the numbers are small, or no arithmetic: every kernel
  /// gives the same bits.
  bool exact = false;
  /// Whether integer results are weighted sums of floating-point numbers, rounded: where one lies
  /// between two integers, the order of its terms, which follows that of the axes, decides.
  bool (*rounds_integers)(const std::byte* attributes) = nullptr;
  /// Numbers are rounded to integers on the way to a result: where one lies between two, the order
  /// of terms decides, and what follows differs by far more than rounding.
  bool rounds_within = false;
  /// Elements of output 0 are elements of the inputs of its type, chosen by their places, or as the
  /// largest ones: what maps numbers in order may as well be done behind the operator.
  bool selects = false;
  CopyRule copies = nullptr;
  ActivationRule activation = nullptr;
  Epilogue epilogue = {};
  std::optional<NeutralElement> neutral = {};
  PropagationRule propagate = nullptr;
  /// Element types of input 0 whose fast kernels want the channels last.
  TypeSet fast_channels_last = 0;
  /// What that gains, in numbers of elements that could be reordered in that time. Null: more than
  /// reordering takes.
  double (*channels_last_gain)(const ImageNode& node) = nullptr;
  /// The extents of a window, or its one extent: elements that are read for each of the result.
  /// Where weights of the data's rank are operands, they are read too.
  IntegerAttribute window = {};
  /// Elements of a state that each step multiplies by the weights of a recurrence.
  IntegerAttribute state = {};
  /// Null where nobody has written one: then an output's gradient is an error, not 0.
  GradientRule gradient = nullptr;
  /// The same as text, of operators that do not come with Intarsia (converter/graph/
  /// gradient_formula.h); empty if there is none.
  std::string_view gradient_formula = {};
  bool is_differentiable() const { return gradient != nullptr || !gradient_formula.empty(); }
  /// Where others compute what the operator does: it needs no kernel and no shape function.
  ExpansionRule expand = nullptr;
  SpecialForm special = {};
  /// Where a type that the specification allows has no kernel: inference puts casts around the
  /// node.
  ComputedTypes computed = nullptr;
  /// Of an operator that draws random numbers: the attribute, unknown to models, that takes the
  /// place of a seed where the model gives none. The results differ from run to run, so that such a
  /// node is neither executed by the converter nor merged with its like.
  IntegerAttribute stream = {};
};

/// Stands for an axis that a model leaves out; `kNoAxis` of the attribute structs.
inline constexpr int32_t kAbsentAxis = INT32_MIN;

/// A visitor of `fields` that calls `visit(name, field)` for every field.
template <class Visit>
class FieldVisitor {
 public:
  explicit FieldVisitor(const Visit& visit) : visit_(visit) {}
  template <class T>
  void operator()(std::string_view name, T& field) {
    visit_(name, field);
  }
  void operator()(std::string_view name, StringAttribute& field, std::string_view) {
    visit_(name, field);
  }
  template <class T>
  void operator()(std::string_view name, ListAttribute<T>& field, ListDefault<T>) {
    visit_(name, field);
  }
  template <class T>
  void operator()(std::string_view name, T& field, AttributeLimits) {
    visit_(name, field);
  }
  template <class T>
  void required(std::string_view name, T& field, AttributeLimits = {}) {
    visit_(name, field);
  }
  void choice(std::string_view name, int32_t& field, std::initializer_list<std::string_view>) {
    visit_(name, field);
  }
  template <int N>
  void choices(std::string_view name, FixedList<int32_t, N>& field,
               std::initializer_list<std::string_view>) {
    visit_(name, field);
  }
  void scalar(std::string_view name, int64_t& bits, int32_t&) { visit_(name, bits); }
  template <class T>
  void internal(std::string_view name, T& field) {
    visit_(name, field);
  }
  void ignored(std::string_view) {}

 private:
  const Visit& visit_;
};

// -- Attributes by member
// ------------------------------------------------------------------------------

namespace internal {

template <class M>
struct MemberOf;
template <class A, class T>
struct MemberOf<T A::*> {
  using Struct = A;
};

/// The member, or the member of the member, of `object`.
template <auto Member, auto... Inner, class A>
auto& reach(A& object) {
  if constexpr (sizeof...(Inner) == 0) {
    return object.*Member;
  } else {
    return reach<Inner...>(object.*Member);
  }
}

inline std::vector<int64_t> read_integers(const int32_t& field) {
  return field == kAbsentAxis ? std::vector<int64_t>{} : std::vector<int64_t>{field};
}
inline std::vector<int64_t> read_integers(const int64_t& field) {
  return {field};
}
template <int N>
std::vector<int64_t> read_integers(const FixedList<int32_t, N>& field) {
  return {field.view().begin(), field.view().end()};
}
inline void write_integers(int32_t& field, std::span<const int64_t> values) {
  field = static_cast<int32_t>(values.front());
}
inline void write_integers(int64_t& field, std::span<const int64_t> values) {
  field = values.front();
}
template <int N>
void write_integers(FixedList<int32_t, N>& field, std::span<const int64_t> values) {
  field.count = 0;
  for (int64_t value : values) field.push(static_cast<int32_t>(value));
}

}  // namespace internal

/// The attribute that a member of an attributes struct holds, or a member of a member:
/// `attribute<&SoftmaxAttributes::axis>()`.
template <auto Member, auto... Inner>
constexpr IntegerAttribute attribute() {
  using A = typename internal::MemberOf<decltype(Member)>::Struct;
  IntegerAttribute result;
  result.name = []() -> std::string_view {
    A value{};
    const void* wanted = &internal::reach<Member, Inner...>(value);
    std::string_view found;
    const auto visit = [&](std::string_view name, const auto& field) {
      if (static_cast<const void*>(&field) == wanted) found = name;
    };
    FieldVisitor visitor(visit);
    value.fields(visitor);
    return found;
  };
  result.get = [](const std::byte* attributes) {
    return internal::read_integers(
        internal::reach<Member, Inner...>(*reinterpret_cast<const A*>(attributes)));
  };
  result.set = [](std::byte* attributes, std::span<const int64_t> values) {
    internal::write_integers(internal::reach<Member, Inner...>(*reinterpret_cast<A*>(attributes)),
                             values);
  };
  return result;
}

}  // namespace intarsia::definitions
