// SPDX-License-Identifier: Apache-2.0
//
// ValueCheck: fails a run in which an input (0) has another value than the constant (1) for which
// the plan was made, since other nodes or extents would belong to it. Made for `--value`; there is
// no output. Values are the same to the bit, truth values if both are 0 or neither is.
#include <cstring>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"

namespace intarsia::cpu {
namespace {

/// Calls `visit` with an integer of the type that elements have; false for reals.
template <class Visit>
bool with_integer(DataType type, const Visit& visit) {
  switch (type) {
    case DataType::kInt8:
      return visit(int8_t{});
    case DataType::kInt16:
      return visit(int16_t{});
    case DataType::kInt32:
      return visit(int32_t{});
    case DataType::kInt64:
      return visit(int64_t{});
    case DataType::kBool:
    case DataType::kUint8:
      return visit(uint8_t{});
    case DataType::kUint16:
      return visit(uint16_t{});
    case DataType::kUint32:
      return visit(uint32_t{});
    case DataType::kUint64:
      return visit(uint64_t{});
    default:
      return false;
  }
}

struct ValueCheck {
  static constexpr KernelId id{"intarsia:ValueCheck", "", {}};

  static Status check(const KernelContext& context) {
    if (Status status = types(context, kAnyType); !status) return status;
    const TensorView &found = context.input(0), &expected = context.input(1);
    const bool flag = found.type == DataType::kBool;
    if (Status status = types(context, flag ? KernelType(DataType::kBool) : kAnyNumber); !status) {
      return status;
    }
    if (found.type != expected.type) {
      return context.fail(Code::kWrongType, "element type", static_cast<int64_t>(expected.type),
                          static_cast<int64_t>(found.type), 0);
    }
    if (found.rank != expected.rank) {
      return context.fail(Code::kWrongRank, "rank", expected.rank, found.rank, 0);
    }
    for (int axis = 0; axis < found.rank; ++axis) {
      if (found.extents[axis] == expected.extents[axis]) continue;
      return context.fail(Code::kWrongExtent, "extent", expected.extents[axis], found.extents[axis],
                          0, axis);
    }
    return {};
  }

  static Status run(const KernelContext& context) {
    const TensorView &found = context.input(0), &expected = context.input(1);
    const int64_t count = found.count();
    for (int64_t i = 0; i < count; ++i) {
      if (same(found, expected, i)) continue;
      int64_t numbers[2] = {};  // what follows promotes small types by a plus
      const bool integers = with_integer(found.type, [&](auto type) {
        using T = decltype(type);
        numbers[0] = static_cast<int64_t>(+expected.as<const T>()[i]);
        numbers[1] = static_cast<int64_t>(+found.as<const T>()[i]);
        return true;
      });
      if (integers) {
        return context.fail(Code::kInvalidValue, "value that the plan was made for", numbers[0],
                            numbers[1]);
      }
      return context.fail(Code::kInvalidValue, "element {} is not what the plan was made for", 0,
                          i);
    }
    return {};
  }

 private:
  static Status types(const KernelContext& context, KernelType type) {
    return check_operand_types(
        context,
        {.inputs = {type, type}, .required_inputs = 2, .outputs = {}, .required_outputs = 0});
  }

  static bool same(const TensorView& a, const TensorView& b, int64_t i) {
    if (a.type == DataType::kBool) {
      return (a.as<const uint8_t>()[i] != 0) == (b.as<const uint8_t>()[i] != 0);
    }
    const auto width = static_cast<size_t>(element_bits(a.type) / 8);
    const size_t place = static_cast<size_t>(i) * width;
    return std::memcmp(a.as<const std::byte>() + place, b.as<const std::byte>() + place, width) ==
           0;
  }
};

}  // namespace

extern const KernelList value_check_kernels;
constinit const KernelList value_check_kernels = kernel_list<ValueCheck>();

}  // namespace intarsia::cpu
