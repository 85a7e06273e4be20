// SPDX-License-Identifier: Apache-2.0
//
// One launch for kMostParts tensors: a thread takes a word of the whole, in the order of its rows,
// and looks for the part that it belongs to.
#include "kernels_cuda/movement/join.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/movement/strided_copy.h"

namespace intarsia::cuda {
namespace {

constexpr int kMostParts = 16;

/// Rows of the parts beside one another; extents in words.
struct Parts {
  int count = 0;
  int64_t starts[kMostParts] = {};  // within these parts' share of a row
  int64_t rows[kMostParts] = {};    // a part's row
  int64_t pitch = 0;                // the whole's row
  int64_t begin = 0;                // where the share begins in it
  Divisor share;
};
template <class Word>
struct PartOperands {
  Word* data[kMostParts];
  int64_t counts[kMostParts];
};

template <bool kJoins, class Part, class Whole>
INTARSIA_GLOBAL rows_kernel(Parts parts, PartOperands<Part> operands, Global<Whole> whole,
                            int64_t count) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    int64_t row, column;
    parts.share.divide(i, row, column);
    int part = 0;  // the last that begins at the column or before it
    for (int step = kMostParts / 2; step > 0; step /= 2) {
      if (part + step < parts.count && parts.starts[part + step] <= column) part += step;
    }
    const int64_t own = row * parts.rows[part] + column - parts.starts[part];
    const int64_t at = row * parts.pitch + parts.begin + column;
    const Global<Part> operand(operands.data[part], operands.counts[part]);
    if constexpr (kJoins) {
      whole[at] = operand[own];
    } else {
      operand[own] = whole[at];
    }
  }
}

/// Elements of a row: those from the axis on.
int64_t row_of(const TensorView& view, int axis) {
  int64_t row = 1;
  for (int i = axis; i < view.rank; ++i) row *= view.extents[i];
  return row;
}

/// Moves between the whole and parts, which it gathers until they fill a launch.
template <bool kJoins>
class Rows {
 public:
  Rows(const KernelContext& context, const TensorView& whole, int axis)
      : context_(context), whole_(whole), bytes_(element_bits(whole.type) / 8) {
    pitch_ = row_of(whole, axis);
    outer_ = pitch_ > 0 ? whole.count() / pitch_ : 0;
  }
  /// The next part; one that is left out is not moved.
  Status add(const TensorView& part, int64_t row) {
    if (row == 0 || outer_ == 0) return {};
    if (!part.present() || count_ == kMostParts) {
      if (Status status = move(); !status) return status;
    }
    if (!part.present()) {
      begin_ += row;
      return {};
    }
    parts_[count_] = &part;
    rows_[count_++] = row;
    return {};
  }
  /// Moves what was gathered.
  Status move() {
    if (count_ == 0) return {};
    int64_t word = word_of(bytes_, {pitch_ * bytes_, begin_ * bytes_, address_of(whole_)});
    for (int i = 0; i < count_; ++i) {
      const int64_t own = word_of(bytes_, {rows_[i] * bytes_, address_of(*parts_[i])});
      word = own < word ? own : word;
    }
    const int64_t size = word / bytes_;
    Parts parts;
    parts.count = count_;
    parts.pitch = pitch_ / size;
    parts.begin = begin_ / size;
    int64_t share = 0;
    for (int i = 0; i < count_; ++i) {
      parts.starts[i] = share;
      parts.rows[i] = rows_[i] / size;
      share += parts.rows[i];
    }
    parts.share = Divisor(share, outer_ * share);
    begin_ += share * size;
    const int count = count_;
    count_ = 0;
    return with_word(word, [&]<class Word>(Word) {
      using Part = std::conditional_t<kJoins, const Word, Word>;
      using Whole = std::conditional_t<kJoins, Word, const Word>;
      PartOperands<Part> operands = {};
      for (int i = 0; i < count; ++i) {
        operands.data[i] = parts_[i]->template as<Part>();
        operands.counts[i] = outer_ * parts.rows[i];
      }
      return launched(context_, launch<rows_kernel<kJoins, Part, Whole>>(
                                    grid_for(outer_ * share), kThreads, stream_of(context_), parts,
                                    operands, words<Whole>(whole_), outer_ * share));
    });
  }

 private:
  const KernelContext& context_;
  const TensorView& whole_;
  int64_t bytes_, pitch_ = 0, outer_ = 0, begin_ = 0;
  int count_ = 0;
  const TensorView* parts_[kMostParts] = {};
  int64_t rows_[kMostParts] = {};
};

}  // namespace

template <ElementWidth W>
Status Concat<W>::run(const KernelContext& context) {
  const TensorView& y = context.output(0);
  int axis = context.attributes<AxisAttributes>().axis;
  if (axis < 0) axis += y.rank;
  Rows<true> rows(context, y, axis);
  for (int i = 0; i < context.input_count(); ++i) {
    const TensorView& x = context.input(i);
    if (Status status = rows.add(x, row_of(x, axis)); !status) return status;
  }
  return rows.move();
}

template <ElementWidth W>
Status Split<W>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const auto& a = context.attributes<SplitAttributes>();
  const int axis = a.axis < 0 ? a.axis + x.rank : a.axis;
  const int parts = a.num_outputs != 0 ? a.num_outputs : context.output_count();
  const int64_t inner = row_of(x, axis + 1);
  Rows<false> rows(context, x, axis);
  for (int i = 0; i < context.output_count(); ++i) {
    const TensorView& y = context.output(i);
    const int64_t extent =
        y.present() ? y.extents[axis]
                    : ops::Split::even_part<CheckedInt>(x.extents[axis], parts, i).value();
    if (Status status = rows.add(y, extent * inner); !status) return status;
  }
  return rows.move();
}

extern const KernelList join_kernels;
constinit const KernelList join_kernels = kernel_list<JoinKernels>();

}  // namespace intarsia::cuda
