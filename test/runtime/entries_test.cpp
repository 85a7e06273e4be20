// SPDX-License-Identifier: Apache-2.0
//
// Plans with several entry points: what they share (weights, memory, states), what they keep from
// one another (ports, symbols, extents), and plans whose entry points lie.
#include <set>

#include "test/runtime/forged_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::ConvertOptions;
using converter::DimRange;
using converter::OnnxBuilder;

/// y, a number, of x w in nodes of their own, with temporaries of n elements and an input of n
/// / 16.
OnnxBuilder wide(int64_t n, std::vector<float> w) {
  OnnxBuilder model;
  model.input("x", {n / 16, 1});
  model.output("y");
  model.floats("w", {1, 16}, std::move(w));
  model.node("MatMul", {"x", "w"}, {"a"});
  model.node("Exp", {"a"}, {"b"});
  model.node("Sin", {"a"}, {"c"});
  model.node("Mul", {"b", "c"}, {"d"});
  OnnxBuilder::set(model.node("ReduceMax", {"d"}, {"y"}), "keepdims", int64_t{0});
  return model;
}
std::vector<float> ramp(size_t n, float step) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = step * static_cast<float>(i + 1);
  return values;
}
/// y = -x and y = 2 x, of any extents.
OnnxBuilder negative(std::vector<int64_t> extents) {
  OnnxBuilder model;
  model.input("x", std::move(extents));
  model.output("y");
  model.node("Neg", {"x"}, {"y"});
  return model;
}
OnnxBuilder twice(std::vector<int64_t> extents) {
  OnnxBuilder model;
  model.input("x", std::move(extents));
  model.output("y");
  model.node("Add", {"x", "x"}, {"y"});
  return model;
}

uint64_t tensor_bytes(const SmallPlan& plan) {
  return plan.conversion.plan.summary.arena_bytes - plan.conversion.plan.summary.metadata_bytes;
}

TEST(Entries, EachHasItsNameAndPorts) {
  SmallPlan plan({{"minus", negative({2})}, {"double", twice({3})}});
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  EXPECT_EQ(session->entry_count(), 2);
  EXPECT_EQ(session->find_entry("minus").value(), 0);
  EXPECT_EQ(session->find_entry("double").value(), 1);
  EXPECT_EQ(session->find_entry("main").status().code(), Code::kUnknownName);
  write(*session, 0, {1, 2}, 0);
  write(*session, 0, {4, 5, 6}, 1);
  ASSERT_TRUE(session->run(1).ok());
  ASSERT_TRUE(session->run(0).ok());
  EXPECT_EQ(read(*session, 0, 0), (std::vector<float>{-1, -2}));
  EXPECT_EQ(read(*session, 0, 1), (std::vector<float>{8, 10, 12}));
  EXPECT_FALSE(session->run(2).ok());
  EXPECT_EQ(plan.text(session->diagnostic()).find("entry point (at most): expected 1, found 2"), 0U)
      << plan.text(session->diagnostic());
  ASSERT_EQ(plan.conversion.entries.size(), 2U);
  EXPECT_EQ(plan.conversion.entries[1].name, "double");
  EXPECT_EQ(plan.conversion.entries[1].inputs.at(0).extents, (std::vector<int64_t>{3}));
}

TEST(Entries, OneModelIsTheEntryPointMain) {
  SmallPlan plan(mlp()), named(Entries{{"main", mlp()}});
  EXPECT_EQ(plan.open()->find_entry("main").value(), 0);
  EXPECT_EQ(plan.conversion.plan.bytes, named.conversion.plan.bytes);
}

TEST(Entries, EqualWeightsAreStoredOnce) {
  const auto bytes = [](float last) {
    std::vector<float> other = ramp(16, 1);
    other.back() = last;
    return SmallPlan({{"a", wide(64, ramp(16, 1))}, {"b", wide(96, other)}})
        .conversion.plan.summary.weights_bytes;
  };
  EXPECT_EQ(bytes(16), SmallPlan(wide(64, ramp(16, 1))).conversion.plan.summary.weights_bytes);
  EXPECT_EQ(bytes(17), 2 * bytes(16));
}

TEST(Entries, TemporariesShareMemory) {
  const OnnxBuilder first = wide(4096, ramp(16, 0.1f)), second = wide(8192, ramp(16, 0.2f));
  const Entries entries{{"a", first}, {"b", second}};
  SmallPlan a(first), b(second), both(entries);
  // The ports of one entry point are all that comes on top of the larger one.
  const uint64_t ports = 4 * (4096 / 16) + 4;
  EXPECT_LE(tensor_bytes(both), tensor_bytes(b) + ports + 64);
  EXPECT_LT(tensor_bytes(both), tensor_bytes(a) + tensor_bytes(b));
  // Without the planner there is no sharing, within entry points and between them.
  const std::vector<converter::Pass> apart = converter::passes_without({"memory"});
  ConvertOptions options;
  options.passes = apart;
  EXPECT_GE(
      tensor_bytes(SmallPlan(entries, options)),
      tensor_bytes(SmallPlan(first, options)) + tensor_bytes(SmallPlan(second, options)) - 64);
}

/// Places of the tensors that lie in the arena and in no slot.
std::set<uint32_t> temporaries_of(ForgedPlan& plan, uint32_t entry) {
  std::set<uint32_t> places;
  const plan::Graph& graph = *plan.root().graphs()->Get(plan.entry(entry)->graph());
  for (uint32_t i = graph.first(); i < graph.first() + graph.count(); ++i) {
    for (uint32_t j = 0; j < uint32_t{plan.node(i)->inputs()} + plan.node(i)->outputs(); ++j) {
      const plan::Tensor* tensor = plan.operand_tensor(i, j);
      if (static_cast<Memory>(tensor->memory()) == Memory::kArena) places.insert(tensor->place());
    }
  }
  return places;
}

/// What a caller has written to one entry point, and what another has left, outlives runs.
TEST(Entries, PortsOutliveRunsOfOtherEntryPoints) {
  ForgedPlan plan({{"a", wide(1024, ramp(16, 0.1f))}, {"b", wide(1024, ramp(16, 0.2f))}});
  const std::vector<float> x = ramp(64, 0.01f), z = ramp(64, -0.02f);
  const auto kept = [&](Session& session) {
    write(session, 0, x, 0);
    write(session, 0, z, 1);
    EXPECT_TRUE(session.run(0).ok());
    const std::vector<float> y = read(session, 0, 0);
    const auto given = session.input<float>(0, 1).value();
    const bool input = std::equal(z.begin(), z.end(), given.begin());
    EXPECT_TRUE(session.run(1).ok());
    const bool apart = read(session, 0, 0) != read(session, 0, 1);
    return input && apart && read(session, 0, 0) == y;
  };
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  EXPECT_TRUE(kept(*session));
  session->close();
  // Were an output of one entry point where the other has its temporaries, it would be lost.
  const std::set<uint32_t> others = temporaries_of(plan, 1);
  ASSERT_FALSE(others.empty());
  const uint32_t slot = plan.entry(0)->outputs()->Get(0)->slot();
  const Forgery forgery(plan.root().slots()->Get(slot), field::kSlotPlace, *others.begin());
  auto forged = plan.open(ForgedPlan::unchecked());
  ASSERT_TRUE(forged.ok()) << plan.text(plan.diagnostic);
  EXPECT_FALSE(kept(*forged));
}

/// encode: memory = -x; step: y = memory + count, count += 1.
OnnxBuilder encoder() {
  OnnxBuilder model;
  model.input("x", {3});
  model.output("memory");
  model.output("seen");
  model.node("Neg", {"x"}, {"memory"});
  model.node("Abs", {"x"}, {"seen"});
  return model;
}
OnnxBuilder stepper() {
  OnnxBuilder model;
  model.input("memory", {3});
  model.input("count", {3});
  model.output("y");
  model.output("next");
  model.floats("one", {3}, {1, 1, 1});
  model.node("Add", {"memory", "count"}, {"y"});
  model.node("Add", {"count", "one"}, {"next"});
  return model;
}

TEST(Entries, AStateIsWrittenByOneAndReadByAnother) {
  ConvertOptions options;
  options.states["memory"] = "memory";
  options.states["step:next"] = "step:count";
  SmallPlan plan({{"encode", encoder()}, {"step", stepper()}}, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  EXPECT_EQ(session->state_count(), 2);
  EXPECT_EQ(session->input_count(1), 0);
  EXPECT_EQ(session->output_count(0), 1);
  const auto y = [&] {
    EXPECT_TRUE(session->run(1).ok()) << plan.text(session->diagnostic());
    return read(*session, 0, 1);
  };
  EXPECT_EQ(y(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(y(), (std::vector<float>{1, 1, 1}));
  write(*session, 0, {10, 20, 30}, 0);
  ASSERT_TRUE(session->run(0).ok());
  // The encoder's run counts nothing, and the step's does not touch what was encoded.
  EXPECT_EQ(y(), (std::vector<float>{-8, -18, -28}));
  EXPECT_EQ(y(), (std::vector<float>{-7, -17, -27}));
  ASSERT_TRUE(session->reset_states().ok());
  EXPECT_EQ(y(), (std::vector<float>{0, 0, 0}));
}

/// sum += x, and sum -= x, in entry points of their own.
OnnxBuilder counter(const char* type) {
  OnnxBuilder model;
  model.input("x", {2});
  model.input("sum", {2});
  model.output("sum_out");
  model.output("y");
  model.node(type, {"sum", "x"}, {"sum_out"});
  model.node("Neg", {"sum"}, {"y"});
  return model;
}

TEST(Entries, InputsOfOneNameAreOneState) {
  ConvertOptions options;
  options.states["sum_out"] = "sum";
  SmallPlan plan({{"add", counter("Add")}, {"take", counter("Sub")}}, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_EQ(session->state_count(), 1);
  EXPECT_EQ(session->state(0).value().name, "sum");
  write(*session, 0, {5, 7}, 0);
  write(*session, 0, {1, 2}, 1);
  ASSERT_TRUE(session->run(0).ok());
  ASSERT_TRUE(session->run(1).ok());
  EXPECT_EQ(read(*session, 0, 1), (std::vector<float>{-5, -7}));
  const auto* sum = session->state(0).value().tensor.as<const float>();
  EXPECT_EQ((std::vector<float>{sum[0], sum[1]}), (std::vector<float>{4, 5}));
  // Each name alone: two entry points that have nothing to do with one another.
  options.states.clear();
  options.states["add:sum_out"] = "add:sum";
  SmallPlan one({{"add", counter("Add")}, {"take", counter("Sub")}}, options);
  auto apart = one.open();
  ASSERT_TRUE(apart.ok()) << one.text(one.diagnostic);
  EXPECT_EQ(apart->input_count(0), 1);
  EXPECT_EQ(apart->input_count(1), 2);
}

/// The same where the model gives what the sum begins with.
OnnxBuilder counter_from(const char* type, std::vector<float> sum) {
  OnnxBuilder model = counter(type);
  model.graph().mutable_input()->RemoveLast();
  model.floats("sum", {2}, std::move(sum));
  return model;
}
std::vector<float> state_of(const Session& session) {
  const TensorView state = session.state(0).value().tensor;
  return {state.as<const float>(), state.as<const float>() + state.count()};
}

TEST(Entries, AnInitialiserIsWhatAStateBeginsWith) {
  ConvertOptions options;
  options.states["sum_out"] = "sum";
  const OnnxBuilder model = counter_from("Add", {100, 200});
  // Older files list initialisers among the inputs, too.
  OnnxBuilder listed = counter("Add");
  listed.floats("sum", {2}, {100, 200});
  for (const OnnxBuilder& each : {model, listed}) {
    for (const bool passes : {true, false}) {
      if (!passes) options.passes = {};
      SmallPlan plan(each, options);
      auto session = plan.open();
      ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
      ASSERT_EQ(session->state_count(), 1);
      EXPECT_EQ(session->input_count(0), 1);
      EXPECT_EQ(state_of(*session), (std::vector<float>{100, 200}));
      for (int round = 0; round < 2; ++round) {
        for (const float sum : {0.f, 5.f}) {
          write(*session, 0, {5, 7});
          ASSERT_TRUE(session->run().ok());
          EXPECT_EQ(read(*session, 0)[0], -100 - sum) << "the value before the run";
        }
        EXPECT_EQ(state_of(*session), (std::vector<float>{110, 214}));
        ASSERT_TRUE(session->reset_states().ok());
        EXPECT_EQ(state_of(*session), (std::vector<float>{100, 200}));
      }
    }
  }
  // Without --state it is a constant.
  SmallPlan constant(model);
  EXPECT_EQ(constant.open()->state_count(), 0);
}

TEST(Entries, EntryPointsShareWhatAStateBeginsWith) {
  ConvertOptions options;
  options.states["sum_out"] = "sum";
  // One has the values, the other takes what it is given.
  SmallPlan plan({{"add", counter("Add")}, {"take", counter_from("Sub", {8, 9})}}, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_EQ(session->state_count(), 1);
  write(*session, 0, {1, 1}, 0);
  ASSERT_TRUE(session->run(0).ok());
  EXPECT_EQ(read(*session, 0, 0), (std::vector<float>{-8, -9}));
  EXPECT_EQ(state_of(*session), (std::vector<float>{9, 10}));
  EXPECT_CONTAINS(
      conversion_error(
          {{"add", counter_from("Add", {8, 8})}, {"take", counter_from("Sub", {8, 9})}}, options),
      "'sum' begins with other values in another entry point");
}

TEST(Entries, AForgedInitialValueIsRefused) {
  ConvertOptions options;
  options.states["sum_out"] = "sum";
  ForgedPlan plan(counter_from("Add", {100, 200}), options);
  const auto* slots = plan.root().slots();
  uint32_t state = 0;
  while (slots->Get(state)->initial() == kNone) ++state;
  EXPECT_CONTAINS(with(plan, slots->Get(state), field::kSlotInitial, uint32_t{1} << 20),
                  "place in the weights");
}

TEST(Entries, AReaderSeesTheExtentsThatTheWriterHad) {
  OnnxBuilder put = negative({0}), get = negative({0});
  symbol(*put.graph().mutable_input(0), 0, "n");
  symbol(*get.graph().mutable_input(0), 0, "m");
  get.graph().mutable_input(0)->set_name("kept");
  get.graph().mutable_node(0)->set_input(0, "kept");
  ConvertOptions options;
  options.states["put:y"] = "get:kept";
  options.dims["n"] = options.dims["m"] = DimRange{1, 8};
  SmallPlan plan({{"put", put}, {"get", get}}, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_TRUE(session->run(1).ok());
  EXPECT_EQ(read(*session, 0, 1), std::vector<float>(8, 0));
  const int32_t extents[] = {3};
  ASSERT_TRUE(session->resize_input(0, extents, 0).ok());
  write(*session, 0, {1, 2, 3}, 0);
  ASSERT_TRUE(session->run(0).ok());
  ASSERT_TRUE(session->run(1).ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(read(*session, 0, 1), (std::vector<float>{1, 2, 3}));
}

TEST(Entries, AStateVariesForAllOrForNone) {
  OnnxBuilder first = counter("Add"), second = counter("Sub");
  for (int input : {0, 1}) symbol(*second.graph().mutable_input(input), 0, "n");
  ConvertOptions options;
  options.states["sum_out"] = "sum";
  options.dims["n"] = DimRange{1, 2};
  EXPECT_CONTAINS(conversion_error(Entries{{"a", first}, {"b", second}}, options),
                  "extents of 'sum' vary in one entry point and not in another");
  options.dims["n"] = DimRange{2, 2};
  EXPECT_EQ(conversion_error(Entries{{"a", first}, {"b", second}}, options), "");
}

TEST(Entries, SymbolsAndExtentsAreOfOneEntryPoint) {
  const auto model = [](const char* type) {
    OnnxBuilder made;
    symbol(made.input("x", {0}), 0, "n");
    symbol(made.input("z", {0}), 0, "n");
    made.output("y");
    made.node(type, {"x", "z"}, {"y"});
    return made;
  };
  ConvertOptions options;
  options.dims["n"] = DimRange{1, 8};
  options.dims["b:n"] = DimRange{2, 3};
  SmallPlan plan({{"a", model("Add")}, {"b", model("Mul")}}, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const auto resize = [&](int entry, int32_t n) {
    const int32_t extents[] = {n};
    return session->resize_input(0, extents, entry).ok() &&
           session->resize_input(1, extents, entry).ok();
  };
  EXPECT_FALSE(resize(1, 4));
  EXPECT_FALSE(resize(1, 1));
  ASSERT_TRUE(resize(0, 5) && resize(1, 2));
  for (int input : {0, 1}) {
    write(*session, input, {1, 2, 3, 4, 5}, 0);
    write(*session, input, {6, 7}, 1);
  }
  ASSERT_TRUE(session->run(0).ok()) << plan.text(session->diagnostic());
  ASSERT_TRUE(session->run(1).ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(read(*session, 0, 0), (std::vector<float>{2, 4, 6, 8, 10}));
  EXPECT_EQ(read(*session, 0, 1), (std::vector<float>{36, 49}));
  // Inputs of one entry point need not agree for another to run.
  const int32_t other[] = {3};
  ASSERT_TRUE(session->resize_input(0, other, 1).ok());
  EXPECT_TRUE(session->run(0).ok());
  EXPECT_FALSE(session->run(1).ok());
}

TEST(Entries, OptionsAreOfOneOrOfAllThatHaveTheName) {
  OnnxBuilder named = negative({4});
  symbol(*named.graph().mutable_input(0), 0, "n");
  const Entries entries{{"a", named}, {"b", named}, {"c", negative({4})}};
  ConvertOptions options;
  options.dims["n"] = DimRange{1, 6};
  options.dims["b:n"] = DimRange{3, 3};
  options.shapes["c:x"] = {4};
  SmallPlan plan(entries, options);
  const auto extent = [&](size_t entry) {
    return plan.conversion.entries[entry].inputs[0].extents;
  };
  EXPECT_EQ(extent(0), (std::vector<int64_t>{6}));
  EXPECT_EQ(extent(1), (std::vector<int64_t>{3}));
  EXPECT_EQ(extent(2), (std::vector<int64_t>{4}));
  // A name is a name, whatever the number of entry points; but nobody has named a model "main".
  ConvertOptions one;
  one.dims["a:n"] = DimRange{1, 7};
  const SmallPlan alone(Entries{{"a", named}}, one);
  EXPECT_EQ(alone.conversion.entries[0].inputs[0].extents, (std::vector<int64_t>{7}));
  one.dims = {{"main:n", DimRange{1, 7}}};
  EXPECT_CONTAINS(conversion_error(named, one), "no symbolic dimension 'main:n'");
  options.dims["m"] = DimRange{1, 6};
  EXPECT_CONTAINS(conversion_error(entries, options),
                  "--dim m: no entry point has it; the entry points are a, b, c");
}

TEST(Entries, ErrorsNameTheEntryPoint) {
  OnnxBuilder open = negative({4});
  symbol(*open.graph().mutable_input(0), 0, "n");
  EXPECT_CONTAINS(conversion_error(Entries{{"a", negative({4})}, {"b", open}}),
                  "entry point 'b': 'x': axis 0 is the symbolic dimension 'n'");
  OnnxBuilder unknown = negative({4});
  unknown.graph().mutable_node(0)->set_op_type("Nag");
  EXPECT_CONTAINS(conversion_error(Entries{{"a", unknown}, {"b", negative({4})}}),
                  "entry point 'a': node 'Neg1' (Nag): the operator Nag(21) is not supported");
  EXPECT_CONTAINS(conversion_error(Entries{{"a", negative({4})}, {"a", negative({4})}}),
                  "two entry points are called 'a'");
  EXPECT_CONTAINS(conversion_error(Entries{{"a:b", negative({4})}, {"c", negative({4})}}),
                  "'a:b' names no entry point");
  ConvertOptions options;
  options.states["a:y"] = "b:z";
  EXPECT_CONTAINS(conversion_error(Entries{{"a", negative({4})}, {"b", negative({4})}}, options),
                  "--state a:y=b:z: entry point 'b' has no input 'z'; its inputs are b:x");
  options.states.clear();
  options.states["y"] = "x";
  EXPECT_CONTAINS(
      conversion_error(Entries{{"a", negative({4})}, {"b", negative({5})}}, options),
      "the state of that name in another entry point is float [5], the input float [4]");
  // At run time, too.
  SmallPlan plan({{"a", negative({4})}, {"b", negative({4})}});
  auto session = plan.open_in(plan.arena());
  ASSERT_TRUE(session.ok());
  Diagnostic diagnostic;
  diagnostic.code = Code::kWrongExtent;
  diagnostic.node = 1;
  EXPECT_CONTAINS(plan.text(diagnostic), "b:Neg1");
}

TEST(Entries, OutputsOfOneModelCannotBecomeOneState) {
  ConvertOptions options;
  options.states["memory"] = "x";
  options.states["seen"] = "x";
  EXPECT_CONTAINS(conversion_error(encoder(), options),
                  "--state seen=x: another output of the model becomes 'x' already");
}

TEST(Entries, HostilePlansAreRefused) {
  ConvertOptions options;
  options.states["sum_out"] = "sum";
  ForgedPlan plan({{"add", counter("Add")}, {"take", counter("Sub")}}, options);
  EXPECT_EQ(plan.refusal(), "");
  const plan::Entry* second = plan.entry(1);
  const auto slots = plan.root().slots()->size();
  const auto expect = [](uint64_t expected, uint64_t found) {
    return ": expected " + std::to_string(expected) + ", found " + std::to_string(found);
  };
  using E = plan::Entry;
  using P = plan::Port;
  EXPECT_CONTAINS(with_field(plan, second, E::VT_GRAPH, uint32_t{7}),
                  "entry's graph" + expect(2, 7));
  const plan::Port* input = second->inputs()->Get(0);
  const plan::Port* output = second->outputs()->Get(0);
  EXPECT_CONTAINS(with_field(plan, input, P::VT_SLOT, slots + 1),
                  "port\'s slot" + expect(slots, slots + 1));
  EXPECT_CONTAINS(with_field(plan, output, P::VT_SLOT, slots + 1),
                  "port\'s slot" + expect(slots, slots + 1));
  // A state is no input, an input no output, whichever entry point has it.
  const uint32_t state = plan.root().state_ports()->Get(0)->slot();
  EXPECT_CONTAINS(with_field(plan, input, P::VT_SLOT, state),
                  "flags of the port's slot" + expect(1, 3));
  EXPECT_CONTAINS(with_field(plan, output, P::VT_SLOT, input->slot()),
                  "flags of the port's slot" + expect(0, 1));
  // Each entry point has its updates: were both the first one's, they would be of one slot.
  ASSERT_EQ(plan.root().states()->size(), 3U);
  const plan::StateUpdate* end = plan.root().states()->Get(1);
  EXPECT_EQ(end->slot(), kNone);
  EXPECT_CONTAINS(with(plan, end, field::kStateSlot, state),
                  "state's slot (at least)" + expect(state + 1, state));
  const plan::StateUpdate* update = plan.root().states()->Get(2);
  EXPECT_CONTAINS(with(plan, update, field::kStateSlot, output->slot()),
                  "flags of the state's slot" + expect(3, 0));
  EXPECT_CONTAINS(with(plan, update, field::kStateSlot, slots + 1),
                  "state\'s slot" + expect(slots, slots + 1));
  const uint32_t tensors = plan.root().tensors()->size();
  EXPECT_CONTAINS(with(plan, update, field::kStateSource, tensors + 1),
                  "state\'s source" + expect(tensors, tensors + 1));
}

/// More ends than entry points are updates of none.
TEST(Entries, UpdatesOfNoEntryPointNeverHappen) {
  ConvertOptions options;
  options.states["sum_out"] = "sum";
  const Entries entries{{"a", counter("Add")}, {"b", counter("Sub")}, {"c", counter("Mul")}};
  ForgedPlan plan(entries, options);
  ASSERT_EQ(plan.root().states()->size(), 5U);
  const Forgery forgery(plan.root().states()->Get(2), field::kStateSlot, kNone);
  auto session = plan.open(ForgedPlan::unchecked());
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const auto* sum = session->state(0).value().tensor.as<const float>();
  for (const int entry : {2, 1, 0}) {
    write(*session, 0, {2, 3}, entry);
    EXPECT_EQ(sum[0], 0);
    ASSERT_TRUE(session->run(entry).ok());
  }
  EXPECT_EQ(sum[0], 2);
}

}  // namespace
}  // namespace intarsia::test
