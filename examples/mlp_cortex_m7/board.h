// SPDX-License-Identifier: Apache-2.0
//
// What the program needs of its board: see board.cpp.
#pragma once

namespace board {

/// Writes text to the debugger, or to the emulator's standard output.
void print(const char* text);

}  // namespace board
