// SPDX-License-Identifier: Apache-2.0
//
// Pooling by vectors, channels first. See pool_reduce.h, which says what a Reducer and Lines are.
//
// The columns of some rows of results are reduced along all axes of the window but the last, into a
// buffer; then columns under the taps of the last axis are. Kernels of 3 x 3 so take 6 steps, not
// 9. Several rows at once: what is stored is read at other places, which waits for the stores to
// end. Padding stands in the buffer as the neutral element. Short rows are one line instead, in
// which masks part them, or results that are dropped. Steps of more than two columns begin with
// taking the buffer apart, into columns of which each result meets the next, or of even steps the
// next but one.
#pragma once

#include <bit>

#include "kernels_cpu/common/lane_vector.h"
#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/nn/pool_taps.h"

namespace intarsia::cpu {

template <int kBytes, class T, class Reducer, class Lines>
class PoolPlanes {
 public:
  using A = typename Reducer::Accumulator;

  PoolPlanes(const WindowWalk& walk, const T* x, T* y, Reducer reducer, Lines& lines)
      : walk_(walk),
        x_(x),
        y_(y),
        reducer_(reducer),
        lines_(lines),
        taps_(walk, walk.last()),
        stride_(walk.stride[walk.last()]),
        parts_(stride_ <= 2       ? 1
               : stride_ % 2 == 0 ? stride_ / 2
                                  : stride_),
        elements_(walk.batch * walk.channels * walk.in_plane) {}

  /// Output rows [begin, end) of all channels. REQUIRES: PoolStrip::fits.
  void reduce(int64_t begin, int64_t end) {
    const int64_t width = walk_.out[walk_.last()];
    for (int64_t first = 0; first < width;) {
      const PoolStrip strip(walk_, first, kMostJoined, kLanes);
      start(strip, first);
      groups_ = record_ = 0;
      int64_t position[kMaxSpatial] = {}, count = 0;
      walk_.decode_row(begin % walk_.out_rows(), position);
      int64_t plane = begin / walk_.out_rows() * walk_.in_plane;
      for (int64_t unit = begin; unit < end; unit += count) {
        count = strip.rows < end - unit ? strip.rows : end - unit;
        const int64_t rows = walk_.out_rows();
        if (groups_ > 0 && count % rows == 0) {
          for (int64_t row = 0; row < count; row += rows, plane += walk_.in_plane) {
            repeat_rows(strip, plane, row);
          }
        } else {
          const bool all = walk_.last() == 1 && unit % rows == 0 && count % rows == 0;
          record_ = all && count == strip.rows ? rows : 0;
          plane = reduce_rows(strip, position, plane, count);
        }
        const A* columns = columns_ + strip.lead;
        if (parts_ > 1) {
          take_apart(columns, count * strip.pitch - stride_ + walk_.reach(walk_.last()));
          columns = apart_;
        }
        const int64_t lines = strip.joined || strip.spread ? 1 : count;
        const int64_t length = (count / lines - 1) * strip.along + strip.lanes;
        const int64_t step = strip.pitch / parts_;
        for (int64_t row = 0; row < lines; ++row) {
          T* to = strip.spread ? spread_ : y_ + (unit + row) * width + first;
          if (stride_ == 2 * parts_) {
            merge<2>(strip, columns + row * step, length, row * strip.lanes, to);
          } else {
            merge<1>(strip, columns + row * step, length, row * strip.lanes, to);
          }
        }
        if (strip.spread) {
          constexpr auto kBytesOf = static_cast<int64_t>(sizeof(T));
          pack_rows(spread_, strip.along * kBytesOf, y_ + unit * width, count, width * kBytesOf);
        }
      }
      first += strip.lanes;
    }
  }

 private:
  static constexpr int kLanes = kBytes / static_cast<int>(sizeof(A));
  static constexpr int64_t kMostJoined = 2 * kLanes;
  static constexpr int64_t kCapacity = kPoolColumns + kPoolColumns / 2 + 3 * kLanes;
  static constexpr int64_t kMostGroups = 16;
  static constexpr int kMostParts = 8;
  using Mask = std::make_unsigned_t<std::conditional_t<
      sizeof(A) == 1, int8_t, std::conditional_t<sizeof(A) == 4, int32_t, int64_t>>>;

  /// What all rows have in common.
  void start(const PoolStrip& strip, int64_t first) {
    const int w = walk_.last();
    if (w > 0) {
      const int64_t room = walk_.in[w - 1] + walk_.before[w - 1] - walk_.reach(w - 1);
      whole_rows_ = room < 0 ? 0 : room / walk_.stride[w - 1] + 1;
      if (whole_rows_ > walk_.out[w - 1]) whole_rows_ = walk_.out[w - 1];
    }
    for (A& column : columns_) column = reducer_.identity();
    lines_.start(walk_, first, strip.along);
    if (parts_ > 1) {
      for (A& column : apart_) column = reducer_.identity();
    }
    for (int64_t k = 0; k < walk_.kernel[w]; ++k) {
      const int64_t column = k * walk_.dilation[w];
      place_[k] = column % parts_ * (kCapacity / parts_) + column / parts_;
    }
    for (int64_t k = 0, masked = 0; k < walk_.kernel[w] && strip.joined; ++k) {
      if (k >= strip.plain && k < strip.plain_end) continue;
      Mask* mask = masks_[masked++];
      for (int64_t j = 0; j < strip.lanes; ++j) {
        const TapRun taps = walk_.taps_from(w, strip.begin + j * stride_);
        mask[j] = k >= taps.first && k < taps.end ? -1 : 0;
      }
      for (int64_t j = strip.lanes; j < strip.rows * strip.lanes; ++j) {
        mask[j] = mask[j - strip.lanes];
      }
    }
  }

  /// The columns of `count` rows from `position` in `plane` on; returns the plane behind them.
  int64_t reduce_rows(const PoolStrip& strip, int64_t* position, int64_t plane, int64_t count) {
    const int down = walk_.last() - 1;  // the axis along which rows follow one another
    const int64_t inside = strip.high - strip.low;
    const int64_t distance = down < 0 ? 0 : walk_.stride[down] * walk_.step[down];
    for (int64_t row = 0; row < count;) {
      taps_.find(position);
      // Rows whose windows are whole have the same taps.
      int64_t rows = 1;
      if (taps_.whole && down >= 0 && position[down] < whole_rows_) {
        rows = whole_rows_ - position[down];
        if (rows > count - row) rows = count - row;
      }
      lines_.rows(taps_, position, row, rows);
      const int64_t from = plane + taps_.base + strip.begin + strip.low;
      const bool dense = distance == strip.pitch && inside == strip.pitch;
      const int64_t lines = inside <= 0 ? 0 : dense ? 1 : rows;
      const Group group{from,
                        row * strip.pitch,
                        lines,
                        dense ? rows * inside : inside,
                        distance,
                        taps_.offset + taps_.begin,
                        taps_.end - taps_.begin};
      reduce_group(strip, group, 0, 0);
      if (row < record_ && groups_ < kMostGroups) {
        group_[groups_] = group;
        group_[groups_++].from -= plane;
      } else if (row < record_) {
        groups_ = record_ = 0;  // paddings of many rows
      }
      row += rows;
      if (down >= 0) position[down] += rows - 1;
      int axis = down;
      for (; axis >= 0 && ++position[axis] == walk_.out[axis]; --axis) position[axis] = 0;
      if (axis < 0) plane += walk_.in_plane;
    }
    return plane;
  }
  /// Rows whose columns are reduced alike.
  struct Group {
    int64_t from, to;      // element of the input, column of the buffer
    int64_t rows, length;  // lines of so many columns
    int64_t distance;      // elements from line to line
    const int64_t* offset;
    int64_t taps;
  };
  void reduce_group(const PoolStrip& strip, const Group& group, int64_t plane, int64_t column) {
    A* to = columns_ + strip.lead + strip.low + column + group.to;
    for (int64_t r = 0; r < group.rows; ++r) {
      reduce_columns(plane + group.from + r * group.distance, to + r * strip.pitch, group.length,
                     strip.joined, group.offset, group.taps);
    }
  }
  /// The columns of a plane, whose first row is `row` of the buffer, as those before it.
  void repeat_rows(const PoolStrip& strip, int64_t plane, int64_t row) {
    for (int64_t i = 0; i < groups_; ++i) {
      reduce_group(strip, group_[i], plane, row * strip.pitch);
    }
  }
  void reduce_columns(int64_t from, A* to, int64_t count, bool joined, const int64_t* offset,
                      int64_t taps) {
    // One vector, although a row ends before it: columns behind a joined one are masked, or of a
    // row that follows.
    if (joined && count < kLanes) {
      const auto whole = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count) | 3));
      if (from + (taps > 0 ? offset[taps - 1] : 0) + whole <= elements_) count = whole;
    }
    for_lane_vectors<kLanes>(0, count, [&](auto n, int64_t i) {
      using L = LaneVector<A, n()>;
      typename L::V sum, value;
      L::fill(sum, reducer_.identity());
      count_to<n()>(taps, [&](int64_t k) {
        L::load(x_ + (from + offset[k] + i), value);
        reducer_.step(sum, value);
      });
      L::store(to + i, sum);
    });
  }

  template <int kParts = 2>
  void take_apart(const A* columns, int64_t count) {
    if constexpr (kParts < kMostParts) {
      if (parts_ > kParts) return take_apart<kParts + 1>(columns, count);
    }
    // Of more parts so many at a time; some twice.
    for (int64_t first = 0; first < parts_; first += kParts) {
      take_apart_from<kParts>(columns, count, first + kParts <= parts_ ? first : parts_ - kParts);
    }
  }
  template <int kParts>
  void take_apart_from(const A* columns, int64_t count, int64_t first) {
    const int64_t parts = parts_, step = kCapacity / parts, length = (count + parts - 1) / parts;
    A* part[kParts];
    for (int p = 0; p < kParts; ++p) part[p] = apart_ + (first + p) * step;
    columns += first;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) {
      INTARSIA_UNROLLED
      for (int p = 0; p < kParts; ++p) part[p][i] = columns[i * parts + p];
    }
  }

  /// The results of a line of columns; of `lines_` the lanes from `lane` on.
  template <int kStride>
  void merge(const PoolStrip& strip, const A* columns, int64_t count, int64_t lane, T* y) {
    const int64_t all = walk_.kernel[walk_.last()], plain = strip.plain_end - strip.plain;
    for_lane_vectors<kLanes>(0, count, [&](auto n, int64_t i) {
      using L = LaneVector<A, n()>;
      typename L::V sum, none, column;
      L::fill(none, reducer_.identity());
      sum = none;
      const A* from = columns + i * kStride;
      const int64_t* place = place_ + strip.plain;
      count_to<n()>(plain, [&](int64_t k) {
        L::template load_apart<kStride>(from + place[k], column);
        reducer_.merge(sum, column);
      });
      for (int64_t k = 0; k < all - plain; ++k) {
        typename LaneVector<Mask, n()>::V mask, zero{};
        LaneVector<Mask, n()>::load(masks_[k] + lane + i, mask);
        L::template load_apart<kStride>(from + place_[k < strip.plain ? k : k + plain], column);
        column = zero != mask ? column : none;
        reducer_.merge(sum, column);
      }
      lines_.template store<L>(y + i, sum, lane + i);
    });
  }

  /// Calls body(k) for k < count; for long vectors the most frequent numbers of taps have code of
  /// their own.
  template <int kCount, class Body>
  static void count_to(int64_t count, const Body& body) {
    if (4 * kCount >= kLanes && count == 3) {
      body(0), body(1), body(2);
    } else if (4 * kCount >= kLanes && count == 2) {
      body(0), body(1);
    } else {
      for (int64_t k = 0; k < count; ++k) body(k);
    }
  }

  const WindowWalk& walk_;
  const T* x_;
  T* y_;
  Reducer reducer_;
  Lines& lines_;
  PoolTaps taps_;
  const int64_t stride_;  // along the last axis
  const int64_t parts_;   // into which columns are taken apart
  int64_t elements_;      // of the input
  /// Of the first plane in the buffer, if all of them are whole planes of images: the others are
  /// reduced alike, and rows of results meet the same taps each time.
  Group group_[kMostGroups];
  int64_t groups_ = 0;
  int64_t record_ = 0;      // rows to be listed
  int64_t whole_rows_ = 0;  // along the last axis but one, windows of rows before this end inside
  alignas(kBytes) A columns_[kCapacity];
  A apart_[kCapacity];
  T spread_[kCapacity];
  Mask masks_[kPoolMasks][kPoolColumns];  // of taps that are not plain: -1 in a row, else 0
  int64_t place_[kPoolColumns / 2];  // of each tap along the last axis, in columns or taken apart
};

}  // namespace intarsia::cpu
