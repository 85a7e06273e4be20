// SPDX-License-Identifier: Apache-2.0
//
// What OperatorTest (intarsia/operator_test.h) is made of. Not for direct inclusion.
#pragma once

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "intarsia/operator.h"

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

/// Attributes by name, as a model gives them.
using TestValue = std::variant<int64_t, float, std::string, std::vector<int64_t>,
                               std::vector<float>, std::vector<std::string>>;
using TestValues = std::map<std::string, TestValue, std::less<>>;

/// A visitor of `fields` that stores the values, and behind the struct what has a variable length.
class TestAttributes {
 public:
  TestAttributes(const TestValues& values, void* begin, size_t bytes)
      : values_(values), begin_(static_cast<std::byte*>(begin)), bytes_(bytes) {}

  template <class T>
  void operator()(std::string_view name, T& field) {
    if (const TestValue* value = find(name)) store(name, *value, field);
  }
  void operator()(std::string_view name, StringAttribute& field, std::string_view fallback) {
    if (find(name) == nullptr) return put(field.range, fallback.data(), fallback.size(), 1);
    (*this)(name, field);
  }
  template <class T>
  void operator()(std::string_view name, ListAttribute<T>& field, ListDefault<T> fallback) {
    if (find(name) != nullptr) return (*this)(name, field);
    if constexpr (std::is_same_v<T, StringAttribute>) {
      put_texts(field.range, std::vector<std::string>(fallback.begin(), fallback.end()));
    } else {
      put(field.range, fallback.begin(), fallback.size(), sizeof(T));
    }
  }
  template <class T>
  void operator()(std::string_view name, T& field, AttributeLimits) {
    (*this)(name, field);
  }
  template <class T>
  void required(std::string_view name, T& field, AttributeLimits = {}) {
    if (find(name) == nullptr) wrong(name, "is required");
    (*this)(name, field);
  }
  void choice(std::string_view name, int32_t& field,
              std::initializer_list<std::string_view> texts) {
    const TestValue* value = find(name);
    if (value != nullptr) field = index_of(name, get<std::string>(name, *value), texts);
    if (field < 0) wrong(name, "is required");
  }
  template <int N>
  void choices(std::string_view name, FixedList<int32_t, N>& field,
               std::initializer_list<std::string_view> texts) {
    const TestValue* value = find(name);
    if (value == nullptr) return;
    field.count = 0;
    for (const auto& text : get<std::vector<std::string>>(name, *value)) {
      if (field.count == N) wrong(name, "is too long");
      field.push(index_of(name, text, texts));
    }
  }
  void scalar(std::string_view, int64_t&, int32_t&) {}
  template <class T>
  void internal(std::string_view, T&) {}
  void ignored(std::string_view name) { find(name); }

  /// What belongs behind the struct. Throws if a value has no field.
  const std::vector<std::byte>& finish() const {
    for (const auto& [name, value] : values_) {
      if (known_.find(name) == known_.end()) wrong(name, "is none of the operator's");
    }
    return tail_;
  }

 private:
  [[noreturn]] static void wrong(std::string_view name, const char* what) {
    throw std::logic_error("attribute \"" + std::string(name) + "\" " + what);
  }
  const TestValue* find(std::string_view name) {
    known_[std::string(name)] = true;
    const auto found = values_.find(name);
    return found != values_.end() ? &found->second : nullptr;
  }
  template <class V>
  static const V& get(std::string_view name, const TestValue& value) {
    if (const V* result = std::get_if<V>(&value)) return *result;
    wrong(name, "is of another kind");
  }
  static int32_t index_of(std::string_view name, std::string_view text,
                          std::initializer_list<std::string_view> texts) {
    for (size_t i = 0; i < texts.size(); ++i) {
      if (texts.begin()[i] == text) return static_cast<int32_t>(i);
    }
    wrong(name, "is none of the choices");
  }
  /// Copies elements behind the struct, where `range`, a member of it, finds them.
  void put(AttributeRange& range, const void* data, size_t count, size_t width) {
    put_at(static_cast<size_t>(reinterpret_cast<std::byte*>(&range) - begin_), range, data, count,
           width);
  }
  void put_at(size_t place, AttributeRange& range, const void* data, size_t count, size_t width) {
    tail_.resize((bytes_ + tail_.size() + 7) / 8 * 8 - bytes_);
    range = {static_cast<uint32_t>(bytes_ + tail_.size() - place), static_cast<uint32_t>(count)};
    const auto* from = static_cast<const std::byte*>(data);
    tail_.insert(tail_.end(), from, from + count * width);
  }
  void put_texts(AttributeRange& range, const std::vector<std::string>& texts) {
    std::vector<StringAttribute> none(texts.size());
    put(range, none.data(), none.size(), sizeof(StringAttribute));
    const size_t first = tail_.size() - none.size() * sizeof(StringAttribute);
    for (size_t i = 0; i < texts.size(); ++i) {
      const size_t at = first + i * sizeof(StringAttribute);
      StringAttribute text;
      put_at(bytes_ + at, text.range, texts[i].data(), texts[i].size(), 1);
      std::memcpy(tail_.data() + at, &text, sizeof(text));
    }
  }
  template <class T>
  void store(std::string_view name, const TestValue& value, T& field) {
    if constexpr (std::is_integral_v<T>) {
      field = static_cast<T>(get<int64_t>(name, value));
    } else if constexpr (std::is_same_v<T, float>) {
      field = get<float>(name, value);
    } else if constexpr (std::is_same_v<T, StringAttribute>) {
      const auto& text = get<std::string>(name, value);
      put(field.range, text.data(), text.size(), 1);
    } else if constexpr (std::is_same_v<T, ListAttribute<StringAttribute>>) {
      put_texts(field.range, get<std::vector<std::string>>(name, value));
    } else {
      wrong(name, "is of a kind that OperatorTest cannot set");
    }
  }
  template <class E, class T>
  static std::vector<T> list_of(std::string_view name, const TestValue& value) {
    const auto& list = get<std::vector<E>>(name, value);
    return std::vector<T>(list.begin(), list.end());
  }
  template <class T>
  using Given = std::conditional_t<std::is_floating_point_v<T>, float, int64_t>;
  template <class T>
  requires std::is_arithmetic_v<T>
  void store(std::string_view name, const TestValue& value, ListAttribute<T>& field) {
    const std::vector<T> values = list_of<Given<T>, T>(name, value);
    put(field.range, values.data(), values.size(), sizeof(T));
  }
  template <class T, int N>
  void store(std::string_view name, const TestValue& value, FixedList<T, N>& field) {
    field.count = 0;
    for (const T each : list_of<Given<T>, T>(name, value)) {
      if (field.count == N) wrong(name, "is too long");
      field.push(each);
    }
  }

  const TestValues& values_;
  std::byte* begin_;
  size_t bytes_;
  std::vector<std::byte> tail_;
  std::map<std::string, bool, std::less<>> known_;
};

struct TestOperand {
  bool there = false;
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

}  // namespace intarsia
