// SPDX-License-Identifier: Apache-2.0
#include "common/wav.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace examples {
namespace {

constexpr uint32_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;

/// `count` bytes at `data`, least significant first.
uint64_t little_endian(const uint8_t* data, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | data[i];
  return value;
}

struct Format {
  uint32_t encoding = 0;
  uint32_t channels = 0;
  uint32_t rate = 0;
  uint32_t bits = 0;
};

Format read_format(std::span<const uint8_t> chunk) {
  if (chunk.size() < 16) {
    throw std::runtime_error("the 'fmt ' chunk has " + std::to_string(chunk.size()) +
                             " bytes, expected at least 16");
  }
  const auto field = [chunk](size_t offset, size_t count) {
    return static_cast<uint32_t>(little_endian(chunk.data() + offset, count));
  };
  Format format{field(0, 2), field(2, 2), field(4, 4), field(14, 2)};
  const uint32_t frame = field(12, 2);
  if (format.encoding == kExtensible && chunk.size() >= 40) format.encoding = field(24, 2);
  const bool pcm = format.encoding == kPcm && (format.bits == 8 || format.bits == 16 ||
                                               format.bits == 24 || format.bits == 32);
  const bool real = format.encoding == kFloat && (format.bits == 32 || format.bits == 64);
  if (!pcm && !real) {
    throw std::runtime_error("encoding " + std::to_string(format.encoding) + " with " +
                             std::to_string(format.bits) +
                             " bits per sample; expected PCM of 8, 16, 24 or 32 bits, or float");
  }
  if (format.channels == 0 || frame != format.channels * format.bits / 8) {
    throw std::runtime_error(std::to_string(format.channels) + " channels in frames of " +
                             std::to_string(frame) + " bytes contradict each other");
  }
  if (format.rate < 1000 || format.rate > 768000) {
    throw std::runtime_error(std::to_string(format.rate) +
                             " samples per second, expected 1000 to 768000");
  }
  return format;
}

/// One sample, full scale 1 except for integers of 16 bits and more: those are scaled at the end.
double decode(const uint8_t* data, const Format& format) {
  const uint64_t word = little_endian(data, format.bits / 8);
  if (format.encoding == kFloat) {
    return format.bits == 64
               ? std::bit_cast<double>(word)
               : static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(word)));
  }
  if (format.bits == 8) return static_cast<double>(word) - 128.0;  // the only unsigned one
  const uint32_t unused = 64 - format.bits;
  return static_cast<double>(static_cast<int64_t>(word << unused) >> unused);
}

}  // namespace

Sound decode_wav(std::span<const uint8_t> bytes) {
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "RIFF", 4) != 0 ||
      std::memcmp(bytes.data() + 8, "WAVE", 4) != 0) {
    throw std::runtime_error("not a WAV file: it does not begin with RIFF....WAVE");
  }
  Format format;
  std::span<const uint8_t> rest = bytes.subspan(12);
  while (rest.size() >= 8) {
    const uint8_t* tag = rest.data();
    uint64_t size = little_endian(rest.data() + 4, 4);
    rest = rest.subspan(8);
    const bool is_data = std::memcmp(tag, "data", 4) == 0;
    if (size > rest.size()) {
      // Recorders that were interrupted, or write to a pipe, leave the size of the data open.
      if (!is_data) throw std::runtime_error("a chunk ends beyond the end of the file");
      size = rest.size();
    }
    const std::span<const uint8_t> chunk = rest.first(static_cast<size_t>(size));
    if (std::memcmp(tag, "fmt ", 4) == 0) format = read_format(chunk);
    if (is_data) {
      if (format.channels == 0) throw std::runtime_error("no 'fmt ' chunk before the data");
      const double full_scale =
          format.encoding == kFloat ? 1.0 : std::ldexp(1.0, static_cast<int>(format.bits) - 1);
      const size_t width = format.bits / 8;
      const size_t frame = width * format.channels;
      Sound sound{std::vector<double>(chunk.size() / frame), format.rate};
      for (size_t i = 0; i < sound.samples.size(); ++i) {
        double sum = 0;
        for (uint32_t c = 0; c < format.channels; ++c) {
          sum += decode(chunk.data() + i * frame + c * width, format);
        }
        sound.samples[i] = sum / format.channels / full_scale;
        if (!std::isfinite(sound.samples[i])) {
          throw std::runtime_error("sample " + std::to_string(i) + " is not a finite number");
        }
      }
      return sound;
    }
    const size_t padded = chunk.size() + chunk.size() % 2;  // chunks begin at even positions
    rest = rest.subspan(padded < rest.size() ? padded : rest.size());
  }
  throw std::runtime_error("no 'data' chunk");
}

std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes;
  if (file) bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return bytes;
}

Sound read_wav(const std::string& path) {
  const std::vector<uint8_t> bytes = read_file(path);
  try {
    return decode_wav(bytes);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace examples
