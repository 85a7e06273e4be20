// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/rnn.h"

#include "kernels_cpu/rnn_sequence.h"

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

constexpr RnnActivation kRnnDefaults[] = {RnnActivation::kTanh};
constexpr RnnActivation kGruDefaults[] = {RnnActivation::kSigmoid, RnnActivation::kTanh};
constexpr RnnActivation kLstmDefaults[] = {RnnActivation::kSigmoid, RnnActivation::kTanh,
                                           RnnActivation::kTanh};

template <class Rule, class T>
Status check_rnn(const KernelContext& context, bool cell_state) {
  constexpr KernelType t = kernel_type_of<T>;
  constexpr KernelType lengths = DataType::kInt32;
  return cell_state ? check_operands<Rule>(context, {.inputs = {t, t, t, t, lengths, t, t, t},
                                                     .required_inputs = 3,
                                                     .outputs = {t, t, t},
                                                     .required_outputs = 0})
                    : check_operands<Rule>(context, {.inputs = {t, t, t, t, lengths, t},
                                                     .required_inputs = 3,
                                                     .outputs = {t, t},
                                                     .required_outputs = 0});
}

/// gate[i] += peephole[i] * cell[i].
template <class T, class V>
void add_peephole(const T* peephole, const V* cell, int64_t count, V* gate) {
  for (int64_t i = 0; i < count; ++i) gate[i] += Element<T>::load(peephole[i]) * cell[i];
}

}  // namespace

template <class T>
int64_t RNN<T>::workspace(const KernelContext& context) {
  return RnnNode<T>(context, context.attributes<RnnAttributes>(), 1).workspace(context);
}

template <class T>
Status RNN<T>::check(const KernelContext& context) {
  if (Status status = check_rnn<ops::Rnn, T>(context, false); !status) return status;
  return check_workspace(context, workspace(context));
}

template <class T>
Status RNN<T>::run(const KernelContext& context) {
  const RnnNode<T> node(context, context.attributes<RnnAttributes>(), 1);
  return run_sequences<T>(context, node, kRnnDefaults, 1, [](RnnStep<T>& s) {
    start_with_bias(s.w_bias, s.r_bias, s.hidden, s.gates);
    add_product(s.w, s.hidden, s.features, s.x, s.gates);
    add_product(s.r, s.hidden, s.hidden, s.h, s.gates);
    apply(s.functions[0], s.clip, s.gates, s.hidden);
    for (int64_t i = 0; i < s.hidden; ++i) s.h[i] = s.gates[i];
  });
}

template <class T>
int64_t GRU<T>::workspace(const KernelContext& context) {
  return RnnNode<T>(context, context.attributes<GruAttributes>().rnn, 3).workspace(context);
}

template <class T>
Status GRU<T>::check(const KernelContext& context) {
  if (Status status = check_rnn<ops::Gru, T>(context, false); !status) return status;
  return check_workspace(context, workspace(context));
}

template <class T>
Status GRU<T>::run(const KernelContext& context) {
  const auto& attributes = context.attributes<GruAttributes>();
  const RnnNode<T> node(context, attributes.rnn, 3);
  const bool linear = attributes.linear_before_reset != 0;
  return run_sequences<T>(context, node, kGruDefaults, 2, [linear](RnnStep<T>& s) {
    const int64_t n = s.hidden;
    auto* const update = s.gates;  // z
    auto* const reset = s.gates + n;
    auto* const candidate = s.gates + 2 * n;
    start_with_bias(s.w_bias, s.r_bias, 2 * n, s.gates);
    start_with_bias<T>(s.w_bias != nullptr ? s.w_bias + 2 * n : nullptr, nullptr, n, candidate);
    add_product(s.w, 3 * n, s.features, s.x, s.gates);
    add_product(s.r, 2 * n, n, s.h, s.gates);
    apply(s.functions[0], s.clip, s.gates, 2 * n);
    const T* const r_candidate = s.r + 2 * n * n;
    start_with_bias<T>(s.r_bias != nullptr ? s.r_bias + 2 * n : nullptr, nullptr, n, s.extra);
    if (linear) {
      add_product(r_candidate, n, n, s.h, s.extra);
      for (int64_t i = 0; i < n; ++i) candidate[i] += reset[i] * s.extra[i];
    } else {
      for (int64_t i = 0; i < n; ++i) {
        candidate[i] += s.extra[i];
        s.extra[i] = reset[i] * s.h[i];
      }
      add_product(r_candidate, n, n, s.extra, candidate);
    }
    apply(s.functions[1], s.clip, candidate, n);
    for (int64_t i = 0; i < n; ++i) {
      s.h[i] = (1 - update[i]) * candidate[i] + update[i] * s.h[i];
    }
  });
}

template <class T>
int64_t LSTM<T>::workspace(const KernelContext& context) {
  return RnnNode<T>(context, context.attributes<LstmAttributes>().rnn, 4).workspace(context);
}

template <class T>
Status LSTM<T>::check(const KernelContext& context) {
  if (Status status = check_rnn<ops::Lstm, T>(context, true); !status) return status;
  return check_workspace(context, workspace(context));
}

template <class T>
Status LSTM<T>::run(const KernelContext& context) {
  const auto& attributes = context.attributes<LstmAttributes>();
  const RnnNode<T> node(context, attributes.rnn, 4);
  const bool coupled = attributes.input_forget != 0;
  return run_sequences<T>(context, node, kLstmDefaults, 3, [coupled](RnnStep<T>& s) {
    const int64_t n = s.hidden;
    auto* const input = s.gates;
    auto* const output = s.gates + n;
    auto* const forget = s.gates + 2 * n;
    auto* const candidate = s.gates + 3 * n;
    start_with_bias(s.w_bias, s.r_bias, 4 * n, s.gates);
    add_product(s.w, 4 * n, s.features, s.x, s.gates);
    add_product(s.r, 4 * n, n, s.h, s.gates);
    if (s.peepholes != nullptr) {
      add_peephole(s.peepholes, s.c, n, input);
      add_peephole(s.peepholes + 2 * n, s.c, n, forget);
    }
    apply(s.functions[0], s.clip, input, n);
    apply(s.functions[0], s.clip, forget, n);
    apply(s.functions[1], s.clip, candidate, n);
    for (int64_t i = 0; i < n; ++i) {
      const auto kept = coupled ? 1 - input[i] : forget[i];
      s.c[i] = kept * s.c[i] + input[i] * candidate[i];
      s.extra[i] = s.c[i];
    }
    if (s.peepholes != nullptr) add_peephole(s.peepholes + n, s.c, n, output);
    apply(s.functions[0], s.clip, output, n);
    apply(s.functions[2], 0, s.extra, n);  // clip bounds what enters the gates, not the cell state
    for (int64_t i = 0; i < n; ++i) s.h[i] = output[i] * s.extra[i];
  });
}

template struct RNN<float>;
template struct RNN<double>;
template struct RNN<Float16>;
template struct RNN<BFloat16>;
template struct GRU<float>;
template struct GRU<double>;
template struct GRU<Float16>;
template struct GRU<BFloat16>;
template struct LSTM<float>;
template struct LSTM<double>;
template struct LSTM<Float16>;
template struct LSTM<BFloat16>;

}  // namespace intarsia::cpu
