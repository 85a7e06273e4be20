// SPDX-License-Identifier: Apache-2.0
//
// What examples/firmware does before main: memory that holds rubbish at the start has the values
// that C++ promises, constructors have run in order, the processor computes with floats. The exit
// status is the number of the first check that failed.
#include <cstdint>

#include "board.h"

namespace {

// Variables are volatile: the compiler must not know what it has just initialised.
volatile int initialised = 0x1234567;
volatile int many_initialised[64] = {1, 2, 3};
volatile int64_t zero;
volatile int many_zeros[64];
volatile float quotient;

struct Constructed {
  Constructed() : value(initialised + 1) {}
  volatile int value;
};
Constructed constructed;
struct Next {
  Next() : value(constructed.value + 1) {}
  volatile int value;
};
Next next;

int failed_check() {
  if (initialised != 0x1234567) return 1;
  if (many_initialised[0] != 1 || many_initialised[2] != 3 || many_initialised[3] != 0) return 2;
  if (zero != 0) return 4;
  for (const volatile int& each : many_zeros) {
    if (each != 0) return 5;
  }
  if (constructed.value != 0x1234568) return 6;
  if (next.value != 0x1234569) return 7;
  initialised = 3;
  quotient = 1.5f / static_cast<float>(initialised);
  if (quotient != 0.5f) return 8;
  alignas(8) volatile char place = 0;
  if (reinterpret_cast<uintptr_t>(&place) % 8 != 0) return 9;

  // The stack was painted: a deeper use shows, and cycles go on.
  const uint32_t before = board::stack_used();
  const uint32_t begin = board::cycles();
  volatile char deep[1024];
  for (volatile char& each : deep) each = 1;
  const uint32_t cycles = board::cycles() - begin;
  const uint32_t used = board::stack_used();
  if (before < 1024 || before > 2048) return 10;  // `deep` belongs to the frame from its start.
  if (used < before || used > 2048) return 11;
  if (cycles < 10 || cycles > 100000) return 12;
  return 0;
}

}  // namespace

int main() {
  const int failed = failed_check();
  board::print(failed == 0 ? "ok\n" : "failed\n");
  return failed;
}
