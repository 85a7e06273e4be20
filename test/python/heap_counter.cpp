// SPDX-License-Identifier: Apache-2.0
//
// Loaded before the C library (LD_PRELOAD): counts the allocations that code between two addresses
// asks for, by functions of C or by `new`.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>

namespace {

std::atomic<uintptr_t> first{0}, last{0};
std::atomic<int64_t> calls{0};

void count(const void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (address >= first.load() && address < last.load()) calls.fetch_add(1);
}

}  // namespace

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  count(__builtin_return_address(0));
  return __libc_malloc(size);
}
void* calloc(size_t number, size_t size) {
  count(__builtin_return_address(0));
  return __libc_calloc(number, size);
}
void* realloc(void* memory, size_t size) {
  count(__builtin_return_address(0));
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, size);
}
void* memalign(size_t alignment, size_t size) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  count(__builtin_return_address(0));
  *memory = __libc_memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}

/// From now on counts what code in [begin, end) asks for.
void heap_counter_begin(uintptr_t begin, uintptr_t end) {
  first = begin;
  last = end;
  calls = 0;
}
int64_t heap_counter_calls() {
  return calls.load();
}
}

// As the C++ library has them, which knows nothing of the caller.
void* operator new(size_t size) {
  count(__builtin_return_address(0));
  if (void* memory = __libc_malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new[](size_t size) {
  count(__builtin_return_address(0));
  if (void* memory = __libc_malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  count(__builtin_return_address(0));
  return __libc_malloc(size != 0 ? size : 1);
}
void* operator new(size_t size, std::align_val_t alignment) {
  count(__builtin_return_address(0));
  void* memory = __libc_memalign(static_cast<size_t>(alignment), size != 0 ? size : 1);
  if (memory != nullptr) return memory;
  throw std::bad_alloc();
}
