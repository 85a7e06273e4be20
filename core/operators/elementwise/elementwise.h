// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of element-wise operators: the output has the extents of the first
// input, or of all inputs broadcast together (ONNX, "Multidirectional Broadcasting").
#pragma once

#include "core/operators/common/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

/// Elu, Celu, ThresholdedRelu, Swish.
struct AlphaAttributes {
  float alpha = 1.0f;
  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
  }
};
static_assert(is_plan_struct<AlphaAttributes>);

struct LeakyReluAttributes {
  float alpha = 0.01f;
  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
  }
};
static_assert(is_plan_struct<LeakyReluAttributes>);

struct ShrinkAttributes {
  float lambd = 0.5f;
  float bias = 0;
  template <class V>
  void fields(V& v) {
    v("lambd", lambd);
    v("bias", bias);
  }
};
static_assert(is_plan_struct<ShrinkAttributes>);

struct HardSigmoidAttributes {
  float alpha = 0.2f;
  float beta = 0.5f;
  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
    v("beta", beta);
  }
};
static_assert(is_plan_struct<HardSigmoidAttributes>);

struct SeluAttributes {
  float alpha = 1.67326319217681884765625f;
  float gamma = 1.05070102214813232421875f;
  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
    v("gamma", gamma);
  }
};
static_assert(is_plan_struct<SeluAttributes>);

struct GeluAttributes {
  enum Approximation : int32_t { kNone = 0, kTanh = 1 };
  int32_t approximate = kNone;
  template <class V>
  void fields(V& v) {
    v.choice("approximate", approximate, {"none", "tanh"});
  }
};
static_assert(is_plan_struct<GeluAttributes>);

struct IsInfAttributes {
  int32_t detect_negative = 1;
  int32_t detect_positive = 1;
  template <class V>
  void fields(V& v) {
    v("detect_negative", detect_negative, kFlag);
    v("detect_positive", detect_positive, kFlag);
  }
};
static_assert(is_plan_struct<IsInfAttributes>);

struct ModAttributes {
  /// 0: the quotient is rounded down; 1: towards zero.
  int32_t fmod = 0;
  template <class V>
  void fields(V& v) {
    v("fmod", fmod, kFlag);
  }
};
static_assert(is_plan_struct<ModAttributes>);

struct BitShiftAttributes {
  enum Direction : int32_t { kMissing = -1, kLeft = 0, kRight = 1 };
  /// ONNX requires it: neither converter nor `has_attributes` accepts kMissing.
  int32_t direction = kMissing;
  template <class V>
  void fields(V& v) {
    v.choice("direction", direction, {"LEFT", "RIGHT"});
  }
};
static_assert(is_plan_struct<BitShiftAttributes>);

struct CastAttributes {
  /// A DataType.
  int32_t to = 0;
  /// Both matter only for 8-bit floating-point results.
  int32_t saturate = 1;
  int32_t round_mode = 0;
  template <class V>
  void fields(V& v) {
    v.required("to", to, kElementType);
    v("saturate", saturate, kFlag);
    v.choice("round_mode", round_mode, {"up", "down", "nearest"});
  }
};
static_assert(is_plan_struct<CastAttributes>);

struct CastLikeAttributes {
  int32_t saturate = 1;
  int32_t round_mode = 0;
  template <class V>
  void fields(V& v) {
    v("saturate", saturate, kFlag);
    v.choice("round_mode", round_mode, {"up", "down", "nearest"});
  }
};
static_assert(is_plan_struct<CastLikeAttributes>);

namespace ops {

/// Every output has the type and extents of input 0.
struct SameShape {
  static constexpr std::string_view name = "SameShape";
  template <class S>
  static Status infer(S& s) {
    for (int output = 0; output < s.output_count(); ++output) {
      if (Status status = s.set_output(output, s.type(0), s.shape(0)); !status) return status;
    }
    return {};
  }
};

/// Output 0 has the extents of all present inputs broadcast, and the type of input `TypeFrom`.
template <int TypeFrom = 0>
struct BroadcastFrom {
  static constexpr std::string_view name = TypeFrom == 0 ? "Broadcast" : "Where";
  template <class S>
  static Status infer(S& s) {
    Shape<typename S::Dim> result;
    for (int input = 0; input < s.input_count(); ++input) {
      if (s.has_input(input) && s.rank(input) > result.rank) result.rank = s.rank(input);
    }
    for (int axis = 0; axis < result.rank; ++axis) result[axis] = 1;
    for (int input = 0; input < s.input_count(); ++input) {
      if (!s.has_input(input)) continue;
      const int lead = result.rank - s.rank(input);
      for (int axis = 0; axis < s.rank(input); ++axis) {
        auto& extent = result[lead + axis];
        if (Status status = s.broadcast(extent, s.dim(input, axis), extent, input, axis); !status) {
          return status;
        }
      }
    }
    return s.set_output(0, s.type(TypeFrom), result);
  }
};
using Broadcast = BroadcastFrom<0>;
using WhereShape = BroadcastFrom<1>;

/// The extents of input 0, the element type that attribute `to` names.
struct Cast {
  using Attributes = CastAttributes;
  static constexpr std::string_view name = "Cast";
  template <class S>
  static Status infer(S& s) {
    const int32_t to = s.template attributes<CastAttributes>().to;
    if (to <= 0 || to > kLastDataType) {
      return s.fail(Code::kInvalidValue, "attribute to is no element type", kLastDataType, to);
    }
    return s.set_output(0, static_cast<DataType>(to), s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
