// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/heap_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

// GCC defines macros for its sanitizers, clang has features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INTARSIA_HEAP_IS_TAKEN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define INTARSIA_HEAP_IS_TAKEN
#endif
#endif

#if defined(__GLIBC__) && !defined(INTARSIA_HEAP_IS_TAKEN)

namespace {
std::atomic<int64_t> calls{0};
void count() {
  calls.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}
void* realloc(void* block, size_t size) {
  count();
  return __libc_realloc(block, size);
}
void* memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  void* result = memalign(alignment, size);
  if (result == nullptr) return ENOMEM;
  *block = result;
  return 0;
}
}

namespace intarsia::tool {
int64_t heap_calls() {
  return calls.load(std::memory_order_relaxed);
}
}  // namespace intarsia::tool

#else

namespace intarsia::tool {
int64_t heap_calls() {
  return -1;
}
}  // namespace intarsia::tool

#endif
