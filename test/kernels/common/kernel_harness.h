// SPDX-License-Identifier: Apache-2.0
//
// Runs one kernel without a session: a node, its operands and its context are built by hand.
//
//     Node node;
//     node.input<float>({2, 3}, values).input<int64_t>({1}, {1}).output<float>({2, 1});
//     node.attributes(ReduceAttributes{});
//     ASSERT_TRUE(node.run("ReduceSum<float>").ok());
//     EXPECT_EQ(node.result<float>(), expected);
//
// A kernel goes by its text (core/definitions/kernel_descriptor.h): operator, variant, types.
// Tables of cases use element types as values: `input(type, dims, numbers)`, `numbers()`, and
// `kernel_name("ReduceSum", {type})`; that compiles once for all kernels.
// `run` calls `check` with null data pointers as the runtime does, then `workspace`, `create`,
// `run` and `destroy` as far as the kernel has them. Every buffer lies between guard bytes, inputs
// must come out as they went in, and the workspace starts out as NaN patterns: violations fail the
// test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "core/definitions/kernel_descriptor.h"
#include "intarsia/describe.h"
#include "test/kernels/common/kernel_rows.h"
#include "test/kernels/common/thread_shares.h"
#include "test/kernels/common/uneven_steps.h"

namespace intarsia::test {

using Dims = std::vector<int32_t>;

inline int64_t count_of(const Dims& dims) {
  int64_t count = 1;
  for (int32_t extent : dims) count *= extent;
  return count;
}

/// An element as a double, exactly (integers up to 2^53).
template <class T>
double as_double(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}

/// Bytes between guard bytes, `beyond` bytes after a multiple of 64.
class GuardedBuffer {
 public:
  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kPattern = 0xa5;

  explicit GuardedBuffer(size_t bytes = 0, size_t beyond = 0, uint8_t fill = 0xff)
      : bytes_(bytes), beyond_(beyond), storage_(bytes + beyond + 2 * kGuard + 64, kPattern) {
    std::memset(data(), fill, bytes);
  }
  // A copy would lie at another address and so have its data elsewhere among the guards.
  GuardedBuffer(GuardedBuffer&&) = default;
  GuardedBuffer& operator=(GuardedBuffer&&) = default;

  uint8_t* data() {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data()) + kGuard;
    return storage_.data() + kGuard + (64 - address % 64) % 64 + beyond_;
  }
  size_t size() const { return bytes_; }
  bool intact() {
    const uint8_t* first = storage_.data();
    const uint8_t* last = first + storage_.size();
    const auto guard = [](uint8_t byte) { return byte == kPattern; };
    return std::all_of<const uint8_t*>(first, data(), guard) &&
           std::all_of<const uint8_t*>(data() + bytes_, last, guard);
  }
  std::vector<uint8_t> copy() { return {data(), data() + bytes_}; }

 private:
  size_t bytes_, beyond_;
  std::vector<uint8_t> storage_;
};

/// Threads that take small ranges in turn, so that ranges are uneven and their order varies. Two
/// take steps together, more are one that takes their parts in turn.
inline Parallel threads_of(int count) {
  Parallel parallel;
  parallel.threads = count;
  parallel.grain_bytes = 0;  // operands of tests are small
  parallel.self = reinterpret_cast<void*>(static_cast<intptr_t>(count));
  parallel.run = [](void* self, int64_t total, void (*body)(void*, int64_t, int64_t, int),
                    void* argument) {
    std::atomic<int64_t> next{0};
    const auto threads = static_cast<int>(reinterpret_cast<intptr_t>(self));
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread) {
      workers.emplace_back([&, thread] {
        const int64_t step = thread + 1;
        for (int64_t begin = next.fetch_add(step); begin < total; begin = next.fetch_add(step)) {
          body(argument, begin, std::min(begin + step, total), thread);
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
  };
  if (count > 2) parallel.share_steps = &share_steps_unevenly;
  return parallel;
}

/// Calls body(T()) for the C++ element type of `type`.
template <class Body>
void with_type(DataType type, const Body& body) {
  switch (type) {
    case DataType::kFloat:
      return body(float());
    case DataType::kDouble:
      return body(double());
    case DataType::kFloat16:
      return body(Float16());
    case DataType::kBfloat16:
      return body(BFloat16());
    case DataType::kBool:
      return body(bool());
    case DataType::kInt8:
      return body(int8_t());
    case DataType::kUint8:
      return body(uint8_t());
    case DataType::kInt16:
      return body(int16_t());
    case DataType::kUint16:
      return body(uint16_t());
    case DataType::kInt32:
      return body(int32_t());
    case DataType::kUint32:
      return body(uint32_t());
    case DataType::kInt64:
      return body(int64_t());
    case DataType::kUint64:
      return body(uint64_t());
    default:
      ADD_FAILURE() << "no C++ element type for " << static_cast<int>(type);
  }
}

/// Numbers as elements of a type. REQUIRES for integer types: within their range.
inline void store_numbers(DataType type, const std::vector<double>& numbers, uint8_t* bytes) {
  with_type(type, [&]<class T>(T) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      T element;
      if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
        element = T(static_cast<float>(numbers[i]));
      } else {
        element = static_cast<T>(numbers[i]);
      }
      std::memcpy(bytes + i * sizeof(T), &element, sizeof(T));
    }
  });
}

/// Elements of a type as numbers, exactly (integers up to 2^53).
inline std::vector<double> load_numbers(DataType type, const void* bytes, int64_t count) {
  std::vector<double> numbers;
  with_type(type, [&]<class T>(T) {
    for (int64_t i = 0; i < count; ++i) {
      numbers.push_back(as_double<T>(static_cast<const T*>(bytes)[i]));
    }
  });
  return numbers;
}

/// A kernel as `Node` sees it; members that the kernel type lacks are null.
struct KernelUnderTest {
  std::string_view name;
  Status (*check)(const KernelContext&) = nullptr;
  std::function<Status(const KernelContext&)> run;
  Status (*create)(const KernelContext&) = nullptr;
  void (*destroy)(const KernelContext&) = nullptr;
  int64_t (*workspace)(const KernelContext&) = nullptr;
  int64_t (*packed_bytes)(const KernelContext&, int) = nullptr;
  void (*pack)(const KernelContext&, int, void*) = nullptr;
  int64_t state_bytes = 0;
};
/// `row` is the kernel where it is not the descriptor's own: one of a device.
inline KernelUnderTest under_test(const KernelDescriptor& kernel, const Kernel* row = nullptr) {
  if (row == nullptr) row = kernel.kernel;
  return {kernel.id.op,     row->check,          row->run,    row->create,       row->destroy,
          kernel.workspace, kernel.packed_bytes, kernel.pack, kernel.state_bytes};
}
/// The kernel of this text, "Conv.packed<float>", in a list.
inline const KernelDescriptor* find_kernel(KernelList list, std::string_view text) {
  for (const KernelDescriptor& each : list) {
    if (kernel_text(each.id) == text) return &each;
  }
  return nullptr;
}
/// The CPU kernel of this text.
inline KernelUnderTest cpu_kernel(std::string_view text) {
  const KernelDescriptor* found = find_kernel(cpu_kernels(), text);
  if (found == nullptr) {
    ADD_FAILURE() << "there is no kernel " << text;
    KernelUnderTest none;
    none.run = [](const KernelContext&) -> Status { return Code::kUnsupported; };
    return none;
  }
  return under_test(*found);
}
/// The text of a kernel of these types, "Cast<float, int8>".
inline std::string kernel_name(std::string_view op, const std::vector<DataType>& types) {
  std::string text;
  for (DataType type : types)
    text += (text.empty() ? "" : ", ") + std::string(data_type_name(type));
  return std::string(op) + (text.empty() ? "" : "<" + text + ">");
}
/// The same for kernels that only move elements: "Concat<32 bits>".
inline std::string width_kernel_name(std::string_view op, DataType type) {
  return std::string(op) + "<" + std::to_string(element_bits(type)) + " bits>";
}

class Node {
 public:
  Node& input(DataType type, const Dims& dims, const std::vector<double>& numbers) {
    EXPECT_EQ(count_of(dims), static_cast<int64_t>(numbers.size()));
    inputs_.push_back(make_operand(type, dims));
    store_numbers(type, numbers, inputs_.back().buffer.data());
    return *this;
  }
  Node& output(DataType type, const Dims& dims) {
    outputs_.push_back(make_operand(type, dims));
    return *this;
  }
  /// Appends an input. Elements are converted one by one, so a vector<bool> will do.
  template <class T>
  Node& input(const Dims& dims, const std::vector<T>& values) {
    EXPECT_EQ(count_of(dims), static_cast<int64_t>(values.size()));
    Operand operand = make_operand(data_type_of<T>, dims);
    auto* data = reinterpret_cast<T*>(operand.buffer.data());
    for (size_t i = 0; i < values.size(); ++i) data[i] = values[i];
    inputs_.push_back(std::move(operand));
    return *this;
  }
  Node& absent() {
    inputs_.emplace_back();
    return *this;
  }
  /// Appends an output; `dims` are the planned extents, the most that `resize_output` accepts.
  template <class T>
  Node& output(const Dims& dims) {
    outputs_.push_back(make_operand(data_type_of<T>, dims));
    return *this;
  }
  /// Bytes that were given as those of another type: one that C++ lacks.
  Node& retype_input(int input, DataType type) {
    inputs_[static_cast<size_t>(input)].type = type;
    return *this;
  }
  Node& retype_output(int output, DataType type) {
    outputs_[static_cast<size_t>(output)].type = type;
    return *this;
  }
  /// Output 0 takes over the memory of this input.
  Node& in_place(int input) {
    in_place_ = input;
    return *this;
  }
  template <class A>
  Node& attributes(const A& attributes) {
    return raw_attributes(std::as_bytes(std::span(&attributes, 1)));
  }
  Node& raw_attributes(std::span<const std::byte> bytes) {
    attributes_.resize((bytes.size() + 7) / 8);
    std::memcpy(attributes_.data(), bytes.data(), bytes.size());
    attribute_bytes_ = static_cast<uint32_t>(bytes.size());
    return *this;
  }
  Node& attribute_bytes(uint32_t bytes) {
    attribute_bytes_ = bytes;
    return *this;
  }
  Node& threads(int count) {
    threads_ = count;
    return *this;
  }
  /// Runs it on these threads, which tell what each writes of output 0.
  Node& shares(ThreadShares& shares) {
    shares_ = &shares;
    return threads(static_cast<int>(shares.shares().size()));
  }
  /// Runs it so many times, with one state.
  Node& executions(int count) {
    executions_ = count;
    return *this;
  }
  /// Where the characters of operands of type string lie.
  Node& strings(StringPool& pool) {
    host_.strings = &pool;
    return *this;
  }
  Node& isa(Isa isa) {
    isa_ = isa;
    return *this;
  }
  /// The data of constant inputs is visible to `supports`, `workspace` and `check`, and packed by
  /// `run` if the kernel packs.
  Node& constant(int input) {
    inputs_[static_cast<size_t>(input)].constant = true;
    return *this;
  }

  Status check(std::string_view kernel) { return check(cpu_kernel(kernel)); }
  Status check(const KernelUnderTest& kernel) {
    bind(true);
    return kernel.check != nullptr ? kernel.check(context_) : Status();
  }

  Status run(std::string_view kernel) { return run(cpu_kernel(kernel)); }
  /// Runs the kernel; fails the test if it leaves its operands.
  Status run(const KernelUnderTest& kernel) {
    if (kernel.pack != nullptr) pack(kernel);
    bind(true);
    const int64_t workspace = kernel.workspace != nullptr ? kernel.workspace(context_) : 0;
    workspace_ = GuardedBuffer(static_cast<size_t>(workspace));
    context_.workspace_ = reinterpret_cast<std::byte*>(workspace_.data());
    context_.workspace_bytes_ = workspace_.size();
    if (kernel.check != nullptr) {
      if (Status status = kernel.check(context_); !status) return status;
    }
    bind(false);
    GuardedBuffer state(static_cast<size_t>(kernel.state_bytes));
    context_.state_ = state.data();
    context_.state_bytes_ = state.size();
    if (kernel.create != nullptr) {
      if (Status status = kernel.create(context_); !status) return status;
    }
    std::vector<std::vector<uint8_t>> before;
    for (Operand& operand : inputs_) before.push_back(operand.buffer.copy());
    Status status = kernel.run(context_);
    for (int i = 1; i < executions_ && status.ok(); ++i) status = kernel.run(context_);
    if (kernel.destroy != nullptr) kernel.destroy(context_);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      EXPECT_TRUE(inputs_[i].buffer.intact()) << "written outside input " << i;
      if (static_cast<int>(i) == in_place_) continue;
      EXPECT_EQ(inputs_[i].buffer.copy(), before[i]) << "input " << i << " changed";
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      EXPECT_TRUE(outputs_[i].buffer.intact()) << "written outside output " << i;
    }
    EXPECT_TRUE(workspace_.intact()) << "written outside the workspace";
    EXPECT_TRUE(state.intact()) << "written outside the state";
    return status;
  }

  /// Elements of an output, as many as its actual extents say.
  template <class T>
  std::vector<T> result(int output = 0) {
    const Operand& operand = outputs_[static_cast<size_t>(output)];
    const int64_t count = count_of(operand.dims);
    const auto* data = views_[inputs_.size() + static_cast<size_t>(output)].as<const T>();
    std::vector<T> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = data[i];
    return values;
  }
  std::vector<double> numbers(int output = 0) const {
    const TensorView& view = views_[inputs_.size() + static_cast<size_t>(output)];
    return load_numbers(view.type, view.data, view.count());
  }
  /// The actual extents of an output.
  const Dims& dims(int output = 0) const { return outputs_[static_cast<size_t>(output)].dims; }
  const Diagnostic& diagnostic() const { return diagnostic_; }

 private:
  struct Operand {
    DataType type = DataType::kUndefined;
    Dims dims;
    int64_t planned = 0;  // elements
    bool constant = false;
    GuardedBuffer buffer;
  };

  static Operand make_operand(DataType type, const Dims& dims) {
    Operand operand;
    operand.type = type;
    operand.dims = dims;
    operand.planned = count_of(dims);
    // What the caller binds is aligned for its elements, at times for no more than that.
    const auto element = static_cast<size_t>(byte_size(type, 1));
    operand.buffer = GuardedBuffer(static_cast<size_t>(byte_size(type, operand.planned)),
                                   operand.planned / 2 % 2 != 0 ? element : 0);
    return operand;
  }

  TensorView view_of(Operand& operand, bool checking) {
    TensorView view;
    if (operand.type == DataType::kUndefined) return view;
    view.type = operand.type;
    view.rank = static_cast<uint8_t>(operand.dims.size());
    view.extents = operand.dims.data();
    view.data = checking && !operand.constant ? nullptr : operand.buffer.data();
    return view;
  }

  /// Replaces constants by their packed form, as the converter does.
  void pack(const KernelUnderTest& kernel) {
    bind(false);
    std::vector<GuardedBuffer> packed(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto input = static_cast<int>(i);
      const int64_t bytes = inputs_[i].constant ? kernel.packed_bytes(context_, input) : 0;
      if (bytes == 0) continue;
      packed[i] = GuardedBuffer(static_cast<size_t>(bytes));
      kernel.pack(context_, input, packed[i].data());
      EXPECT_TRUE(packed[i].intact()) << "packing writes outside input " << i;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (packed[i].size() > 0) inputs_[i].buffer = std::move(packed[i]);
    }
  }

  void bind(bool checking) {
    views_.clear();
    for (Operand& operand : inputs_) views_.push_back(view_of(operand, checking));
    for (Operand& operand : outputs_) views_.push_back(view_of(operand, checking));
    if (in_place_ >= 0) {
      views_[inputs_.size()].data = views_[static_cast<size_t>(in_place_)].data;
    }
    parallel_ = threads_of(threads_);
    if (shares_ != nullptr) {
      parallel_ = shares_->watch({outputs_[0].buffer.data(), outputs_[0].buffer.size()});
    }
    diagnostic_ = {};
    host_.parallel = threads_ > 1 ? &parallel_ : nullptr;
    host_.isa = isa_;
    host_.diagnostic = &diagnostic_;
    host_.capacity = [](const KernelContext& context, int operand) {
      const auto& inputs = static_cast<Node*>(context.runtime_)->inputs_;
      return static_cast<int64_t>(inputs[static_cast<size_t>(operand)].buffer.size());
    };
    host_.resize_output = [](const KernelContext& context, int output,
                             std::span<const int32_t> extents) {
      return static_cast<Node*>(context.runtime_)->resize(output, extents);
    };
    context_.operands_ = views_.data();
    context_.input_count_ = static_cast<int32_t>(inputs_.size());
    context_.output_count_ = static_cast<int32_t>(outputs_.size());
    context_.node_ = 0;
    context_.attributes_ = attributes_.data();
    context_.attribute_bytes_ = attribute_bytes_;
    context_.host_ = &host_;
    context_.runtime_ = this;
  }

  Status resize(int output, std::span<const int32_t> extents) {
    Operand& operand = outputs_[static_cast<size_t>(output)];
    Dims dims(extents.begin(), extents.end());
    if (dims.size() != operand.dims.size() || count_of(dims) > operand.planned) {
      return context_.fail(Code::kWrongExtent, "extents beyond the plan", operand.planned,
                           count_of(dims), static_cast<int>(inputs_.size()) + output);
    }
    operand.dims = dims;
    views_[inputs_.size() + static_cast<size_t>(output)].extents = operand.dims.data();
    return {};
  }

  std::vector<Operand> inputs_;
  std::vector<Operand> outputs_;
  std::vector<TensorView> views_;
  std::vector<uint64_t> attributes_;
  uint32_t attribute_bytes_ = 0;
  int in_place_ = -1;
  int threads_ = 1;
  ThreadShares* shares_ = nullptr;
  int executions_ = 1;
  Isa isa_ = Isa::kPortable;
  GuardedBuffer workspace_;
  Parallel parallel_;
  Diagnostic diagnostic_;
  KernelHost host_;
  KernelContext context_;
};

/// Uniform numbers in [low, high] that elements of `type` hold exactly: whole for integers, 0 and 1
/// for bool.
inline std::vector<double> random_numbers(DataType type, int64_t count, std::mt19937& engine,
                                          double low, double high) {
  std::vector<double> numbers(static_cast<size_t>(count));
  with_type(type, [&]<class T>(T) {
    for (double& number : numbers) {
      if constexpr (std::is_same_v<T, bool>) {
        number = engine() % 2;
      } else if constexpr (std::is_integral_v<T>) {
        number = static_cast<double>(std::uniform_int_distribution<int64_t>(
            static_cast<int64_t>(low), static_cast<int64_t>(high))(engine));
      } else {
        const double value = std::uniform_real_distribution<double>(low, high)(engine);
        number = as_double<T>(T(static_cast<float>(value)));
      }
    }
  });
  return numbers;
}

/// The same as elements of type T.
template <class T>
std::vector<T> random_values(int64_t count, std::mt19937& engine, double low, double high) {
  const auto numbers = random_numbers(data_type_of<T>, count, engine, low, high);
  std::vector<T> values;
  for (double number : numbers) {
    if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
      values.push_back(T(static_cast<float>(number)));
    } else {
      values.push_back(static_cast<T>(number));
    }
  }
  return values;
}

/// The element type's rounding error relative to a value.
inline double epsilon_of(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return 0x1p-11;
    case DataType::kBfloat16:
      return 0x1p-8;
    case DataType::kFloat:
      return 0x1p-24;
    default:
      return type == DataType::kDouble ? 0x1p-53 : 0;
  }
}
template <class T>
double epsilon_of() {
  return epsilon_of(data_type_of<T>);
}

/// Fails unless `found` is `expected` within relative * |expected| + absolute; NaN equals NaN.
inline void expect_numbers_near(const std::vector<double>& found,
                                const std::vector<double>& expected, double relative,
                                double absolute) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const double allowed = relative * std::fabs(expected[i]) + absolute;
    if (std::isfinite(expected[i]) && std::fabs(found[i] - expected[i]) <= allowed) continue;
    if (found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))) continue;
    FAIL() << "element " << i << ": expected " << expected[i] << ", found " << found[i];
  }
}
template <class T>
void expect_near(const std::vector<T>& found, const std::vector<double>& expected, double relative,
                 double absolute) {
  std::vector<double> numbers;
  for (T value : found) numbers.push_back(as_double<T>(value));
  expect_numbers_near(numbers, expected, relative, absolute);
}

}  // namespace intarsia::test
