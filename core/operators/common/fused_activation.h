// SPDX-License-Identifier: Apache-2.0
//
// The activation that the converter fused into a product or convolution, as attributes: any struct
// with the fields activation, activation_alpha and activation_beta.
#pragma once

#include "core/operators/common/activation_spec.h"
#include "intarsia/status.h"

namespace intarsia {

template <class A>
ActivationSpec activation_of(const A& attributes) {
  return {static_cast<Activation>(attributes.activation), attributes.activation_alpha,
          attributes.activation_beta};
}

/// Reports an activation number outside the enumeration.
template <class A, class Context>
Status validate_activation(const Context& c, const A& attributes) {
  constexpr auto kLast = static_cast<int32_t>(Activation::kSoftplus);
  return attributes.activation >= 0 && attributes.activation <= kLast
             ? Status()
             : c.fail(Code::kInvalidValue, "fused activation", kLast, attributes.activation);
}

}  // namespace intarsia
