// SPDX-License-Identifier: Apache-2.0
//
// See block.h.
#include "kernels_cpu/gemm/block.h"

#include "kernels_cpu/gemm/block_grid.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {
namespace {

// Bytes of B that a block may cover: half of a second-level cache of 1 MiB.
constexpr ptrdiff_t kBlockBFloats = (512 << 10) / sizeof(float);
// Depth of one pass over K: 64 columns of B take 96 KiB, which come from the second-level cache.
constexpr ptrdiff_t kPassDepth = 384;
// A line of a panel, of the cache.
constexpr ptrdiff_t kLineBytes = kPanel * sizeof(float);
// Below this many units, blocks are made smaller, so that threads share the work evenly...
constexpr ptrdiff_t kEnoughUnits = 16;
// ...unless a unit would be smaller than this many multiply-adds.
constexpr int64_t kSmallUnit = 1 << 17;
// Blocks of fewer rows are made narrower rather than lower. Rows come first: what reads the product
// is cut by rows, too, and finds them in its processor's cache.
constexpr ptrdiff_t kSmallRows = 80;

// Multiply-adds that take ten times as long as to look for other blocks.
constexpr int64_t kWorthEven = 8 * kSmallUnit;
// What the largest of two shares and of four have more than an equal one may be, in percent, and
// what less is worth smaller blocks.
constexpr int64_t kUneven = 8;

// B of so many floats stays in the second-level cache beside what passes through.
constexpr int64_t kNearFloats = 1 << 17;
// B of so many floats, read again for each block of rows, comes fast enough.
constexpr int64_t kMostReadAgain = 1 << 18;

// Blocks of nearly equal size, a multiple of `step`, none above `most`. Not inlined: there are many
// calls.
[[gnu::noinline]] ptrdiff_t even_block(ptrdiff_t total, ptrdiff_t most, ptrdiff_t step) {
  const ptrdiff_t blocks = max(ceil_div(total, max(most, step)), 1);
  return max(ceil_div(ceil_div(total, blocks), step) * step, step);
}

// The family for the columns from here on: the widest that all rows fit in, else the widest of
// those for any number of rows. None that would leave one or two panels to narrow tiles, which take
// more time for each.
const TileFamily& choose_family(const TileKernels& kernels, ptrdiff_t m, ptrdiff_t panels) {
  if constexpr (!INTARSIA_HAS_VECTORS) return kernels.families[0];  // the only one
  const TileFamily* const end = kernels.families + kernels.family_count;
  const auto widest = [&](const TileFamily* from, ptrdiff_t rows) {
    for (; from + 1 < end; ++from) {
      const ptrdiff_t left = panels - from->panels;
      const bool narrow = left < min(from->panels, 3) && left > 0;
      if (from->max_rows >= rows && left >= 0 && !narrow) break;
    }
    return from;
  };
  const TileFamily* const fits = widest(kernels.families, m);
  return fits->max_rows >= m ? *fits : *widest(end - kernels.mains, 0);
}

// What tile i of a pass fetches of the panels of the next one: of each panel, 1 << sharing tiles
// fetch a part, for a memory that is slow to answer holds up the tile itself where there are too
// many questions at once. The tiles behind them fetch nothing: the line that they start with.
inline void share_prefetch(Tile& t, ptrdiff_t i, int panels, int sharing, const float* next,
                           ptrdiff_t pass, const float* b) {
  const ptrdiff_t panel = i >> sharing, part = i & ((1 << sharing) - 1);
  const bool fetches = panel < panels;
  t.prefetch = fetches ? next + panel * t.b_panel_pitch + part * (pass * kPanel >> sharing) : b;
  t.prefetch_step = fetches ? kLineBytes >> sharing : 0;
}

// Lines of C come while the sums are made, where these take long enough, or where rows are too far
// apart for the processor to foresee.
INTARSIA_INLINE void fetch_sums(const Tile& t, ptrdiff_t rows) {
  if (t.taps * t.k < 48 && t.c_pitch < 16 * kPanel) return;
  const float* c = t.c;
  for (; rows > 0; --rows, c += t.c_pitch) {
    for (ptrdiff_t j = 0; j < t.n; j += kPanel) __builtin_prefetch(c + j, 1, 3);
  }
}

// Whether a tap of rows [0, n) meets padding alone.
bool outside(const float* const* rows, ptrdiff_t n, const float* zeros) {
  for (ptrdiff_t r = 0; r < n; ++r) {
    if (rows[r] != zeros) return false;
  }
  return true;
}

// How much more than an equal share one of two threads, and of four, has: both in percent.
int64_t unevenness(const Blocking& s, int64_t m, int64_t n) {
  const BlockGrid grid = s.columns_first ? BlockGrid{m, s.m_block, n, s.n_block}
                                         : BlockGrid{n, s.n_block, m, s.m_block};
  return grid.unevenness(2) + grid.unevenness(4);
}

// Where blocks are few, others that threads have equal shares of: narrower ones, or lower ones too
// and in another order, where B is near.
[[gnu::cold, gnu::noinline]] void even_out(Blocking& s, ptrdiff_t m, ptrdiff_t n, bool near) {
  const auto of = [&, first = s](const BlockCut& cut) {
    Blocking other = first;
    other.m_block = ceil_div(m, cut.rows);
    other.m_blocks = ceil_div(m, other.m_block);
    if (cut.columns == first.n_blocks) return other;
    other.n_block = even_block(n, ceil_div(n, cut.columns), kPanel);
    other.n_blocks = ceil_div(n, other.n_block);
    return other;
  };
  const auto cost = [&](const BlockCut& cut) { return unevenness(of(cut), m, n); };
  Blocking turned = s;
  s = of(even_cut({s.m_blocks, s.n_blocks}, s.m_blocks + (near ? 1 : 0), kUneven, cost));
  turned.columns_first = !turned.columns_first;
  if (near && unevenness(turned, m, n) + kUneven <= unevenness(s, m, n)) s = turned;
}

}  // namespace

Blocking choose_blocking(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_floats,
                         ptrdiff_t most_rows) {
  constexpr ptrdiff_t kStep = (INTARSIA_HAS_VECTORS ? 4 : 2) * kPanel;  // of the widest tile
  Blocking s{};
  // One block, without the divisions below, which take as long as a small product.
  if (INTARSIA_HAS_VECTORS && m > 0 && m <= most_rows && n * k <= kBlockBFloats / 2 &&
      int64_t{m} * n * k < kSmallUnit) {
    s.m_block = m;
    s.n_block = max((n + kStep - 1) & -kStep, kStep);
    s.m_blocks = s.n_blocks = n > 0 ? 1 : 0;
    return s;
  }
  s.m_block = even_block(m, most_rows, 1);
  s.n_block = even_block(n, kBlockBFloats / max(k, 1) / kStep * kStep, kStep);
  // Narrower, then lower blocks until there are enough of them.
  for (;;) {
    s.m_blocks = ceil_div(m, s.m_block);
    s.n_blocks = ceil_div(n, s.n_block);
    if (s.m_blocks * s.n_blocks >= kEnoughUnits) break;
    if (int64_t{s.m_block} * min(s.n_block, n) * k < 2 * kSmallUnit) break;
    if (s.n_block > 4 * kStep || (s.n_block > kStep && s.m_block < kSmallRows)) {
      s.n_block = even_block(n, s.n_block / 2, kStep);
    } else if (s.m_block >= kSmallRows) {
      s.m_block = even_block(m, s.m_block / 2, 1);
    } else {
      break;
    }
  }
  // What is walked slowly is read once; what is walked fast is read again for each slow step. But
  // where threads have rows of their own, those are in their caches, as what comes before wrote
  // them and what comes next reads them: worth it if A and C are more than B.
  const int64_t b_floats = int64_t{n} * k;
  s.columns_first = s.m_blocks * b_floats + a_floats < s.n_blocks * int64_t{a_floats} + b_floats;
  if (INTARSIA_HAS_VECTORS && b_floats <= min(kMostReadAgain, a_floats + int64_t{m} * n)) {
    s.columns_first = true;
  }
  const ptrdiff_t lines = s.columns_first ? s.m_blocks : s.n_blocks;
  if (INTARSIA_HAS_VECTORS && int64_t{m} * n * k >= kWorthEven &&
      (lines < kEnoughUnits / 2 || s.m_blocks * s.n_blocks < 2 * kEnoughUnits)) {
    even_out(s, m, n, b_floats <= kNearFloats);
  }
  return s;
}

void trim_taps(Tile& tile, ptrdiff_t rows, const float* zeros) {
  for (; tile.taps > 0 && outside(tile.rows, rows, zeros); --tile.taps) {
    tile.rows += tile.row_pitch;
    tile.b += tile.k * kPanel;
  }
  while (tile.taps > 0 && outside(tile.rows + (tile.taps - 1) * tile.row_pitch, rows, zeros)) {
    --tile.taps;
  }
}

void run_block(const Block& s) {
  const TileKernels kernels = tile_kernels(s.isa);
  const ptrdiff_t panel_pitch = s.taps * s.k * kPanel;
  const Epilogue none;
  Tile t{};
  t.row_pitch = s.row_pitch;
  t.b_panel_pitch = panel_pitch;
  t.c_pitch = s.c_pitch;
  for (ptrdiff_t n0 = 0; n0 < s.n;) {
    const TileFamily& family = choose_family(kernels, s.m, panel_count(s.n - n0));
    // Divisions take as long as a small product, but few bytes.
    const bool one = INTARSIA_HAS_VECTORS && s.m <= family.max_rows;
    const ptrdiff_t tiles = one ? min(s.m, 1) : ceil_div(s.m, family.max_rows);
    t.n = min(s.n - n0, family.panels * kPanel);
    const int sharing = tiles < 2 * family.panels ? 0 : tiles < 4 * family.panels ? 1 : 2;
    // A pass takes several taps, or a part of one. Panels that one tile uses once need no passes.
    ptrdiff_t k_parts = 1, k_step = s.k, tap_step = s.taps;
    if (tiles > 1) {
      k_parts = max(ceil_div(s.k, kPassDepth), 1);
      k_step = ceil_div(s.k, k_parts);
      const ptrdiff_t most_taps = k_parts > 1 ? 1 : max(kPassDepth / max(s.k, 1), 1);
      tap_step = ceil_div(s.taps, ceil_div(s.taps, most_taps));
    }
    for (ptrdiff_t tap = 0; tap < s.taps; tap += tap_step) {
      for (ptrdiff_t part = 0; part < k_parts; ++part) {
        const ptrdiff_t k0 = part * k_step;
        t.k = min(k_step, s.k - k0);
        const ptrdiff_t taps = t.k <= 0 ? 0 : min(tap_step, s.taps - tap);
        t.row_offset = s.row_offset + k0;
        const float* b = s.b + n0 / kPanel * panel_pitch + (tap * s.k + k0) * kPanel;
        const bool first = tap == 0 && part == 0;
        const bool last = tap + tap_step >= s.taps && part + 1 == k_parts;
        t.epilogue = last ? &s.epilogue : &none;
        // The first pass starts from bias and residual, the others from the sums so far.
        t.bias = first && s.bias ? s.bias + n0 : nullptr;
        const float* initial = first ? s.residual : s.c;
        t.residual_pitch = first ? s.residual_pitch : s.c_pitch;
        const ptrdiff_t pass = taps * t.k;
        const float* next = b + pass * kPanel + (last ? (family.panels - 1) * panel_pitch : 0);
        const int fetched = last && s.b_ends && n0 + t.n >= s.n ? 0 : family.panels;
        for (ptrdiff_t i = 0, m0 = 0; i < tiles; ++i) {
          const ptrdiff_t m1 = one ? s.m : s.m * (i + 1) / tiles;
          if (INTARSIA_HAS_VECTORS) share_prefetch(t, i, fetched, sharing, next, pass, b);
          t.taps = taps;
          t.b = b;
          t.rows = s.rows + tap * s.row_pitch + m0;
          if (s.trim != nullptr) s.trim(t, m1 - m0, s.zeros);
          t.c = s.c + m0 * s.c_pitch + n0;
          t.residual = initial ? initial + m0 * t.residual_pitch + n0 : nullptr;
          if (INTARSIA_HAS_VECTORS) fetch_sums(t, m1 - m0);
          if (t.taps > 0 || first || last) family.by_rows[m1 - m0 - 1](t);
          m0 = m1;
        }
      }
    }
    n0 += t.n;
  }
}

}  // namespace intarsia::cpu
