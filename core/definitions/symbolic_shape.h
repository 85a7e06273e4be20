// SPDX-License-Identifier: Apache-2.0
//
// `SymbolicShapeContext`: what a shape function runs over in the converter.
//
// It has the members of ShapeContext (intarsia/shape.h), with expressions (`Dim`) for extents.
// Where a condition holds for some assignments of the symbols and fails for others, it passes here
// and is checked again at run time; it fails only if no assignment can satisfy it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/definitions/dim.h"
#include "core/definitions/sequence_type.h"
#include "intarsia/shape.h"

namespace intarsia::definitions {

/// What is known of one input.
struct SymbolicInput {
  /// False for an optional input that the model leaves out.
  bool present = false;
  DataType type = DataType::kUndefined;
  Shape<Dim> shape;
  /// Elements of a small tensor of integers, as far as they are known: all of them, some perhaps
  /// `Dim::unknown()`. Also for tensors of reals, as numerators over `denominator`; shape functions
  /// see whole numbers only.
  std::optional<std::vector<Dim>> values;
  int64_t denominator = 1;
  /// Elements of a constant tensor of reals.
  std::optional<std::vector<double>> reals;
  /// What a sequence or an optional value holds; null if that is not known.
  SequencePointer sequence;
};

struct SymbolicOutput {
  DataType type = DataType::kUndefined;  ///< kUndefined if the shape function did not set it.
  Shape<Dim> shape;
  /// False if only the type was set: the extents are not known.
  bool has_shape = false;
  SequencePointer sequence;  ///< As in SymbolicInput.
};

class SymbolicShapeContext {
 public:
  using Dim = definitions::Dim;

  /// `attributes` is the operator's attributes struct. Inputs and attributes must outlive the
  /// context.
  SymbolicShapeContext(std::span<const SymbolicInput> inputs, int output_count,
                       std::span<const std::byte> attributes)
      : inputs_(inputs), outputs_(static_cast<size_t>(output_count)), attributes_(attributes) {}

  /// What the shape function set.
  const std::vector<SymbolicOutput>& outputs() const { return outputs_; }
  /// What it reported; `text()` is the same as a sentence, with expressions where there are any.
  const Diagnostic& diagnostic() const { return diagnostic_; }
  const std::string& text() const { return text_; }

  template <class A>
  const A& attributes() const {
    return *reinterpret_cast<const A*>(attributes_.data());
  }
  /// The attributes as the operator's codec has stored them.
  std::span<const std::byte> attribute_blob() const { return attributes_; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  bool has_input(int input) const { return at(input).present; }
  DataType type(int input) const { return at(input).type; }
  int rank(int input) const { return at(input).shape.rank; }
  Dim dim(int input, int axis) const {
    return axis >= 0 && axis < rank(input) ? at(input).shape[axis] : Dim(0);
  }
  Shape<Dim> shape(int input) const { return at(input).shape; }
  const SequencePointer& sequence(int input) const { return at(input).sequence; }

  /// True if elements of an input are known; for reals, if all are.
  bool has_values(int input) const;
  /// Number of elements, or -1 where it varies.
  int64_t value_count(int input) const;
  Dim value(int input, int64_t index) const;
  double real_value(int input, int64_t index) const;

  Status set_output(int output, DataType type, const Shape<Dim>& shape);
  Status set_output_type(int output, DataType type);
  /// Says what an output holds that is a sequence or an optional value, after `set_output`.
  void set_sequence(int output, SequencePointer sequence);
  Status broadcast(const Dim& a, const Dim& b, Dim& result, int operand, int axis) const;
  Status require_equal(const Dim& expected, const Dim& found, const char* what, int operand,
                       int axis = -1) const;
  Status require_at_least(const Dim& minimum, const Dim& found, const char* what, int operand,
                          int axis = -1) const;
  Status fail(Code code, const char* what, int64_t expected = 0, int64_t found = 0,
              int operand = -1, int axis = -1) const;
  Status fail(Code code, const char* what, std::string_view text) const;

 private:
  const SymbolicInput& at(int input) const;
  Status fail_dims(Code code, const char* what, const Dim& expected, const Dim& found, int operand,
                   int axis) const;

  std::span<const SymbolicInput> inputs_;
  std::vector<SymbolicOutput> outputs_;
  std::span<const std::byte> attributes_;
  // `fail` is const in ShapeContext, since it reports through the session.
  mutable Diagnostic diagnostic_;
  mutable std::string text_;
};

}  // namespace intarsia::definitions
