// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of the pooling operators.
//
// X and Y are N, C, spatial... or, with `channels_last`, N, spatial..., C.
#pragma once

#include "core/operators/nn/conv.h"

namespace intarsia {

/// The attributes of every pooling operator over windows; an operator names those that it has.
struct PoolAttributes {
  WindowAttributes window;
  int32_t ceil_mode = 0;
  int32_t channels_last = 0;

  template <class V>
  void fields(V& v) {
    window.fields(v);
    v("ceil_mode", ceil_mode, kFlag);
    v.internal("channels_last", channels_last);
  }
};

struct MaxPoolAttributes {
  PoolAttributes pool;
  /// How Indices count: 0 with the last spatial axis fastest, 1 with the first one fastest.
  int32_t storage_order = 0;

  template <class V>
  void fields(V& v) {
    pool.fields(v);
    v("storage_order", storage_order, kFlag);
  }
};
static_assert(is_plan_struct<MaxPoolAttributes>);

struct AveragePoolAttributes {
  PoolAttributes pool;
  int32_t count_include_pad = 0;

  template <class V>
  void fields(V& v) {
    pool.fields(v);
    v("count_include_pad", count_include_pad, kFlag);
  }
};
static_assert(is_plan_struct<AveragePoolAttributes>);

struct LpPoolAttributes {
  PoolAttributes pool;
  int32_t p = 2;

  template <class V>
  void fields(V& v) {
    pool.fields(v);
    v("p", p, at_least(1));
  }
};
static_assert(is_plan_struct<LpPoolAttributes>);

struct GlobalPoolAttributes {
  int32_t channels_last = 0;

  template <class V>
  void fields(V& v) {
    v.internal("channels_last", channels_last);
  }
};
static_assert(is_plan_struct<GlobalPoolAttributes>);

struct GlobalLpPoolAttributes {
  GlobalPoolAttributes global;
  int32_t p = 2;

  template <class V>
  void fields(V& v) {
    global.fields(v);
    v("p", p, at_least(1));
  }
};
static_assert(is_plan_struct<GlobalLpPoolAttributes>);

namespace ops {

template <class S>
Status infer_pool(S& s, const PoolAttributes& a) {
  using Dim = typename S::Dim;
  if (Status status = require_image(s, 0); !status) return status;
  const ImageAxes axes{s.rank(0), a.channels_last != 0};
  if (Status status = a.window.validate(s, axes.spatial(), true); !status) return status;
  Shape<Dim> y = s.shape(0);
  for (int i = 0; i < axes.spatial(); ++i) {
    const Dim in = s.dim(0, axes.axis(i));
    const Dim kernel = int64_t{a.window.kernel_shape[i]};
    Status status = infer_window_extent(s, a.window, i, axes.spatial(), in, kernel,
                                        a.ceil_mode != 0, y[axes.axis(i)]);
    if (!status) return status;
  }
  if (Status status = s.set_output(0, s.type(0), y); !status) return status;
  return s.output_count() > 1 ? s.set_output(1, DataType::kInt64, y) : Status();
}

struct MaxPool {
  using Attributes = MaxPoolAttributes;
  static constexpr std::string_view name = "MaxPool";
  template <class S>
  static Status infer(S& s) {
    return infer_pool(s, s.template attributes<MaxPoolAttributes>().pool);
  }
};

struct AveragePool {
  using Attributes = AveragePoolAttributes;
  static constexpr std::string_view name = "AveragePool";
  template <class S>
  static Status infer(S& s) {
    return infer_pool(s, s.template attributes<AveragePoolAttributes>().pool);
  }
};

struct LpPool {
  using Attributes = LpPoolAttributes;
  static constexpr std::string_view name = "LpPool";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<LpPoolAttributes>();
    if (a.p < 1) return s.fail(Code::kInvalidValue, "p", 1, a.p);
    return infer_pool(s, a.pool);
  }
};

/// Every spatial axis becomes 1.
template <class S>
Status infer_global_pool(S& s, const GlobalPoolAttributes& a) {
  if (Status status = require_image(s, 0); !status) return status;
  const ImageAxes axes{s.rank(0), a.channels_last != 0};
  Shape<typename S::Dim> y = s.shape(0);
  for (int i = 0; i < axes.spatial(); ++i) y[axes.axis(i)] = int64_t{1};
  return s.set_output(0, s.type(0), y);
}

struct GlobalPool {
  using Attributes = GlobalPoolAttributes;
  static constexpr std::string_view name = "GlobalPool";
  template <class S>
  static Status infer(S& s) {
    return infer_global_pool(s, s.template attributes<GlobalPoolAttributes>());
  }
};

struct GlobalLpPool {
  using Attributes = GlobalLpPoolAttributes;
  static constexpr std::string_view name = "GlobalLpPool";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<GlobalLpPoolAttributes>();
    if (a.p < 1) return s.fail(Code::kInvalidValue, "p", 1, a.p);
    return infer_global_pool(s, a.global);
  }
};

}  // namespace ops
}  // namespace intarsia
