// SPDX-License-Identifier: Apache-2.0
//
// How an operator type (intarsia/operator.h) becomes a kernel and a shape function. Not for direct
// inclusion; programs that the converter generates name `OperatorKernel` and `OperatorShape`.
//
// All decisions fall at compile time, from the signature of `run`: which argument is which operand,
// which element types select the kernel, what `check` has to prove. What is left for run time is
// one call with views on the stack.
#pragma once

#include <array>

#include "intarsia/internal/extent_check.h"
#include "intarsia/internal/operator_checks.h"
#include "intarsia/operator.h"

namespace intarsia {
namespace internal {

/// What an argument of `run` stands for.
enum class ArgumentKind : uint8_t {
  kUnknown,
  kInput,
  kOptionalInput,
  kVariadicInput,
  kScalar,
  kOutput,
  kOptionalOutput,
  kVariadicOutput,
  kAttributes,
  kWorkspace,
  kContext,
};
constexpr bool is_input(ArgumentKind kind) {
  return kind >= ArgumentKind::kInput && kind <= ArgumentKind::kScalar;
}
constexpr bool is_output(ArgumentKind kind) {
  return kind >= ArgumentKind::kOutput && kind <= ArgumentKind::kVariadicOutput;
}
constexpr bool is_variadic(ArgumentKind kind) {
  return kind == ArgumentKind::kVariadicInput || kind == ArgumentKind::kVariadicOutput;
}
constexpr bool is_optional(ArgumentKind kind) {
  return kind == ArgumentKind::kOptionalInput || kind == ArgumentKind::kOptionalOutput;
}

template <class T>
struct OperandTraits {
  static constexpr ArgumentKind kind =
      data_type_of<T> != DataType::kUndefined ? ArgumentKind::kScalar : ArgumentKind::kUnknown;
  using Element = T;
};
template <class T>
struct OperandTraits<Input<T>> {
  static constexpr ArgumentKind kind = ArgumentKind::kInput;
  using Element = T;
};
template <class T>
struct OperandTraits<Output<T>> {
  static constexpr ArgumentKind kind = ArgumentKind::kOutput;
  using Element = T;
};
/// True for the tensors that Optional and Variadic may hold.
template <class Operand>
inline constexpr bool is_tensor = false;
template <class T>
inline constexpr bool is_tensor<Input<T>> = true;
template <class T>
inline constexpr bool is_tensor<Output<T>> = true;
template <class Operand>
requires is_tensor<Operand>
struct OperandTraits<Optional<Operand>> {
  static constexpr ArgumentKind kind =
      Operand::is_input ? ArgumentKind::kOptionalInput : ArgumentKind::kOptionalOutput;
  using Element = typename Operand::Element;
};
template <class Operand>
requires is_tensor<Operand>
struct OperandTraits<Variadic<Operand>> {
  static constexpr ArgumentKind kind =
      Operand::is_input ? ArgumentKind::kVariadicInput : ArgumentKind::kVariadicOutput;
  using Element = typename Operand::Element;
};
template <class Operand>
requires is_tensor<Operand>
struct OperandTraits<Variadic<Optional<Operand>>> : OperandTraits<Variadic<Operand>> {
};

/// True if the model may leave the operand out; of a variadic one, leave it empty among others.
template <class Argument>
inline constexpr bool may_lack = false;
template <class Operand>
inline constexpr bool may_lack<Optional<Operand>> = true;
template <class Operand>
inline constexpr bool may_lack<Variadic<Optional<Operand>>> = true;
template <>
struct OperandTraits<Workspace> {
  static constexpr ArgumentKind kind = ArgumentKind::kWorkspace;
  using Element = Any;
};
template <>
struct OperandTraits<KernelContext> {
  static constexpr ArgumentKind kind = ArgumentKind::kContext;
  using Element = Any;
};

/// The attributes struct of an operator type; one without attributes has none.
template <class K>
struct AttributesOf {
  using type = NoAttributes;
};
template <class K>
requires requires {
  typename K::Attributes;
}
struct AttributesOf<K> {
  using type = typename K::Attributes;
};

template <class K, class Argument>
constexpr ArgumentKind kind_of() {
  using Plain = std::remove_cvref_t<Argument>;
  // Tensors and scalars come by value or as constants: a reference to write through is none.
  if (std::is_lvalue_reference_v<Argument> && !std::is_const_v<std::remove_reference_t<Argument>>) {
    return ArgumentKind::kUnknown;
  }
  if (std::is_same_v<Plain, typename AttributesOf<K>::type>) return ArgumentKind::kAttributes;
  return OperandTraits<Plain>::kind;
}

/// Takes a function type apart.
template <class F>
struct Signature;
template <class R, class... As>
struct Signature<R (*)(As...)> {
  using Result = R;
  using Arguments = std::tuple<As...>;
  static constexpr bool has_object = false;
};
template <class R, class C, class... As>
struct Signature<R (C::*)(As...)> {
  using Result = R;
  using Arguments = std::tuple<As...>;
  static constexpr bool has_object = true;
};
template <class R, class C, class... As>
struct Signature<R (C::*)(As...) const> : Signature<R (C::*)(As...)> {};
template <class R, class... As>
struct Signature<R (*)(As...) noexcept> : Signature<R (*)(As...)> {};
template <class R, class C, class... As>
struct Signature<R (C::*)(As...) noexcept> : Signature<R (C::*)(As...)> {};
template <class R, class C, class... As>
struct Signature<R (C::*)(As...) const noexcept> : Signature<R (C::*)(As...)> {};
/// `static constexpr auto run = &function;`
template <class F>
struct Signature<F* const*> : Signature<F*> {};

/// What the signature says of one operand.
struct Operand {
  std::string_view name;
  std::string_view variable;
  ArgumentKind kind = ArgumentKind::kUnknown;
  /// kUndefined for Any.
  DataType type = DataType::kUndefined;
  /// Of a variadic operand, how many there are at least.
  int minimum = 1;
  bool may_lack = false;
};

/// Proves number, presence and types of a node's operands before anything of the operator sees
/// them. The first `inputs` of `operands` are inputs. One function for all operators, in core.
Status check_signature(const KernelContext& context, std::span<const Operand> operands, int inputs);

/// Stands in for a type that is no operator, so that the compiler says so once and nothing else.
struct NoOperator {
  static constexpr OperatorInfo info{.name = "?", .inputs = {"x"}, .outputs = {"y"}};
  static void run(Input<float>, Output<float>);
};

/// The constants that follow from one operator type, and the sentences for one that is wrong.
/// REQUIRES: K is Sound.
template <class K>
struct Binding {
  using Run = Signature<decltype(&K::run)>;
  using Arguments = typename Run::Arguments;
  using Attributes = typename AttributesOf<K>::type;
  static constexpr bool has_state = Run::has_object;
  static constexpr size_t kArguments = std::tuple_size_v<Arguments>;

  template <size_t I>
  using Argument = std::tuple_element_t<I, Arguments>;

  static constexpr auto kinds = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<ArgumentKind, kArguments + 1>{kind_of<K, Argument<I>>()...,
                                                    ArgumentKind::kUnknown};
  }
  (std::make_index_sequence<kArguments>());
  static constexpr auto types = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<DataType, kArguments + 1>{
        data_type_of<typename OperandTraits<std::remove_cvref_t<Argument<I>>>::Element>...};
  }
  (std::make_index_sequence<kArguments>());

  static constexpr auto lacking = []<size_t... I>(std::index_sequence<I...>) {
    return std::array<bool, kArguments + 1>{may_lack<std::remove_cvref_t<Argument<I>>>...};
  }
  (std::make_index_sequence<kArguments>());

  static constexpr int count(bool (*matches)(ArgumentKind)) {
    int result = 0;
    for (size_t i = 0; i < kArguments; ++i) result += matches(kinds[i]) ? 1 : 0;
    return result;
  }
  static constexpr int kInputs = count(is_input);
  static constexpr int kOutputs = count(is_output);

  static constexpr bool all_known() {
    for (size_t i = 0; i < kArguments; ++i) {
      if (kinds[i] == ArgumentKind::kUnknown) return false;
    }
    return true;
  }
  /// True if nothing of the same direction follows a variadic argument.
  static constexpr bool variadic_is_last() {
    for (size_t i = 0; i < kArguments; ++i) {
      for (size_t j = i + 1; j < kArguments && is_variadic(kinds[i]); ++j) {
        if (is_input(kinds[i]) ? is_input(kinds[j]) : is_output(kinds[j])) return false;
      }
    }
    return true;
  }
  static constexpr bool inputs_are_first() {
    bool output = false;
    for (size_t i = 0; i < kArguments; ++i) {
      if (is_input(kinds[i]) && output) return false;
      output = output || is_output(kinds[i]);
    }
    return true;
  }
  /// A copy would lose what lies behind the attributes, or cost time without a purpose.
  template <class A>
  static constexpr bool copies(ArgumentKind kind) {
    const bool by_reference = kind == ArgumentKind::kAttributes || kind == ArgumentKind::kContext;
    return by_reference && !std::is_reference_v<A>;
  }
  static constexpr bool copies_any() {
    return []<size_t... I>(std::index_sequence<I...>) {
      return (copies<Argument<I>>(kinds[I]) || ... || false);
    }
    (std::make_index_sequence<kArguments>());
  }
  static_assert(!copies_any(),
                "run: attributes and context are taken as `const Attributes&` and `const "
                "KernelContext&`; strings and lists lie behind the attributes in the plan, where a "
                "copy does not find them");
  static_assert(all_known(),
                "run: an argument is none of Input<T>, Output<T>, Optional<...>, Variadic<...>, a "
                "scalar by value, const Attributes&, Workspace, const KernelContext&; T has to be "
                "an element type of ONNX such as float, int64_t or Float16");
  static_assert(variadic_is_last(), "run: only the last input and the last output may be Variadic");
  static_assert(inputs_are_first(), "run: inputs come before outputs");
  static_assert(std::is_same_v<typename Run::Result, Status> ||
                    std::is_same_v<typename Run::Result, void>,
                "run: returns intarsia::Status, or void");
  static_assert(kOutputs > 0, "run: an operator has at least one output");
  static_assert(K::info.inputs.count == kInputs,
                "info.inputs has to name every input that run takes, in their order");
  static_assert(K::info.outputs.count == kOutputs,
                "info.outputs has to name every output that run takes, in their order");
  static_assert(std::is_empty_v<Attributes> || is_plan_struct<Attributes>,
                "Attributes: members have fixed widths (StringAttribute and ListAttribute for what "
                "has not), and the size is a multiple of 4 bytes");
  static_assert(are_fields_sound<Attributes>(),
                "Attributes: needs `template <class V> void fields(V& v)`, which names every "
                "attribute and its member");
  static_assert(K::info.since_version >= 1 && K::info.since_version <= 255 &&
                    K::info.since_version <= K::info.until_version,
                "info: since_version lies between 1 and 255 and is not above until_version");

  /// Operand `number` in the order of inputs, then outputs.
  static constexpr std::array<Operand, kInputs + kOutputs> operands = [] {
    std::array<Operand, kInputs + kOutputs> result{};
    int input = 0, output = 0;
    for (size_t i = 0; i < kArguments; ++i) {
      if (!is_input(kinds[i]) && !is_output(kinds[i])) continue;
      const bool in = is_input(kinds[i]);
      const OperandName& name = in ? K::info.inputs[input] : K::info.outputs[output];
      result[static_cast<size_t>(in ? input++ : kInputs + output++)] =
          Operand{name.name, name.type, kinds[i], types[i], name.minimum, lacking[i]};
    }
    return result;
  }();

  static constexpr bool variables_agree() {
    for (const Operand& a : operands) {
      for (const Operand& b : operands) {
        if (a.variable == b.variable && a.type != b.type) return false;
      }
    }
    return true;
  }
  static_assert(variables_agree(),
                "info: operands of different element types share a type variable; give one of them "
                "another, as in .inputs = {\"x\", {\"groups\", \"G\"}}");

  /// The type variables that select a kernel: the first three that stand for one type.
  struct Variables {
    std::string_view names[3];
    DataType types[3] = {};
    int count = 0;
  };
  static constexpr Variables variables = [] {
    Variables result;
    for (const Operand& operand : operands) {
      bool known = operand.type == DataType::kUndefined;
      for (int i = 0; i < result.count; ++i) known |= result.names[i] == operand.variable;
      if (known || result.count == 3) continue;
      result.names[result.count] = operand.variable;
      result.types[result.count++] = operand.type;
    }
    return result;
  }();

  /// "mydomain:Scale".
  static constexpr size_t kDomain = K::info.domain.size();
  static constexpr size_t kName = kDomain + (kDomain != 0 ? 1 : 0) + K::info.name.size();
  static constexpr std::array<char, kName + 1> name_text = [] {
    std::array<char, kName + 1> text{};
    size_t at = 0;
    for (char c : K::info.domain) text[at++] = c;
    if (at != 0) text[at++] = ':';
    for (char c : K::info.name) text[at++] = c;
    return text;
  }();
  static constexpr std::string_view name{name_text.data(), kName};

  static constexpr KernelTypes kernel_types = [] {
    KernelTypes result;
    for (int i = 0; i < variables.count; ++i) result.push(variables.types[i]);
    return result;
  }();

  /// Which operand of its direction argument I is.
  template <size_t I>
  static constexpr int place() {
    int result = 0;
    for (size_t i = 0; i < I; ++i) {
      result += (is_input(kinds[I]) ? is_input(kinds[i]) : is_output(kinds[i])) ? 1 : 0;
    }
    return result;
  }

  template <size_t I>
  static decltype(auto) bind(const KernelContext& context) {
    using Plain = std::remove_cvref_t<Argument<I>>;
    if constexpr (kinds[I] == ArgumentKind::kAttributes) {
      return attributes_of(context);
    } else if constexpr (kinds[I] == ArgumentKind::kContext) {
      return (context);
    } else if constexpr (kinds[I] == ArgumentKind::kScalar) {
      return Plain(Input<Plain>(context, place<I>())[0]);
    } else {
      return Plain(context, place<I>());
    }
  }

  static const Attributes& attributes_of(const KernelContext& context) {
    if constexpr (std::is_empty_v<Attributes>) {
      static constexpr Attributes kNone{};
      return kNone;
    } else {
      return context.attributes<Attributes>();
    }
  }

  static Status call(const KernelContext& context) {
    return [&context]<size_t... I>(std::index_sequence<I...>)->Status {
      const auto invoke = [&context]() -> decltype(auto) {
        if constexpr (has_state) {
          return (static_cast<K*>(context.state())->*(&K::run))(bind<I>(context)...);
        } else {
          return K::run(bind<I>(context)...);
        }
      };
      if constexpr (std::is_void_v<typename Run::Result>) {
        invoke();
        return {};
      } else {
        return invoke();
      }
    }
    (std::make_index_sequence<kArguments>());
  }
};

}  // namespace internal

/// The shape function of operator type K: what the signature says, then K's own `infer`. One serves
/// all element types of an operator, so it takes types from the operands, not from K.
template <class Type>
struct OperatorShape {
  using K = internal::Sound<Type>;
  using Attributes = typename internal::AttributesOf<K>::type;
  static constexpr std::string_view name = internal::Binding<K>::name;

  template <class S>
  static Status infer(S& s) {
    using Binding = internal::Binding<K>;
    for (int i = 0; i < Binding::kInputs; ++i) {
      if (Binding::operands[static_cast<size_t>(i)].kind != internal::ArgumentKind::kScalar) {
        continue;
      }
      if (s.rank(i) > 1) return s.fail(Code::kWrongRank, "rank of a scalar", 0, s.rank(i), i);
      if (s.rank(i) == 0) continue;
      if (Status status = s.require_equal(1, s.dim(i, 0), "elements of a scalar", i, 0); !status) {
        return status;
      }
    }
    if constexpr (requires { K::infer(s); }) {
      return K::infer(s);
    } else {
      static_assert(Binding::kInputs > 0, "an operator without inputs needs a shape function");
      for (int i = 0; i < s.output_count(); ++i) {
        if (Status status = s.set_output(i, result_type(s, i), s.shape(0)); !status) return status;
      }
      return {};
    }
  }

 private:
  /// That of the first input with the same type variable; without one, what the signature says.
  template <class S>
  static DataType result_type(const S& s, int output) {
    using Binding = internal::Binding<K>;
    const int last = Binding::kOutputs - 1;
    const auto& result =
        Binding::operands[static_cast<size_t>(Binding::kInputs + (output < last ? output : last))];
    for (int i = 0; i < Binding::kInputs; ++i) {
      if (Binding::operands[static_cast<size_t>(i)].variable == result.variable && s.has_input(i)) {
        return s.type(i);
      }
    }
    return result.type != DataType::kUndefined ? result.type : s.type(0);
  }
};

namespace internal {

/// Members that a kernel has only if its operator type asks for them.
template <class K, bool Has>
struct WithWorkspace {};
template <class K>
struct WithWorkspace<K, true> {
  static int64_t workspace(const KernelContext& context) { return K::workspace(context); }
};
template <class K, bool Has>
struct WithSupports {};
template <class K>
struct WithSupports<K, true> {
  static bool supports(const KernelContext& context) { return K::supports(context); }
};
template <class K, bool Has>
struct WithState {};
template <class K>
struct WithState<K, true> {
  static constexpr int64_t state_bytes = sizeof(K);

  static Status create(const KernelContext& context) {
    static_assert(alignof(K) <= 64, "a state is aligned to 64 bytes at most");
    if (context.state_bytes() < state_bytes) {
      return context.fail(Code::kCorruptPlan, "state bytes", state_bytes, context.state_bytes());
    }
    const auto& attributes = Binding<K>::attributes_of(context);
    K* object = nullptr;
    if constexpr (requires { K(attributes); }) {
      object = new (context.state()) K(attributes);
    } else {
      object = new (context.state()) K();
    }
    if constexpr (requires { object->create(context); }) {
      if (Status status = object->create(context); !status) {
        object->~K();
        return status;
      }
    } else if constexpr (requires { object->create(attributes); }) {
      if (Status status = object->create(attributes); !status) {
        object->~K();
        return context.fail(status.code(), "the operator refuses its attributes");
      }
    }
    return {};
  }
  static void destroy(const KernelContext& context) { static_cast<K*>(context.state())->~K(); }
};

template <class K>
inline constexpr bool has_workspace = requires(const KernelContext& context) {
  K::workspace(context);
};
template <class K>
inline constexpr bool has_supports = requires(const KernelContext& context) {
  K::supports(context);
};

/// `OperatorKernel` of a type that is an operator.
template <class K>
struct KernelOfOperator : WithWorkspace<K, has_workspace<K>>,
                          WithSupports<K, has_supports<K>>,
                          WithState<K, Binding<K>::has_state> {
  using Binding = internal::Binding<K>;
  static constexpr KernelId id{Binding::name, "", Binding::kernel_types,
                               static_cast<uint8_t>(K::info.since_version)};
  static constexpr InPlace in_place = K::info.in_place;

  static Status check(const KernelContext& context) {
    using Attributes = typename Binding::Attributes;
    if (!context.has_attributes<Attributes>()) {
      return context.fail(Code::kCorruptPlan, "attribute bytes", sizeof(Attributes),
                          context.attribute_bytes());
    }
    if (Status s = check_signature(context, Binding::operands, Binding::kInputs); !s) {
      return s;
    }
    KnownExtentCheck outputs(context, K::info.extents_vary);
    if (Status status = OperatorShape<K>::infer(outputs); !status) return status;
    if constexpr (has_workspace<K>) {
      if (K::workspace(context) > context.workspace_bytes()) {
        return context.fail(Code::kCorruptPlan, "workspace bytes", K::workspace(context),
                            context.workspace_bytes());
      }
    }
    if constexpr (requires { K::check(context); }) return K::check(context);
    return {};
  }

  static Status run(const KernelContext& context) { return Binding::call(context); }
};

}  // namespace internal

/// The kernel of operator type K.
template <class K>
struct OperatorKernel : internal::KernelOfOperator<internal::Sound<K>> {};

namespace internal {

/// The kernel that serves operator type K: the one that it names, or that of its `run`.
template <class K>
struct KernelOf {
  using type = OperatorKernel<K>;
};
template <class K>
requires requires {
  typename K::Kernel;
}
struct KernelOf<K> {
  using type = typename K::Kernel;
};

template <class T>
struct Found {
  using type = T;
};
template <uint64_t key, class... Ks>
struct InList {
  static_assert(sizeof...(Ks) > 0,
                "the OperatorList lacks an operator that the plan was made with; convert the model "
                "again with this version of the operators");
};
template <uint64_t key, class K, class... Ks>
struct InList<key, K, Ks...> {
  static auto kernel() {
    using Kernel = typename KernelOf<K>::type;
    if constexpr (kernel_key(Kernel::id) == key) {
      return Found<Kernel>();
    } else {
      return InList<key, Ks...>::kernel();
    }
  }
  static auto shape() {
    if constexpr (shape_key<OperatorShape<K>>() == key) {
      return Found<OperatorShape<K>>();
    } else {
      return InList<key, Ks...>::shape();
    }
  }
};
template <uint64_t key, class... Ks>
InList<key, Ks...> in_list(OperatorList<Ks...>);

}  // namespace internal

/// The kernel with this key of an OperatorList, and the shape function: what emitted programs name
/// in their sets.
template <class List, uint64_t key>
using KernelIn = typename decltype(decltype(internal::in_list<key>(List()))::kernel())::type;
template <class List, uint64_t key>
using ShapeIn = typename decltype(decltype(internal::in_list<key>(List()))::shape())::type;

}  // namespace intarsia
