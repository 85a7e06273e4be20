// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/constant.h"

#include "converter/graph/error.h"
#include "intarsia/small_types.h"

namespace intarsia::converter {
namespace {

template <class T>
T load(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

int64_t checked_byte_size(DataType type, std::span<const int64_t> extents) {
  constexpr int64_t kLimit = int64_t{1} << 55;  // times 128 bits stays within 2^62
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : extents) {
    if (extent < 0 || extent > INT32_MAX) return -1;
    if (extent == 0) {
      empty = true;  // the other extents must not overflow all the same: they are multiplied later
      continue;
    }
    if (extent > kLimit / count) return -1;
    count *= extent;
  }
  return empty ? 0 : byte_size(type, count);
}

int64_t Constant::count() const {
  int64_t product = 1;
  for (int64_t extent : extents) product *= extent;
  return product;
}

bool Constant::is_integer() const {
  switch (type) {
    case DataType::kBool:
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kInt16:
    case DataType::kUint16:
    case DataType::kInt32:
    case DataType::kUint32:
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kInt4:
    case DataType::kUint4:
    case DataType::kInt2:
    case DataType::kUint2:
      return true;
    default:
      return false;
  }
}

bool Constant::is_real() const {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

int64_t Constant::integer(int64_t index) const {
  const std::byte* from = data.get();
  switch (type) {
    case DataType::kBool:
      return load<uint8_t>(from, index) != 0 ? 1 : 0;
    case DataType::kInt8:
      return load<int8_t>(from, index);
    case DataType::kUint8:
      return load<uint8_t>(from, index);
    case DataType::kInt16:
      return load<int16_t>(from, index);
    case DataType::kUint16:
      return load<uint16_t>(from, index);
    case DataType::kInt32:
      return load<int32_t>(from, index);
    case DataType::kUint32:
      return load<uint32_t>(from, index);
    case DataType::kInt64:
    case DataType::kUint64:
      return load<int64_t>(from, index);
    case DataType::kInt4:
    case DataType::kUint4:
    case DataType::kInt2:
    case DataType::kUint2: {
      const int bits = element_bits(type);
      const bool is_signed = type == DataType::kInt4 || type == DataType::kInt2;
      return decode_integer(packed_code(from, index, bits), bits, is_signed);
    }
    default:
      throw Error("a tensor of " + std::string(data_type_name(type)) +
                  " is used where integers belong");
  }
}

double Constant::real(int64_t index) const {
  const std::byte* from = data.get();
  switch (type) {
    case DataType::kFloat:
      return static_cast<double>(load<float>(from, index));
    case DataType::kDouble:
      return load<double>(from, index);
    case DataType::kFloat16:
      return static_cast<double>(static_cast<float>(load<Float16>(from, index)));
    case DataType::kBfloat16:
      return static_cast<double>(static_cast<float>(load<BFloat16>(from, index)));
    case DataType::kUint64:
      return static_cast<double>(load<uint64_t>(from, index));
    default:
      if (is_integer()) return static_cast<double>(integer(index));
      throw Error("a tensor of " + std::string(data_type_name(type)) +
                  " is used where numbers belong");
  }
}

std::string_view Constant::string(int64_t index) const {
  return text(load<StringRef>(data.get(), index));
}

std::string_view Constant::text(StringRef string) const {
  if (string.length == 0) return {};
  const size_t size = characters != nullptr ? characters->size() : 0;
  if (string.offset > size || string.length > size - string.offset) return {};
  return std::string_view(characters->data() + string.offset, string.length);
}

std::vector<int64_t> Constant::integers() const {
  std::vector<int64_t> values(static_cast<size_t>(count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = integer(static_cast<int64_t>(i));
  return values;
}

std::vector<double> Constant::reals() const {
  std::vector<double> values(static_cast<size_t>(count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = real(static_cast<int64_t>(i));
  return values;
}

Constant Constant::own(DataType type, std::vector<int64_t> extents, std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  Constant constant;
  constant.type = type;
  constant.extents = std::move(extents);
  constant.size = owner->size();
  const std::byte* first = owner->data();
  constant.data = std::shared_ptr<const std::byte>(std::move(owner), first);
  return constant;
}

Constant Constant::scalar_of(DataType type, double value) {
  switch (type) {
    case DataType::kFloat:
      return scalar(static_cast<float>(value));
    case DataType::kDouble:
      return scalar(value);
    case DataType::kFloat16:
      return scalar(Float16(static_cast<float>(value)));
    case DataType::kBfloat16:
      return scalar(BFloat16(static_cast<float>(value)));
    case DataType::kBool:
      return scalar(value != 0);
    case DataType::kInt8:
      return scalar(static_cast<int8_t>(value));
    case DataType::kUint8:
      return scalar(static_cast<uint8_t>(value));
    case DataType::kInt16:
      return scalar(static_cast<int16_t>(value));
    case DataType::kUint16:
      return scalar(static_cast<uint16_t>(value));
    case DataType::kInt32:
      return scalar(static_cast<int32_t>(value));
    case DataType::kUint32:
      return scalar(static_cast<uint32_t>(value));
    case DataType::kInt64:
      return scalar(static_cast<int64_t>(value));
    case DataType::kUint64:
      return scalar(static_cast<uint64_t>(value));
    default:
      throw Error("no scalar constant of type " + std::string(data_type_name(type)) +
                  " can be made");
  }
}

Constant Constant::with(std::vector<int64_t> other_extents, std::vector<std::byte> bytes) const {
  Constant constant = own(type, std::move(other_extents), std::move(bytes));
  constant.characters = characters;
  return constant;
}

bool operator==(const Constant& a, const Constant& b) {
  const auto characters = [](const Constant& constant) {
    return constant.characters != nullptr ? std::string_view(*constant.characters) : "";
  };
  return a.type == b.type && a.extents == b.extents && a.size == b.size &&
         (a.size == 0 || std::memcmp(a.data.get(), b.data.get(), a.size) == 0) &&
         characters(a) == characters(b);
}

std::string extents_text(std::span<const int64_t> extents) {
  std::string text = "[";
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i != 0) text += ',';
    text += std::to_string(extents[i]);
  }
  return text + "]";
}

}  // namespace intarsia::converter
