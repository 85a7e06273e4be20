// SPDX-License-Identifier: Apache-2.0
//
// ConvInteger as ONNX has it, channels first: filters, as they lie, times strips of windows
// (byte_strips.h), in the products of gemm/typed.h. Neither image nor sums are turned, and weights
// may as well be computed. For nodes that stand alone (ops::gain_of_integer_channels_last).
// Threads share strips, and where those are few the filters.
#include <algorithm>

#include "core/kernel_list.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/typed_products.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/thin_bytes.h"
#include "kernels_cpu/nn/byte_strips.h"
#include "kernels_cpu/nn/conv_integer.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {
namespace {

constexpr int64_t kFewFilters = 48;  ///< Are not shared out.

ConvShape shape_of(const KernelContext& context) {
  const auto& a = context.attributes<IntegerConvAttributes>();
  return conv_shape(context, a.window, a.group, false);
}

struct FilterBlocks {
  int64_t rows, count;

  FilterBlocks(int64_t filters, int64_t strips, int64_t threads) {
    const int64_t wanted = threads > 1 ? ceil_div(8 * threads, strips) : 1;
    const int64_t parts = std::min(wanted, ceil_div(filters, kFewFilters));
    rows = even_block(filters, ceil_div(filters, parts), 12);
    count = ceil_div(filters, rows);
  }
};

template <class S>
GemmShape product_of(int64_t filters, int64_t columns, int64_t terms) {
  return {filters, columns, ceil_div(terms, kGroup<S>)};
}

void multiply(const ByteFactor& filters, const ByteFactor& windows, int64_t rows, int64_t columns,
              uint32_t* sums, int64_t pitch, Isa isa, std::byte* workspace) {
  if (rows <= most_thin_byte_rows(isa)) {
    multiply_thin_bytes({static_cast<ptrdiff_t>(rows), static_cast<ptrdiff_t>(columns), filters,
                         windows, sums, static_cast<ptrdiff_t>(pitch)},
                        isa);
    return;
  }
  pick_groups(isa, [&]<class S>(S) {
    TypedArgs<S> args{};
    args.shape = product_of<S>(rows, columns, filters.k);
    args.a = filters;
    args.b = windows;
    args.c = sums;
    args.pitch = static_cast<ptrdiff_t>(pitch);
    args.isa = isa;
    typed_run(args, 0, typed_units<S>(args.shape), workspace);
  });
}

/// Units of work: products of a block of filters and a strip of windows.
class StripProducts {
 public:
  StripProducts(const KernelContext& context)
      : shape_(shape_of(context)),
        strips_(shape_),
        filters_(shape_.out_c / shape_.groups),
        x_(context, 0, kZeroPoints),
        w_(context, 1, kZeroPoints),
        y_(context.output(0).as<uint32_t>()),
        isa_(context.isa()),
        blocks_(filters_, strips(), context.threads()) {}

  int64_t units() const { return strips() * blocks_.count; }
  /// Computes units [begin, end).
  void run(int64_t begin, int64_t end, std::byte* workspace) const {
    auto* gathered = reinterpret_cast<uint8_t*>(workspace);
    if (!strips_.in_place()) workspace += strips_.bytes().value();
    for (int64_t there = -1; begin < end; ++begin) {
      const int64_t strip = begin / blocks_.count, row = begin % blocks_.count * blocks_.rows;
      const int64_t first = strip % strips_.count() * strips_.columns();
      const int64_t group = strip / strips_.count() % shape_.groups;
      const int64_t image = strip / strips_.count() / shape_.groups;
      const int64_t columns = std::min(strips_.columns(), strips_.pixels() - first);
      const uint8_t* windows = x_.data + strips_.offset(image, group) + first;
      if (!strips_.in_place()) {
        if (strip != there)
          strips_.gather(windows - first, *x_.zeros, first, columns, isa_, gathered);
        there = strip;
        windows = gathered;
      }
      const int64_t filter = group * filters_ + row;
      const int64_t sums = (image * shape_.out_c + filter) * strips_.pixels() + first;
      multiply(of_filters(filter), of_windows(windows), std::min(blocks_.rows, filters_ - row),
               columns, y_ + sums, strips_.pixels(), isa_, workspace);
    }
  }

 private:
  /// Of all images and groups.
  int64_t strips() const { return shape_.batch * shape_.groups * strips_.count(); }
  ByteFactor of_filters(int64_t first) const {
    const auto terms = static_cast<ptrdiff_t>(strips_.terms());
    const auto step = static_cast<ptrdiff_t>(w_.zero_step);
    return {w_.data + first * terms, terms, 1, terms, w_.flip, w_.zeros + first * step, step};
  }
  ByteFactor of_windows(const uint8_t* first) const {
    const auto terms = static_cast<ptrdiff_t>(strips_.terms());
    const auto pitch = static_cast<ptrdiff_t>(strips_.pitch());
    return {first, 1, pitch, terms, x_.flip, x_.zeros, 0};
  }

  ConvShape shape_;
  ByteStrips strips_;
  int64_t filters_;  // of a group
  ByteOperand x_, w_;
  uint32_t* y_;
  Isa isa_;
  FilterBlocks blocks_;
};

template <class X, class W>
struct ConvIntegerProducts {
  static constexpr KernelId id{"ConvInteger", "products", {kernel_type_of<X>, kernel_type_of<W>}};
  static constexpr KernelLayout layout = KernelLayout::kChannelsFirst;
  static constexpr KernelTargets targets = kPackingTargets;

  static bool supports(const KernelContext& context) { return context.input(0).rank <= 5; }

  static int64_t workspace(const KernelContext& context) {
    const ConvShape shape = shape_of(context);
    const ByteStrips strips(shape);
    const CheckedInt of_products = byte_products_workspace(context, [&]<class S>(S) {
      return product_of<S>(shape.out_c / shape.groups, strips.pixels(), strips.terms());
    });
    const CheckedInt gathered = strips.in_place() ? CheckedInt(0) : strips.bytes();
    return (of_products + gathered * context.threads()).value();
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_conv_integer<X, W>(context); !status) return status;
    if (Status status = check_fast_image(context, 0); !status) return status;
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const StripProducts products(context);
    const PerThread<std::byte> memory(context.workspace(), context.threads());
    context.parallel_for(products.units(), [&](int64_t begin, int64_t end, int thread) {
      products.run(begin, end, memory[thread]);
    });
    return {};
  }
};

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList conv_integer_products_kernels;
constinit const KernelList conv_integer_products_kernels =
    kernel_list<EachPair<ConvIntegerProducts, Bytes, Bytes>>();

}  // namespace intarsia::cpu
