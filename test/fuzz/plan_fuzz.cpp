// SPDX-License-Identifier: Apache-2.0
//
// Plans from outside: bytes -> open with every kernel -> run. The checksum is made right first, so
// that everything behind it is reached. Bytes after the plan are the inputs' contents.
#include <algorithm>
#include <cstring>

#include "converter/tool/program.h"
#include "core/plan_file.h"
#include "test/fuzz/plan_run.h"

using intarsia::PlanHeader;

namespace {

/// The end of the plan's parts, or `size` where the header says nothing usable.
size_t end_of_plan(const PlanHeader& header, size_t size) {
  const auto end = [size](uint64_t offset, uint64_t bytes) {
    return offset <= size && bytes <= size - offset ? offset + bytes : size;
  };
  return std::max(end(header.structure_offset, header.structure_bytes),
                  end(header.weights_offset, header.weights_bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t plan_size = size;
  PlanHeader header;
  if (size >= sizeof(header)) {
    std::memcpy(&header, data, sizeof(header));
    plan_size = std::max(end_of_plan(header, size), sizeof(header));
  }
  // Exactly the plan's bytes: what is read behind them is seen.
  intarsia::tool::AlignedBytes plan(plan_size);
  if (plan_size != 0) std::memcpy(plan.span().data(), data, plan_size);
  if (plan_size >= sizeof(header) && header.structure_offset <= plan_size &&
      header.structure_bytes <= plan_size - header.structure_offset) {
    header.checksum = intarsia::plan_checksum(plan.span(), header);
    std::memcpy(plan.span().data(), &header, sizeof(header));
  }
  intarsia::fuzz::open_and_run(plan.span(), {data + plan_size, size - plan_size});
  return 0;
}
