// SPDX-License-Identifier: Apache-2.0
//
// Python operators in many threads of a C++ program, and with results that are no tensors of the
// plan:
//   stress_test FOLDER_OF_STRESS_OPERATORS FOLDER_OF_PLANS
// Built plainly, with ThreadSanitizer and with AddressSanitizer, from the runtime's sources; plans
// come from make_plans. Holds Python operators only, so no other kernel is needed.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "converter/graph/aligned_bytes.h"
#include "converter/graph/describe_text.h"
#include "intarsia/pyop.h"

namespace {

using intarsia::Code;
using intarsia::Diagnostic;
using intarsia::PyHost;
using intarsia::Session;
using intarsia::Status;
using intarsia::converter::AlignedBytes;

std::string operators_folder, plans_folder;

std::vector<char> read_plan(const std::string& name) {
  std::ifstream file(plans_folder + "/" + name + ".plan", std::ios::binary);
  EXPECT_TRUE(file) << plans_folder << "/" << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

class Opened {
 public:
  Opened(const std::string& name, const PyHost& host)
      : file_(read_plan(name)), plan_(file_.size()), service_(host.service()) {
    std::memcpy(plan_.data(), file_.data(), file_.size());
    const auto info = intarsia::plan_info(plan_.span());
    EXPECT_TRUE(info.ok());
    arena_ = AlignedBytes(info.value().arena_bytes);
    Diagnostic diagnostic;
    auto result = Session::open(plan_.span(), arena_.span(), intarsia::kernel_set<intarsia::PyOp>(),
                                {.services = {&service_, 1}}, &diagnostic);
    EXPECT_TRUE(result.ok()) << text(diagnostic);
    if (result.ok()) session_ = std::move(result.value());
    output_.reset(new float[4]);
    EXPECT_TRUE(session_.bind_output(0, output_.get(), 4 * sizeof(float)));
  }
  Status run(float value) {
    const auto input = session_.input<float>(0);
    for (float& x : input.value()) x = value;
    return session_.run();
  }
  float result() const { return output_[3]; }
  std::string failure() { return text(session_.diagnostic()); }

 private:
  std::string text(const Diagnostic& diagnostic) {
    return intarsia::converter::describe_text(diagnostic, plan_.span());
  }

  std::vector<char> file_;
  AlignedBytes plan_, arena_;
  intarsia::Service service_;
  std::unique_ptr<float[]> output_;
  Session session_;
};

PyHost start() {
  const char* paths[] = {operators_folder.c_str()};
  auto host = PyHost::start({.module_paths = paths});
  EXPECT_TRUE(host.ok());
  return std::move(host.value());
}

const PyHost* nested_host = nullptr;

template <class Body>
void in_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

/// Called by the operators Nested and NestedHolding: x * 6 through a session of its own.
extern "C" __attribute__((visibility("default"))) float run_nested(float x) {
  Opened inner("two", *nested_host);
  EXPECT_TRUE(inner.run(x)) << inner.failure();
  return inner.result();
}

namespace {

TEST(Stress, PYOP_18_EightThreadsHundredRuns) {
  const PyHost host = start();
  in_threads(8, [&host](int thread) {
    Opened session(thread % 2 == 0 ? "two" : "slow", host);
    for (int run = 0; run < 100; ++run) {
      const auto x = static_cast<float>(thread * 100 + run);
      ASSERT_TRUE(session.run(x)) << session.failure();
      ASSERT_EQ(session.result(), thread % 2 == 0 ? x * 6 : x * 3);
    }
  });
}

TEST(Stress, PYOP_18_OperatorsThatRunSessions) {
  const PyHost host = start();
  nested_host = &host;
  in_threads(8, [&host](int thread) {
    Opened session(thread % 2 == 0 ? "nested" : "holding", host);
    for (int run = 0; run < 10; ++run) {
      ASSERT_TRUE(session.run(static_cast<float>(run))) << session.failure();
      ASSERT_EQ(session.result(), static_cast<float>(6 * run));
    }
  });
}

TEST(Stress, PYOP_15_FailuresInManyThreadsLeaveTheOthersAlone) {
  const PyHost host = start();
  in_threads(8, [&host](int thread) {
    Opened session(thread % 2 == 0 ? "raises" : "two", host);
    for (int run = 0; run < 50; ++run) {
      const Status status = session.run(1);
      ASSERT_EQ(status.code(), thread % 2 == 0 ? Code::kOperatorFailed : Code::kOk);
      if (!status) {
        ASSERT_NE(session.failure().find("ValueError: bad"), std::string::npos);
      }
    }
  });
}

TEST(Stress, PYOP_18_SessionsOpenAndCloseInThreadsAndOutliveTheirHost) {
  auto host = std::make_unique<PyHost>(start());
  std::vector<std::unique_ptr<Opened>> sessions(8);
  in_threads(8, [&](int thread) {
    for (int i = 0; i < 10; ++i) sessions[thread] = std::make_unique<Opened>("two", *host);
  });
  host.reset();
  in_threads(8, [&](int thread) {
    ASSERT_TRUE(sessions[thread]->run(2)) << sessions[thread]->failure();
    ASSERT_EQ(sessions[thread]->result(), 12);
    sessions[thread].reset();
  });
}

TEST(Stress, PYOP_12_NoResultIsWrittenBeyondItsTensor) {
  const PyHost host = start();
  for (const char* name : {"wrong_double", "wrong_wide", "wrong_half", "wrong_shape", "wrong_rank",
                           "wrong_count", "wrong_object", "wrong_none"}) {
    Opened session(name, host);
    for (int run = 0; run < 3; ++run) {
      EXPECT_FALSE(session.run(1).ok()) << name;
      EXPECT_NE(session.failure().find("expected"), std::string::npos) << session.failure();
    }
  }
  for (const char* name :
       {"right_transposed", "right_reversed", "right_swapped", "right_broadcast", "right_input"}) {
    Opened session(name, host);
    for (int run = 0; run < 3; ++run) {
      ASSERT_TRUE(session.run(1)) << name << session.failure();
      EXPECT_EQ(session.result(), 1) << name;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 3) return 2;
  operators_folder = argv[1];
  plans_folder = argv[2];
  return RUN_ALL_TESTS();
}
