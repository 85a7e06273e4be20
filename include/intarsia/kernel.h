// SPDX-License-Identifier: Apache-2.0
//
// Kernels: what executes a node, and how it is written.
//
// A kernel is a type with static members:
//
//     template <class T>
//     struct Relu {
//       static constexpr KernelId id{"Relu", "", {data_type_of<T>}};
//       static Status check(const KernelContext& context);   // optional, see below
//       static Status run(const KernelContext& context);
//     };
//
// A program names the kernels that it links in a `kernel_set` (intarsia/kernel_set.h).
//
// `check` proves, from attributes and extents alone, that `run` reads and writes only inside its
// operands; it sees null data pointers. It runs once at `Session::open` for untrusted plans, and
// before every `run` of a node whose extents vary. `run` may rely on what `check` proved and must
// itself only check data: indices, divisors, loop bounds. Neither allocates, locks, logs, throws or
// keeps state outside the context. Kernels are re-entrant: two sessions may run one concurrently.
//
// Memory: what a kernel writes overlaps no other operand of the node, except that output 0 may be
// the very memory of an input that the kernel permits:
//
//     static constexpr InPlace in_place{0};
//
// Then both have as many elements, of one width, and `run` reads each element before it writes the
// one at that position. A kernel that states nothing permits nothing. The session sees to this at
// `open`, before each run of a node whose extents vary, and where the program binds buffers: a
// kernel need not. An output whose extents `run` itself reports (`resize_output`) never lies in the
// memory of an input. Everything a kernel needs beyond its operands is planned by the converter:
// scratch memory (`workspace`) and state that outlives a run (`state`, with `create` and
// `destroy`).
//
// Threads: `parallel_for` shares the work of one node among the threads that the caller supplied,
// as many of them as the size of its operands is worth. The cut into units depends on the extents
// only, so results are the same bits for any number of threads.
//
// Errors: `return context.fail(code, "what", expected, found, operand, axis);` A kernel fails on
// data (an index out of range, an integer division by zero); after a failure its outputs are
// undefined. A kernel with a message of its own (a service's, or one kept in the node's state)
// gives that instead of the numbers.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "intarsia/attributes.h"
#include "intarsia/isa.h"
#include "intarsia/status.h"
#include "intarsia/string_pool.h"
#include "intarsia/tensor.h"

namespace intarsia {

/// Pseudo element types of kernels that only move elements: they accept every type of that width.
enum class ElementWidth : uint8_t { k8 = 200, k16 = 201, k32 = 202, k64 = 203, k128 = 204 };

/// One entry of a kernel's type list: an element type, or a width.
struct KernelType {
  uint8_t code = 0;
  constexpr KernelType() = default;
  constexpr KernelType(DataType type) : code(static_cast<uint8_t>(type)) {}        // NOLINT
  constexpr KernelType(ElementWidth width) : code(static_cast<uint8_t>(width)) {}  // NOLINT
  friend constexpr bool operator==(KernelType, KernelType) = default;

  /// True if a tensor of element type `type` may be given to this kernel.
  constexpr bool accepts(DataType type) const {
    if (code < static_cast<uint8_t>(ElementWidth::k8)) return code == static_cast<uint8_t>(type);
    return element_bits(type) == 8 << (code - static_cast<uint8_t>(ElementWidth::k8));
  }
};

/// The types of a kernel, one for each type variable that selects it.
struct KernelTypes {
  /// More than the operators of ONNX have type variables.
  static constexpr int kMost = 8;

  constexpr KernelTypes() = default;
  template <std::convertible_to<KernelType>... Ts>
  constexpr KernelTypes(Ts... types)  // NOLINT: written as braces
      : all{KernelType(types)...}, count(sizeof...(Ts)) {
    static_assert(sizeof...(Ts) <= kMost, "a kernel has more types than a KernelId holds");
  }
  constexpr const KernelType* begin() const { return all; }
  constexpr const KernelType* end() const { return all + count; }
  constexpr size_t size() const { return count; }
  constexpr const KernelType& operator[](size_t i) const { return all[i]; }
  constexpr void push(KernelType type) { all[count++] = type; }

  KernelType all[kMost] = {};
  size_t count = 0;
};

/// What a kernel implements. Its hash is the key by which a plan names the kernel.
///
/// Two kernels may share an operator if they differ in variant, types or revision. A revision that
/// a released plan may name stays available throughout a major version.
struct KernelId {
  /// "Name" for the ai.onnx domain, "domain:Name" for others.
  std::string_view op;
  /// Tells apart the kernels of one operator and type, for instance "packed"; "" is the reference.
  std::string_view variant;
  /// Element types, in the order that the operator's definition gives.
  KernelTypes types;
  /// Raised when the attributes' layout, the packing of a weight or the meaning changes.
  uint8_t revision = 1;
};

/// 64-bit FNV-1a over the fields of a KernelId. Part of the plan format.
constexpr uint64_t kernel_key(const KernelId& id) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&hash](uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3u; };
  for (char c : id.op) mix(static_cast<uint8_t>(c));
  mix('/');
  for (char c : id.variant) mix(static_cast<uint8_t>(c));
  mix('/');
  // Three at least, so that kernels of few types keep the keys that plans have.
  for (size_t i = 0; i < 3 || i < id.types.size(); ++i) mix(id.types.all[i].code);
  mix(id.revision);
  return hash;
}

/// The inputs whose memory output 0 of a kernel may take over.
struct InPlace {
  uint32_t inputs = 0;  // bit i: input i; bit 31: every input from there on

  constexpr InPlace() = default;
  template <std::same_as<int>... Inputs>
  constexpr InPlace(int first, Inputs... more)  // NOLINT: written as braces
      : inputs((bit(first) | ... | bit(more))) {}
  /// Any of the inputs, for operators that take a varying number.
  static constexpr InPlace every() {
    InPlace all;
    all.inputs = ~uint32_t{0};
    return all;
  }

  constexpr bool permits(int input) const { return (inputs & bit(input)) != 0; }
  constexpr bool nothing() const { return inputs == 0; }

 private:
  static constexpr uint32_t bit(int input) { return uint32_t{1} << (input < 31 ? input : 31); }
};

class KernelContext;

/// Whether a loop is shared among threads.
enum class Share : uint8_t {
  kIfWorth,  ///< If the node's operands are large enough: Parallel::grain_bytes.
  kAlways,   ///< In any case: for units that take microseconds however small the operands are.
};

/// Threads, supplied by the caller: the library starts none. A pool, an operating system's task
/// facility or a loop on the calling thread all fit. `run` must call `body(argument, begin, end,
/// thread)` so that the ranges cover [0, count) exactly once, with `thread` in [0, threads), and
/// return when all are done. A range may be any size; results never depend on the split. Must
/// outlive the session.
struct Parallel {
  using Body = void (*)(void* argument, int64_t begin, int64_t end, int thread);

  void* self = nullptr;
  int threads = 1;
  void (*run)(void* self, int64_t count, Body body, void* argument) = nullptr;
  /// A node is worth a thread for each so many bytes that its operands have, and one at least: to
  /// hand over work takes a microsecond or two. 0: every node is worth all threads.
  int64_t grain_bytes = 16384;
  /// The library's part, not to be set: gives a node's loop to as many threads as it is worth.
  /// Programs without threads do not link it.
  void (*share)(const Parallel& self, const KernelContext& context, Share how, int64_t count,
                Body body, void* argument) = &share_units;

  static void share_units(const Parallel& parallel, const KernelContext& context, Share how,
                          int64_t count, Body body, void* argument);

  /// What KernelContext::parallel_steps is given.
  struct Steps {
    using Part = void (*)(const void* body, int64_t step, int part, int parts);
    int64_t count;
    const void* body;
    Part ahead;
    Part step;
  };
  /// The same for KernelContext::parallel_steps.
  void (*share_steps)(const Parallel& self, const KernelContext& context, const Steps& steps,
                      int64_t most) = &take_steps;

  static void take_steps(const Parallel& parallel, const KernelContext& context, const Steps& steps,
                         int64_t most);
};

/// What a KernelContext reaches of its session; implemented by the runtime and by the converter's
/// evaluator. Not for kernels to call: they use KernelContext.
struct KernelHost {
  const Parallel* parallel = nullptr;
  Isa isa = Isa::kPortable;
  /// Number of sub-graphs in the plan.
  uint32_t graph_count = 0;
  Diagnostic* diagnostic = nullptr;
  /// Executes a sub-graph of the plan; null where there is none (check, evaluation of one node).
  Status (*run_graph)(const KernelContext& context, uint32_t graph) = nullptr;
  /// Sets the extents of an output within its planned maximum.
  Status (*resize_output)(const KernelContext& context, int output,
                          std::span<const int32_t> extents) = nullptr;
  /// Host services by key (SessionOptions::services), or null.
  void* (*service)(const KernelContext& context, uint64_t key) = nullptr;
  /// Bytes that may be read from an operand's first byte on; null where there is no limit.
  int64_t (*capacity)(const KernelContext& context, int operand) = nullptr;
  /// The planned extents of an operand; null where all are what the views say.
  const int32_t* (*planned_extents)(const KernelContext& context, int operand) = nullptr;
  /// Where strings lie; null in plans without any.
  StringPool* strings = nullptr;
};

/// Everything that one execution of a node may touch. Passed by reference, valid during the call.
///
/// The same type serves `check` and `workspace` in the converter, `check` at open and `run`; what
/// differs is how much is filled in. In `check` data pointers are null and extents are the planned
/// maxima; in the converter constants have data as well.
class KernelContext {
 public:
  int input_count() const { return input_count_; }
  int output_count() const { return output_count_; }

  /// Operands in the order of the operator's definition. An optional operand that the model leaves
  /// out is a view that is not `present()`; an index beyond the node's operands gives one too.
  const TensorView& input(int index) const {
    return index < input_count_ ? operands_[index] : kAbsent;
  }
  const TensorView& output(int index) const {
    return index < output_count_ ? operands_[input_count_ + index] : kAbsent;
  }

  /// The node's attributes, in place in the plan. REQUIRES: A is the operator's attributes struct;
  /// `check` sees to the size through `has_attributes`.
  template <class A>
  const A& attributes() const {
    static_assert(std::is_trivially_copyable_v<A> && alignof(A) <= 8);
    return *static_cast<const A*>(attributes_);
  }
  /// True if the node carries all of A: sizeof(A) bytes, and behind them what its strings, lists
  /// and tensors refer to.
  template <class A>
  bool has_attributes() const {
    return std::is_empty_v<A> ||
           (attribute_bytes_ >= sizeof(A) && AttributeBounds(attribute_blob()).hold<A>());
  }
  uint32_t attribute_bytes() const { return attribute_bytes_; }
  /// The attributes as bytes, for operators whose layout no struct describes.
  std::span<const std::byte> attribute_blob() const {
    return {static_cast<const std::byte*>(attributes_), attribute_bytes_};
  }

  /// Scratch memory planned for this node, 64-byte aligned; contents are undefined at entry.
  std::span<std::byte> workspace() const { return {workspace_, workspace_bytes_}; }
  int64_t workspace_bytes() const { return static_cast<int64_t>(workspace_bytes_); }
  /// State of this node, kept from `create` to `destroy`: 64-byte aligned, and no other node's.
  /// Null if the plan has none for it; the bytes are as many as the plan says, so `create` compares
  /// them with what it needs.
  void* state() const { return state_; }
  int64_t state_bytes() const { return static_cast<int64_t>(state_bytes_); }

  /// The instruction set to use; the best that the processor has, or less if the program asked so.
  Isa isa() const { return host_->isa; }
  /// Most threads that `parallel_for` uses; thread numbers passed to its body are below this.
  int threads() const { return host_->parallel != nullptr ? host_->parallel->threads : 1; }

  /// Calls `body(begin, end, thread)` over [0, count), on the caller's threads if there are several
  /// and the node is worth it.
  template <class Body>
  void parallel_for(int64_t count, const Body& body, Share how = Share::kIfWorth) const {
    const Parallel* parallel = host_->parallel;
    if (parallel == nullptr || count <= 1) {
      if (count > 0) body(int64_t{0}, count, 0);
      return;
    }
    parallel->share(
        *parallel, *this, how, count,
        [](void* argument, int64_t begin, int64_t end, int thread) {
          (*static_cast<const Body*>(argument))(begin, end, thread);
        },
        const_cast<Body*>(&body));
  }

  /// For steps of which each needs all of the one before, as the time steps of a recurrent layer:
  /// calls `body(step, part, parts)` for each part of the steps [0, steps), a step's parts after
  /// all those of the step before. A step is cut into at most `most` parts, on as many threads;
  /// into how many may differ from step to step, but a part of a number is always its thread's.
  /// Threads wait for each other by spinning: for steps of microseconds.
  /// What a part of a step needs of no other part, and leaves to itself alone, is `ahead(step,
  /// part, parts)`: its thread calls it before the part, while others may still be in the step
  /// before, in the same part of which it has been itself.
  template <class Ahead, class Body>
  void parallel_steps(int64_t steps, int64_t most, const Ahead& ahead, const Body& body) const {
    const Parallel* parallel = host_->parallel;
    if (parallel == nullptr || most <= 1) {
      for (int64_t step = 0; step < steps; ++step) {
        ahead(step, 0, 1);
        body(step, 0, 1);
      }
      return;
    }
    struct Both {
      const Ahead& ahead;
      const Body& body;
    } both{ahead, body};
    parallel->share_steps(
        *parallel, *this,
        {.count = steps,
         .body = &both,
         .ahead = [](const void* self, int64_t step, int part,
                     int parts) { static_cast<const Both*>(self)->ahead(step, part, parts); },
         .step = [](const void* self, int64_t step, int part,
                    int parts) { static_cast<const Both*>(self)->body(step, part, parts); }},
        most);
  }
  template <class Body>
  void parallel_steps(int64_t steps, int64_t most, const Body& body) const {
    parallel_steps(
        steps, most, [](int64_t, int, int) {}, body);
  }

  /// For outputs whose extents depend on values: sets the actual extents. Fails with kWrongExtent
  /// beyond the planned maximum, and where the plan promises others. The data pointer does not
  /// change.
  Status resize_output(int index, std::span<const int32_t> extents) const {
    return host_->resize_output(*this, index, extents);
  }

  /// Bytes that may be read behind an operand's data pointer. A weight that the converter packed
  /// keeps its ONNX extents but may occupy more than they say; `check` compares this with the
  /// packed size. `operand` counts inputs, then outputs.
  int64_t capacity(int operand) const {
    return host_->capacity != nullptr ? host_->capacity(*this, operand) : INT64_MAX;
  }

  /// The largest extents that an operand may have, one for each axis of its view; where they do
  /// not vary, those of the view itself. `operand` counts inputs, then outputs.
  const int32_t* planned_extents(int operand) const {
    return host_->planned_extents != nullptr ? host_->planned_extents(*this, operand)
                                             : operands_[operand].extents;
  }

  /// Executes sub-graph `graph` (an index from the attributes of a control-flow operator), as often
  /// as it is called. Fails with kTooManySteps once the run has executed more nodes of sub-graphs
  /// than the session permits.
  Status run_graph(uint32_t graph) const { return host_->run_graph(*this, graph); }
  uint32_t graph_count() const { return host_->graph_count; }

  /// A service of the host program (SessionOptions::services), or null.
  void* service(uint64_t key) const {
    return host_->service != nullptr ? host_->service(*this, key) : nullptr;
  }

  /// The characters of an element of a tensor of strings, in place.
  std::string_view string(StringRef element) const {
    return host_->strings != nullptr ? host_->strings->written(element) : std::string_view();
  }
  /// Room for a new string of `length` bytes, which the kernel writes to `at`; fails with
  /// kTooManyCharacters. Not to be called by several threads (`parallel_for`) at once.
  Status add_string(size_t length, StringRef& element, char*& at) const;
  /// The characters of all strings, or null if the plan has none: for kernels whose threads make
  /// strings side by side in its room (StringPool::room), and take what they wrote together.
  StringPool* strings() const { return host_->strings; }

  /// Index of this node in the plan.
  int32_t node() const { return node_; }

  /// Records what is wrong and returns `code`. `what` must be a string literal.
  Status fail(Code code, const char* what, int64_t expected = 0, int64_t found = 0,
              int operand = -1, int axis = -1) const;
  /// The same with a message made at run time. It is not copied: it must stay until the node is
  /// next called, or as long as the service that holds it.
  Status fail(Code code, const char* what, std::string_view text) const;

  // The fields are filled in by the runtime (core/) and the evaluator (converter/) only.
  static const TensorView kAbsent;
  const TensorView* operands_ = nullptr;
  int32_t input_count_ = 0;
  int32_t output_count_ = 0;
  int32_t node_ = -1;
  uint32_t attribute_bytes_ = 0;
  const void* attributes_ = nullptr;
  std::byte* workspace_ = nullptr;
  size_t workspace_bytes_ = 0;
  void* state_ = nullptr;
  const KernelHost* host_ = nullptr;
  void* runtime_ = nullptr;
  size_t state_bytes_ = 0;
};

inline constexpr TensorView KernelContext::kAbsent{};

}  // namespace intarsia
