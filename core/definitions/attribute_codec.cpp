// SPDX-License-Identifier: Apache-2.0
//
// Error sentences and lookups of the attribute reader and printer.
#include "core/definitions/attribute_codec.h"

#include <algorithm>
#include <array>
#include <cstdio>

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
      "an integer",         "a float",          "a string",
      "a list of integers", "a list of floats", "a list of strings"};
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
  if (value >= lowest && value <= highest) return true;
  fail(name, "must lie in [" + std::to_string(lowest) + ", " + std::to_string(highest) +
                 "], but is " + std::to_string(value));
  return false;
}

int32_t AttributeReader::index_of(std::string_view name, std::string_view text,
                                  std::initializer_list<std::string_view> texts, int32_t fallback) {
  const auto* const found = std::find(texts.begin(), texts.end(), text);
  if (found != texts.end()) return static_cast<int32_t>(found - texts.begin());
  fail(name, "must be one of " + joined(texts) + ", but is " + quoted(text));
  return fallback;
}

std::string AttributeReader::finish() const {
  if (!error_.empty()) return error_;
  for (const auto& [name, value] : attributes_) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
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

std::string AttributePrinter::text_of(int32_t index,
                                      std::initializer_list<std::string_view> texts) {
  if (index < 0 || static_cast<size_t>(index) >= texts.size()) return std::to_string(index);
  return std::string(texts.begin()[index]);
}

}  // namespace intarsia::definitions
