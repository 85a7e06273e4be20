// SPDX-License-Identifier: Apache-2.0
//
// Verification of a plan's FlatBuffer: after it every accessor of core/plan_structure.h stays
// inside the structure. It checks what the generated `Plan::Verify` does, in a third of its code:
// one function walks any table by a list of its fields, which the compiler derives from the schema.
#include <utility>

#include "core/runtime/session_state.h"

namespace intarsia {
namespace {

enum class Kind : uint8_t {
  kInline,   // a number or struct in the table itself
  kVector,   // of numbers or structs
  kString,   // a vector of bytes and a zero
  kStrings,  // a vector of offsets to strings
  kTables    // a vector of offsets to tables, which `Structure::run` visits
};

/// One field of a table.
struct Field {
  Kind kind;
  uint8_t bytes;  // of the number or struct, or of an element
};

/// By the type of the field's generated accessor.
template <class T>
struct FieldOf {
  static_assert(std::is_arithmetic_v<T>);
  static constexpr Field value{Kind::kInline, sizeof(T)};
};
template <class Struct>
struct FieldOf<const Struct*> {
  static constexpr Field value{Kind::kInline, sizeof(Struct)};
};
template <class Number>
struct FieldOf<const flatbuffers::Vector<Number>*> {
  static constexpr Field value{Kind::kVector, sizeof(Number)};
};
template <class Struct>
struct FieldOf<const flatbuffers::Vector<const Struct*>*> {
  static constexpr Field value{Kind::kVector, sizeof(Struct)};
};
template <class Table>
struct FieldOf<const flatbuffers::Vector<flatbuffers::Offset<Table>>*> {
  static constexpr Field value{Kind::kTables, sizeof(flatbuffers::uoffset_t)};
};
template <>
struct FieldOf<const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>*> {
  static constexpr Field value{Kind::kStrings, sizeof(flatbuffers::uoffset_t)};
};
template <>
struct FieldOf<const flatbuffers::String*> {
  static constexpr Field value{Kind::kString, 1};
};

template <class Table, class Indices = std::make_index_sequence<Table::Traits::fields_number>>
struct Fields;
template <class Table, size_t... I>
struct Fields<Table, std::index_sequence<I...>> {
  static constexpr Field list[sizeof...(I)] = {
      FieldOf<typename Table::Traits::template FieldType<I>>::value...};
  static constexpr int tables = ((list[I].kind == Kind::kTables ? 1 : 0) + ...);
};
// Those that `run` visits.
static_assert(Fields<plan::Plan>::tables == 3 && Fields<plan::Entry>::tables == 2 &&
              Fields<plan::Port>::tables == 0 && Fields<plan::Symbol>::tables == 0);
static_assert(sizeof(plan::Memory) % 8 == 0 && alignof(plan::Memory) == 8);

/// Places are bytes from the structure's begin; 0 is none, since the offset of the root is there.
class Structure {
 public:
  explicit Structure(std::span<const std::byte> bytes)
      : begin_(bytes.data()), size_(bytes.size()), tables_left_(bytes.size() / 8) {}

  bool run() {
    if (!table(target(0), Fields<plan::Plan>::list)) return false;
    const plan::Plan& plan = *plan::GetPlan(begin_);
    if (!tables(plan.symbols(), Fields<plan::Symbol>::list) ||
        !tables(plan.state_ports(), Fields<plan::Port>::list) ||
        !tables(plan.entries(), Fields<plan::Entry>::list)) {
      return false;
    }
    for (uint32_t i = 0; plan.entries() != nullptr && i < plan.entries()->size(); ++i) {
      const plan::Entry& entry = *plan.entries()->Get(i);
      if (!tables(entry.inputs(), Fields<plan::Port>::list) ||
          !tables(entry.outputs(), Fields<plan::Port>::list)) {
        return false;
      }
    }
    return true;
  }

 private:
  template <class T>
  T read(size_t at) const {
    T value;
    std::memcpy(&value, begin_ + at, sizeof(value));
    return value;
  }
  bool inside(size_t at, uint64_t bytes) const { return bytes < size_ && at <= size_ - bytes; }
  bool holds(size_t at, size_t bytes, size_t alignment) const {
    return at % alignment == 0 && inside(at, bytes);
  }

  /// Where the offset at this place leads; 0 for nowhere.
  size_t target(size_t at) const {
    if (!holds(at, 4, 4)) return 0;
    const auto offset = read<int32_t>(at);
    if (offset <= 0) return 0;
    at += static_cast<size_t>(offset);
    return inside(at, 1) ? at : 0;
  }
  /// Where a vector's elements end; 0 if they are not all there.
  size_t end_of(size_t vector, size_t element) const {
    if (vector == 0 || !holds(vector, 4, 4)) return 0;
    const uint64_t bytes = 4 + uint64_t{read<uint32_t>(vector)} * element;
    return inside(vector, bytes) ? vector + static_cast<size_t>(bytes) : 0;
  }
  bool string(size_t at) const {
    const size_t end = end_of(at, 1);
    return end != 0 && inside(end, 1) && begin_[end] == std::byte{0};
  }

  bool field(size_t at, Field expected) const {
    if (expected.kind == Kind::kInline) {
      return holds(at, expected.bytes, expected.bytes % 8 == 0 ? 8 : 4);
    }
    at = target(at);
    if (expected.kind == Kind::kString) return string(at);
    const size_t end = end_of(at, expected.bytes);
    if (end == 0) return false;
    if (expected.kind != Kind::kStrings) return true;
    while ((at += 4) != end) {
      if (!string(target(at))) return false;
    }
    return true;
  }

  /// A table begins with the distance back to a list of its fields' places in it: the bytes of that
  /// list, those of the table, and the places, 0 for a field that is absent.
  bool table(size_t at, std::span<const Field> fields) {
    // Tables that are shared would be visited again and again; no writer shares any.
    if (at == 0 || !holds(at, 4, 4) || tables_left_-- == 0) return false;
    const size_t places = at - static_cast<size_t>(ptrdiff_t{read<int32_t>(at)});
    if (!holds(places, 2, 2)) return false;
    const size_t bytes = read<uint16_t>(places);
    if (bytes % 2 != 0 || !inside(places, bytes)) return false;
    size_t next = 4;
    for (const Field& each : fields) {
      const size_t place = next < bytes ? read<uint16_t>(places + next) : 0;
      if (place != 0 && !field(at + place, each)) return false;
      next += 2;
    }
    return true;
  }
  /// The vector itself is verified, its offsets are not.
  bool tables(const void* vector, std::span<const Field> fields) {
    if (vector == nullptr) return true;
    auto at = static_cast<size_t>(static_cast<const std::byte*>(vector) - begin_);
    for (const size_t end = end_of(at, 4); (at += 4) != end;) {
      if (!table(target(at), fields)) return false;
    }
    return true;
  }

  const std::byte* begin_;
  size_t size_;
  size_t tables_left_;
};

}  // namespace

Status verify_structure(std::span<const std::byte> bytes, const PlanHeader& header, bool checksum,
                        Diagnostic& diagnostic) {
  if (checksum && plan_checksum(bytes, header) != header.checksum)
    return report(diagnostic, Code::kCorruptPlan, "checksum of the plan");
  return Structure(bytes.subspan(header.structure_offset, header.structure_bytes)).run()
             ? Status()
             : report(diagnostic, Code::kCorruptPlan, "FlatBuffers structure");
}

}  // namespace intarsia
