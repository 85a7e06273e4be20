// SPDX-License-Identifier: Apache-2.0
//
// From ONNX attributes to an attributes struct, and from the struct to text.
//
// An attributes struct names its fields once, in `fields(V& v)`. A field is an integer, a bool or a
// float, a `FixedList` of these, an int32_t that indexes a list of texts, or of variable length:
//     v("axis", axis);                                     optional, default = member initialiser
//     v("mode", string, "linear");                         a StringAttribute with its default
//     v("taps", list, {0.5f});                             a ListAttribute with its default
//     v("window", tensor);                                 a TensorAttribute, by default absent
//     v("group", group, at_least(1));                      integers that the specification allows:
//                                                          also between(1, 3), one_of({1, 16}),
//                                                          kFlag, kElementType
//     v.required("to", to);                                absence is an error; limits may follow
//     v.choice("mode", mode, {"constant", "edge"});        a string, stored as its index; an error
//                                                          if absent and the initialiser is none
//     v.choices("activations", list, {"Relu", "Tanh"});    strings, stored as indices
//     v.scalar("value", bits, type);                       a tensor of one element, stored as its
//                                                          bits in an int64_t and its type
//     v.internal("activation", activation);                set by the converter, refused in a model
//     v.ignored("storage_order");                          accepted, without meaning here
// `codec_of<A>()` is the table entry made of them. Reading is strict: an attribute that `fields`
// does not name, a value of another kind and a value out of range are errors.
#pragma once

#include <concepts>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/definitions/definition.h"
#include "core/operators/common/attributes.h"

namespace intarsia::definitions {

/// Fills the fields of a struct from ONNX attributes, and collects what has a variable length;
/// keeps the first error.
class AttributeReader {
 public:
  /// `begin` is where the struct lies, `bytes` its size.
  AttributeReader(const AttributeMap& attributes, const void* begin, size_t bytes)
      : attributes_(attributes), begin_(static_cast<const std::byte*>(begin)), size_(bytes) {}

  template <class T>
  void operator()(std::string_view name, T& field) {
    if (const AttributeValue* value = find(name)) store(name, *value, field);
  }
  void operator()(std::string_view name, StringAttribute& field, std::string_view fallback) {
    const AttributeValue* value = find(name);
    if (value != nullptr) {
      store(name, *value, field);
    } else {
      put(place_of(&field), field, fallback);
    }
  }
  template <class T>
  void operator()(std::string_view name, ListAttribute<T>& field, ListDefault<T> fallback) {
    const AttributeValue* value = find(name);
    if (value != nullptr) {
      store(name, *value, field);
    } else {
      put(place_of(&field), field.range, std::span(fallback.begin(), fallback.size()));
    }
  }
  template <class T>
  void operator()(std::string_view name, T& field, AttributeLimits limits) {
    limits_ = limits;
    (*this)(name, field);
    limits_ = {};
  }
  template <class T>
  void required(std::string_view name, T& field, AttributeLimits limits = {}) {
    if (attributes_.find(name) == attributes_.end()) {
      fail(name, "is required, but the node has none");
    }
    (*this)(name, field, limits);
  }
  void choice(std::string_view name, int32_t& field,
              std::initializer_list<std::string_view> texts) {
    if (const AttributeValue* value = find(name)) {
      if (const auto* text = get<std::string>(name, *value, "a string")) {
        field = index_of(name, *text, texts, field);
      }
    } else if (field < 0) {
      fail(name, "is required, but the node has none");
    }
  }
  template <int N>
  void choices(std::string_view name, FixedList<int32_t, N>& field,
               std::initializer_list<std::string_view> texts) {
    const AttributeValue* value = find(name);
    if (value == nullptr) return;
    const auto* list = get<std::vector<std::string>>(name, *value, "a list of strings");
    if (list == nullptr || !fits(name, list->size(), N)) return;
    field.count = 0;
    for (const std::string& text : *list) field.push(index_of(name, text, texts, 0));
  }
  void scalar(std::string_view name, int64_t& bits, int32_t& type);
  template <class T>
  void internal(std::string_view name, T&) {
    internal_.push_back(name);
  }
  void ignored(std::string_view name) { find(name); }

  /// "" or the first error; an attribute that no field asked for is one.
  std::string finish() const;
  /// What belongs behind the struct.
  const std::vector<std::byte>& tail() const { return tail_; }

 private:
  // Places count from the begin of the struct; those behind it are in `tail_`.
  size_t place_of(const void* field) const {
    return static_cast<size_t>(static_cast<const std::byte*>(field) - begin_);
  }
  /// Room for `bytes` bytes at a multiple of `alignment`; gives its place.
  size_t reserve(size_t bytes, size_t alignment);
  /// Lets the range, which is stored at `place`, refer to bytes copied behind the struct.
  void put_bytes(size_t place, AttributeRange& range, const void* data, size_t count,
                 size_t element_bytes, size_t alignment);
  void put(size_t place, StringAttribute& field, std::string_view text) {
    put_bytes(place, field.range, text.data(), text.size(), 1, 1);
  }
  template <class T>
  void put(size_t place, AttributeRange& range, std::span<const T> values) {
    put_bytes(place, range, values.data(), values.size(), sizeof(T), alignof(T));
  }
  void put(size_t place, AttributeRange& range, std::span<const std::string_view> texts);

  const AttributeValue* find(std::string_view name);
  void fail(std::string_view name, std::string text);
  bool fits(std::string_view name, size_t count, int limit);
  int32_t index_of(std::string_view name, std::string_view text,
                   std::initializer_list<std::string_view> texts, int32_t fallback);
  /// `lowest` and `highest` are what the field can hold; `limits_` may say less.
  bool in_range(std::string_view name, int64_t value, int64_t lowest, int64_t highest);
  void fail_kind(std::string_view name, std::string_view expected, const AttributeValue& value);

  template <class V>
  const V* get(std::string_view name, const AttributeValue& value, std::string_view expected) {
    const V* result = std::get_if<V>(&value);
    if (result == nullptr) fail_kind(name, expected, value);
    return result;
  }
  template <std::integral T>
  void store_integer(std::string_view name, int64_t value, T& field) {
    constexpr int64_t kHighest = sizeof(T) < 8 ? static_cast<int64_t>(std::numeric_limits<T>::max())
                                               : std::numeric_limits<int64_t>::max();
    constexpr auto kLowest = static_cast<int64_t>(std::numeric_limits<T>::min());
    if (in_range(name, value, kLowest, kHighest)) field = static_cast<T>(value);
  }
  template <std::integral T>
  void store(std::string_view name, const AttributeValue& value, T& field) {
    if (const auto* number = get<int64_t>(name, value, "an integer")) {
      store_integer(name, *number, field);
    }
  }
  void store(std::string_view name, const AttributeValue& value, float& field) {
    if (const auto* number = get<float>(name, value, "a float")) field = *number;
  }
  void store(std::string_view name, const AttributeValue& value, StringAttribute& field) {
    if (const auto* text = get<std::string>(name, value, "a string")) {
      put(place_of(&field), field, *text);
    }
  }
  void store(std::string_view name, const AttributeValue& value,
             ListAttribute<StringAttribute>& field) {
    if (const auto* list = get<std::vector<std::string>>(name, value, "a list of strings")) {
      const std::vector<std::string_view> texts(list->begin(), list->end());
      put(place_of(&field), field.range, std::span(texts));
    }
  }
  template <class T>
  void store(std::string_view name, const AttributeValue& value, ListAttribute<T>& field) {
    using Element = std::conditional_t<std::is_floating_point_v<T>, float, int64_t>;
    const auto* list = get<std::vector<Element>>(
        name, value, std::is_floating_point_v<T> ? "a list of floats" : "a list of integers");
    if (list == nullptr) return;
    std::vector<T> values;
    for (const Element element : *list) {
      T stored{};
      if constexpr (std::is_floating_point_v<T>) {
        stored = static_cast<T>(element);
      } else {
        store_integer(name, element, stored);
      }
      values.push_back(stored);
    }
    put(place_of(&field), field.range, std::span<const T>(values));
  }
  void store(std::string_view name, const AttributeValue& value, TensorAttribute& field);
  template <class T, int N>
  void store(std::string_view name, const AttributeValue& value, FixedList<T, N>& field) {
    using Element = std::conditional_t<std::is_same_v<T, float>, float, int64_t>;
    const auto* list = get<std::vector<Element>>(
        name, value, std::is_same_v<T, float> ? "a list of floats" : "a list of integers");
    if (list == nullptr || !fits(name, list->size(), N)) return;
    field.count = 0;
    for (const Element element : *list) {
      T stored{};
      if constexpr (std::is_same_v<T, float>) {
        stored = element;
      } else {
        store_integer(name, element, stored);
      }
      field.push(stored);
    }
  }

  const AttributeMap& attributes_;
  const std::byte* begin_;
  size_t size_;
  AttributeLimits limits_;  // of the field that is read
  std::vector<std::byte> tail_;
  std::vector<std::string_view> known_, internal_;
  std::string error_;
};

/// Collects the fields of a struct as name and text. The struct may come from a hostile plan: what
/// lies outside the blob is said to, and not read.
class AttributePrinter {
 public:
  /// REQUIRES: the struct stands at the beginning of the blob.
  explicit AttributePrinter(std::span<const std::byte> blob) : blob_(blob) {}

  template <class T>
  void operator()(std::string_view name, const T& field) {
    add(name, text(field));
  }
  void operator()(std::string_view name, const StringAttribute& field, std::string_view) {
    add(name, text(field));
  }
  template <class T>
  void operator()(std::string_view name, const ListAttribute<T>& field, ListDefault<T>) {
    add(name, text(field));
  }
  template <class T>
  void operator()(std::string_view name, const T& field, AttributeLimits) {
    add(name, text(field));
  }
  template <class T>
  void required(std::string_view name, const T& field, AttributeLimits = {}) {
    add(name, text(field));
  }
  void choice(std::string_view name, int32_t field, std::initializer_list<std::string_view> texts) {
    add(name, text_of(field, texts));
  }
  template <int N>
  void choices(std::string_view name, const FixedList<int32_t, N>& field,
               std::initializer_list<std::string_view> texts) {
    add(name, list_text(field, [&](int32_t index) { return text_of(index, texts); }));
  }
  void scalar(std::string_view name, int64_t bits, int32_t type) {
    add(name, scalar_text(bits, type));
  }
  template <class T>
  void internal(std::string_view name, const T& field) {
    add(name, text(field));
  }
  void ignored(std::string_view) {}

  std::vector<std::pair<std::string, std::string>> take() { return std::move(rows_); }

 private:
  void add(std::string_view name, std::string value) {
    rows_.emplace_back(std::string(name), std::move(value));
  }
  template <std::integral T>
  static std::string text(T value) {
    return std::to_string(value);
  }
  static std::string text(float value);
  std::string text(const StringAttribute& value) const {
    return inside(value) ? "\"" + std::string(value.view()) + "\"" : std::string(kOutside);
  }
  std::string text(const TensorAttribute& value) const;
  static std::string scalar_text(int64_t bits, int32_t type);
  template <class T>
  std::string text(const ListAttribute<T>& list) const {
    if (!inside(list)) return std::string(kOutside);
    return span_text(list.view(), [&](const T& value) { return text(value); });
  }
  template <class T, int N>
  std::string text(const FixedList<T, N>& list) const {
    return list_text(list, [](T value) { return text(value); });
  }
  template <class T, int N, class Text>
  static std::string list_text(const FixedList<T, N>& list, const Text& element_text) {
    return span_text(list.valid() ? list.view() : std::span<const T>(), element_text);
  }
  template <class T, class Text>
  static std::string span_text(std::span<const T> values, const Text& element_text) {
    std::string result = "[";
    for (const T& value : values) {
      if (result.size() > 1) result += ",";
      result += element_text(value);
    }
    return result + "]";
  }
  static std::string text_of(int32_t index, std::initializer_list<std::string_view> texts);
  template <class T>
  bool inside(const T& member) const {
    return AttributeBounds(blob_).holds(member);
  }

  static constexpr std::string_view kOutside = "outside the attributes";
  std::span<const std::byte> blob_;
  std::vector<std::pair<std::string, std::string>> rows_;
};

/// Collects what a model may give for the fields of a struct.
class AttributeLister {
 public:
  template <class T>
  void operator()(std::string_view name, const T&) {
    if constexpr (std::is_floating_point_v<T>) {
      add(name, AttributeField::kReal);
    } else {
      add(name, AttributeField::kInteger);
    }
  }
  template <class T, int N>
  void operator()(std::string_view name, const FixedList<T, N>&) {
    const bool real = std::is_floating_point_v<T>;
    add(name, real ? AttributeField::kReals : AttributeField::kIntegers).limit = N;
  }
  void operator()(std::string_view name, const TensorAttribute&) {
    add(name, AttributeField::kTensor);
  }
  void operator()(std::string_view name, const StringAttribute&, std::string_view = {}) {
    add(name, AttributeField::kText);
  }
  template <class T>
  void operator()(std::string_view name, const ListAttribute<T>&, ListDefault<T> = {}) {
    constexpr bool kText = std::is_same_v<T, StringAttribute>;
    constexpr bool kReal = std::is_floating_point_v<T>;
    add(name, kText   ? AttributeField::kTexts
              : kReal ? AttributeField::kReals
                      : AttributeField::kIntegers);
  }
  template <class T>
  void operator()(std::string_view name, const T& field, AttributeLimits limits) {
    (*this)(name, field);
    fields_.back().limits = limits;
  }
  template <class T>
  void required(std::string_view name, const T& field, AttributeLimits limits = {}) {
    (*this)(name, field, limits);
    fields_.back().required = true;
  }
  void choice(std::string_view name, int32_t index, std::initializer_list<std::string_view> texts) {
    AttributeField& field = add(name, AttributeField::kText);
    field.choices.assign(texts.begin(), texts.end());
    field.required = index < 0;
  }
  template <int N>
  void choices(std::string_view name, const FixedList<int32_t, N>&,
               std::initializer_list<std::string_view> texts) {
    AttributeField& field = add(name, AttributeField::kTexts);
    field.choices.assign(texts.begin(), texts.end());
    field.limit = N;
  }
  void scalar(std::string_view name, int64_t, int32_t) { add(name, AttributeField::kTensor); }
  template <class T>
  void internal(std::string_view, const T&) {}
  void ignored(std::string_view) {}

  std::vector<AttributeField> take() { return std::move(fields_); }

 private:
  AttributeField& add(std::string_view name, AttributeField::Kind kind) {
    return fields_.emplace_back(AttributeField{.name = std::string(name), .kind = kind});
  }
  std::vector<AttributeField> fields_;
};

/// Reader and printer of attributes struct A; NoAttributes gives a codec of no bytes.
template <class A>
AttributeCodec codec_of() {
  static_assert(std::is_empty_v<A> || is_plan_struct<A>,
                "an attributes struct has fixed-width fields and a size that is a multiple of 4");
  constexpr size_t kBytes = std::is_empty_v<A> ? 0 : sizeof(A);
  AttributeCodec codec;
  codec.bytes = kBytes;
  codec.read = [](const AttributeMap& attributes, std::vector<std::byte>& blob) {
    A value{};
    AttributeReader reader(attributes, &value, kBytes);
    value.fields(reader);
    blob.resize(kBytes);
    if constexpr (kBytes > 0) std::memcpy(blob.data(), &value, kBytes);
    blob.insert(blob.end(), reader.tail().begin(), reader.tail().end());
    return reader.finish();
  };
  codec.print = [](std::span<const std::byte> blob) {
    // In place: members of variable length refer to what lies behind them.
    AttributePrinter printer(blob);
    if constexpr (kBytes > 0) {
      if (blob.size() < kBytes) return printer.take();
      reinterpret_cast<A*>(const_cast<std::byte*>(blob.data()))->fields(printer);
    } else {
      A().fields(printer);
    }
    return printer.take();
  };
  codec.list = [] {
    A value{};
    AttributeLister lister;
    value.fields(lister);
    return lister.take();
  };
  codec.members = [] {
    A value{};
    std::vector<AttributeMember> members;
    const auto visit = [&](std::string_view name, const auto& field) {
      const auto place =
          reinterpret_cast<const std::byte*>(&field) - reinterpret_cast<const std::byte*>(&value);
      members.push_back({std::string(name), static_cast<size_t>(place), sizeof(field)});
    };
    FieldVisitor visitor(visit);
    value.fields(visitor);
    return members;
  };
  return codec;
}

}  // namespace intarsia::definitions
