// SPDX-License-Identifier: Apache-2.0
//
// WebP by libwebp, with and without loss. Transparency is left out; animations are refused.
#include <webp/decode.h>

#include "kernels_cpu/images/canvas.h"

namespace intarsia::images {

bool decode_webp(Bytes bytes, Canvas& canvas) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK) {
    return canvas.fail("WebP picture, damaged or cut off");
  }
  if (features.has_animation != 0) return canvas.fail("WebP animation; a picture is expected");
  if (features.width < 0 || features.height < 0) return canvas.fail("extents of a WebP picture");
  if (!canvas.begin(static_cast<uint64_t>(features.width),
                    static_cast<uint64_t>(features.height))) {
    return false;
  }
  const int64_t row = canvas.width() * 3;
  const uint8_t* decoded =
      WebPDecodeRGBInto(bytes.data(), bytes.size(), canvas.row(0),
                        static_cast<size_t>(row * canvas.height()), static_cast<int>(row));
  return decoded != nullptr || canvas.fail("WebP picture, damaged or cut off");
}

}  // namespace intarsia::images
