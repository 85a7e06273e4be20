// SPDX-License-Identifier: Apache-2.0
//
// A plan opened through the C API, in an arena of exactly the size that it asks for.
#pragma once

#include "intarsia/c_kernels.h"
#include "intarsia/intarsia_host_c.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {

inline const intarsia_kernels& all_c_kernels() {
  static constexpr intarsia_kernels kAll{[]() -> KernelSet { return tool::all_kernels(); }};
  return kAll;
}

/// A struct of the C API, with its size set.
template <class T>
T sized() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

class CPlan : public SmallPlan {
 public:
  template <class Model>
  explicit CPlan(const Model& model, const converter::ConvertOptions& options = {})
      : SmallPlan(model, options) {
    intarsia_plan_info info = sized<intarsia_plan_info>();
    EXPECT_EQ(intarsia_read_plan_info(plan().data(), plan().size(), &info, &why), INTARSIA_OK);
    arena_ = std::make_unique<tool::AlignedBytes>(info.arena_bytes);
    session = open();
    EXPECT_NE(session, nullptr) << text();
  }
  ~CPlan() { intarsia_close(session); }

  std::span<std::byte> c_arena() { return arena_->span(); }
  intarsia_session* open(const intarsia_options* options = nullptr) {
    return intarsia_open(plan().data(), plan().size(), &all_c_kernels(), c_arena().data(),
                         c_arena().size(), options, &why);
  }
  std::string text() {
    char buffer[512];
    intarsia_describe(&why, plan().data(), plan().size(), buffer, sizeof(buffer));
    return buffer;
  }
  float* input(int index, int entry = 0) {
    return static_cast<float*>(intarsia_input_data(session, entry, index, INTARSIA_FLOAT));
  }
  const float* output(int index, int entry = 0) {
    return static_cast<const float*>(intarsia_output_data(session, entry, index, INTARSIA_FLOAT));
  }
  std::string message() { return intarsia_message(session); }

  intarsia_diagnostic why = sized<intarsia_diagnostic>();
  intarsia_session* session = nullptr;

 private:
  std::unique_ptr<tool::AlignedBytes> arena_;
};

}  // namespace intarsia::test
