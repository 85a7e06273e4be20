// SPDX-License-Identifier: Apache-2.0
//
// A session's life on the target: a plan that the build machine's converter made, opened as if it
// came from outside, with its kernels. The model is that of test/consumer/make_model.py.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "cross_tiny.h"
#include "intarsia/describe.h"

namespace intarsia {
namespace {

/// A copy of the plan, and an arena of exactly the size that it asks for.
class CrossSession : public ::testing::Test {
 protected:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static std::vector<Line> lines(size_t bytes) { return std::vector<Line>((bytes + 63) / 64); }

  CrossSession() : plan_(lines(tiny::plan_bytes)), arena_(lines(tiny::arena_bytes)) {
    std::memcpy(plan_.data(), tiny::plan().data(), tiny::plan_bytes);
  }
  std::span<std::byte> plan() { return {plan_[0].bytes, tiny::plan_bytes}; }
  std::span<std::byte> arena() { return {arena_[0].bytes, tiny::arena_bytes}; }
  Result<Session> open(const SessionOptions& options = {}) {
    return Session::open(plan(), arena(), tiny::kernels(), options, &diagnostic_);
  }

  std::vector<Line> plan_, arena_;
  Diagnostic diagnostic_;
};

/// y = Relu(x W + b) of one row.
std::vector<float> row(float a, float b, float c) {
  return {std::max(a + 3 * b + 5 * c - 22, 0.0f), std::max(2 * a + 4 * b + 6 * c + 0.5f, 0.0f)};
}

TEST_F(CrossSession, RunsWithEveryBatchAndInstructionSet) {
  for (const Isa isa : {Isa::kPortable, detect_isa()}) {
    SessionOptions options;
    options.isa = isa;
    auto session = open(options);
    ASSERT_TRUE(session.ok());
    for (int batch = 1; batch <= 4; ++batch) {
      const int32_t x_extents[] = {batch, 3}, total_extents[] = {batch, 2};
      ASSERT_TRUE(session->resize_input(tiny::inputs::x_0::index, x_extents).ok());
      ASSERT_TRUE(session->resize_input(tiny::inputs::total::index, total_extents).ok());
      const auto x = tiny::inputs::x_0::of(*session);
      const auto total = tiny::inputs::total::of(*session);
      ASSERT_EQ(x.size(), static_cast<size_t>(3 * batch));
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 2;
      for (float& value : total) value = 100;
      ASSERT_TRUE(session->run().ok());
      const auto y = tiny::outputs::class_::of(*session);
      const auto next = tiny::outputs::total_next::of(*session);
      ASSERT_EQ(y.size(), static_cast<size_t>(2 * batch));
      for (int i = 0; i < batch; ++i) {
        const auto first = static_cast<float>(3 * i) - 2;
        const std::vector<float> expected = row(first, first + 1, first + 2);
        for (size_t j = 0; j < 2; ++j) {
          const size_t at = 2 * static_cast<size_t>(i) + j;
          EXPECT_EQ(y[at], expected[j]) << "batch " << batch << ", element " << at;
          EXPECT_EQ(next[at], 100 + expected[j]);
        }
      }
    }
  }
}

TEST_F(CrossSession, RefusesExtentsBeyondThePlan) {
  auto session = open();
  const int32_t extents[] = {5, 3};
  EXPECT_EQ(session->resize_input(0, extents).code(), Code::kWrongExtent);
  char text[256];
  describe(session->diagnostic(), plan(), text, sizeof(text));
  EXPECT_NE(std::string(text).find('5'), std::string::npos) << text;
}

TEST_F(CrossSession, RefusesAnArenaThatIsTooSmall) {
  const auto session = Session::open(plan(), arena().first(tiny::arena_bytes - 64), tiny::kernels(),
                                     {}, &diagnostic_);
  EXPECT_FALSE(session.ok());
}

TEST_F(CrossSession, RefusesEveryPrefix) {
  for (size_t bytes = 0; bytes < tiny::plan_bytes; ++bytes) {
    EXPECT_FALSE(Session::open(plan().first(bytes), arena(), tiny::kernels()).ok()) << bytes;
  }
}

TEST_F(CrossSession, RefusesOrSurvivesDamage) {
  SessionOptions options;
  options.checksum = false;
  for (size_t at = 0; at < tiny::plan_bytes; ++at) {
    for (const int bit : {0, 3, 7}) {
      plan()[at] ^= static_cast<std::byte>(1 << bit);
      auto session = open(options);
      if (session.ok()) static_cast<void>(session->run());
      plan()[at] ^= static_cast<std::byte>(1 << bit);
    }
  }
  EXPECT_TRUE(open().ok());
}

TEST_F(CrossSession, ChecksumSeesDamage) {
  int refused = 0, damaged = 0;
  for (size_t at = 64; at < 512; at += 7, ++damaged) {
    plan()[at] ^= std::byte{0x10};
    refused += open().ok() ? 0 : 1;
    plan()[at] ^= std::byte{0x10};
  }
  EXPECT_EQ(refused, damaged);
}

TEST_F(CrossSession, NamesAMissingKernel) {
  const auto session = Session::open(plan(), arena(), kernel_set<>(), {}, &diagnostic_);
  EXPECT_FALSE(session.ok());
  char text[256];
  describe(diagnostic_, plan(), text, sizeof(text));
  EXPECT_NE(std::string(text).find("kernel Add<float>"), std::string::npos) << text;
  EXPECT_NE(std::string(text).find("not in this build"), std::string::npos) << text;
}

}  // namespace
}  // namespace intarsia
