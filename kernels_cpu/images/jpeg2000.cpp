// SPDX-License-Identifier: Apache-2.0
//
// JPEG 2000 by OpenJPEG, as a file (JP2) or a bare code stream: gray or red, green and blue, each
// for every pixel, of at most 16 bits. Transparency is left out, more than 8 bits are cut to 8.
#include <openjpeg.h>

#include <algorithm>
#include <cstring>

#include "kernels_cpu/images/canvas.h"

namespace intarsia::images {
namespace {

struct File {
  Bytes bytes;
  size_t place = 0;
};

constexpr auto kEnd = static_cast<OPJ_SIZE_T>(-1);

OPJ_SIZE_T read(void* to, OPJ_SIZE_T count, void* handle) {
  auto& file = *static_cast<File*>(handle);
  const size_t given = std::min<size_t>(count, file.bytes.size() - file.place);
  if (given == 0) return kEnd;
  std::memcpy(to, file.bytes.data() + file.place, given);
  file.place += given;
  return given;
}
OPJ_BOOL seek(OPJ_OFF_T place, void* handle) {
  auto& file = *static_cast<File*>(handle);
  if (place < 0 || static_cast<uint64_t>(place) > file.bytes.size()) return OPJ_FALSE;
  file.place = static_cast<size_t>(place);
  return OPJ_TRUE;
}
OPJ_OFF_T skip(OPJ_OFF_T count, void* handle) {
  const auto& file = *static_cast<File*>(handle);
  return seek(static_cast<OPJ_OFF_T>(file.place) + count, handle) == OPJ_TRUE ? count : -1;
}
void ignore(const char* /*message*/, void* /*user*/) {}

/// Goes to the code stream, which is all of the file, or one of its boxes.
bool find_code_stream(ByteReader& reader, Bytes bytes) {
  constexpr uint32_t kCodeStream = 0x6a703263;  // "jp2c"
  if (bytes[0] != 0) return true;
  while (!reader.ended()) {
    const size_t begin = reader.place();
    uint64_t length = reader.big(4);
    const uint32_t type = reader.big(4);
    if (length == 1) length = uint64_t{reader.big(4)} << 32 | reader.big(4);
    if (type == kCodeStream) return !reader.ended();
    if (length < 8 || length > bytes.size() - begin) return false;
    reader.seek(begin + length);
  }
  return false;
}

/// What the first marker says of extents, colours and tiles. The library allocates a table of each
/// colour for each tile as soon as it reads that, so it has to be small before.
bool has_sane_size(Bytes bytes) {
  constexpr uint32_t kStart = 0xff4f, kSize = 0xff51;
  constexpr uint64_t kMostTiles = 4096;
  constexpr uint32_t kMostColours = 4;
  ByteReader reader(bytes);
  if (!find_code_stream(reader, bytes)) return false;
  if (reader.big(2) != kStart || reader.big(2) != kSize) return false;
  reader.big(4);        // length and profile
  uint32_t numbers[8];  // ends, begins, extents of tiles, where they begin
  for (uint32_t& number : numbers) number = reader.big(4);
  const uint32_t colours = reader.big(2);
  if (reader.ended() || colours < 1 || colours > kMostColours) return false;
  uint64_t tiles = 1;
  for (int axis = 0; axis < 2; ++axis) {
    const uint64_t end = numbers[axis], tile = numbers[4 + axis], first = numbers[6 + axis];
    if (tile == 0 || end < first) return false;
    tiles *= (end - first) / tile + 1;
    if (tiles > kMostTiles) return false;
  }
  return true;
}

/// What the library holds, given back at the end.
struct Decoder {
  opj_codec_t* codec = nullptr;
  opj_stream_t* stream = nullptr;
  opj_image_t* image = nullptr;
  ~Decoder() {
    if (image != nullptr) opj_image_destroy(image);
    if (stream != nullptr) opj_stream_destroy(stream);
    if (codec != nullptr) opj_destroy_codec(codec);
  }
};

/// Gray or three colours for every pixel, perhaps with transparency behind them.
bool is_served(const opj_image_t& image) {
  if (image.numcomps < 1 || image.numcomps > 4) return false;
  if (image.color_space == OPJ_CLRSPC_SYCC || image.color_space == OPJ_CLRSPC_EYCC ||
      image.color_space == OPJ_CLRSPC_CMYK) {
    return false;
  }
  for (OPJ_UINT32 i = 0; i < image.numcomps; ++i) {
    const opj_image_comp_t& part = image.comps[i];
    if (part.dx != 1 || part.dy != 1 || part.prec < 1 || part.prec > 16 || part.sgnd != 0) {
      return false;
    }
  }
  return true;
}

uint8_t eight_bits(OPJ_INT32 value, OPJ_UINT32 bits) {
  const OPJ_INT32 largest = (1 << bits) - 1;
  const OPJ_INT32 inside = std::clamp<OPJ_INT32>(value, 0, largest);
  return static_cast<uint8_t>(bits >= 8 ? inside >> (bits - 8) : inside * 255 / largest);
}

}  // namespace

bool decode_jpeg2000(Bytes bytes, Canvas& canvas) {
  constexpr const char* kDamaged = "JPEG 2000 picture, damaged or cut off";
  if (!has_sane_size(bytes)) return canvas.fail("size of a JPEG 2000 picture");
  File file{bytes};
  Decoder decoder;
  decoder.codec = opj_create_decompress(bytes[0] == 0 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  decoder.stream = opj_stream_default_create(OPJ_TRUE);
  if (decoder.codec == nullptr || decoder.stream == nullptr) {
    return canvas.fail("no memory for the decoder of JPEG 2000");
  }
  opj_stream_set_user_data(decoder.stream, &file, nullptr);
  opj_stream_set_user_data_length(decoder.stream, bytes.size());
  opj_stream_set_read_function(decoder.stream, read);
  opj_stream_set_seek_function(decoder.stream, seek);
  opj_stream_set_skip_function(decoder.stream, skip);
  opj_set_error_handler(decoder.codec, ignore, nullptr);
  opj_set_warning_handler(decoder.codec, ignore, nullptr);
  opj_set_info_handler(decoder.codec, ignore, nullptr);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (opj_setup_decoder(decoder.codec, &parameters) != OPJ_TRUE ||
      opj_decoder_set_strict_mode(decoder.codec, OPJ_TRUE) != OPJ_TRUE ||
      opj_read_header(decoder.stream, decoder.codec, &decoder.image) != OPJ_TRUE) {
    return canvas.fail(kDamaged);
  }
  const opj_image_t& image = *decoder.image;
  if (image.x1 < image.x0 || image.y1 < image.y0) return canvas.fail(kDamaged);
  if (!canvas.begin(image.x1 - image.x0, image.y1 - image.y0)) return false;
  constexpr const char* kForm =
      "JPEG 2000 picture; gray or red, green and blue for every pixel are expected";
  if (!is_served(image)) return canvas.fail(kForm);
  if (opj_decode(decoder.codec, decoder.stream, decoder.image) != OPJ_TRUE ||
      opj_end_decompress(decoder.codec, decoder.stream) != OPJ_TRUE) {
    return canvas.fail(kDamaged);
  }
  if (!is_served(image)) return canvas.fail(kForm);  // a palette has become colours
  const opj_image_comp_t* parts[3];
  for (OPJ_UINT32 i = 0; i < 3; ++i) {
    parts[i] = &image.comps[image.numcomps < 3 ? 0 : i];
    const opj_image_comp_t& part = *parts[i];
    if (part.data == nullptr || part.w != static_cast<uint64_t>(canvas.width()) ||
        part.h != static_cast<uint64_t>(canvas.height())) {
      return canvas.fail(kDamaged);
    }
  }
  uint8_t* to = canvas.row(0);
  for (int64_t i = 0; i < canvas.width() * canvas.height(); ++i) {
    for (const opj_image_comp_t* part : parts) *to++ = eight_bits(part->data[i], part->prec);
  }
  return true;
}

}  // namespace intarsia::images
