// SPDX-License-Identifier: Apache-2.0
//
// Signatures as JSON, byte for byte as onnx-mlir's omInputSignature and omOutputSignature write
// them; what they get wrong (types that are not quoted, names that are not escaped) is right here.
#include "core/c_api/handle.h"

namespace intarsia::c {
namespace {

/// By number of the element type.
constexpr const char* kTypes[] = {
    "none",         "f32",          "ui8",      "i8",        "ui16",       "i16",    "i32",
    "i64",          "string",       "i1",       "f16",       "f64",        "ui32",   "ui64",
    "complex<f32>", "complex<f64>", "bf16",     "f8E4M3FN",  "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ",
    "ui4",          "i4",           "f4E2M1FN", "f8E8M0FNU", "ui2",        "i2",     "f6E2M3FN",
    "f6E3M2FN",     "map",          "optional", "seq"};
static_assert(sizeof(kTypes) / sizeof(*kTypes) == INTARSIA_SEQUENCE + 1);

/// Writes what fits, and counts everything.
struct Text {
  char* buffer;
  size_t capacity;
  size_t length = 0;

  void put(char c) {
    if (length + 1 < capacity) buffer[length] = c;
    ++length;
  }
  void put(const char* text) {
    while (*text != 0) put(*text++);
  }
  void put(int32_t number) {  // not below -1
    if (number < 0) return put("-1");
    if (number >= 10) put(number / 10);
    put(static_cast<char>('0' + number % 10));
  }
  void quoted(const char* text) {
    put('"');
    for (; *text != 0; ++text) {
      const auto byte = static_cast<unsigned char>(*text);
      if (byte < 0x20) {
        put("\\u00");
        put("0123456789abcdef"[byte >> 4]);
        put("0123456789abcdef"[byte & 15]);
        continue;
      }
      if (*text == '"' || *text == '\\') put('\\');
      put(*text);
    }
    put('"');
  }
  size_t finish() {
    if (capacity != 0) buffer[length < capacity ? length : capacity - 1] = 0;
    return length;
  }
};

/// The numbers of Port::holds one after another; 0 behind the last.
struct Held {
  const flatbuffers::Vector<int32_t>* numbers;
  uint32_t at = 0;

  bool more() const { return numbers != nullptr && at < numbers->size(); }
  int32_t next() { return more() ? numbers->Get(at++) : 0; }
};

void write_dims(Text& text, const SessionState& state, const plan::Port& port) {
  const plan::Tensor& tensor = tensor_in(state, port.slot());
  const auto* symbols = port.symbols();
  const bool varies = symbols != nullptr && symbols->size() != 0;
  for (uint32_t axis = 0; axis < tensor.rank(); ++axis) {
    if (axis != 0) text.put(" , ");
    const bool fixed = !varies || symbols->Get(axis) == -1;
    text.put(fixed ? state.plan.extents[tensor.extents() + axis] : -1);
  }
}

/// What holds elements is an object around the description of one.
void write_port(Text& text, const SessionState& state, const plan::Port& port) {
  Held held{port.holds()};
  int32_t type = tensor_in(state, port.slot()).type() & 31, depth = 0;
  for (; type >= INTARSIA_MAP; ++depth) {
    text.put("   {");
    if (type == INTARSIA_MAP) {
      text.put("\"key\" : \"");
      text.put(kTypes[held.next() & 31]);
      text.put("\" , ");
    }
    text.put('"');
    text.put(kTypes[type]);
    text.put("\" : ");
    type = held.next() & 31;
  }
  text.put("   { \"type\" : \"");
  text.put(kTypes[type]);
  text.put("\" , \"dims\" : [");
  if (depth == 0) {
    write_dims(text, state, port);
  } else {
    while (held.more()) {
      text.put(held.next());
      if (held.more()) text.put(" , ");
    }
  }
  text.put("] , \"name\" : ");
  text.quoted(port.name() != nullptr ? port.name()->c_str() : "");
  text.put(" }\n");
  for (; depth > 0; --depth) text.put(" }\n");
}

}  // namespace
}  // namespace intarsia::c

using namespace intarsia;

size_t intarsia_write_signature(const intarsia_session* session, int32_t entry, intarsia_kind kind,
                                char* buffer, size_t capacity) {
  c::Text text{buffer, buffer != nullptr ? capacity : 0};
  const SessionState* state = c::state_of(session);
  const bool known = kind == INTARSIA_INPUT || kind == INTARSIA_OUTPUT;
  if (!known || entry_at(state, entry) == nullptr) {
    if (text.capacity != 0) *buffer = 0;
    c::fail(session, Code::kInvalidArgument, "entry point, or kind, of a signature", 0, entry);
    return 0;
  }
  const Ports* ports = kind == INTARSIA_INPUT ? inputs_of(state, entry) : outputs_of(state, entry);
  text.put(kind == INTARSIA_INPUT ? "[ " : "[");
  for (uint32_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    if (i != 0) text.put(" , ");
    c::write_port(text, *state, *ports->Get(i));
  }
  text.put("\n]");
  return text.finish();
}
