// SPDX-License-Identifier: Apache-2.0
//
// Attributes of operators that put windows back into an image
// (core/definitions/expansions_windows.cpp).
#pragma once

#include "core/operators/nn/window.h"

namespace intarsia {

/// Col2Im and MaxUnpool, which has no dilations. Empty lists stand for 1, and for pads of 0.
struct UnpoolAttributes {
  FixedList<int32_t, kMaxSpatial> kernel_shape;
  FixedList<int32_t, kMaxSpatial> strides;
  FixedList<int32_t, 2 * kMaxSpatial> pads;
  template <class V>
  void fields(V& v) {
    v.required("kernel_shape", kernel_shape, at_least(1));
    v("strides", strides, at_least(1));
    v("pads", pads, at_least(0));
  }
};
static_assert(is_plan_struct<UnpoolAttributes>);

struct Col2ImAttributes {
  FixedList<int32_t, kMaxSpatial> dilations;
  FixedList<int32_t, kMaxSpatial> strides;
  FixedList<int32_t, 2 * kMaxSpatial> pads;
  template <class V>
  void fields(V& v) {
    v("dilations", dilations, at_least(1));
    v("strides", strides, at_least(1));
    v("pads", pads, at_least(0));
  }
};
static_assert(is_plan_struct<Col2ImAttributes>);

}  // namespace intarsia
