// SPDX-License-Identifier: Apache-2.0
#include "core/threads/fork_count.h"

#include <pthread.h>

#include <atomic>

namespace intarsia {
namespace {

std::atomic<uint32_t> forks{0};

}  // namespace

uint32_t fork_count() {
  static const int kRegistered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(kRegistered);
  return forks.load(std::memory_order_relaxed);
}

}  // namespace intarsia
