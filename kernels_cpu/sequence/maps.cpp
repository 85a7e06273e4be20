// SPDX-License-Identifier: Apache-2.0
//
// ZipMap, MapLookup and MapValues: maps made of rows, and rows made of maps. An element keeps its
// type and is moved as bytes; strings refer to the characters that the labels and the map refer to.
// https://onnx.ai/onnx/operators/onnx_aionnxml_ZipMap.html
#include <algorithm>
#include <numeric>

#include "core/kernel_list.h"
#include "kernels_cpu/sequence/sequence_operands.h"

namespace intarsia::cpu {
namespace {

bool is_key(DataType type) {
  return type == DataType::kInt64 || type == DataType::kString;
}

Status check_keys(const KernelContext& context, int input) {
  const TensorView& keys = context.input(input);
  if (!is_key(keys.type)) {
    return context.fail(Code::kWrongType, "element type of keys",
                        static_cast<int64_t>(DataType::kInt64), static_cast<int64_t>(keys.type),
                        input);
  }
  return keys.rank == 1 ? Status()
                        : context.fail(Code::kWrongRank, "rank of keys", 1, keys.rank, input);
}

struct ZipMap {
  static constexpr KernelId id{"intarsia:ZipMap", "", {}};

  static Status check(const KernelContext& context) {
    Status status = check_operand_types(
        context,
        {.inputs = {DataType::kFloat, kAnyType}, .required_inputs = 2, .outputs = {kAnyType}});
    if (status.ok()) status = check_keys(context, 1);
    if (status.ok()) status = check_sequence(context, 2);
    if (!status) return status;
    const TensorView& x = context.input(0);
    if (x.rank != 1 && x.rank != 2) {
      return context.fail(Code::kWrongRank, "rank of X", 2, x.rank, 0);
    }
    const int32_t labels = context.input(1).extents[0], columns = x.extents[x.rank - 1];
    return columns == labels
               ? Status()
               : context.fail(Code::kWrongExtent, "columns of X", labels, columns, 0, x.rank - 1);
  }

  static Status run(const KernelContext& context) {
    const TensorView &x = context.input(0), &labels = context.input(1);
    const int32_t columns = labels.extents[0];
    const int64_t rows = x.rank == 2 ? x.extents[0] : 1;
    TensorView row{x.data, &columns, x.type, 1};
    SequenceEntry entry;
    entry.type = static_cast<uint8_t>(DataType::kMap);
    entry.rank = 1;
    entry.bytes = sequence_entry_bytes(labels.bytes()) + sequence_entry_bytes(row.bytes());
    const int64_t entry_bytes = sequence_entry_bytes(entry.bytes);
    if (Status status = resize_sequence(context, rows * entry_bytes); !status) return status;
    entry.extents[0] = static_cast<int32_t>(entry.bytes);
    std::byte* at = bytes_of_output(context).data();
    for (int64_t i = 0; i < rows; ++i, at += entry_bytes) {
      std::memcpy(at, &entry, sizeof(entry));
      SequenceWriter map({at + sizeof(entry), static_cast<size_t>(entry.bytes)});
      row.data = x.as<float>() + i * columns;
      static_cast<void>(map.append(labels) && map.append(row));
    }
    return {};
  }
};

Status check_map(const KernelContext& context) {
  const TensorView& map = context.input(0);
  if (map.type != DataType::kMap) {
    return context.fail(Code::kWrongType, "element type of the operand",
                        static_cast<int64_t>(DataType::kMap), static_cast<int64_t>(map.type), 0);
  }
  return check_sequence(context, 0);
}

/// Output 0 is one row.
Status check_row(const KernelContext& context) {
  const TensorView& output = context.output(0);
  const int operand = context.input_count();
  if (output.rank != 2) {
    return context.fail(Code::kWrongRank, "rank of a row", 2, output.rank, operand);
  }
  return output.extents[0] == 1
             ? Status()
             : context.fail(Code::kWrongExtent, "rows", 1, output.extents[0], operand, 0);
}

/// Reads input 0, of which the values have the type of output 0.
Status read_map(const KernelContext& context, MapView& map) {
  const auto found = MapView::of(context.input(0));
  if (!found || (found->size() != 0 && !is_key(found->keys().type))) {
    return context.fail(Code::kInvalidValue, "bytes that are no map", 0, 0, 0);
  }
  map = *found;
  const DataType expected = context.output(0).type;
  if (map.size() != 0 && (map.values().type != expected || element_bits(expected) < 8)) {
    return context.fail(Code::kWrongType, "element type of the map's values",
                        static_cast<int64_t>(expected), static_cast<int64_t>(map.values().type), 0);
  }
  return {};
}

void copy_element(const TensorView& from, int64_t source, const TensorView& to, int64_t target) {
  const auto width = static_cast<size_t>(element_bits(from.type) / 8);
  std::memcpy(to.as<std::byte>() + static_cast<size_t>(target) * width,
              from.as<const std::byte>() + static_cast<size_t>(source) * width, width);
}

/// Calls `work` with a function that gives the key at an index.
template <class Work>
Status with_keys(const KernelContext& context, const TensorView& keys, const Work& work) {
  if (keys.type == DataType::kInt64) {
    return work([&keys](int64_t i) { return keys.as<const int64_t>()[i]; });
  }
  return work([&](int64_t i) { return context.string(keys.as<const StringRef>()[i]); });
}

struct MapLookup {
  static constexpr KernelId id{"intarsia:MapLookup", "", {}};

  static Status check(const KernelContext& context) {
    Status status = check_operand_types(context, {.inputs = {kAnyType, kAnyType, DataType::kInt64},
                                                  .required_inputs = 3,
                                                  .outputs = {kAnyType}});
    if (status.ok()) status = check_map(context);
    if (status.ok()) status = check_keys(context, 1);
    if (status.ok()) status = check_row(context);
    if (!status) return status;
    const int32_t keys = context.input(1).extents[0];
    const TensorView& positions = context.input(2);
    if (positions.rank != 1 || positions.extents[0] != keys) {
      return context.fail(Code::kWrongExtent, "positions", keys, positions.count(), 2);
    }
    const int32_t columns = context.output(0).extents[1];
    return columns == keys ? Status()
                           : context.fail(Code::kWrongExtent, "columns", keys, columns, 3, 1);
  }

  static Status run(const KernelContext& context) {
    MapView map;
    if (Status status = read_map(context, map); !status) return status;
    const TensorView &keys = context.input(1), &row = context.output(0);
    if (row.bytes() != 0) std::memset(row.data, 0, static_cast<size_t>(row.bytes()));
    if (map.size() == 0) return {};
    if (map.keys().type != keys.type) {
      return context.fail(Code::kWrongType, "element type of the map's keys",
                          static_cast<int64_t>(keys.type), static_cast<int64_t>(map.keys().type),
                          0);
    }
    return with_keys(context, map.keys(), [&](auto key_of_entry) {
      return with_keys(context, keys,
                       [&](auto key_at) { return look_up(context, map, key_of_entry, key_at); });
    });
  }

 private:
  template <class KeyOfEntry, class KeyAt>
  static Status look_up(const KernelContext& context, const MapView& map, KeyOfEntry key_of_entry,
                        KeyAt key_at) {
    if constexpr (std::is_same_v<decltype(key_of_entry(0)), decltype(key_at(0))>) {
      const int64_t count = context.input(1).extents[0];
      const auto* positions = context.input(2).as<const int64_t>();
      for (int64_t i = 0; i < map.size(); ++i) {
        const auto key = key_of_entry(i);
        int64_t low = 0;
        for (int64_t high = count; low < high;) {
          const int64_t middle = low + (high - low) / 2;
          key_at(middle) < key ? low = middle + 1 : high = middle;
        }
        for (; low < count && key_at(low) == key; ++low) {
          const int64_t position = positions[low];
          if (position < 0 || position >= count) {
            return context.fail(Code::kIndexOutOfRange, "position", count, position, 2);
          }
          copy_element(map.values(), i, context.output(0), position);
        }
      }
    }
    return {};
  }
};

struct MapValues {
  static constexpr KernelId id{"intarsia:MapValues", "", {}};

  /// A number for each entry, which has a key of 8 bytes at least.
  static int64_t workspace(const KernelContext& context) {
    return context.input(0).bytes() / 8 * static_cast<int64_t>(sizeof(int32_t));
  }

  static Status check(const KernelContext& context) {
    Status status = check_operand_types(context, {.inputs = {kAnyType}, .outputs = {kAnyType}});
    if (status.ok()) status = check_map(context);
    if (status.ok()) status = check_row(context);
    return status.ok() ? check_workspace(context, workspace(context)) : status;
  }

  static Status run(const KernelContext& context) {
    MapView map;
    if (Status status = read_map(context, map); !status) return status;
    const int32_t extents[] = {1, static_cast<int32_t>(map.size())};
    if (Status status = context.resize_output(0, extents); !status) return status;
    if (map.size() == 0) return {};
    auto* order = reinterpret_cast<int32_t*>(context.workspace().data());
    std::iota(order, order + map.size(), 0);
    return with_keys(context, map.keys(), [&](auto key) {
      const auto before = [&key](int32_t a, int32_t b) { return key(a) < key(b); };
      if (!std::is_sorted(order, order + map.size(), before)) {
        std::sort(order, order + map.size(), before);
      }
      for (int64_t i = 0; i < map.size(); ++i) {
        copy_element(map.values(), order[i], context.output(0), i);
      }
      return Status();
    });
  }
};

}  // namespace

extern const KernelList map_kernels;
constinit const KernelList map_kernels = kernel_list<ZipMap, MapLookup, MapValues>();

}  // namespace intarsia::cpu
