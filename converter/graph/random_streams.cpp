// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/random_streams.h"

#include "converter/graph/infer.h"
#include "core/operators/random/random.h"

namespace intarsia::converter {

bool draws(const Node& node) {
  const definitions::Facts& facts = node.op->facts;
  if (!facts.stream) return false;
  return facts.copies == nullptr ||
         !facts.copies(node.attribute_bytes.data(), symbolic_inputs(node));
}

void assign_streams(Graph& graph, uint64_t seed) {
  uint64_t place = 0;
  graph.walk([&](Node& node) {
    if (node.op == nullptr || !node.op->facts.stream || node.attribute("seed") != nullptr) return;
    const auto bits = static_cast<int64_t>(mix_bits(mix_bits(seed) + ++place));
    // 0 would be none.
    const int64_t stream = bits != 0 ? bits : 1;
    node.op->facts.stream.set(node.attribute_bytes.data(), std::span(&stream, 1));
  });
}

}  // namespace intarsia::converter
