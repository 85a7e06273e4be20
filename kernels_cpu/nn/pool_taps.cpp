// SPDX-License-Identifier: Apache-2.0
//
// See pool_taps.h.
#include "kernels_cpu/nn/pool_taps.h"

#include <cstring>

namespace intarsia::cpu {

PoolStrip::PoolStrip(const WindowWalk& walk, int64_t first, int64_t most, int64_t align) {
  const int w = walk.last();
  const int64_t stride = walk.stride[w], reach = walk.reach(w);
  const int64_t taps = walk.kernel[w];
  const auto round_up = [=](int64_t columns) { return (columns + stride - 1) / stride * stride; };
  // A result, and those before it.
  const int64_t span = round_up(reach);
  lanes = (kPoolColumns - span) / stride + 1;
  if (lanes > walk.out[w] - first) lanes = walk.out[w] - first;
  begin = first * stride - walk.before[w];
  const int64_t width = (lanes - 1) * stride + reach, rest = walk.in[w] - begin;
  low = begin < 0 ? -begin : 0;
  high = rest < width ? rest : width;
  lead = (align - low % align) % align;
  // The first result meets tap `plain`, the last one that before `plain_end`.
  plain = walk.taps_from(w, begin).first;
  plain_end = walk.taps_from(w, begin + (lanes - 1) * stride).end;
  if (plain > taps) plain = taps;
  if (plain_end < plain) plain_end = plain;
  joined = lanes == walk.out[w] && high - low <= lanes * stride &&
           taps - (plain_end - plain) <= kPoolMasks && (reach <= stride || lanes <= most);
  pitch = joined ? lanes * stride : (lanes - 1) * stride + span;
  if (!joined) {
    plain = 0;
    plain_end = taps;
  }
  spread = !joined && lanes == walk.out[w] && lanes < align;
  along = spread ? pitch / stride : lanes;
  rows = kPoolColumns / pitch < kPoolRows ? kPoolColumns / pitch : kPoolRows;
  // Whole planes, where several fit: so that the same rows are at their borders.
  const int64_t plane = walk.out_rows();
  if (plane < rows) rows -= rows % plane;
}

void pack_rows(const void* from, int64_t pitch, void* to, int64_t rows, int64_t length) {
  constexpr int64_t kPiece = 16;
  const auto* x = static_cast<const char*>(from);
  auto* y = static_cast<char*>(to);
  const int64_t whole = (length + kPiece - 1) / kPiece * kPiece;
  // What a row's last piece writes behind it, the next row writes again.
  for (; rows * length >= whole; --rows, x += pitch, y += length) {
    for (int64_t i = 0; i < length; i += kPiece) std::memcpy(y + i, x + i, kPiece);
  }
  for (; rows > 0; --rows, x += pitch, y += length) {
    for (int64_t i = 0; i < length; ++i) y[i] = x[i];
  }
}

}  // namespace intarsia::cpu
