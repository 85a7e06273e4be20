// SPDX-License-Identifier: Apache-2.0
//
// Reads sound from WAV files: PCM of 8, 16, 24 or 32 bits and 32-bit or 64-bit float, any number of
// channels, plain or extensible header. Every size in the file is checked against the file, so that
// a damaged or hostile one gives an error, never a read outside the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace examples {

struct Sound {
  std::vector<double> samples;  ///< The mean of all channels; full scale is 1.
  uint32_t rate = 0;            ///< Samples per second, 1,000 to 768,000.
};

/// Decodes the bytes of a WAV file. Throws std::runtime_error that says what is wrong.
Sound decode_wav(std::span<const uint8_t> bytes);

/// The bytes of a file. Throws std::runtime_error naming it.
std::vector<uint8_t> read_file(const std::string& path);

/// decode_wav(read_file(path)), with the path in front of any error.
Sound read_wav(const std::string& path);

}  // namespace examples
