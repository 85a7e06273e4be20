// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/import_tensor.h"

#include <charconv>

#include "converter/graph/error.h"
#include "intarsia/small_types.h"

namespace intarsia::converter {
namespace {

[[noreturn]] void fail(const onnx::TensorProto& tensor, const std::string& message) {
  throw Error(Problem{
      "tensor " + tensor.name(), {}, message, "the model is invalid or damaged; export it again"});
}

std::string shape_text(const onnx::TensorProto& tensor) {
  return extents_text({tensor.dims().data(), static_cast<size_t>(tensor.dims_size())});
}

void require_count(const onnx::TensorProto& tensor, const char* field, int64_t found,
                   int64_t expected) {
  if (found == expected) return;
  fail(tensor, std::string(field) + " holds " + std::to_string(found) + " values, but shape " +
                   shape_text(tensor) + " needs " + std::to_string(expected));
}

// Stores each value in T, after checking that T holds it, be it read as signed or as unsigned.
template <class T, class Field>
std::vector<std::byte> narrow(const onnx::TensorProto& tensor, const char* name, const Field& field,
                              int64_t count) {
  require_count(tensor, name, field.size(), count);
  std::vector<std::byte> bytes(static_cast<size_t>(count) * sizeof(T));
  for (int i = 0; i < field.size(); ++i) {
    const auto value = field.Get(i);
    if constexpr (sizeof(T) < sizeof(value)) {
      const auto wide = static_cast<int64_t>(value);
      constexpr int64_t kSpan = int64_t{1} << (8 * sizeof(T));
      const bool fits = std::is_unsigned_v<decltype(value)>
                            ? static_cast<uint64_t>(value) < static_cast<uint64_t>(kSpan)
                            : wide >= -kSpan / 2 && wide < kSpan;
      if (!fits) {
        fail(tensor, std::string(name) + " element " + std::to_string(i) + " is " +
                         std::to_string(value) + ", which does not fit " +
                         std::string(data_type_name(element_type(tensor.data_type()))));
      }
    }
    const auto stored = static_cast<T>(value);
    std::memcpy(&bytes[static_cast<size_t>(i) * sizeof(T)], &stored, sizeof(T));
  }
  return bytes;
}

template <class Field>
std::vector<std::byte> copy(const onnx::TensorProto& tensor, const char* name, const Field& field,
                            int64_t count) {
  require_count(tensor, name, field.size(), count);
  std::vector<std::byte> bytes(static_cast<size_t>(count) * sizeof(*field.data()));
  if (!bytes.empty()) std::memcpy(bytes.data(), field.data(), bytes.size());
  return bytes;
}

// The bytes of a tensor whose elements are in the field that belongs to its type.
std::vector<std::byte> read_typed(const onnx::TensorProto& tensor, DataType type, int64_t count,
                                  size_t size) {
  switch (type) {
    case DataType::kFloat:
      return copy(tensor, "float_data", tensor.float_data(), count);
    case DataType::kComplex64:
      return copy(tensor, "float_data", tensor.float_data(), 2 * count);
    case DataType::kDouble:
      return copy(tensor, "double_data", tensor.double_data(), count);
    case DataType::kComplex128:
      return copy(tensor, "double_data", tensor.double_data(), 2 * count);
    case DataType::kInt64:
      return copy(tensor, "int64_data", tensor.int64_data(), count);
    case DataType::kUint64:
      return copy(tensor, "uint64_data", tensor.uint64_data(), count);
    case DataType::kUint32:
      return narrow<uint32_t>(tensor, "uint64_data", tensor.uint64_data(), count);
    case DataType::kInt32:
      return copy(tensor, "int32_data", tensor.int32_data(), count);
    case DataType::kInt16:
    case DataType::kUint16:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return narrow<uint16_t>(tensor, "int32_data", tensor.int32_data(), count);
    case DataType::kFloat6E2M3:
    case DataType::kFloat6E3M2: {  // an entry per element, packed in raw_data only
      const auto codes = narrow<uint8_t>(tensor, "int32_data", tensor.int32_data(), count);
      std::vector<std::byte> bytes(size);
      for (int64_t i = 0; i < count; ++i) {
        const auto code = std::to_integer<uint8_t>(codes[static_cast<size_t>(i)]);
        if (code >= 64) {
          fail(tensor, "int32_data element " + std::to_string(i) + " is " + std::to_string(code) +
                           ", which does not fit 6 bits");
        }
        set_packed_code(bytes.data(), i, element_bits(type), code);
      }
      return bytes;
    }
    default:  // a byte per element, or packed elements with a byte per entry
      return narrow<uint8_t>(tensor, "int32_data", tensor.int32_data(), static_cast<int64_t>(size));
  }
}

// A C++ bool that is neither 0 nor 1 is undefined behaviour; files hold what they like.
Constant with_clean_bools(Constant constant) {
  if (constant.type != DataType::kBool) return constant;
  bool clean = true;
  for (std::byte byte : constant.bytes()) clean = clean && std::to_integer<int>(byte) <= 1;
  if (clean) return constant;
  std::vector<std::byte> bytes(constant.bytes().begin(), constant.bytes().end());
  for (std::byte& byte : bytes) byte = std::byte{byte != std::byte{0}};
  return Constant::own(constant.type, std::move(constant.extents), std::move(bytes));
}

std::shared_ptr<const std::byte> aligned(std::shared_ptr<const std::byte> data, size_t size) {
  if (reinterpret_cast<uintptr_t>(data.get()) % 8 == 0) return data;
  auto copy = std::make_shared<std::vector<std::byte>>(data.get(), data.get() + size);
  const std::byte* first = copy->data();
  return {std::move(copy), first};
}

uint64_t parse_number(const onnx::TensorProto& tensor, const std::string& key,
                      const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    fail(tensor, "external data has " + key + " '" + text + "', which is no number");
  }
  return value;
}

}  // namespace

// Bytes that all tensors of a file may have, as a multiple of the file's.
constexpr uint64_t kMaxOverlap = 4;

DataType element_type(int32_t number) {
  return number > 0 && number <= kLastDataType ? static_cast<DataType>(number)
                                               : DataType::kUndefined;
}

std::shared_ptr<const std::byte> ExternalFiles::find(const onnx::TensorProto& tensor, size_t size) {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = size;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = parse_number(tensor, "offset", entry.value());
    if (entry.key() == "length") length = parse_number(tensor, "length", entry.value());
  }
  if (location.empty()) fail(tensor, "external data has no location");
  if (folder_.empty()) {
    throw Error(Problem{"tensor " + tensor.name(),
                        {},
                        "lies in another file ('" + location + "')",
                        "load the model from its file, not from bytes"});
  }
  if (length != size) {
    fail(tensor, "external data has " + std::to_string(length) + " bytes, but shape " +
                     shape_text(tensor) + " needs " + std::to_string(size));
  }
  File& file = files_[location];
  if (file.mapped == nullptr) {
    namespace fs = std::filesystem;
    const fs::path relative(location);
    bool inside = relative.is_relative();
    for (const fs::path& part : relative) inside = inside && part != "..";
    std::error_code error;
    const fs::path base = fs::weakly_canonical(folder_, error);
    const fs::path path = fs::weakly_canonical(folder_ / relative, error);
    inside = inside && !error &&
             std::mismatch(base.begin(), base.end(), path.begin(), path.end()).first == base.end();
    if (!inside) {
      throw Error(Problem{"tensor " + tensor.name(),
                          {},
                          "external data lies at '" + location + "', outside the model's folder",
                          "copy the file beside the model and refer to it by its name"});
    }
    file.mapped = MappedFile::open(path);
  }
  const auto bytes = file.mapped->bytes();
  if (offset > bytes.size() || bytes.size() - offset < size) {
    fail(tensor, "external data needs bytes " + std::to_string(offset) + " to " +
                     std::to_string(offset + size) + " of '" + location + "', which has " +
                     std::to_string(bytes.size()));
  }
  std::shared_ptr<const std::byte>& range = file.ranges[{offset, size}];
  if (range == nullptr) {
    // Tied weights are one range; ranges that overlap in part would grow into memory and plan.
    file.claimed += size;
    if (file.claimed / kMaxOverlap > bytes.size()) {
      fail(tensor, "external data overlaps that of other tensors: together they take more than " +
                       std::to_string(kMaxOverlap) + " times the " + std::to_string(bytes.size()) +
                       " bytes of '" + location + "'");
    }
    range = aligned(std::shared_ptr<const std::byte>(file.mapped, bytes.data() + offset), size);
  }
  return range;
}

Constant read_tensor(onnx::TensorProto& tensor, ExternalFiles& files) {
  const DataType type = element_type(tensor.data_type());
  if (type == DataType::kUndefined) {
    fail(tensor, "has element type " + std::to_string(tensor.data_type()) +
                     ", which is none that this version knows");
  }
  if (tensor.has_segment()) fail(tensor, "is stored in segments, which ONNX no longer uses");
  if (tensor.dims_size() > kMaxRank) {
    fail(tensor, "has " + std::to_string(tensor.dims_size()) + " axes; at most " +
                     std::to_string(kMaxRank) + " are supported");
  }
  Constant constant;
  constant.type = type;
  constant.extents.assign(tensor.dims().begin(), tensor.dims().end());
  const int64_t size = checked_byte_size(type, constant.extents);
  if (size < 0) {
    fail(tensor,
         "has shape " + extents_text(constant.extents) + ", which is negative or too large");
  }
  const int64_t count = constant.count();
  constant.size = static_cast<size_t>(size);

  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    if (type == DataType::kString) fail(tensor, "strings cannot be external data");
    constant.data = files.find(tensor, constant.size);
    return with_clean_bools(std::move(constant));
  }
  if (type == DataType::kString) {
    require_count(tensor, "string_data", tensor.string_data_size(), count);
    return Constant::strings(std::move(constant.extents),
                             {tensor.string_data().begin(), tensor.string_data().end()});
  }
  if (tensor.raw_data().empty()) {
    return with_clean_bools(Constant::own(type, std::move(constant.extents),
                                          read_typed(tensor, type, count, constant.size)));
  }
  if (tensor.raw_data().size() != constant.size) {
    fail(tensor, "raw_data has " + std::to_string(tensor.raw_data().size()) + " bytes, but shape " +
                     extents_text(constant.extents) + " of " + std::string(data_type_name(type)) +
                     " needs " + std::to_string(constant.size));
  }
  auto owner = std::shared_ptr<const std::string>(tensor.release_raw_data());
  const auto* first = reinterpret_cast<const std::byte*>(owner->data());
  constant.data = aligned({std::move(owner), first}, constant.size);
  return with_clean_bools(std::move(constant));
}

}  // namespace intarsia::converter
