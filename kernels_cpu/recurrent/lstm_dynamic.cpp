// SPDX-License-Identifier: Apache-2.0
//
// DynamicLSTM, what com.microsoft:DynamicQuantizeLSTM becomes: an LSTM with weights of codes, whose
// input and hidden state become bytes on the way to their products (byte_rows.h):
//
//     gates = scale(x) w_scale (x' - zero(x)) (w - w_zero) + the same of h and R + both biases
//
// Scale and zero point are those of the whole input up to the longest sequence, and at each step
// those of the states that the step before it has left, of all sequences.
// Variant "packed": constant weights, in panels of each gate (gemm/byte_panels.h). What every
// recurrent kernel does: rnn_sequence.h.
#include "core/kernel_list.h"
#include "kernels_cpu/gemm/byte_panels.h"
#include "kernels_cpu/math/vector_math.h"
#include "kernels_cpu/recurrent/byte_rows.h"
#include "kernels_cpu/recurrent/rnn_sequence.h"

namespace intarsia::cpu {
namespace {

using ops::DynamicLstm;

struct DynamicLayer : LstmLayer {
  using Rule = DynamicLstm;
};

/// Rows of bytes, and their sums.
struct CodedRows {
  int64_t rows;
  const uint32_t* quads;
  int64_t pitch;
  const uint32_t* sums;
  ByteScale by;
};

/// W or R of a direction, as they are.
class PlainCodes {
 public:
  PlainCodes(const KernelContext& context, const RnnNode& node, int64_t direction, int input)
      : k_(context.input(input).extents[2]),
        hidden_(node.hidden),
        flip_(context.input(input).type == DataType::kUint8 ? 0x80 : 0),
        codes_(context.input(input).as<const uint8_t>() + direction * node.rows() * k_),
        zeros_(zeros_of(context, input) + direction * node.rows()) {}

  void multiply(const CodedRows& a, int64_t gate, const RnnUnits<float>& units, Isa, uint32_t* to,
                int64_t pitch) const {
    const auto zero = static_cast<int>(a.by.zero);
    for (int64_t row = 0; row < a.rows; ++row) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(a.quads + row * a.pitch);
      for (int64_t unit = units.begin; unit < units.end; ++unit) {
        const int64_t lane = gate * hidden_ + unit;
        const int code_zero = number(zeros_[lane]);
        uint32_t sum = 0;
        for (int64_t i = 0; i < k_; ++i) {
          const int code = number(codes_[lane * k_ + i]);
          sum += static_cast<uint32_t>((bytes[i] - zero) * (code - code_zero));
        }
        to[row * pitch + unit - units.begin] = sum;
      }
    }
  }

  static const uint8_t* zeros_of(const KernelContext& context, int input) {
    const int zero = input == 1 ? DynamicLstm::kWZero : DynamicLstm::kRZero;
    return context.input(zero).as<const uint8_t>();
  }

 private:
  int number(uint8_t byte) const { return static_cast<int8_t>(byte ^ flip_); }

  int64_t k_, hidden_;
  uint8_t flip_;
  const uint8_t* codes_;
  const uint8_t* zeros_;
};

/// The same in panels, those of a gate on their own.
class PackedCodes {
 public:
  PackedCodes(const KernelContext& context, const RnnNode& node, int64_t direction, int input)
      : k_(context.input(input).extents[2]),
        gate_(panel_count(node.hidden) * byte_panel_words(quads_of(k_))),
        panels_(context.input(input).as<const uint32_t>() + direction * node.gates * gate_) {}

  void multiply(const CodedRows& a, int64_t gate, const RnnUnits<float>& units, Isa isa,
                uint32_t* to, int64_t pitch) const {
    const uint32_t* from =
        panels_ + gate * gate_ + units.begin / kPanel * byte_panel_words(quads_of(k_));
    const uint8_t* rows[kRowsAtOnce];
    for (int64_t first = 0; first < a.rows; first += kRowsAtOnce) {
      const auto count = static_cast<ptrdiff_t>(std::min(a.rows - first, kRowsAtOnce));
      for (ptrdiff_t i = 0; i < count; ++i) {
        rows[i] = reinterpret_cast<const uint8_t*>(a.quads + (first + i) * a.pitch);
      }
      multiply_bytes({count,
                      static_cast<ptrdiff_t>(panel_count(units.end - units.begin)),
                      rows,
                      {static_cast<ptrdiff_t>(quads_of(k_))},
                      a.sums + first,
                      static_cast<uint32_t>(a.by.zero),
                      from,
                      to + first * pitch,
                      static_cast<ptrdiff_t>(pitch)},
                     isa);
    }
  }

 private:
  static constexpr int64_t kRowsAtOnce = 48;

  int64_t k_, gate_;
  const uint32_t* panels_;
};

/// Products of rows, and what makes them numbers.
struct Sums {
  const uint32_t* sums;
  int64_t pitch, rows, count;
  float by;
  const float* scales;
  const float* w_bias;  // null: none
  const float* r_bias;
  float* y;
  int64_t y_pitch;
};

/// y = the products, scaled, or what is added to y, with the biases.
template <bool kAdds, bool kBiased>
INTARSIA_INLINE void scale_rows(const Sums& all) {
  const Sums s = all;
  for (int64_t row = 0; row < s.rows; ++row) {
    const uint32_t* sums = s.sums + row * s.pitch;
    float* y = s.y + row * s.y_pitch;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < s.count; ++i) {
      float number = static_cast<float>(static_cast<int32_t>(sums[i])) * (s.by * s.scales[i]);
      if constexpr (kAdds) number = y[i] + number;
      if constexpr (kBiased) number += s.w_bias[i] + s.r_bias[i];
      y[i] = number;
    }
  }
}

template <class Codes>
class DynamicWeights {
 public:
  using Element = float;
  using Value = float;
  using Step = RnnStep<DynamicWeights>;
  using Units = RnnUnits<float>;
  static constexpr int64_t kRows = 12, kUnits = kPanel;
  static constexpr bool kRuns = true;
  using Summary = FloatRange;
  static constexpr int64_t kShared = 1 << 18;

  DynamicWeights(const KernelContext& context, const RnnNode& node, int64_t direction)
      : isa_(context.isa()),
        node_(node),
        w_(context, node, direction, 1),
        r_(context, node, direction, 2),
        w_scales_(scales_of(context, DynamicLstm::kWScale, direction)),
        r_scales_(scales_of(context, DynamicLstm::kRScale, direction)),
        bias_(context.input(3).as<const float>()),
        input_(range_of(context, node)),
        math_(isa_) {
    if (bias_ != nullptr) bias_ += direction * 2 * node.rows();
  }

  /// Bytes of rows, their sums, and the products of a gate; whole cache lines.
  static int64_t own(const RnnNode& node, int64_t rows) {
    return (rows * (quads(node) + 1 + panel_count(node.hidden) * kPanel) + 15) / 16 * 16;
  }

  void project(const RnnRows<float>& x, const RnnGates<float>& gates, Units units) const {
    const auto all = [](int64_t) { return true; };
    multiply(w_, w_scales_, coded(x, node_.features, input_, all, units), 0, node_.gates, false,
             gates, units);
  }
  void recur(const Step& step, int first, int count, const float* h,
             const RnnGates<float>& y) const {
    const auto goes_on = [&](int64_t row) { return step.at <= step.length(row); };
    const RnnRows<float> states{h, node_.hidden, step.sequences, 0, step.sequences};
    const CodedRows rows =
        coded(states, node_.hidden, ByteScale(step.summary), goes_on, step.units);
    multiply(r_, r_scales_, rows, first, count, true, y, step.units);
  }
  void activate(const RnnFunction& function, float* x, int64_t count) const {
    math_.activate(function, x, count);
  }

  void summarize(const float* x, int64_t count, FloatRange& range) const {
    extend(range, x, count, isa_);
  }

 private:
  static int64_t quads(const RnnNode& node) {
    return quads_of(node.features > node.hidden ? node.features : node.hidden);
  }
  const float* scales_of(const KernelContext& context, int input, int64_t direction) const {
    return context.input(input).as<const float>() + direction * node_.rows();
  }
  static void extend(FloatRange& range, const float* x, int64_t count, Isa isa) {
    on_widest_isa(isa, [&] {
      FloatRange wider = range;
      wider.extend(x, count);
      range = wider;
    });
  }
  /// Of the whole input, up to the longest sequence.
  static ByteScale range_of(const KernelContext& context, const RnnNode& node) {
    const auto* lengths = context.input(4).as<const int32_t>();
    const auto* x = context.input(0).as<const float>();
    int64_t longest = lengths == nullptr ? node.time : 0;
    for (int64_t i = 0; lengths != nullptr && i < node.batch; ++i) {
      longest = lengths[i] > longest ? lengths[i] : longest;
    }
    const bool time_first = node.attributes.layout == 0;
    const int64_t runs = time_first ? 1 : node.batch, rows = time_first ? node.batch : 1;
    FloatRange range;
    for (int64_t run = 0; run < runs; ++run) {
      extend(range, x + run * node.time * node.features, rows * longest * node.features,
             context.isa());
    }
    return ByteScale(range);
  }
  /// Rows of k numbers as bytes; those that are not `wanted` are anything.
  template <class Wanted>
  CodedRows coded(const RnnRows<float>& x, int64_t k, ByteScale by, const Wanted& wanted,
                  const Units& units) const {
    auto* words = reinterpret_cast<uint32_t*>(units.own);
    const int64_t words_pitch = quads(node_);
    uint32_t* sums = words + x.count * words_pitch;
    for (int64_t row = 0; row < x.count; ++row) {
      auto* to = reinterpret_cast<uint8_t*>(words + row * words_pitch);
      sums[row] = by.encode(isa_, x.row(row), wanted(row) ? k : 0, to);
    }
    return {x.count, words, words_pitch, sums, by};
  }
  void multiply(const Codes& codes, const float* scales, const CodedRows& a, int first, int count,
                bool last, const RnnGates<float>& y, const Units& units) const {
    auto* const sums = reinterpret_cast<uint32_t*>(units.own) + a.rows * (a.pitch + 1);
    const int64_t units_count = units.end - units.begin;
    const int64_t sums_pitch = panel_count(units_count) * kPanel;
    for (int64_t gate = first; gate < first + count; ++gate) {
      codes.multiply(a, gate, units, isa_, sums, sums_pitch);
      const int64_t lane = gate * node_.hidden + units.begin;
      float* const to = y.first + (gate - first) * y.gate + units.begin;
      Sums all{sums,          sums_pitch, a.rows,  units_count, a.by.scale,
               scales + lane, nullptr,    nullptr, to,          y.row};
      if (last && bias_ != nullptr) {
        all.w_bias = bias_ + lane;
        all.r_bias = all.w_bias + node_.rows();
        on_widest_isa(isa_, [&] { scale_rows<true, true>(all); });
      } else if (last) {
        on_widest_isa(isa_, [&] { scale_rows<true, false>(all); });
      } else {
        on_widest_isa(isa_, [&] { scale_rows<false, false>(all); });
      }
    }
  }

  Isa isa_;
  const RnnNode& node_;
  Codes w_, r_;
  const float* w_scales_;
  const float* r_scales_;
  const float* bias_;
  ByteScale input_;
  RnnMath math_;
};

template <class B>
Status check_dynamic(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<float>, b = kernel_type_of<B>,
                       lengths = kernel_type_of<int32_t>;
  return check_operands<DynamicLstm>(context, {.inputs = {t, b, b, t, lengths, t, t, t, t, b, t, b},
                                               .required_inputs = 3,
                                               .outputs = {t, t, t},
                                               .required_outputs = 0});
}

template <class B>
struct LstmDynamic {
  using Weights = DynamicWeights<PlainCodes>;
  static constexpr KernelId id{"intarsia:DynamicLSTM", "", {kernel_type_of<B>}};

  static int64_t workspace(const KernelContext& context) {
    return rnn_workspace<DynamicLayer, Weights>(context);
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_dynamic<B>(context); !status) return status;
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context) {
    return run_sequences<DynamicLayer, Weights>(context);
  }
};

template <class B>
struct LstmDynamicPacked {
  using Weights = DynamicWeights<PackedCodes>;
  static constexpr KernelId id{"intarsia:DynamicLSTM", "packed", {kernel_type_of<B>}};
  static constexpr std::string_view packing =
      "panels of 16 columns of bytes, each gate's on its own";

  static bool supports(const KernelContext& context) {
    for (const int input : {1, 2, int{DynamicLstm::kWZero}, int{DynamicLstm::kRZero}}) {
      const TensorView& constant = context.input(input);
      if (constant.data == nullptr || constant.count() == 0) return false;
    }
    return true;
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    if (input != 1 && input != 2) return 0;
    const RnnNode node = node_of<DynamicLayer>(context);
    const int32_t k = context.input(input).extents[2];
    return (byte_panel_bytes(quads_of(k), node.hidden) * node.directions * node.gates).value();
  }
  static void pack(const KernelContext& context, int input, void* packed) {
    const RnnNode node = node_of<DynamicLayer>(context);
    const TensorView& codes = context.input(input);
    const int64_t k = codes.extents[2], hidden = node.hidden;
    const uint8_t flip = codes.type == DataType::kUint8 ? 0x80 : 0;
    for (int64_t gate = 0; gate < int64_t{node.directions} * node.gates; ++gate) {
      const uint8_t* bytes = codes.as<const uint8_t>() + gate * hidden * k;
      const uint8_t* zeros = PlainCodes::zeros_of(context, input) + gate * hidden;
      const int64_t words = panel_count(hidden) * byte_panel_words(quads_of(k));
      pack_byte_panels(
          hidden, 1, k, flip,
          [&](int64_t column, int64_t, ByteColumn& to) { to.copy(bytes + column * k, k, 1); },
          [&](int64_t column) { return zeros[column]; },
          static_cast<uint32_t*>(packed) + gate * words);
    }
  }
  static int64_t workspace(const KernelContext& context) {
    return rnn_workspace<DynamicLayer, Weights>(context);
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_dynamic<B>(context); !status) return status;
    for (int input : {1, 2}) {
      if (Status s = check_capacity(context, input, packed_bytes(context, input)); !s) return s;
    }
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context) {
    return run_sequences<DynamicLayer, Weights>(context);
  }
};

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList lstm_dynamic_kernels;
constinit const KernelList lstm_dynamic_kernels =
    kernel_list<Each<LstmDynamic, Bytes>, Each<LstmDynamicPacked, Bytes>>();

}  // namespace intarsia::cpu
