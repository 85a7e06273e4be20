// SPDX-License-Identifier: Apache-2.0
//
// Sessions that own their memory: blocks of the heap in a list, of which the last is that of the
// handle itself.
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/c_api/handle.h"
#include "intarsia/intarsia_host_c.h"

namespace intarsia::c {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Block = std::unique_ptr<std::byte, Free>;

/// A block's link takes a multiple of the alignment, so that what is behind it is aligned.
constexpr size_t kLink = INTARSIA_ALIGNMENT;
static_assert(sizeof(intarsia_owned) <= kLink);

size_t rounded(size_t bytes) {
  return (bytes + INTARSIA_ALIGNMENT - 1) / INTARSIA_ALIGNMENT * INTARSIA_ALIGNMENT;
}

Block allocate(uint64_t bytes) {  // may be more than a size_t holds
  if (bytes > SIZE_MAX - 2 * kLink) return nullptr;
  return Block(static_cast<std::byte*>(
      std::aligned_alloc(INTARSIA_ALIGNMENT, kLink + rounded(static_cast<size_t>(bytes)))));
}

void own(intarsia_session& session, Block block) {
  auto* link = new (block.release()) intarsia_owned{session.owned};
  session.owned = link;
}

void release(intarsia_owned* owned) {
  while (owned != nullptr) {
    intarsia_owned* next = owned->next;
    std::free(owned);
    owned = next;
  }
}

intarsia_session* fail_open(intarsia_diagnostic* why, Code code, const char* what,
                            std::string_view text = {}, uint64_t expected = 0) {
  Diagnostic diagnostic;
  static_cast<void>(report(diagnostic, code, what, expected));
  if (!text.empty()) {
    diagnostic.text = text.data();
    diagnostic.text_length = static_cast<uint32_t>(text.size());
  }
  deliver(to_c(diagnostic), why);
  return nullptr;
}

/// Opens the plan that lies behind a block's link.
intarsia_session* open_block(Block block, size_t plan_bytes, const intarsia_kernels* kernels,
                             const intarsia_options* options, intarsia_diagnostic* why) {
  const std::byte* plan = block.get() + kLink;
  intarsia_plan_info info{};
  info.struct_size = sizeof(info);
  if (intarsia_read_plan_info(plan, plan_bytes, &info, why) != INTARSIA_OK) return nullptr;
  Block arena = allocate(info.arena_bytes);
  if (arena == nullptr) {
    return fail_open(why, Code::kArenaTooSmall, "memory for the arena", {}, info.arena_bytes);
  }
  intarsia_session* session = intarsia_open(plan, plan_bytes, kernels, arena.get() + kLink,
                                            static_cast<size_t>(info.arena_bytes), options, why);
  if (session == nullptr) return nullptr;
  session->release = &release;
  own(*session, std::move(arena));
  own(*session, std::move(block));
  return session;
}

}  // namespace
}  // namespace intarsia::c

using namespace intarsia;

intarsia_session* intarsia_open_copy(const void* plan, size_t plan_bytes,
                                     const intarsia_kernels* kernels,
                                     const intarsia_options* options, intarsia_diagnostic* why) {
  if (plan == nullptr) return c::fail_open(why, Code::kInvalidArgument, "plan is NULL");
  c::Block block = c::allocate(plan_bytes);
  if (block == nullptr) {
    return c::fail_open(why, Code::kArenaTooSmall, "memory for the plan", {}, plan_bytes);
  }
  std::memcpy(block.get() + c::kLink, plan, plan_bytes);
  return c::open_block(std::move(block), plan_bytes, kernels, options, why);
}

intarsia_session* intarsia_open_file(const char* path, const intarsia_kernels* kernels,
                                     const intarsia_options* options, intarsia_diagnostic* why) {
  if (path == nullptr) return c::fail_open(why, Code::kInvalidArgument, "path is NULL");
  const std::unique_ptr<std::FILE, c::Close> file(std::fopen(path, "rb"));
  const auto unreadable = [&] {
    return c::fail_open(why, Code::kInvalidArgument, "the file cannot be read", path);
  };
  if (file == nullptr || std::fseek(file.get(), 0, SEEK_END) != 0) return unreadable();
  const long size = std::ftell(file.get());
  // A folder says that it has as many bytes as there can be.
  if (size < 0 || size == LONG_MAX || std::fseek(file.get(), 0, SEEK_SET) != 0) return unreadable();
  const auto bytes = static_cast<size_t>(size);
  c::Block block = c::allocate(bytes);
  if (block == nullptr) {
    return c::fail_open(why, Code::kArenaTooSmall, "memory for the plan", {}, bytes);
  }
  if (std::fread(block.get() + c::kLink, 1, bytes, file.get()) != bytes) return unreadable();
  return c::open_block(std::move(block), bytes, kernels, options, why);
}

const char* intarsia_signature(intarsia_session* session, int32_t entry, intarsia_kind kind) {
  const size_t length = intarsia_write_signature(session, entry, kind, nullptr, 0);
  if (length == 0) return nullptr;
  c::Block block = c::allocate(length + 1);
  if (block == nullptr) {
    c::fail(session, Code::kArenaTooSmall, "memory for a signature",
            static_cast<int64_t>(length + 1));
    return nullptr;
  }
  char* text = reinterpret_cast<char*>(block.get()) + c::kLink;
  intarsia_write_signature(session, entry, kind, text, length + 1);
  session->release = &c::release;
  c::own(*session, std::move(block));
  return text;
}
