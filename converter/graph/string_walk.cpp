// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/string_walk.h"

#include <cstring>

#include "converter/graph/error.h"
#include "intarsia/sequence.h"

namespace intarsia::converter {

void for_each_string(DataType type, std::span<std::byte> bytes,
                     const std::function<void(StringRef&)>& change) {
  if (type == DataType::kString) {
    for (size_t at = 0; at + sizeof(StringRef) <= bytes.size(); at += sizeof(StringRef)) {
      StringRef element;
      std::memcpy(&element, &bytes[at], sizeof(element));
      change(element);
      std::memcpy(&bytes[at], &element, sizeof(element));
    }
    return;
  }
  if (!holds_elements(type)) return;
  const auto view = SequenceView::of(bytes);
  if (!view) throw Error("the bytes of a sequence are none");
  for (const TensorView& element : *view) {
    for_each_string(element.type, {element.as<std::byte>(), static_cast<size_t>(element.bytes())},
                    change);
  }
}

}  // namespace intarsia::converter
