// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of RNN, GRU and LSTM.
//
// layout 0: X is time, batch, features; Y time, directions, batch, hidden; states directions,
// batch, hidden. layout 1: X is batch, time, features; Y batch, time, directions, hidden; states
// batch, directions, hidden.
#pragma once

#include "core/operators/linear_algebra/matmul.h"

namespace intarsia {

enum class RnnDirection : int32_t { kForward = 0, kReverse = 1, kBidirectional = 2 };

/// Numbering of `activations`; part of the plan format.
enum class RnnActivation : int32_t {
  kSigmoid = 0,
  kTanh = 1,
  kRelu = 2,
  kAffine = 3,
  kLeakyRelu = 4,
  kThresholdedRelu = 5,
  kScaledTanh = 6,
  kHardSigmoid = 7,
  kElu = 8,
  kSoftsign = 9,
  kSoftplus = 10,
};
inline constexpr int32_t kLastRnnActivation = 10;

/// Attributes of all three. The lists have one entry per activation (LSTM 3, GRU 2, RNN 1) and
/// direction, or none.
struct RnnAttributes {
  int32_t direction = 0;
  int32_t hidden_size = 0;
  int32_t layout = 0;
  /// 0: no clipping.
  float clip = 0;
  FixedList<int32_t, 6> activations;
  FixedList<float, 6> activation_alpha;
  FixedList<float, 6> activation_beta;

  template <class V>
  void fields(V& v) {
    v.choice("direction", direction, {"forward", "reverse", "bidirectional"});
    v("hidden_size", hidden_size, at_least(1));
    v("layout", layout, kFlag);
    v("clip", clip);
    v.choices("activations", activations,
              {"Sigmoid", "Tanh", "Relu", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
               "HardSigmoid", "Elu", "Softsign", "Softplus"});
    v("activation_alpha", activation_alpha);
    v("activation_beta", activation_beta);
  }

  int directions() const { return direction == 2 ? 2 : 1; }
};
static_assert(is_plan_struct<RnnAttributes>);

struct GruAttributes {
  RnnAttributes rnn;
  int32_t linear_before_reset = 0;

  template <class V>
  void fields(V& v) {
    rnn.fields(v);
    v("linear_before_reset", linear_before_reset, kFlag);
  }
};
static_assert(is_plan_struct<GruAttributes>);

struct LstmAttributes {
  RnnAttributes rnn;
  int32_t input_forget = 0;

  template <class V>
  void fields(V& v) {
    rnn.fields(v);
    v("input_forget", input_forget, kFlag);
  }
};
static_assert(is_plan_struct<LstmAttributes>);

namespace ops {

/// `gates` blocks of hidden rows in W and R; `functions` activations per direction. All three
/// attributes structs begin with RnnAttributes.
template <class S>
Status infer_rnn(S& s, const RnnAttributes& a, int gates, int functions, bool cell) {
  using Dim = typename S::Dim;
  if (a.direction < 0 || a.direction > 2) {
    return s.fail(Code::kInvalidValue, "direction", 2, a.direction);
  }
  if (a.layout < 0 || a.layout > 1) return s.fail(Code::kInvalidValue, "layout", 1, a.layout);
  const int directions = a.directions();
  if (a.activations.count != 0 && a.activations.count != functions * directions) {
    return s.fail(Code::kInvalidValue, "length of activations", functions * directions,
                  a.activations.count);
  }
  if (!a.activation_alpha.valid() || !a.activation_beta.valid()) {
    return s.fail(Code::kInvalidValue, "length of activation_alpha or activation_beta", 6,
                  a.activation_alpha.valid() ? a.activation_beta.count : a.activation_alpha.count);
  }
  for (int32_t activation : a.activations.view()) {
    if (activation < 0 || activation > kLastRnnActivation) {
      return s.fail(Code::kInvalidValue, "activations", kLastRnnActivation, activation);
    }
  }
  for (int input = 0; input < 3; ++input) {
    if (s.rank(input) != 3) {
      return s.fail(Code::kWrongRank, "rank of X, W and R", 3, s.rank(input), input);
    }
  }
  for (const int input : {0, 2}) {
    Status status =
        s.require_at_least(int64_t{1}, s.dim(input, 2), "features and hidden size", input, 2);
    if (!status) return status;
  }
  const Dim time = s.dim(0, a.layout == 0 ? 0 : 1);
  const Dim batch = s.dim(0, a.layout == 0 ? 1 : 0);
  const Dim hidden = s.dim(2, 2);
  const Dim dirs = int64_t{directions};
  const Dim rows = hidden * Dim(int64_t{gates});
  const Dim two = int64_t{2};
  if (a.hidden_size != 0) {
    Status status = s.require_equal(int64_t{a.hidden_size}, hidden, "hidden_size", 2, 2);
    if (!status) return status;
  }
  const auto require = [&s](int input, std::initializer_list<Dim> extents) {
    Shape<Dim> shape;
    for (const Dim& extent : extents) shape.push(extent);
    return require_shape(s, input, shape);
  };
  if (Status status = require(1, {dirs, rows, s.dim(0, 2)}); !status) return status;
  if (Status status = require(2, {dirs, rows, hidden}); !status) return status;
  if (Status status = require(3, {dirs, rows * two}); !status) return status;
  if (Status status = require(4, {batch}); !status) return status;
  Shape<Dim> state;
  state.push(a.layout == 0 ? dirs : batch);
  state.push(a.layout == 0 ? batch : dirs);
  state.push(hidden);
  if (Status status = require_shape(s, 5, state); !status) return status;
  if (cell) {
    if (Status status = require_shape(s, 6, state); !status) return status;
    const Dim peepholes = hidden * Dim(int64_t{3});
    if (Status status = require(7, {dirs, peepholes}); !status) return status;
  }

  Shape<Dim> y;
  if (a.layout == 0) {
    for (const Dim& extent : {time, dirs, batch, hidden}) y.push(extent);
  } else {
    for (const Dim& extent : {batch, time, dirs, hidden}) y.push(extent);
  }
  if (Status status = s.set_output(0, s.type(0), y); !status) return status;
  for (int output = 1; output < s.output_count(); ++output) {
    if (Status status = s.set_output(output, s.type(0), state); !status) return status;
  }
  return {};
}

struct Rnn {
  using Attributes = RnnAttributes;
  static constexpr std::string_view name = "RNN";
  template <class S>
  static Status infer(S& s) {
    return infer_rnn(s, s.template attributes<RnnAttributes>(), 1, 1, false);
  }
};

struct Gru {
  using Attributes = GruAttributes;
  static constexpr std::string_view name = "GRU";
  template <class S>
  static Status infer(S& s) {
    return infer_rnn(s, s.template attributes<GruAttributes>().rnn, 3, 2, false);
  }
};

struct Lstm {
  using Attributes = LstmAttributes;
  static constexpr std::string_view name = "LSTM";
  template <class S>
  static Status infer(S& s) {
    return infer_rnn(s, s.template attributes<LstmAttributes>().rnn, 4, 3, true);
  }
};

/// An LSTM whose W and R are codes, with a scale and a zero point for each of their rows behind its
/// other inputs: those of W, then those of R.
struct DynamicLstm {
  using Attributes = LstmAttributes;
  static constexpr std::string_view name = "DynamicLSTM";
  enum Input { kWScale = 8, kWZero, kRScale, kRZero };

  template <class S>
  static Status infer(S& s) {
    for (const int input : {kWScale, kWZero, kRScale, kRZero}) {
      if (!s.has_input(input)) {
        return s.fail(Code::kInvalidValue, "a scale and a zero point of W and R", 1, 0, input);
      }
    }
    if (Status status = Lstm::infer(s); !status) return status;
    Shape<typename S::Dim> rows;
    rows.push(s.dim(1, 0));
    rows.push(s.dim(1, 1));
    for (const int input : {kWScale, kWZero, kRScale, kRZero}) {
      if (Status status = require_shape(s, input, rows); !status) return status;
    }
    return {};
  }
};

}  // namespace ops
}  // namespace intarsia
