// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the normalisations: each is written as the formula that it stands for. Numbers of 16
// bits are computed with in float, as kernels do.
#include "core/definitions/gradient.h"
#include "core/definitions/gradient_terms.h"
#include "core/operators/nn/normalization.h"

namespace intarsia::definitions::gradients {
namespace {

using G = GradientContext;
using Integers = std::vector<int64_t>;

/// The output in its own type.
Term narrow(G& g, Term term, int output = 0) {
  return cast_to(term, g.y(output).known().type);
}

/// A vector over the channels, for an image of this rank.
Term per_channel(Term vector, int rank) {
  return rank > 2 ? unsqueeze(vector, axes_between(1, rank - 1)) : vector;
}

Term inverse_root(Term variance, float epsilon) {
  const Term sum = variance + static_cast<double>(epsilon);
  return call("Reciprocal", {call("Sqrt", {sum})});
}

struct Standardized {
  Standardized(Term x, const Integers& axes, float epsilon)
      : mean(mean_over(x, axes)),
        centred(x - mean),
        variance(mean_over(centred * centred, axes)),
        inverse(inverse_root(variance, epsilon)),
        result(centred * inverse) {}
  Term mean, centred, variance, inverse, result;
};

}  // namespace

void batch_normalization(G& g) {
  const auto& a = g.attributes<BatchNormalizationAttributes>();
  const int rank = g.x().rank();
  const Term x = wide(g.x(0));
  const auto scaled = [&](Term standard) {
    const Term scale = per_channel(cast(g.x(1), x), rank),
               shift = per_channel(cast(g.x(2), x), rank);
    return narrow(g, standard * scale + shift);
  };
  if (a.training_mode == 0) {
    g.express(0, [&] {
      const Term inverse = inverse_root(cast(g.x(4), x), a.epsilon);
      return scaled((x - per_channel(cast(g.x(3), x), rank)) * per_channel(inverse, rank));
    });
    return;
  }
  Integers axes = axes_between(2, rank);
  axes.push_back(0);
  const Standardized standard(x, axes, a.epsilon);
  g.express(0, [&] { return scaled(standard.result); });
  const double momentum = static_cast<double>(a.momentum);
  const auto running = [&](int output, Term before, Term current) {
    g.express(output, [&] {
      const Term vector = reshape(current, before);
      return narrow(g, momentum * cast(before, x) + (1 - momentum) * vector, output);
    });
  };
  running(1, g.x(3), standard.mean);
  running(2, g.x(4), standard.variance);
}

void instance_normalization(G& g) {
  const int rank = g.x().rank();
  g.express(0, [&] {
    const float epsilon = g.attributes<InstanceNormalizationAttributes>().epsilon;
    const Standardized standard(wide(g.x(0)), axes_between(2, rank), epsilon);
    return narrow(
        g, standard.result * per_channel(wide(g.x(1)), rank) + per_channel(wide(g.x(2)), rank));
  });
}

void group_normalization(G& g) {
  const auto& a = g.attributes<GroupNormalizationAttributes>();
  const int rank = g.x().rank();
  g.express(0, [&] {
    const Term batch = extents(g.x(), 0, 1), groups = g.integers({a.num_groups});
    const Term size = call("ReduceProd", {extents(g.x(), 1, rank), g.integers({0})}) /
                      static_cast<double>(a.num_groups);
    const Term grouped = with_extents(wide(g.x(0)), join({batch, groups, size}, 0));
    const Standardized standard(grouped, {2}, a.epsilon);
    return narrow(g, reshape(standard.result, g.x()) * per_channel(wide(g.x(1)), rank) +
                         per_channel(wide(g.x(2)), rank));
  });
}

void layer_normalization(G& g) {
  const auto& a = g.attributes<LayerNormalizationAttributes>();
  const int rank = g.x().rank();
  const int first = ops::wrapped_axis(a.axis, rank);
  const Standardized standard(wide(g.x(0)), axes_between(first, rank), a.epsilon);
  g.express(0, [&] {
    const Term scaled = standard.result * wide(g.x(1));
    return narrow(g, g.has_x(2) ? scaled + wide(g.x(2)) : scaled);
  });
  g.express(1, [&] { return narrow(g, standard.mean, 1); });
  g.express(2, [&] { return narrow(g, standard.inverse, 2); });
}

void rms_normalization(G& g) {
  const auto& a = g.attributes<LayerNormalizationAttributes>();
  const int rank = g.x().rank();
  g.express(0, [&] {
    const Term x = wide(g.x(0));
    const Term squares = mean_over(x * x, axes_between(ops::wrapped_axis(a.axis, rank), rank));
    return narrow(g, x * inverse_root(squares, a.epsilon) * cast(g.x(1), x));
  });
}

void lp_normalization(G& g) {
  const auto& a = g.attributes<LpNormalizationAttributes>();
  g.express(0, [&] {
    const Term x = wide(g.x(0));
    const Term sum = sum_over(absolute_power(x, a.p), {a.axis});
    // Where all elements are 0, so is the result.
    const Term safe = where(call("Equal", {sum, sum.number(0)}), 1, sum);
    return narrow(g, x / root(safe, a.p));
  });
}

void mean_variance_normalization(G& g) {
  const auto axes = g.attributes<MeanVarianceNormalizationAttributes>().axes.view();
  g.express(0, [&] {
    const Integers reduced(axes.begin(), axes.end());
    const Term x = wide(g.x(0)), centred = x - mean_over(x, reduced);
    const Term variance = mean_over(centred * centred, reduced);
    return narrow(g, centred / (root(variance, 2) + 1e-9));
  });
}

/// The window over the channels is one over the rows of an image with one channel.
void response_normalization(G& g) {
  const auto& a = g.attributes<LrnAttributes>();
  g.express(0, [&] {
    const Term x = wide(g.x(0)), one = g.integers({1});
    const Term pixels = call("ReduceProd", {extents(x, 2, x.rank()), g.integers({0})});
    const Term rows =
        with_extents(x * x, join({extents(x, 0, 1), one, extents(x, 1, 2), pixels}, 0));
    const int64_t below = (a.size - 1) / 2, above = a.size / 2;
    const Term window = filled(x, 1, g.integers({1, 1, a.size, 1}));
    const Term sums =
        reshape(call("Conv", {rows, window}, {{"pads", Integers{below, 0, above, 0}}}), x);
    const double scale = static_cast<double>(a.alpha) / a.size;
    const Term base = scale * sums + static_cast<double>(a.bias);
    return narrow(g, x * call("Pow", {base, x.number(-static_cast<double>(a.beta))}));
  });
}

}  // namespace intarsia::definitions::gradients
