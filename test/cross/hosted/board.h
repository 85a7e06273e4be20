// SPDX-License-Identifier: Apache-2.0
//
// examples/firmware/board.h where there is an operating system.
#pragma once

#include <cstdio>

namespace board {

inline void print(const char* text) {
  std::fputs(text, stdout);
}

}  // namespace board
