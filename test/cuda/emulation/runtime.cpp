// SPDX-License-Identifier: Apache-2.0
//
// kernels_cuda/session/runtime.h over the emulator: device memory is the host's, a graph is the
// list of what a stream recorded.
#include "kernels_cuda/session/runtime.h"

#include <utility>

#include "test/cuda/emulation/emulation.h"

namespace intarsia::cuda::runtime {
namespace {

using emulation::Emulator;
using emulation::Stream;

int submit(Stream::Work work, void* stream) {
  if (const int error = Emulator::get().call(); error != 0) return error;
  static_cast<Stream*>(stream)->add(std::move(work));
  return 0;
}

}  // namespace

int copy(void* to, const void* from, size_t bytes, Copy, void* stream) {
  if (bytes == 0) Emulator::get().violation("a copy of nothing");
  Stream::Work work;
  work.kind = Stream::Work::kCopy;
  work.to = to;
  work.from = from;
  work.bytes = bytes;
  return submit(work, stream);
}

int fill(void* device, int byte, size_t bytes, void* stream) {
  Stream::Work work;
  work.kind = Stream::Work::kFill;
  work.to = device;
  work.byte = byte;
  work.bytes = bytes;
  return submit(work, stream);
}

int synchronize(void* stream) {
  // As CUDA does: waiting for a stream that is being captured is an error.
  constexpr int kCaptureUnsupported = 900;
  const int error = Emulator::get().call();
  auto& target = *static_cast<Stream*>(stream);
  if (target.capturing) return kCaptureUnsupported;
  // After an error nothing of the stream is done any more.
  const std::vector<Stream::Work> queued = std::exchange(target.queued, {});
  for (const Stream::Work& work : queued) {
    if (error == 0) Emulator::get().execute(work);
  }
  return error;
}

int begin_capture(void* stream) {
  auto& target = *static_cast<Stream*>(stream);
  target.recorded.clear();
  if (const int error = Emulator::get().call(); error != 0) return error;
  target.capturing = true;
  return 0;
}

int end_capture(void* stream, void** graph) {
  auto& target = *static_cast<Stream*>(stream);
  target.capturing = false;
  if (const int error = Emulator::get().call(); error != 0) return error;
  ++Emulator::get().held();
  *graph = new std::vector<Stream::Work>(std::move(target.recorded));
  target.recorded.clear();
  return 0;
}

int launch(void* graph, void* stream) {
  if (const int error = Emulator::get().call(); error != 0) return error;
  Emulator::get().count_graph_launch();
  for (const Stream::Work& work : *static_cast<std::vector<Stream::Work>*>(graph)) {
    static_cast<Stream*>(stream)->add(work);
  }
  return 0;
}

void destroy(void* graph) {
  --Emulator::get().held();
  delete static_cast<std::vector<Stream::Work>*>(graph);
}

int pin(void*, size_t) {
  const int error = Emulator::get().call();
  if (error == 0) ++Emulator::get().held();
  return error;
}
void unpin(void*) {
  --Emulator::get().held();
}

const char* error_text(int error) {
  switch (error) {
    case 9:
      return "invalid configuration argument";
    case 700:
      return "an illegal memory access was encountered";
    case 900:
      return "operation not permitted when stream is capturing";
    default:
      return "unknown error";
  }
}

}  // namespace intarsia::cuda::runtime
