// SPDX-License-Identifier: Apache-2.0
//
// Tensor files from outside: .npy by their magic number, else ONNX's TensorProto. What was read is
// written and read again: it must be the same.
#include <cstring>

#include "converter/onnx/import_tensor.h"
#include "converter/onnx/npy.h"
#include "test/fuzz/target.h"

namespace {

using namespace intarsia;
using converter::Constant;

void use(const Constant& constant) {
  const int64_t bytes = converter::checked_byte_size(constant.type, constant.extents);
  if (constant.type == DataType::kString) {
    size_t length = 0;
    for (int64_t i = 0; i < constant.count(); ++i) length += constant.string(i).size();
    fuzz::require(length == (constant.characters ? constant.characters->size() : 0),
                  "the strings are all the characters");
    return;
  }
  fuzz::require(bytes >= 0 && static_cast<size_t>(bytes) == constant.size,
                "a tensor has the bytes that its extents say");
  double sum = 0;
  const int64_t count = constant.count();
  for (int64_t i = 0; i < count && (constant.is_integer() || constant.is_real()); ++i) {
    sum += constant.real(i);
  }
  volatile double sink = sum;
  (void)sink;
}

void read_npy(std::span<const std::byte> bytes) {
  const Constant constant = converter::parse_npy(bytes);
  use(constant);
  if (constant.type == DataType::kString) return;
  fuzz::require(converter::parse_npy(converter::format_npy(constant)) == constant,
                ".npy files survive writing and reading");
}

void read_proto(std::span<const std::byte> bytes) {
  onnx::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  converter::ExternalFiles none({});
  use(converter::read_tensor(proto, none));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    if (size >= 6 && std::memcmp(data, "\x93NUMPY", 6) == 0) {
      read_npy(bytes);
    } else {
      read_proto(bytes);
    }
  } catch (const converter::Error&) {
    // Refused, with a reason.
  }
  return 0;
}
