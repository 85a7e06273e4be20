// SPDX-License-Identifier: Apache-2.0
//
// Opening and closing. The handle takes the first INTARSIA_SESSION_BYTES of the arena.
#include <new>

#include "core/c_api/handle.h"

namespace intarsia::c {
namespace {

using Open = Result<Session> (*)(std::span<const std::byte>, std::span<std::byte>, KernelSet,
                                 const SessionOptions&, Diagnostic*);

static_assert(sizeof(intarsia_service) == sizeof(Service) &&
              offsetof(intarsia_service, pointer) == offsetof(Service, pointer));
static_assert(size_t{INTARSIA_ALIGNMENT} == kArenaAlignment && int{INTARSIA_MAX_RANK} == kMaxRank);

SessionOptions options_of(const intarsia_options* given) {
  const intarsia_options chosen = accept(given);
  SessionOptions options;
  if (chosen.team != nullptr) options.parallel = chosen.team->parallel;
  if (chosen.services != nullptr) {
    options.services = {reinterpret_cast<const Service*>(chosen.services), chosen.service_count};
  }
  if (chosen.max_steps != 0) options.max_steps = chosen.max_steps;
  if (chosen.portable_only != 0) options.isa = Isa::kPortable;
  options.checksum = chosen.skip_checksum == 0;
  return options;
}

std::span<const std::byte> bytes_of(const void* plan, size_t size) {
  return {static_cast<const std::byte*>(plan), plan != nullptr ? size : 0};
}

/// The session proper, behind the handle.
Result<Session> open_behind(Open open, std::span<const std::byte> plan, const intarsia_kernels* set,
                            void* arena, size_t arena_bytes, const intarsia_options* options,
                            Diagnostic& diagnostic) {
  const auto misalignment = reinterpret_cast<uintptr_t>(arena) % kArenaAlignment;
  if (plan.data() == nullptr) return report(diagnostic, Code::kInvalidArgument, "plan is NULL");
  if (set == nullptr || set->set == nullptr) {
    return report(diagnostic, Code::kInvalidArgument, "kernels are NULL");
  }
  if (arena == nullptr || misalignment != 0) {
    return report(diagnostic, Code::kArenaMisaligned, "alignment of the arena", kArenaAlignment,
                  misalignment);
  }
  if (options != nullptr && options->struct_size < sizeof(size_t)) {
    return report(diagnostic, Code::kInvalidArgument, "struct_size of options",
                  sizeof(intarsia_options), options->struct_size);
  }
  const size_t room =
      arena_bytes > INTARSIA_SESSION_BYTES ? arena_bytes - INTARSIA_SESSION_BYTES : 0;
  auto session = open(plan, {static_cast<std::byte*>(arena) + INTARSIA_SESSION_BYTES, room},
                      set->set(), options_of(options), &diagnostic);
  if (session.status() == Code::kArenaTooSmall) {  // in the caller's terms
    diagnostic.expected += INTARSIA_SESSION_BYTES;
    diagnostic.found = static_cast<int64_t>(arena_bytes);
  }
  return session;
}

intarsia_session* open_with(Open open, std::span<const std::byte> plan, const intarsia_kernels* set,
                            void* arena, size_t arena_bytes, const intarsia_options* options,
                            intarsia_diagnostic* why) {
  Diagnostic diagnostic;
  auto session = open_behind(open, plan, set, arena, arena_bytes, options, diagnostic);
  deliver(to_c(diagnostic), why);
  if (!session.ok()) return nullptr;
  auto* handle = new (arena) intarsia_session();
  handle->session = std::move(*session);
  return handle;
}

}  // namespace
}  // namespace intarsia::c

using namespace intarsia;

int32_t intarsia_c_version(void) {
  return INTARSIA_C_VERSION;
}

intarsia_code intarsia_read_plan_info(const void* plan, size_t plan_bytes, intarsia_plan_info* info,
                                      intarsia_diagnostic* why) {
  Diagnostic diagnostic;
  Status status;
  if (plan == nullptr) {
    status = report(diagnostic, Code::kInvalidArgument, "plan is NULL");
  } else if (const auto found = plan_info(c::bytes_of(plan, plan_bytes), &diagnostic); found.ok()) {
    const intarsia_plan_info value{sizeof(value),
                                   found->format_version,
                                   found->node_count,
                                   found->threads,
                                   0,
                                   found->arena_bytes + INTARSIA_SESSION_BYTES,
                                   found->plan_bytes,
                                   found->weights_bytes};
    if (!c::deliver(value, info)) {
      status =
          report(diagnostic, Code::kInvalidArgument, "plan info is NULL, or its struct_size 0");
    }
  } else {
    status = found.status();
  }
  c::deliver(c::to_c(diagnostic), why);
  return c::code_of(status);
}

intarsia_session* intarsia_open(const void* plan, size_t plan_bytes,
                                const intarsia_kernels* kernels, void* arena, size_t arena_bytes,
                                const intarsia_options* options, intarsia_diagnostic* why) {
  return c::open_with(&Session::open, c::bytes_of(plan, plan_bytes), kernels, arena, arena_bytes,
                      options, why);
}

intarsia_session* intarsia_open_trusted(const void* plan, size_t plan_bytes,
                                        const intarsia_kernels* kernels, void* arena,
                                        size_t arena_bytes, const intarsia_options* options,
                                        intarsia_diagnostic* why) {
  return c::open_with(&Session::open_trusted, c::bytes_of(plan, plan_bytes), kernels, arena,
                      arena_bytes, options, why);
}

void intarsia_close(intarsia_session* session) {
  if (c::session_of(session) == nullptr) return;
  session->session.close();
  session->state = 0;
  if (session->release != nullptr) session->release(session->owned);
}
