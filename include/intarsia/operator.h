// SPDX-License-Identifier: Apache-2.0
//
// Operators of one's own: an operator is a type, and the signature of its `run` function says what
// it takes and gives.
//
//     template <class T>
//     struct Scale {
//       static constexpr OperatorInfo info{
//           .domain = "mydomain", .name = "Scale", .inputs = {"x", "bias"}, .outputs = {"y"}};
//       struct Attributes {
//         float factor = 1.0f;
//         template <class V> void fields(V& v) { v("factor", factor); }
//       };
//       static Status run(const Attributes& attributes, Input<T> x, Optional<Input<T>> bias,
//                         Output<T> y);
//     };
//     using Operators = OperatorList<Scale<float>, Scale<double>>;
//
// The list is what `intarsia_add_operators` (cmake/IntarsiaAddModel.cmake) is given: it builds a
// plug-in for the converter and a library for the program. docs/custom_operators.md walks through
// it.
//
// Arguments of `run`, in the order of the operator's inputs and outputs, inputs first:
//
//     Input<T>, Output<T>          a tensor of element type T; T = Any takes every type
//     Optional<Input<T>>           may be left out by the model; so may Optional<Output<T>>
//     Variadic<Input<T>>           the last input, any number of times; so is Variadic<Output<T>>;
//                                  Variadic<Optional<...>> where the model may leave some empty
//     T (float, int64_t, ...)      an input with one element: rank 0, or extents [1]
//     const Attributes&            the node's attributes, in place in the plan
//     Workspace                    scratch memory, as many bytes as `workspace` asked for
//     StateMemory                  the node's own memory, as many bytes as `state_bytes` asked for
//     cuda::Stream                 the stream of the session, for operators on CUDA
//     const KernelContext&         threads, services, errors with their place
//
// The last five may stand anywhere. `run` returns Status, or void if it cannot fail. Anything else
// does not compile, with a sentence that says why. Binding arguments allocates nothing.
//
// What else the type may have:
//
//     template <class S> static Status infer(S& s)         the shape function (intarsia/shape.h);
//                                                          without one, outputs are like input 0
//     static int64_t workspace(const KernelContext&)       bytes that `run` needs at these extents
//     static int64_t state_bytes(const KernelContext&)     bytes beside the object, see below
//     static Status check(const KernelContext&)            more that must hold before `run`
//     static bool supports(const KernelContext&)           whether it serves these extents at all
//     static constexpr bool on_cuda = true                 `run` launches CUDA kernels, see
//                                                          cuda::Stream
//     using Kernel = ...                                   a kernel type (intarsia/kernel.h) that
//                                                          takes the place of `run`, which is then
//                                                          declared for its signature only
//
// If `run` is not static, the type itself is the node's state: one object per node and session,
// made in the arena when the session is opened and destroyed when it is closed; what a run leaves
// in it the next one finds, and `Session::reset_states` puts a new one in its place. It is
// constructed from the attributes if it has such a constructor, and may have `Status create(const
// Attributes&)` to refuse: it comes before `check` where extents vary. With `state_bytes` it is
// `Status create(const KernelContext&, StateMemory)`: memory of a size that depends on extents, to
// keep a packed form of a constant input in, say. Nothing is static, and two
// sessions share nothing; no other node of a plan, however hostile, reads or writes the object.
//
// What `run` may rely on: types and number of operands; that required ones are present; and that
// outputs have the extents which the shape function computes. This is checked when a plan is
// opened, and again before a run where extents vary. Where a shape function reads values, extents
// that follow from them cannot be checked beforehand: then `run` compares them itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "intarsia/attributes.h"
#include "intarsia/kernel.h"
#include "intarsia/shape.h"

namespace intarsia {

/// Name of an input or output, and its type variable: operands of one variable have one type. With
/// "" for a variable it has a type of its own, each one of a variadic operand
/// (Variadic<Input<Any>>).
struct OperandName {
  std::string_view name;
  std::string_view type = "T";
  /// Operands that a Variadic one takes at least.
  int minimum = 1;

  constexpr OperandName() = default;
  constexpr OperandName(const char* operand, const char* variable = "T", int least = 1)  // NOLINT
      : name(operand), type(variable), minimum(least) {}
};

/// A short list that may be a constant, written in braces.
template <class T, int N>
struct ConstantList {
  T items[N] = {};
  int count = 0;

  constexpr ConstantList() = default;
  constexpr ConstantList(std::initializer_list<T> list) {  // NOLINT: written as braces
    for (const T& item : list) items[count++] = item;
  }
  constexpr const T& operator[](int index) const { return items[index]; }
};

/// What the converter knows of an operator besides its signature.
struct OperatorInfo {
  /// As the model's nodes name it; "" is ONNX's own domain.
  std::string_view domain = {};
  std::string_view name = {};
  /// Versions of the domain that this form is valid for. A later form is another type.
  int since_version = 1;
  int until_version = 0x7fffffff;
  ConstantList<OperandName, 16> inputs = {};
  ConstantList<OperandName, 16> outputs = {};
  /// Inputs whose memory output 0 may take over, where both have as many elements: `run` then reads
  /// each element before it writes the one at that position. Written as {0} or {0, 1}.
  InPlace in_place = {};
  /// Two equal nodes may give different results, as with random numbers: the converter neither
  /// executes nor merges them. Always so for operators with state.
  bool impure = false;
  /// `run` alone can tell the extents of outputs, and sets them with `Output::resize`. What the
  /// shape function sets are then the largest ones.
  bool extents_vary = false;
  /// An element of an output depends on the elements of the inputs at the same place, inputs being
  /// broadcast: the converter may lay out all of them in another order of axes.
  bool element_wise = false;
  /// The integer attribute that names the one axis along which the operator works; inputs and
  /// outputs have the same rank, and the order of the other axes does not matter. The converter
  /// then may change the order of axes and this attribute with it.
  std::string_view axis = {};
  /// How the gradients of the inputs follow from those of the outputs, as calls of operators: "dx =
  /// my.ReluBackward(y, dy)", or of ONNX's, "s = Sign(x); dx = Mul(s, dy)". The form:
  /// docs/training.md. Empty: the operator has none.
  std::string_view gradient = {};
  /// Not empty: no new operator but another kernel, called so, for one that is defined elsewhere,
  /// by Intarsia or by another library. Of the types that the list has it takes the place of the
  /// kernels there are. All else that is known of the operator stays: its shape function, its
  /// gradient, folding. So `Attributes` is the operator's own struct, or one laid out alike
  /// (core/operators/), operands are those of its definition, and `infer` is its rule.
  std::string_view replaces = {};
};

/// Stands for every element type: Input<Any>, Output<Any>.
struct Any {};

/// A tensor to read: dense, row-major elements of type T.
///
/// A view on memory that the session owns; it is valid during the call of `run` and must not be
/// kept in a state. Elements may be float, double, Float16, BFloat16, bool, the integers of 8 to 64
/// bits, and StringRef, whose characters `context.string(x[i])` gives. Any other type, and
/// operators that only move bytes, use Input<Any>.
///
/// Elements of an Input<bool> are bytes: they may come from outside the program, and in C++ a bool
/// that is neither 0 nor 1 must not even be read. `data()` and `span()` give the bytes, of which
/// any but 0 is true; `operator[]` gives a bool.
template <class T>
class Input {
 public:
  using Element = T;
  using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
  static constexpr bool is_input = true;
  Input(const KernelContext& context, int index) : tensor_(context.input(index)) {}

  const Stored* data() const { return tensor_.template as<const Stored>(); }
  int64_t size() const { return tensor_.count(); }
  decltype(auto) operator[](int64_t index) const {
    if constexpr (std::is_same_v<T, bool>) {
      return data()[index] != 0;
    } else {
      return (data()[index]);  // a reference
    }
  }
  std::span<const Stored> span() const { return {data(), static_cast<size_t>(size())}; }
  int rank() const { return tensor_.rank; }
  /// REQUIRES: 0 <= axis < rank().
  int32_t dim(int axis) const { return tensor_.extents[axis]; }
  std::span<const int32_t> extents() const { return tensor_.dims(); }
  const TensorView& view() const { return tensor_; }
  bool present() const { return tensor_.present(); }

 private:
  const TensorView& tensor_;
};

/// A tensor of any type to read. The type is that of the plan; where it decides what to do, `run`
/// switches on it, and refuses with `context.fail(Code::kUnsupported, ...)` what it cannot serve.
template <>
class Input<Any> {
 public:
  using Element = Any;
  static constexpr bool is_input = true;
  Input(const KernelContext& context, int index) : tensor_(context.input(index)) {}
  const TensorView& view() const { return tensor_; }
  DataType type() const { return tensor_.type; }
  bool present() const { return tensor_.present(); }

 private:
  const TensorView& tensor_;
};

/// A tensor to write. Its contents are undefined at entry, and every element has to be written.
///
/// Its memory is never that of an input, unless the operator's info lists the input as `in_place`.
/// The extents are those that the shape function has computed for this run.
template <class T>
class Output {
 public:
  using Element = T;
  static constexpr bool is_input = false;
  Output(const KernelContext& context, int index) : context_(context), index_(index) {}

  T* data() const { return view().template as<T>(); }
  int64_t size() const { return view().count(); }
  T& operator[](int64_t index) const { return data()[index]; }
  std::span<T> span() const { return {data(), static_cast<size_t>(size())}; }
  int rank() const { return view().rank; }
  int32_t dim(int axis) const { return view().extents[axis]; }
  std::span<const int32_t> extents() const { return view().dims(); }
  const TensorView& view() const { return context_.output(index_); }
  bool present() const { return view().present(); }
  /// Sets the actual extents, before writing; for operators whose info says `extents_vary`. Fails
  /// beyond what was planned, and where the model declares others.
  Status resize(std::span<const int32_t> extents) const {
    return context_.resize_output(index_, extents);
  }

 private:
  const KernelContext& context_;
  int index_;
};

/// A tensor of any type to write, of the type that the shape function has chosen.
template <>
class Output<Any> {
 public:
  using Element = Any;
  static constexpr bool is_input = false;
  Output(const KernelContext& context, int index) : context_(context), index_(index) {}
  const TensorView& view() const { return context_.output(index_); }
  DataType type() const { return view().type; }
  bool present() const { return view().present(); }
  Status resize(std::span<const int32_t> extents) const {
    return context_.resize_output(index_, extents);
  }

 private:
  const KernelContext& context_;
  int index_;
};

/// An operand that the model may leave out: at the end by naming fewer, in the middle by an empty
/// name. One that is left out has no memory; an output need not be computed then.
///
/// REQUIRES for `*` and `->`: it is there. An absent one has no elements to point to.
template <class Operand>
class Optional {
 public:
  using Element = typename Operand::Element;
  static constexpr bool is_input = Operand::is_input;
  Optional(const KernelContext& context, int index) : operand_(context, index) {}
  explicit operator bool() const { return operand_.present(); }
  const Operand& operator*() const { return operand_; }
  const Operand* operator->() const { return &operand_; }

 private:
  Operand operand_;
};

/// All further inputs, or all further outputs: nothing of the same side may follow.
///
/// How many there are is the node's affair; `OperandName::minimum` is the least, and no node with
/// fewer reaches `run`. All have type T; Variadic<Input<Any>> takes operands of one type that only
/// the run knows, or each of its own where `info` gives them no type variable. All are there: an
/// output that the model leaves empty is written for nobody. An operator that can save that work
/// takes Variadic<Optional<Output<T>>>.
template <class Operand>
class Variadic {
 public:
  Variadic(const KernelContext& context, int first) : context_(context), first_(first) {}
  int size() const {
    const int count = Operand::is_input ? context_.input_count() : context_.output_count();
    return count > first_ ? count - first_ : 0;
  }
  Operand operator[](int index) const { return Operand(context_, first_ + index); }

 private:
  const KernelContext& context_;
  int first_;
};

/// Scratch memory of one run, 64-byte aligned; contents are undefined at entry.
///
/// The converter asks `workspace(context)` at the planned, largest extents and places the bytes in
/// the arena, where other nodes use them at other times. For work that is shared among threads ask
/// for `context.threads()` parts: `parallel_for` passes the number of the thread.
class Workspace {
 public:
  Workspace(const KernelContext& context, int) : bytes_(context.workspace()) {}
  std::span<std::byte> bytes() const { return bytes_; }
  /// The first elements as T.
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(bytes_.data());
  }

 private:
  std::span<std::byte> bytes_;
};

/// Memory of the node's own beside its object, 64-byte aligned, kept like the object from `create`
/// to the end of the session; `create` finds it undefined.
///
/// The converter asks `state_bytes(context)` at the planned, largest extents; elements are not
/// there then, those of constants neither when a plan is opened, so the size follows from types,
/// extents and attributes.
class StateMemory {
 public:
  explicit StateMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes() const { return bytes_; }
  /// The first elements as T.
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(bytes_.data());
  }

 private:
  std::span<std::byte> bytes_;
};

namespace cuda {

/// The stream of a session on CUDA (intarsia/cuda.h), for entries with `on_cuda = true`.
///
/// Operands and workspace of such an entry lie in the device's memory; only types and extents may
/// be looked at on the host. `run` launches kernels on the stream and returns: it does not wait,
/// read results or allocate, for it is called once, when the session is opened and captures a CUDA
/// graph, and the graph is what every run launches. What a launch returns goes to `launched`.
///
/// A scalar by value is the exception: a number that the host needs, such as how many elements are
/// asked for. It is a constant of the model, read from the plan; a node whose scalar the model only
/// computes stays on the host.
class Stream {
 public:
  Stream(const KernelContext& context, int /*place*/) : context_(context) {}
  /// A cudaStream_t. Defined in intarsia::cuda, which the program links.
  void* handle() const;
  /// The Status of a call of CUDA, 0 being success, such as cudaGetLastError() behind a launch.
  Status launched(int error) const;

 private:
  const KernelContext& context_;
};

/// Where the host finds input `input` of a node on the device; null unless it is a constant.
/// Defined in intarsia::cuda.
const void* host_constant(const KernelContext& context, int input);

}  // namespace cuda

/// The operators of a library, one entry per element type: `OperatorList<Scale<float>, Sum>`.
///
/// Entries with the same domain, name and version are one operator; they agree in everything but
/// their element types. The order is that of preference where several serve a node.
template <class... Ks>
struct OperatorList {};

/// The kernels of a list whose templates have `run` defined in a source. That source ends with
///
///     template struct intarsia::Instances<my_ops::Operators>;
///
/// so that no element type is named a second time. Where several sources define operators each has
/// a list of its own, and Joined<A, B> is that of the library.
template <class List>
struct Instances;

namespace internal {
template <class... Lists>
struct JoinedLists;
template <class... Ks>
struct JoinedLists<OperatorList<Ks...>> {
  using type = OperatorList<Ks...>;
};
template <class... As, class... Bs, class... Rest>
struct JoinedLists<OperatorList<As...>, OperatorList<Bs...>, Rest...>
    : JoinedLists<OperatorList<As..., Bs...>, Rest...> {};
}  // namespace internal

/// The entries of several lists as one.
template <class... Lists>
using Joined = typename internal::JoinedLists<Lists...>::type;

}  // namespace intarsia

#include "intarsia/internal/operator_binding.h"
