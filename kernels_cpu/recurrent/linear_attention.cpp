// SPDX-License-Identifier: Apache-2.0
//
// LinearAttention: attention whose keys and values are summed up in a matrix, the state S.
//
//     S = exp(decay) * S                      gated, gated_delta; by row of S or for all of it
//     v = beta * (v - S^T k)                  delta, gated_delta
//     S = S + k v^T
//     o = scale * S^T q                       for each head of the query that shares the state
//
// step by step along the sequence, in float; heads are spread over the caller's threads.
// S. Yang et al., "Gated Delta Networks", 2024; https://onnx.ai/onnx/operators
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/recurrent/linear_attention.h"
#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

using ops::LinearAttention;

/// Where the operands of one head lie, and how far apart its steps are.
template <class T>
struct Head {
  using Stored = typename Element<T>::Stored;
  const Stored *query, *key, *value, *decay, *beta;
  Stored* out;
  int64_t query_step, key_step, value_step, decay_step, beta_step, out_step;
};

struct Sizes {
  int64_t steps, key, value, group;
  bool decay_by_row;
  float scale;
};

/// One step: `state` is key x value, `update` holds value elements.
template <class T>
void advance(const Head<T>& head, int64_t step, const Sizes& n, float* state, float* update) {
  using E = Element<T>;
  const auto* key = head.key + step * head.key_step;
  const auto* value = head.value + step * head.value_step;
  for (int64_t row = 0; head.decay != nullptr && row < n.key; ++row) {
    const auto* decay = head.decay + step * head.decay_step;
    const float kept = std::exp(static_cast<float>(E::load(decay[n.decay_by_row ? row : 0])));
    for (int64_t i = 0; i < n.value; ++i) state[row * n.value + i] *= kept;
  }
  for (int64_t i = 0; i < n.value; ++i) update[i] = E::load(value[i]);
  if (head.beta != nullptr) {
    for (int64_t row = 0; row < n.key; ++row) {
      const float k = E::load(key[row]);
      for (int64_t i = 0; i < n.value; ++i) update[i] -= k * state[row * n.value + i];
    }
    const float beta = E::load(head.beta[step * head.beta_step]);
    for (int64_t i = 0; i < n.value; ++i) update[i] *= beta;
  }
  for (int64_t row = 0; row < n.key; ++row) {
    const float k = E::load(key[row]);
    for (int64_t i = 0; i < n.value; ++i) state[row * n.value + i] += k * update[i];
  }
  for (int64_t member = 0; member < n.group; ++member) {
    const auto* query = head.query + step * head.query_step + member * n.key;
    std::fill(update, update + n.value, 0.0f);
    for (int64_t row = 0; row < n.key; ++row) {
      const float q = E::load(query[row]);
      for (int64_t i = 0; i < n.value; ++i) update[i] += q * state[row * n.value + i];
    }
    auto* out = head.out + step * head.out_step + member * n.value;
    for (int64_t i = 0; i < n.value; ++i) out[i] = E::store(n.scale * update[i]);
  }
}

template <class T, class P>
struct LinearAttentionKernel {
  static constexpr KernelId id{"LinearAttention", "", {kernel_type_of<T>, kernel_type_of<P>}};

  static CheckedInt floats_per_thread(const KernelContext& context) {
    const TensorView& state = context.output(1);
    return (CheckedInt(state.extents[2]) + CheckedInt(1)) * CheckedInt(state.extents[3]);
  }
  static int64_t workspace(const KernelContext& context) {
    return (floats_per_thread(context) * int64_t{sizeof(float)} * context.threads()).value();
  }
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>, p = kernel_type_of<P>;
    const OperandTypes types{.inputs = {t, t, t, p, t, t},
                             .required_inputs = 3,
                             .outputs = {t, p},
                             .required_outputs = 2};
    if (Status status = check_operands<LinearAttention>(context, types); !status) return status;
    return check_workspace(context, workspace(context));
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<LinearAttentionAttributes>();
    const TensorView& present = context.output(1);
    const int64_t heads = present.extents[1];
    const Sizes n{context.input(0).extents[1],
                  present.extents[2],
                  present.extents[3],
                  a.q_num_heads / a.kv_num_heads,
                  a.decays() && context.input(LinearAttention::kDecay).extents[2] != heads,
                  scale_of(a, present.extents[2])};
    const int64_t elements = n.key * n.value;
    const auto* past =
        context.input(LinearAttention::kState).as<const typename Element<P>::Stored>();
    auto* to = present.as<typename Element<P>::Stored>();
    const PerThread<float> memory(context.workspace(), context.threads(),
                                  floats_per_thread(context).value());
    context.parallel_for(present.extents[0] * heads, [&](int64_t begin, int64_t end, int thread) {
      float* state = memory[thread];
      for (int64_t unit = begin; unit < end; ++unit) {
        for (int64_t i = 0; i < elements; ++i) {
          state[i] = past == nullptr ? 0.0f : Element<P>::load(past[unit * elements + i]);
        }
        const Head<T> head = head_of(context, unit / heads, unit % heads, n);
        for (int64_t step = 0; step < n.steps; ++step) {
          advance(head, step, n, state, state + elements);
        }
        for (int64_t i = 0; i < elements; ++i) {
          to[unit * elements + i] = Element<P>::store(state[i]);
        }
      }
    });
    return {};
  }

 private:
  static float scale_of(const LinearAttentionAttributes& a, int64_t key) {
    return a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<float>(key));
  }

  static Head<T> head_of(const KernelContext& context, int64_t item, int64_t number,
                         const Sizes& n) {
    using Stored = typename Element<T>::Stored;
    // `first`: where the head begins within a step.
    const auto at = [&](const TensorView& view, int64_t first) -> const Stored* {
      if (!view.present()) return nullptr;
      return view.as<const Stored>() + item * n.steps * view.extents[2] + first;
    };
    const auto step = [](const TensorView& view) { return view.present() ? view.extents[2] : 0; };
    const TensorView &query = context.input(LinearAttention::kQuery),
                     &key = context.input(LinearAttention::kKey),
                     &value = context.input(LinearAttention::kValue),
                     &decay = context.input(LinearAttention::kDecay),
                     &beta = context.input(LinearAttention::kBeta), &out = context.output(0);
    return {at(query, number * n.group * n.key),
            at(key, number * n.key),
            at(value, number * n.value),
            at(decay, n.decay_by_row ? number * n.key : number),
            at(beta, step(beta) == 1 ? 0 : number),
            const_cast<Stored*>(at(out, number * n.group * n.value)),
            step(query),
            step(key),
            step(value),
            step(decay),
            step(beta),
            step(out)};
  }
};

}  // namespace

using Reals = Types<float, Float16, BFloat16>;
extern const KernelList linear_attention_kernels;
constinit const KernelList linear_attention_kernels =
    kernel_list<EachPair<LinearAttentionKernel, Reals, Reals>>();

}  // namespace intarsia::cpu
