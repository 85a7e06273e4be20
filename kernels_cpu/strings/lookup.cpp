// SPDX-License-Identifier: Apache-2.0
//
// Lookup: y[i] is the index of the key that is equal to x[i], or the number of keys if there is
// none. The keys are in any order; the converter has hashed them (core/operators/strings/lookup.h).
// Of LabelEncoder, CategoryMapper and OneHotEncoder of ai.onnx.ml, and of TfIdfVectorizer.
// https://onnx.ai/onnx/operators/onnx_aionnxml_LabelEncoder.html
#include "core/operators/strings/lookup.h"

#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/strings/string_loops.h"

namespace intarsia::cpu {
namespace {

template <class T>
struct Lookup {
  using Attributes = LookupAttributes;
  static constexpr KernelId id{"intarsia:Lookup", "", {data_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = data_type_of<T>;
    return check_operands<ops::Lookup>(
        context,
        {.inputs = {t, t, DataType::kInt32}, .required_inputs = 3, .outputs = {DataType::kInt32}});
  }
  static Status run(const KernelContext& context) {
    const auto* x = context.input(0).as<const T>();
    auto* y = context.output(0).as<int32_t>();
    const Table table{context.input(1).as<const T>(), context.input(2).as<const int32_t>(),
                      context.input(1).extents[0], context.input(2).extents[0]};
    const int64_t count = context.output(0).count();
    const auto find = [&](int64_t begin, int64_t end) {
      const Table own = table;  // what is written cannot be its numbers
      for (int64_t i = begin; i < end; ++i) y[i] = own.index_of(context, value(context, x[i]));
    };
    if constexpr (std::is_same_v<T, StringRef>) {
      for_strings(context, count, find);
    } else {
      for_elements(context, count, find);
    }
    if (context.attributes<Attributes>().strict == 0) return {};
    for (int64_t i = 0; i < count; ++i) {
      if (y[i] != table.count) continue;
      return context.fail(Code::kInvalidValue, "a value that is none of the categories, at element",
                          0, i, 0);
    }
    return {};
  }

 private:
  static auto value(const KernelContext& context, const T& element) {
    if constexpr (std::is_same_v<T, StringRef>) {
      return context.string(element);
    } else {
      static_cast<void>(context);
      return element;
    }
  }

  struct Table {
    const T* keys;
    const int32_t* slots;
    int32_t count;
    int32_t slot_count;

    template <class Key>
    int32_t index_of(const KernelContext& context, const Key& wanted) const {
      int32_t found = count;
      visit_slots(key_hash(wanted), slot_count, [&](int64_t slot) {
        const int32_t index = slots[slot];
        if (index < 0 || index >= count) return true;
        if (!equal_keys<Key>(value(context, keys[index]), wanted)) return false;
        found = index;
        return true;
      });
      return found;
    }
  };
};

using KeyTypes = Types<StringRef, float, double, int16_t, int32_t, int64_t>;

}  // namespace

extern const KernelList lookup_kernels;
constinit const KernelList lookup_kernels = kernel_list<Each<Lookup, KeyTypes>>();

}  // namespace intarsia::cpu
