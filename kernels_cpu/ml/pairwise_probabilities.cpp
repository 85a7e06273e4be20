// SPDX-License-Identifier: Apache-2.0
//
// PairwiseProbabilities: probabilities of classes from the scores of all pairs of them.
//
// Of classes i and j, r[i][j] = 1 / (1 + exp(a * score + b)) is the probability of i, by Platt; the
// probabilities p of all are those that minimise the sum of (r[j][i] * p[i] - r[i][j] * p[j])^2, by
// the second method of Wu, Lin and Weng: Probability Estimates for Multi-class Classification by
// Pairwise Coupling. It is iterated until it is within 0.005 / classes, as LIBSVM does, whose
// results are so met, and not beyond. In double; rows are computed on the caller's threads.
// https://www.csie.ntu.edu.tw/~cjlin/papers/svmprob/svmprob.pdf
#include <algorithm>
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/ml/support_vectors.h"
#include "core/runtime/operand_check.h"
#include "intarsia/checked_int.h"
#include "intarsia/per_thread.h"

namespace intarsia::cpu {
namespace {

/// Minimises over p. `q` is [classes, classes]; `qp` has room for a number for each class.
void couple(const double* q, int64_t classes, double* qp, double* p) {
  constexpr int64_t kLeastIterations = 100;
  const double enough = 0.005 / static_cast<double>(classes);
  for (int64_t left = std::max(kLeastIterations, classes); left > 0; --left) {
    double pqp = 0, error = 0;
    for (int64_t i = 0; i < classes; ++i) {
      qp[i] = 0;
      for (int64_t j = 0; j < classes; ++j) qp[i] += q[i * classes + j] * p[j];
      pqp += p[i] * qp[i];
    }
    for (int64_t i = 0; i < classes; ++i) error = std::max(error, std::fabs(qp[i] - pqp));
    if (error < enough) return;
    for (int64_t i = 0; i < classes; ++i) {
      const double own = q[i * classes + i];
      const double step = (pqp - qp[i]) / own;
      p[i] += step;
      pqp = (pqp + step * (step * own + 2 * qp[i])) / (1 + step) / (1 + step);
      for (int64_t j = 0; j < classes; ++j) {
        qp[j] = (qp[j] + step * q[i * classes + j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
}

struct PairwiseProbabilities {
  static constexpr KernelId id{"intarsia:PairwiseProbabilities", "", {}};

  /// For each thread r, q, qp and p.
  static int64_t numbers(const KernelContext& context) {
    const CheckedInt classes(context.attributes<PairwiseAttributes>().classes);
    return (classes * classes * 2 + classes * 2).value();
  }
  static int64_t workspace(const KernelContext& context) {
    return (CheckedInt(numbers(context)) * int64_t{sizeof(double)} * context.threads()).value();
  }
  static Status check(const KernelContext& context) {
    Status status = check_operands<ops::PairwiseProbabilities>(
        context, {.inputs = {DataType::kDouble, DataType::kFloat, DataType::kFloat},
                  .required_inputs = 3,
                  .outputs = {DataType::kFloat}});
    return status.ok() ? check_workspace(context, workspace(context)) : status;
  }

  static Status run(const KernelContext& context) {
    const TensorView& scores = context.input(0);
    const int64_t pairs = scores.extents[1];
    const int64_t classes = context.attributes<PairwiseAttributes>().classes;
    const PerThread<double> memory(context.workspace(), context.threads(), numbers(context));
    auto* y = context.output(0).as<float>();
    context.parallel_for(scores.extents[0], [&](int64_t begin, int64_t end, int thread) {
      double* r = memory[thread];
      double* q = r + classes * classes;
      double* qp = q + classes * classes;
      double* p = qp + classes;
      for (int64_t row = begin; row < end; ++row) {
        fill(context, scores.as<const double>() + row * pairs, classes, r, q);
        std::fill_n(p, classes, 1 / static_cast<double>(classes));
        couple(q, classes, qp, p);
        std::transform(p, p + classes, y + row * classes,
                       [](double each) { return static_cast<float>(each); });
      }
    });
    return {};
  }

 private:
  static void fill(const KernelContext& context, const double* scores, int64_t classes, double* r,
                   double* q) {
    constexpr double kLeast = 1e-7;  // of a probability
    const auto* a = context.input(1).as<const float>();
    const auto* b = context.input(2).as<const float>();
    int64_t pair = 0;
    for (int64_t i = 0; i < classes; ++i) {
      for (int64_t j = i + 1; j < classes; ++j, ++pair) {
        const double z = scores[pair] * static_cast<double>(a[pair]) + static_cast<double>(b[pair]);
        const double first = std::clamp(1 / (1 + std::exp(z)), kLeast, 1 - kLeast);
        r[i * classes + j] = first;
        r[j * classes + i] = 1 - first;
      }
    }
    for (int64_t i = 0; i < classes; ++i) {
      double own = 0;
      for (int64_t j = 0; j < classes; ++j) {
        if (j == i) continue;
        own += r[j * classes + i] * r[j * classes + i];
        q[i * classes + j] = -r[j * classes + i] * r[i * classes + j];
      }
      q[i * classes + i] = own;
    }
  }
};

}  // namespace

extern const KernelList pairwise_probabilities_kernels;
constinit const KernelList pairwise_probabilities_kernels = kernel_list<PairwiseProbabilities>();

}  // namespace intarsia::cpu
