// SPDX-License-Identifier: Apache-2.0
//
// PNG by libpng: of any depth and colour, interlaced or not. Transparency is left out, 16 bits are
// scaled to 8.
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "kernels_cpu/images/canvas.h"

namespace intarsia::images {
namespace {

void read(png_structp png, png_bytep to, size_t count) {
  auto& bytes = *static_cast<Bytes*>(png_get_io_ptr(png));
  if (count > bytes.size()) png_error(png, "the file ends");
  std::memcpy(to, bytes.data(), count);
  bytes = bytes.subspan(count);
}

[[noreturn]] void give_up(png_structp png, png_const_charp /*message*/) {
  png_longjmp(png, 1);
}
void ignore(png_structp /*png*/, png_const_charp /*message*/) {}

/// Nothing in here has a destructor: errors jump over the rest.
bool decode(png_structp png, png_infop info, Bytes& bytes, Canvas& canvas) {
  if (setjmp(png_jmpbuf(png)) != 0) return canvas.fail("PNG picture, damaged or cut off");
  png_set_read_fn(png, &bytes, read);
  png_read_info(png, info);
  if (!canvas.begin(png_get_image_width(png, info), png_get_image_height(png, info))) return false;
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_strip_alpha(png);
  png_set_gray_to_rgb(png);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) != static_cast<size_t>(canvas.width()) * 3) {
    return canvas.fail("PNG picture of unknown colours");
  }
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = 0; y < canvas.height(); ++y) png_read_row(png, canvas.row(y), nullptr);
  }
  png_read_end(png, nullptr);
  return true;
}

}  // namespace

bool decode_png(Bytes bytes, Canvas& canvas) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, give_up, ignore);
  if (png == nullptr) return canvas.fail("no memory for the decoder of PNG");
  png_infop info = png_create_info_struct(png);
  const bool decoded = info != nullptr ? decode(png, info, bytes, canvas)
                                       : canvas.fail("no memory for the decoder of PNG");
  png_destroy_read_struct(&png, &info, nullptr);
  return decoded;
}

}  // namespace intarsia::images
