// SPDX-License-Identifier: Apache-2.0
//
// The end of memory, which malloc of newlib asks for: with it a program can link the heap, as the
// negative control of cross.mlp_heap does.
#include <cstddef>

extern "C" void* _sbrk(std::ptrdiff_t);
extern "C" void* _sbrk(std::ptrdiff_t) {
  return nullptr;
}
