// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/strings.h"

#include "converter/graph/error.h"
#include "converter/graph/string_walk.h"

namespace intarsia::converter {

Constant with_characters(DataType type, std::vector<int64_t> extents, std::vector<std::byte> bytes,
                         const std::function<std::string_view(StringRef)>& read) {
  std::string characters;
  for_each_string(type, bytes, [&](StringRef& element) {
    const std::string_view text = read(element);
    if (text.size() > StringPool::kMostBytes - characters.size()) {
      throw Error("the strings of a value exceed 2 GiB");
    }
    element = {text.empty() ? 0 : static_cast<uint32_t>(characters.size()),
               static_cast<uint32_t>(text.size())};
    characters += text;
  });
  Constant constant = Constant::own(type, std::move(extents), std::move(bytes));
  if (!characters.empty()) {
    constant.characters = std::make_shared<const std::string>(std::move(characters));
  }
  return constant;
}

Constant with_characters(DataType type, std::vector<int64_t> extents, std::vector<std::byte> bytes,
                         const std::string& characters) {
  const StringPool pool(characters, {});
  return with_characters(type, std::move(extents), std::move(bytes),
                         [&pool](StringRef string) { return pool[string]; });
}

Constant Constant::strings(std::vector<int64_t> extents, const std::vector<std::string>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(StringRef));
  size_t next = 0;
  return with_characters(DataType::kString, std::move(extents), std::move(bytes),
                         [&](StringRef) { return std::string_view(values[next++]); });
}

std::vector<std::byte> with_strings(const Constant& constant,
                                    const std::function<StringRef(std::string_view)>& make) {
  std::vector<std::byte> bytes(constant.bytes().begin(), constant.bytes().end());
  for_each_string(constant.type, bytes,
                  [&](StringRef& element) { element = make(constant.text(element)); });
  return bytes;
}

std::vector<std::byte> with_strings_in(const Constant& constant, std::string& characters) {
  return with_strings(constant, [&characters](std::string_view text) -> StringRef {
    if (text.empty()) return {};
    if (text.size() > StringPool::kMostBytes - characters.size()) {
      throw Error("the constant strings of the model exceed 2 GiB");
    }
    const StringRef made{static_cast<uint32_t>(characters.size()) | StringPool::kConstant,
                         static_cast<uint32_t>(text.size())};
    characters += text;
    return made;
  });
}

}  // namespace intarsia::converter
