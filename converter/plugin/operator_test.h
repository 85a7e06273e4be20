// SPDX-License-Identifier: Apache-2.0
//
// Tests an operator of one's own (intarsia/operator.h) without a model, a plan or a session. For
// programs on a host, with any test framework; link `intarsia::plugin` and a thread library.
//
//     OperatorTest<Bands<float>> test;
//     test.attribute("gain", 2.0f);
//     test.input<float>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}).absent_input().outputs(2);
//     assert(test.run().ok());                          // else test.text() says why
//     assert(test.output<float>(0) == std::vector<float>({0, 2, 8, 10}));
//     assert(test.extents(0) == std::vector<int32_t>({2, 2}));
//
// `run` does what a session does, in its order: types and extents of outputs from the shape
// function, `workspace`, `check`, `create`, `run`, `~K`. And it does it several times, to see what
// a model would show by accident only:
//
//     - every tensor, the workspace and the state lie between guard bytes, which must stay;
//     - inputs must come out as they went in;
//     - outputs and workspace begin as NaNs, then as other bytes: results that differ are made of
//       elements that nobody has written;
//     - with one thread, and with four that take uneven pieces in a varying order: the same bits;
//     - with output 0 in the memory of each input that `in_place` names, where both have as many
//       bytes: the same bits.
//
// The first of these that fails makes `run` fail with kOperatorFailed, and `text()` says which.
// Each time an operator with state gets a new object; results of one that is `impure` are not
// compared. Not looked at: the converter's half of the shape function (over symbols), for which a
// model has to be converted. Throws std::logic_error if the test itself is wrong; allocates; one
// thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/definitions/attribute_codec.h"
#include "intarsia/describe.h"
#include "intarsia/operator.h"
#include "intarsia/string_pool.h"

namespace intarsia {
namespace internal {

/// Bytes, 64-byte aligned, between guard bytes.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t bytes = 0, uint8_t fill = 0)
      : bytes_(bytes), storage_(bytes + 2 * kGuard + 64, kPattern) {
    std::memset(data(), fill, bytes);
  }
  GuardedBytes(const GuardedBytes&) = delete;  // a copy would lie at another alignment
  GuardedBytes(GuardedBytes&&) = default;
  GuardedBytes& operator=(GuardedBytes&&) = default;

  uint8_t* data() {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data()) + kGuard;
    return storage_.data() + kGuard + (64 - address % 64) % 64;
  }
  size_t size() const { return bytes_; }
  std::vector<uint8_t> copy() { return {data(), data() + bytes_}; }
  bool intact() {
    for (uint8_t* at = storage_.data(); at < storage_.data() + storage_.size(); ++at) {
      if ((at < data() || at >= data() + bytes_) && *at != kPattern) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr uint8_t kPattern = 0xa5;
  size_t bytes_;
  std::vector<uint8_t> storage_;
};

struct TestOperand {
  bool there = false;
  bool constant = false;  ///< Of an input: `create` sees its elements.
  DataType type = DataType::kUndefined;
  std::vector<int32_t> extents;
  std::vector<uint8_t> bytes;  ///< Of an input what is given, of an output what has come.

  TensorView view(void* data) const {
    if (!there) return {};
    return {data, extents.data(), type, static_cast<uint8_t>(extents.size())};
  }
};

/// Takes what the shape function says of outputs.
class OutputExtents : public ShapeContext {
 public:
  OutputExtents(const KernelContext& context, std::vector<TestOperand>& outputs)
      : ShapeContext(context), outputs_(outputs) {}
  Status set_output(int output, DataType type, const Shape<Dim>& shape) {
    TestOperand& operand = outputs_[static_cast<size_t>(output)];
    operand.type = type;
    operand.extents.clear();
    for (int axis = 0; axis < shape.rank && axis < kMaxRank; ++axis) {
      operand.extents.push_back(static_cast<int32_t>(shape[axis].value()));
    }
    return {};
  }
  Status set_output_type(int output, DataType type) {
    outputs_[static_cast<size_t>(output)].type = type;
    return {};
  }

 private:
  std::vector<TestOperand>& outputs_;
};

}  // namespace internal

template <class K>
class OperatorTest {
 public:
  /// Sets an attribute: a number, a text, a list of them, or a tensor (definitions::TensorValue).
  /// What is not set has its default.
  template <class T>
  OperatorTest& attribute(const std::string& name, const T& value) {
    if constexpr (std::is_integral_v<T>) {
      values_[name] = static_cast<int64_t>(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      values_[name] = static_cast<float>(value);
    } else if constexpr (std::is_convertible_v<const T&, std::string>) {
      values_[name] = std::string(value);
    } else {
      values_[name] = value;
    }
    return *this;
  }
  /// Appends an input with these extents and elements.
  template <class T>
  OperatorTest& input(std::vector<int32_t> extents, const std::vector<T>& elements) {
    internal::TestOperand operand{true, false, data_type_of<T>, std::move(extents), {}};
    for (const T element : elements) {  // one by one: of a vector<bool> too
      const auto* bytes = reinterpret_cast<const uint8_t*>(&element);
      operand.bytes.insert(operand.bytes.end(), bytes, bytes + sizeof(T));
    }
    if (operand.view(nullptr).bytes() != static_cast<int64_t>(operand.bytes.size())) {
      throw std::logic_error("the elements are not as many as the extents say");
    }
    inputs_.push_back(std::move(operand));
    return *this;
  }
  /// The same, of a constant of the model: a state is created with its elements.
  template <class T>
  OperatorTest& constant(std::vector<int32_t> extents, const std::vector<T>& elements) {
    input(std::move(extents), elements);
    inputs_.back().constant = true;
    return *this;
  }
  /// Appends an input of strings; `strings` gives those of an output.
  OperatorTest& input_strings(std::vector<int32_t> extents, const std::vector<std::string>& texts) {
    std::vector<StringRef> elements;
    for (const std::string& text : texts) {
      const auto place = static_cast<uint32_t>(characters_.size());
      elements.push_back({place | StringPool::kConstant, static_cast<uint32_t>(text.size())});
      characters_ += text;
    }
    return input(std::move(extents), elements);
  }
  /// Appends an input that the node leaves out.
  OperatorTest& absent_input() {
    inputs_.emplace_back();
    return *this;
  }
  /// Appends so many outputs; the shape function says of what type and how large.
  OperatorTest& outputs(int count) {
    for (; count > 0; --count) outputs_.emplace_back().there = true;
    return *this;
  }
  OperatorTest& absent_output() {
    outputs_.emplace_back();
    return *this;
  }
  /// The largest extents of an output of which the shape function says only the type.
  OperatorTest& bound(int output, std::vector<int32_t> extents) {
    bounds_[static_cast<size_t>(output)] = std::move(extents);
    return *this;
  }

  /// Executes the operator in all ways that the head of this file names. What it answers is that of
  /// the first failure.
  Status run();
  /// What went wrong in `run`.
  const std::string& text() const { return text_; }
  template <class T>
  std::vector<T> output(int index) const {
    const internal::TestOperand& operand = outputs_.at(static_cast<size_t>(index));
    if (operand.type != data_type_of<T>) throw std::logic_error("the output is of another type");
    std::vector<T> elements;
    for (size_t at = 0; at < operand.bytes.size(); at += sizeof(T)) {
      T element;
      std::memcpy(&element, &operand.bytes[at], sizeof(T));
      elements.push_back(element);
    }
    return elements;
  }
  std::vector<std::string> strings(int index) const {
    std::vector<std::string> texts;
    for (const StringRef element : output<StringRef>(index)) texts.emplace_back(pool_[element]);
    return texts;
  }
  std::vector<int32_t> extents(int output) const {
    return outputs_.at(static_cast<size_t>(output)).extents;
  }

 private:
  static constexpr size_t kMostCharacters = 65536;
  using Kernel = OperatorKernel<K>;
  using Attributes = typename Kernel::Binding::Attributes;
  struct Way {
    int threads = 1;
    uint8_t fill = 0xff;
    int in_place = -1;
  };

  Status run_one(const Way& way, std::vector<internal::TestOperand>& outputs);
  Status failed(const std::string& what) {
    text_ = what;
    return Code::kOperatorFailed;
  }
  Status reported(Status status) {
    if (status.ok() || !text_.empty()) return status;
    if (diagnostic_.code == Code::kOk) diagnostic_.code = status.code();
    char text[512];
    describe(diagnostic_, {}, text, sizeof(text));
    text_ = text;
    return status;
  }
  /// Threads that take uneven pieces.
  static Parallel threads_of(int& count);
  static Status resize(const KernelContext& context, int output, std::span<const int32_t> extents);
  /// The attributes as a plan has them.
  std::vector<uint64_t> stored_attributes(size_t& bytes) const;

  definitions::AttributeMap values_;
  std::vector<internal::TestOperand> inputs_, outputs_;
  std::map<size_t, std::vector<int32_t>> bounds_;
  /// Of the inputs' strings, and of those that `run` makes.
  std::string characters_;
  std::vector<char> made_;
  StringPool pool_;
  Diagnostic diagnostic_;
  std::string text_;
};

template <class K>
std::vector<uint64_t> OperatorTest<K>::stored_attributes(size_t& bytes) const {
  std::vector<std::byte> blob;
  const std::string wrong = definitions::codec_of<Attributes>().read(values_, blob);
  if (!wrong.empty()) throw std::logic_error(wrong);
  bytes = blob.size();
  std::vector<uint64_t> stored((bytes + 7) / 8 + 1);
  std::copy(blob.begin(), blob.end(), std::as_writable_bytes(std::span(stored)).begin());
  return stored;
}

template <class K>
Parallel OperatorTest<K>::threads_of(int& count) {
  Parallel parallel;
  parallel.threads = count;
  parallel.grain_bytes = 0;
  parallel.self = &count;
  parallel.run = [](void* self, int64_t total, Parallel::Body body, void* argument) {
    std::atomic<int64_t> next{0};
    std::vector<std::thread> workers;
    for (int thread = 0; thread < *static_cast<int*>(self); ++thread) {
      workers.emplace_back([&, thread] {
        const int64_t step = thread + 1;
        for (int64_t begin = next.fetch_add(step); begin < total; begin = next.fetch_add(step)) {
          body(argument, begin, std::min(begin + step, total), thread);
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
  };
  return parallel;
}

template <class K>
Status OperatorTest<K>::resize(const KernelContext& context, int output,
                               std::span<const int32_t> extents) {
  auto& operand = (*static_cast<std::vector<internal::TestOperand>*>(
      context.runtime_))[static_cast<size_t>(output)];
  if (!operand.there) return {};
  if (extents.size() != operand.extents.size()) {
    return context.fail(Code::kWrongRank, "output rank",
                        static_cast<int64_t>(operand.extents.size()),
                        static_cast<int64_t>(extents.size()), context.input_count() + output);
  }
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] < 0 || extents[axis] > operand.extents[axis]) {
      return context.fail(Code::kWrongExtent, "output extent beyond its planned maximum",
                          operand.extents[axis], extents[axis], context.input_count() + output,
                          static_cast<int>(axis));
    }
  }
  std::copy(extents.begin(), extents.end(), operand.extents.begin());
  return {};
}

template <class K>
Status OperatorTest<K>::run_one(const Way& way, std::vector<internal::TestOperand>& outputs) {
  size_t attribute_bytes = 0;
  const std::vector<uint64_t> attributes = stored_attributes(attribute_bytes);
  int threads = way.threads;
  const Parallel parallel = threads_of(threads);
  diagnostic_ = {};
  KernelHost host;
  host.parallel = &parallel;
  host.diagnostic = &diagnostic_;
  host.resize_output = &resize;
  std::vector<char> characters(kMostCharacters);
  StringPool pool(characters_, characters);
  host.strings = &pool;
  std::vector<TensorView> views(inputs_.size() + outputs.size());
  KernelContext context;
  context.operands_ = views.data();
  context.input_count_ = static_cast<int32_t>(inputs_.size());
  context.output_count_ = static_cast<int32_t>(outputs.size());
  context.attributes_ = attributes.data();
  context.attribute_bytes_ = static_cast<uint32_t>(attribute_bytes);
  context.host_ = &host;
  context.runtime_ = &outputs;

  std::vector<internal::GuardedBytes> memory;
  for (const internal::TestOperand& input : inputs_) {
    memory.emplace_back(input.bytes.size());
    std::copy(input.bytes.begin(), input.bytes.end(), memory.back().data());
    views[memory.size() - 1] = input.view(memory.back().data());
  }
  internal::OutputExtents shapes(context, outputs);
  if (Status status = OperatorShape<K>::infer(shapes); !status) return reported(status);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto bound = bounds_.find(i);
    if (bound != bounds_.end()) outputs[i].extents = bound->second;
    const int64_t bytes = outputs[i].view(nullptr).bytes();
    memory.emplace_back(static_cast<size_t>(bytes), way.fill);
    views[inputs_.size() + i] = outputs[i].view(memory.back().data());
  }
  if (way.in_place >= 0) {
    views[inputs_.size()].data = views[static_cast<size_t>(way.in_place)].data;
  }

  // When a plan is opened there are no elements yet.
  std::vector<TensorView> bound = views;
  for (TensorView& view : views) view.data = nullptr;
  int64_t scratch = 0;
  if constexpr (internal::has_workspace<K>) scratch = Kernel::workspace(context);
  internal::GuardedBytes workspace(static_cast<size_t>(scratch), way.fill);
  context.workspace_ = reinterpret_cast<std::byte*>(workspace.data());
  context.workspace_bytes_ = workspace.size();
  int64_t state_bytes = 0;
  if constexpr (internal::has_state_memory<K>) {
    state_bytes = Kernel::state_at(context);
  } else if constexpr (Kernel::Binding::has_state) {
    state_bytes = Kernel::state_bytes;
  }
  internal::GuardedBytes state(static_cast<size_t>(state_bytes), way.fill);
  context.state_ = state.data();
  context.state_bytes_ = state.size();
  if (Status status = Kernel::check(context); !status) return reported(status);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].constant) views[i].data = bound[i].data;
  }
  if constexpr (Kernel::Binding::has_state) {
    if (Status status = Kernel::create(context); !status) return reported(status);
  }
  views = bound;
  const Status status = Kernel::run(context);
  if (&outputs == &outputs_) {
    made_ = characters;
    pool_ = StringPool(characters_, made_);
  }
  if constexpr (Kernel::Binding::has_state) Kernel::destroy(context);

  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory[i].intact()) continue;
    return failed((i < inputs_.size() ? "input " : "output ") +
                  std::to_string(i < inputs_.size() ? i : i - inputs_.size()) +
                  ": bytes before or behind the tensor were written");
  }
  if (!workspace.intact()) return failed("bytes before or behind the workspace were written");
  if (!state.intact()) return failed("bytes before or behind the state were written");
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (static_cast<int>(i) == way.in_place || memory[i].copy() == inputs_[i].bytes) continue;
    return failed("input " + std::to_string(i) + " was written");
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorView view = outputs[i].view(bound[inputs_.size() + i].data);
    const auto* bytes = static_cast<const uint8_t*>(view.data);
    outputs[i].bytes.clear();
    if (bytes != nullptr) outputs[i].bytes.assign(bytes, bytes + view.bytes());
  }
  return reported(status);
}

template <class K>
Status OperatorTest<K>::run() {
  text_.clear();
  if (Status status = run_one({}, outputs_); !status) return status;
  std::vector<std::pair<const char*, Way>> ways = {
      {"depends on memory that nobody has written", Way{1, 0x11, -1}},
      {"depends on the number of threads, or on what they do first", Way{4, 0xff, -1}}};
  for (size_t i = 0; i < inputs_.size() && !outputs_.empty(); ++i) {
    if (!K::info.in_place.permits(static_cast<int>(i)) || !inputs_[i].there) continue;
    if (inputs_[i].bytes.size() != outputs_[0].bytes.size() || K::info.extents_vary) continue;
    ways.emplace_back("depends on whether output 0 lies in the memory of an input",
                      Way{1, 0xff, static_cast<int>(i)});
  }
  for (const auto& [what, way] : ways) {
    std::vector<internal::TestOperand> outputs = outputs_;
    for (internal::TestOperand& output : outputs) output.bytes.clear();
    if (Status status = run_one(way, outputs); !status) return status;
    for (size_t i = 0; i < outputs.size() && !K::info.impure; ++i) {
      if (outputs[i].bytes == outputs_[i].bytes && outputs[i].extents == outputs_[i].extents) {
        continue;
      }
      return failed("output " + std::to_string(i) + " " + what);
    }
  }
  return {};
}

}  // namespace intarsia
