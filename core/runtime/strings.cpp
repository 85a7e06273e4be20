// SPDX-License-Identifier: Apache-2.0
//
// Strings of the program's and of kernels. Apart from the rest, so that only programs that use some
// link it.
#include "core/runtime/ports.h"

namespace intarsia {
namespace {

constexpr const char* kCharacters = "characters of strings";

}  // namespace

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
  StringState* strings = state_->strings();
  if (strings == nullptr) {
    return state_->fail(Code::kInvalidArgument, "the plan has no strings");
  }
  StringArea& area = strings->areas()[entry];
  if (area.has_run != 0) area = {};
  strings->use(entry);
  StringPool& pool = strings->pool;
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
