// SPDX-License-Identifier: Apache-2.0
//
// Shape functions: one function per operator that computes the extents of its outputs.
//
// An operator is a type; its shape function is a template over the context it runs in:
//
//     struct Transpose {
//       using Attributes = TransposeAttributes;
//       static constexpr std::string_view name = "Transpose";
//       template <class S> static Status infer(S& s);
//     };
//
// The same code runs twice: in the converter over symbolic extents (S::Dim is an expression), and
// in the runtime over numbers (S = ShapeContext, S::Dim = CheckedInt) in checks and when a plan has
// extents that vary. So it is written with the operations that both provide: + - * on S::Dim,
// `floor_div`, `ceil_div`, `dim_max`, `dim_min`, `is_constant` / `constant_value`, and the members
// of ShapeContext below. Both kinds of Dim saturate: a size that does not fit 64 bits is refused by
// whatever it is compared with. Decisions may be taken on ranks, on attributes, and on extents that
// `is_constant`; everything else is left to `broadcast`, `require_equal` and `require_at_least`,
// which report contradictions.
//
// No allocation, no state, any thread.
//
// Why one function and not two: the converter plans memory from what the function says of symbols,
// and the runtime sizes tensors from what it says of numbers. If these were written apart, a plan
// could reserve less than a run needs. `S` is deduced, so an ordinary `auto` style applies:
//
//     using Dim = typename S::Dim;
//     Shape<Dim> y = s.shape(0);
//     y[1] = s.dim(0, 1) + s.dim(1, 1);
//     return s.set_output(0, s.type(0), y);
//
// A function must hold for every rank, type and attribute value that it is handed: attributes and
// extents may come from a hostile file. It returns `s.fail(...)` for what the specification
// forbids.
#pragma once

#include <cstdint>
#include <string_view>

#include "intarsia/checked_int.h"
#include "intarsia/kernel_set.h"

namespace intarsia {

/// Extents of one tensor while shapes are computed. A value type of fixed size; Dim is a CheckedInt
/// at run time and an expression in the converter.
template <class Dim>
struct Shape {
  int rank = 0;
  Dim extents[kMaxRank] = {};

  Dim& operator[](int axis) { return extents[checked(axis)]; }
  const Dim& operator[](int axis) const { return extents[checked(axis)]; }
  /// Appends an extent. Beyond kMaxRank only the rank counts on; `set_output` refuses such a shape.
  void push(const Dim& extent) {
    if (rank < kMaxRank) extents[rank] = extent;
    ++rank;
  }

 private:
  /// Axes that no shape has, as the converter's Dim refuses them: models are hostile.
  static constexpr int checked(int axis) {
    if constexpr (requires { Dim::check_axis(axis); }) Dim::check_axis(axis);
    return axis;
  }
};

/// The context of a shape function at run time: reads a node's operands, sets its outputs' extents.
class ShapeContext {
 public:
  using Dim = CheckedInt;

  explicit ShapeContext(const KernelContext& context) : context_(context) {}

  template <class A>
  const A& attributes() const {
    return context_.attributes<A>();
  }
  int input_count() const { return context_.input_count(); }
  int output_count() const { return context_.output_count(); }
  bool has_input(int input) const { return context_.input(input).present(); }
  DataType type(int input) const { return context_.input(input).type; }
  int rank(int input) const { return context_.input(input).rank; }
  /// Extent of an axis; 0 for an axis that the input lacks.
  Dim dim(int input, int axis) const {
    return axis >= 0 && axis < rank(input) ? Dim(context_.input(input).extents[axis]) : Dim();
  }
  Shape<Dim> shape(int input) const {
    Shape<Dim> result;
    for (int32_t extent : context_.input(input).dims()) result.push(extent);
    return result;
  }

  /// True if the elements of an input are known. Always so at run time; in the converter only for
  /// constants and for what is computed from extents.
  bool has_values(int input) const { return context_.input(input).data != nullptr; }
  /// Number of elements of an integer or float input whose values are read.
  int64_t value_count(int input) const { return context_.input(input).count(); }
  /// Element `index` of an integer (int32, int64, uint8, bool) input. In the converter an element
  /// that is not known is an expression without bounds.
  Dim value(int input, int64_t index) const;
  /// Element `index` of a float, float16 or double input. REQUIRES: has_values(input).
  double real_value(int input, int64_t index) const;

  /// Declares the type (used by the converter only) and the extents of an output. Fails beyond the
  /// planned maximum. An output that the node leaves out is ignored.
  Status set_output(int output, DataType type, const Shape<Dim>& shape);
  /// Declares the type of an output whose extents only the run can tell: the kernel reports them by
  /// `resize_output`, within a bound that the conversion has found or was given. For operators
  /// whose definition says so (`extents_vary`).
  Status set_output_type(int, DataType) { return {}; }

  /// Common extent of two broadcast axes (equal, or one of them 1).
  Status broadcast(Dim a, Dim b, Dim& result, int operand, int axis) const {
    if (a == b || b == 1) {
      result = a;
    } else if (a == 1) {
      result = b;
    } else {
      return fail(Code::kWrongExtent, "extent does not broadcast", a.value(), b.value(), operand,
                  axis);
    }
    return {};
  }
  /// Sizes that do not fit are equal to nothing and at least as large as nothing.
  Status require_equal(Dim expected, Dim found, const char* what, int operand,
                       int axis = -1) const {
    return require(expected == found, expected, found, what, operand, axis);
  }
  Status require_at_least(Dim minimum, Dim found, const char* what, int operand,
                          int axis = -1) const {
    return require(found >= minimum, minimum, found, what, operand, axis);
  }
  /// Reports that the node contradicts its specification. `what` must be a string literal.
  Status fail(Code code, const char* what, int64_t expected = 0, int64_t found = 0,
              int operand = -1, int axis = -1) const {
    return context_.fail(code, what, expected, found, operand, axis);
  }
  /// The same with a message that the shape function has made; see KernelContext::fail.
  Status fail(Code code, const char* what, std::string_view text) const {
    return context_.fail(code, what, text);
  }

 protected:
  const KernelContext& context() const { return context_; }

 private:
  Status require(bool condition, Dim expected, Dim found, const char* what, int operand,
                 int axis) const;

  const KernelContext& context_;
};

/// Key of an operator's shape function in a plan. Operators may share one function (all
/// element-wise ones do); it is then linked once.
constexpr uint64_t shape_key(std::string_view name) {
  return kernel_key(KernelId{name, "shape", {}, 1});
}
template <class Op>
constexpr uint64_t shape_key() {
  return shape_key(Op::name);
}

/// The run-time entry of operator Op's shape function, for `shape_set`.
template <class Op>
constexpr ShapeFunction shape_function_of() {
  return {shape_key<Op>(), [](const KernelContext& context) {
            if constexpr (requires { typename Op::Attributes; }) {
              if (!context.has_attributes<typename Op::Attributes>()) {
                return context.fail(Code::kCorruptPlan, "attribute bytes",
                                    sizeof(typename Op::Attributes), context.attribute_bytes());
              }
            }
            ShapeContext shapes(context);
            return Op::infer(shapes);
          }};
}

namespace internal {

template <class Op>
inline constexpr ShapeFunction shape_row = shape_function_of<Op>();

template <class Op>
constexpr KeyedRow<ShapeFunction> keyed_shape() {
  if constexpr (requires { Op::row; }) {
    return keyed_linked_shape<Op>();
  } else {
    return {shape_key<Op>(), &shape_row<Op>};
  }
}

template <class... Ops>
inline constexpr auto keyed_shapes =
    sorted_by_key(std::array<KeyedRow<ShapeFunction>, sizeof...(Ops)>{keyed_shape<Ops>()...});
template <class... Ops>
inline constexpr auto shape_table = without_keys(keyed_shapes<Ops...>);
}  // namespace internal

/// A set of shape functions, of rules or of LinkedShape; combine it with
/// `kernel_set<...>().with(shape_set<...>())`.
template <class... Ops>
constexpr KernelSet shape_set() {
  static_assert(internal::keys_are_unique(internal::keyed_shapes<Ops...>),
                "two operators in one shape_set have the same key");
  return {{}, internal::shape_table<Ops...>};
}

}  // namespace intarsia
