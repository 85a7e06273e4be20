// SPDX-License-Identifier: Apache-2.0
//
// TreeWalk for AVX2: nodes are read one by one into vectors of eight walks, what follows is done
// for all of them. Gathers would read them no faster, and much slower on many processors. A row of
// few features lies in registers, from which they are chosen without reading memory.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX2

#include <immintrin.h>

#include <cstring>

#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/ml/tree_walk.h"

namespace intarsia::cpu {
namespace {

constexpr int kLanes = kWalkedTogether;

/// A row of up to kLanes * kParts features in registers; 0 parts: in memory.
template <int kParts>
struct WalkedRow {
  INTARSIA_INLINE explicit WalkedRow(const float* row, int feature_bits) {
    alignas(32) float copy[kLanes * kParts] = {};
    std::memcpy(copy, row, sizeof(float) << feature_bits);
    for (int i = 0; i < kParts; ++i) parts[i] = _mm256_load_ps(copy + kLanes * i);
  }
  INTARSIA_INLINE __m256 operator()(__m256i features) const {
    if constexpr (kParts == 1) return _mm256_permutevar8x32_ps(parts[0], features);
    const __m256 bit_3 = _mm256_castsi256_ps(_mm256_slli_epi32(features, 28));
    const __m256 bit_4 = _mm256_castsi256_ps(_mm256_slli_epi32(features, 27));
    __m256 chosen[kParts];
    for (int i = 0; i < kParts; ++i) chosen[i] = _mm256_permutevar8x32_ps(parts[i], features);
    return _mm256_blendv_ps(_mm256_blendv_ps(chosen[0], chosen[1], bit_3),
                            _mm256_blendv_ps(chosen[2], chosen[3], bit_3), bit_4);
  }
  __m256 parts[kParts];
};
template <>
struct WalkedRow<0> {
  INTARSIA_INLINE explicit WalkedRow(const float* row, int) : row(row) {}
  INTARSIA_INLINE __m256 operator()(__m256i features) const {
    alignas(32) uint32_t each[kLanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(each), features);
    return _mm256_setr_ps(row[each[0]], row[each[1]], row[each[2]], row[each[3]], row[each[4]],
                          row[each[5]], row[each[6]], row[each[7]]);
  }
  const float* row;
};

INTARSIA_INLINE __m256i load(const uint32_t* p) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
}

/// Nodes of walks i, i + 1, i + 4 and i + 5.
INTARSIA_INLINE __m256 load_nodes(const TreeNode<float>* nodes, const uint32_t* places, int i) {
  const auto two = [&](int k) {
    const auto* first = reinterpret_cast<const double*>(nodes + places[k]);
    const auto* second = reinterpret_cast<const double*>(nodes + places[k + 1]);
    return _mm_castpd_ps(_mm_loadh_pd(_mm_load_sd(first), second));
  };
  return _mm256_insertf128_ps(_mm256_castps128_ps256(two(i)), two(i + 4), 1);
}

template <bool kMissing, int kParts>
INTARSIA_INLINE void walk_trees(const TreeWalks& w, const WalkedRow<kParts>& row,
                                uint32_t* places) {
  const __m256i features = _mm256_set1_epi32((1 << w.feature_bits) - 1);
  const __m128i child_shift = _mm_cvtsi32_si128(w.child_shift);
  const __m128i missing_shift = _mm_cvtsi32_si128(31 - w.feature_bits);
  // What changes of the places of eight walks.
  const auto step = [&](int first) {
    uint32_t* at = places + first;
    const __m256 low = load_nodes(w.nodes, at, 0), high = load_nodes(w.nodes, at, 2);
    const __m256 thresholds = _mm256_shuffle_ps(low, high, 0x88);
    const __m256i ways = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0xdd));
    const __m256 x = row(_mm256_and_si256(ways, features));
    __m256 second = _mm256_cmp_ps(x, thresholds, _CMP_NLE_UQ);
    if constexpr (kMissing) {
      const __m256i first_for_nan = _mm256_srai_epi32(_mm256_sll_epi32(ways, missing_shift), 31);
      second = _mm256_andnot_ps(
          _mm256_and_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q), _mm256_castsi256_ps(first_for_nan)),
          second);
    }
    const __m256i children =
        _mm256_add_epi32(load(w.trees + first), _mm256_srl_epi32(ways, child_shift));
    const __m256i next = _mm256_sub_epi32(children, _mm256_castps_si256(second));
    const __m256i moves = _mm256_xor_si256(next, load(at));
    _mm256_store_si256(reinterpret_cast<__m256i*>(at), next);
    return moves;
  };
  for (int i = 0; i < kWalkedTrees; ++i) places[i] = w.trees[i] + 1;
  const int count = w.count;
  for (int32_t left = w.depth; left > 0;) {
    const int32_t steps = left < kWalkedSteps ? left : kWalkedSteps;
    for (int32_t i = 1; i < steps; ++i) {
      for (int first = 0; first < count; first += kLanes) step(first);
    }
    __m256i moves = _mm256_setzero_si256();
    for (int first = 0; first < count; first += kLanes) {
      moves = _mm256_or_si256(moves, step(first));
    }
    left -= steps;
    if (_mm256_testz_si256(moves, moves) != 0) break;
  }
}

template <int kParts>
void walk_row(const TreeWalks& walks, const float* numbers, uint32_t* leaves) {
  const WalkedRow<kParts> row(numbers, walks.feature_bits);
  walks.missing ? walk_trees<true>(walks, row, leaves) : walk_trees<false>(walks, row, leaves);
}

}  // namespace

template <>
void TreeWalk<Isa::kAvx2>::walk(const TreeWalks& walks, const float* row, uint32_t* leaves) {
  walks.feature_bits <= 3   ? walk_row<1>(walks, row, leaves)
  : walks.feature_bits <= 5 ? walk_row<4>(walks, row, leaves)
                            : walk_row<0>(walks, row, leaves);
}

}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX2
