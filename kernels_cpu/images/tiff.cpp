// SPDX-License-Identifier: Apache-2.0
//
// TIFF by libtiff: the first picture of a file, in every form that the library makes red, green and
// blue of. Transparency is what the library makes of it.
#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "kernels_cpu/images/canvas.h"

namespace intarsia::images {
namespace {

/// Bytes of one table or block that a file may make the library allocate, however large the bound.
constexpr tmsize_t kMostAllocated = 256 << 20;

struct File {
  Bytes bytes;
  uint64_t place = 0;
};

tmsize_t read(thandle_t handle, void* to, tmsize_t count) {
  auto& file = *static_cast<File*>(handle);
  const uint64_t left = file.place < file.bytes.size() ? file.bytes.size() - file.place : 0;
  const uint64_t given =
      std::min<uint64_t>(left, static_cast<uint64_t>(std::max<tmsize_t>(count, 0)));
  if (given != 0) std::memcpy(to, file.bytes.data() + file.place, given);
  file.place += given;
  return static_cast<tmsize_t>(given);
}
tmsize_t write(thandle_t /*handle*/, void* /*from*/, tmsize_t /*count*/) {
  return 0;
}
toff_t seek(thandle_t handle, toff_t offset, int whence) {
  auto& file = *static_cast<File*>(handle);
  const uint64_t from = whence == SEEK_CUR   ? file.place
                        : whence == SEEK_END ? file.bytes.size()
                                             : 0;
  file.place = from + offset;
  return file.place;
}
int close(thandle_t /*handle*/) {
  return 0;
}
toff_t size(thandle_t handle) {
  return static_cast<File*>(handle)->bytes.size();
}
int ignore(TIFF* /*tiff*/, void* /*user*/, const char* /*module*/, const char* /*format*/,
           va_list /*arguments*/) {
  return 1;
}

bool decode(TIFF* tiff, Canvas& canvas) {
  uint32_t width = 0, height = 0;
  char problem[1024];
  if (TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) == 0 ||
      TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height) == 0) {
    return canvas.fail("TIFF picture without extents");
  }
  if (!canvas.begin(width, height)) return false;
  if (TIFFRGBAImageOK(tiff, problem) == 0) return canvas.fail("TIFF picture of an unknown form");
  const auto count = static_cast<size_t>(canvas.width() * canvas.height());
  const std::unique_ptr<uint32_t[]> raster(new (std::nothrow) uint32_t[count]);
  if (raster == nullptr) return canvas.fail("no memory for the picture");
  constexpr int kStopAtErrors = 1;
  if (TIFFReadRGBAImageOriented(tiff, width, height, raster.get(), ORIENTATION_TOPLEFT,
                                kStopAtErrors) == 0) {
    return canvas.fail("TIFF picture, damaged or cut off");
  }
  uint8_t* to = canvas.row(0);
  for (size_t i = 0; i < count; ++i, to += 3) {
    to[0] = static_cast<uint8_t>(TIFFGetR(raster[i]));
    to[1] = static_cast<uint8_t>(TIFFGetG(raster[i]));
    to[2] = static_cast<uint8_t>(TIFFGetB(raster[i]));
  }
  return true;
}

}  // namespace

bool decode_tiff(Bytes bytes, Canvas& canvas) {
  File file{bytes};
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (options == nullptr) return canvas.fail("no memory for the decoder of TIFF");
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, kMostAllocated);
  TIFFOpenOptionsSetErrorHandlerExtR(options, ignore, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options, ignore, nullptr);
  TIFF* tiff = TIFFClientOpenExt("picture", "rm", &file, read, write, seek, close, size, nullptr,
                                 nullptr, options);
  TIFFOpenOptionsFree(options);
  if (tiff == nullptr) return canvas.fail("TIFF picture, damaged or cut off");
  const bool decoded = decode(tiff, canvas);
  TIFFClose(tiff);
  return decoded;
}

}  // namespace intarsia::images
