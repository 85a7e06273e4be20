// SPDX-License-Identifier: Apache-2.0
//
// Gradients of matrix products.
#include "core/definitions/gradient.h"
#include "core/definitions/gradient_terms.h"
#include "core/operators/linear_algebra/matmul.h"

namespace intarsia::definitions::gradients {
namespace {

using G = GradientContext;

/// One matrix of all rows.
Term rows_of(Term term) {
  return call("Flatten", {term}, {{"axis", int64_t{term.rank()} - 1}});
}

Term gemm_of(Term a, Term b, int trans_a, int trans_b, float alpha) {
  return call("Gemm", {a, b},
              {{"alpha", alpha}, {"transA", int64_t{trans_a}}, {"transB", int64_t{trans_b}}});
}

}  // namespace

/// dA = dY B', dB = A' dY. A vector is a row on the left and a column on the right, whose axis of
/// extent 1 the result lacks; matrices that were broadcast have their gradients summed.
void matmul(G& g) {
  const bool row = g.x(0).rank() == 1, column = g.x(1).rank() == 1;
  const Term a = row ? unsqueeze(g.x(0), {0}) : g.x(0);
  const Term b = column ? unsqueeze(g.x(1), {1}) : g.x(1);
  const Term dy = row && column ? unsqueeze(g.dy(), {0, 1})
                  : row         ? unsqueeze(g.dy(), {-2})
                  : column      ? unsqueeze(g.dy(), {-1})
                                : g.dy();
  g.set(0, [&] { return sum_to(call("MatMul", {dy, transposed(b)}), g.x(0)); });
  g.set(1, [&] {
    // One matrix for a batch of others: the sum over the batch is the product's own.
    const bool shared = b.rank() == 2 && a.rank() > 2;
    const Term product = shared ? call("MatMul", {transposed(rows_of(a)), rows_of(dy)})
                                : call("MatMul", {transposed(a), dy});
    const Term result = column ? call("Squeeze", {product, g.integers({-1})}) : product;
    return sum_to(result, g.x(1));
  });
}

/// Y = alpha A' B' + beta C, where A' and B' may be transposed.
void gemm(G& g) {
  const auto& attributes = g.attributes<GemmAttributes>();
  const float alpha = attributes.alpha;
  const int ta = attributes.trans_a, tb = attributes.trans_b;
  g.set(0, [&] {
    return ta == 0 ? gemm_of(g.dy(), g.x(1), 0, 1 - tb, alpha)
                   : gemm_of(g.x(1), g.dy(), tb, 1, alpha);
  });
  g.set(1, [&] {
    return tb == 0 ? gemm_of(g.x(0), g.dy(), 1 - ta, 0, alpha)
                   : gemm_of(g.dy(), g.x(0), 1, ta, alpha);
  });
  g.set(2, [&] { return sum_to(static_cast<double>(attributes.beta) * g.dy(), g.x(2)); });
}

/// d(X^-1) = -X^-1 dX X^-1.
void inverse(G& g) {
  g.set(0, [&] {
    const Term y = transposed(g.y());
    return -call("MatMul", {call("MatMul", {y, g.dy()}), y});
  });
}

/// Of matrices that have an inverse.
void determinant(G& g) {
  g.set(0, [&] {
    const Term scale = unsqueeze(g.dy() * g.y(), {-2, -1});
    return scale * transposed(call("com.microsoft:Inverse", {g.x()}));
  });
}

}  // namespace intarsia::definitions::gradients
