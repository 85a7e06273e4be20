// SPDX-License-Identifier: Apache-2.0
//
// com.microsoft::Inverse on the CPU: ONNX Runtime's own cases and tolerances, and what it leaves
// undefined.
#include <gtest/gtest.h>

#include <cmath>

#include "converter/tool/heap_counter.h"
#include "intarsia/services.h"
#include "test/kernels/linear_algebra/inverse_naive.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;
using Doubles = std::vector<double>;

OnnxBuilder inverse_model(std::vector<int64_t> extents, DataType type, int version = 1) {
  OnnxBuilder model;
  if (version != 0) model.import_opset("com.microsoft", version);
  model.input("x", std::move(extents), type);
  model.output("y");
  model.node("Inverse", {"x"}, {"y"}).set_domain("com.microsoft");
  return model;
}

template <class T>
Status run_inverse(const OnnxBuilder& model, const Doubles& x, Doubles& y,
                   const SessionOptions& options = {}, std::string* text = nullptr,
                   const converter::ConvertOptions& conversion = {}) {
  SmallPlan plan(model, conversion);
  auto session = plan.open(options);
  if (!session.ok()) {
    ADD_FAILURE() << plan.text(plan.diagnostic);
    return session.status();
  }
  const auto input = session->input<T>(0).value();
  EXPECT_EQ(input.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if constexpr (sizeof(T) == 8) {
      input[i] = x[i];
    } else {
      input[i] = static_cast<T>(static_cast<float>(x[i]));
    }
  }
  const Status status = session->run();
  if (text != nullptr) *text = plan.text(session->diagnostic());
  y.clear();
  const std::span<const T> output = session->output<T>(0).value();
  for (const T& value : output) {
    if constexpr (sizeof(T) == 8) {
      y.push_back(value);
    } else {
      y.push_back(static_cast<double>(static_cast<float>(value)));
    }
  }
  return status;
}

void expect_near(const Doubles& found, const Doubles& expected, double absolute, double relative) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_LE(std::abs(found[i] - expected[i]), absolute + relative * std::abs(expected[i])) << i;
  }
}

const Doubles kFour{4, 0, 0, 0, 0, 0, 2, 0, 0, 1, 2, 0, 1, 0, 0, 1};
const Doubles kFourInverse{.25, 0, 0, 0, 0, -1, 1, 0, 0, .5, 0, 0, -.25, 0, 0, 1};

Doubles repeated(const Doubles& values, int times) {
  Doubles result;
  for (int i = 0; i < times; ++i) result.insert(result.end(), values.begin(), values.end());
  return result;
}

template <class T>
void two_by_two(double absolute, double relative) {
  Doubles y;
  ASSERT_TRUE(run_inverse<T>(inverse_model({2, 2}, data_type_of<T>), {4, 7, 2, 6}, y).ok());
  expect_near(y, {0.6, -0.7, -0.2, 0.4}, absolute, relative);
}

TEST(Inverse, CTR_01_TwoByTwoFloat) {
  two_by_two<float>(1e-5, 1e-4);
}
TEST(Inverse, CTR_01_TwoByTwoDouble) {
  two_by_two<double>(1e-5, 1e-5);
}
TEST(Inverse, CTR_01_TwoByTwoFloat16) {
  two_by_two<Float16>(2.5e-3, 1e-3);
}
TEST(Inverse, CTR_01_FourByFourNeedsPivoting) {
  Doubles y;
  ASSERT_TRUE(run_inverse<float>(inverse_model({4, 4}, DataType::kFloat), kFour, y).ok());
  expect_near(y, kFourInverse, 1e-5, 1e-4);
}
template <class T>
void tiny_pivots(double tiny) {
  // The first element of a column is no zero, but dividing by it loses everything else; and the
  // largest one may be negative.
  const std::pair<Doubles, Doubles> kCases[] = {
      {{tiny, 1, 1, 1}, {-1, 1, 1, -tiny}},
      {{tiny, 1, -1, 1}, {1, -1, 1, tiny}},
      {{2, 0, 0, 0, tiny, 1, 0, -1, 1}, {.5, 0, 0, 0, 1, -1, 0, 1, tiny}}};
  for (const auto& [x, expected] : kCases) {
    const int64_t order = x.size() == 4 ? 2 : 3;
    Doubles y;
    ASSERT_TRUE(run_inverse<T>(inverse_model({order, order}, data_type_of<T>), x, y).ok());
    expect_near(y, expected, 4 * tiny, 4 * tiny);
  }
}
TEST(Inverse, CTR_01_ThePivotIsTheLargestOfItsColumn) {
  tiny_pivots<float>(0x1p-26);
  tiny_pivots<double>(0x1p-55);
}
TEST(Inverse, CTR_01_FourByFourInBatches) {
  Doubles y;
  ASSERT_TRUE(
      run_inverse<float>(inverse_model({3, 4, 4, 4}, DataType::kFloat), repeated(kFour, 12), y)
          .ok());
  expect_near(y, repeated(kFourInverse, 12), 1e-5, 1e-4);
}

TEST(Inverse, CTR_01_Float16OfAConditionNearHundred) {
  constexpr int kOrder = 16;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Doubles x = conditioned_matrix(kOrder, 90, seed);
    Doubles y;
    ASSERT_TRUE(
        run_inverse<Float16>(inverse_model({kOrder, kOrder}, DataType::kFloat16), x, y).ok());
    expect_near(y, naive_inverse(x, kOrder), 2.5e-3, 0);
  }
}

TEST(Inverse, CTR_01_DoubleTimesTheMatrixIsTheIdentity) {
  constexpr int kOrder = 24;
  const Doubles x = conditioned_matrix(kOrder, 10, 9);
  Doubles y;
  ASSERT_TRUE(run_inverse<double>(inverse_model({kOrder, kOrder}, DataType::kDouble), x, y).ok());
  for (int i = 0; i < kOrder; ++i) {
    for (int j = 0; j < kOrder; ++j) {
      double sum = 0;
      for (int k = 0; k < kOrder; ++k) {
        sum += x[static_cast<size_t>(i * kOrder + k)] * y[static_cast<size_t>(k * kOrder + j)];
      }
      EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-12);
    }
  }
}

TEST(Inverse, CTR_02_ShapesDownToEmpty) {
  Doubles y;
  for (const std::vector<int64_t>& extents :
       {std::vector<int64_t>{0, 3, 3}, {3, 0, 0}, {0, 0}, {2, 0, 4, 4}}) {
    converter::ConvertOptions options;
    options.shapes["x"] = extents;  // in a model 0 means an extent that is not known
    const OnnxBuilder model = inverse_model(extents, DataType::kFloat);
    ASSERT_TRUE(run_inverse<float>(model, {}, y, {}, nullptr, options).ok());
    EXPECT_TRUE(y.empty());
    SmallPlan plan(model, options);
    EXPECT_EQ(plan.conversion.entries[0].outputs[0].extents, extents);
  }
  ASSERT_TRUE(run_inverse<float>(inverse_model({1, 1}, DataType::kFloat), {4}, y).ok());
  EXPECT_EQ(y, Doubles{0.25});
  ASSERT_TRUE(run_inverse<float>(inverse_model({2, 3, 3}, DataType::kFloat),
                                 {2, 0, 0, 0, 4, 0, 0, 0, 8, 0, 1, 0, 1, 0, 0, 0, 0, 1}, y)
                  .ok());
  EXPECT_EQ(y, (Doubles{.5, 0, 0, 0, .25, 0, 0, 0, .125, 0, 1, 0, 1, 0, 0, 0, 0, 1}));
}

TEST(Inverse, CTR_03_RankAndSquarenessAreConversionErrors) {
  EXPECT_EQ(conversion_error(inverse_model({3}, DataType::kFloat)),
            "node 'Inverse1' (com.microsoft:Inverse): Input rank must be >= 2.");
  EXPECT_CONTAINS(conversion_error(inverse_model({5, 3, 2}, DataType::kFloat)),
                  "node 'Inverse1' (com.microsoft:Inverse): The inner-most 2 dimensions must have "
                  "the same size (mat_w:2 mat_h:3).");
}

TEST(Inverse, CTR_03_NotSquareAtRunTimeIsATypedError) {
  OnnxBuilder model;
  model.import_opset("com.microsoft", 1);
  auto& x = model.input("x", {0, 0});
  symbol(x, 0, "h");
  symbol(x, 1, "w");
  model.output("y");
  model.node("Inverse", {"x"}, {"y"}).set_domain("com.microsoft");
  converter::ConvertOptions options;
  options.dims["h"] = converter::DimRange{1, 4};
  options.dims["w"] = converter::DimRange{1, 4};
  SmallPlan plan(model, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_TRUE(session->resize_input(0, std::array<int32_t, 2>{3, 2}).ok());
  EXPECT_EQ(session->run().code(), Code::kWrongExtent);
  EXPECT_CONTAINS(
      plan.text(session->diagnostic()),
      "node 0 'Inverse1' (com.microsoft:Inverse): The inner-most 2 dimensions must have "
      "the same size (mat_w:2 mat_h:3).");
  ASSERT_TRUE(session->resize_input(0, std::array<int32_t, 2>{2, 2}).ok());
  write(*session, 0, {4, 7, 2, 6});
  ASSERT_TRUE(session->run().ok());
  EXPECT_NEAR(read(*session, 0)[0], 0.6, 1e-5);
}

/// Four matrices, of which numbers 1 and 3 are singular.
const Doubles kSingular{1, 0, 0, 1, 1, 2, 2, 4, 2, 0, 0, 2, 0, 0, 0, 0};

TEST(Inverse, CTR_04_TheFirstSingularMatrixIsNamed) {
  Doubles y;
  std::string text;
  EXPECT_EQ(run_inverse<float>(inverse_model({4, 2, 2}, DataType::kFloat), kSingular, y, {}, &text)
                .code(),
            Code::kInvalidValue);
  EXPECT_EQ(text, "node 0 'Inverse1' (com.microsoft:Inverse): matrix 1 is singular, operand 0");
}

template <class T>
void expect_nan_fill() {
  SingularMatrix choice = SingularMatrix::kFillNan;
  const Service services[] = {{kSingularMatrixService, &choice}};
  SessionOptions options;
  options.services = services;
  Doubles y;
  ASSERT_TRUE(
      run_inverse<T>(inverse_model({4, 2, 2}, data_type_of<T>), kSingular, y, options).ok());
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(std::isnan(y[i]), i / 4 == 1 || i / 4 == 3) << i;
  }
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[8], 0.5);
  choice = SingularMatrix::kFail;
  EXPECT_FALSE(
      run_inverse<T>(inverse_model({4, 2, 2}, data_type_of<T>), kSingular, y, options).ok());
}

TEST(Inverse, CTR_04_NanFillIsAnOptionOfTheSession) {
  expect_nan_fill<float>();
  expect_nan_fill<double>();
  expect_nan_fill<Float16>();
}

TEST(Inverse, CTR_04_OnlyAPivotOfExactlyZeroIsSingular) {
  Doubles y;
  EXPECT_TRUE(
      run_inverse<float>(inverse_model({2, 2}, DataType::kFloat), {1, 0, 0, 1e-30}, y).ok());
  EXPECT_NEAR(y[3] * 1e-30, 1, 1e-6);
  // Not a number is not zero.
  EXPECT_TRUE(run_inverse<float>(inverse_model({1, 1}, DataType::kFloat), {NAN}, y).ok());
  EXPECT_TRUE(std::isnan(y[0]));
}

TEST(Inverse, CTR_04_NeitherChoiceAllocates) {
  SmallPlan plan(inverse_model({4, 2, 2}, DataType::kFloat));
  if (tool::heap_calls() < 0) GTEST_SKIP() << "this build does not count heap calls";
  SingularMatrix choice = SingularMatrix::kFail;
  const Service services[] = {{kSingularMatrixService, &choice}};
  SessionOptions options;
  options.services = services;
  auto session = plan.open(options);
  ASSERT_TRUE(session.ok());
  write(*session, 0, std::vector<float>(kSingular.begin(), kSingular.end()));
  const int64_t before = tool::heap_calls();
  const Code failed = session->run().code();
  choice = SingularMatrix::kFillNan;
  const Code filled = session->run().code();
  EXPECT_EQ(tool::heap_calls(), before);
  EXPECT_EQ(failed, Code::kInvalidValue);
  EXPECT_EQ(filled, Code::kOk);
}

TEST(Inverse, CTR_05_EveryImportOfTheDomainIsAccepted) {
  const Doubles x = conditioned_matrix(3, 20, 4);
  Doubles expected = naive_inverse(x, 3);
  for (size_t i = 0; i < x.size(); ++i) expected[i] += x[i];
  for (int version : {0, 1, 5}) {
    OnnxBuilder model = inverse_model({3, 3}, DataType::kFloat, version);
    model.graph().mutable_output(0)->set_name("z");
    model.node("Add", {"y", "x"}, {"z"});
    Doubles z;
    ASSERT_TRUE(run_inverse<float>(model, x, z).ok()) << version;
    expect_near(z, expected, 1e-5, 1e-3);
  }
}

TEST(Inverse, CTR_07_UnsupportedOperatorsAndAttributesAreNamed) {
  OnnxBuilder model = inverse_model({3, 3}, DataType::kFloat);
  model.graph().mutable_node(0)->set_op_type("Invers");
  EXPECT_CONTAINS(conversion_error(model),
                  "node 'Inverse1' (com.microsoft:Invers): the operator com.microsoft:Invers(1) is "
                  "not supported; names like it: com.microsoft:Inverse");
  model.graph().mutable_node(0)->set_op_type("Inverse");
  OnnxBuilder::set(*model.graph().mutable_node(0), "upper", int64_t{1});
  EXPECT_EQ(conversion_error(model),
            "node 'Inverse1' (com.microsoft:Inverse): attribute \"upper\" is unknown; the operator "
            "has none");
  EXPECT_CONTAINS(conversion_error(inverse_model({3, 3}, DataType::kInt32)),
                  "node 'Inverse1' (com.microsoft:Inverse): 'x' (X) has type int32, which the "
                  "operator does not allow");
}

}  // namespace
}  // namespace intarsia::test
