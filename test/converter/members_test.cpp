// SPDX-License-Identifier: Apache-2.0
//
// What is taken out of sequences whose elements are values of the graph: which nodes remain, what
// extents they have, and that results are those of the kernels, over random programs.
#include <numeric>

#include "converter/passes/simplify.h"
#include "test/converter/inferred_model.h"
#include "test/random/random.h"
#include "test/runtime/both_ways.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

constexpr uint64_t kPrograms = kSlowBuild ? 60 : 300;

void number(OnnxBuilder& model, const std::string& name, int64_t value) {
  model.initializer(name, DataType::kInt64, {}, &value, sizeof(value));
}

/// The operators that remain.
std::string nodes_of(const OnnxBuilder& builder) {
  InferredModel model(builder);
  converter::simplify(model.graph());
  EXPECT_EQ(model.graph().check(), "");
  std::string text;
  for (const auto& node : model.graph().nodes()) text += (text.empty() ? "" : " ") + node->type;
  return text;
}

std::string extents_of(const OnnxBuilder& builder, int output) {
  InferredModel model(builder);
  return converter::shape_text(*model.graph().outputs()[static_cast<size_t>(output)]->shape);
}

/// A program over sequences: their elements, and those of the model's input x, an element a row,
/// are followed here by hand. Positions are constants, or inputs of the model, which nothing knows
/// when it is converted.
class Program {
 public:
  Program(Random& random, bool constant) : random_(random), constant_(constant) {}

  void draw() {
    const int64_t width = random_.between(1, 6);
    model.input("x", {kRows, width});
    for (int64_t i = 0; i < kRows * width; ++i) x.push_back(static_cast<float>(i) + 0.5F);
    start(width);
    for (int64_t steps = random_.between(0, 5); steps > 0; --steps) change(width);
    read();
  }

  OnnxBuilder model;
  std::vector<float> x;
  std::vector<int64_t> positions;
  std::vector<float> expected;

 private:
  static constexpr int64_t kRows = 4;
  using Elements = std::vector<std::vector<float>>;

  std::string fresh(const char* what) { return what + std::to_string(names_++); }
  std::string position(int64_t value) {
    const std::string name = fresh("p");
    if (constant_) {
      number(model, name, value);
    } else {
      model.input(name, {}, DataType::kInt64);
      positions.push_back(value);
    }
    return name;
  }
  /// A place as models may write it, from the end, too.
  int64_t either_end(int64_t place, int64_t count) {
    return place < count && random_.chance(40) ? place - count : place;
  }
  int64_t count() const { return static_cast<int64_t>(elements_.size()); }
  std::vector<float> row(int64_t index, int64_t width) const {
    return {x.begin() + index * width, x.begin() + (index + 1) * width};
  }

  /// Elements of one axis, all of them parts of rows of x.
  void start(int64_t width) {
    sequence_ = fresh("s");
    const int64_t form = random_.below(4);
    if (form == 0) {
      model.node("SequenceEmpty", {}, {sequence_});
    } else if (form == 1) {
      for (int64_t i = 0; i < 2; ++i) elements_.push_back(row(i, width));
      model.node("SequenceConstruct", {slice(0), slice(1)}, {sequence_});
    } else if (form == 2) {  // the rows themselves
      for (int64_t i = 0; i < kRows; ++i) elements_.push_back(row(i, width));
      OnnxBuilder::set(model.node("SplitToSequence", {"x"}, {sequence_}), "keepdims", int64_t{0});
    } else {  // parts of a row, given by their sizes or by one size
      const std::vector<float> whole = row(0, width);
      std::vector<int64_t> sizes;
      const bool equal = random_.chance(50);
      const int64_t size = random_.between(1, width);
      for (int64_t left = width; left > 0; left -= sizes.back()) {
        sizes.push_back(std::min(left, equal ? size : random_.between(1, left)));
      }
      auto from = whole.begin();
      for (const int64_t part : sizes) elements_.emplace_back(from, from + part), from += part;
      const std::string given = fresh("c");
      const std::vector<int64_t> written = equal ? std::vector{size} : sizes;
      model.initializer(
          given, DataType::kInt64,
          equal ? std::vector<int64_t>{} : std::vector{static_cast<int64_t>(sizes.size())},
          written.data(), written.size() * sizeof(int64_t));
      model.node("SplitToSequence", {slice(0), given}, {sequence_});
    }
  }

  /// Row `index` of x.
  std::string slice(int64_t index) {
    const std::string at = fresh("i"), name = fresh("row");
    number(model, at, index);
    model.node("Gather", {"x", at}, {name});
    return name;
  }

  void change(int64_t width) {
    const std::string next = fresh("s");
    if (count() > 0 && random_.chance(40)) {
      const bool last = random_.chance(30);
      const int64_t place = last ? count() - 1 : random_.below(count());
      std::vector<std::string> inputs{sequence_};
      if (!last) inputs.push_back(position(either_end(place, count())));
      model.node("SequenceErase", inputs, {next});
      elements_.erase(elements_.begin() + place);
    } else {
      const bool last = random_.chance(30);
      const int64_t place = last ? count() : random_.below(count() + 1),
                    index = random_.below(kRows);
      std::vector<std::string> inputs{sequence_, slice(index)};
      if (!last) inputs.push_back(position(either_end(place, count())));
      model.node("SequenceInsert", inputs, {next});
      elements_.insert(elements_.begin() + place, row(index, width));
    }
    sequence_ = next;
  }

  void read() {
    if (elements_.empty() || random_.chance(50)) {
      // There is something to join.
      if (elements_.empty()) change(static_cast<int64_t>(x.size()) / kRows);
      auto& join = model.node("ConcatFromSequence", {sequence_}, {"y"});
      OnnxBuilder::set(join, "axis", either_end(0, 1));
      for (const auto& element : elements_) {
        expected.insert(expected.end(), element.begin(), element.end());
      }
    } else {
      const int64_t place = random_.below(count());
      model.node("SequenceAt", {sequence_, position(either_end(place, count()))}, {"y"});
      expected = elements_[static_cast<size_t>(place)];
    }
    model.output("y");
  }

  Random& random_;
  bool constant_;
  std::string sequence_;
  Elements elements_;
  int names_ = 0;
};

TEST(Members, AgreeWithKernels) {
  uint64_t rewritten = 0;
  for (uint64_t seed = 1; seed <= kPrograms; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const bool constant : {true, false}) {
      Random random(seed);
      Program program(random, constant);
      program.draw();
      SCOPED_TRACE(program.model.model.graph().DebugString());
      both(program.model, {}, [&](SmallPlan& plan, Session& session) {
        write(session, 0, program.x);
        for (size_t i = 0; i < program.positions.size(); ++i) {
          session.input<int64_t>(static_cast<int>(i) + 1).value()[0] = program.positions[i];
        }
        ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
        EXPECT_EQ(read(session, 0), program.expected);
      });
      if (HasFailure()) return;
      if (!constant) continue;
      EXPECT_EQ(nodes_of(program.model).find("equence"), std::string::npos);
      ++rewritten;
    }
  }
  EXPECT_EQ(rewritten, kPrograms);
}

/// A tensor cut in parts of 1 and 4, of which the second is taken out.
OnnxBuilder second_part() {
  OnnxBuilder model;
  symbol(model.input("x", {5, 2}), 1, "n");
  const int64_t sizes[] = {1, 4};
  model.initializer("sizes", DataType::kInt64, {2}, sizes, sizeof(sizes));
  number(model, "last", -1);
  model.node("SplitToSequence", {"x", "sizes"}, {"parts"});
  model.node("SequenceAt", {"parts", "last"}, {"y"});
  model.output("y");
  return model;
}

TEST(Members, HaveExtentsOfTheirOwn) {
  EXPECT_EQ(extents_of(second_part(), 0), "[4,n]");
  EXPECT_EQ(nodes_of(second_part()), "Split");
}

TEST(Members, AreCutOnce) {
  OnnxBuilder model = second_part();
  number(model, "first", 0);
  model.node("SequenceAt", {"parts", "first"}, {"z"});
  OnnxBuilder::set(model.node("ConcatFromSequence", {"parts"}, {"whole"}), "axis", int64_t{0});
  for (const char* name : {"z", "whole"}) model.output(name);
  EXPECT_EQ(nodes_of(model), "Split Concat");
}

TEST(Members, LeaveASequenceThatIsReadAsAWhole) {
  OnnxBuilder model = second_part();
  model.output("parts");
  EXPECT_EQ(nodes_of(model), "Split SequenceConstruct");
}

TEST(Members, AreStackedAlongANewAxis) {
  OnnxBuilder model;
  symbol(model.input("x", {2, 3}), 0, "n");
  model.node("Neg", {"x"}, {"z"});
  model.node("SequenceConstruct", {"x", "z"}, {"s"});
  auto& stack = model.node("ConcatFromSequence", {"s"}, {"y"});
  OnnxBuilder::set(stack, "axis", int64_t{-1});
  OnnxBuilder::set(stack, "new_axis", int64_t{1});
  model.output("y");
  EXPECT_EQ(nodes_of(model), "Neg Unsqueeze Unsqueeze Concat");
  EXPECT_EQ(extents_of(model, 0), "[n,3,2]");
}

TEST(Members, AreTakenFromInsideOfLoops) {
  OnnxBuilder model;
  model.input("x", {2, 3});
  number(model, "trips", 4);
  number(model, "one", 1);
  model.node("Neg", {"x"}, {"z"});
  model.node("SequenceConstruct", {"x", "z"}, {"s"});
  auto& loop = model.node("Loop", {"trips", "", "x"}, {"y"});
  auto& body = *OnnxBuilder::attribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g();
  for (const char* name : {"trip", "go", "before"}) body.add_input()->set_name(name);
  OnnxBuilder::add_node(*body.mutable_node(), "SequenceAt", {"s", "one"}, {"element"});
  OnnxBuilder::add_node(*body.mutable_node(), "Add", {"before", "element"}, {"after"});
  OnnxBuilder::add_node(*body.mutable_node(), "Identity", {"go"}, {"goes"});
  for (const char* name : {"goes", "after"}) body.add_output()->set_name(name);
  model.output("y");
  EXPECT_EQ(nodes_of(model), "Neg Loop");
  both(model, {}, [](SmallPlan& plan, Session& session) {
    write(session, 0, {1, 2, 3, 4, 5, 6});
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    EXPECT_EQ(read(session, 0), (std::vector<float>{-3, -6, -9, -12, -15, -18}));
  });
}

/// Extents are not followed through so many.
TEST(Members, OfLongSequencesStayInThem) {
  for (const int64_t count : {256, 257, 3000}) {
    OnnxBuilder model;
    model.input("x", {count, 2});
    model.node("SplitToSequence", {"x"}, {"parts"});
    model.node("SequenceErase", {"parts"}, {"rest"});
    OnnxBuilder::set(model.node("ConcatFromSequence", {"rest"}, {"y"}), "axis", int64_t{0});
    model.output("y");
    EXPECT_EQ(nodes_of(model),
              count > 256 ? "SplitToSequence SequenceErase ConcatFromSequence" : "Split Concat");
    both(model, {}, [&](SmallPlan& plan, Session& session) {
      const auto x = session.input<float>(0).value();
      std::iota(x.begin(), x.end(), 0.F);
      const std::vector<float> expected(x.begin(), x.end() - 2);
      ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
      EXPECT_EQ(read(session, 0), expected);
    });
  }
}

/// Sequences hold types that Split does not.
TEST(Members, OfSmallFloatsStayInTheSequence) {
  for (const DataType type : {DataType::kFloat8E8M0, DataType::kFloat}) {
    OnnxBuilder model;
    model.input("x", {4, 2}, type);
    model.node("SplitToSequence", {"x"}, {"parts"});
    number(model, "at", 1);
    model.node("SequenceAt", {"parts", "at"}, {"y"});
    model.output("y");
    EXPECT_EQ(nodes_of(model), type == DataType::kFloat ? "Split" : "SplitToSequence SequenceAt");
  }
}

/// Each has an extent of its own, which depends on values: their sum is too long.
TEST(Members, OfOpenExtentsAreJoinedByTheKernel) {
  OnnxBuilder model;
  model.input("x", {3});
  model.input("keep", {3}, DataType::kBool);
  std::vector<std::string> elements;
  for (int i = 0; i < 30; ++i) {
    elements.push_back("e" + std::to_string(i));
    model.node("Compress", {i == 0 ? "x" : elements[elements.size() - 2], "keep"},
               {elements.back()});
  }
  model.node("SequenceConstruct", elements, {"s"});
  OnnxBuilder::set(model.node("ConcatFromSequence", {"s"}, {"y"}), "axis", int64_t{0});
  model.output("y");
  EXPECT_NE(nodes_of(model).find("ConcatFromSequence"), std::string::npos);
  both(model, {}, [](SmallPlan& plan, Session& session) {
    write(session, 0, {1, 2, 3});
    const auto keep = session.input<bool>(1).value();
    std::fill(keep.begin(), keep.end(), true);
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    EXPECT_EQ(read(session, 0).size(), 90U);
  });
}

/// What no element has is found when the model runs.
TEST(Members, APlaceBehindTheEndIsLeftToTheKernel) {
  OnnxBuilder model;
  model.input("x", {2});
  number(model, "two", 2);
  model.node("SequenceConstruct", {"x", "x"}, {"s"});
  model.node("SequenceAt", {"s", "two"}, {"y"});
  model.output("y");
  EXPECT_EQ(nodes_of(model), "SequenceConstruct SequenceAt");
  both(model, {},
       [](SmallPlan&, Session& session) { EXPECT_EQ(session.run(), Code::kIndexOutOfRange); });
}

TEST(Members, OfAnOptionalValueAreWhereTheyWere) {
  OnnxBuilder model(21);
  model.input("x", {2, 3});
  number(model, "zero", 0);
  model.node("Neg", {"x"}, {"n"});
  model.node("SequenceConstruct", {"n", "x"}, {"s"});
  model.node("Optional", {"s"}, {"o"});
  model.node("OptionalGetElement", {"o"}, {"t"});
  model.node("SequenceAt", {"t", "zero"}, {"e"});
  model.node("OptionalGetElement", {"e"}, {"f"});
  model.node("Abs", {"f"}, {"y"});
  model.output("y");
  EXPECT_EQ(nodes_of(model), "Neg Abs");
  both(model, {}, [](SmallPlan& plan, Session& session) {
    write(session, 0, {1, -2, 3, -4, 5, -6});
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    EXPECT_EQ(read(session, 0), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  });
}

}  // namespace
}  // namespace intarsia::test
