// SPDX-License-Identifier: Apache-2.0
//
// Shape rules over expressions and over numbers. Every case runs both ways: the symbolic result,
// evaluated at random assignments, must be what the run-time context computes there.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "core/definitions/registry.h"
#include "core/definitions/symbolic_shape.h"
#include "core/definitions/value_propagation.h"
#include "core/operators/elementwise/elementwise.h"
#include "core/operators/random/random.h"
#include "core/operators/reduction/reduction.h"
#include "core/operators/shape/expand.h"
#include "core/operators/shape/extents.h"
#include "core/operators/shape/fill.h"
#include "core/operators/shape/range.h"
#include "core/operators/shape/reshape.h"

namespace intarsia::definitions {

// Found by GoogleTest when an expectation fails.
static void PrintTo(const Dim& dim, std::ostream* stream) {
  *stream << dim.to_string();
}

namespace {

SymbolicInput tensor(DataType type, const std::vector<Dim>& extents) {
  SymbolicInput input;
  input.present = true;
  input.type = type;
  for (const Dim& extent : extents) input.shape.push(extent);
  return input;
}
SymbolicInput list(const std::vector<Dim>& values) {
  SymbolicInput input = tensor(DataType::kInt64, {static_cast<int64_t>(values.size())});
  input.values = values;
  return input;
}
SymbolicInput scalar(const Dim& value) {
  SymbolicInput input = tensor(DataType::kInt64, {});
  input.values = {value};
  return input;
}
SymbolicInput real_scalar(double value) {
  SymbolicInput input = tensor(DataType::kFloat, {});
  input.reals = {value};
  return input;
}
SymbolicInput image(const std::vector<Dim>& extents) {
  return tensor(DataType::kFloat, extents);
}

std::vector<Dim> dims(const Shape<Dim>& shape) {
  return {shape.extents, shape.extents + shape.rank};
}

/// A node's operands as numbers, with outputs that take any extents.
class NumericNode {
 public:
  NumericNode(const std::vector<SymbolicInput>& inputs, int outputs,
              const std::vector<int64_t>& assignment, const void* attributes, size_t bytes) {
    for (const SymbolicInput& input : inputs) {
      std::vector<int32_t>& extents = extents_.emplace_back();
      for (const Dim& extent : dims(input.shape)) {
        extents.push_back(static_cast<int32_t>(*extent.evaluate(assignment)));
      }
      TensorView view{nullptr, extents.data(), input.type, static_cast<uint8_t>(extents.size())};
      if (input.values && input.type == DataType::kFloat) {
        std::vector<float>& elements = reals_.emplace_back();
        for (const Dim& value : *input.values) {
          elements.push_back(static_cast<float>(*value.evaluate(assignment)) /
                             static_cast<float>(input.denominator));
        }
        view.data = elements.data();
      } else if (input.values) {
        std::vector<int64_t>& elements = integers_.emplace_back();
        for (const Dim& value : *input.values) elements.push_back(*value.evaluate(assignment));
        elements.push_back(0);  // so that an empty list has data too
        view.data = elements.data();
      } else if (input.reals) {
        view.data = reals_.emplace_back(input.reals->begin(), input.reals->end()).data();
      }
      if (!input.present) view = {};
      views_.push_back(view);
    }
    for (int i = 0; i < outputs; ++i) views_.push_back({nullptr, nullptr, DataType::kFloat, 0});
    results_.resize(static_cast<size_t>(outputs));
    host_.diagnostic = &diagnostic_;
    host_.resize_output = [](const KernelContext& context, int output,
                             std::span<const int32_t> extents) {
      auto* self = static_cast<NumericNode*>(context.runtime_);
      self->results_[static_cast<size_t>(output)].assign(extents.begin(), extents.end());
      return Status();
    };
    context_.operands_ = views_.data();
    context_.input_count_ = static_cast<int32_t>(inputs.size());
    context_.output_count_ = outputs;
    context_.attributes_ = attributes;
    context_.attribute_bytes_ = static_cast<uint32_t>(bytes);
    context_.host_ = &host_;
    context_.runtime_ = this;
  }
  NumericNode(const NumericNode&) = delete;
  NumericNode& operator=(const NumericNode&) = delete;

  const KernelContext& context() const { return context_; }
  const Diagnostic& diagnostic() const { return diagnostic_; }
  const std::vector<int64_t>& result(size_t output) const { return results_[output]; }

 private:
  std::deque<std::vector<int32_t>> extents_;
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<float>> reals_;
  std::vector<TensorView> views_;
  std::vector<std::vector<int64_t>> results_;
  Diagnostic diagnostic_;
  KernelHost host_;
  KernelContext context_;
};

class ShapeInference : public testing::Test {
 protected:
  struct Outcome {
    Status status;
    std::vector<SymbolicOutput> outputs;
    std::string text;
    std::vector<Dim> operator[](size_t output) const { return dims(outputs[output].shape); }
  };

  /// Infers symbolically; if that succeeds, checks `rounds` assignments against numbers.
  template <class Rule, class A = NoAttributes>
  Outcome infer(const std::vector<SymbolicInput>& inputs, A attributes = {}, int outputs = 1) {
    SymbolicShapeContext symbolic(inputs, outputs, std::as_bytes(std::span(&attributes, 1)));
    Outcome outcome{Rule::infer(symbolic), symbolic.outputs(), symbolic.text()};
    for (int round = 0; outcome.status.ok() && round < 20; ++round) {
      std::vector<int64_t> assignment;
      for (int symbol = 0; symbol < table_.size(); ++symbol) {
        const auto width = static_cast<size_t>(table_[symbol].max - table_[symbol].min + 1);
        assignment.push_back(table_[symbol].min + static_cast<int64_t>(random_() % width));
      }
      NumericNode node(inputs, outputs, assignment, &attributes, sizeof(A));
      const Status status = shape_function_of<Rule>().infer(node.context());
      EXPECT_TRUE(status.ok()) << node.diagnostic().what;
      for (size_t i = 0; i < outcome.outputs.size(); ++i) {
        std::vector<int64_t> expected;
        for (const Dim& extent : outcome[i]) {
          expected.push_back(extent.evaluate(assignment).value_or(-1));
        }
        EXPECT_EQ(node.result(i), expected);
      }
    }
    return outcome;
  }

  /// Infers symbolically alone, where numbers would follow from values that are not known.
  template <class Rule, class A = NoAttributes>
  std::vector<Dim> bounds(const std::vector<SymbolicInput>& inputs, A attributes = {}) {
    SymbolicShapeContext symbolic(inputs, 1, std::as_bytes(std::span(&attributes, 1)));
    EXPECT_TRUE(Rule::infer(symbolic).ok()) << symbolic.text();
    return dims(symbolic.outputs()[0].shape);
  }

  SymbolTable table_;
  Dim n_ = table_.add("N", 1, 9);
  Dim t_ = table_.add("T", 4, 64);
  Dim h_ = table_.add("H", 32, 96);
  std::mt19937 random_{3};
};

using ShapeOps = ShapeInference;

TEST_F(ShapeOps, BroadcastJoinsExtents) {
  const auto out = infer<ops::Broadcast>({image({n_, 1, t_}), image({h_, 1}), image({1})});
  EXPECT_EQ(out[0], (std::vector<Dim>{n_, h_, t_}));
  EXPECT_FALSE(infer<ops::Broadcast>({image({h_}), image({5})}).status.ok());
  EXPECT_EQ(infer<ops::Broadcast>({image({h_}), image({5})}).text,
            "extent does not broadcast of input 1, axis 0: expected H, found 5");
}

TEST_F(ShapeOps, ReshapeInfersCopiesAndKeeps) {
  const SymbolicInput data = image({n_, 12, t_});
  EXPECT_EQ(infer<ops::Reshape>({data, list({0, -1})}, ReshapeAttributes{})[0],
            (std::vector<Dim>{n_, t_ * 12}));
  EXPECT_EQ(infer<ops::Reshape>({data, list({0, 3, 4, -1})}, ReshapeAttributes{})[0],
            (std::vector<Dim>{n_, 3, 4, t_}));
  EXPECT_EQ(infer<ops::Reshape>({data, list({-1})}, ReshapeAttributes{})[0],
            (std::vector<Dim>{n_ * t_ * 12}));
  EXPECT_EQ(infer<ops::Reshape>({data, list({n_ * t_, 12})}, ReshapeAttributes{})[0],
            (std::vector<Dim>{n_ * t_, 12}));
  EXPECT_EQ(infer<ops::Reshape>({image({}), list({1, 1})}, ReshapeAttributes{})[0],
            (std::vector<Dim>{1, 1}));
  EXPECT_EQ(infer<ops::Reshape>({image({0, 3}), list({3, 0})}, ReshapeAttributes{1})[0],
            (std::vector<Dim>{3, 0}));
  EXPECT_EQ(infer<ops::Reshape>({image({0}), list({2, 0, 3})}, ReshapeAttributes{1})[0],
            (std::vector<Dim>{2, 0, 3}));
}

TEST_F(ShapeOps, ReshapeTakesAnUnknownExtentAsTheRest) {
  const ReshapeAttributes attributes;
  const std::vector<SymbolicInput> inputs = {image({n_, 12, t_}), list({0, 6, Dim::unknown()})};
  SymbolicShapeContext context(inputs, 1, std::as_bytes(std::span(&attributes, 1)));
  ASSERT_TRUE(ops::Reshape::infer(context).ok()) << context.text();
  EXPECT_EQ(dims(context.outputs()[0].shape), (std::vector<Dim>{n_, 6, t_ * 2}));
  // Of an empty input, nothing is left over that would tell the extent.
  const std::vector<SymbolicInput> empty = {image({0, 3}), list({Dim::unknown(), Dim::unknown()})};
  SymbolicShapeContext open(empty, 1, std::as_bytes(std::span(&attributes, 1)));
  ASSERT_TRUE(ops::Reshape::infer(open).ok()) << open.text();
  EXPECT_EQ(open.outputs()[0].shape[0].upper(), kInfinite);
}

TEST_F(ShapeOps, ReshapeReportsWhatCannotBe) {
  const SymbolicInput data = image({2, 3});
  const auto fails = [&](const std::vector<Dim>& target, Code code) {
    const auto out = infer<ops::Reshape>({data, list(target)}, ReshapeAttributes{});
    EXPECT_EQ(out.status.code(), code) << out.text;
  };
  fails({7}, Code::kWrongExtent);
  fails({4, -1}, Code::kWrongExtent);
  fails({-1, -1}, Code::kInvalidValue);
  fails({-2, 3}, Code::kInvalidValue);
  fails({2, 3, 0}, Code::kWrongExtent);
  fails({int64_t{1} << 62, int64_t{1} << 62, 6}, Code::kWrongExtent);
  fails(std::vector<Dim>(9, Dim(1)), Code::kWrongRank);
  // Beside an extent that is 0, nothing tells what -1 is.
  const auto both = infer<ops::Reshape>({image({3, 0}), list({0, -1})}, ReshapeAttributes{1});
  EXPECT_EQ(both.status.code(), Code::kInvalidValue) << both.text;
}

TEST_F(ShapeOps, SqueezeAndUnsqueeze) {
  EXPECT_EQ(infer<ops::Squeeze>({image({1, n_, 1}), list({-1})})[0], (std::vector<Dim>{1, n_}));
  EXPECT_EQ(infer<ops::Squeeze>({image({1, t_, 1})})[0], (std::vector<Dim>{t_}));
  EXPECT_EQ(infer<ops::Squeeze>({image({1, n_})}).status.code(), Code::kUnsupported);
  EXPECT_EQ(infer<ops::Squeeze>({image({1, t_}), list({1})}).status.code(), Code::kWrongExtent);
  EXPECT_EQ(infer<ops::Squeeze>({image({1, t_}), list({2})}).status.code(), Code::kIndexOutOfRange);
  EXPECT_EQ(infer<ops::Unsqueeze>({image({n_, t_}), list({0, -1})})[0],
            (std::vector<Dim>{1, n_, t_, 1}));
  EXPECT_EQ(infer<ops::Unsqueeze>({image({}), list({0})})[0], (std::vector<Dim>{1}));
  EXPECT_EQ(infer<ops::Unsqueeze>({image({n_}), list({1, 1})}).status.code(), Code::kInvalidValue);
}

TEST_F(ShapeOps, AxesThatOnlyTheRunTellsGiveBounds) {
  const std::vector<SymbolicInput> inputs = {image({n_, t_, 1}), tensor(DataType::kInt64, {1})};
  SymbolicShapeContext squeezed(inputs, 1, {});
  ASSERT_TRUE(ops::Squeeze::infer(squeezed).ok()) << squeezed.text();
  EXPECT_EQ(squeezed.outputs()[0].shape.rank, 2);
  EXPECT_EQ(squeezed.outputs()[0].shape[0].upper(), 64);
  SymbolicShapeContext unsqueezed(inputs, 1, {});
  ASSERT_TRUE(ops::Unsqueeze::infer(unsqueezed).ok()) << unsqueezed.text();
  EXPECT_EQ(unsqueezed.outputs()[0].shape.rank, 4);
  EXPECT_EQ(unsqueezed.outputs()[0].shape[3].lower(), 0);
  // Not even their number is known.
  EXPECT_EQ(infer<ops::Squeeze>({image({n_}), tensor(DataType::kInt64, {n_})}).status.code(),
            Code::kWrongRank);
  EXPECT_EQ(infer<ops::Unsqueeze>({image({n_}), tensor(DataType::kInt64, {n_})}).status.code(),
            Code::kWrongRank);
}

TEST_F(ShapeOps, FlattenShapeSize) {
  const SymbolicInput data = image({n_, 3, t_, h_});
  EXPECT_EQ(infer<ops::Flatten>({data}, FlattenAttributes{})[0],
            (std::vector<Dim>{n_, t_ * h_ * 3}));
  EXPECT_EQ(infer<ops::Flatten>({data}, FlattenAttributes{0})[0],
            (std::vector<Dim>{1, n_ * t_ * h_ * 3}));
  EXPECT_EQ(infer<ops::Flatten>({data}, FlattenAttributes{-1})[0],
            (std::vector<Dim>{n_ * t_ * 3, h_}));
  EXPECT_EQ(infer<ops::Flatten>({data}, FlattenAttributes{5}).status.code(),
            Code::kIndexOutOfRange);
  EXPECT_EQ(infer<ops::ShapeOf>({data}, ShapeAttributes{})[0], (std::vector<Dim>{4}));
  EXPECT_EQ(infer<ops::ShapeOf>({data}, ShapeAttributes{-3, -1})[0], (std::vector<Dim>{2}));
  EXPECT_EQ(infer<ops::ShapeOf>({data}, ShapeAttributes{3, 1})[0], (std::vector<Dim>{0}));
  EXPECT_EQ(infer<ops::Size>({data})[0], std::vector<Dim>{});
}

TEST_F(ShapeOps, ExtentsFromValues) {
  EXPECT_EQ(infer<ops::ConstantOfShape>({list({n_, 2, 0})}, ConstantOfShapeAttributes{})[0],
            (std::vector<Dim>{n_, 2, 0}));
  EXPECT_FALSE(infer<ops::ConstantOfShape>({list({-1})}, ConstantOfShapeAttributes{}).status.ok());
  EXPECT_EQ(infer<ops::Range>({scalar(0), scalar(t_), scalar(1)}, RangeAttributes{})[0],
            (std::vector<Dim>{t_}));
  EXPECT_EQ(infer<ops::Range>({scalar(2), scalar(h_), scalar(3)}, RangeAttributes{})[0],
            (std::vector<Dim>{floor_div(h_, 3)}));
  EXPECT_EQ(infer<ops::Range>({scalar(t_), scalar(0), scalar(-2)}, RangeAttributes{})[0],
            (std::vector<Dim>{ceil_div(t_, 2)}));
  EXPECT_EQ(infer<ops::Range>({scalar(5), scalar(2), scalar(1)}, RangeAttributes{})[0],
            (std::vector<Dim>{0}));
  EXPECT_EQ(
      infer<ops::Range>({real_scalar(0), real_scalar(1), real_scalar(0.3)}, RangeAttributes{})[0],
      (std::vector<Dim>{4}));
  EXPECT_FALSE(infer<ops::Range>({scalar(0), scalar(5), scalar(0)}, RangeAttributes{}).status.ok());
  EXPECT_EQ(infer<ops::Expand>({image({t_, 1}), list({n_, 1, 5})})[0],
            (std::vector<Dim>{n_, t_, 5}));
  EXPECT_EQ(infer<ops::Expand>({image({3, 1, t_}), list({7, 1})})[0], (std::vector<Dim>{3, 7, t_}));
  EXPECT_EQ(infer<ops::Tile>({image({t_, 3}), list({2, n_})})[0],
            (std::vector<Dim>{t_ * 2, n_ * 3}));
  EXPECT_FALSE(infer<ops::Tile>({image({t_, 3}), list({2})}).status.ok());
}

TEST_F(ShapeOps, DropoutHasAMask) {
  const auto out = infer<ops::Dropout>({image({n_, 3})}, DropoutAttributes{}, 2);
  EXPECT_EQ(out[1], (std::vector<Dim>{n_, 3}));
  EXPECT_EQ(out.outputs[1].type, DataType::kBool);
}

TEST_F(ShapeOps, ARealStepThatIsNotKnownLeavesTheCountOpen) {
  SymbolicInput step = tensor(DataType::kFloat, {});
  const Dim open = bounds<ops::Range>({real_scalar(0), real_scalar(1), step}, RangeAttributes{})[0];
  EXPECT_EQ(open.upper(), definitions::kInfinite);
  EXPECT_EQ(open.lower(), 0);
}

TEST_F(ShapeOps, AnAxisThatIsKeptMayBeEmpty) {
  const SymbolicInput axes = tensor(DataType::kInt64, {1});  // known at run time only
  const Dim empty = dim_min(Dim(1), Dim::unknown(0));
  const auto reduced = bounds<ops::Reduce>({image({empty, 1, 4}), axes}, ReduceAttributes{});
  EXPECT_EQ(reduced[0].lower(), 0);
  EXPECT_EQ(reduced[0].upper(), 1);
  EXPECT_EQ(reduced[1], Dim(1));
  EXPECT_EQ(reduced[2].lower(), 1);
  EXPECT_EQ(reduced[2].upper(), 4);
}

TEST(RangeCount, DoesNotOverflow) {
  EXPECT_EQ(ops::range_count(CheckedInt(INT64_MIN), INT64_MAX, 1).value(), INT64_MAX);
  EXPECT_EQ(ops::range_count(CheckedInt(INT64_MAX), INT64_MIN, INT64_MIN).value(), 2);
  EXPECT_EQ(ops::range_count(CheckedInt(7), 7, -1).value(), 0);
}

// ---- Elements ----

class ValuePropagation : public ShapeInference {
 protected:
  template <class A = NoAttributes>
  std::optional<std::vector<Dim>> propagate(std::string_view op,
                                            const std::vector<SymbolicInput>& inputs,
                                            const std::vector<Dim>& extents, A attributes = {},
                                            DataType type = DataType::kInt64) {
    SymbolicOutput output;
    output.type = type;
    for (const Dim& extent : extents) output.shape.push(extent);
    return propagate_values(*OperatorRegistry::builtin().find("", op),
                            reinterpret_cast<const std::byte*>(&attributes), inputs,
                            std::vector{output})[0]
        .values;
  }
  using Values = std::optional<std::vector<Dim>>;
};

TEST_F(ValuePropagation, ShapeGatherConcat) {
  const Values shape = propagate("Shape", {image({n_, 3, h_})}, {3}, ShapeAttributes{});
  EXPECT_EQ(shape, (Values{{n_, 3, h_}}));
  EXPECT_EQ(propagate("Shape", {image({n_, 3, h_})}, {1}, ShapeAttributes{-1}), (Values{{h_}}));
  EXPECT_EQ(propagate("Size", {image({n_, 3, h_})}, {}), (Values{{n_ * h_ * 3}}));
  EXPECT_EQ(propagate("Gather", {list(*shape), scalar(-1)}, {}), (Values{{h_}}));
  EXPECT_EQ(propagate("Gather", {list(*shape), scalar(3)}, {}), std::nullopt);
  EXPECT_EQ(propagate("Unsqueeze", {scalar(h_), list({0})}, {1}), (Values{{h_}}));
  EXPECT_EQ(propagate("Concat", {list({n_}), list({-1, h_})}, {3}), (Values{{n_, -1, h_}}));
  const Values partial = propagate("Concat", {list({n_}), tensor(DataType::kInt64, {1})}, {2});
  ASSERT_TRUE(partial);
  EXPECT_EQ((*partial)[0], n_);
  EXPECT_TRUE((*partial)[1].has_unknown());
}

TEST_F(ValuePropagation, SliceAndTranspose) {
  const SymbolicInput data = list({n_, 3, h_, t_});
  EXPECT_EQ(propagate("Slice", {data, list({1}), list({3})}, {2}), (Values{{3, h_}}));
  EXPECT_EQ(propagate("Slice", {data, list({-1}), list({-9}), list({0}), list({-1})}, {4}),
            (Values{{t_, h_, 3, n_}}));
  EXPECT_EQ(propagate("Slice", {data, list({-2}), list({kInfinite})}, {2}), (Values{{h_, t_}}));
  SymbolicInput pairs = data;
  pairs.shape.rank = 0;
  pairs.shape.push(2);
  pairs.shape.push(2);
  EXPECT_EQ(propagate("Slice", {pairs, list({-1}), list({-9}), list({0}), list({-1})}, {2, 2}),
            (Values{{h_, t_, n_, 3}}));
  struct Permutation {
    int32_t count = 2;
    int32_t values[kMaxRank] = {1, 0};
  };
  EXPECT_EQ(propagate("Transpose", {pairs}, {2, 2}, Permutation{}), (Values{{n_, h_, 3, t_}}));
}

TEST_F(ValuePropagation, Arithmetic) {
  EXPECT_EQ(propagate("Mul", {list({n_, h_}), scalar(2)}, {2}), (Values{{n_ * 2, h_ * 2}}));
  EXPECT_EQ(propagate("Sub", {scalar(h_), list({1})}, {1}), (Values{{h_ - 1}}));
  EXPECT_EQ(propagate("Div", {scalar(h_ * 6), scalar(4)}, {}), (Values{{floor_div(h_ * 3, 2)}}));
  EXPECT_EQ(propagate("Div", {scalar(-7), scalar(2)}, {}), (Values{{-3}}));
  EXPECT_EQ(propagate("Mod", {scalar(h_), scalar(8)}, {}), (Values{{h_ - floor_div(h_, 8) * 8}}));
  EXPECT_EQ(propagate("Mod", {scalar(-7), scalar(2)}, {}), std::nullopt);
  EXPECT_EQ(propagate("Max", {scalar(h_), scalar(1), scalar(t_)}, {}), (Values{{dim_max(h_, t_)}}));
  EXPECT_EQ(propagate("ReduceProd", {list({n_, 3, h_})}, {}), (Values{{n_ * h_ * 3}}));
  EXPECT_EQ(propagate("Neg", {list({n_})}, {1}), (Values{{-n_}}));
  EXPECT_EQ(propagate("Abs", {list({-n_})}, {1}), (Values{{n_}}));
  EXPECT_EQ(propagate("Mul", {tensor(DataType::kInt64, {1}), scalar(2)}, {1}), std::nullopt);
}

TEST_F(ValuePropagation, ConditionsAreDecidedByIntervals) {
  const auto truth = [&](std::string_view op, const Dim& a, const Dim& b) {
    return (*propagate(op, {scalar(a), scalar(b)}, {}, NoAttributes{}, DataType::kBool))[0];
  };
  EXPECT_EQ(truth("Less", n_, h_), Dim(1));
  EXPECT_EQ(truth("Greater", n_, h_), Dim(0));
  EXPECT_EQ(truth("GreaterOrEqual", h_, 32), Dim(1));
  EXPECT_EQ(truth("LessOrEqual", h_, 31), Dim(0));
  EXPECT_EQ(truth("Equal", h_ + n_, n_ + h_), Dim(1));
  EXPECT_EQ(truth("Equal", h_, 5), Dim(0));
  EXPECT_TRUE(truth("Equal", h_, 40).has_unknown());
  EXPECT_EQ(truth("And", 0, Dim::unknown(0, 1)), Dim(0));
  EXPECT_EQ(truth("Or", 1, Dim::unknown(0, 1)), Dim(1));
  EXPECT_EQ(propagate("Where", {list({1, 0}), list({n_, n_}), scalar(7)}, {2}), (Values{{n_, 7}}));
  const Values either = propagate("Where", {scalar(Dim::unknown(0, 1)), scalar(n_), scalar(3)}, {});
  EXPECT_EQ((*either)[0].lower(), 1);
  EXPECT_EQ((*either)[0].upper(), 9);
}

TEST_F(ValuePropagation, CastsAndRepeats) {
  EXPECT_EQ(propagate("Cast", {real_scalar(-2.7)}, {}), (Values{{-2}}));
  EXPECT_EQ(propagate("Cast", {scalar(h_)}, {}, NoAttributes{}, DataType::kFloat), (Values{{h_}}));
  EXPECT_EQ(propagate("Cast", {scalar(h_)}, {}, NoAttributes{}, DataType::kBool), (Values{{1}}));
  EXPECT_EQ(propagate("Cast", {scalar(int64_t{1} << 40)}, {}, NoAttributes{}, DataType::kInt32),
            std::nullopt);
  EXPECT_EQ(
      propagate("Mul", {real_scalar(0.5), real_scalar(2)}, {}, NoAttributes{}, DataType::kFloat),
      (Values{{1}}));
  EXPECT_EQ(propagate("Expand", {scalar(h_), list({3})}, {3}), (Values{{h_, h_, h_}}));
  EXPECT_EQ(propagate("Tile", {list({n_, 1}), list({2})}, {4}), (Values{{n_, 1, n_, 1}}));
  EXPECT_EQ(propagate("Range", {scalar(n_), scalar(n_ + 4), scalar(2)}, {2}),
            (Values{{n_, n_ + 2}}));
  EXPECT_EQ(propagate("ConstantOfShape", {list({2})}, {2},
                      ConstantOfShapeAttributes{-5, static_cast<int32_t>(DataType::kInt64)}),
            (Values{{-5, -5}}));
  EXPECT_EQ(propagate("Conv", {list({2})}, {1}), std::nullopt);
  EXPECT_EQ(propagate("Identity", {list(std::vector<Dim>(kMaxPropagatedElements + 1, n_))},
                      {kMaxPropagatedElements + 1}),
            std::nullopt);
}

TEST_F(ValuePropagation, RealsAreFractions) {
  const auto real = [&](std::string_view op, const std::vector<SymbolicInput>& inputs,
                        DataType type = DataType::kFloat) {
    SymbolicOutput output;
    output.type = type;
    const auto known = propagate_values(*OperatorRegistry::builtin().find("", op), nullptr, inputs,
                                        std::vector{output})[0];
    SymbolicInput result;
    result.present = true;
    result.type = type;
    result.values = known.values;
    result.denominator = known.denominator;
    return result;
  };
  const auto known = [](const SymbolicInput& input) { return input.values; };
  const SymbolicInput height = real("Cast", {scalar(h_)});
  EXPECT_EQ(known(height), (Values{{h_}}));
  // Halves and quarters are exact; whole ones come out as such.
  const SymbolicInput half = real("Mul", {height, real_scalar(0.5)});
  EXPECT_EQ(half.denominator, 2);
  EXPECT_EQ(known(real("Floor", {half})), (Values{{floor_div(h_, 2)}}));
  EXPECT_EQ(known(real("Ceil", {half})), (Values{{ceil_div(h_, 2)}}));
  EXPECT_EQ(known(real("Cast", {half}, DataType::kInt64)), (Values{{floor_div(h_, 2)}}));
  EXPECT_EQ(known(real("Cast", {real("Neg", {half})}, DataType::kInt64)),
            (Values{{ceil_div(-h_, 2)}}));
  const SymbolicInput sum = real("Add", {half, half});
  EXPECT_EQ(sum.denominator, 1);
  EXPECT_EQ(known(sum), (Values{{h_}}));
  EXPECT_EQ(known(real("Round", {half})), std::nullopt);
  // A third is rounded: it may be rounded down or up, and nothing else.
  const SymbolicInput third = real("Div", {height, real_scalar(3)});
  EXPECT_EQ(known(real("Floor", {third})), (Values{{floor_div(h_, 3)}}));
  EXPECT_EQ(known(real("Ceil", {third})), (Values{{ceil_div(h_, 3)}}));
  EXPECT_EQ(known(real("Mul", {third, real_scalar(3)})), std::nullopt);
  EXPECT_EQ(known(real("Add", {third, height})), std::nullopt);
  EXPECT_EQ(known(real("Div", {real("Mul", {height, real_scalar(6)}), real_scalar(3)})),
            (Values{{h_ * 2}}));
  // Beyond what a type holds exactly nothing is known.
  EXPECT_EQ(known(real("Cast", {scalar(h_ * 1000)}, DataType::kFloat16)), std::nullopt);
  EXPECT_EQ(known(real("Cast", {scalar(h_ * (1 << 24))})), std::nullopt);
  EXPECT_EQ(known(real("Div", {height, real_scalar(0)})), std::nullopt);
  EXPECT_EQ(known(real("Div", {height, real_scalar(-3)})), std::nullopt);
  // Shape functions see whole numbers only.
  EXPECT_EQ(infer<ops::Range>({real_scalar(0), height, real_scalar(1)}, RangeAttributes{})[0],
            (std::vector<Dim>{h_}));
  SymbolicShapeContext context(std::span(&half, 1), 1, {});
  EXPECT_FALSE(context.has_values(0));
  EXPECT_TRUE(context.value(0, 0).has_unknown());
}

TEST_F(ValuePropagation, SplitFollowsTheOutputs) {
  SymbolicOutput one, two;
  one.shape.push(1);
  two.shape.push(2);
  const std::vector<SymbolicInput> inputs = {list({n_, h_, t_})};
  const auto parts = propagate_values(*OperatorRegistry::builtin().find("", "Split"), nullptr,
                                      inputs, std::vector{one, two});
  EXPECT_EQ(parts[0].values, (Values{{n_}}));
  EXPECT_EQ(parts[1].values, (Values{{h_, t_}}));
}

TEST(SymbolicContext, RealValuesAreAllKnownOrNone) {
  SymbolTable table;
  SymbolicInput scales = tensor(DataType::kFloat, {2});
  scales.values = {Dim(1), table.add("N")};
  SymbolicShapeContext context(std::span(&scales, 1), 1, {});
  EXPECT_FALSE(context.has_values(0));
  (*scales.values)[1] = 2;
  EXPECT_TRUE(context.has_values(0));
  EXPECT_EQ(context.real_value(0, 1), 2.0);
}

}  // namespace
}  // namespace intarsia::definitions
