// SPDX-License-Identifier: Apache-2.0
//
// Plans for CUDA in the command: opened by cuda::Session with every kernel.
#include "converter/tool/device/memory.h"
#include "converter/tool/open_plan.h"
#include "core/runtime/session_state.h"
#include "intarsia/cuda.h"
#include "kernels_cuda/common/report.h"
#include "kernels_cuda/kernels.h"
#include "kernels_cuda/session/runtime.h"

namespace intarsia::tool {
namespace {

class CudaPlan : public OpenPlanOf<cuda::Session> {
 public:
  CudaPlan(cuda::Session&& session, std::unique_ptr<DeviceMemory> memory)
      : OpenPlanOf(std::move(session)), memory_(std::move(memory)) {}
  ~CudaPlan() override { session_.close(); }  // before its memory goes

  int graph_count() const override { return session_.graph_count(); }
  Status launch_graphs(int entry, int times) override {
    SessionState& state = *SessionAccess::state(session_);
    const plan::Entry& found = *state.plan.root->entries()->Get(static_cast<uint32_t>(entry));
    const plan::Graph& nodes = state.plan.graphs[found.graph()];
    int error = 0;
    for (int i = 0; i < times && error == 0; ++i) {
      for (uint32_t s = 0; s < state.device->count && error == 0; ++s) {
        const Segment& segment = state.device->segments()[s];
        if (segment.first < nodes.first() || segment.first >= nodes.first() + nodes.count()) {
          continue;
        }
        error = cuda::runtime::launch(segment.graph, memory_->stream());
      }
    }
    // What device code says of these runs concerns nobody.
    if (error == 0) {
      error = cuda::runtime::fill(memory_->arena().data(), 0xff, sizeof(cuda::Report),
                                  memory_->stream());
    }
    const int waited = cuda::runtime::synchronize(memory_->stream());
    return cuda::runtime::status_of(error != 0 ? error : waited, &state.diagnostic, -1);
  }

 private:
  std::unique_ptr<DeviceMemory> memory_;
};

std::unique_ptr<OpenPlan> open(std::span<const std::byte> plan, std::span<std::byte> arena,
                               KernelSet kernels, const SessionOptions& options,
                               Diagnostic& diagnostic) {
  const Result<PlanInfo> info = plan_info(plan, &diagnostic);
  if (!info.ok()) return nullptr;
  auto memory =
      std::make_unique<DeviceMemory>(info->device_arena_bytes, info->device_weights_bytes);
  cuda::Options device_options;
  device_options.stream = memory->stream();
  device_options.host = options;
  auto session = cuda::Session::open(plan, {arena, memory->arena(), memory->weights()},
                                     {kernels, cuda::all_kernels()}, device_options, &diagnostic);
  if (!session.ok()) return nullptr;
  return std::make_unique<CudaPlan>(std::move(session.value()), std::move(memory));
}

}  // namespace

OpenOnDevice open_on_device() {
  return &open;
}

}  // namespace intarsia::tool
