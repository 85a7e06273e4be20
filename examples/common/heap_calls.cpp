// SPDX-License-Identifier: Apache-2.0
#include "common/heap_calls.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define EXAMPLES_SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(EXAMPLES_SANITIZED)

static std::atomic<long> calls{0};

extern "C" {
// The C library's own names for what is replaced here.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

void* malloc(size_t size) noexcept {
  ++calls;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) noexcept {
  ++calls;
  return __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) noexcept {
  ++calls;
  return __libc_realloc(block, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  ++calls;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  ++calls;
  *block = __libc_memalign(alignment, size);
  return *block != nullptr ? 0 : ENOMEM;
}
void free(void* block) noexcept {
  ++calls;
  __libc_free(block);
}
}

namespace examples {
long heap_calls() {
  return calls;
}
}  // namespace examples

#else

namespace examples {
long heap_calls() {
  return -1;
}
}  // namespace examples

#endif
