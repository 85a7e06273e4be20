// SPDX-License-Identifier: Apache-2.0
//
// Models of one node for the gradients of convolutions, pooling, normalisations and Resize.
#include <algorithm>
#include <map>
#include <utility>

#include "test/converter/gradient_cases.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;
using Extents = std::vector<int64_t>;

/// Extents without the first two.
Extents with_channels(int64_t batch, int64_t channels, const Extents& spatial) {
  Extents whole{batch, channels};
  whole.insert(whole.end(), spatial.begin(), spatial.end());
  return whole;
}

/// A window over 1 to 3 axes.
struct DrawnWindow {
  explicit DrawnWindow(GradientSample& s) : axes(static_cast<int>(s.random.between(1, 3))) {
    for (int i = 0; i < axes; ++i) {
      taps.push_back(s.random.between(1, axes > 2 ? 2 : 3));
      strides.push_back(s.random.between(1, 3));
      dilations.push_back(s.random.between(1, 2));
    }
    for (int i = 0; i < 2 * axes; ++i) {
      pads.push_back(s.random.below(taps[static_cast<size_t>(i % axes)]));
    }
    automatic = s.choices.chance(30)
                    ? s.choices.pick<const char*>({"SAME_UPPER", "SAME_LOWER", "VALID"})
                    : "NOTSET";
  }
  int64_t reach(size_t axis) const { return dilations[axis] * (taps[axis] - 1) + 1; }
  void set(onnx::NodeProto& node) const {
    OnnxBuilder::set(node, "kernel_shape", taps);
    OnnxBuilder::set(node, "strides", strides);
    OnnxBuilder::set(node, "dilations", dilations);
    OnnxBuilder::set(node, "auto_pad", automatic);
    if (automatic == std::string_view("NOTSET")) OnnxBuilder::set(node, "pads", pads);
  }
  /// Extents into which the window fits.
  Extents image(Random& random) const {
    Extents extents;
    for (size_t i = 0; i < taps.size(); ++i) {
      extents.push_back(reach(i) + random.below(axes > 2 ? 2 : 4));
    }
    return extents;
  }

  int axes;
  Extents taps, strides, dilations, pads;
  const char* automatic;
};

void conv(GradientSample& s) {
  const DrawnWindow window(s);
  const int64_t group = s.random.between(1, 2), depth = s.random.between(1, 2),
                filters = group * s.random.between(1, 2);
  const Extents image =
      with_channels(s.random.between(1, 2), group * depth, window.image(s.random));
  Names inputs{s.variable(image)};
  inputs.push_back(s.variable(with_channels(filters, depth, window.taps)));
  if (s.choices.chance(50)) inputs.push_back(s.variable({filters}));
  auto& node = s.node(inputs);
  window.set(node);
  OnnxBuilder::set(node, "group", group);
}

void conv_transpose(GradientSample& s) {
  DrawnWindow window(s);
  const int64_t group = s.random.between(1, 2), depth = group * s.random.between(1, 2),
                filters = s.random.between(1, 2);
  Extents image, extra, wanted;
  for (size_t i = 0; i < window.taps.size(); ++i) {
    image.push_back(s.random.between(2, window.axes > 2 ? 2 : 3));
    extra.push_back(s.random.below(std::max(window.strides[i], window.dilations[i])));
    const int64_t span = window.strides[i] * (image[i] - 1) + extra[i] + window.reach(i);
    wanted.push_back(s.random.between(std::max<int64_t>(1, span - 2), span));
    // Something stays.
    const size_t end = i + window.taps.size();
    window.pads[i] = std::min(window.pads[i], (span - 1) / 2);
    window.pads[end] = std::min(window.pads[end], (span - 1) / 2);
  }
  Names inputs{s.variable(with_channels(s.random.between(1, 2), depth, image))};
  inputs.push_back(s.variable(with_channels(depth, filters, window.taps)));
  if (s.choices.chance(50)) inputs.push_back(s.variable({group * filters}));
  auto& node = s.node(inputs);
  window.set(node);
  OnnxBuilder::set(node, "group", group);
  if (s.choices.chance(50)) OnnxBuilder::set(node, "output_padding", extra);
  if (s.choices.chance(30)) OnnxBuilder::set(node, "output_shape", wanted);
}

onnx::NodeProto& pool(GradientSample& s, double low = -2, double high = 2, bool either = false,
                      int outputs = 1) {
  const DrawnWindow window(s);
  const Extents image =
      with_channels(s.random.between(1, 2), s.random.between(1, 2), window.image(s.random));
  auto& node = s.node({s.variable(image, low, high, either)}, outputs);
  window.set(node);
  OnnxBuilder::set(node, "ceil_mode", s.choices.flag());
  s.results = {"y0"};
  return node;
}

void max_pool(GradientSample& s) {
  auto& node = pool(s, -2, 2, false, s.choices.chance(50) ? 2 : 1);
  OnnxBuilder::set(node, "storage_order", s.choices.flag());
}

void average_pool(GradientSample& s) {
  auto& node = pool(s);
  OnnxBuilder::set(node, "count_include_pad", s.choices.flag());
}

void lp_pool(GradientSample& s) {
  OnnxBuilder::set(pool(s, 0.3, 2, true), "p", s.choices.pick<int64_t>({1, 2, 3}));
}

void global_lp_pool(GradientSample& s) {
  const auto rank = static_cast<int>(s.random.between(3, 4));
  OnnxBuilder::set(s.node({s.variable(s.extents(rank), 0.3, 2, true)}), "p",
                   s.choices.pick<int64_t>({1, 2, 3}));
}

/// An image of two or more axes, whose mean over most of its axes is one of several elements.
Extents varied(GradientSample& s, int least = 2) {
  Extents extents = s.extents(static_cast<int>(s.random.between(least, 4)), 3);
  extents[0] = 2;
  extents.back() = 3;
  return extents;
}

void batch_normalization(GradientSample& s) {
  const Extents image = varied(s);
  const bool training = s.choices.chance(60);
  Names inputs{s.variable(image)};
  for (int i = 0; i < 3; ++i) inputs.push_back(s.variable({image[1]}));
  inputs.push_back(s.variable({image[1]}, 0.5, 2));
  auto& node = s.node(inputs, training && s.choices.chance(70) ? 3 : 1);
  OnnxBuilder::set(node, "training_mode", int64_t{training});
  OnnxBuilder::set(node, "epsilon", 0.01F);
  OnnxBuilder::set(node, "momentum", 0.7F);
}

void instance_normalization(GradientSample& s) {
  const Extents image = varied(s, 3);
  Names inputs{s.variable(image)};
  for (int i = 0; i < 2; ++i) inputs.push_back(s.variable({image[1]}));
  OnnxBuilder::set(s.node(inputs), "epsilon", 0.01F);
}

void group_normalization(GradientSample& s) {
  Extents image = varied(s);
  const int64_t groups = s.random.between(1, 2);
  image[1] = groups * 2;
  Names inputs{s.variable(image)};
  for (int i = 0; i < 2; ++i) inputs.push_back(s.variable({image[1]}));
  auto& node = s.node(inputs);
  OnnxBuilder::set(node, "num_groups", groups);
  OnnxBuilder::set(node, "epsilon", 0.01F);
}

/// The other outputs are float: LayerNormalization's are in gradient_test.cpp.
void over_last_axes(GradientSample& s) {
  const Extents image = varied(s);
  const auto rank = static_cast<int64_t>(image.size());
  const int64_t axis = s.random.between(1, rank - 1);
  const Extents normalized(image.begin() + axis, image.end());
  Names inputs{s.variable(image)};
  inputs.push_back(s.variable(normalized));
  const bool shifts = s.definition.name == "LayerNormalization";
  if (shifts && s.choices.chance(60)) inputs.push_back(s.variable(normalized));
  auto& node = s.node(inputs, shifts && s.choices.chance(50) ? 3 : 1);
  s.results = {"y0"};
  OnnxBuilder::set(node, "axis", s.choices.chance(50) ? axis : axis - rank);
  OnnxBuilder::set(node, "epsilon", 0.01F);
}

void lp_normalization(GradientSample& s) {
  const int64_t rank = s.random.between(1, 3);
  auto& node = s.node({s.variable(s.extents(static_cast<int>(rank)), 0.3, 2, true)});
  OnnxBuilder::set(node, "axis", s.random.between(-rank, rank - 1));
  OnnxBuilder::set(node, "p", s.choices.pick<int64_t>({1, 2}));
}

void mean_variance_normalization(GradientSample& s) {
  const Extents image = varied(s);
  const auto rank = static_cast<int64_t>(image.size());
  OnnxBuilder::set(s.node({s.variable(image)}), "axes",
                   s.choices.pick<Extents>({{0, rank - 1}, {-1}, {0}, {}}));
}

void response_normalization(GradientSample& s) {
  Extents image = s.extents(static_cast<int>(s.random.between(2, 4)), 3);
  image[1] = s.random.between(1, 5);
  auto& node = s.node({s.variable(image)});
  OnnxBuilder::set(node, "size", s.random.between(1, 4));
  OnnxBuilder::set(node, "alpha", 0.8F);
  OnnxBuilder::set(node, "beta", s.choices.chance(50) ? 0.75F : 0.6F);
}

/// By scales or to sizes, of all axes or of some.
void resize(GradientSample& s) {
  const Extents image = with_channels(1, 2, s.extents(static_cast<int>(s.random.between(1, 2))));
  const auto rank = static_cast<int64_t>(image.size());
  const bool listed = s.choices.chance(50), crops = s.choices.chance(20);
  Extents axes, sizes;
  std::vector<float> scales, starts, ends;
  for (int64_t axis = listed ? 2 : 0; axis < rank; ++axis) {
    const int64_t extent = image[static_cast<size_t>(axis)];
    axes.push_back(s.choices.chance(50) ? axis : axis - rank);
    scales.push_back(axis < 2 ? 1.0F : s.choices.pick<float>({0.5F, 1.0F, 1.5F, 2.0F, 2.6F}));
    if (static_cast<float>(extent) * scales.back() < 1) scales.back() = 1.5F;
    sizes.push_back(axis < 2 ? extent : s.random.between(1, 6));
    starts.push_back(axis < 2 ? 0.0F : 0.1F);
    ends.push_back(axis < 2 ? 1.0F : 1.2F);
  }
  const auto count = static_cast<int64_t>(axes.size());
  Names inputs{s.variable(image), "", ""};
  if (crops) {
    std::vector<float> roi = starts;
    roi.insert(roi.end(), ends.begin(), ends.end());
    s.model.floats("roi", {2 * count}, roi);
    inputs[1] = "roi";
  }
  if (s.choices.chance(50)) {
    s.model.floats("scales", {count}, scales);
    inputs[2] = "scales";
  } else {
    inputs.push_back(s.integers(sizes));
  }
  auto& node = s.node(inputs);
  if (listed) OnnxBuilder::set(node, "axes", axes);
  OnnxBuilder::set(node, "mode", s.choices.pick<const char*>({"nearest", "linear", "cubic"}));
  OnnxBuilder::set(node, "antialias", s.choices.flag());
  OnnxBuilder::set(node, "exclude_outside", s.choices.flag());
  OnnxBuilder::set(node, "extrapolation_value", 5.0F);
  OnnxBuilder::set(node, "coordinate_transformation_mode",
                   crops ? "tf_crop_and_resize"
                         : s.choices.pick<const char*>({"half_pixel", "align_corners", "asymmetric",
                                                        "pytorch_half_pixel"}));
}

/// In 1 to 3 axes, within the image and around it.
void grid_sample(GradientSample& s) {
  const int axes = static_cast<int>(s.random.between(1, 3));
  const char* mode = s.choices.pick<const char*>({"linear", "nearest", "cubic"});
  const Extents image =
      with_channels(s.random.between(1, 2), s.random.between(1, 2), s.extents(axes, 3));
  Extents grid{image[0]};
  for (int i = 0; i < axes; ++i) grid.push_back(i == 0 ? 2 : s.random.between(1, 2));
  grid.push_back(axes);
  const std::string x = s.variable(image);
  auto& node = s.node({x, s.variable(grid, -1.8, 1.8)});
  OnnxBuilder::set(node, "mode", mode);
  OnnxBuilder::set(node, "padding_mode",
                   s.choices.pick<const char*>({"zeros", "border", "reflection"}));
  OnnxBuilder::set(node, "align_corners", s.choices.flag());
}

void deform_conv(GradientSample& s) {
  const int64_t group = s.random.between(1, 2), offset_group = s.random.between(1, 2),
                filters = group * s.random.between(1, 2), batch = s.random.between(1, 2);
  const Extents taps = s.extents(2, 2), result = s.extents(2, 2), strides = s.extents(2, 2),
                dilations = s.extents(2, 2);
  Extents pads, image{batch, 2};
  for (int i = 0; i < 4; ++i) pads.push_back(s.random.below(taps[i % 2]));
  for (size_t i = 0; i < 2; ++i) {
    const int64_t span = (result[i] - 1) * strides[i] + (taps[i] - 1) * dilations[i] + 1;
    image.push_back(std::max<int64_t>(1, span - pads[i] - pads[i + 2]));
    pads[i + 2] = span - image.back() - pads[i];
    if (pads[i + 2] >= 0) continue;
    pads[i] += pads[i + 2];
    pads[i + 2] = 0;
  }
  const auto planes = [&](int64_t each) {
    return with_channels(batch, each * offset_group * taps[0] * taps[1], result);
  };
  Names inputs{s.variable(image), s.variable(with_channels(filters, 2 / group, taps)),
               s.variable(planes(2), -1.6, 1.6)};
  inputs.push_back(s.choices.chance(50) ? s.variable({filters}) : "");
  if (s.choices.chance(50)) inputs.push_back(s.variable(planes(1)));
  auto& node = s.node(inputs);
  OnnxBuilder::set(node, "kernel_shape", taps);
  OnnxBuilder::set(node, "strides", strides);
  OnnxBuilder::set(node, "dilations", dilations);
  OnnxBuilder::set(node, "pads", pads);
  OnnxBuilder::set(node, "group", group);
  OnnxBuilder::set(node, "offset_group", offset_group);
}

/// Regions of several images, within them and around them, some of them empty or turned.
void roi_align(GradientSample& s) {
  const Extents image = with_channels(s.random.between(1, 3), s.random.between(1, 2),
                                      {s.random.between(1, 5), s.random.between(1, 5)});
  const int64_t regions = s.random.between(1, 4);
  std::vector<double> corners;
  Extents of_image;
  for (int64_t i = 0; i < regions; ++i) {
    for (int k = 0; k < 4; ++k) {
      corners.push_back(static_cast<double>(s.random.between(-4, 28)) / 4);
    }
    of_image.push_back(s.random.below(image[0]));
  }
  s.model.initializer("rois", DataType::kDouble, {regions, 4}, corners.data(),
                      corners.size() * sizeof(double));
  const std::string x = s.variable(image);
  auto& node = s.node({x, "rois", s.integers(of_image)});
  OnnxBuilder::set(node, "output_height", s.random.between(1, 3));
  OnnxBuilder::set(node, "output_width", s.random.between(1, 3));
  OnnxBuilder::set(node, "sampling_ratio", s.random.below(3));
  OnnxBuilder::set(node, "spatial_scale", s.choices.chance(50) ? 1.0F : 0.5F);
  OnnxBuilder::set(node, "coordinate_transformation_mode",
                   s.choices.pick<const char*>({"half_pixel", "output_half_pixel"}));
}

}  // namespace

GradientCase image_gradient_case(std::string_view name) {
  static const std::map<std::string_view, GradientCase> kCases = {
      {"AveragePool", average_pool},
      {"BatchNormalization", batch_normalization},
      {"Conv", conv},
      {"ConvTranspose", conv_transpose},
      {"DeformConv", deform_conv},
      {"GlobalLpPool", global_lp_pool},
      {"GridSample", grid_sample},
      {"GroupNormalization", group_normalization},
      {"InstanceNormalization", instance_normalization},
      {"LRN", response_normalization},
      {"LayerNormalization", over_last_axes},
      {"LpNormalization", lp_normalization},
      {"LpPool", lp_pool},
      {"MaxPool", max_pool},
      {"MeanVarianceNormalization", mean_variance_normalization},
      {"RMSNormalization", over_last_axes},
      {"Resize", resize},
      {"RoiAlign", roi_align},
  };
  const auto found = kCases.find(name);
  return found == kCases.end() ? nullptr : found->second;
}

}  // namespace intarsia::test
