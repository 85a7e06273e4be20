// SPDX-License-Identifier: Apache-2.0
#include "core/definitions/kernel_descriptor.h"

#include "intarsia/describe.h"

namespace intarsia {
namespace {

int width_of(KernelType type) {
  return 8 << (type.code - static_cast<int>(ElementWidth::k8));
}
bool is_width(KernelType type) {
  return type.code >= static_cast<uint8_t>(ElementWidth::k8);
}

std::string type_text(KernelType type) {
  if (is_width(type)) return std::to_string(width_of(type)) + " bits";
  return std::string(data_type_name(static_cast<DataType>(type.code)));
}

/// "DataType::kFloat16", "ElementWidth::k32".
std::string type_cpp(KernelType type) {
  if (is_width(type)) return "intarsia::ElementWidth::k" + std::to_string(width_of(type));
  // "float8e4m3fn" is kFloat8E4M3FN.
  std::string name;
  bool upper = true;
  for (char c : std::string_view(data_type_name(static_cast<DataType>(type.code)))) {
    const bool digit = c >= '0' && c <= '9';
    name += upper && !digit ? static_cast<char>(c - 'a' + 'A') : c;
    upper = digit || (upper && name.size() > 1);
  }
  return "intarsia::DataType::k" + name;
}

}  // namespace

std::string kernel_text(const KernelId& id) {
  std::string text(id.op);
  if (!id.variant.empty()) text += "." + std::string(id.variant);
  std::string types;
  for (KernelType type : id.types) types += (types.empty() ? "" : ", ") + type_text(type);
  if (!types.empty()) text += "<" + types + ">";
  if (id.revision != 1) text += " revision " + std::to_string(id.revision);
  return text;
}

std::string kernel_id_text(const KernelId& id) {
  std::string types;
  for (KernelType type : id.types) types += (types.empty() ? "" : ", ") + type_cpp(type);
  std::string text =
      "{\"" + std::string(id.op) + "\", \"" + std::string(id.variant) + "\", {" + types + "}";
  if (id.revision != 1) text += ", " + std::to_string(id.revision);
  return text + "}";
}

}  // namespace intarsia
