// SPDX-License-Identifier: Apache-2.0
//
// Attributes of the Fourier transforms, which become products
// (core/definitions/expansions_fourier.cpp).
#pragma once

#include "intarsia/attributes.h"

namespace intarsia {

struct DftAttributes {
  int32_t inverse = 0;
  int32_t onesided = 0;
  template <class V>
  void fields(V& v) {
    v("inverse", inverse, kFlag);
    v("onesided", onesided, kFlag);
  }
};
static_assert(is_plan_struct<DftAttributes>);

struct StftAttributes {
  int32_t onesided = 1;
  template <class V>
  void fields(V& v) {
    v("onesided", onesided, kFlag);
  }
};
static_assert(is_plan_struct<StftAttributes>);

}  // namespace intarsia
