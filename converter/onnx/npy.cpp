// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "converter/onnx/file.h"
#include "intarsia/small_types.h"

namespace intarsia::converter {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// NumPy itself refuses longer headers in files that are not trusted.
constexpr size_t kMaxHeader = 10000;

[[noreturn]] void fail(const std::string& message) {
  throw Error("not a readable .npy file: " + message, "write it with numpy.save");
}

struct Code {
  DataType type;
  std::string_view text;  // NumPy's kind and size
};
constexpr Code kCodes[] = {
    {DataType::kBool, "b1"},      {DataType::kInt8, "i1"},        {DataType::kUint8, "u1"},
    {DataType::kInt16, "i2"},     {DataType::kUint16, "u2"},      {DataType::kInt32, "i4"},
    {DataType::kUint32, "u4"},    {DataType::kInt64, "i8"},       {DataType::kUint64, "u8"},
    {DataType::kFloat16, "f2"},   {DataType::kFloat, "f4"},       {DataType::kDouble, "f8"},
    {DataType::kComplex64, "c8"}, {DataType::kComplex128, "c16"},
};

// The header is a Python dictionary with three known keys:
// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class Header {
 public:
  explicit Header(std::string_view text) : text_(text) {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        if (peek() == '[') fail("it holds records, not plain elements");
        descr = quoted();
      } else if (key == "fortran_order") {
        fortran_order = boolean();
      } else if (key == "shape") {
        read_shape();
      } else {
        fail("its header has the unknown key '" + std::string(key) + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (descr.size() < 2 || !has_shape_) fail("its header lacks 'descr' or 'shape'");
  }

  std::string_view descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;

 private:
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) {
      fail("its header lacks '" + std::string(1, wanted) + "' at position " + std::to_string(at_));
    }
  }
  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') expect('\'');
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("its header is cut off");
    const std::string_view result = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    peek();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("'fortran_order' is neither True nor False");
  }
  void read_shape() {
    has_shape_ = true;
    expect('(');
    while (!accept(')')) {
      peek();
      int64_t extent = -1;
      const char* end = text_.data() + text_.size();
      const auto [stop, error] = std::from_chars(text_.data() + at_, end, extent);
      if (error != std::errc() || extent < 0) fail("'shape' holds something else than extents");
      at_ = static_cast<size_t>(stop - text_.data());
      shape.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    if (shape.size() > static_cast<size_t>(kMaxRank)) {
      fail("it has " + std::to_string(shape.size()) + " axes; at most " + std::to_string(kMaxRank) +
           " are supported");
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  bool has_shape_ = false;
};

// Reorders elements of `width` bytes from first-axis-fastest to last-axis-fastest.
std::vector<std::byte> from_fortran(std::span<const std::byte> bytes,
                                    const std::vector<int64_t>& shape, size_t width) {
  std::vector<std::byte> result(bytes.size());
  const size_t rank = shape.size();
  std::vector<int64_t> index(rank, 0);
  std::vector<int64_t> stride(rank, 1);
  for (size_t axis = 1; axis < rank; ++axis) stride[axis] = stride[axis - 1] * shape[axis - 1];
  int64_t from = 0;
  for (size_t to = 0; to < result.size(); to += width) {
    std::memcpy(&result[to], &bytes[static_cast<size_t>(from) * width], width);
    for (size_t axis = rank; axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < shape[axis]) break;
      from -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

void append_utf8(std::string& text, uint32_t point) {
  const auto put = [&text](uint32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | (point >> 6));
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    if (point > 0x10ffff) fail("it holds a character beyond Unicode");
    put(0xf0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3f));
    put(0x80 | ((point >> 6) & 0x3f));
    put(0x80 | (point & 0x3f));
  }
}

// NumPy pads fixed-length strings with zeros; 'S' holds bytes, 'U' UCS-4.
std::vector<std::string> strings_from(std::span<const std::byte> bytes, size_t count, size_t width,
                                      bool wide) {
  std::vector<std::string> result(count);
  for (size_t i = 0; i < count; ++i) {
    std::string& text = result[i];
    const std::byte* from = bytes.data() + i * width;
    if (wide) {
      for (size_t at = 0; at < width; at += 4) {
        uint32_t point = 0;
        std::memcpy(&point, from + at, 4);
        if (point == 0) break;
        append_utf8(text, point);
      }
    } else {
      text.assign(reinterpret_cast<const char*>(from), width);
      text.erase(std::find_if(text.rbegin(), text.rend(), [](char c) { return c != '\0'; }).base(),
                 text.end());
    }
  }
  return result;
}

struct Layout {
  DataType type = DataType::kUndefined;
  size_t width = 0;  // bytes of one element in the file
  size_t swap = 0;   // bytes of the units that are reversed, if big-endian
  bool wide = false;
};

Layout layout_of(std::string_view descr) {
  const char order = descr[0];
  const std::string_view code = descr.substr(1);
  if (order != '<' && order != '>' && order != '|' && order != '=') {
    fail("element type '" + std::string(descr) + "' has no byte order");
  }
  Layout layout;
  if (code[0] == 'S' || code[0] == 'U') {
    uint32_t length = 0;
    const auto [stop, error] = std::from_chars(code.data() + 1, code.data() + code.size(), length);
    if (error != std::errc() || stop != code.data() + code.size() || length == 0 ||
        length > (1U << 20)) {
      fail("element type '" + std::string(descr) + "' is not understood");
    }
    layout.type = DataType::kString;
    layout.wide = code[0] == 'U';
    layout.width = layout.wide ? size_t{4} * length : length;
    layout.swap = layout.wide ? 4 : 1;
  } else {
    for (const Code& known : kCodes) {
      if (known.text != code) continue;
      layout.type = known.type;
      layout.width = static_cast<size_t>(element_bits(known.type)) / 8;
      layout.swap = code[0] == 'c' ? layout.width / 2 : layout.width;
    }
    if (layout.type == DataType::kUndefined) {
      fail("element type '" + std::string(descr) + "' is not supported");
    }
  }
  if (order != '>') layout.swap = 1;
  return layout;
}

// What is written for a type that NumPy lacks: its bits.
Constant as_bits(const Constant& constant) {
  Constant result = constant;
  switch (constant.type) {
    case DataType::kBfloat16:
      result.type = DataType::kUint16;
      return result;
    case DataType::kFloat8E4M3FN:
    case DataType::kFloat8E4M3FNUZ:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FNUZ:
    case DataType::kFloat8E8M0:
      result.type = DataType::kUint8;
      return result;
    case DataType::kInt4:
    case DataType::kUint4:
    case DataType::kInt2:
    case DataType::kUint2:
    case DataType::kFloat4E2M1:
    case DataType::kFloat6E2M3:
    case DataType::kFloat6E3M2: {
      const bool is_signed = constant.type == DataType::kInt4 || constant.type == DataType::kInt2;
      const int bits = element_bits(constant.type);
      std::vector<std::byte> bytes;
      for (int64_t i = 0; i < constant.count(); ++i) {
        const uint8_t code = packed_code(constant.data.get(), i, bits);
        bytes.push_back(static_cast<std::byte>(decode_integer(code, bits, is_signed)));
      }
      return Constant::own(is_signed ? DataType::kInt8 : DataType::kUint8, constant.extents,
                           std::move(bytes));
    }
    default:
      return result;
  }
}

}  // namespace

Constant parse_npy(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic)) fail("it does not begin with NumPy's magic number");
  if (text.size() < 12) fail("it is truncated");
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3) fail("it has format version " + std::to_string(version));
  const size_t length_bytes = version == 1 ? 2 : 4;
  uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, length_bytes);
  const size_t start = 8 + length_bytes;
  if (length > kMaxHeader || length > text.size() - start) fail("its header is cut off");
  const Header header(text.substr(start, length));
  const Layout layout = layout_of(header.descr);

  // Strings are sized by their file width; the limit of the plain element type is wide enough.
  if (checked_byte_size(DataType::kComplex128, header.shape) < 0) fail("its shape is too large");
  Constant constant;
  constant.type = layout.type;
  constant.extents = header.shape;
  const auto count = static_cast<uint64_t>(constant.count());
  const auto data = bytes.subspan(start + length);
  if (count > data.size() / layout.width || count * layout.width != data.size()) {
    fail("it has " + std::to_string(data.size()) + " bytes of data, but shape " +
         extents_text(header.shape) + " of '" + std::string(header.descr) + "' needs " +
         std::to_string(count * layout.width));
  }
  std::vector<std::byte> elements = header.fortran_order && count > 0
                                        ? from_fortran(data, header.shape, layout.width)
                                        : std::vector<std::byte>(data.begin(), data.end());
  for (size_t at = 0; layout.swap > 1 && at < elements.size(); at += layout.swap) {
    std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(at),
                 elements.begin() + static_cast<std::ptrdiff_t>(at + layout.swap));
  }
  if (layout.type == DataType::kString) {
    return Constant::strings(header.shape,
                             strings_from(elements, count, layout.width, layout.wide));
  }
  if (layout.type == DataType::kBool) {
    for (std::byte& byte : elements) byte = std::byte{byte != std::byte{0}};
  }
  return Constant::own(layout.type, header.shape, std::move(elements));
}

Constant read_npy(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  try {
    return parse_npy(file->bytes());
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what());
  }
}

std::vector<std::byte> format_npy(const Constant& constant) {
  std::string descr;
  std::string elements;
  if (constant.type == DataType::kString) {
    size_t width = 1;  // NumPy has no strings of no bytes
    for (int64_t i = 0; i < constant.count(); ++i) {
      width = std::max(width, constant.string(i).size());
    }
    descr = "|S" + std::to_string(width);
    for (int64_t i = 0; i < constant.count(); ++i) {
      std::string text(constant.string(i));
      text.resize(width, '\0');
      elements += text;
    }
  } else {
    const Constant plain = as_bits(constant);
    for (const Code& code : kCodes) {
      if (code.type != plain.type) continue;
      descr = (element_bits(plain.type) == 8 ? "|" : "<") + std::string(code.text);
    }
    if (descr.empty()) {
      throw Error("a tensor of " + std::string(data_type_name(constant.type)) +
                  " cannot be written as a .npy file");
    }
    elements.assign(reinterpret_cast<const char*>(plain.data.get()), plain.size);
  }
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : constant.extents) header += std::to_string(extent) + ",";
  header += "), }";
  header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');  // data starts at 64 n
  header += '\n';
  std::string file(kMagic);
  file += '\x01';
  file += '\x00';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header + elements;
  const auto view = std::as_bytes(std::span(file));
  return {view.begin(), view.end()};
}

void write_npy(const std::filesystem::path& path, const Constant& constant) {
  write_file(path, format_npy(constant));
}

}  // namespace intarsia::converter
