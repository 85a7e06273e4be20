// SPDX-License-Identifier: Apache-2.0
//
// The whole path over the emulator: convert for CUDA, open, run, and what can go wrong.
#include "core/runtime/session_state.h"
#include "intarsia/describe.h"
#include "intarsia/services.h"
#include "kernels_cuda/kernels.h"
#include "test/cuda/cuda_plan.h"
#include "test/runtime/forged_plan.h"

namespace intarsia::test {
namespace {

TEST(CudaSession, AnMlpIsOneGraph) {
  expect_same_as_cpu(two_layers(), 1);
}

TEST(CudaSession, ASmallResNetIsOneGraph) {
  expect_same_as_cpu(small_resnet(), 1);
}

TEST(CudaSession, NodesOfTheHostStandBetweenGraphs) {
  expect_same_as_cpu(with_a_host_node(), 2);
}

TEST(CudaSession, EntryPointsAreGraphsOfTheirOwn) {
  emulation::Emulator::get().reset();
  const Entries entries{
      {"mlp", two_layers()}, {"host", with_a_host_node()}, {"net", small_resnet()}};
  CudaPlan plan(entries);
  SmallPlan cpu(entries);
  auto session = plan.open_on_device();
  auto expected = cpu.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_TRUE(expected.ok()) << cpu.text(cpu.diagnostic);
  EXPECT_EQ(session->graph_count(), 1 + 2 + 1);
  const auto run = [](auto& opened, int entry) {
    const auto x = opened.template input<float>(0, entry).value();
    const std::vector<float> values = random_floats(x.size(), 3);
    std::copy(values.begin(), values.end(), x.begin());
    EXPECT_TRUE(opened.run(entry).ok());
  };
  for (const int entry : {2, 0, 1}) {
    run(*session, entry);
    run(*expected, entry);
  }
  for (const int entry : {0, 1, 2}) {
    const auto found = session->output<float>(0, entry).value();
    const auto wanted = expected->output<float>(0, entry).value();
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-3f) << entry;
  }
  EXPECT_TRUE(emulation::Emulator::get().violations().empty());
}

TEST(CudaSession, TheProgramOfTheDocumentOpensItsPlan) {
  emulation::Emulator::get().reset();
  OnnxBuilder model;
  model.input("x", {1, 3});
  model.output("y");
  model.floats("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  OnnxBuilder::set(model.node("Gemm", {"x", "w"}, {"y"}), "transB", int64_t{1});
  CudaPlan made(model);
  const std::span<const std::byte> plan = made.plan();
  const std::span<std::byte> host_arena = made.arena();
  const std::span<std::byte> device_arena = made.device_arena.span();
  const std::span<std::byte> device_weights = made.device_weights.span();
  void* const stream = &made.stream;
#include "document/open_on_device.inc"
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(info->device_arena_bytes, device_arena.size());
  for (float& value : session->input<float>(0).value()) value = 1;
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(session->output<float>(0).value()[1], 15);
}

TEST(CudaSession, ReadsAndWritesTheCallersBuffers) {
  emulation::Emulator::get().reset();
  const RandomModel model = two_layers();
  CudaPlan plan(model);
  auto session = plan.open_on_device();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const std::vector<float> expected = outputs_of(*session, 6);
  const std::vector<float> x = random_floats(3 * 37, 6);
  std::vector<float> y(3 * 9, -1.0f);
  ASSERT_TRUE(session->bind_input(0, x.data(), x.size() * sizeof(float)).ok());
  ASSERT_TRUE(session->bind_output(0, y.data(), y.size() * sizeof(float)).ok());
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(y, expected);
}

TEST(CudaSession, MovesClosesAndOpensAgain) {
  emulation::Emulator::get().reset();
  CudaPlan plan(two_layers());
  auto opened = plan.open_on_device();
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(emulation::Emulator::get().held(), 2) << "a graph, and locked memory";
  cuda::Session session = std::move(opened.value());
  EXPECT_FALSE(opened->is_open());
  const std::vector<float> first = outputs_of(session, 7);
  session.close();
  EXPECT_EQ(emulation::Emulator::get().held(), 0);
  EXPECT_EQ(session.run().code(), Code::kInvalidArgument);
  cuda::Options options = plan.options();
  options.upload_weights = false;  // they are still there
  auto again = plan.open_on_device(options);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(outputs_of(*again, 7), first);
  again.value() = cuda::Session();
  EXPECT_FALSE(again->is_open());
}

/// Its tensors are the host's, and there is no device to run on.
TEST(CudaSession, APlanOfTheCpuMayNotNameDeviceKernels) {
  OnnxBuilder model;
  model.input("x", {4});
  model.output("y");
  model.node("Abs", {"x"}, {"y"});
  ForgedPlan plan(model);
  const Forgery key(plan.root().kernels()->data(), 0,
                    kernel_key({"Abs", "cuda", {DataType::kFloat}}));
  plan.seal();
  emulation::Stream stream;
  cuda::Options options;
  options.stream = &stream;
  const auto session =
      cuda::Session::open(plan.plan(), {plan.arena(), {}, {}},
                          {tool::all_kernels(), cuda::all_kernels()}, options, &plan.diagnostic);
  EXPECT_EQ(session.status().code(), Code::kMissingKernel);
}

TEST(CudaSession, APlainSessionRefusesAPlanForCuda) {
  CudaPlan plan(two_layers());
  EXPECT_EQ(plan.open().status().code(), Code::kUnsupported);
  const std::string text = plan.text(plan.diagnostic);
  EXPECT_NE(text.find("needs intarsia::cuda::Session"), std::string::npos) << text;
}

TEST(CudaSession, APlanForTheCpuNeedsNoDevice) {
  const RandomModel model = two_layers();
  SmallPlan plan(model);
  auto cpu = plan.open();
  const std::vector<float> expected = outputs_of(*cpu, 8);
  cpu->close();
  auto session = cuda::Session::open(plan.plan(), {plan.arena(), {}, {}},
                                     {tool::all_kernels(), cuda::all_kernels()}, {});
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(session->graph_count(), 0);
  EXPECT_EQ(outputs_of(*session, 8), expected);
}

TEST(CudaSession, MissingMemoryAndStreamsAreNamed) {
  emulation::Emulator::get().reset();
  CudaPlan plan(two_layers());
  cuda::Options no_stream;
  EXPECT_EQ(plan.open_on_device(no_stream).status().code(), Code::kInvalidArgument);
  EXPECT_NE(plan.text(plan.diagnostic).find("stream"), std::string::npos);
  const cuda::Kernels kernels{tool::all_kernels(), cuda::all_kernels()};
  cuda::Memory memory = plan.memory();
  memory.device_arena = memory.device_arena.first(memory.device_arena.size() - 1);
  EXPECT_EQ(cuda::Session::open(plan.plan(), memory, kernels, plan.options(), &plan.diagnostic)
                .status()
                .code(),
            Code::kArenaTooSmall);
  EXPECT_NE(plan.text(plan.diagnostic).find("device arena bytes"), std::string::npos);
  memory = plan.memory();
  memory.device_weights = {};
  EXPECT_EQ(cuda::Session::open(plan.plan(), memory, kernels, plan.options(), &plan.diagnostic)
                .status()
                .code(),
            Code::kArenaTooSmall);
  EXPECT_EQ(cuda::Session::open(plan.plan(), plan.memory(), {tool::all_kernels(), {}},
                                plan.options(), &plan.diagnostic)
                .status()
                .code(),
            Code::kMissingKernel);
}

TEST(CudaSession, ErrorsOfCudaAreDecoded) {
  constexpr int kIllegalAddress = 700;
  auto& emulator = emulation::Emulator::get();
  emulator.reset();
  CudaPlan plan(with_a_host_node());
  emulator.fail(0, 0);
  auto session = plan.open_on_device();
  ASSERT_TRUE(session.ok());
  const int calls_of_open = emulator.calls();
  const std::vector<float> expected = outputs_of(*session, 9);
  emulator.fail(0, 0);
  const uint64_t launches_before = emulator.launches();
  ASSERT_TRUE(session->run().ok());
  const int calls_of_run = emulator.calls();
  const uint64_t launches = emulator.launches() - launches_before;
  EXPECT_GT(calls_of_run, 4);
  // Every call of a run fails in turn.
  for (int call = 1; call <= calls_of_run; ++call) {
    emulator.fail(call, kIllegalAddress);
    EXPECT_EQ(session->run().code(), Code::kOperatorFailed) << call;
    EXPECT_EQ(session->diagnostic().found, kIllegalAddress);
    EXPECT_TRUE(plan.stream.queued.empty()) << "a run that failed is waited for";
  }
  emulator.fail(0, 0);
  EXPECT_EQ(outputs_of(*session, 9), expected);
  session->close();
  // So does every call of opening, except that memory need not be locked.
  int opened = 0;
  uint64_t of_a_node = 0;
  for (int call = 1; call <= calls_of_open; ++call) {
    emulator.fail(call, kIllegalAddress);
    auto again = plan.open_on_device();
    opened += again.ok() ? 1 : 0;
    if (again.ok()) continue;
    EXPECT_EQ(again.status().code(), Code::kOperatorFailed);
    of_a_node += plan.diagnostic.node >= 0 ? 1 : 0;
    const std::string text = plan.text(plan.diagnostic);
    EXPECT_NE(text.find("CUDA error 700: an illegal memory access was encountered"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(of_a_node, launches) << "a launch that fails names its node, another call none";
  EXPECT_EQ(emulator.held(), 0);
}

TEST(CudaSession, ARunInsideARunIsBusy) {
  emulation::Emulator::get().reset();
  CudaPlan plan(with_a_host_node());
  struct Inner {
    cuda::Session* session = nullptr;
    Code code = Code::kOk;
  } inner;
  const Observer observer{&inner,
                          [](void* self, const KernelContext&) {
                            auto& found = *static_cast<Inner*>(self);
                            cuda::Session* session = std::exchange(found.session, nullptr);
                            if (session != nullptr) found.code = session->run().code();
                          },
                          nullptr};
  cuda::Options options = plan.options();
  options.host.observer = &observer;
  auto session = plan.open_on_device(options);
  ASSERT_TRUE(session.ok());
  inner.session = &session.value();
  EXPECT_TRUE(session->run().ok());
  EXPECT_EQ(inner.code, Code::kBusy);
}

/// y = Inverse(x) + x
OnnxBuilder inverse_and_sum() {
  OnnxBuilder model;
  model.import_opset("com.microsoft", 1);
  model.input("x", {4, 3, 3});
  model.output("y");
  model.node("Inverse", {"x"}, {"i"}).set_domain("com.microsoft");
  model.node("Add", {"i", "x"}, {"y"});
  return model;
}

TEST(CudaSession, CTR_5_InverseOnTheDevice) {
  expect_same_as_cpu(inverse_and_sum(), 1);
}

/// y = Inverse(x) for x of these extents, with each 0 a symbolic dimension of its own.
OnnxBuilder inverse(const std::vector<int64_t>& extents) {
  OnnxBuilder model;
  auto& x = model.input("x", extents);
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] == 0) symbol(x, static_cast<int>(axis), axis == 0 ? "a" : "b");
  }
  model.output("y");
  model.node("Inverse", {"x"}, {"y"}).set_domain("com.microsoft");
  return model;
}

TEST(CudaSession, CTR_2_InverseKeepsTheExtents) {
  for (const std::vector<int64_t>& extents :
       {std::vector<int64_t>{0, 3, 3}, {3, 0, 0}, {1, 1}, {2, 3, 3}, {3, 4, 4, 4}}) {
    emulation::Emulator::get().reset();
    ConvertOptions options;
    options.shapes["x"] = extents;
    CudaPlan plan(inverse(extents), options);
    EXPECT_EQ(plan.conversion.entries[0].outputs[0].extents, extents);
    auto session = plan.open_on_device();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    const auto n = static_cast<size_t>(extents.back());
    const auto input = session->input<float>(0).value();
    // Powers of two on the diagonals.
    std::vector<float> x(input.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = i / n % n == i % n ? std::exp2f(1.0f + i % 5) : 0;
    std::copy(x.begin(), x.end(), input.begin());
    ASSERT_TRUE(session->run().ok());
    const auto y = session->output<float>(0).value();
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], x[i] != 0 ? 1 / x[i] : 0) << i;
    EXPECT_TRUE(emulation::Emulator::get().violations().empty());
  }
}

TEST(CudaSession, CTR_3_NotSquareAtRunTimeIsWhatItIsOnTheCpu) {
  emulation::Emulator::get().reset();
  ConvertOptions options;
  options.dims["a"] = options.dims["b"] = converter::DimRange{1, 4};
  CudaPlan plan(inverse({0, 0}), options);
  auto session = plan.open_on_device();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_TRUE(session->resize_input(0, std::array<int32_t, 2>{3, 2}).ok());
  EXPECT_EQ(session->run().code(), Code::kWrongExtent);
  const std::string text = plan.text(session->diagnostic());
  EXPECT_NE(text.find("must have the same size (mat_w:2 mat_h:3)."), std::string::npos) << text;
}

TEST(CudaSession, CTR_4_ASingularMatrixIsWhatItIsOnTheCpu) {
  emulation::Emulator::get().reset();
  const OnnxBuilder model = inverse_and_sum();
  CudaPlan plan(model);
  SmallPlan cpu(model);
  SingularMatrix choice = SingularMatrix::kFail;
  const Service services[] = {{kSingularMatrixService, &choice}};
  cuda::Options options = plan.options();
  options.host.services = services;
  auto session = plan.open_on_device(options);
  auto reference = cpu.open(options.host);
  ASSERT_TRUE(session.ok() && reference.ok());
  std::vector<float> x = random_floats(36, 10);
  std::copy(x.begin() + 9, x.begin() + 12, x.begin() + 12);   // matrix 1: two equal rows
  std::copy(x.begin() + 27, x.begin() + 30, x.begin() + 33);  // matrix 3
  const auto run = [&](auto& opened) {
    const auto input = opened.template input<float>(0).value();
    std::copy(x.begin(), x.end(), input.begin());
    return opened.run();
  };
  EXPECT_EQ(run(*session).code(), Code::kInvalidValue);
  EXPECT_EQ(run(*reference).code(), Code::kInvalidValue);
  const Diagnostic& found = session->diagnostic();
  const Diagnostic& expected = reference->diagnostic();
  EXPECT_STREQ(found.what, expected.what);
  EXPECT_EQ(found.found, 1);
  EXPECT_EQ(found.found, expected.found);
  EXPECT_EQ(found.operand, expected.operand);
  EXPECT_NE(plan.text(found).find("(com.microsoft:Inverse): matrix 1 is singular"),
            std::string::npos)
      << plan.text(found);

  choice = SingularMatrix::kFillNan;
  ASSERT_TRUE(run(*session).ok());
  const auto y = session->output<float>(0).value();
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 9 == 1 || i / 9 == 3) << i;
  // The report of one run does not reach the next.
  choice = SingularMatrix::kFail;
  x = random_floats(36, 10);
  EXPECT_TRUE(run(*session).ok());
}

TEST(CudaSession, DescriptorsAndKernelsAreTheSame) {
  std::vector<uint64_t> described;
  for (const auto& row : cuda::kernel_list()) described.push_back(row.key);
  std::sort(described.begin(), described.end());
  std::vector<uint64_t> linked;
  for (const Kernel* kernel : cuda::all_kernels().kernels) linked.push_back(kernel->key);
  EXPECT_EQ(described, linked);
}

/// Gives the plan the checksum of what is in it.
void renew_checksum(std::span<std::byte> plan) {
  PlanHeader header;
  std::memcpy(&header, plan.data(), sizeof(header));
  header.checksum = plan_checksum(plan, header);
  std::memcpy(plan.data(), &header, sizeof(header));
}

TEST(CudaSession, AKernelIsNeverGivenTheOtherSidesMemory) {
  emulation::Emulator::get().reset();
  CudaPlan plan(with_a_host_node());
  Diagnostic diagnostic;
  PlanView view;
  ASSERT_TRUE(read_untrusted(plan.plan(), true, view, diagnostic).ok());
  const auto node_with = [&](uint64_t key) {
    for (uint32_t i = 0; i < view.node_count; ++i) {
      if (view.root->kernels()->Get(view.nodes[i].kernel()) == key) return i;
    }
    ADD_FAILURE() << "no such node";
    return 0u;
  };
  const uint32_t norm = node_with(kernel_key({"LpNormalization", "", {DataType::kFloat}}));
  const uint32_t tanh = node_with(kernel_key({"Tanh", "cuda", {DataType::kFloat}}));
  // Each node gets the other's kernel. Structs of a plan are constant: a node is made anew.
  const auto set_kernel = [](plan::Node& node, uint16_t kernel) {
    node = plan::Node(node.attributes(), kernel, node.shape(), node.inputs(), node.outputs());
  };
  auto* nodes = const_cast<plan::Node*>(view.nodes);
  const uint16_t norm_kernel = nodes[norm].kernel(), tanh_kernel = nodes[tanh].kernel();
  for (const bool on_host : {true, false}) {
    set_kernel(nodes[norm], on_host ? tanh_kernel : norm_kernel);
    set_kernel(nodes[tanh], on_host ? tanh_kernel : norm_kernel);
    renew_checksum(plan.plan());
    EXPECT_EQ(plan.open_on_device().status().code(), Code::kCorruptPlan);
    const std::string text = plan.text(plan.diagnostic);
    EXPECT_NE(text.find("memory of the operand"), std::string::npos) << text;
    EXPECT_EQ(plan.diagnostic.node, static_cast<int32_t>(on_host ? norm : tanh));
  }
}

TEST(CudaSession, DeviceNodesOfVaryingExtentsAreRefused) {
  emulation::Emulator::get().reset();
  OnnxBuilder model;
  model.input("x", {2});
  symbol(model.input("z", {0}), 0, "n");
  model.output("y");
  model.output("w");
  model.node("Tanh", {"x"}, {"y"});
  model.node("Tanh", {"z"}, {"w"});
  ConvertOptions options;
  options.dims["n"] = converter::DimRange{1, 4};
  CudaPlan plan(model, options);
  PlanView view;
  ASSERT_TRUE(read_untrusted(plan.plan(), true, view, plan.diagnostic).ok());
  // The device's node gets the host's shape function.
  for (uint32_t i = 0; i < view.node_count; ++i) {
    auto& node = const_cast<plan::Node*>(view.nodes)[i];
    if (view.root->kernels()->Get(node.kernel()) !=
        kernel_key({"Tanh", "cuda", {DataType::kFloat}}))
      continue;
    node = plan::Node(node.attributes(), node.kernel(), 0, node.inputs(), node.outputs());
  }
  renew_checksum(plan.plan());
  EXPECT_EQ(plan.open_on_device().status().code(), Code::kCorruptPlan);
  const std::string text = plan.text(plan.diagnostic);
  EXPECT_NE(text.find("node on the device"), std::string::npos) << text;
}

TEST(CudaSession, MoreSegmentsThanThePlanSaysAreRefused) {
  emulation::Emulator::get().reset();
  CudaPlan plan(with_a_host_node());
  PlanView view;
  ASSERT_TRUE(read_untrusted(plan.plan(), true, view, plan.diagnostic).ok());
  ASSERT_EQ(view.root->memory()->segments(), 2u);
  // Structs of a plan are constant, too.
  const plan::Memory& memory = *view.root->memory();
  const_cast<plan::Memory&>(memory) =
      plan::Memory(memory.arena_bytes(), memory.metadata_bytes(), memory.workspace_bytes(),
                   memory.padding_bytes(), memory.lower_bound_bytes(), memory.device_arena_bytes(),
                   memory.device_lower_bound_bytes(), memory.device_weights_offset(),
                   memory.device_weights_bytes(), 1, 0);
  renew_checksum(plan.plan());
  EXPECT_EQ(plan.open_on_device().status().code(), Code::kCorruptPlan);
  const std::string text = plan.text(plan.diagnostic);
  EXPECT_NE(text.find("segments"), std::string::npos) << text;
}

TEST(CudaSession, DamagedPlansNeitherCrashNorLeaveTheirMemory) {
  CudaPlan plan(with_a_host_node());
  const auto bytes = plan.plan();
  cuda::Options options = plan.options();
  options.host.checksum = false;
  int opened = 0;
  // The structure; plan_info verifies the checksum, so it is set anew.
  PlanHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::vector<std::byte> original(bytes.begin(), bytes.end());
  for (uint64_t at = header.structure_offset; at < header.structure_offset + header.structure_bytes;
       ++at) {
    emulation::Emulator::get().reset();
    std::copy(original.begin(), original.end(), bytes.begin());
    bytes[at] ^= std::byte{static_cast<uint8_t>(at % 3 == 0 ? 0x01 : at % 3 == 1 ? 0xff : 0x10)};
    header.checksum = plan_checksum(bytes, header);
    std::memcpy(bytes.data(), &header, sizeof(header));
    auto session = plan.open_on_device(options);
    if (!session.ok()) continue;
    ++opened;
    (void)session->run();
  }
  EXPECT_GT(opened, 0);
}

}  // namespace
}  // namespace intarsia::test
