// SPDX-License-Identifier: Apache-2.0
//
// The examples' WAV reader: every format that it promises, and damaged files, which must give an
// error and never an access outside the bytes (the sanitizer build sees to that).
#include "common/wav.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <stdexcept>

#include "common/resample.h"

namespace {

using Bytes = std::vector<uint8_t>;

void put(Bytes& bytes, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void put(Bytes& bytes, const char* tag) {
  bytes.insert(bytes.end(), tag, tag + 4);
}

struct Format {
  uint32_t encoding, channels, bits;
  bool extensible;
};

/// A file of two frames; channel c of frame f holds `sample(f, c)`, already encoded.
template <class Sample>
Bytes wav(const Format& format, const Sample& sample) {
  Bytes bytes;
  put(bytes, "RIFF");
  put(bytes, 0, 4);
  put(bytes, "WAVE");
  put(bytes, "LIST");  // a chunk of odd size is padded
  put(bytes, 3, 4);
  put(bytes, 0, 4);
  put(bytes, "fmt ");
  put(bytes, format.extensible ? 40 : 16, 4);
  put(bytes, format.extensible ? 0xfffe : format.encoding, 2);
  put(bytes, format.channels, 2);
  put(bytes, 44100, 4);
  put(bytes, 44100 * format.channels * format.bits / 8, 4);
  put(bytes, format.channels * format.bits / 8, 2);
  put(bytes, format.bits, 2);
  if (format.extensible) {
    put(bytes, 22, 2);
    put(bytes, 0, 6);
    put(bytes, format.encoding, 2);
    for (int i = 0; i < 14; ++i) bytes.push_back(0);
  }
  put(bytes, "data");
  put(bytes, 2 * format.channels * format.bits / 8, 4);
  for (uint32_t frame = 0; frame < 2; ++frame) {
    for (uint32_t c = 0; c < format.channels; ++c) {
      put(bytes, sample(frame, c), static_cast<int>(format.bits / 8));
    }
  }
  return bytes;
}

std::string error_of(const Bytes& bytes) {
  try {
    examples::decode_wav(bytes);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Wav, DecodesEveryIntegerWidth) {
  for (uint32_t bits : {8u, 16u, 24u, 32u}) {
    for (uint32_t channels : {1u, 2u, 5u}) {
      for (bool extensible : {false, true}) {
        // Half of full scale, then the lowest number.
        const Bytes bytes = wav({1, channels, bits, extensible}, [bits](uint32_t frame, uint32_t) {
          const uint64_t half = uint64_t{1} << (bits - 2), lowest = uint64_t{1} << (bits - 1);
          if (bits == 8) return frame == 0 ? uint64_t{192} : uint64_t{0};
          return frame == 0 ? half : lowest;
        });
        const examples::Sound sound = examples::decode_wav(bytes);
        EXPECT_EQ(sound.rate, 44100u);
        EXPECT_EQ(sound.samples, (std::vector<double>{0.5, -1.0})) << bits << " bits";
      }
    }
  }
}

TEST(Wav, DecodesFloat) {
  const Bytes single = wav({3, 1, 32, false}, [](uint32_t frame, uint32_t) {
    return uint64_t{std::bit_cast<uint32_t>(frame == 0 ? 0.25f : -2.0f)};
  });
  EXPECT_EQ(examples::decode_wav(single).samples, (std::vector<double>{0.25, -2.0}));
  const Bytes wide = wav({3, 2, 64, true}, [](uint32_t frame, uint32_t channel) {
    return std::bit_cast<uint64_t>(frame + 0.5 * channel);
  });
  EXPECT_EQ(examples::decode_wav(wide).samples, (std::vector<double>{0.25, 1.25}));
}

TEST(Wav, MixesChannels) {
  const Bytes bytes = wav({1, 2, 16, false}, [](uint32_t, uint32_t channel) {
    return channel == 0 ? uint64_t{0x4000} : uint64_t{0xe000};  // 0.5 and -0.25
  });
  EXPECT_EQ(examples::decode_wav(bytes).samples, (std::vector<double>{0.125, 0.125}));
}

TEST(Wav, NamesWhatIsWrong) {
  const auto zero = [](uint32_t, uint32_t) { return uint64_t{0}; };
  const Bytes good = wav({1, 1, 16, false}, zero);
  const auto changed = [&good](size_t position, uint8_t value) {
    Bytes bytes = good;
    bytes[position] = value;
    return error_of(bytes);
  };
  EXPECT_EQ(error_of(good), "");
  EXPECT_EQ(error_of({}), "not a WAV file: it does not begin with RIFF....WAVE");
  EXPECT_EQ(changed(34, 0), "0 channels in frames of 2 bytes contradict each other");
  EXPECT_EQ(changed(32, 6),
            "encoding 6 with 16 bits per sample; expected PCM of 8, 16, 24 or 32 bits, or float");
  EXPECT_EQ(changed(38, 255), "16755780 samples per second, expected 1000 to 768000");
  EXPECT_EQ(changed(24, 'x'), "no 'fmt ' chunk before the data");
  EXPECT_EQ(error_of(Bytes(good.begin(), good.begin() + 40)),
            "a chunk ends beyond the end of the file");
  EXPECT_EQ(error_of(Bytes(good.begin(), good.begin() + 48)), "no 'data' chunk");
  EXPECT_EQ(
      error_of(wav({3, 1, 32, false}, [](uint32_t, uint32_t) { return uint64_t{0x7fc00000}; })),
      "sample 0 is not a finite number");
}

TEST(Wav, SurvivesDamage) {
  std::mt19937 random(1);
  const auto noise = [&random](uint32_t, uint32_t) { return uint64_t{random()}; };
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    const Format formats[] = {{1, 1, 16, false}, {1, 3, 24, true}, {3, 2, 32, false}};
    Bytes bytes = wav(formats[random() % 3], noise);
    for (uint32_t i = 0; i <= random() % 3; ++i) {
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    }
    bytes.resize(bytes.size() - (random() % 2) * (random() % bytes.size()));
    accepted += error_of(bytes).empty();
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_LT(accepted, 19000);
}

TEST(Resample, CopiesAtEqualRates) {
  const std::vector<double> signal = {0.1, -0.2, 0.3};
  EXPECT_EQ(examples::resample(signal, 8000, 8000), (std::vector<float>{0.1f, -0.2f, 0.3f}));
}

TEST(Resample, KeepsASineAndItsTime) {
  for (uint32_t rate : {8000u, 11025u, 22050u, 44100u, 48000u, 96000u, 15999u}) {
    std::vector<double> signal(rate / 4);
    for (size_t i = 0; i < signal.size(); ++i) {
      signal[i] = std::sin(2 * M_PI * 440 * static_cast<double>(i) / rate);
    }
    const std::vector<float> result = examples::resample(signal, rate, 16000);
    ASSERT_EQ(result.size(), (signal.size() * 16000 + rate - 1) / rate);
    for (size_t m = 1000; m < 3000; ++m) {  // away from the ends, beyond which is silence
      ASSERT_NEAR(result[m], std::sin(2 * M_PI * 440 * static_cast<double>(m) / 16000), 5e-3)
          << rate << " Hz, sample " << m;
    }
  }
}

}  // namespace
