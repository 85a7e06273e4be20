// SPDX-License-Identifier: Apache-2.0
//
// See typed.h. A unit is a block of C. For each pass over K it packs its rows of A and its columns
// of B, unless they lie there already; a panel of B then stays in the first cache level while the
// tiles walk down the rows. C holds the sums between the passes, so that units one below the other
// make each pass together and B is packed once for them; those of 16-bit types wait in the
// workspace, as floats, which has room for those of one large unit or of several small ones.
#include "kernels_cpu/gemm/typed.h"

#include <cstring>

#include "kernels_cpu/gemm/typed_blocking.h"
#include "kernels_cpu/gemm/typed_kernels.h"

namespace intarsia::cpu {
namespace {

// Sums so short that packing A for them takes as long as the product.
constexpr ptrdiff_t kShortSums = 16;
// Quads so few, of a block, that to set up tiles of AMX for them would take longer.
constexpr int64_t kSmallBlock = 1 << 14;
// Sums so short that a vector of partial ones would be mostly their end.
constexpr ptrdiff_t kShortDots = 32;

template <class S>
struct Functions {
  TypedTiles<Computed<S>> tiles;
  void (*pack)(const TypedPack<S>&);
  void (*dots)(const TypedDots<S>&);
  void (*columns)(const TypedColumns<S>&);
  void (*narrow)(const TypedNarrow<Computed<S>>&);
  void (*start)(const TypedEnds<S>&);
  void (*finish)(const TypedEnds<S>&);
  void (*blocks)(const QuadBlock&);  // of quads, or null
};

template <class S>
Functions<S> functions_of(Isa isa) {
  const auto of = [](auto i) {
    using Kernels = TypedKernels<decltype(i)::value, S>;
    return Functions<S>{Kernels::tiles(), &Kernels::pack,  &Kernels::dots,   &Kernels::columns,
                        &Kernels::narrow, &Kernels::start, &Kernels::finish, nullptr};
  };
  if constexpr (kQuads<S>) {
    Functions<S> functions = of(IsaConstant<Isa::kAvx512>());  // pick_groups names no other
    if (isa == Isa::kAmx) functions.blocks = &multiply_on_amx;
    return functions;
  } else {
    return pick_isa(isa, of);
  }
}

// A tile of which only `n` columns exist: its sums are kept beside C.
template <class V>
void run_edge(TypedTileFunction<V> function, TypedTile<V> tile, ptrdiff_t rows, ptrdiff_t columns,
              ptrdiff_t n) {
  alignas(64) V edge[kTypedTileBytes / sizeof(V)];
  V* const c = tile.c;
  for (ptrdiff_t r = 0; !tile.start && r < rows; ++r) {
    for (ptrdiff_t j = 0; j < columns; ++j) {
      edge[r * columns + j] = j < n ? c[r * tile.c_pitch + j] : V{};
    }
  }
  tile.c = edge;
  const ptrdiff_t pitch = tile.c_pitch;
  tile.c_pitch = columns;
  function(tile);
  for (ptrdiff_t r = 0; r < rows; ++r) {
    for (ptrdiff_t j = 0; j < n; ++j) c[r * pitch + j] = edge[r * columns + j];
  }
}

// What lies packed in a workspace: the lanes of a factor from one on, in the pass from an element
// of K on. -1: nothing.
struct Packed {
  ptrdiff_t lane = -1, k0 = -1;
  // Whether these lie there; from now on they do.
  bool holds(const Packed& wanted) {
    const bool same = lane == wanted.lane && k0 == wanted.k0;
    *this = wanted;
    return same;
  }
};
struct Kept {
  Packed rows, columns;
};

// One block of C.
template <class S>
struct Unit {
  using V = Computed<S>;
  const Functions<S>& functions;
  Factor<S> a, b;
  TypedEnds<S> ends;
  V alpha;
  bool few;     // rows in all: how sums are made does not depend on how C is cut
  bool narrow;  // columns in all: C is not cut between them
  bool brief;   // sums
  V *packed_a, *packed_b;
  LaneTerms a_terms, b_terms;
  ptrdiff_t row, column;  // where it begins
  Kept& kept;

  bool by_dots() const { return few && !kOfBytes<S> && b.lane_step != 1 && b.k_step == 1; }
  bool by_columns() const { return few && narrow && !kOfBytes<S> && b.lane_step == 1; }
  bool by_rows() const { return kReadsInPlace<S> && !few && (narrow || brief); }
  bool keeps_rows() const { return kKeepsRows<S> && !few && a.k_step == 1; }
  // Dot products as the product of B's lanes, which are rows then, with few columns.
  bool by_lanes(ptrdiff_t k) const { return kKeepsRows<S> && by_dots() && k <= kShortDots; }
  ptrdiff_t pass_depth() const { return by_dots() ? kDotsDepth : kDepth; }

  // The pass from k0 on; the first one is made even where K is 0.
  void pass(ptrdiff_t k0, ptrdiff_t k) const {
    bool start = k0 == 0;
    if (start && (ends.d != nullptr || ends.z != nullptr) && !starts_from_row()) {
      functions.start(ends);
      start = false;
    }
    const ptrdiff_t depth = min(k - k0, pass_depth());
    if (depth > 0 || start) {
      if (by_lanes(k)) {
        multiply_lanes(k, start);
      } else if (by_dots()) {
        pack_a(k0, depth, 1);
        functions.dots(
            {packed_a, b.at(0, k0), ends.rows, ends.n, depth, ends.sums, ends.sums_pitch, start});
      } else if (by_columns()) {
        sum_columns(k0, depth, k, start);
      } else if (by_rows()) {
        multiply_rows(k0, depth, start);
      } else {
        multiply(k0, depth, start);
      }
    }
    if constexpr (kSumsApart<S>) {
      if (k0 + depth >= k) functions.finish(ends);
    }
  }

 private:
  void pack_a(ptrdiff_t k0, ptrdiff_t depth, ptrdiff_t height) const {
    if (kept.rows.holds({row, k0})) return;
    functions.pack({a.at(0, k0), ends.rows, depth, height, false, packed_a, a_terms});
    if (alpha == 1) return;
    for (ptrdiff_t i = 0; i < ends.rows * depth; ++i) packed_a[i] *= alpha;
  }

  void multiply_lanes(ptrdiff_t k, bool start) const {
    const TypedFamily<V>& family = functions.tiles.half_by_row;
    const ptrdiff_t columns = family.columns;
    pack_a(0, k, 1);
    functions.pack({b, ends.n, k, 1, false, packed_b, b_terms});
    constexpr ptrdiff_t kMostHalf = kColumnStep<S> / 2;
    alignas(64) V panel[kShortDots * kMostHalf] = {}, sums[kRowStep * kMostHalf];
    for (ptrdiff_t r = 0; r < ends.rows; ++r) {
      for (ptrdiff_t i = 0; i < k; ++i) panel[i * columns + r] = packed_a[r * k + i];
    }
    TypedTile<V> tile{};
    tile.b = panel;
    tile.b_step = columns;
    tile.k = tile.a_pitch = k;
    tile.c = sums;
    tile.c_pitch = columns;
    tile.start = true;
    for (ptrdiff_t j = 0; j < ends.n; j += family.max_rows) {
      const ptrdiff_t lanes = min(ends.n - j, family.max_rows);
      tile.a = packed_b + j * k;
      family.by_rows[lanes - 1](tile);
      for (ptrdiff_t r = 0; r < ends.rows; ++r) {
        V* to = ends.sums + r * ends.sums_pitch + j;
        for (ptrdiff_t i = 0; i < lanes; ++i) {
          to[i] = start ? sums[i * columns + r] : to[i] + sums[i * columns + r];
        }
      }
    }
  }

  // B lies as it is, where vectors may be read up to its end, after `k` rows.
  void sum_columns(ptrdiff_t k0, ptrdiff_t depth, ptrdiff_t k, bool start) const {
    if constexpr (!kOfBytes<S>) {
      pack_a(k0, depth, ends.rows);
      const S* end = k > 0 ? b.at(0, k - 1).data + ends.n : b.data;
      functions.columns({packed_a, b.at(0, k0), end, ends.rows, ends.n, depth, ends.sums,
                         ends.sums_pitch, start});
    }
  }

  // Whether by_rows() has all it starts from in registers.
  bool starts_from_row() const {
    return by_rows() && narrow && ends.z == nullptr && ends.d_row == 0;
  }

  void multiply_rows(ptrdiff_t k0, ptrdiff_t depth, bool start) const {
    if constexpr (kReadsInPlace<S>) {
      const ptrdiff_t width = functions.tiles.width;
      TypedNarrow<V> job{
          a.at(0, k0),     b.at(0, k0).data, b.k_step,       width,
          ends.rows,       ends.n,           depth,          start ? nullptr : ends.sums,
          ends.sums_pitch, ends.sums,        ends.sums_pitch};
      if (b.lane_step != 1 || alpha != 1 || !narrow) {
        pack_b(0, k0, depth);
        job.b = packed_b;
        job.b_step = width;
        job.b_panel = width * depth;
      }
      V row[kColumnStep<S>];
      if (start && ends.d != nullptr) {
        for (ptrdiff_t j = 0; j < ends.n; ++j) row[j] = ends.beta * ends.d[j * ends.d_column];
        job.from = row;
        job.from_pitch = 0;
      }
      functions.narrow(job);
    }
  }

  void pack_b(ptrdiff_t first, ptrdiff_t k0, ptrdiff_t depth) const {
    if (kept.columns.holds({column, k0})) return;
    const ptrdiff_t n = ends.n - first, width = functions.tiles.width;
    functions.pack({b.at(first, k0), n, depth, width, true, packed_b, b_terms});
    if (!by_rows() || alpha == 1) return;
    for (ptrdiff_t i = 0; i < round_up(n, width) * depth; ++i) packed_b[i] *= alpha;
  }

  void multiply(ptrdiff_t k0, ptrdiff_t depth, bool start) const {
    const TypedTiles<V>& tiles = functions.tiles;
    const ptrdiff_t m = ends.rows;
    // Packing B is no less work than a product with few rows; bytes have to be.
    const ptrdiff_t wide = tiles.in_place.columns;
    const ptrdiff_t in_place = few && !kOfBytes<S> && b.lane_step == 1 ? ends.n / wide * wide : 0;
    const bool pairs = !narrow && !few && tiles.pairs.max_rows > 0;
    const ptrdiff_t most = pairs ? tiles.pairs.max_rows : tiles.main.max_rows;
    const ptrdiff_t height = ceil_div(m, ceil_div(m, most));
    pack_a(k0, depth, keeps_rows() ? 1 : height);
    if (in_place < ends.n) pack_b(in_place, k0, depth);
    if constexpr (kQuads<S>) {
      if (functions.blocks != nullptr && !few && int64_t{m} * ends.n * depth >= kSmallBlock) {
        functions.blocks({packed_a, packed_b, m, ends.n, depth, ends.sums, ends.sums_pitch, start,
                          a_terms, b_terms});
        return;
      }
    }
    TypedTile<V> tile{};
    tile.k = depth;
    tile.c_pitch = ends.sums_pitch;
    tile.start = start;
    tile.a_pitch = depth;
    for (ptrdiff_t n0 = 0; n0 < ends.n;) {
      const TypedFamily<V>* family = &tiles.in_place;
      tile.b = b.at(n0, k0).data;
      tile.b_step = b.k_step;
      tile.b_panel = tiles.width;
      const ptrdiff_t left = ends.n - n0;
      if (n0 >= in_place) {
        const bool fits = few && tiles.few.columns <= round_up(left, tiles.width);
        const bool half = left <= tiles.half.columns;
        const bool pair = pairs && left > tiles.width;
        if (fits) {
          family = &tiles.few;
        } else if (keeps_rows()) {
          family = pair ? &tiles.pairs_by_row : half ? &tiles.half_by_row : &tiles.by_row;
        } else {
          family = pair ? &tiles.pairs : half ? &tiles.half : &tiles.main;
        }
        tile.b = packed_b + (n0 - in_place) * depth;
        tile.b_step = tiles.width;
        tile.b_panel = tiles.width * depth;
      }
      tile.b_terms = {b_terms.sums + n0, b_terms.zeros + n0};
      for (ptrdiff_t m0 = 0; m0 < m; m0 += height) {
        const ptrdiff_t rows = min(m - m0, height);
        tile.a = packed_a + m0 * a_pitch<S>(depth);
        tile.a_terms = {a_terms.sums + m0, a_terms.zeros + m0};
        tile.c = ends.sums + m0 * ends.sums_pitch + n0;
        const TypedTileFunction<V> function = family->by_rows[rows - 1];
        if (family->columns <= (kSumsApart<S> ? ends.sums_pitch - n0 : left)) {
          function(tile);
        } else {
          run_edge(function, tile, rows, family->columns, left);
        }
      }
      n0 += family->columns;
    }
  }
};

}  // namespace

template <class S>
int64_t typed_units(const GemmShape& shape, int64_t enough) {
  if (shape.m <= 0 || shape.n <= 0) return 0;
  const TypedBlocking blocking = typed_blocking<S>(shape, enough);
  return int64_t{blocking.m_blocks} * blocking.n_blocks;
}

template <class S>
int64_t typed_workspace(const GemmShape& shape) {
  return TypedScratch<S>(shape).bytes;
}

template <class S>
void typed_run(const TypedArgs<S>& args, int64_t begin, int64_t end, std::byte* workspace) {
  using V = Computed<S>;
  const TypedBlocking blocking = typed_blocking<S>(args.shape, args.enough_units);
  const TypedScratch<S> scratch(args.shape);
  const Functions<S> functions = functions_of<S>(args.isa);
  Factor<S> b = args.b;
  if constexpr (kQuads<S>) b.flip ^= 0x80;  // signed
  const ptrdiff_t pitch = args.pitch != 0 ? args.pitch : static_cast<ptrdiff_t>(args.shape.n);
  const auto terms = [&](int64_t from, int64_t to) {
    return LaneTerms{reinterpret_cast<uint32_t*>(workspace + from),
                     reinterpret_cast<uint32_t*>(workspace + (from + to) / 2)};
  };
  Kept kept;
  const int64_t unit_sums = int64_t{blocking.m_block} * blocking.n_block;
  const auto make_unit = [&](int64_t index, int64_t place) {
    const auto m0 = static_cast<ptrdiff_t>(index % blocking.m_blocks) * blocking.m_block;
    const auto n0 = static_cast<ptrdiff_t>(index / blocking.m_blocks) * blocking.n_block;
    TypedEnds<S> ends{};
    ends.rows = min(args.shape.m - m0, blocking.m_block);
    ends.n = min(args.shape.n - n0, blocking.n_block);
    ends.pitch = pitch;
    ends.c = args.c + m0 * pitch + n0;
    if (args.z != nullptr) ends.z = args.z + m0 * pitch + n0;
    if (args.d != nullptr) ends.d = args.d + m0 * args.d_row + n0 * args.d_column;
    ends.d_row = args.d_row;
    ends.d_column = args.d_column;
    ends.beta = args.beta;
    ends.epilogue = args.epilogue;
    if constexpr (kSumsApart<S>) {
      ends.sums = reinterpret_cast<V*>(workspace + scratch.sums) + place * unit_sums;
      ends.sums_pitch = blocking.n_block;
    } else {
      ends.sums = ends.c;
      ends.sums_pitch = pitch;
    }
    return Unit<S>{functions,
                   args.a.at(m0, 0),
                   b.at(n0, 0),
                   ends,
                   args.alpha,
                   args.shape.m <= kTypedFewRows,
                   args.shape.n <= kColumnStep<S>,
                   args.shape.k <= kShortSums,
                   reinterpret_cast<V*>(workspace + scratch.a),
                   reinterpret_cast<V*>(workspace + scratch.b),
                   terms(scratch.a_terms, scratch.b_terms),
                   terms(scratch.b_terms, scratch.bytes),
                   m0,
                   n0,
                   kept};
  };
  const auto k = static_cast<ptrdiff_t>(args.shape.k);
  for (int64_t first = begin, last; first < end; first = last) {
    // Those of the same columns, whose sums all have a place.
    const int64_t below = (first / blocking.m_blocks + 1) * blocking.m_blocks;
    last = below < end ? below : end;
    if (kSumsApart<S>) {
      const int64_t places = scratch.sums_room / unit_sums;
      last = min(last, static_cast<ptrdiff_t>(first + (places > 1 ? places : 1)));
    }
    const ptrdiff_t pass = make_unit(first, 0).pass_depth();
    ptrdiff_t k0 = 0;
    do {
      for (int64_t index = first; index < last; ++index)
        make_unit(index, index - first).pass(k0, k);
      k0 += pass;
    } while (k0 < k);
  }
}

#define INTARSIA_TYPED(S)                                     \
  template int64_t typed_units<S>(const GemmShape&, int64_t); \
  template int64_t typed_workspace<S>(const GemmShape&);      \
  template void typed_run<S>(const TypedArgs<S>&, int64_t, int64_t, std::byte*);
INTARSIA_TYPED(double)
INTARSIA_TYPED(uint32_t)
INTARSIA_TYPED(uint64_t)
INTARSIA_TYPED(Float16)
INTARSIA_TYPED(BFloat16)
INTARSIA_TYPED(Int16Pair)
#if INTARSIA_WITH_AVX512
INTARSIA_TYPED(ByteQuad)
#else
template int64_t typed_workspace<ByteQuad>(const GemmShape&);  // plans are for every machine
#endif
#undef INTARSIA_TYPED

}  // namespace intarsia::cpu
