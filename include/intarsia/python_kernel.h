// SPDX-License-Identifier: Apache-2.0
//
// Operators that are declared in C++ and computed in Python.
//
//     struct UserRelu {
//       static constexpr OperatorInfo info{
//           .domain = "user", .name = "user_relu", .inputs = {"x"}, .outputs = {"y"}};
//       static Status run(Input<float> x, Output<float> y);  // declared only
//       using Kernel = PythonKernel<UserRelu>;
//       static constexpr std::string_view python = "user_relu_py_kernel:forward";
//     };
//
//     # user_relu_py_kernel.py
//     def forward(args):
//         (x,) = args
//         return (x > 0) * x
//
// The declaration is that of any operator type (intarsia/operator.h): name, operands and their
// types, attributes, shape function. `run` is never defined; its signature says what the operands
// are. `python` names what is called, as Python's entry points are written: "module:function", or
// "module:Class.method", of which each node of each session has an object of its own.
//
// It is called as `forward` of an operator defined in a Python file is (docs/python.md): with a
// tuple of the inputs, and with a dict of the attributes if it takes a second argument. Results
// are checked against the declared outputs: number, types, and the extents of the shape function.
//
// Needs permission at run time: a PyHost (intarsia/pyop.h) among the services of the session. The
// C++ code, not the plan, names the module. Neither this header nor a library of such operators
// knows Python or links it; the program that starts the PyHost does.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "intarsia/operator.h"
#include "intarsia/pyop.h"

namespace intarsia {
namespace internal {

/// An attribute's value, or an element of one that is a list.
struct PythonValue {
  enum Kind : uint8_t { kEmptyList, kInteger, kReal, kText, kTensor };
  Kind kind = kEmptyList;
  int64_t integer = 0;
  float real = 0;
  std::string_view text = {};
  TensorView tensor = {};
};

/// Takes a node's attributes. A list comes as kEmptyList, then its elements one by one.
struct PythonAttributes {
  void* self = nullptr;
  void (*put)(void* self, std::string_view name, const PythonValue& value, bool element) = nullptr;
};

/// What a node calls, and with what.
struct PythonCallee {
  std::string_view function;
  int inputs = 0, outputs = 0;
  /// False: the extents of outputs are known before each run.
  bool extents_vary = false;
  void (*attributes)(const KernelContext& context, const PythonAttributes& target) = nullptr;
};

/// Gives the attributes away with their names: a visitor of `fields`. The struct in the plan was
/// checked (KernelContext::has_attributes).
class PythonAttributeReader {
 public:
  explicit PythonAttributeReader(const PythonAttributes& target) : target_(target) {}

  template <class T>
  void operator()(std::string_view name, const T& field) {
    see(name, field);
  }
  void operator()(std::string_view name, const StringAttribute& field, std::string_view) {
    see(name, field);
  }
  template <class T>
  void operator()(std::string_view name, const ListAttribute<T>& field, ListDefault<T>) {
    see(name, field);
  }
  template <class T>
  void operator()(std::string_view name, const T& field, AttributeLimits) {
    see(name, field);
  }
  template <class T>
  void required(std::string_view name, const T& field, AttributeLimits = {}) {
    see(name, field);
  }
  void choice(std::string_view name, int32_t index, std::initializer_list<std::string_view> texts) {
    put(name, text_of(index, texts));
  }
  template <int N>
  void choices(std::string_view name, const FixedList<int32_t, N>& list,
               std::initializer_list<std::string_view> texts) {
    put(name, {});
    for (int i = 0; list.valid() && i < list.count; ++i) put(name, text_of(list[i], texts), true);
  }
  template <class T>
  void internal(std::string_view, const T&) {}
  void ignored(std::string_view) {}

 private:
  template <class T>
  requires std::is_arithmetic_v<T>
  static PythonValue value_of(T field) {
    if constexpr (std::is_floating_point_v<T>) {
      return {.kind = PythonValue::kReal, .real = static_cast<float>(field)};
    } else {
      return {.kind = PythonValue::kInteger, .integer = static_cast<int64_t>(field)};
    }
  }
  static PythonValue value_of(std::string_view text) {
    return {.kind = PythonValue::kText, .text = text};
  }
  static PythonValue text_of(int32_t index, std::initializer_list<std::string_view> texts) {
    const bool known = index >= 0 && static_cast<size_t>(index) < texts.size();
    return value_of(known ? texts.begin()[index] : std::string_view());
  }

  template <class T>
  void see(std::string_view name, const T& field) {
    put(name, value_of(field));
  }
  /// A tensor that the node leaves out is none of its attributes.
  void see(std::string_view name, const TensorAttribute& field) {
    if (field.present()) put(name, {.kind = PythonValue::kTensor, .tensor = field.view()});
  }
  template <class T>
  void see(std::string_view name, const ListAttribute<T>& field) {
    see_list(name, field.view());
  }
  template <class T, int N>
  void see(std::string_view name, const FixedList<T, N>& field) {
    see_list(name, field.valid() ? field.view() : std::span<const T>());
  }
  template <class T>
  void see_list(std::string_view name, std::span<const T> list) {
    put(name, {});
    for (const T& element : list) put(name, value_of(element), true);
  }
  void put(std::string_view name, const PythonValue& value, bool element = false) {
    target_.put(target_.self, name, value, element);
  }

  const PythonAttributes& target_;
};

}  // namespace internal

/// The kernel of operator type K, `K::python`.
template <class K>
struct PythonKernel {
  using Binding = internal::Binding<K>;
  static constexpr KernelId id = OperatorKernel<K>::id;
  static constexpr int64_t state_bytes = PyOp::state_bytes;

  static Status check(const KernelContext& context) { return OperatorKernel<K>::check(context); }

  static Status create(const KernelContext& context) {
    static_assert(K::python.find(':') != std::string_view::npos,
                  "python: \"module:function\" or \"module:Class.method\"");
    static_assert(!Binding::has_state, "run is static; an object with state is one of Python");
    const internal::PyHostCalls* calls = internal::py_host_calls(context);
    if (calls == nullptr) return context.fail(Code::kUnsupported, internal::kNoPyHost);
    return calls->create(context,
                         {K::python, formal_count(true, context), formal_count(false, context),
                          K::info.extents_vary, &give_attributes});
  }
  static Status run(const KernelContext& context) {
    const internal::PyHostCalls* calls = internal::py_host_calls(context);
    if (calls == nullptr) return context.fail(Code::kUnsupported, internal::kNoPyHost);
    return calls->run(context);
  }
  static void destroy(const KernelContext& context) {
    const internal::PyHostCalls* calls = internal::py_host_calls(context);
    if (calls != nullptr) calls->destroy(context);
  }

 private:
  static void give_attributes(const KernelContext& context,
                              const internal::PythonAttributes& target) {
    using Attributes = typename Binding::Attributes;
    internal::PythonAttributeReader reader(target);
    if constexpr (!std::is_empty_v<Attributes>) {
      // `fields` is one function for reading and writing; this visitor only reads.
      const_cast<Attributes&>(Binding::attributes_of(context)).fields(reader);
    }
  }
  /// Operands that the function gets or gives: all declared ones, absent at the end or not, and as
  /// many of a variadic one as the node has.
  static int formal_count(bool inputs, const KernelContext& context) {
    const int declared = inputs ? Binding::kInputs : Binding::kOutputs;
    const int given = inputs ? context.input_count() : context.output_count();
    const size_t last =
        static_cast<size_t>(inputs ? Binding::kInputs : Binding::kInputs + Binding::kOutputs) - 1;
    if (declared == 0) return 0;
    const bool variadic = internal::is_variadic(Binding::operands[last].kind);
    return variadic && given < declared ? declared - 1 : given > declared ? given : declared;
  }
};

}  // namespace intarsia
