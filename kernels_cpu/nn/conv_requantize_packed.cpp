// SPDX-License-Identifier: Apache-2.0
//
// Fast ConvRequantize by products: blocks of sums in the second cache level become codes. Images of
// few channels are copied first, with their padding (ByteRows). Blocks, and rows that are copied,
// are shared out over the threads.
#include "core/kernel_list.h"
#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/nn/conv_integer_packed.h"
#include "kernels_cpu/nn/conv_requantize.h"

namespace intarsia::cpu {
namespace {

// Rows and columns of blocks are multiples of these, unless the product has fewer. A block has
// about as many sums as its largest number says.
constexpr int64_t kRowStep = 12, kColumnStep = 32, kMostColumns = 512, kSums = 1 << 16;
constexpr int64_t kMostSums = kSums + kRowStep * kMostColumns;

struct Blocks {
  int64_t rows, columns, of_rows, of_columns;

  /// `enough` blocks for the threads, unless they would become too small to share.
  Blocks(const GemmShape& product, int64_t enough)
      : columns(even_block(product.n, kMostColumns, kColumnStep)) {
    rows = even_block(product.m, round_up(kSums / columns, kRowStep), kRowStep);
    for (;;) {
      of_rows = ceil_div(product.m, rows);
      of_columns = ceil_div(product.n, columns);
      constexpr int64_t kSmall = 1 << 20;  // products of groups of bytes
      if (of_rows * of_columns >= enough || rows * columns * product.k < kSmall) return;
      if (rows >= 4 * kRowStep && rows >= columns / 2) {
        rows = round_up(rows / 2, kRowStep);
      } else if (columns >= 2 * kColumnStep) {
        columns = round_up(columns / 2, kColumnStep);
      } else {
        return;
      }
    }
  }
};

/// Of a thread's workspace.
CheckedInt sums_bytes(const GemmShape& product) {
  const CheckedInt all = (CheckedInt(product.m) + kRowStep) * (CheckedInt(product.n) + kColumnStep);
  return (all < CheckedInt(kMostSums) ? all : CheckedInt(kMostSums)) * sizeof(uint32_t) + 64;
}
template <class S>
int64_t thread_bytes(const GemmShape& product) {
  return (CheckedInt(typed_workspace<S>(product)) + sums_bytes(product)).value() / 64 * 64;
}

/// The threads' bytes, and behind them those of a copied image.
template <class S>
int64_t workspace_bytes(const KernelContext& context, const ConvShape& s) {
  GemmShape product = integer_conv_product<S>(context, s);
  CheckedInt image = 0;
  if (ByteRows::serve(s)) {
    const ByteRows rows(context, s);
    product.k = rows.depth<S>();
    image = rows.image_bytes();
  }
  return (CheckedInt(thread_bytes<S>(product)) * context.threads() + image).value();
}

/// The products of the image as rows, which are copied first.
template <class S>
void copy_rows(const KernelContext& context, ByteConvProducts<S>& products) {
  const ByteRows rows(context, products.shape);
  products.use(rows);
  auto* image = reinterpret_cast<uint8_t*>(context.workspace().data() +
                                           thread_bytes<S>(products.product) * context.threads());
  const ByteOperand x(context, 0, kRequantizedZeroPoints);
  context.parallel_for(rows.rows(), [&](int64_t begin, int64_t end, int) {
    rows.copy(products.shape, x, begin, end, image);
  });
  products.image = image;
}

template <class S, class Y>
void convolve(const KernelContext& context) {
  ByteConvProducts<S> products(context, kRequantizedZeroPoints);
  if (ByteRows::serve(products.shape)) copy_rows(context, products);
  const GemmShape& product = products.product;
  const FilterCodes<Y> codes(context);
  const int64_t groups = products.shape.groups, filters = products.shape.out_c;
  const int64_t threads = context.threads(), wanted = threads > 1 ? 4 * threads : 1;
  const Blocks blocks(product, wanted / groups + (wanted % groups != 0 ? 1 : 0));
  const int64_t each = blocks.of_rows * blocks.of_columns, bytes = thread_bytes<S>(product);
  Y* y = context.output(0).as<Y>();
  context.parallel_for(groups * each, [&](int64_t begin, int64_t end, int thread) {
    std::byte* scratch = context.workspace().data() + thread * bytes;
    auto* sums = reinterpret_cast<uint32_t*>(scratch + typed_workspace<S>(product));
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t group = unit / each, row = unit % blocks.of_rows * blocks.rows;
      const int64_t column = unit % each / blocks.of_rows * blocks.columns;
      const int64_t rows = std::min(blocks.rows, product.m - row);
      const int64_t columns = std::min(blocks.columns, product.n - column);
      TypedArgs<S> args = products.args(group);
      args.a = args.a.at(static_cast<ptrdiff_t>(row), 0);
      args.b = args.b.at(static_cast<ptrdiff_t>(column), 0);
      args.shape = {rows, columns, product.k};
      args.c = sums;
      typed_run(args, 0, typed_units<S>(args.shape), scratch);
      const int64_t filter = group * product.n + column;
      codes.store(sums, rows, filter, columns, y + row * filters + filter, filters, context.isa());
    }
  });
}

template <class X, class W, class Y>
struct ConvRequantizePacked : ByteFilters {
  static constexpr KernelId id{"intarsia:ConvRequantize",
                               "packed",
                               {kernel_type_of<X>, kernel_type_of<W>, kernel_type_of<Y>}};

  static int64_t workspace(const KernelContext& context) {
    const ConvShape s = integer_conv_shape(context);
    return std::max(workspace_bytes<Int16Pair>(context, s), workspace_bytes<ByteQuad>(context, s));
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_conv_requantize<X, W, Y>(context); !status) return status;
    if (Status status = check_fast_image(context); !status) return status;
    if (Status s = check_capacity(context, 1, packed_bytes(context, 1)); !s) return s;
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    pick_groups(context.isa(), [&]<class S>(S) { convolve<S, Y>(context); });
    return {};
  }
};

template <class X, class W, class Y>
using OfComputed = PackedAtRun<ConvRequantizePacked<X, W, Y>>;

}  // namespace

extern const KernelList conv_requantize_packed_kernels;
constinit const KernelList conv_requantize_packed_kernels =
    kernel_list<EachOfBytes<ConvRequantizePacked>, EachOfBytes<OfComputed>>();

}  // namespace intarsia::cpu
