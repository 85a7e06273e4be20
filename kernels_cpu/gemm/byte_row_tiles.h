// SPDX-License-Identifier: Apache-2.0
//
// How byte_panels_amx.h cuts rows of A into tiles, all of one height. Rows of an image lie in
// lines, the same distance apart, and are read where they lie, by tiles that end where lines do or
// go on over what lies between lines: sums of that are nobody's. The last tile of such a stretch
// reaches back. Rows that lie otherwise are copied side by side. Of these ways the one is taken
// whose tiles take the least time.
//
// Included by sources of AVX-512 only.
#pragma once

#include "kernels_cpu/gemm/byte_panels.h"
#include "kernels_cpu/gemm/even_block.h"

namespace intarsia::cpu {

template <Isa I>
struct ByteRowTiles;

template <>
struct ByteRowTiles<Isa::kAmx> {
  static constexpr ptrdiff_t kMostRows = 96;

  /// Neighbouring rows of A that are neighbours in a tile, too.
  struct Piece {
    int first, row, rows;  ///< Its first row in the tile, and in A.
  };
  struct Tile {
    const uint8_t* even;         ///< The first row; others are `pitch` bytes apart.
    const uint8_t* const* rows;  ///< If not null, where rows lie instead.
    int first_piece, pieces;
  };
  ptrdiff_t count, height, pitch = 0;
  Tile tiles[kMostRows];
  Piece pieces[kMostRows];  ///< Each row belongs to one of them.

  /// REQUIRES: rows of 1 to kMostRows.
  ByteRowTiles(const uint8_t* const* a, ptrdiff_t rows) : a_(a), rows_(static_cast<int>(rows)) {
    int longest = 1;
    for (int first = 0, last; first + 1 < rows_; first = last) {
      const ptrdiff_t step = a[first + 1] - a[first];
      for (last = first + 1; last + 1 < rows_ && a[last + 1] - a[last] == step;) ++last;
      if (last - first < longest) continue;
      longest = last - first + 1;
      pitch = step;
    }
    find_lines(longest);
    const auto even = [](int all) { return even_block(all, kTileRows, 1); };
    const int64_t least = cover<false>(even(longest));
    if (lines_count_ == 1 || height >= kFullTile) return;
    const int64_t gaps = cover<false>(one_stretch_ ? min(lines_[0].most, kTileRows)
                                                   : even(min(rows_, lines_[0].most)));
    const int64_t copies = cost(ceil_div(rows, kTileRows), even(rows_), true);
    if (copies < min(least, gaps)) {
      cover<true>(even(rows_));
    } else if (least <= gaps) {
      cover<false>(even(longest));
    }
  }

 private:
  static constexpr ptrdiff_t kFullTile = 14;  ///< A higher one takes as long.

  /// Rows `pitch` apart.
  struct Line {
    int row, end;
    int place;  ///< Of its first row, in pitches from the first row of the stretch on.
    int most;   ///< Places of the stretch: lines whose distances are multiples of the pitch.
  };

  /// The time of tiles: of each row, and of as many as reading B takes. Copying takes thrice as
  /// long.
  static int64_t cost(int64_t tiles, int64_t rows, bool copied) {
    return tiles * (rows + 13) * (copied ? 3 : 1);
  }

  void find_lines(int longest) {
    lines_[0] = {0, longest, 0, longest};
    lines_count_ = 1;
    if (longest == rows_) return;
    int place = 0;
    for (int first = 0, end; first < rows_; first = end) {
      for (end = first + 1; end < rows_ && a_[end] - a_[end - 1] == pitch;) ++end;
      if (first == 0) lines_count_ = 0;
      lines_[lines_count_++] = {first, end, place, place + end - first};
      if (end == rows_) break;
      const ptrdiff_t step = a_[end] - a_[end - 1];
      const bool fits = pitch > 0 && step > 0 && step % pitch == 0 && step / pitch < kMostRows;
      place = fits ? place + end - first - 1 + static_cast<int>(step / pitch) : 0;
      one_stretch_ &= fits;
    }
    for (int i = lines_count_ - 2; i >= 0; --i) {
      if (lines_[i + 1].place > 0) lines_[i].most = lines_[i + 1].most;
    }
  }

  /// Tiles of `high` rows for all rows of A; gives their time.
  template <bool kCopied>
  int64_t cover(int64_t high) {
    const int size = static_cast<int>(high);
    height = size;
    count = 0;
    int64_t time = 0;
    int found = 0;
    for (int row = 0, at = 0; row < rows_;) {
      const Line& line = lines_[at];
      const int place = line.place + row - line.row, start = min(place, line.most - size);
      Tile& tile = tiles[count++];
      tile.first_piece = found;
      if (kCopied || start < 0) {
        const int first = min(row, rows_ - size);
        tile.even = nullptr;
        tile.rows = a_ + first;
        pieces[found++] = {row - first, row, first + size - row};
        row = first + size;
        while (at < lines_count_ && lines_[at].end <= row) ++at;
      } else {
        tile.even = a_[row] - (place - start) * pitch;
        tile.rows = nullptr;
        for (;;) {  // what it has of each line of the stretch
          const Line& of = lines_[at];
          const int first = of.place + row - of.row - start, rows = min(size - first, of.end - row);
          if (rows <= 0) break;
          pieces[found++] = {first, row, rows};
          row += rows;
          if (row < of.end || ++at == lines_count_ || lines_[at].place == 0) break;
        }
      }
      tile.pieces = found - tile.first_piece;
      time += cost(1, high, tile.rows != nullptr);
    }
    return time;
  }

  const uint8_t* const* a_;
  int rows_, lines_count_;
  bool one_stretch_ = true;
  Line lines_[kMostRows];
};

}  // namespace intarsia::cpu
