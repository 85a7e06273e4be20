// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/recurrent/rnn_sequence.h"

namespace intarsia::cpu {

void resolve_rnn_functions(const RnnAttributes& attributes, int functions,
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

namespace {

/// Sum of row[i] * x[i]; partial sums keep the adders busy and let compilers use vectors.
template <class T, class V>
V dot(const T* row, const V* x, int64_t count) {
  constexpr int kParts = 16;
  V parts[kParts] = {};
  int64_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (int j = 0; j < kParts; ++j) parts[j] += Element<T>::load(row[i + j]) * x[i + j];
  }
  for (int width = kParts / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; ++j) parts[j] += parts[j + width];
  }
  for (; i < count; ++i) parts[0] += Element<T>::load(row[i]) * x[i];
  return parts[0];
}

/// Weights as they are in ONNX: gates * hidden rows in W and R, two biases behind one another.
template <class T>
class RowWeights {
 public:
  using Element = T;
  using Value = typename cpu::Element<T>::Value;
  static constexpr int64_t kSteps = 1;

  RowWeights(const KernelContext& context, const RnnNode& node, int64_t direction)
      : features_(node.features),
        hidden_(node.hidden),
        rows_(node.rows()),
        w_(context.input(1).as<const T>() + direction * rows_ * features_),
        r_(context.input(2).as<const T>() + direction * rows_ * hidden_),
        bias_(context.input(3).as<const T>()) {
    if (bias_ != nullptr) bias_ += direction * 2 * rows_;
  }

  void project(const T* x, int64_t, int64_t, Value* gates, Value* input) const {
    for (int64_t i = 0; i < features_; ++i) input[i] = cpu::Element<T>::load(x[i]);
    for (int64_t i = 0; i < rows_; ++i) {
      gates[i] = bias(i) + dot(w_ + i * features_, input, features_);
    }
  }
  void recur(int first, int count, const Value* h, Value* y) const {
    const int64_t begin = first * hidden_;
    for (int64_t i = begin; i < begin + count * hidden_; ++i) {
      y[i - begin] += bias(rows_ + i) + dot(r_ + i * hidden_, h, hidden_);
    }
  }
  void activate(const RnnFunction& function, Value* x, int64_t count) const {
    apply(function, x, count);
  }

 private:
  Value bias(int64_t i) const { return bias_ != nullptr ? cpu::Element<T>::load(bias_[i]) : 0; }

  int64_t features_, hidden_, rows_;
  const T* w_;
  const T* r_;
  const T* bias_;
};

}  // namespace

template <class Layer, class T>
int64_t Recurrent<Layer, T>::workspace(const KernelContext& context) {
  return rnn_workspace<Layer, RowWeights<T>>(context);
}

template <class Layer, class T>
Status Recurrent<Layer, T>::check(const KernelContext& context) {
  if (Status status = check_rnn<Layer, T>(context); !status) return status;
  return check_workspace(context, workspace(context));
}

template <class Layer, class T>
Status Recurrent<Layer, T>::run(const KernelContext& context) {
  return run_sequences<Layer, RowWeights<T>>(context);
}

template struct Recurrent<RnnLayer, float>;
template struct Recurrent<RnnLayer, double>;
template struct Recurrent<RnnLayer, Float16>;
template struct Recurrent<RnnLayer, BFloat16>;
template struct Recurrent<GruLayer, float>;
template struct Recurrent<GruLayer, double>;
template struct Recurrent<GruLayer, Float16>;
template struct Recurrent<GruLayer, BFloat16>;
template struct Recurrent<LstmLayer, float>;
template struct Recurrent<LstmLayer, double>;
template struct Recurrent<LstmLayer, Float16>;
template struct Recurrent<LstmLayer, BFloat16>;

}  // namespace intarsia::cpu
