// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics as text. Formats by hand: the runtime links no stdio.
#include "intarsia/describe.h"

#include <string_view>

#include "core/runtime/session_state.h"

namespace intarsia {
namespace {

/// Appends to a buffer of fixed capacity and counts what would have been written.
class Text {
 public:
  Text(char* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) {}
  Text& operator<<(std::string_view text) {
    for (char c : text) {
      if (length_ + 1 < capacity_) buffer_[length_] = c;
      ++length_;
    }
    return *this;
  }
  Text& operator<<(int64_t number) {
    char digits[20];
    int count = 0;
    uint64_t rest = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (number < 0) *this << "-";
    while (count > 0) *this << std::string_view(&digits[--count], 1);
    return *this;
  }
  Text& hexadecimal(uint64_t number) {
    *this << "0x";
    for (int shift = 60; shift >= 0; shift -= 4) {
      *this << std::string_view(&"0123456789abcdef"[(number >> shift) & 15u], 1);
    }
    return *this;
  }
  size_t finish() {
    if (capacity_ != 0) buffer_[length_ < capacity_ ? length_ : capacity_ - 1] = '\0';
    return length_;
  }

 private:
  char* buffer_;
  size_t capacity_;
  size_t length_ = 0;
};

/// A name of the plan, cut where it would hide what follows: names are as long as the plan allows.
struct Name {
  std::string_view text;
  size_t longest = 96;
};
Text& operator<<(Text& text, const Name& name) {
  if (name.text.size() <= name.longest) return text << name.text;
  return text << std::string_view(name.text.data(), name.longest) << "...";
}

/// A number that a message may have inside.
struct Place {
  std::string_view name;
  int64_t number;
};

/// The thing that is wrong, where a diagnostic was made from a status alone. A concurrent run must
/// not touch the session's own diagnostic, so kBusy always comes without one.
const char* summary(Code code) {
  return code == Code::kBusy ? "the session is running in another thread" : code_name(code);
}

/// What to do about a failure, one sentence per code.
const char* advice(Code code) {
  switch (code) {
    case Code::kNotAPlan:
      return "these bytes are not a plan; make one with `intarsia convert MODEL.onnx -o OUT.plan`";
    case Code::kUnsupportedVersion:
      return "convert the model with the converter of this library's version, or update the "
             "library";
    case Code::kTruncatedPlan:
      return "the file is incomplete; copy or convert it again";
    case Code::kCorruptPlan:
      return "the plan is damaged; convert the model again";
    case Code::kMissingKernel:
      return "add it to the program's kernel_set, or use the set that the converter emitted";
    case Code::kArenaTooSmall:
      return "give the arena at least PlanInfo::arena_bytes";
    case Code::kArenaMisaligned:
      return "align the arena to kArenaAlignment";
    case Code::kWrongType:
      return "use the element type of the model";
    case Code::kContradiction:
      return "give values that choose another branch, or convert the model for other extents";
    case Code::kBusy:
      return "open one session per thread";
    case Code::kTooManySteps:
      return "look for a loop that does not end, or raise SessionOptions::max_steps";
    case Code::kTooManyCharacters:
      return "convert the model with a larger --max-string";
    default:
      return nullptr;
  }
}

bool compares(Code code) {
  switch (code) {
    case Code::kUnknownName:
    case Code::kBusy:
    case Code::kNotAPlan:
    case Code::kMissingKernel:
    case Code::kContradiction:
    case Code::kDivisionByZero:
      return false;
    default:
      return true;
  }
}

std::string_view string_at(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* strings, uint32_t index) {
  if (strings == nullptr || index >= strings->size()) return {};
  const flatbuffers::String* string = strings->Get(index);
  return {string->c_str(), string->size()};
}

void write_node(Text& text, const Diagnostic& diagnostic, const PlanView* plan) {
  if (diagnostic.node < 0) return;
  text << "node " << int64_t{diagnostic.node};
  if (plan != nullptr) {
    const auto index = static_cast<uint32_t>(diagnostic.node);
    const std::string_view name = string_at(plan->root->node_names(), index);
    const std::string_view op = string_at(plan->root->operators(), index);
    if (!name.empty()) text << " '" << Name{name} << "'";
    if (!op.empty()) text << " (" << Name{op} << ")";
  }
  text << ": ";
}

/// Writes what is wrong, with the numbers in their places; true if there was a place.
bool write_what(Text& text, const Diagnostic& diagnostic) {
  bool numbered = false;
  std::string_view what = *diagnostic.what != '\0' ? diagnostic.what : summary(diagnostic.code);
  while (!what.empty()) {
    const size_t found = what.find('{');
    const size_t place = found < what.size() ? found : what.size();
    text << std::string_view(what.data(), place);
    what.remove_prefix(place);
    for (const auto& [name, number] :
         {Place{"{}", diagnostic.found}, Place{"{expected}", diagnostic.expected}}) {
      if (!what.starts_with(name)) continue;
      text << number;
      what.remove_prefix(name.size());
      numbered = true;
    }
    if (what.starts_with('{')) {
      text << "{";
      what.remove_prefix(1);
    }
  }
  return numbered;
}

/// The sentence that a Contradiction node carries in its attributes.
std::string_view message_of(const PlanView& plan, int32_t node) {
  if (node < 0 || static_cast<uint32_t>(node) >= plan.node_count) return {};
  const uint32_t attributes = plan.nodes[node].attributes();
  if (attributes == kNone) return {};
  const auto length = static_cast<size_t>(plan.attributes[attributes]);
  return {reinterpret_cast<const char*>(plan.attributes + attributes + 1), length};
}

}  // namespace

size_t describe(const Diagnostic& diagnostic, std::span<const std::byte> bytes, char* buffer,
                size_t capacity) {
  Text text(buffer, capacity);
  if (diagnostic.code == Code::kOk) {
    text << "no error";
    return text.finish();
  }
  PlanView view;
  Diagnostic ignored;
  const bool readable = !bytes.empty() && read_untrusted(bytes, true, view, ignored).ok();
  const PlanView* plan = readable ? &view : nullptr;

  write_node(text, diagnostic, plan);
  const bool numbered = write_what(text, diagnostic);
  const std::string_view message(diagnostic.text, diagnostic.text_length);
  if (diagnostic.code == Code::kUnknownName && diagnostic.text != nullptr) {
    text << " '" << message << "' is not known";
  } else if (!message.empty()) {
    text << ": " << message;
  }
  if (diagnostic.operand >= 0) text << ", operand " << int64_t{diagnostic.operand};
  if (diagnostic.axis >= 0) text << ", axis " << int64_t{diagnostic.axis};
  if (diagnostic.code == Code::kMissingKernel) {
    const std::string_view name =
        plan != nullptr && std::string_view(diagnostic.what) == "kernel"
            ? string_at(plan->root->kernel_names(), static_cast<uint32_t>(diagnostic.found))
            : std::string_view();
    text << " ";
    if (!name.empty()) {
      text << Name{name, 256};  // programs write it out
    } else {
      text.hexadecimal(static_cast<uint64_t>(diagnostic.expected));
    }
    text << " not in this build";
  } else if (diagnostic.code == Code::kWrongType && diagnostic.expected != diagnostic.found) {
    text << ": expected " << data_type_name(static_cast<DataType>(diagnostic.expected))
         << ", found " << data_type_name(static_cast<DataType>(diagnostic.found));
  } else if (diagnostic.code == Code::kContradiction && plan != nullptr) {
    text << ": " << message_of(*plan, diagnostic.node);
  } else if (!numbered && compares(diagnostic.code) && diagnostic.expected != diagnostic.found) {
    text << ": expected " << diagnostic.expected << ", found " << diagnostic.found;
  }
  if (const char* what_to_do = advice(diagnostic.code); what_to_do != nullptr) {
    text << "; " << what_to_do;
  }
  return text.finish();
}

const char* data_type_name(DataType type) {
  static constexpr const char* kNames[kLastDataType + 1] = {
      "undefined",      "float",      "uint8",          "int8",       "uint16",    "int16",
      "int32",          "int64",      "string",         "bool",       "float16",   "double",
      "uint32",         "uint64",     "complex64",      "complex128", "bfloat16",  "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",      "float4e2m1",
      "float8e8m0",     "uint2",      "int2",           "float6e2m3", "float6e3m2"};
  const auto index = static_cast<uint8_t>(type);
  if (type == DataType::kSequence) return "sequence";
  if (type == DataType::kOptional) return "optional";
  if (type == DataType::kMap) return "map";
  return index <= kLastDataType ? kNames[index] : kNames[0];
}

const char* code_name(Code code) {
  static constexpr const char* kNames[] = {"kOk",
                                           "kInvalidArgument",
                                           "kNotAPlan",
                                           "kUnsupportedVersion",
                                           "kTruncatedPlan",
                                           "kCorruptPlan",
                                           "kMissingKernel",
                                           "kArenaTooSmall",
                                           "kArenaMisaligned",
                                           "kUnknownName",
                                           "kWrongType",
                                           "kWrongRank",
                                           "kWrongExtent",
                                           "kIndexOutOfRange",
                                           "kDivisionByZero",
                                           "kInvalidValue",
                                           "kContradiction",
                                           "kUnsupported",
                                           "kBusy",
                                           "kOperatorFailed",
                                           "kTooManySteps",
                                           "kTooManyCharacters"};
  const auto index = static_cast<size_t>(code);
  return index < sizeof(kNames) / sizeof(kNames[0]) ? kNames[index] : "unknown code";
}

}  // namespace intarsia
