// SPDX-License-Identifier: Apache-2.0
//
// Gradients of operators that move windows over an image: convolutions and pooling.
//
//     places[o] = sum over taps k of image[o * stride + k * dilation - before] * weights[k]
//
// is linear in the image and in the weights, and so are the three products here: each one's
// gradients are the other two, which are Conv and ConvTranspose again.
#include <algorithm>

#include "core/definitions/gradient.h"
#include "core/definitions/gradient_terms.h"
#include "core/operators/nn/pool.h"

namespace intarsia::definitions::gradients {
namespace {

using G = GradientContext;
using Integers = std::vector<int64_t>;

Term spatial_extents(Term image) {
  return extents(image, 2, image.rank());
}

/// `before` and `after` for the spatial axes, as Pad takes them for all axes.
Term pads_of(Term before, Term after) {
  const Term none = integers(before, {0, 0});
  return join({none, before, none, after}, 0);
}

/// Windows over the spatial axes; vectors have an element for each of them.
class Windows {
 public:
  /// What the windows of `taps` elements need around an image, negative where it reaches beyond
  /// them. `extra` elements behind the last window count as one's own (output_padding).
  Windows(const WindowAttributes& attributes, int64_t group, Term image, Term places, Term taps,
          const Integers& extra = {}, bool derived = false)
      : group_(group), before_(image), after_(image) {
    const int axes = static_cast<int>(image.extent(0).constant());
    Integers first;
    for (int i = 0; i < axes; ++i) {
      strides_.push_back(attributes.stride(i));
      dilations_.push_back(attributes.dilation(i));
      first.push_back(attributes.explicit_pad(i));
    }
    const Term span =
        (places - 1) * integers(image, strides_) + (taps - 1) * integers(image, dilations_) + 1.0;
    const Term total = span - image;
    before_ = integers(image, first);
    if (attributes.same() || derived) {
      const Term with = extra.empty() ? total : total + integers(image, extra);
      const Term cut = call("Max", {with, with.number(0)});
      const Term half = cut / 2;
      before_ = attributes.padding() == AutoPad::kSameUpper ? half : cut - half;
    }
    after_ = total - before_;
  }

  Term before() const { return before_; }
  Term after() const { return after_; }
  /// The same windows over an image with elements added around it.
  Windows over_padded(Term before, Term after) const {
    Windows result = *this;
    result.before_ = before_ - before;
    result.after_ = after_ - after;
    return result;
  }

  /// The places, from image [N, C, ...] and weights [M, C / group, taps...].
  Term correlate(Term image, Term weights) const {
    return convolution(image, weights, strides_, dilations_);
  }

  /// The weights, from the image [N, C, ...] and the places [N, M, ...]: the batch is summed over
  /// as channels are else, and the channels of a group are a batch.
  Term weights(Term image, Term places) const {
    const Term batch = extents(image, 0, 1), groups = integers(image, {group_});
    const Term channels = extents(image, 1, 2) / static_cast<double>(group_);
    const Term pixels = call("ReduceProd", {spatial_extents(image), integers(image, {0})});
    const Term apart = with_extents(image, join({batch, groups, channels, pixels}, 0));
    const Term exchanged =
        with_extents(transpose(apart, {2, 1, 0, 3}),
                     join({channels, batch * groups, spatial_extents(image)}, 0));
    return swapped(convolution(exchanged, swapped(places), dilations_, strides_));
  }

  /// The image, from places [N, M, ...] and weights [M, C / group, taps...].
  Term scatter(Term places, Term weights) const {
    AttributeMap attributes = common(strides_, dilations_);
    const auto before = known_integers(before_), after = known_integers(after_);
    if (before && after && *std::min_element(before->begin(), before->end()) >= 0) {
      Integers pads = *before, left;
      for (const int64_t end : *after) {
        pads.push_back(std::max<int64_t>(end, 0));
        left.push_back(std::max<int64_t>(-end, 0));
      }
      attributes["pads"] = pads;
      attributes["output_padding"] = left;
      return call("ConvTranspose", {places, weights}, attributes);
    }
    const Term whole = call("ConvTranspose", {places, weights}, attributes);
    return call("Pad", {whole, -pads_of(before_, after_)});
  }

 private:
  AttributeMap common(const Integers& strides, const Integers& dilations) const {
    return {{"strides", strides}, {"dilations", dilations}, {"group", group_}};
  }

  /// A convolution of the image as far as the windows reach. Conv's own padding serves where it is
  /// known and nothing is cut off.
  Term convolution(Term image, Term weights, const Integers& strides,
                   const Integers& dilations) const {
    AttributeMap attributes = common(strides, dilations);
    const auto before = known_integers(before_), after = known_integers(after_);
    if (!before || !after) {
      const Term fitting = call("Pad", {image, pads_of(before_, after_)});
      return call("Conv", {fitting, weights}, attributes);
    }
    Integers pads = *before, cut;
    pads.insert(pads.end(), after->begin(), after->end());
    for (int64_t& pad : pads) {
      cut.push_back(std::min<int64_t>(pad, 0));
      pad = std::max<int64_t>(pad, 0);
    }
    attributes["pads"] = pads;
    if (std::all_of(cut.begin(), cut.end(), [](int64_t each) { return each == 0; })) {
      return call("Conv", {image, weights}, attributes);
    }
    const auto middle = cut.begin() + static_cast<ptrdiff_t>(before->size());
    const Term inside = call("Pad", {image, pads_of(integers(image, {cut.begin(), middle}),
                                                    integers(image, {middle, cut.end()}))});
    return call("Conv", {inside, weights}, attributes);
  }

  /// Batch and channels exchanged.
  static Term swapped(Term image) {
    Integers order = axes_between(0, image.rank());
    std::swap(order[0], order[1]);
    return transpose(image, order);
  }

  Integers strides_, dilations_;
  int64_t group_;
  Term before_, after_;
};

Term sum_of_images(Term dy) {
  Integers axes = axes_between(2, dy.rank());
  axes.push_back(0);
  return call("ReduceSum", {dy, integers(dy, axes)}, {{"keepdims", int64_t{0}}});
}

// ---- Pooling ----

/// Windows of a pooling operator, over each channel by itself.
Windows pool_windows(G& g, const WindowAttributes& window) {
  const auto taps = window.kernel_shape.view();
  return {window, 1, spatial_extents(g.x()), spatial_extents(g.y()),
          g.integers({taps.begin(), taps.end()})};
}

/// Channels as images of their own.
Term planes(Term image) {
  const Term rows = extents(image, 0, 1) * extents(image, 1, 2);
  return with_extents(image, join({rows, integers(image, {1}), spatial_extents(image)}, 0));
}

/// Weights of 1 for each tap.
Term ones(G& g, const WindowAttributes& window) {
  Integers extents{1, 1};
  extents.insert(extents.end(), window.kernel_shape.view().begin(),
                 window.kernel_shape.view().end());
  return filled(g.x(), 1, g.integers(extents));
}

/// How many elements each window has, in the image or, with `padding`, also in the padding that
/// the attributes give it.
Term window_counts(G& g, const WindowAttributes& window, const Windows& windows, bool padding) {
  Term extents = spatial_extents(g.x());
  Windows counted = windows;
  if (padding) {
    const int axes = g.x().rank() - 2;
    Term after = windows.after();
    if (!window.same()) {
      Integers behind;
      for (int i = 0; i < axes; ++i) behind.push_back(window.explicit_pad(axes + i));
      after = g.integers(behind);
    }
    extents = extents + windows.before() + after;
    counted = windows.over_padded(windows.before(), after);
  }
  const Term image = filled(g.x(), 1, join({g.integers({1, 1}), extents}, 0));
  const Term count = counted.correlate(image, ones(g, window));
  return call("Max", {count, count.number(1)});
}

/// True if a window may have no element at all.
bool may_be_empty(const WindowAttributes& window) {
  const int axes = window.kernel_shape.count;
  for (int i = 0; i < axes; ++i) {
    const int64_t most = std::max(window.explicit_pad(i), window.explicit_pad(axes + i));
    if (window.dilation(i) > 1 || most >= window.kernel_shape[i]) return true;
  }
  return false;
}

}  // namespace

void conv(G& g) {
  const auto& a = g.attributes<ConvAttributes>();
  const Windows windows(a.window, a.group, spatial_extents(g.x(0)), spatial_extents(g.y()),
                        spatial_extents(g.x(1)));
  g.set(0, [&] { return windows.scatter(g.dy(), g.x(1)); });
  g.set(1, [&] { return windows.weights(g.x(0), g.dy()); });
  g.set(2, [&] { return sum_of_images(g.dy()); });
}

/// The result is the image, and the input the places.
void conv_transpose(G& g) {
  const auto& a = g.attributes<ConvTransposeAttributes>();
  Integers extra;
  for (int i = 0; i + 2 < g.x().rank(); ++i) extra.push_back(a.extra(i));
  const Windows windows(a.window, a.group, spatial_extents(g.y()), spatial_extents(g.x(0)),
                        spatial_extents(g.x(1)), extra, a.output_shape.count > 0);
  g.set(0, [&] { return windows.correlate(g.dy(), g.x(1)); });
  g.set(1, [&] { return windows.weights(g.dy(), g.x(0)); });
  g.set(2, [&] { return sum_of_images(g.dy()); });
}

/// Back to where the largest element was.
void max_pool(G& g) {
  const auto& a = g.attributes<MaxPoolAttributes>();
  g.set(0, [&] {
    Term places = g.y(0);
    if (a.storage_order == 0) {
      places = g.y(1);
    } else {
      AttributeMap attributes = g.given();
      attributes.erase("storage_order");
      const std::vector<Term> image{g.x()};
      places = g.add("MaxPool", image, attributes, 2)[1];
    }
    Term dy = g.dy();
    if (may_be_empty(a.pool.window)) {
      const Term none = call("Less", {places, places.number(0)});
      dy = where(none, 0, dy);
      places = where(none, 0, places);
    }
    return added_at(places, dy, g.x());
  });
}

void average_pool(G& g) {
  const auto& a = g.attributes<AveragePoolAttributes>();
  const WindowAttributes& window = a.pool.window;
  g.express(0, [&] {
    const Windows windows = pool_windows(g, window);
    const Term sums = windows.correlate(planes(g.x()), ones(g, window));
    const Term counts = window_counts(g, window, windows, a.count_include_pad != 0);
    return reshape(sums / counts, g.y());
  });
}

void lp_pool(G& g) {
  const auto& a = g.attributes<LpPoolAttributes>();
  g.express(0, [&] {
    const Term sums = pool_windows(g, a.pool.window)
                          .correlate(planes(absolute_power(g.x(), a.p)), ones(g, a.pool.window));
    return reshape(root(sums, a.p), g.y());
  });
}

void global_lp_pool(G& g) {
  const int32_t p = g.attributes<GlobalLpPoolAttributes>().p;
  g.express(0, [&] {
    return root(sum_over(absolute_power(g.x(), p), axes_between(2, g.x().rank())), p);
  });
}

}  // namespace intarsia::definitions::gradients
