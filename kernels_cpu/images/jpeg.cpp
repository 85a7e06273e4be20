// SPDX-License-Identifier: Apache-2.0
//
// JPEG by libjpeg-turbo: gray and colours, baseline and progressive. Pictures for print (CMYK) are
// refused.
#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include "kernels_cpu/images/canvas.h"

namespace intarsia::images {
namespace {

/// Scans of a progressive picture, each of which is work for all of its pixels. Encoders write ten.
constexpr int kMostScans = 100;

struct Errors {
  jpeg_error_mgr manager;  // first, so that the library's pointer is one to both
  std::jmp_buf out;
};

[[noreturn]] void give_up(j_common_ptr jpeg) {
  std::longjmp(reinterpret_cast<Errors*>(jpeg->err)->out, 1);
}
/// Most of what the library warns of it has repaired; data that is missing it makes up.
void on_message(j_common_ptr jpeg, int level) {
  const int code = jpeg->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) give_up(jpeg);
}
void count_scans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > kMostScans) give_up(jpeg);
}

/// Nothing in here has a destructor: errors jump over the rest.
bool decode(jpeg_decompress_struct& jpeg, jpeg_progress_mgr& progress, Errors& errors, Bytes bytes,
            Canvas& canvas) {
  if (setjmp(errors.out) != 0) return canvas.fail("JPEG picture, damaged or cut off");
  jpeg_create_decompress(&jpeg);
  progress.progress_monitor = count_scans;
  jpeg.progress = &progress;
  jpeg_mem_src(&jpeg, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&jpeg, TRUE);
  if (!canvas.begin(jpeg.image_width, jpeg.image_height)) return false;
  if (jpeg.num_components != 1 && jpeg.num_components != 3) {
    return canvas.fail("JPEG picture that has neither gray nor red, green and blue");
  }
  jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = canvas.row(jpeg.output_scanline);
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

}  // namespace

bool decode_jpeg(Bytes bytes, Canvas& canvas) {
  jpeg_decompress_struct jpeg{};
  jpeg_progress_mgr progress{};
  Errors errors{};
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = give_up;
  errors.manager.emit_message = on_message;
  const bool decoded = decode(jpeg, progress, errors, bytes, canvas);
  jpeg_destroy_decompress(&jpeg);
  return decoded;
}

}  // namespace intarsia::images
