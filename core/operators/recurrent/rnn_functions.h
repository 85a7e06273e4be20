// SPDX-License-Identifier: Apache-2.0
//
// Which activations a recurrent node has, with their parameters.
//
// alpha and beta come from the node's lists, in the order of those activations that take one; where
// a list has run out, the default of the activation's ONNX operator holds.
#pragma once

#include "core/operators/recurrent/rnn.h"

namespace intarsia {

struct RnnFunction {
  RnnActivation kind = RnnActivation::kTanh;
  float alpha = 0;
  float beta = 0;
};

/// The functions of all directions: `functions` per direction, in `result`. `defaults` names those
/// of one direction. REQUIRES: the shape rule accepted the attributes.
inline void resolve_rnn_functions(const RnnAttributes& attributes, int functions,
                                  const RnnActivation* defaults, RnnFunction* result) {
  struct Parameters {
    bool has_alpha, has_beta;
    float alpha, beta;
  };
  // In the order of RnnActivation.
  static constexpr Parameters kParameters[kLastRnnActivation + 1] = {
      {false, false, 0, 0},    {false, false, 0, 0}, {false, false, 0, 0}, {true, true, 1, 0},
      {true, false, 0.01f, 0}, {true, false, 1, 0},  {true, true, 1, 1},   {true, true, 0.2f, 0.5f},
      {true, false, 1, 0},     {false, false, 0, 0}, {false, false, 0, 0},
  };
  int next_alpha = 0;
  int next_beta = 0;
  for (int i = 0; i < functions * attributes.directions(); ++i) {
    RnnFunction& function = result[i];
    function.kind = attributes.activations.count > 0
                        ? static_cast<RnnActivation>(attributes.activations[i])
                        : defaults[i % functions];
    const Parameters& parameters = kParameters[static_cast<int32_t>(function.kind)];
    function.alpha = parameters.alpha;
    function.beta = parameters.beta;
    if (parameters.has_alpha && next_alpha < attributes.activation_alpha.count) {
      function.alpha = attributes.activation_alpha[next_alpha++];
    }
    if (parameters.has_beta && next_beta < attributes.activation_beta.count) {
      function.beta = attributes.activation_beta[next_beta++];
    }
  }
}

}  // namespace intarsia
