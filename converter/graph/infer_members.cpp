// SPDX-License-Identifier: Apache-2.0
//
// Inference of what reads a sequence, or an optional value, whose elements are values of the graph:
// it reads these instead.
//
//     SequenceAt(SequenceConstruct(a, b), 1)                    b
//     ConcatFromSequence(SequenceInsert(s, a)), s of one b      Concat(b, a)
//     SequenceAt(SplitToSequence(x), 1)                         output 1 of Split(x)
//
// Elements then have the extents, the gradients and the devices of any value, and nothing is
// copied. The sequence itself stays where something else reads it; dead nodes are left to the
// passes.
#include <algorithm>

#include "converter/graph/infer_rewriting.h"
#include "converter/onnx/declaration.h"
#include "core/definitions/value_propagation.h"
#include "core/operators/sequence/sequence.h"

namespace intarsia::converter {
namespace {

using Values = std::vector<Value*>;

/// Sequences of more elements, and those of more nodes, stay what they are: extents would not be
/// followed through them.
constexpr size_t kMostMembers = definitions::kMaxPropagatedElements;

/// The one number that a value is in every run.
std::optional<int64_t> number_of(const Value* value) {
  const std::optional<definitions::Dim> known = known_scalar(*value);
  return known && is_constant(*known) ? std::optional(constant_value(*known)) : std::nullopt;
}

/// One element: a value, or what a node that splits a tensor will give as one.
struct Member {
  Value* value;
  Node* split = nullptr;
  size_t part = 0;
};
using Listed = std::optional<std::vector<Member>>;

class Members : Rewriting {
 public:
  using Rewriting::Rewriting;

  /// The value that stands for the node's result; null where a kernel has to find it.
  Value* result() const {
    if (node_.is("ConcatFromSequence")) return joined();
    Value* input = node_.inputs[0];
    if (node_.is("OptionalGetElement") && type_of(*input) != DataType::kOptional) return input;
    const Listed members = list(input);
    if (!members) return nullptr;
    const auto place = node_.is("SequenceAt") ? place_of(node_.inputs[1], members->size(), 0)
                       : members->size() == 1 ? std::optional<size_t>(0)
                                              : std::nullopt;
    return place ? values(std::span(*members).subspan(*place, 1)).front() : nullptr;
  }

 private:
  /// The elements of a sequence or an optional value, where they are known. Changes nothing.
  static Listed list(const Value* sequence) {
    // Back to where all are listed, then forth again.
    std::vector<const Node*> changes;
    Node* maker = sequence->producer;
    for (size_t steps = 0; steps < kMostMembers && maker != nullptr; ++steps) {
      if (maker->is("SequenceInsert") || maker->is("SequenceErase")) {
        changes.push_back(maker);
      } else if (!maker->is("Identity")) {
        break;
      }
      maker = maker->inputs[0]->producer;
    }
    Listed members = maker != nullptr ? first_list(*maker) : std::nullopt;
    for (auto each = changes.rbegin(); members && each != changes.rend(); ++each) {
      const Node& change = **each;
      const bool inserts = change.is("SequenceInsert");
      const size_t count = members->size(), behind = inserts ? 1 : 0;
      const Value* position = change.input(inserts ? 2 : 1);
      if (count + behind == 0) return std::nullopt;
      const auto place = position == nullptr ? std::optional(count + behind - 1)
                                             : place_of(position, count, behind);
      if (!place) return std::nullopt;
      const auto at = members->begin() + static_cast<ptrdiff_t>(*place);
      if (inserts) {
        members->insert(at, Member{change.inputs[1]});
      } else {
        members->erase(at);
      }
    }
    return members;
  }

  /// What a node puts into the sequence that it makes.
  static Listed first_list(Node& maker) {
    Listed members(std::in_place);
    if (maker.is("SequenceConstruct") || maker.is("SequenceEmpty") || maker.is("Optional")) {
      if (maker.inputs.size() > kMostMembers) return std::nullopt;
      for (Value* input : maker.inputs) {
        if (input == nullptr) return std::nullopt;
        members->push_back({input});
      }
      return members;
    }
    if (!maker.is("SplitToSequence")) return std::nullopt;
    if (!allows("Split", type_of(*maker.inputs[0]))) return std::nullopt;
    const definitions::SequencePointer& known = maker.outputs[0]->sequence;
    const Value *whole = maker.inputs[0], *sizes = maker.input(1);
    if (known == nullptr || !is_constant(known->count)) return std::nullopt;
    const int64_t count = constant_value(known->count);
    if (count < 1 || count > static_cast<int64_t>(kMostMembers)) return std::nullopt;
    const bool equal = sizes == nullptr || shape_of(*sizes).rank == 0;
    if (equal && !is_constant(shape_of(*whole)[axis_of(maker)])) return std::nullopt;
    if (equal && sizes != nullptr && !number_of(sizes)) return std::nullopt;
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      members->push_back({nullptr, &maker, i});
    }
    return members;
  }

  /// Sequences hold more types than some operators on their tensors take.
  static bool allows(std::string_view op, DataType type) {
    const auto& definition = *definitions::OperatorRegistry::builtin().find("", op);
    return definitions::contains(definition.types[0].allowed, type);
  }

  static int axis_of(const Node& split) {
    const int axis = split.typed<SplitToSequenceAttributes>().axis;
    return axis + (axis < 0 ? shape_of(*split.inputs[0]).rank : 0);
  }

  /// Where a position is that may count from the end; with `behind`, the end is one.
  static std::optional<size_t> place_of(const Value* position, size_t count, size_t behind) {
    const std::optional<int64_t> given = number_of(position);
    const auto size = static_cast<int64_t>(count);
    if (!given || *given < -size || *given >= size + static_cast<int64_t>(behind)) return {};
    return static_cast<size_t>(*given + (*given < 0 ? size : 0));
  }

  Values values(std::span<const Member> members) const {
    Values result, parts;  // a list has parts of one node
    for (const Member& member : members) {
      if (member.split != nullptr && parts.empty()) parts = cut(*member.split);
      result.push_back(member.split != nullptr ? parts[member.part] : member.value);
    }
    return result;
  }

  /// The parts of a tensor, and a node that lists them in the place of the one that splits it.
  Values cut(Node& split) const {
    const Rewriting here = at(split);
    const int64_t axis = axis_of(split);
    const auto count = constant_value(split.outputs[0]->sequence->count);
    Value *whole = split.inputs[0], *sizes = split.input(1);
    if (sizes == nullptr || shape_of(*sizes).rank == 0) {
      // Equal parts, of which the last one may be smaller.
      const int64_t size = sizes == nullptr ? 1 : number_of(sizes).value();
      std::vector<int64_t> each(static_cast<size_t>(count), size);
      each.back() = constant_value(shape_of(*whole)[static_cast<int>(axis)]) - size * (count - 1);
      sizes = here.constant(here.graph(), "sizes", Constant::ints(each));
    } else if (type_of(*sizes) != DataType::kInt64) {
      sizes = here.compute("Cast", {sizes}, {{"to", static_cast<int64_t>(DataType::kInt64)}});
    }
    Node& made = here.add(here.graph(), "Split", {whole, sizes}, {{"axis", axis}}, &split, "",
                          static_cast<int>(count));
    Values parts = made.outputs;
    here.infer(made);
    if (split.input(1) == nullptr && split.typed<SplitToSequenceAttributes>().keepdims == 0) {
      Value* axes = here.constant(here.graph(), "axes", Constant::ints({axis}));
      for (Value*& part : parts) part = here.compute("Squeeze", {part, axes});
    }
    Graph::replace_uses(split.outputs[0], here.compute("SequenceConstruct", parts));
    return parts;
  }

  Value* joined() const {
    const Listed members = list(node_.inputs[0]);
    if (!members || members->empty()) return nullptr;
    const definitions::SequencePointer& sequence = node_.inputs[0]->sequence;
    if (sequence == nullptr || !allows("Concat", sequence->type)) return nullptr;
    const auto& attributes = node_.typed<ConcatFromSequenceAttributes>();
    Values parts = values(*members);
    if (attributes.new_axis != 0) {
      Value* axes = constant(graph_, "axes", Constant::ints({attributes.axis}));
      for (Value*& part : parts) part = compute("Unsqueeze", {part, axes});
    } else if (!has_sum(parts, attributes.axis)) {
      return nullptr;
    }
    return compute("Concat", parts, {{"axis", int64_t{attributes.axis}}});
  }

  /// False if the extents along an axis add up to what is no expression any more, only a bound.
  static bool has_sum(const Values& parts, int axis) try {
    definitions::Dim sum = 0;
    for (const Value* part : parts) {
      const Shape<definitions::Dim> shape = shape_of(*part);
      const int at = axis + (axis < 0 ? shape.rank : 0);
      if (at >= 0 && at < shape.rank) sum += shape[at];
    }
    return true;
  } catch (const definitions::DimError&) {
    return false;
  }
};

}  // namespace

bool Inference::take_members(Node& node) {
  if (!node.is("SequenceAt") && !node.is("ConcatFromSequence") && !node.is("OptionalGetElement")) {
    return false;
  }
  check_types(node);
  Value* result = Members(*this, node).result();
  if (result == nullptr) return false;
  inherit_declaration(*result, *node.outputs[0]);
  Graph::replace_uses(node.outputs[0], result);
  node.graph->remove(&node);
  return true;
}

}  // namespace intarsia::converter
