// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of the normalisations. All keep the extents of X; the rules see to the
// extents of the parameters.
#pragma once

#include "core/operators/linear_algebra/matmul.h"
#include "core/operators/nn/conv.h"

namespace intarsia {

struct BatchNormalizationAttributes {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
  int32_t training_mode = 0;
  int32_t channels_last = 0;

  template <class V>
  void fields(V& v) {
    v("epsilon", epsilon);
    v("momentum", momentum);
    v("training_mode", training_mode, kFlag);
    v.internal("channels_last", channels_last);
  }
};
static_assert(is_plan_struct<BatchNormalizationAttributes>);

struct InstanceNormalizationAttributes {
  float epsilon = 1e-5f;

  template <class V>
  void fields(V& v) {
    v("epsilon", epsilon);
  }
};
static_assert(is_plan_struct<InstanceNormalizationAttributes>);

struct GroupNormalizationAttributes {
  float epsilon = 1e-5f;
  int32_t num_groups = 1;
  int32_t stash_type = 1;

  template <class V>
  void fields(V& v) {
    v("epsilon", epsilon);
    v.required("num_groups", num_groups, at_least(1));
    v("stash_type", stash_type, one_of({1, 10, 11, 16}));
  }
};
static_assert(is_plan_struct<GroupNormalizationAttributes>);

/// LayerNormalization and RMSNormalization: over the axes from `axis` on.
struct LayerNormalizationAttributes {
  int32_t axis = -1;
  float epsilon = 1e-5f;
  /// Type of the computation (a DataType number); kernels compute at least in float.
  int32_t stash_type = 1;

  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("epsilon", epsilon);
    v("stash_type", stash_type, one_of({1, 10, 11, 16}));
  }
};
static_assert(is_plan_struct<LayerNormalizationAttributes>);

struct LpNormalizationAttributes {
  int32_t axis = -1;
  int32_t p = 2;

  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("p", p, between(1, 2));
  }
};
static_assert(is_plan_struct<LpNormalizationAttributes>);

struct MeanVarianceNormalizationAttributes {
  IntList axes = {3, {0, 2, 3}};

  template <class V>
  void fields(V& v) {
    v("axes", axes);
  }
};
static_assert(is_plan_struct<MeanVarianceNormalizationAttributes>);

struct LrnAttributes {
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1;
  int32_t size = 1;
  int32_t channels_last = 0;

  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
    v("beta", beta);
    v("bias", bias);
    v.required("size", size, at_least(1));
    v.internal("channels_last", channels_last);
  }
};
static_assert(is_plan_struct<LrnAttributes>);

namespace ops {

/// Requires inputs `first` to `last` to be vectors with one element per channel.
template <class S>
Status require_channel_vectors(S& s, int first, int last, const typename S::Dim& channels) {
  for (int input = first; input <= last; ++input) {
    if (s.rank(input) != 1) {
      return s.fail(Code::kWrongRank, "rank of a per-channel operand", 1, s.rank(input), input);
    }
    Status status = s.require_equal(channels, s.dim(input, 0), "channels", input, 0);
    if (!status) return status;
  }
  return {};
}

/// X without a channel axis (rank 1) has one channel.
struct BatchNormalization {
  using Attributes = BatchNormalizationAttributes;
  static constexpr std::string_view name = "BatchNormalization";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const auto& a = s.template attributes<BatchNormalizationAttributes>();
    const int rank = s.rank(0);
    if (rank < 1) return s.fail(Code::kWrongRank, "rank of batch and channel axes", 2, rank, 0);
    const Dim channels = rank == 1 ? Dim(int64_t{1}) : s.dim(0, a.channels_last ? rank - 1 : 1);
    if (Status status = require_channel_vectors(s, 1, 4, channels); !status) return status;
    if (Status status = s.set_output(0, s.type(0), s.shape(0)); !status) return status;
    Shape<Dim> statistics;
    statistics.push(channels);
    for (int output = 1; output < s.output_count(); ++output) {
      if (Status status = s.set_output(output, s.type(3), statistics); !status) return status;
    }
    return {};
  }
};

struct InstanceNormalization {
  using Attributes = InstanceNormalizationAttributes;
  static constexpr std::string_view name = "InstanceNormalization";
  template <class S>
  static Status infer(S& s) {
    if (s.rank(0) < 2) {
      return s.fail(Code::kWrongRank, "rank of batch and channel axes", 2, s.rank(0), 0);
    }
    const typename S::Dim channels = s.dim(0, 1);
    if (Status status = require_channel_vectors(s, 1, 2, channels); !status) return status;
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

struct GroupNormalization {
  using Attributes = GroupNormalizationAttributes;
  static constexpr std::string_view name = "GroupNormalization";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<GroupNormalizationAttributes>();
    if (s.rank(0) < 2) {
      return s.fail(Code::kWrongRank, "rank of batch and channel axes", 2, s.rank(0), 0);
    }
    if (a.num_groups < 1) return s.fail(Code::kInvalidValue, "num_groups", 1, a.num_groups);
    const typename S::Dim channels = s.dim(0, 1);
    if (is_constant(channels) && constant_value(channels) % a.num_groups != 0) {
      return s.fail(Code::kWrongExtent, "channels per group", a.num_groups,
                    constant_value(channels), 0, 1);
    }
    if (Status status = require_channel_vectors(s, 1, 2, channels); !status) return status;
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

/// `axis` in 0 .. rank - 1, or -1 if it lies outside.
constexpr int wrapped_axis(int32_t axis, int rank) {
  return axis >= -rank && axis < rank ? (axis < 0 ? axis + rank : axis) : -1;
}

/// Parameters match the normalised axes of X from the right; leading extents of 1 are allowed.
template <class S>
Status require_trailing(S& s, int input, int axis) {
  if (!s.has_input(input)) return {};
  const int rank = s.rank(0);
  const int own = s.rank(input);
  if (own > rank || own < rank - axis) {
    return s.fail(Code::kWrongRank, "rank of the normalised axes", rank - axis, own, input);
  }
  for (int i = 0; i < own; ++i) {
    const int at = rank - own + i;
    const typename S::Dim expected = at >= axis ? s.dim(0, at) : typename S::Dim(int64_t{1});
    Status status = s.require_equal(expected, s.dim(input, i), "normalised extent", input, i);
    if (!status) return status;
  }
  return {};
}

struct LayerNormalization {
  using Attributes = LayerNormalizationAttributes;
  static constexpr std::string_view name = "LayerNormalization";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<LayerNormalizationAttributes>();
    const int axis = wrapped_axis(a.axis, s.rank(0));
    if (axis < 0) return s.fail(Code::kIndexOutOfRange, "axis", s.rank(0), a.axis, 0);
    if (Status status = require_trailing(s, 1, axis); !status) return status;
    if (Status status = require_trailing(s, 2, axis); !status) return status;
    if (Status status = s.set_output(0, s.type(0), s.shape(0)); !status) return status;
    Shape<typename S::Dim> statistics = s.shape(0);
    for (int i = axis; i < statistics.rank; ++i) statistics[i] = int64_t{1};
    for (int output = 1; output < s.output_count(); ++output) {
      Status status = s.set_output(output, static_cast<DataType>(a.stash_type), statistics);
      if (!status) return status;
    }
    return {};
  }
};

struct RmsNormalization {
  using Attributes = LayerNormalizationAttributes;
  static constexpr std::string_view name = "RMSNormalization";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<LayerNormalizationAttributes>();
    const int axis = wrapped_axis(a.axis, s.rank(0));
    if (axis < 0) return s.fail(Code::kIndexOutOfRange, "axis", s.rank(0), a.axis, 0);
    if (Status status = require_trailing(s, 1, axis); !status) return status;
    return s.set_output(0, s.type(1), s.shape(0));
  }
};

struct LpNormalization {
  using Attributes = LpNormalizationAttributes;
  static constexpr std::string_view name = "LpNormalization";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<LpNormalizationAttributes>();
    if (wrapped_axis(a.axis, s.rank(0)) < 0) {
      return s.fail(Code::kIndexOutOfRange, "axis", s.rank(0), a.axis, 0);
    }
    if (a.p != 1 && a.p != 2) return s.fail(Code::kInvalidValue, "p (1 or 2)", 2, a.p);
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

struct MeanVarianceNormalization {
  using Attributes = MeanVarianceNormalizationAttributes;
  static constexpr std::string_view name = "MeanVarianceNormalization";
  template <class S>
  static Status infer(S& s) {
    const IntList& axes = s.template attributes<MeanVarianceNormalizationAttributes>().axes;
    if (!axes.valid()) return s.fail(Code::kInvalidValue, "length of axes", kMaxRank, axes.count);
    for (int32_t axis : axes.view()) {
      if (wrapped_axis(axis, s.rank(0)) < 0) {
        return s.fail(Code::kIndexOutOfRange, "axes", s.rank(0), axis, 0);
      }
    }
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

struct Lrn {
  using Attributes = LrnAttributes;
  static constexpr std::string_view name = "LRN";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<LrnAttributes>();
    if (s.rank(0) < 2) {
      return s.fail(Code::kWrongRank, "rank of batch and channel axes", 2, s.rank(0), 0);
    }
    if (a.size < 1) return s.fail(Code::kInvalidValue, "size", 1, a.size);
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
