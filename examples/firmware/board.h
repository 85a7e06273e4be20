// SPDX-License-Identifier: Apache-2.0
//
// What a program uses of its board. start.cpp defines the processor's part, semihosting.cpp the
// output, which a product replaces by its own.
#pragma once

#include <cstdint>

namespace board {

/// Writes text to the debugger, or to the emulator's standard output.
void print(const char* text);
void print(uint32_t value);
void print(float value);  ///< Six decimals, for magnitudes below 4,000.

/// Ends the program; an emulator ends with this status.
[[noreturn]] void exit(int status);

/// Processor cycles since the start, modulo 2^32, by the system timer.
uint32_t cycles();

/// Bytes of the stack that were in use at any time so far; all of it if it overflowed.
uint32_t stack_used();

}  // namespace board
