// SPDX-License-Identifier: Apache-2.0
//
// The reference of the recurrent layers (ONNX RNN, GRU, LSTM): weights are read as rows in ONNX's
// order, in dot products with several partial sums; arithmetic is in the element type (16-bit types
// in float). What every recurrent kernel does: rnn_sequence.h.
#include "core/kernel_list.h"
#include "kernels_cpu/recurrent/rnn_sequence.h"

namespace intarsia::cpu {
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
  static constexpr int64_t kRows = 1, kUnits = 0, kShared = 0;
  static constexpr bool kRuns = false;
  using Summary = NoSummary;

  RowWeights(const KernelContext& context, const RnnNode& node, int64_t direction)
      : features_(node.features),
        hidden_(node.hidden),
        rows_(node.rows()),
        w_(context.input(1).as<const T>() + direction * rows_ * features_),
        r_(context.input(2).as<const T>() + direction * rows_ * hidden_),
        bias_(context.input(3).as<const T>()) {
    if (bias_ != nullptr) bias_ += direction * 2 * rows_;
  }

  static int64_t own(const RnnNode& node, int64_t) { return node.features; }

  void project(const RnnRows<T>& x, const RnnGates<Value>& gates, RnnUnits<Value> units) const {
    Value* input = units.own;
    for (int64_t i = 0; i < features_; ++i) input[i] = cpu::Element<T>::load(x.first[i]);
    for (int64_t i = 0; i < rows_; ++i) {
      gates.first[i] = bias(i) + dot(w_ + i * features_, input, features_);
    }
  }
  [[gnu::noinline]] void recur(const RnnStep<RowWeights>&, int first, int count, const Value* h,
                               const RnnGates<Value>& y) const {
    const int64_t begin = first * hidden_;
    for (int64_t i = begin; i < begin + count * hidden_; ++i) {
      y.first[i - begin] += bias(rows_ + i) + dot(r_ + i * hidden_, h, hidden_);
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

template <class Layer, class T>
struct Recurrent {
  static constexpr KernelId id{Layer::Rule::name, "", {kernel_type_of<T>}};

  static int64_t workspace(const KernelContext& context) {
    return rnn_workspace<Layer, RowWeights<T>>(context);
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_rnn<Layer, T>(context); !status) return status;
    return check_workspace(context, rnn_least_workspace<Layer, RowWeights<T>>(context));
  }

  static Status run(const KernelContext& context) {
    return run_sequences<Layer, RowWeights<T>>(context);
  }
};

}  // namespace

extern const KernelList rnn_kernels;
constinit const KernelList rnn_kernels =
    kernel_list<EachPair<Recurrent, RecurrentLayers, Floats>>();

}  // namespace intarsia::cpu
