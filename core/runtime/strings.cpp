// SPDX-License-Identifier: Apache-2.0
//
// Strings of the program's and of kernels. Apart from the rest, so that only programs that use some
// link it.
#include <new>

#include "core/runtime/ports.h"

namespace intarsia {
namespace {

constexpr const char* kCharacters = "characters of strings";

/// What the program has added for an entry point.
struct StringArea {
  uint32_t inputs;   // bytes at the begin of the entry point's part
  uint32_t has_run;  // so that what is added next begins anew
};
/// An area for each entry point follows it in the arena.
struct Strings {
  StringState state;
  union {
    const uint32_t* ends;  // of the entry points' parts
    uint64_t unused;       // the same size on every target
  };
  StringArea* areas() { return reinterpret_cast<StringArea*>(this + 1); }
  void use(int entry) {
    const uint32_t begin = entry > 0 ? ends[entry - 1] : 0;
    state.pool.use(begin + areas()[entry].inputs, ends[entry]);
  }
  static Strings* of(StringState* state) { return reinterpret_cast<Strings*>(state); }
};
static_assert(sizeof(Strings) <= kStringPoolBytes && sizeof(StringArea) == kStringAreaBytes &&
              sizeof(Strings) % alignof(StringArea) == 0 && alignof(Strings) <= 8 &&
              std::is_standard_layout_v<Strings>);

void begin_run_of_strings(StringState& state, int entry) {
  Strings* strings = Strings::of(&state);
  strings->use(entry);
  strings->areas()[entry].has_run = 1;
}

StringState* open_strings(const PlanView& plan, std::byte* place, std::byte* arena_end) {
  const List list = list_of(plan.root, plan::Plan::VT_STRINGS);
  const auto* numbers = static_cast<const uint32_t*>(list.data);
  const uint32_t count = numbers[list.count - 1];
  const StringPool pool(
      {reinterpret_cast<const char*>(plan.weights + numbers[0] * kWeightUnit), numbers[1]},
      {reinterpret_cast<char*>(arena_end) - count, count});
  auto* strings = new (place) Strings{{pool, begin_run_of_strings}, {numbers + kStringEnds}};
  std::memset(strings->areas(), 0, (list.count - kStringEnds) * sizeof(StringArea));
  return &strings->state;
}

}  // namespace

const StringSupport string_support = {open_strings};

Status KernelContext::add_string(size_t length, StringRef& element, char*& at) const {
  StringPool* pool = host_->strings;
  if (pool != nullptr && pool->add(length, element, at)) return {};
  const int64_t left = pool != nullptr ? pool->end() - pool->used() : 0;
  return fail(Code::kTooManyCharacters, kCharacters, left, static_cast<int64_t>(length));
}

Result<StringRef> Session::add_string(std::string_view text, int entry) {
  if (state_ == nullptr) return Code::kInvalidArgument;
  if (entry_at(state_, entry) == nullptr) {
    return state_->fail(Code::kInvalidArgument, "entry point (at most)", entry_count() - 1, entry);
  }
  Strings* strings = Strings::of(state_->strings());
  if (strings == nullptr) {
    return state_->fail(Code::kInvalidArgument, "the plan has no strings");
  }
  StringArea& area = strings->areas()[entry];
  if (area.has_run != 0) area = {};
  strings->use(entry);
  StringPool& pool = strings->state.pool;
  const uint32_t begin = pool.used();
  StringRef string;
  if (!pool.add(text, string)) {
    return state_->fail(Code::kTooManyCharacters, kCharacters, pool.end() - begin,
                        static_cast<int64_t>(text.size()));
  }
  area.inputs += pool.used() - begin;
  return string;
}

std::string_view Session::string(StringRef element) const {
  return state_ != nullptr && state_->host.strings != nullptr ? (*state_->host.strings)[element]
                                                              : std::string_view();
}

}  // namespace intarsia
