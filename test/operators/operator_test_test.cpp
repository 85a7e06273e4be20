// SPDX-License-Identifier: Apache-2.0
//
// OperatorTest, the header for tests of operators of one's own: what it computes, and that it finds
// each thing that an operator must not do.
#include "converter/plugin/operator_test.h"

#include <gtest/gtest.h>

#include "test/operators/sample_operators.h"

namespace intarsia::test {
namespace {

using Floats = std::vector<float>;

TEST(OperatorTestHeader, RunsOperatorsOfEveryForm) {
  OperatorTest<sample::Affine<float>> affine;
  affine.attribute("factor", 3.0F).input<float>({2}, {1, 2}).absent_input();
  affine.input<float>({1}, {10}).outputs(2);
  ASSERT_TRUE(affine.run().ok()) << affine.text();
  EXPECT_EQ(affine.output<float>(0), (Floats{30, 60}));
  EXPECT_EQ(affine.output<float>(1), (Floats{-30, -60}));

  OperatorTest<sample::Join> join;
  join.input<int64_t>({}, {1}).input<float>({2}, {1, 2}).input<float>({1}, {5}).outputs(1);
  ASSERT_TRUE(join.run().ok()) << join.text();
  EXPECT_EQ(join.output<float>(0), (Floats{2, 3, 6}));
  EXPECT_EQ(join.extents(0), std::vector<int32_t>{3});

  OperatorTest<sample::Above> above;
  above.input<float>({4}, {5, 0, 7, 1}).input<float>({}, {1}).outputs(1).bound(0, {4});
  ASSERT_TRUE(above.run().ok()) << above.text();
  EXPECT_EQ(above.output<float>(0), (Floats{5, 7}));
  EXPECT_EQ(above.bound(0, {1}).run().code(), Code::kWrongExtent);

  OperatorTest<sample::Wanted> wanted;
  wanted.input<float>({1}, {0}).outputs(1).absent_output().outputs(1);
  ASSERT_TRUE(wanted.run().ok()) << wanted.text();
  EXPECT_EQ(wanted.output<float>(0), Floats{2});

  OperatorTest<sample::Reverse> reverse;
  reverse.input<int16_t>({3}, {1, 2, 3}).outputs(1);
  ASSERT_TRUE(reverse.run().ok()) << reverse.text();
  EXPECT_EQ(reverse.output<int16_t>(0), (std::vector<int16_t>{3, 2, 1}));
}

TEST(OperatorTestHeader, GivesAttributesOfEveryKindAndTheirDefaults) {
  OperatorTest<sample::ReadsAttributes> defaults;
  EXPECT_THROW(static_cast<void>(defaults.input<float>({8}, Floats(8)).outputs(1).run()),
               std::logic_error)
      << "a required one is missing";
  ASSERT_TRUE(defaults.attribute("integer", 9).run().ok()) << defaults.text();
  EXPECT_EQ(defaults.output<float>(0), (Floats{9, 0.5F, 4, 7, 8, 3, -1, -1}));

  OperatorTest<sample::ReadsAttributes> given;
  given.attribute("integer", 3).attribute("real", 1.5F).attribute("text", "linear");
  given.attribute("integers", std::vector<int64_t>{1, -2}).attribute("reals", Floats{0.25F});
  given.attribute("texts", std::vector<std::string>{"a", "bcd"});
  ASSERT_TRUE(given.input<float>({10}, Floats(10)).outputs(1).run().ok()) << given.text();
  EXPECT_EQ(given.output<float>(0), (Floats{3, 1.5F, 6, 1, -2, 0.25F, 1, 3, -1, -1}));
  EXPECT_THROW(static_cast<void>(given.attribute("none", 1).run()), std::logic_error);
}

TEST(OperatorTestHeader, ReportsWhatTheOperatorRefuses) {
  OperatorTest<sample::Join> join;
  join.input<int64_t>({}, {-5}).input<float>({1}, {1}).input<float>({1}, {1}).outputs(1);
  EXPECT_EQ(join.run().code(), Code::kInvalidValue);
  EXPECT_EQ(join.text(), "offset -5 is negative, operand 0");
  OperatorTest<sample::Join> few;
  few.input<int64_t>({}, {1}).input<float>({1}, {1}).outputs(1);
  EXPECT_EQ(few.run().code(), Code::kCorruptPlan);
  OperatorTest<sample::Halve> type;
  EXPECT_EQ(type.input<double>({1}, {1}).outputs(1).run().code(), Code::kWrongType);
}

/// The strings of x that are longer than the shortest, each with an exclamation mark; their
/// lengths.
struct Longer {
  static constexpr OperatorInfo info{.domain = "test",
                                     .name = "Longer",
                                     .inputs = {{"x", "S"}},
                                     .outputs = {{"kept", "S"}, "lengths"},
                                     .extents_vary = true};
  template <class S>
  static Status infer(S& s) {
    if (Status status = s.set_output(0, s.type(0), s.shape(0)); !status) return status;
    return s.set_output(1, DataType::kFloat, s.shape(0));
  }
  static Status run(const KernelContext& context, Input<StringRef> x, Output<StringRef> kept,
                    Output<float> lengths) {
    size_t shortest = SIZE_MAX;
    for (const StringRef each : x.span()) shortest = std::min<size_t>(shortest, each.length);
    int32_t count = 0;
    for (const StringRef each : x.span()) {
      const std::string_view text = context.string(each);
      if (text.size() == shortest) continue;
      char* at = nullptr;
      if (Status s = context.add_string(text.size() + 1, kept[count], at); !s) return s;
      *std::copy(text.begin(), text.end(), at) = '!';
      lengths[count++] = static_cast<float>(text.size());
    }
    const int32_t extents[] = {count};
    if (Status status = kept.resize(extents); !status) return status;
    return lengths.resize(extents);
  }
};

TEST(OperatorTestHeader, TakesAndGivesStrings) {
  OperatorTest<Longer> test;
  test.input_strings({4}, {"ab", "a", "", "abc"}).outputs(2);
  ASSERT_TRUE(test.run().ok()) << test.text();
  EXPECT_EQ(test.strings(0), (std::vector<std::string>{"ab!", "a!", "abc!"}));
  EXPECT_EQ(test.output<float>(1), (Floats{2, 1, 3}));
  OperatorTest<Longer> long_text;
  long_text.input_strings({2}, {std::string(65536, 'x'), ""}).outputs(2);
  EXPECT_EQ(long_text.run().code(), Code::kTooManyCharacters);
}

TEST(OperatorTestHeader, AStateSeesConstantsAndHasMemoryOfItsOwn) {
  OperatorTest<sample::PackedProduct> product;
  product.input<float>({1, 2}, {1, 2}).constant<float>({2, 2}, {1, 2, 3, 4}).outputs(1);
  ASSERT_TRUE(product.run().ok()) << product.text();
  EXPECT_EQ(product.output<float>(0), (Floats{7, 10}));
  OperatorTest<sample::PackedProduct> varying;
  varying.input<float>({1, 2}, {1, 2}).input<float>({2, 2}, {1, 2, 3, 4}).outputs(1);
  EXPECT_EQ(varying.run().code(), Code::kUnsupported);
  EXPECT_EQ(varying.text(), "the weight is not constant, operand 1");
}

/// One thing each that an operator must not do.
enum class Fault { kNone, kOutput, kInput, kWorkspace, kUnwritten, kScratch, kThreads, kInPlace };

template <Fault fault>
struct Faulty {
  static constexpr OperatorInfo info{
      .domain = "test", .name = "Faulty", .inputs = {"x"}, .outputs = {"y"}, .in_place = {0}};
  static int64_t workspace(const KernelContext&) { return 8; }
  static void run(const KernelContext& context, Input<float> x, Output<float> y,
                  Workspace scratch) {
    auto* sum = scratch.as<float>();
    if (fault != Fault::kScratch) *sum = 0;
    for (int64_t i = 0; i < x.size(); ++i) *sum += x[i];
    if (fault == Fault::kInPlace) y[0] = 0;
    const int64_t count = fault == Fault::kUnwritten ? x.size() - 1 : x.size();
    if (fault == Fault::kInput) const_cast<float*>(x.data())[0] += 1;
    const float total = *sum;
    context.parallel_for(count, [&](int64_t begin, int64_t end, int thread) {
      const float extra = fault == Fault::kThreads ? static_cast<float>(thread + end - begin) : 0;
      for (int64_t i = begin; i < end; ++i) y[i] = x[i] + total + extra;
    });
    if (fault == Fault::kOutput) y.data()[y.size()] = 0;
    if (fault == Fault::kWorkspace) scratch.as<float>()[2] = 0;
  }
};

template <Fault fault>
std::string found() {
  OperatorTest<Faulty<fault>> test;
  test.template input<float>({64}, Floats(64, 1)).outputs(1);
  const Status status = test.run();
  EXPECT_EQ(status.code(), fault == Fault::kNone ? Code::kOk : Code::kOperatorFailed);
  return test.text();
}

TEST(OperatorTestHeader, FindsEachThingThatAnOperatorMustNotDo) {
  EXPECT_EQ(found<Fault::kNone>(), "");
  EXPECT_EQ(found<Fault::kOutput>(), "output 0: bytes before or behind the tensor were written");
  EXPECT_EQ(found<Fault::kInput>(), "input 0 was written");
  EXPECT_EQ(found<Fault::kWorkspace>(), "bytes before or behind the workspace were written");
  EXPECT_EQ(found<Fault::kUnwritten>(), "output 0 depends on memory that nobody has written");
  EXPECT_EQ(found<Fault::kScratch>(), "output 0 depends on memory that nobody has written");
  EXPECT_EQ(found<Fault::kThreads>(),
            "output 0 depends on the number of threads, or on what they do first");
  EXPECT_EQ(found<Fault::kInPlace>(),
            "output 0 depends on whether output 0 lies in the memory of an input");
}

}  // namespace
}  // namespace intarsia::test
