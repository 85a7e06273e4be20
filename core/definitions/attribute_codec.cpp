// SPDX-License-Identifier: Apache-2.0
//
// Error sentences and lookups of the attribute reader and printer.
#include "core/definitions/attribute_codec.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "intarsia/describe.h"

namespace intarsia::definitions {
namespace {

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

template <class List>
std::string joined(const List& texts) {
  std::string result;
  for (std::string_view text : texts) result += (result.empty() ? "" : ", ") + quoted(text);
  return result;
}

template <class List>
std::string extents_text(const List& extents) {
  std::string result = "[";
  for (int64_t extent : extents) {
    result += (result.back() == '[' ? "" : ",") + std::to_string(extent);
  }
  return result + "]";
}

}  // namespace

const AttributeValue* AttributeReader::find(std::string_view name) {
  known_.push_back(name);
  const auto found = attributes_.find(name);
  return found == attributes_.end() ? nullptr : &found->second;
}

void AttributeReader::fail(std::string_view name, std::string text) {
  if (error_.empty()) error_ = "attribute " + quoted(name) + " " + std::move(text);
}

void AttributeReader::fail_kind(std::string_view name, std::string_view expected,
                                const AttributeValue& value) {
  // In the order of AttributeValue's alternatives.
  constexpr std::array<std::string_view, std::variant_size_v<AttributeValue>> kKinds = {
      "an integer",       "a float",           "a string", "a list of integers",
      "a list of floats", "a list of strings", "a tensor"};
  fail(name, "must be " + std::string(expected) + ", but is " + std::string(kKinds[value.index()]));
}

bool AttributeReader::fits(std::string_view name, size_t count, int limit) {
  if (count <= static_cast<size_t>(limit)) return true;
  fail(name,
       "may have at most " + std::to_string(limit) + " elements, but has " + std::to_string(count));
  return false;
}

bool AttributeReader::in_range(std::string_view name, int64_t value, int64_t lowest,
                               int64_t highest) {
  lowest = std::max(lowest, limits_.lowest);
  highest = std::min(highest, limits_.highest);
  if (value >= lowest && value <= highest && limits_.allow(value)) return true;
  std::string expected = lowest == highest ? "be " + std::to_string(lowest)
                                           : "lie in [" + std::to_string(lowest) + ", " +
                                                 std::to_string(highest) + "]";
  if (limits_.among != AttributeLimits().among) {
    expected.clear();
    for (int64_t number = lowest; number <= highest; ++number) {
      if (!limits_.allow(number)) continue;
      expected += (expected.empty() ? "be one of " : ", ") + std::to_string(number);
    }
  }
  fail(name, "must " + expected + ", but is " + std::to_string(value));
  return false;
}

int32_t AttributeReader::index_of(std::string_view name, std::string_view text,
                                  std::initializer_list<std::string_view> texts, int32_t fallback) {
  const auto* const found = std::find(texts.begin(), texts.end(), text);
  if (found != texts.end()) return static_cast<int32_t>(found - texts.begin());
  fail(name, "must be one of " + joined(texts) + ", but is " + quoted(text));
  return fallback;
}

size_t AttributeReader::reserve(size_t bytes, size_t alignment) {
  const size_t place = (size_ + tail_.size() + alignment - 1) / alignment * alignment;
  tail_.resize(place - size_ + bytes);
  return place;
}

void AttributeReader::put_bytes(size_t place, AttributeRange& range, const void* data, size_t count,
                                size_t element_bytes, size_t alignment) {
  range = {};
  if (count == 0) return;
  const size_t bytes = count * element_bytes;
  const size_t target = reserve(bytes, alignment);
  std::memcpy(tail_.data() + (target - size_), data, bytes);
  range = {static_cast<uint32_t>(target - place), static_cast<uint32_t>(count)};
}

void AttributeReader::put(size_t place, AttributeRange& range,
                          std::span<const std::string_view> texts) {
  range = {};
  if (texts.empty()) return;
  const size_t table = reserve(texts.size() * sizeof(StringAttribute), alignof(StringAttribute));
  range = {static_cast<uint32_t>(table - place), static_cast<uint32_t>(texts.size())};
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t entry = table + i * sizeof(StringAttribute);
    StringAttribute text;
    put(entry, text, texts[i]);
    std::memcpy(tail_.data() + (entry - size_), &text, sizeof(text));
  }
}

void AttributeReader::store(std::string_view name, const AttributeValue& value,
                            TensorAttribute& field) {
  const auto* tensor = get<TensorValue>(name, value, "a tensor");
  if (tensor == nullptr) return;
  const int bits = element_bits(tensor->type);
  if (bits == 0 || tensor->type == DataType::kString || tensor->extents.size() > kMaxRank) {
    fail(name, "must be a tensor of numbers with at most " + std::to_string(kMaxRank) + " axes");
    return;
  }
  field.type = static_cast<uint8_t>(tensor->type);
  std::vector<int32_t> extents(tensor->extents.begin(), tensor->extents.end());
  put(place_of(&field.extents), field.extents, std::span<const int32_t>(extents));
  put_bytes(place_of(&field.bytes), field.bytes, tensor->data.get(), tensor->size, 1, 8);
}

void AttributeReader::scalar(std::string_view name, int64_t& bits, int32_t& type) {
  const AttributeValue* value = find(name);
  const auto* tensor = value != nullptr ? get<TensorValue>(name, *value, "a tensor") : nullptr;
  if (tensor == nullptr) return;
  int64_t count = 1;
  for (int64_t extent : tensor->extents) count = extent == 1 ? count : 0;
  if (count != 1 || tensor->type == DataType::kString || tensor->size > sizeof(bits)) {
    fail(name, "must be a tensor of one element, of at most 8 bytes, but is one of " +
                   std::string(data_type_name(tensor->type)) + " with shape " +
                   extents_text(tensor->extents));
    return;
  }
  bits = 0;
  std::memcpy(&bits, tensor->data.get(), tensor->size);
  type = static_cast<int32_t>(tensor->type);
}

std::string AttributeReader::finish() const {
  if (!error_.empty()) return error_;
  for (const auto& [name, value] : attributes_) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    if (std::find(internal_.begin(), internal_.end(), name) != internal_.end()) {
      return "attribute " + quoted(name) +
             " is unknown; the converter alone gives one of that name, a model cannot";
    }
    return "attribute " + quoted(name) + " is unknown; " +
           (known_.empty() ? "the operator has none" : "the operator has " + joined(known_));
  }
  return {};
}

std::string AttributePrinter::text(float value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.9g", static_cast<double>(value));
  return buffer;
}

std::string AttributePrinter::text(const TensorAttribute& value) const {
  if (!inside(value)) return std::string(kOutside);
  return "tensor of type " + std::to_string(value.type) + " " + extents_text(value.view().dims());
}

std::string AttributePrinter::scalar_text(int64_t bits, int32_t type) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "0x%llx", static_cast<unsigned long long>(bits));
  return std::string(data_type_name(static_cast<DataType>(type))) + " of the bits " + buffer;
}

std::string AttributePrinter::text_of(int32_t index,
                                      std::initializer_list<std::string_view> texts) {
  if (index < 0 || static_cast<size_t>(index) >= texts.size()) return std::to_string(index);
  return std::string(texts.begin()[index]);
}

}  // namespace intarsia::definitions
