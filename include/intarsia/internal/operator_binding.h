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
#include "intarsia/internal/operator_arguments.h"
#include "intarsia/internal/operator_checks.h"
#include "intarsia/operator.h"

namespace intarsia {
namespace internal {

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

/// True if `run` launches CUDA kernels.
template <class K>
inline constexpr bool on_cuda = false;
template <class K>
requires requires {
  K::on_cuda;
}
inline constexpr bool on_cuda<K> = K::on_cuda;

template <class K>
inline constexpr bool has_state_memory = requires(const KernelContext& context) {
  K::state_bytes(context);
};
/// What of the node's state is beside the object.
template <class K>
StateMemory state_memory(const KernelContext& context) {
  constexpr size_t kObject = (sizeof(K) + 63) / 64 * 64;
  return StateMemory({static_cast<std::byte*>(context.state()) + kObject,
                      static_cast<size_t>(context.state_bytes()) - kObject});
}

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
                "scalar by value, const Attributes&, Workspace, StateMemory, const KernelContext&; "
                "T has to be an element type of ONNX such as float, int64_t or Float16");
  static_assert(count([](ArgumentKind kind) { return kind == ArgumentKind::kStateMemory; }) == 0 ||
                    has_state_memory<K>,
                "run: StateMemory comes from `static int64_t state_bytes(const KernelContext&)`");
  static_assert(on_cuda<K> ||
                    count([](ArgumentKind kind) { return kind == ArgumentKind::kStream; }) == 0,
                "run: cuda::Stream is for operators with `static constexpr bool on_cuda = true`");
  static_assert(!on_cuda<K> || (!has_state && !K::info.extents_vary),
                "on_cuda: `run` is static, and no extents of its outputs vary");
  static_assert(!has_state_memory<K> || has_state,
                "state_bytes: only an operator with state has such memory; `run` is static");
  static_assert(variadic_is_last(), "run: only the last input and the last output may be Variadic");
  static_assert(inputs_are_first(), "run: inputs come before outputs");
  static_assert(std::is_same_v<typename Run::Result, Status> ||
                    std::is_same_v<typename Run::Result, void>,
                "run: returns intarsia::Status, or void");
  static_assert(kOutputs > 0, "run: an operator has at least one output");
  static_assert(!all_known() || K::info.inputs.count == kInputs,
                "info.inputs has to name every input that run takes, in their order");
  static_assert(!all_known() || K::info.outputs.count == kOutputs,
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

  static_assert(K::info.replaces.empty() ||
                    (K::info.gradient.empty() && K::info.axis.empty() && !K::info.element_wise),
                "info: a kernel that replaces others has no gradient, axis or element_wise of its "
                "own; these are the operator's");

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
  static constexpr bool own_types_are_any() {
    for (const Operand& operand : operands) {
      if (operand.variable.empty() && operand.type != DataType::kUndefined) return false;
    }
    return true;
  }
  static_assert(
      own_types_are_any(),
      "info: an operand without a type variable is of any type, Input<Any> or Output<Any>");
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

  /// Scalars of a kernel on a device are read on the host, so they are constants of the model.
  static constexpr bool takes_constants =
      on_cuda<K> && count([](ArgumentKind kind) { return kind == ArgumentKind::kScalar; }) != 0;
  /// The first input that has to be a constant and is not, by `host(input)`; -1 if there is none.
  template <class Host>
  static int lacking_constant(const Host& host) {
    for (int i = 0; i < kInputs && takes_constants; ++i) {
      const bool scalar = operands[static_cast<size_t>(i)].kind == ArgumentKind::kScalar;
      if (scalar && host(i) == nullptr) return i;
    }
    return -1;
  }

  template <size_t I>
  static decltype(auto) bind(const KernelContext& context) {
    using Plain = std::remove_cvref_t<Argument<I>>;
    if constexpr (kinds[I] == ArgumentKind::kAttributes) {
      return attributes_of(context);
    } else if constexpr (kinds[I] == ArgumentKind::kContext) {
      return (context);
    } else if constexpr (kinds[I] == ArgumentKind::kStateMemory) {
      return state_memory<K>(context);
    } else if constexpr (kinds[I] == ArgumentKind::kScalar && on_cuda<K>) {
      using Stored = typename Input<Plain>::Stored;
      const void* host = cuda::host_constant(context, place<I>());
      return static_cast<Plain>(*static_cast<const Stored*>(host));
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
    if constexpr (takes_constants) {
      const int lacking =
          lacking_constant([&](int input) { return cuda::host_constant(context, input); });
      if (lacking >= 0) {
        return context.fail(Code::kCorruptPlan, "a scalar that is no constant", 0, 0, lacking);
      }
    }
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
  static bool supports(const KernelContext& context) {
    const auto host = [&](int input) { return context.input(input).data; };
    if (Binding<K>::lacking_constant(host) >= 0) return false;
    if constexpr (requires { K::supports(context); }) return K::supports(context);
    return true;
  }
};
template <class K, bool Has>
struct WithStateMemory {
  static constexpr int64_t state_bytes = sizeof(K);
};
template <class K>
struct WithStateMemory<K, true> {
  static constexpr int64_t state_bytes = (sizeof(K) + 63) / 64 * 64;
  static int64_t state_at(const KernelContext& context) {
    return state_bytes + K::state_bytes(context);
  }
};
template <class K, bool Has>
struct WithState {};
template <class K>
struct WithState<K, true> : WithStateMemory<K, has_state_memory<K>> {
  using WithStateMemory<K, has_state_memory<K>>::state_bytes;

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
    if constexpr (has_state_memory<K>) {
      constexpr bool kCreates = requires {
        object->create(context, state_memory<K>(context));
      };
      static_assert(kCreates,
                    "an operator with `state_bytes` needs `Status create(const KernelContext&, "
                    "StateMemory)`");
      if constexpr (kCreates) {
        if (Status status = object->create(context, state_memory<K>(context)); !status) {
          object->~K();
          return status;
        }
      }
    } else if constexpr (requires { object->create(context); }) {
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
inline constexpr bool has_supports = Binding<K>::takes_constants ||
                                     requires(const KernelContext& context) {
  K::supports(context);
};

/// `OperatorKernel` of a type that is an operator.
template <class K>
struct KernelOfOperator : WithWorkspace<K, has_workspace<K>>,
                          WithSupports<K, has_supports<K>>,
                          WithState<K, Binding<K>::has_state> {
  using Binding = internal::Binding<K>;
  static constexpr std::string_view variant =
      K::info.replaces.empty() && on_cuda<K> ? "cuda" : K::info.replaces;
  static constexpr KernelId id{Binding::name, variant, Binding::kernel_types,
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
    if constexpr (has_state_memory<K>) {
      const int64_t bytes = KernelOfOperator::state_at(context);
      if (bytes < KernelOfOperator::state_bytes || bytes > context.state_bytes()) {
        return context.fail(Code::kCorruptPlan, "state bytes", bytes, context.state_bytes());
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

}  // namespace intarsia

#include "intarsia/internal/operator_list.h"
