// SPDX-License-Identifier: Apache-2.0
//
// The activations of core/activation.h for device code; `activate` there is the definition that
// the tests compare with.
#pragma once

#include <cmath>

#include "core/activation.h"
#include "kernels_cuda/device.h"

namespace intarsia::cuda {

INTARSIA_DEVICE float clipped(float x, float low, float high) {
  return x < low ? low : (x > high ? high : x);
}

INTARSIA_DEVICE float activated(const ActivationSpec& spec, float x) {
  switch (spec.kind) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0.0f : x;
    case Activation::kClip:
      return clipped(x, spec.alpha, spec.beta);
    case Activation::kLeakyRelu:
      return x < 0 ? spec.alpha * x : x;
    case Activation::kElu:
      return x < 0 ? spec.alpha * expm1f(x) : x;
    case Activation::kSigmoid:
      return 1.0f / (1.0f + expf(-x));
    case Activation::kTanh:
      return tanhf(x);
    case Activation::kHardSigmoid:
      return clipped(spec.alpha * x + spec.beta, 0.0f, 1.0f);
    case Activation::kHardSwish:
      return x * clipped(x / 6.0f + 0.5f, 0.0f, 1.0f);
    case Activation::kSilu:
      return x / (1.0f + expf(-x));
    case Activation::kGelu:
      return x * 0.5f * erfcf(-x * 0.707106781f);
    case Activation::kGeluTanh:
      return x / (1.0f + expf(-1.595769122f * (x + 0.044715f * x * x * x)));
    case Activation::kSoftplus:
      return fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x)));
  }
  return x;
}

}  // namespace intarsia::cuda
