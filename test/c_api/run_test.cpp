// SPDX-License-Identifier: Apache-2.0
//
// The C API where all goes well: ports, tensors over memory of the caller's, bound buffers, extents
// that vary, states, strings, entry points, signatures.
#include <utility>

#include "test/c_api/c_plan.h"
#include "test/operators/own_library.h"
#include "test/runtime/sequence_ports.h"

namespace intarsia::test {
namespace {

using converter::ConvertOptions;
using converter::DimRange;
using converter::OnnxBuilder;

/// y = 2 x with x [n, 2].
OnnxBuilder varying() {
  OnnxBuilder model;
  symbol(model.input("x", {-1, 2}), 0, "n");
  model.output("y");
  model.node("Add", {"x", "x"}, {"y"});
  return model;
}
ConvertOptions up_to(int most) {
  ConvertOptions options;
  options.dims["n"] = DimRange{1, most};
  return options;
}

TEST(CApi, VersionAndNames) {
  EXPECT_EQ(intarsia_c_version(), INTARSIA_C_VERSION);
  EXPECT_STREQ(intarsia_code_name(INTARSIA_WRONG_EXTENT), "kWrongExtent");
  EXPECT_STREQ(intarsia_type_name(INTARSIA_FLOAT16), "float16");
  for (const int32_t none : {-1, 255, 256, 1 << 30}) {
    EXPECT_NE(intarsia_code_name(none), nullptr);
    EXPECT_STREQ(intarsia_type_name(none), "undefined");
  }
}

TEST(CApi, RunsInTheArenaThatPlanInfoAsksFor) {
  CPlan plan(mlp());
  const float x[] = {1, 2, 3};
  std::copy_n(x, 3, plan.input(0));
  ASSERT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK);
  const float* y = plan.output(0);
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{1.5f, 1.5f, 3, 0}));
  EXPECT_EQ(intarsia_last_error(plan.session, nullptr), INTARSIA_OK);
}

TEST(CApi, PlanInfoIsThatOfTheLibrary) {
  CPlan plan(mlp());
  const PlanInfo expected = plan_info(plan.plan()).value();
  intarsia_plan_info info = sized<intarsia_plan_info>();
  ASSERT_EQ(intarsia_read_plan_info(plan.plan().data(), plan.plan().size(), &info, nullptr), 0);
  EXPECT_EQ(info.arena_bytes, expected.arena_bytes + INTARSIA_SESSION_BYTES);
  EXPECT_EQ(info.plan_bytes, expected.plan_bytes);
  EXPECT_EQ(info.weights_bytes, expected.weights_bytes);
  EXPECT_EQ(info.node_count, expected.node_count);
  EXPECT_EQ(info.threads, expected.threads);
}

TEST(CApi, PortsAreDescribed) {
  CPlan plan(varying(), up_to(4));
  intarsia_port port = sized<intarsia_port>();
  ASSERT_EQ(intarsia_get_port(plan.session, 0, INTARSIA_INPUT, 0, &port), INTARSIA_OK);
  EXPECT_STREQ(port.name, "x");
  EXPECT_EQ(port.type, INTARSIA_FLOAT);
  ASSERT_EQ(port.rank, 2);
  EXPECT_EQ(port.maximum[0], 4);
  EXPECT_EQ(port.maximum_bytes, 32u);
  const int32_t extents[] = {3, 2};
  ASSERT_EQ(intarsia_resize_input(plan.session, 0, 0, extents, 2), INTARSIA_OK);
  EXPECT_EQ(port.extents[0], 3) << "the pointer shows the present extents";
  ASSERT_EQ(intarsia_get_port(plan.session, 0, INTARSIA_INPUT, 0, &port), INTARSIA_OK);
  EXPECT_EQ(port.count, 6);
  EXPECT_EQ(port.bytes, 24u);
  intarsia_axis axis = sized<intarsia_axis>();
  ASSERT_EQ(intarsia_get_axis(plan.session, 0, INTARSIA_INPUT, 0, 0, &axis), INTARSIA_OK);
  EXPECT_STREQ(axis.symbol, "n");
  EXPECT_EQ(axis.minimum, 1);
  EXPECT_EQ(axis.maximum, 4);
  EXPECT_EQ(axis.extent, 3);
  EXPECT_EQ(axis.varies, 1);
  ASSERT_EQ(intarsia_get_axis(plan.session, 0, INTARSIA_INPUT, 0, 1, &axis), INTARSIA_OK);
  EXPECT_EQ(axis.symbol, nullptr);
  EXPECT_EQ(axis.minimum, 2);
  EXPECT_EQ(axis.varies, 0);
}

/// y = x twice, one behind the other: an extent that varies and is no symbol.
TEST(CApi, AnExtentThatFollowsFromOthersHasNoName) {
  OnnxBuilder model;
  symbol(model.input("x", {-1}), 0, "n");
  model.output("y");
  OnnxBuilder::set(model.node("Concat", {"x", "x"}, {"y"}), "axis", int64_t{0});
  CPlan plan(model, up_to(4));
  intarsia_axis axis = sized<intarsia_axis>();
  ASSERT_EQ(intarsia_get_axis(plan.session, 0, INTARSIA_OUTPUT, 0, 0, &axis), INTARSIA_OK);
  EXPECT_EQ(axis.symbol, nullptr);
  EXPECT_EQ(axis.varies, 1);
  EXPECT_EQ(axis.minimum, 0);
  EXPECT_EQ(axis.maximum, 8);
}

TEST(CApi, AStructOfAnOlderVersionIsWrittenAsFarAsItGoes) {
  CPlan plan(mlp());
  intarsia_port port = sized<intarsia_port>();
  port.struct_size = offsetof(intarsia_port, extents);
  port.rank = -7;
  ASSERT_EQ(intarsia_get_port(plan.session, 0, INTARSIA_INPUT, 0, &port), INTARSIA_OK);
  EXPECT_STREQ(port.name, "x");
  EXPECT_EQ(port.rank, -7);
  EXPECT_EQ(port.extents, nullptr);
  struct {
    intarsia_port port = sized<intarsia_port>();
    int64_t more = 5;
  } newer;
  newer.port.struct_size = sizeof(newer);
  ASSERT_EQ(intarsia_get_port(plan.session, 0, INTARSIA_INPUT, 0, &newer.port), INTARSIA_OK);
  EXPECT_EQ(newer.more, 5);
}

TEST(CApi, TensorsOfTheCallersGoInAndOut) {
  CPlan plan(varying(), up_to(4));
  float x[] = {1, 2, 3, 4, 5, 6}, y[6] = {};
  const int32_t extents[] = {3, 2};
  intarsia_tensor in, out[1] = {};
  ASSERT_EQ(intarsia_make_tensor(&in, x, sizeof(x), INTARSIA_FLOAT, extents, 2), INTARSIA_OK);
  ASSERT_EQ(intarsia_run_tensors(plan.session, 0, &in, 1, out, 1), INTARSIA_OK) << plan.message();
  EXPECT_EQ(out[0].data, plan.output(0)) << "no memory given: the session's is shown";
  EXPECT_EQ(out[0].type, INTARSIA_FLOAT);
  EXPECT_EQ(out[0].rank, 2);
  EXPECT_EQ(std::vector<int32_t>(out[0].extents, out[0].extents + 3),
            (std::vector<int32_t>{3, 2, 0}));
  EXPECT_EQ(out[0].bytes, 24u);
  out[0].data = y;
  out[0].bytes = sizeof(y);
  ASSERT_EQ(intarsia_run_tensors(plan.session, 0, &in, 1, out, 1), INTARSIA_OK);
  EXPECT_EQ(y[5], 12);
  EXPECT_EQ(x[5], 6);
}

TEST(CApi, AnInputWithoutDataIsLeftAsItIs) {
  CPlan plan(mlp());
  std::fill_n(plan.input(0), 3, 0.0f);
  intarsia_tensor in{}, out{};
  ASSERT_EQ(intarsia_run_tensors(plan.session, 0, &in, 1, &out, 1), INTARSIA_OK);
  EXPECT_EQ(plan.output(0)[0], 0.5f);
}

TEST(CApi, BoundBuffersAreUsedInPlace) {
  CPlan plan(mlp());
  const float x[] = {1, 2, 3};
  float y[4] = {};
  ASSERT_EQ(intarsia_bind_input(plan.session, 0, 0, x, sizeof(x)), INTARSIA_OK);
  ASSERT_EQ(intarsia_bind_output(plan.session, 0, 0, y, sizeof(y)), INTARSIA_OK);
  ASSERT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK);
  EXPECT_EQ(plan.output(0), y);
  EXPECT_EQ(y[2], 3);
  // A tensor given instead lets the bound input go; it is not written.
  float other[] = {0, 0, 7};
  const int32_t extents[] = {1, 3};
  intarsia_tensor in, out{};
  ASSERT_EQ(intarsia_make_tensor(&in, other, sizeof(other), INTARSIA_FLOAT, extents, 2), 0);
  ASSERT_EQ(intarsia_run_tensors(plan.session, 0, &in, 1, &out, 1), INTARSIA_OK);
  EXPECT_EQ(y[2], 7);
  EXPECT_EQ(x[2], 3);
  EXPECT_NE(plan.input(0), x);
}

OnnxBuilder counter() {
  OnnxBuilder model;
  model.input("sum", {2});
  model.input("x", {2});
  model.output("y");
  model.output("sum_out");
  model.node("Add", {"sum", "x"}, {"sum_out"});
  model.node("Neg", {"sum_out"}, {"y"});
  return model;
}

TEST(CApi, StatesAreReadWrittenAndReset) {
  ConvertOptions options;
  options.states["sum_out"] = "sum";
  CPlan plan(counter(), options);
  ASSERT_EQ(intarsia_port_count(plan.session, 0, INTARSIA_STATE), 1);
  int32_t index = -1;
  ASSERT_EQ(intarsia_find_port(plan.session, 0, INTARSIA_STATE, "sum", &index), INTARSIA_OK);
  intarsia_port state = sized<intarsia_port>();
  ASSERT_EQ(intarsia_get_port(plan.session, 0, INTARSIA_STATE, index, &state), INTARSIA_OK);
  auto* sum = static_cast<float*>(state.data);
  for (int run = 0; run < 2; ++run) {
    std::fill_n(plan.input(0), 2, 3.0f);
    ASSERT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK);
  }
  EXPECT_EQ(sum[1], 6);
  sum[1] = 100;
  std::fill_n(plan.input(0), 2, 3.0f);
  ASSERT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK);
  EXPECT_EQ(plan.output(0)[1], -103);
  ASSERT_EQ(intarsia_reset_states(plan.session), INTARSIA_OK);
  EXPECT_EQ(sum[1], 0);
}

TEST(CApi, StatesThatVaryAreResized) {
  OnnxBuilder model = counter();
  for (int input : {0, 1}) symbol(*model.graph().mutable_input(input), 0, "n");
  ConvertOptions options = up_to(4);
  options.states["sum_out"] = "sum";
  CPlan plan(model, options);
  const int32_t three[] = {3}, five[] = {5};
  EXPECT_EQ(intarsia_resize_state(plan.session, 0, five, 1), INTARSIA_WRONG_EXTENT);
  EXPECT_EQ(intarsia_resize_state(plan.session, 0, nullptr, 1), INTARSIA_INVALID_ARGUMENT);
  EXPECT_EQ(intarsia_resize_state(nullptr, 0, three, 1), INTARSIA_INVALID_ARGUMENT);
  ASSERT_EQ(intarsia_resize_input(plan.session, 0, 0, three, 1), INTARSIA_OK);
  EXPECT_EQ(intarsia_run(plan.session, 0), INTARSIA_WRONG_EXTENT) << "the state has four elements";
  ASSERT_EQ(intarsia_resize_state(plan.session, 0, three, 1), INTARSIA_OK);
  intarsia_port state = sized<intarsia_port>();
  ASSERT_EQ(intarsia_get_port(plan.session, 0, INTARSIA_STATE, 0, &state), INTARSIA_OK);
  ASSERT_EQ(state.count, 3);
  std::fill_n(static_cast<float*>(state.data), 3, 5.0f);
  std::fill_n(plan.input(0), 3, 2.0f);
  ASSERT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK);
  EXPECT_EQ(plan.output(0)[2], -7);
}

TEST(CApi, StringsGoInAndOut) {
  OnnxBuilder model;
  model.input("x", {2}, DataType::kString);
  model.output("y");
  OnnxBuilder::set(model.node("StringNormalizer", {"x"}, {"y"}), "case_change_action", "UPPER");
  CPlan plan(model);
  auto* words =
      static_cast<intarsia_string*>(intarsia_input_data(plan.session, 0, 0, INTARSIA_STRING));
  ASSERT_NE(words, nullptr);
  ASSERT_EQ(intarsia_add_string(plan.session, 0, "abc", 3, &words[0]), INTARSIA_OK);
  ASSERT_EQ(intarsia_add_string(plan.session, 0, nullptr, 0, &words[1]), INTARSIA_OK);
  ASSERT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK) << plan.message();
  const auto* found = static_cast<const intarsia_string*>(
      intarsia_output_data(plan.session, 0, 0, INTARSIA_STRING));
  ASSERT_EQ(found[0].length, 3u);
  EXPECT_EQ(std::string(intarsia_string_text(plan.session, found[0]), 3), "ABC");
  EXPECT_EQ(intarsia_string_text(plan.session, found[1]), nullptr);
}

TEST(CApi, ManyEntryPointsAreListedFoundAndRun) {
  OnnxBuilder twice;
  twice.input("x", {3});
  twice.output("z");
  twice.node("Add", {"x", "x"}, {"z"});
  CPlan plan(Entries{{"dense", mlp()}, {"twice", twice}});
  ASSERT_EQ(intarsia_entry_count(plan.session), 2);
  EXPECT_STREQ(intarsia_entry_name(plan.session, 0), "dense");
  EXPECT_STREQ(intarsia_entry_name(plan.session, 1), "twice");
  int32_t entry = -1, index = -1;
  ASSERT_EQ(intarsia_find_entry(plan.session, "twice", &entry), INTARSIA_OK);
  ASSERT_EQ(entry, 1);
  ASSERT_EQ(intarsia_find_port(plan.session, entry, INTARSIA_OUTPUT, "z", &index), INTARSIA_OK);
  std::fill_n(plan.input(0, 0), 3, 1.0f);
  std::fill_n(plan.input(0, 1), 3, 4.0f);
  ASSERT_EQ(intarsia_run(plan.session, 1), INTARSIA_OK);
  EXPECT_EQ(plan.output(index, 1)[2], 8);
  EXPECT_EQ(plan.output(0, 0), nullptr) << "that entry point has not run";
  ASSERT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK);
  EXPECT_EQ(plan.output(0, 0)[0], 1.5f);
  EXPECT_EQ(plan.output(index, 1)[2], 8) << "outputs of the other stay";
  EXPECT_STREQ(intarsia_signature(plan.session, 1, INTARSIA_INPUT),
               "[    { \"type\" : \"f32\" , \"dims\" : [3] , \"name\" : \"x\" }\n\n]");
  EXPECT_STREQ(intarsia_signature(plan.session, 1, INTARSIA_OUTPUT),
               "[   { \"type\" : \"f32\" , \"dims\" : [3] , \"name\" : \"z\" }\n\n]");
}

TEST(CApi, SignaturesAreThoseOfOnnxMlir) {
  CPlan plan(varying(), up_to(4));
  const char* expected =
      "[    { \"type\" : \"f32\" , \"dims\" : [-1 , 2] , \"name\" : \"x\" }\n\n]";
  EXPECT_STREQ(intarsia_signature(plan.session, 0, INTARSIA_INPUT), expected);
  EXPECT_STREQ(intarsia_signature(plan.session, 0, INTARSIA_OUTPUT),
               "[   { \"type\" : \"f32\" , \"dims\" : [-1 , 2] , \"name\" : \"y\" }\n\n]");
  char few[6];
  EXPECT_EQ(intarsia_write_signature(plan.session, 0, INTARSIA_INPUT, few, sizeof(few)),
            std::strlen(expected));
  EXPECT_STREQ(few, "[    ");
  OnnxBuilder odd;
  odd.input("a\"b\\c\n\x1f", {10, 100003}, DataType::kUint8);
  odd.input("s", {});
  odd.output("y");
  odd.node("Size", {"a\"b\\c\n\x1f"}, {"n"});
  odd.node("Identity", {"s"}, {"y"});
  ConvertOptions keep;
  CPlan strange(odd, keep);
  EXPECT_STREQ(
      intarsia_signature(strange.session, 0, INTARSIA_INPUT),
      "[    { \"type\" : \"ui8\" , \"dims\" : [10 , 100003] , \"name\" : "
      "\"a\\\"b\\\\c\\u000a\\u001f\" }\n ,    { \"type\" : \"f32\" , \"dims\" : [] , \"name\" : "
      "\"s\" }\n\n]");
}

TEST(CApi, SignaturesNameEveryType) {
  const std::pair<DataType, const char*> kTypes[] = {{DataType::kFloat, "f32"},
                                                     {DataType::kUint8, "ui8"},
                                                     {DataType::kInt8, "i8"},
                                                     {DataType::kUint16, "ui16"},
                                                     {DataType::kInt16, "i16"},
                                                     {DataType::kInt32, "i32"},
                                                     {DataType::kInt64, "i64"},
                                                     {DataType::kString, "string"},
                                                     {DataType::kBool, "i1"},
                                                     {DataType::kFloat16, "f16"},
                                                     {DataType::kDouble, "f64"},
                                                     {DataType::kUint32, "ui32"},
                                                     {DataType::kUint64, "ui64"},
                                                     {DataType::kComplex64, "complex<f32>"},
                                                     {DataType::kComplex128, "complex<f64>"},
                                                     {DataType::kBfloat16, "bf16"},
                                                     {DataType::kFloat8E4M3FN, "f8E4M3FN"},
                                                     {DataType::kFloat8E5M2, "f8E5M2"},
                                                     {DataType::kUint4, "ui4"},
                                                     {DataType::kInt4, "i4"},
                                                     {DataType::kFloat8E4M3FNUZ, "f8E4M3FNUZ"},
                                                     {DataType::kFloat8E5M2FNUZ, "f8E5M2FNUZ"},
                                                     {DataType::kFloat8E8M0, "f8E8M0FNU"},
                                                     {DataType::kFloat4E2M1, "f4E2M1FN"},
                                                     {DataType::kUint2, "ui2"},
                                                     {DataType::kInt2, "i2"},
                                                     {DataType::kFloat6E2M3, "f6E2M3FN"},
                                                     {DataType::kFloat6E3M2, "f6E3M2FN"}};
  for (const auto& [type, name] : kTypes) {
    OnnxBuilder model(25);
    model.input("x", {3, 5}, type);
    model.output("y");
    model.node("Identity", {"x"}, {"y"});
    CPlan plan(model);
    const std::string part =
        std::string("{ \"type\" : \"") + name + "\" , \"dims\" : [3 , 5] , \"name\" : ";
    EXPECT_EQ(intarsia_signature(plan.session, 0, INTARSIA_INPUT), "[    " + part + "\"x\" }\n\n]");
    EXPECT_EQ(intarsia_signature(plan.session, 0, INTARSIA_OUTPUT), "[   " + part + "\"y\" }\n\n]");
  }
}

/// As Python writes them (test/python/sequences_test.py, maps_test.py).
TEST(CApi, SignaturesSayWhatIsHeld) {
  OnnxBuilder model;
  model.import_opset("ai.onnx.ml", 3);
  sequence_input(model, "s");
  const auto input = [&model](const char* name) {
    auto* info = model.graph().add_input();
    info->set_name(name);
    return info->mutable_type();
  };
  auto* whole = input("o")->mutable_optional_type()->mutable_elem_type()->mutable_tensor_type();
  whole->set_elem_type(static_cast<int32_t>(DataType::kInt64));
  for (int64_t extent : {7, 2}) whole->mutable_shape()->add_dim()->set_dim_value(extent);
  auto* map = input("m")->mutable_map_type();
  map->set_key_type(static_cast<int32_t>(DataType::kString));
  map->mutable_value_type()->mutable_tensor_type()->set_elem_type(
      static_cast<int32_t>(DataType::kInt64));
  for (const char* name : {"n", "b", "v", "both"}) model.output(name);
  model.node("SequenceLength", {"s"}, {"n"});
  model.node("OptionalHasElement", {"o"}, {"b"});
  model.node("SequenceConstruct", {"b", "b"}, {"pair"});
  model.node("Optional", {"pair"}, {"both"});
  auto& vectorizer = model.node("DictVectorizer", {"m"}, {"v"});
  vectorizer.set_domain("ai.onnx.ml");
  auto* vocabulary = vectorizer.add_attribute();
  vocabulary->set_name("string_vocabulary");
  vocabulary->set_type(onnx::AttributeProto::STRINGS);
  for (const char* text : {"a", "b"}) vocabulary->add_strings(text);
  ConvertOptions options;
  for (const char* name : {"s", "m"}) options.max_lengths[name] = 2;
  options.shapes["s"] = {4};
  CPlan plan(model, options);
  EXPECT_STREQ(
      intarsia_signature(plan.session, 0, INTARSIA_INPUT),
      "[    {\"seq\" :    { \"type\" : \"f32\" , \"dims\" : [-1] , \"name\" : \"s\" }\n }\n ,    "
      "{\"optional\" :    { \"type\" : \"i64\" , \"dims\" : [7 , 2] , \"name\" : \"o\" }\n }\n ,   "
      " "
      "{\"key\" : \"string\" , \"map\" :    { \"type\" : \"i64\" , \"dims\" : [] , \"name\" : "
      "\"m\" }\n"
      " }\n\n]");
  const std::string outputs = intarsia_signature(plan.session, 0, INTARSIA_OUTPUT);
  EXPECT_TRUE(
      outputs.ends_with(" ,    {\"optional\" :    {\"seq\" :    { \"type\" : \"i1\" , \"dims\" : "
                        "[] , \"name\" : \"both\" }\n }\n }\n\n]"))
      << outputs;
}

/// What intarsia_signature gives belongs to the session: neither the next call nor a run writes
/// over it.
TEST(CApi, SignaturesStay) {
  CPlan plan(mlp());
  const char* input = intarsia_signature(plan.session, 0, INTARSIA_INPUT);
  const std::string before = input;
  const char* output = intarsia_signature(plan.session, 0, INTARSIA_OUTPUT);
  EXPECT_NE(before, output);
  EXPECT_EQ(intarsia_signature(plan.session, 7, INTARSIA_INPUT), nullptr);
  EXPECT_NE(plan.message(), "");
  std::fill_n(plan.input(0), 3, 1.0f);
  ASSERT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK);
  EXPECT_EQ(before, input);
}

/// An operator with an object, of which `alive` are there.
struct Counted {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Counted", .inputs = {"x"}, .outputs = {"y"}};
  static inline int alive = 0;
  Counted() { ++alive; }
  ~Counted() { --alive; }
  void run(Input<float> x, Output<float> y) { y[0] = x[0]; }
};

TEST(CApi, ClosingEndsTheOperators) {
  OnnxBuilder model;
  model.input("x", {1});
  model.output("y");
  model.node("Counted", {"x"}, {"y"}).set_domain("own");
  static const auto options = options_with<OperatorList<Counted>>();
  static constexpr intarsia_kernels kKernels{
      []() -> KernelSet { return options.operators().kernels(); }};
  SmallPlan plan(model, options);
  intarsia_plan_info info = sized<intarsia_plan_info>();
  ASSERT_EQ(intarsia_read_plan_info(plan.plan().data(), plan.plan().size(), &info, nullptr), 0);
  tool::AlignedBytes arena(info.arena_bytes);
  intarsia_session* session =
      intarsia_open(plan.plan().data(), plan.plan().size(), &kKernels, arena.span().data(),
                    arena.span().size(), nullptr, nullptr);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(Counted::alive, 1);
  EXPECT_EQ(intarsia_run(session, 0), INTARSIA_OK);
  intarsia_close(session);
  EXPECT_EQ(Counted::alive, 0);
  EXPECT_EQ(intarsia_run(session, 0), INTARSIA_INVALID_ARGUMENT);
  intarsia_close(session);  // twice does no harm
  EXPECT_EQ(Counted::alive, 0);
}

TEST(CApi, AChecksumIsComparedUnlessTheProgramSkipsIt) {
  CPlan plan(mlp());
  tool::AlignedBytes changed(plan.plan().size());
  std::ranges::copy(plan.plan(), changed.span().begin());
  changed.span()[48] ^= std::byte{1};  // docs/plan_format.md
  intarsia_close(plan.session);
  intarsia_options options = sized<intarsia_options>();
  const auto open = [&] {
    return intarsia_open(changed.span().data(), changed.span().size(), &all_c_kernels(),
                         plan.c_arena().data(), plan.c_arena().size(), &options, &plan.why);
  };
  plan.session = open();
  EXPECT_EQ(plan.session, nullptr);
  EXPECT_EQ(plan.why.code, INTARSIA_CORRUPT_PLAN);
  options.skip_checksum = 1;
  plan.session = open();
  EXPECT_NE(plan.session, nullptr) << plan.text();
  intarsia_close(std::exchange(plan.session, nullptr));  // before `changed`, which it reads
}

TEST(CApi, TeamsAndOptionsReachTheSession) {
  ConvertOptions two;
  two.threads = 2;
  CPlan plan(mlp(), two);
  intarsia_close(plan.session);
  intarsia_team* team = intarsia_team_create(2);
  ASSERT_NE(team, nullptr);
  intarsia_options options = sized<intarsia_options>();
  options.team = team;
  options.portable_only = 1;
  options.skip_checksum = 1;
  options.max_steps = 10;
  plan.session = plan.open(&options);
  ASSERT_NE(plan.session, nullptr) << plan.text();
  std::fill_n(plan.input(0), 3, 1.0f);
  EXPECT_EQ(intarsia_run(plan.session, 0), INTARSIA_OK);
  intarsia_close(plan.session);
  plan.session = nullptr;
  intarsia_team_destroy(team);
  intarsia_team_destroy(nullptr);
}

}  // namespace
}  // namespace intarsia::test
