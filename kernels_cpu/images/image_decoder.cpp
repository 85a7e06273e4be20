// SPDX-License-Identifier: Apache-2.0
//
// Tells formats by how files begin, and makes what the node asks for of red, green and blue. Gray
// is (19595 r + 38470 g + 7471 b) / 65536, rounded: ITU-R 601, as ONNX's reference implementation
// has it.
#include "kernels_cpu/images/image_decoder.h"

#include <algorithm>
#include <climits>
#include <new>
#include <string_view>

#include "kernels_cpu/images/canvas.h"

namespace intarsia::images {
namespace {

using Attributes = ImageDecoder::Attributes;

struct Format {
  std::string_view name;
  bool (*is)(std::string_view begin);
  bool (*decode)(Bytes bytes, Canvas& canvas);
};

constexpr Format kFormats[] = {
    {"PNG", [](std::string_view b) { return b.starts_with("\x89PNG\r\n\x1a\n"); }, decode_png},
    {"JPEG", [](std::string_view b) { return b.starts_with("\xff\xd8\xff"); }, decode_jpeg},
    {"WebP",
     [](std::string_view b) {
       return b.starts_with("RIFF") && b.size() >= 12 && b.substr(8, 4) == "WEBP";
     },
     decode_webp},
    {"TIFF",
     [](std::string_view b) {
       using namespace std::string_view_literals;
       return b.starts_with("II*\0"sv) || b.starts_with("MM\0*"sv);
     },
     decode_tiff},
    {"JPEG 2000",
     [](std::string_view b) {
       using namespace std::string_view_literals;
       return b.starts_with("\0\0\0\x0cjP  \r\n\x87\n"sv) || b.starts_with("\xff\x4f\xff\x51");
     },
     decode_jpeg2000},
    {"BMP", [](std::string_view b) { return b.starts_with("BM"); }, decode_bmp},
    {"PNM",
     [](std::string_view b) {
       return b.size() > 2 && b[0] == 'P' && b[1] >= '1' && b[1] <= '6' &&
              (b[2] == '#' || b[2] == ' ' || (b[2] >= '\t' && b[2] <= '\r'));
     },
     decode_pnm},
};

constexpr std::string_view kUnknown =
    "the bytes begin as no format that is decoded here: PNG, JPEG, JPEG 2000, TIFF, WebP, BMP, PNM";

}  // namespace

bool Canvas::begin(uint64_t width, uint64_t height) {
  if (width == 0 || height == 0) return fail("picture without pixels");
  if (width > INT32_MAX || height > INT32_MAX) return fail("width and height of the picture");
  const bool gray = pixel_format_ == Attributes::kGrayscale;
  const int32_t extents[] = {static_cast<int32_t>(height), static_cast<int32_t>(width),
                             gray ? 1 : 3};
  status_ = image_.resize(extents);
  if (!status_) return false;
  width_ = static_cast<int64_t>(width);
  height_ = static_cast<int64_t>(height);
  pixels_ = image_.data();
  if (gray) {
    own_.reset(new (std::nothrow) uint8_t[static_cast<size_t>(width_ * height_ * 3)]);
    pixels_ = own_.get();
    if (pixels_ == nullptr) return fail("no memory for the picture");
  }
  return true;
}

bool Canvas::fail(const char* what) {
  status_ = context_.fail(Code::kInvalidValue, what, 0, 0, 0);
  return false;
}

Status Canvas::finish(bool decoded) {
  if (!decoded) return status_;
  const int64_t count = width_ * height_;
  if (pixel_format_ == Attributes::kBgr) {
    for (int64_t i = 0; i < count; ++i) std::swap(pixels_[3 * i], pixels_[3 * i + 2]);
  }
  for (int64_t i = 0; own_ != nullptr && i < count; ++i) {
    const uint8_t* rgb = pixels_ + 3 * i;
    const uint32_t sum = 19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2];
    image_[i] = static_cast<uint8_t>((sum + 0x8000u) >> 16);
  }
  return {};
}

Status ImageDecoder::run(const KernelContext& context, const Attributes& attributes,
                         Input<uint8_t> encoded, Output<uint8_t> image) {
  const Bytes bytes(encoded.data(), static_cast<size_t>(encoded.size()));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Format& format : kFormats) {
    if (!format.is(text.substr(0, 16))) continue;
    Canvas canvas(context, image, attributes.pixel_format);
    return canvas.finish(format.decode(bytes, canvas));
  }
  return context.fail(Code::kUnsupported, "format of the picture", kUnknown);
}

}  // namespace intarsia::images

template struct intarsia::Instances<intarsia::images::Operators>;
