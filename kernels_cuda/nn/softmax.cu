// SPDX-License-Identifier: Apache-2.0
//
// Lines of neighbours are rows (rows.h). Other lines lie side by side: a block takes 32 of them,
// its warps share the elements, and find the largest ones, then the sums, in shared memory.
#include "kernels_cuda/nn/softmax.h"

#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cuda/common/rows.h"

namespace intarsia::cuda {
namespace {

/// An element of the result, and how those of a line are known from its largest one and the sum.
template <bool Logarithm>
struct Normalized {
  float largest, factor;
  INTARSIA_DEVICE Normalized(float most, float sum)
      : largest(most), factor(Logarithm ? logf(sum) : 1 / sum) {}
  INTARSIA_DEVICE float operator()(float x) const {
    return Logarithm ? x - largest - factor : expf(x - largest) * factor;
  }
};

template <bool Logarithm, class T, int N, int kThreads>
INTARSIA_GLOBAL softmax_rows_kernel(Global<const T> x, Global<T> y, int64_t length, int64_t rows) {
  const RowPlace<kThreads> place;
  if (place.row >= rows) return;
  const int64_t first = place.row * length;
  const RowPart<T, N, kThreads> part(x, first, length, place.lane);
  float largest = -INFINITY;
  part.each([&](const Pack<T, N>& pack, int64_t) {
    repeat<N>([&](auto k) { largest = Larger::join(largest, number_of(pack.values[k()])); });
  });
  largest = over_row<Larger, kThreads>(largest);
  float sum = 0;
  part.each([&](const Pack<T, N>& pack, int64_t) {
    repeat<N>([&](auto k) { sum += expf(number_of(pack.values[k()]) - largest); });
  });
  sum = over_row<Total, kThreads>(sum);
  const Normalized<Logarithm> normalized(largest, sum);
  part.each([&](const Pack<T, N>& pack, int64_t at) {
    Pack<T, N> to{};
    repeat<N>(
        [&](auto k) { to.values[k()] = element_of<T>(normalized(number_of(pack.values[k()]))); });
    y.template store<N>(first + at, to);
  });
}

constexpr int kLanes = 32;
constexpr int kWarps = 8;

/// Of the warps' values for a lane's line; each of its threads gets the result. A block calls it
/// once for each Op.
template <class Op>
INTARSIA_DEVICE float over_warps(float value, int warp, int lane) {
  INTARSIA_SHARED(float, parts, kWarps* kLanes);
  parts[warp * kLanes + lane] = value;
  sync_threads();
  value = parts[lane];
  for (int w = 1; w < kWarps; ++w) {
    value = Op::join(value, static_cast<float>(parts[w * kLanes + lane]));
  }
  return value;
}

/// x is [outer][length][inner]; a line's elements are `inner` apart.
template <bool Logarithm, class T>
INTARSIA_GLOBAL softmax_lines_kernel(Global<const T> x, Global<T> y, int64_t length,
                                     int64_t inner) {
  const int lane = static_cast<int>(thread_x()) % kLanes;
  const int warp = static_cast<int>(thread_x()) / kLanes;
  const int64_t groups = (inner + kLanes - 1) / kLanes;
  const int64_t line = block_x() % groups * kLanes + lane;
  const int64_t first = block_x() / groups * length * inner + line;
  const int64_t end = line < inner ? length : 0;  // of lines that there are not, nothing
  float largest = -INFINITY;
  for (int64_t k = warp; k < end; k += kWarps) {
    largest = Larger::join(largest, number_of(x[first + k * inner]));
  }
  largest = over_warps<Larger>(largest, warp, lane);
  float sum = 0;
  for (int64_t k = warp; k < end; k += kWarps) {
    sum += expf(number_of(x[first + k * inner]) - largest);
  }
  sum = over_warps<Total>(sum, warp, lane);
  const Normalized<Logarithm> normalized(largest, sum);
  for (int64_t k = warp; k < end; k += kWarps) {
    const int64_t at = first + k * inner;
    y[at] = element_of<T>(normalized(number_of(x[at])));
  }
}

template <bool Logarithm, class T>
int run_softmax(const KernelContext& context, int64_t length, int64_t inner) {
  const TensorView &x = context.input(0), &y = context.output(0);
  const int64_t lines = x.count() / length;
  const auto from = elements<T>(x);
  const auto to = writable<T>(y);
  if (inner > 1) {
    const int64_t blocks = lines / inner * blocks_of(inner, kLanes);
    return launch<softmax_lines_kernel<Logarithm, T>>(static_cast<unsigned>(blocks),
                                                      kLanes * kWarps, stream_of(context), from, to,
                                                      length, inner);
  }
  constexpr int kMost = kPack<T>;
  const bool packed = takes_packs<T, kMost>(x) && takes_packs<T, kMost>(y);
  return start_rows<kMost>(length, packed, [&](auto n, auto threads) {
    return launch<softmax_rows_kernel<Logarithm, T, n(), threads()>>(
        row_blocks(lines, threads()), kRowThreads, stream_of(context), from, to, length, lines);
  });
}

}  // namespace

template <class Op, class T>
Status SoftmaxLike<Op, T>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  if (x.count() == 0) return {};
  int axis = context.attributes<SoftmaxAttributes>().axis;
  if (axis < 0) axis += x.rank;
  int64_t length = 1, inner = 1;
  for (int i = 0; i < x.rank; ++i) {
    if (i == axis) length = x.extents[i];
    if (i > axis) inner *= x.extents[i];
  }
  return launched(context, run_softmax<Op::logarithm, T>(context, length, inner));
}

extern const KernelList softmax_kernels;
constinit const KernelList softmax_kernels = kernel_list<SoftmaxKernels>();

}  // namespace intarsia::cuda
