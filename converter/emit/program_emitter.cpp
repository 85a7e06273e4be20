// SPDX-License-Identifier: Apache-2.0
#include "converter/emit/program_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "converter/graph/error.h"
#include "intarsia/session.h"

namespace intarsia::converter {
namespace {

/// C++ keywords, and macros that common headers and GNU mode define.
bool is_reserved(std::string_view word) {
  static const std::set<std::string_view> kWords = {
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
      "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
      "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
      "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
      "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
      "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
      "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
      "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef",
      "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
      "while", "xor", "xor_eq",
      // macros
      "assert", "arm", "errno", "i386", "linux", "unix", "near", "far", "interface", "small", "min",
      "max", "signbit", "isnan", "isinf", "stdin", "stdout", "stderr", "EOF", "NULL", "NAN",
      "INFINITY", "TRUE", "FALSE", "BUFSIZ", "I", "M_PI", "OVERFLOW", "UNDERFLOW", "DOMAIN"};
  return kWords.contains(word);
}

/// What a header declares beside the namespaces of entry points.
bool is_declared(std::string_view word) {
  static const std::set<std::string_view> kWords = {"arena_bytes",
                                                    "arena_alignment",
                                                    "device_arena_bytes",
                                                    "device_weights_bytes",
                                                    "plan_bytes",
                                                    "max_threads",
                                                    "plan",
                                                    "kernels",
                                                    "open",
                                                    "states"};
  return kWords.contains(word);
}

/// What the emitted code says where a port's struct is in scope.
bool is_emitted(std::string_view word) {
  static const std::set<std::string_view> kWords = {
      "intarsia", "std", "index",  "name", "type",    "data_type", "extents",
      "count",    "of",  "resize", "port", "session", "tensor",    "actual"};
  return kWords.contains(word);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Contents of a string literal. Octal escapes have three digits, so that what follows is no part.
std::string literal(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      result += '\\';
      for (int shift = 6; shift >= 0; shift -= 3)
        result += static_cast<char>('0' + ((byte >> shift) & 7));
    }
  }
  return result + '"';
}

/// Text that cannot end a comment or continue it on the next line.
std::string comment(std::string_view text) {
  std::string result;
  for (char c : text) result += c >= 0x20 && c < 0x7f && c != '\\' ? c : '?';
  return result;
}

/// The C++ element type, or "" for types that C++ lacks.
std::string_view cpp_type(DataType type) {
  switch (type) {
    case DataType::kFloat:
      return "float";
    case DataType::kDouble:
      return "double";
    case DataType::kFloat16:
      return "intarsia::Float16";
    case DataType::kBfloat16:
      return "intarsia::BFloat16";
    case DataType::kBool:
      return "bool";
    case DataType::kInt8:
      return "std::int8_t";
    case DataType::kUint8:
      return "std::uint8_t";
    case DataType::kInt16:
      return "std::int16_t";
    case DataType::kUint16:
      return "std::uint16_t";
    case DataType::kInt32:
      return "std::int32_t";
    case DataType::kUint32:
      return "std::uint32_t";
    case DataType::kInt64:
      return "std::int64_t";
    case DataType::kUint64:
      return "std::uint64_t";
    case DataType::kString:
      return "intarsia::StringRef";
    default:
      return "";
  }
}

enum class PortKind : uint8_t { kInput, kOutput, kState };

/// "4 x 3 x 224 (batch up to 4)".
std::string shape_text(const ProgramDescription::Port& port) {
  std::string text, ranges;
  for (size_t axis = 0; axis < port.extents.size(); ++axis) {
    const std::string extent = std::to_string(port.extents[axis]);
    text += (axis == 0 ? "" : " x ") + extent;
    if (axis >= port.symbols.size() || port.symbols[axis].empty()) continue;
    ranges += (ranges.empty() ? "" : ", ") + port.symbols[axis] + " up to " + extent;
  }
  if (text.empty()) text = "scalar";
  return comment(ranges.empty() ? text : text + " (" + ranges + ")");
}

/// The type of the sessions that serve the plan.
const char* session_type(const ProgramDescription& program) {
  return program.cuda ? "intarsia::cuda::Session" : "intarsia::Session";
}

/// `entry` is what follows the index in calls: ", 1" for the second entry point.
std::string port_struct(const ProgramDescription::Port& port, const std::string& identifier,
                        size_t index, PortKind kind, const std::string& session,
                        const std::string& entry) {
  const std::string_view element = cpp_type(port.type);
  // Elements that C++ has no type for are reached as bytes.
  const std::string type(element.empty() ? "std::byte" : element);
  const std::string span = kind == PortKind::kOutput ? "std::span<const type>" : "std::span<type>";
  int64_t count = 1;
  std::string extents;
  bool varies = false;
  for (size_t axis = 0; axis < port.extents.size(); ++axis) {
    count *= port.extents[axis];
    extents += (axis == 0 ? "" : ", ") + std::to_string(port.extents[axis]);
    varies |= axis < port.symbols.size() && !port.symbols[axis].empty();
  }
  const std::string array = "std::array<std::int32_t, " + std::to_string(port.extents.size()) + ">";
  const char* getter = kind == PortKind::kInput    ? "input_port"
                       : kind == PortKind::kOutput ? "output_port"
                                                   : "state";

  std::string text = "/// " + comment(port.name) + ": " + shape_text(port) + "\n";
  text += "struct " + identifier + " {\n";
  text += "  using type = " + type + ";\n";
  text += "  static constexpr int index = " + std::to_string(index) + ";\n";
  text += "  static constexpr std::string_view name = " + literal(port.name) + ";\n";
  text += "  static constexpr intarsia::DataType data_type = static_cast<intarsia::DataType>(" +
          std::to_string(static_cast<int>(port.type)) + ");\n";
  text += "  static constexpr " + array + " extents{" + extents + "};\n";
  text += "  static constexpr std::int64_t count = " + std::to_string(count) + ";\n";
  text += "  static " + span + " of(const " + session + "& session) {\n";
  text += "    const auto port = session." + std::string(getter) + "(index" + entry + ");\n";
  text += "    if (!port.ok() || port.value().tensor.type != data_type) return {};\n";
  text += "    const intarsia::TensorView& tensor = port.value().tensor;\n";
  text += "    return {static_cast<type*>(tensor.data),\n";
  text += "            static_cast<std::size_t>(tensor." +
          std::string(element.empty() ? "bytes" : "count") + "())};\n";
  text += "  }\n";
  if (kind == PortKind::kInput && varies) {
    text += "  static intarsia::Status resize(" + session + "& session, const " + array +
            "& actual) {\n";
    text += "    return session.resize_input(index, actual" + entry + ");\n";
    text += "  }\n";
  }
  return text + "};\n";
}

std::string port_namespace(const std::vector<ProgramDescription::Port>& ports, const char* title,
                           PortKind kind, const std::string& session,
                           const std::string& entry = {}) {
  if (ports.empty()) return "";
  std::vector<std::string> names;
  for (const auto& port : ports) names.push_back(port.name);
  const std::vector<std::string> identifiers = unique_identifiers(names);
  std::string text = std::string("\nnamespace ") + title + " {\n";
  for (size_t i = 0; i < ports.size(); ++i) {
    text += "\n" + port_struct(ports[i], identifiers[i], i, kind, session, entry);
  }
  return text + "\n}  // namespace " + title + "\n";
}

std::string entry_ports(const ProgramDescription::Entry& entry, const std::string& session,
                        const std::string& number = {}) {
  return port_namespace(entry.inputs, "inputs", PortKind::kInput, session, number) +
         port_namespace(entry.outputs, "outputs", PortKind::kOutput, session, number);
}

/// Where there are several, "encode::entry" is what `run` takes.
std::string entry_namespaces(const std::vector<ProgramDescription::Entry>& entries,
                             const std::string& session) {
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    const std::string name = identifier_of(entry.name);
    names.push_back(is_declared(name) ? name + "_" : name);
  }
  const std::vector<std::string> identifiers = unique_identifiers(names);
  std::string text;
  for (size_t i = 0; i < entries.size(); ++i) {
    text += "\nnamespace " + identifiers[i] + " {\n\n";
    text += "/// Number of the entry point " + comment(literal(entries[i].name)) + ".\n";
    text += "inline constexpr int entry = " + std::to_string(i) + ";\n";
    text += entry_ports(entries[i], session, ", " + std::to_string(i));
    text += "\n}  // namespace " + identifiers[i] + "\n";
  }
  return text;
}

/// The parts of "a::b". Throws if they do not name a namespace that a program can have.
std::vector<std::string> namespace_parts(const std::string& name) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = name.find("::", begin);
    parts.push_back(name.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) break;
    begin = end + 2;
  }
  for (const std::string& part : parts) {
    const bool identifier =
        !part.empty() && !is_digit(part[0]) && std::all_of(part.begin(), part.end(), [](char c) {
          return is_letter(c) || is_digit(c) || c == '_';
        });
    if (!identifier || part.find("__") != std::string::npos || is_reserved(part) || part == "std" ||
        part == "intarsia") {
      throw Error("namespace '" + name + "' is not one that C++ code can have",
                  "give a name such as vad or app::vad, of letters, digits and single underscores");
    }
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string include_lines(const ProgramDescription& description) {
  std::set<std::string> headers = {"intarsia/kernel_set.h"};
  const auto include = [&headers](const std::vector<Requirement>& rows) {
    for (const Requirement& row : rows) {
      if (!row.source.header.empty()) headers.insert(std::string(row.source.header));
    }
  };
  include(description.kernels);
  if (description.varying) {
    include(description.shapes);
    if (!description.shapes.empty()) headers.insert("intarsia/shape.h");
  }
  std::string text;
  for (const std::string& header : headers) text += "#include \"" + header + "\"\n";
  return text;
}

/// Sorted, each once, so that the text does not depend on the order of nodes. `what` is Kernel or
/// Shape.
std::string type_list(const std::vector<Requirement>& rows, const char* what, bool device = false) {
  std::set<std::string> types;
  for (const Requirement& row : rows) {
    if (row.device != device) continue;
    types.insert(row.source.list.empty()
                     ? fmt::format("intarsia::Linked{}<{}>", what, row.key_cpp)
                     : fmt::format("intarsia::{}In<{}, {}>", what, row.source.list, row.key_cpp));
  }
  return fmt::format("{}{}", types.empty() ? "" : "\n        ", fmt::join(types, ",\n        "));
}

const char* kernels_type(const ProgramDescription& d) {
  return d.cuda ? "intarsia::cuda::Kernels" : "intarsia::KernelSet";
}

/// The function `open`. A device's stream has no default.
std::string open_signature(const ProgramDescription& d, const char* options,
                           const char* diagnostic) {
  const std::string head = std::string("intarsia::Result<") + session_type(d) + "> open(";
  const std::string indent = ",\n" + std::string(head.size(), ' ');
  return head + (d.cuda ? "const intarsia::cuda::Memory& memory" : "std::span<std::byte> arena") +
         indent +
         (d.cuda ? "const intarsia::cuda::Options& options"
                 : std::string("const intarsia::SessionOptions& options") + options) +
         indent + "intarsia::Diagnostic* diagnostic" + diagnostic + ")";
}

std::string emit_header(const ProgramDescription& d, const std::string& scope) {
  std::string text = "// Generated by intarsia from " + comment(d.model_name) + "; do not edit.\n";
  text += "#pragma once\n\n";
  for (const char* header : {"array", "cstddef", "cstdint", "span", "string_view"}) {
    text += std::string("#include <") + header + ">\n";
  }
  text += std::string("\n#include \"intarsia/") + (d.cuda ? "cuda.h" : "session.h") + "\"\n\n";
  text += "namespace " + scope + " {\n\n";
  text += "/// What `open` needs: bytes, and the alignment of their address.\n";
  text += "inline constexpr std::size_t arena_bytes = " + std::to_string(d.arena_bytes) + ";\n";
  text += "inline constexpr std::size_t arena_alignment = intarsia::kArenaAlignment;\n";
  if (d.cuda) {
    text += "/// Memory of the device, aligned to intarsia::cuda::kDeviceAlignment.\n";
    text += "inline constexpr std::size_t device_arena_bytes = " +
            std::to_string(d.device_arena_bytes) + ";\n";
    text += "inline constexpr std::size_t device_weights_bytes = " +
            std::to_string(d.device_weights_bytes) + ";\n";
  }
  text += "inline constexpr std::size_t plan_bytes = " + std::to_string(d.plan_bytes) + ";\n";
  text += "/// The largest number of threads that SessionOptions::parallel may have.\n";
  text += "inline constexpr int max_threads = " + std::to_string(d.threads) + ";\n\n";
  text += "/// The plan, in the program's read-only data.\n";
  text += "std::span<const std::byte> plan();\n";
  text += "/// Exactly the kernels that the plan requires.\n";
  text += std::string(kernels_type(d)) + " kernels();\n";
  text += "/// Opens the plan in memory that must outlive the session.\n";
  text += open_signature(d, " = {}", " = nullptr") + ";\n";
  const std::string session = session_type(d);
  text += d.entries.size() == 1 ? entry_ports(d.entries[0], session)
                                : entry_namespaces(d.entries, session);
  text += port_namespace(d.states, "states", PortKind::kState, session);
  return text + "\n}  // namespace " + scope + "\n";
}

std::string emit_source(const ProgramDescription& d, const std::string& scope,
                        const std::string& symbol) {
  std::string text = "// Generated by intarsia from " + comment(d.model_name) + "; do not edit.\n";
  text += "#include " + literal(d.header_name) + "\n\n" + include_lines(d);
  // The symbol is hidden, so that position-independent code reaches it relative to the program
  // counter. A type is written '%object', because '@' begins a comment on 32-bit ARM.
  text += "\n__asm__(";
  for (const std::string& line :
       {fmt::format(".pushsection .rodata.{},\"a\",%progbits", symbol),
        fmt::format(".balign {}", kArenaAlignment), fmt::format(".globl {}", symbol),
        fmt::format(".hidden {}", symbol), fmt::format(".type {}, %object", symbol),
        fmt::format("{}:", symbol), fmt::format(".incbin {}", literal(d.plan_path)),
        fmt::format(".size {0}, . - {0}", symbol), std::string(".popsection")}) {
    text += "\n    " + literal(line);
    text.insert(text.size() - 1, "\\n");
  }
  text += ");\n\n";
  text += "namespace {\n\n";
  // A device's session checks the plan, so its kernels keep their checks.
  const bool checked = d.varying || d.cuda;
  text += "constexpr intarsia::KernelSet kKernels =\n    intarsia::";
  text += checked ? "kernel_set<" : "trusted_kernel_set<";
  text += type_list(d.kernels, "Kernel") + ">()";
  if (d.varying && !d.shapes.empty()) {
    text += "\n        .with(intarsia::shape_set<" + type_list(d.shapes, "Shape") + ">())";
  }
  if (d.strings) text += "\n        .with_strings()";
  text += ";\n";
  if (d.cuda) {
    text += "constexpr intarsia::KernelSet kDeviceKernels =\n    intarsia::kernel_set<" +
            type_list(d.kernels, "Kernel", true) + ">();\n";
  }
  text += "\n}  // namespace\n\n";
  text += "namespace " + scope + " {\n\n";
  text += "extern const std::byte embedded_plan[] __asm__(" + literal(symbol) +
          ") __attribute__((visibility(\"hidden\")));\n\n";
  text += "std::span<const std::byte> plan() { return {embedded_plan, plan_bytes}; }\n\n";
  text += std::string(kernels_type(d)) + " kernels() { return " +
          (d.cuda ? "{kKernels, kDeviceKernels}" : "kKernels") + "; }\n\n";
  text += open_signature(d, "", "") + " {\n";
  text += std::string("  return ") + session_type(d) +
          (d.cuda ? "::open(plan(), memory" : "::open_trusted(plan(), arena") +
          ", kernels(), options, diagnostic);\n";
  return text + "}\n\n}  // namespace " + scope + "\n";
}

}  // namespace

std::string identifier_of(std::string_view name) {
  std::string result;
  for (char c : name) {
    const bool plain = is_letter(c) || is_digit(c);
    if (plain) {
      result += c;
    } else if (!result.empty() && result.back() != '_') {  // no leading and no double underscores
      result += '_';
    }
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty() || is_digit(result[0]))
    result.insert(0, result.empty() ? "tensor" : "tensor_");
  if (is_reserved(result) || is_emitted(result)) result += '_';
  return result;
}

std::vector<std::string> unique_identifiers(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    const std::string base = identifier_of(name);
    std::string candidate = base;
    for (int number = 2; !taken.insert(candidate).second; ++number) {
      candidate = base + (base.back() == '_' ? "" : "_") + std::to_string(number);
    }
    result.push_back(candidate);
  }
  return result;
}

ProgramText emit_program(const ProgramDescription& description) {
  const std::vector<std::string> parts = namespace_parts(description.namespace_name);
  const std::string symbol = "intarsia.plan." + join(parts, ".");
  const std::string scope = join(parts, "::");
  return {emit_header(description, scope), emit_source(description, scope, symbol)};
}

}  // namespace intarsia::converter
