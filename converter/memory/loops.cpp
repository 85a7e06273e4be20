// SPDX-License-Identifier: Apache-2.0
#include "converter/memory/loops.h"

#include <algorithm>

#include "converter/graph/infer.h"
#include "core/operators/control/control.h"

namespace intarsia::converter {
namespace {

bool same_tensor(const Value& a, const Value& b) {
  return a.type == b.type && same_extents(a, b);
}

LoopOperands operands_of(const PlacedNode& loop) {
  return {static_cast<int>(loop.inputs.size()), static_cast<int>(loop.outputs.size())};
}

}  // namespace

void add_loop_operands(PlacedNode& loop) {
  const Graph& body = *loop.node->graphs[0].graph;
  loop.inputs.resize(std::max<size_t>(loop.inputs.size(), 2));
  loop.inputs.insert(loop.inputs.end(), body.outputs().begin(), body.outputs().end());
  loop.outputs.insert(loop.outputs.end(), body.inputs().begin(), body.inputs().begin() + 2);
}

/// True if the body may write `result` where it is given `given`: nothing reads that any more, but
/// for the node that writes, if its kernel permits it.
bool LoopMemory::joins_result(const Value* output, const Value* given, const Value* result,
                              const Graph& body) const {
  const Node* producer = result->producer;
  if (producer == nullptr || result->graph != &body || !same_tensor(*given, *result)) return false;
  const auto times = std::count(body.outputs().begin(), body.outputs().end(), result);
  if (times != 1 || lowering_.at(producer).writes_device) return false;
  const int32_t written = buffers_.of(result).first;
  const StepRange* reads = buffers_.live(given);
  if (reads == nullptr || reads->last < written) return true;
  if (reads->last > written || !producer->graphs.empty() || producer->output(0) != result) {
    return false;
  }
  // As one tensor they would have one set of extents, which the node must not set while it reads.
  // The tensor may be that of an If around the loop, whose other branch has other extents.
  const Value* tensor = output;
  for (auto at = storage_.aliases.find(tensor); at != storage_.aliases.end();
       at = storage_.aliases.find(tensor)) {
    tensor = at->second;
  }
  if (varies(*tensor)) return false;
  const InPlace permitted = lowering_.at(producer).kernel->kernel->in_place;
  for (size_t i = 0; i < producer->inputs.size(); ++i) {
    if (producer->inputs[i] == given && !permitted.permits(static_cast<int>(i))) return false;
  }
  return true;
}

/// True if the initial value may be made where the carried one lies: it is the loop's alone.
bool LoopMemory::joins_initial(const PlacedNode& loop, size_t input, const Value* output,
                               int32_t first) {
  const Value* initial = loop.inputs[input];
  if (initial->producer == nullptr || initial->graph != loop.node->graph) return false;
  if (!same_tensor(*initial, *output) || lowering_.at(initial->producer).writes_device) {
    return false;
  }
  const auto& inputs = loop.node->inputs;
  if (std::count(inputs.begin(), inputs.end(), initial) != 1) return false;
  return buffers_.of(initial).last == first;
}

void LoopMemory::join(PlacedNode& loop, int32_t first, int32_t last, bool in_place) {
  const Graph& body = *loop.node->graphs[0].graph;
  const LoopOperands at = operands_of(loop);
  for (int i = 0; i < at.carried; ++i) {
    const Value* output = loop.outputs[static_cast<size_t>(i)];
    const Value* given = body.inputs()[static_cast<size_t>(i) + 2];
    const auto initial = static_cast<size_t>(at.initial(i));
    const auto result = static_cast<size_t>(at.result(i));
    std::vector<int32_t>& changes = changes_[output];
    changes = {last, first};
    const bool unchanged = loop.inputs[result] == given;
    const bool joined =
        !unchanged && in_place && joins_result(output, given, loop.inputs[result], body);
    buffers_.touch(given, first);
    buffers_.touch(given, last);
    if (joined) {
      changes.push_back(buffers_.of(loop.inputs[result]).first);
      buffers_.merge(output, loop.inputs[result]);
      storage_.aliases[loop.inputs[result]] = output;
    }
    buffers_.merge(output, given);
    storage_.aliases[given] = output;
    if (joined || unchanged) loop.inputs[result] = nullptr;
    if (in_place && joins_initial(loop, initial, output, first)) {
      buffers_.merge(output, loop.inputs[initial]);
      storage_.aliases[loop.inputs[initial]] = output;
      loop.inputs[initial] = nullptr;
    }
  }
}

bool LoopMemory::permit_view(const Value* value, const Value* view) {
  // A loop finds its results apart from what it writes.
  for (const Use& use : view->uses) {
    const Node* owner = use.node == nullptr ? use.graph->owner() : nullptr;
    if (owner != nullptr && owner->op->repeats()) return false;
  }
  const StepRange* made = buffers_.live(value);
  const StepRange* read = buffers_.live(view);
  if (made == nullptr || read == nullptr) return true;
  // A loop's output is what it is from the loop's end on.
  const auto own = changes_.find(value);
  const int32_t since = own != changes_.end() ? own->second.front() : made->first;
  for (const Value* member : buffers_.of(value).members) {
    const auto found = changes_.find(member);
    if (found == changes_.end()) continue;
    for (const int32_t change : found->second) {
      if (change > since && change <= read->last) return false;
    }
  }
  return true;
}

}  // namespace intarsia::converter
