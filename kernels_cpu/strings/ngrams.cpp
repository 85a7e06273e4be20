// SPDX-License-Identifier: Apache-2.0
//
// NgramCounts: how often each n-gram of a pool occurs in a row of tokens, the tokens of one being
// 1, 2, ... max_skip_count + 1 places apart; single tokens count at one distance. Each time adds
// the weight of the n-gram to its column, or, `once`, becomes the column. Rows are independent of
// one another, and so are threads. https://onnx.ai/onnx/operators/onnx__TfIdfVectorizer.html
#include "core/operators/strings/ngrams.h"

#include <algorithm>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"

namespace intarsia::cpu {
namespace {

struct Trie {
  const NgramAttributes& attributes;
  const int32_t* edges;
  int64_t slots;
  const int32_t* ngrams;
  uint32_t nodes;
  const float* weights;

  /// The node behind `node` by `token`; `nodes` or more if there is none.
  uint32_t next(uint32_t node, int32_t token) const {
    uint32_t found = nodes;
    const auto from = static_cast<int32_t>(node);
    visit_slots(edge_hash(from, token), slots, [&](int64_t slot) {
      const int32_t* edge = edges + slot * kEdgeNumbers;
      if (edge[0] < 0) return true;
      if (edge[0] != from || edge[1] != token) return false;
      found = static_cast<uint32_t>(edge[2]);
      return true;
    });
    return found;
  }

  /// Counts the n-grams of `first` tokens and more that begin at `start`.
  void count(const int32_t* x, int64_t length, int64_t start, int64_t distance, int64_t first,
             float* y) const {
    const auto columns = static_cast<uint32_t>(attributes.columns);
    uint32_t node = 0;
    for (int64_t size = 1, at = start; size <= attributes.max_gram_length && at < length;
         ++size, at += distance) {
      node = next(node, x[at]);
      if (node >= nodes) return;
      const auto column = static_cast<uint32_t>(ngrams[node]);
      if (size < first || column >= columns) continue;
      const float weight = weights != nullptr ? weights[node] : 1.0f;
      y[column] = attributes.once != 0 ? weight : y[column] + weight;
    }
  }

  void count_row(const int32_t* x, int64_t length, float* y) const {
    int64_t first = attributes.min_gram_length > 1 ? attributes.min_gram_length : 1;
    for (int64_t distance = 1; distance <= int64_t{attributes.max_skip_count} + 1; ++distance) {
      const int64_t starts = length - (first - 1) * distance;
      if (starts <= 0) return;
      for (int64_t start = 0; start < starts; ++start) count(x, length, start, distance, first, y);
      // The distance is nothing to single tokens.
      if (first == 1 && (first = 2) > attributes.max_gram_length) return;
    }
  }
};

struct NgramCounts {
  using Attributes = NgramAttributes;
  static constexpr KernelId id{"intarsia:NgramCounts", "", {}};
  static Status check(const KernelContext& context) {
    constexpr KernelType i = DataType::kInt32, f = DataType::kFloat;
    return check_operands<ops::NgramCounts>(
        context, {.inputs = {i, i, i, f}, .required_inputs = 3, .outputs = {f}});
  }
  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<Attributes>();
    const TensorView &x = context.input(0), &edges = context.input(1), &ngrams = context.input(2);
    const Trie trie{a,
                    edges.as<const int32_t>(),
                    edges.extents[0],
                    ngrams.as<const int32_t>(),
                    static_cast<uint32_t>(ngrams.extents[0]),
                    context.input(3).as<const float>()};
    const int64_t rows = x.rank == 2 ? x.extents[0] : 1;
    const int64_t length = x.rank == 0 ? 1 : x.extents[x.rank - 1];
    context.parallel_for(rows, [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        float* y = context.output(0).as<float>() + row * a.columns;
        std::fill(y, y + a.columns, 0.0f);
        trie.count_row(x.as<const int32_t>() + row * length, length, y);
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList ngram_kernels;
constinit const KernelList ngram_kernels = kernel_list<NgramCounts>();

}  // namespace intarsia::cpu
