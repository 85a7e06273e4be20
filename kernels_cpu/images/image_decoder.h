// SPDX-License-Identifier: Apache-2.0
//
// ImageDecoder of ONNX: a picture's file as bytes, to its pixels. What the picture is like only the
// run knows: a plan has a bound of its extents, beyond which a run fails before it decodes a pixel.
//
// The decoders are libraries, and allocate: a program that links this target has heap calls in its
// runs. Any thread; nothing is kept from run to run.
// https://onnx.ai/onnx/operators/onnx__ImageDecoder.html
#pragma once

#include "intarsia/operator.h"

namespace intarsia::images {

struct ImageDecoder {
  static constexpr OperatorInfo info{.name = "ImageDecoder",
                                     .since_version = 20,
                                     .inputs = {{"encoded_stream", "T1"}},
                                     .outputs = {{"image", "T2"}},
                                     .extents_vary = true};

  struct Attributes {
    enum Format : int32_t { kRgb = 0, kBgr = 1, kGrayscale = 2 };
    int32_t pixel_format = kRgb;
    template <class V>
    void fields(V& v) {
      v.choice("pixel_format", pixel_format, {"RGB", "BGR", "Grayscale"});
    }
  };

  /// [height, width, channels]
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    if (s.rank(0) != 1) return s.fail(Code::kWrongRank, "rank of encoded_stream", 1, s.rank(0), 0);
    const bool gray = s.template attributes<Attributes>().pixel_format == Attributes::kGrayscale;
    Shape<Dim> image;
    for (int axis = 0; axis < 2; ++axis) {
      if constexpr (requires { Dim::unknown(0); }) {
        image.push(Dim::unknown(0));
      } else {
        image.push(int64_t{0});
      }
    }
    image.push(int64_t{gray ? 1 : 3});
    return s.set_output(0, DataType::kUint8, image);
  }

  static Status run(const KernelContext& context, const Attributes& attributes,
                    Input<uint8_t> encoded, Output<uint8_t> image);
};

using Operators = OperatorList<ImageDecoder>;

}  // namespace intarsia::images
