// SPDX-License-Identifier: Apache-2.0
//
// The C API where something is wrong: each wrong call gives a code and a message, none crashes.
#include <fstream>

#include "test/c_api/c_plan.h"
#include "test/kernels/common/kernel_rows.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

/// Every function with this session, whatever it is: none may succeed.
void expect_refusals(intarsia_session* none) {
  int32_t number = -7;
  intarsia_port port = sized<intarsia_port>();
  intarsia_axis axis = sized<intarsia_axis>();
  intarsia_diagnostic why = sized<intarsia_diagnostic>();
  intarsia_string string{};
  intarsia_tensor tensor{};
  char buffer[4] = "abc";
  EXPECT_EQ(intarsia_entry_count(none), 0);
  EXPECT_EQ(intarsia_entry_name(none, 0), nullptr);
  EXPECT_EQ(intarsia_find_entry(none, "main", &number), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_port_count(none, 0, INTARSIA_INPUT), 0);
  EXPECT_EQ(intarsia_get_port(none, 0, INTARSIA_INPUT, 0, &port), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_find_port(none, 0, INTARSIA_INPUT, "x", &number), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_get_axis(none, 0, INTARSIA_INPUT, 0, 0, &axis), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_write_signature(none, 0, INTARSIA_INPUT, buffer, 4), 0u);
  EXPECT_STREQ(buffer, "");
  EXPECT_EQ(intarsia_signature(none, 0, INTARSIA_INPUT), nullptr);
  EXPECT_EQ(intarsia_input_data(none, 0, 0, INTARSIA_FLOAT), nullptr);
  EXPECT_EQ(intarsia_output_data(none, 0, 0, INTARSIA_FLOAT), nullptr);
  EXPECT_EQ(intarsia_resize_input(none, 0, 0, &number, 1), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_bind_input(none, 0, 0, buffer, 4), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_bind_output(none, 0, 0, buffer, 4), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_run(none, 0), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_run_tensors(none, 0, &tensor, 1, &tensor, 1), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_reset_states(none), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_add_string(none, 0, "a", 1, &string), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_string_text(none, string), nullptr);
  EXPECT_EQ(intarsia_last_error(none, &why), INTARSIA_INVALID_ARGUMENT);
  EXPECT_STREQ(why.what, "session is not open");
  EXPECT_STREQ(intarsia_message(none), "session is not open");
  EXPECT_EQ(number, -7);
  intarsia_close(none);
}

TEST(CApiErrors, NoSession) {
  expect_refusals(nullptr);
}

TEST(CApiErrors, AClosedSession) {
  CPlan plan(mlp());
  intarsia_close(plan.session);
  expect_refusals(plan.session);
}

TEST(CApiErrors, ArgumentsThatAreNull) {
  CPlan plan(mlp());
  intarsia_session* s = plan.session;
  int32_t number = 0;
  intarsia_string string{};
  EXPECT_EQ(intarsia_find_entry(s, nullptr, &number), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_find_entry(s, "main", nullptr), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_get_port(s, 0, INTARSIA_INPUT, 0, nullptr), INTARSIA_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(plan.message(), "port is NULL")) << plan.message();
  intarsia_port unsized{};
  EXPECT_EQ(intarsia_get_port(s, 0, INTARSIA_INPUT, 0, &unsized), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_find_port(s, 0, INTARSIA_INPUT, nullptr, &number), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_find_port(s, 0, INTARSIA_INPUT, "x", nullptr), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_get_axis(s, 0, INTARSIA_INPUT, 0, 0, nullptr), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_resize_input(s, 0, 0, nullptr, 2), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_resize_input(s, 0, 0, &number, -1), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_add_string(s, 0, nullptr, 1, &string), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_add_string(s, 0, "a", 1, nullptr), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_add_string(s, 0, "a", 1, &string), INTARSIA_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(plan.message(), "no strings")) << plan.message();
  intarsia_tensor tensor{};
  EXPECT_EQ(intarsia_run_tensors(s, 0, nullptr, 1, &tensor, 1), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_run_tensors(s, 0, &tensor, 1, nullptr, 1), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_describe(nullptr, nullptr, 0, nullptr, 0),
            intarsia_describe(nullptr, nullptr, 100, nullptr, 100));
}

TEST(CApiErrors, NumbersAndNamesThatDoNotExist) {
  CPlan plan(mlp());
  intarsia_session* s = plan.session;
  int32_t number = -7;
  intarsia_port port = sized<intarsia_port>();
  intarsia_axis axis = sized<intarsia_axis>();
  for (const int32_t none : {-1, 1, 64, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(intarsia_entry_name(s, none), nullptr);
    EXPECT_EQ(intarsia_port_count(s, none, INTARSIA_INPUT), 0);
    EXPECT_EQ(intarsia_get_port(s, none, INTARSIA_OUTPUT, 0, &port), INTARSIA_INVALID_ARGUMENT);
    EXPECT_EQ(intarsia_get_port(s, 0, INTARSIA_INPUT, none, &port), INTARSIA_INVALID_ARGUMENT);
    EXPECT_EQ(intarsia_get_port(s, 0, INTARSIA_STATE, none, &port), INTARSIA_INVALID_ARGUMENT);
    EXPECT_EQ(intarsia_get_axis(s, 0, INTARSIA_INPUT, 0, none == 1 ? 2 : none, &axis),
              INTARSIA_INVALID_ARGUMENT);
    EXPECT_EQ(intarsia_input_data(s, none, 0, INTARSIA_FLOAT), nullptr);
    EXPECT_EQ(intarsia_input_data(s, 0, none, INTARSIA_FLOAT), nullptr);
    EXPECT_EQ(intarsia_output_data(s, none, 0, INTARSIA_FLOAT), nullptr);
    EXPECT_EQ(intarsia_run(s, none), INTARSIA_INVALID_ARGUMENT);
    EXPECT_TRUE(contains(plan.message(), "entry point")) << plan.message();
    EXPECT_EQ(intarsia_run_tensors(s, none, nullptr, 0, nullptr, 0), INTARSIA_INVALID_ARGUMENT);
    EXPECT_EQ(intarsia_bind_input(s, none, 0, &port, 8), INTARSIA_INVALID_ARGUMENT);
    EXPECT_EQ(intarsia_bind_output(s, 0, none, &port, 8), INTARSIA_INVALID_ARGUMENT);
    EXPECT_EQ(intarsia_resize_input(s, none, 0, &number, 1), INTARSIA_INVALID_ARGUMENT);
    EXPECT_EQ(intarsia_signature(s, none, INTARSIA_INPUT), nullptr);
  }
  for (const int32_t kind : {-1, 3, INT32_MAX}) {
    EXPECT_EQ(intarsia_port_count(s, 0, kind), 0);
    EXPECT_EQ(intarsia_get_port(s, 0, kind, 0, &port), INTARSIA_INVALID_ARGUMENT);
    EXPECT_EQ(intarsia_signature(s, 0, kind), nullptr);
    EXPECT_EQ(intarsia_find_port(s, 0, kind, "y", &number), INTARSIA_INVALID_ARGUMENT);
  }
  EXPECT_EQ(intarsia_signature(s, 0, INTARSIA_STATE), nullptr);
  EXPECT_EQ(intarsia_find_entry(s, "none", &number), INTARSIA_UNKNOWN_NAME);
  EXPECT_TRUE(contains(plan.message(), "none")) << plan.message();
  for (const int32_t kind : {INTARSIA_INPUT, INTARSIA_OUTPUT, INTARSIA_STATE}) {
    EXPECT_EQ(intarsia_find_port(s, 0, kind, "none", &number), INTARSIA_UNKNOWN_NAME);
    EXPECT_TRUE(contains(plan.message(), "'none'")) << plan.message();
  }
  EXPECT_EQ(number, -7);
}

TEST(CApiErrors, WrongTypesRanksExtentsAndBuffers) {
  CPlan plan(mlp());
  intarsia_session* s = plan.session;
  EXPECT_EQ(intarsia_input_data(s, 0, 0, INTARSIA_INT32), nullptr);
  EXPECT_EQ(intarsia_last_error(s, nullptr), INTARSIA_WRONG_TYPE);
  EXPECT_EQ(intarsia_output_data(s, 0, 0, INTARSIA_FLOAT), nullptr) << "before a run";
  EXPECT_TRUE(contains(plan.message(), "without a successful run")) << plan.message();
  intarsia_port port = sized<intarsia_port>();
  ASSERT_EQ(intarsia_get_port(s, 0, INTARSIA_OUTPUT, 0, &port), INTARSIA_OK);
  EXPECT_EQ(port.data, nullptr);
  const int32_t extents[] = {1, 4, 1};
  EXPECT_EQ(intarsia_resize_input(s, 0, 0, extents, 3), INTARSIA_WRONG_RANK);
  EXPECT_EQ(intarsia_resize_input(s, 0, 0, extents, 2), INTARSIA_WRONG_EXTENT);
  intarsia_diagnostic why = sized<intarsia_diagnostic>();
  EXPECT_EQ(intarsia_last_error(s, &why), INTARSIA_WRONG_EXTENT);
  EXPECT_EQ(why.operand, 0);
  EXPECT_EQ(why.axis, 1);
  EXPECT_EQ(why.expected, 3);
  EXPECT_EQ(why.found, 4);
  alignas(8) char few[12];
  EXPECT_EQ(intarsia_bind_output(s, 0, 0, few, sizeof(few)), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_bind_input(s, 0, 0, few + 1, 12), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_bind_input(s, 0, 0, plan.input(0), 12), INTARSIA_INVALID_ARGUMENT);
}

TEST(CApiErrors, TensorsThatDoNotFit) {
  CPlan plan(mlp());
  intarsia_session* s = plan.session;
  float x[4] = {}, y[4] = {};
  const int32_t extents[] = {1, 3, 1, 1, 1, 1, 1, 1, 1}, negative[] = {1, -3};
  const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX};
  intarsia_tensor in, out{};
  EXPECT_EQ(intarsia_make_tensor(nullptr, x, 16, INTARSIA_FLOAT, extents, 2), 1);
  EXPECT_EQ(intarsia_make_tensor(&in, nullptr, 16, INTARSIA_FLOAT, extents, 2), 1);
  EXPECT_EQ(intarsia_make_tensor(&in, x, 16, INTARSIA_FLOAT, nullptr, 2), 1);
  EXPECT_EQ(intarsia_make_tensor(&in, x, 11, INTARSIA_FLOAT, extents, 2), 1);
  for (const int32_t type : {0, -1, 32, 1 << 20}) {
    EXPECT_EQ(intarsia_make_tensor(&in, x, 16, type, extents, 2), INTARSIA_WRONG_TYPE);
  }
  for (const int32_t rank : {-1, 9, INT32_MAX}) {
    EXPECT_EQ(intarsia_make_tensor(&in, x, 16, INTARSIA_FLOAT, extents, rank), INTARSIA_WRONG_RANK);
  }
  EXPECT_EQ(intarsia_make_tensor(&in, x, 16, INTARSIA_FLOAT, negative, 2), INTARSIA_WRONG_EXTENT);
  EXPECT_EQ(intarsia_make_tensor(&in, x, 16, INTARSIA_FLOAT, huge, 3), INTARSIA_WRONG_EXTENT);
  EXPECT_EQ(in.data, nullptr);

  EXPECT_EQ(intarsia_run_tensors(s, 0, nullptr, 0, &out, 1), INTARSIA_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(plan.message(), "number of inputs")) << plan.message();
  EXPECT_EQ(intarsia_run_tensors(s, 0, &in, 1, nullptr, 0), INTARSIA_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(plan.message(), "number of outputs")) << plan.message();
  EXPECT_EQ(intarsia_run_tensors(s, 0, &in, -1, &out, 1), INTARSIA_INVALID_ARGUMENT);
  ASSERT_EQ(intarsia_make_tensor(&in, x, 16, INTARSIA_INT32, extents, 2), INTARSIA_OK);
  EXPECT_EQ(intarsia_run_tensors(s, 0, &in, 1, &out, 1), INTARSIA_WRONG_TYPE);
  ASSERT_EQ(intarsia_make_tensor(&in, x, 16, INTARSIA_FLOAT, extents, 3), INTARSIA_OK);
  EXPECT_EQ(intarsia_run_tensors(s, 0, &in, 1, &out, 1), INTARSIA_WRONG_RANK);
  const int32_t four[] = {1, 4};
  ASSERT_EQ(intarsia_make_tensor(&in, x, 16, INTARSIA_FLOAT, four, 2), INTARSIA_OK);
  EXPECT_EQ(intarsia_run_tensors(s, 0, &in, 1, &out, 1), INTARSIA_WRONG_EXTENT);
  EXPECT_TRUE(contains(plan.message(), "axis 1")) << plan.message();
  ASSERT_EQ(intarsia_make_tensor(&in, x, 16, INTARSIA_FLOAT, extents, 2), INTARSIA_OK);
  in.rank = 1 << 20;  // not made by the library
  EXPECT_EQ(intarsia_run_tensors(s, 0, &in, 1, &out, 1), INTARSIA_WRONG_RANK);
  in.rank = 2;
  in.bytes = 8;
  EXPECT_EQ(intarsia_run_tensors(s, 0, &in, 1, &out, 1), INTARSIA_INVALID_ARGUMENT);
  in.bytes = 16;
  out = {y, 15, 0, 0, {}};
  EXPECT_EQ(intarsia_run_tensors(s, 0, &in, 1, &out, 1), INTARSIA_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(plan.message(), "expected 16, found 15")) << plan.message();
  out.bytes = 16;
  EXPECT_EQ(intarsia_run_tensors(s, 0, &in, 1, &out, 1), INTARSIA_OK);
}

TEST(CApiErrors, SequencesAreRefusedByName) {
  OnnxBuilder model;
  model.input("x", {2});
  model.output("s");
  model.node("SequenceConstruct", {"x", "x"}, {"s"});
  CPlan plan(model);
  intarsia_tensor in{}, out{};
  EXPECT_EQ(intarsia_run_tensors(plan.session, 0, &in, 1, &out, 1), INTARSIA_UNSUPPORTED);
  EXPECT_TRUE(contains(plan.message(), "sequence")) << plan.message();
  intarsia_port port = sized<intarsia_port>();
  ASSERT_EQ(intarsia_get_port(plan.session, 0, INTARSIA_OUTPUT, 0, &port), INTARSIA_OK);
  EXPECT_EQ(port.type, INTARSIA_SEQUENCE);
}

/// y = 10 / x, of integers: fails where x is 0.
TEST(CApiErrors, AFailedRunHasNoOutputsAndTheSessionGoesOn) {
  OnnxBuilder model;
  model.input("x", {1}, DataType::kInt32);
  model.output("y");
  model.node("Div", {"x", "x"}, {"y"});
  CPlan plan(model);
  const auto run = [&](int32_t x) {
    *static_cast<int32_t*>(intarsia_input_data(plan.session, 0, 0, INTARSIA_INT32)) = x;
    return intarsia_run(plan.session, 0);
  };
  const auto output = [&] { return intarsia_output_data(plan.session, 0, 0, INTARSIA_INT32); };
  ASSERT_EQ(run(5), INTARSIA_OK);
  EXPECT_NE(output(), nullptr);
  EXPECT_EQ(run(0), INTARSIA_DIVISION_BY_ZERO);
  EXPECT_TRUE(contains(plan.message(), "Div")) << plan.message();
  EXPECT_EQ(output(), nullptr);
  EXPECT_EQ(run(5), INTARSIA_OK);
  EXPECT_NE(output(), nullptr);
}

/// Kernels that run the session which runs them.
struct Inner {
  intarsia_session* session = nullptr;
  intarsia_code code = INTARSIA_OK;
  bool readable = false;  // whether the output of the run before is there still
};
Inner inner;
KernelSet calling_kernels() {
  static RowSet<Kernel> rows([] {
    std::vector<Kernel> copied = copies(tool::all_kernels().kernels);
    for (Kernel& row : copied) {
      row.run = [](const KernelContext&) -> Status {
        inner.code = intarsia_run(inner.session, 0);
        inner.readable = intarsia_output_data(inner.session, 0, 0, INTARSIA_FLOAT) != nullptr;
        return {};
      };
    }
    return copied;
  }());
  return {rows.span(), {}};
}

TEST(CApiErrors, ARunInsideARunIsBusy) {
  CPlan plan(mlp());
  intarsia_close(plan.session);
  static constexpr intarsia_kernels kCalling{&calling_kernels};
  plan.session = intarsia_open(plan.plan().data(), plan.plan().size(), &kCalling,
                               plan.c_arena().data(), plan.c_arena().size(), nullptr, &plan.why);
  ASSERT_NE(plan.session, nullptr) << plan.text();
  inner.session = plan.session;
  EXPECT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK);
  EXPECT_EQ(inner.code, INTARSIA_BUSY);
  EXPECT_FALSE(inner.readable);
  EXPECT_NE(plan.output(0), nullptr);
  EXPECT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK);
  EXPECT_TRUE(inner.readable) << "a call that is busy says nothing of the run before";
}

TEST(CApiErrors, WhatOpenRefuses) {
  CPlan plan(mlp());
  const auto bytes = plan.plan();
  const auto arena = plan.c_arena();
  const auto open = [&](const void* p, size_t n, const intarsia_kernels* k, void* a, size_t m,
                        const intarsia_options* options = nullptr) {
    EXPECT_EQ(intarsia_open(p, n, k, a, m, options, nullptr), nullptr);
    EXPECT_EQ(intarsia_open_trusted(p, n, k, a, m, options, &plan.why), nullptr);
    return plan.why.code;
  };
  const intarsia_kernels* all = &all_c_kernels();
  EXPECT_EQ(open(nullptr, 64, all, arena.data(), arena.size()), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(open(bytes.data(), bytes.size(), nullptr, arena.data(), arena.size()), 1);
  EXPECT_EQ(open(bytes.data(), bytes.size(), all, nullptr, arena.size()),
            INTARSIA_ARENA_MISALIGNED);
  EXPECT_EQ(open(bytes.data(), bytes.size(), all, arena.data() + 8, arena.size() - 8),
            INTARSIA_ARENA_MISALIGNED);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{256}, size_t{300}, arena.size() - 1}) {
    EXPECT_EQ(open(bytes.data(), bytes.size(), all, arena.data(), size), INTARSIA_ARENA_TOO_SMALL);
    EXPECT_EQ(plan.why.expected, static_cast<int64_t>(arena.size()));
    EXPECT_EQ(plan.why.found, static_cast<int64_t>(size));
  }
  const intarsia_kernels null{}, none{[] { return KernelSet(); }};
  EXPECT_EQ(open(bytes.data(), bytes.size(), &null, arena.data(), arena.size()), 1);
  EXPECT_EQ(open(bytes.data(), bytes.size(), &none, arena.data(), arena.size()),
            INTARSIA_MISSING_KERNEL);
  EXPECT_TRUE(contains(plan.text(), "Gemm")) << plan.text();
  const intarsia_options unsized{};
  EXPECT_EQ(open(bytes.data(), bytes.size(), all, arena.data(), arena.size(), &unsized), 1);
  intarsia_plan_info info{};
  EXPECT_EQ(intarsia_read_plan_info(nullptr, 8, &info, &plan.why), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_read_plan_info(bytes.data(), bytes.size(), &info, &plan.why), 1);
  EXPECT_EQ(intarsia_read_plan_info(bytes.data(), bytes.size(), nullptr, &plan.why), 1);
}

TEST(CApiErrors, PlansThatAreCutOrChangedAnywhere) {
  CPlan plan(mlp());
  const auto bytes = plan.plan();
  const auto arena = plan.c_arena();
  for (size_t length = 0; length < bytes.size(); ++length) {
    // Memory of exactly this size: AddressSanitizer sees what is read beyond it.
    tool::AlignedBytes cut(length);
    if (length != 0) std::memcpy(cut.span().data(), bytes.data(), length);
    EXPECT_EQ(intarsia_open(cut.span().data(), length, &all_c_kernels(), arena.data(), arena.size(),
                            nullptr, &plan.why),
              nullptr)
        << length;
    EXPECT_NE(plan.why.code, INTARSIA_OK) << length;
    EXPECT_NE(plan.text(), "") << length;
  }
  for (size_t place = 0; place < bytes.size(); ++place) {
    bytes[place] ^= std::byte{0x41};
    if (intarsia_session* session = plan.open()) {
      static_cast<void>(intarsia_run(session, 0));
      intarsia_close(session);
    }
    bytes[place] ^= std::byte{0x41};
  }
}

TEST(CApiErrors, FilesThatCannotBeOpened) {
  intarsia_diagnostic why = sized<intarsia_diagnostic>();
  const intarsia_kernels* all = intarsia_all_kernels();
  ASSERT_NE(all, nullptr);
  const auto refused = [&](const char* path) {
    EXPECT_EQ(intarsia_open_file(path, all, nullptr, nullptr), nullptr);
    EXPECT_EQ(intarsia_open_file(path, all, nullptr, &why), nullptr);
    char text[512];
    intarsia_describe(&why, nullptr, 0, text, sizeof(text));
    return std::string(text);
  };
  EXPECT_TRUE(contains(refused("missing.plan"), "missing.plan")) << refused("missing.plan");
  EXPECT_TRUE(contains(refused("/"), "cannot be read: /")) << refused("/");
  EXPECT_TRUE(contains(refused(nullptr), "path is NULL"));
  const std::string path = testing::TempDir() + "c_api_bad.plan";
  std::ofstream(path) << "no plan";
  refused(path.c_str());
  EXPECT_EQ(why.code, INTARSIA_NOT_A_PLAN);
  EXPECT_EQ(intarsia_open_copy(nullptr, 5, all, nullptr, &why), nullptr);
  EXPECT_EQ(intarsia_open_copy("abc", 3, all, nullptr, &why), nullptr);
  EXPECT_EQ(intarsia_open_copy("abc", SIZE_MAX, all, nullptr, &why), nullptr);
  EXPECT_EQ(why.code, INTARSIA_ARENA_TOO_SMALL);
}

TEST(CApiHost, OpensFilesAndCopiesInMemoryOfItsOwn) {
  CPlan plan(mlp());
  const std::string path = testing::TempDir() + "c_api.plan";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(plan.plan().data()),
             static_cast<std::streamsize>(plan.plan().size()));
  std::vector<std::byte> shifted(plan.plan().size() + 1);
  std::memcpy(shifted.data() + 1, plan.plan().data(), plan.plan().size());
  intarsia_session* sessions[] = {
      intarsia_open_file(path.c_str(), intarsia_all_kernels(), nullptr, &plan.why),
      intarsia_open_copy(shifted.data() + 1, shifted.size() - 1, intarsia_all_kernels(), nullptr,
                         &plan.why)};
  shifted.clear();
  for (intarsia_session* session : sessions) {
    ASSERT_NE(session, nullptr) << plan.text();
    EXPECT_NE(intarsia_signature(session, 0, INTARSIA_INPUT), nullptr);
    auto* x = static_cast<float*>(intarsia_input_data(session, 0, 0, INTARSIA_FLOAT));
    std::fill_n(x, 3, 1.0f);
    ASSERT_EQ(intarsia_run(session, 0), INTARSIA_OK);
    const auto* y = static_cast<const float*>(intarsia_output_data(session, 0, 0, INTARSIA_FLOAT));
    EXPECT_EQ(y[0], 1.5f);
    intarsia_close(session);
  }
}

}  // namespace
}  // namespace intarsia::test
