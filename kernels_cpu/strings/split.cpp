// SPDX-License-Identifier: Apache-2.0
//
// StringSplit: the parts of each string between delimiters, along a new last axis as long as the
// most parts, and their numbers. The parts lie in the string itself: no character is copied.
// https://onnx.ai/onnx/operators/onnx__StringSplit.html
#include "core/kernel_list.h"
#include "core/operators/strings/strings.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/strings/string_loops.h"

namespace intarsia::cpu {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

/// Calls `part(begin, length)` for each part of `text`. Returns their number.
template <class Part>
int64_t split(std::string_view text, const StringSplitAttributes& attributes, const Part& part) {
  const std::string_view delimiter = attributes.delimiter.view();
  const bool white = delimiter.empty();
  int64_t parts = 0;
  for (size_t begin = 0;;) {
    if (white) begin = text.find_first_not_of(kWhiteSpace, begin);
    if (begin == std::string_view::npos) return parts;
    const bool last = attributes.maxsplit >= 0 && parts == attributes.maxsplit;
    const size_t end = last    ? std::string_view::npos
                       : white ? text.find_first_of(kWhiteSpace, begin)
                               : text.find(delimiter, begin);
    const size_t stop = end == std::string_view::npos ? text.size() : end;
    part(begin, stop - begin, parts++);
    if (end == std::string_view::npos) return parts;
    begin = end + (white ? 1 : delimiter.size());
  }
}

struct StringSplit {
  using Attributes = StringSplitAttributes;
  static constexpr KernelId id{"StringSplit", "", {DataType::kString}};
  static Status check(const KernelContext& context) {
    if (Status s = check_operand_types<ops::StringSplit>(
            context, {.inputs = {DataType::kString},
                      .outputs = {DataType::kString, DataType::kInt64},
                      .required_outputs = 2});
        !s) {
      return s;
    }
    const TensorView &x = context.input(0), &y = context.output(0), &z = context.output(1);
    if (y.rank != x.rank + 1) return context.fail(Code::kWrongRank, "rank", x.rank + 1, y.rank, 1);
    if (z.rank != x.rank) return context.fail(Code::kWrongRank, "rank", x.rank, z.rank, 2);
    for (int axis = 0; axis < x.rank; ++axis) {
      const int32_t expected = x.extents[axis];
      if (y.extents[axis] != expected || z.extents[axis] != expected) {
        return context.fail(Code::kWrongExtent, "extent", expected, y.extents[axis], 1, axis);
      }
    }
    return {};
  }
  static Status run(const KernelContext& context) {
    const auto& attributes = context.attributes<Attributes>();
    const TensorView& x = context.input(0);
    const auto* words = x.as<const StringRef>();
    auto* counts = context.output(1).as<int64_t>();
    const int64_t count = x.count();
    for_strings(context, count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        counts[i] = split(context.string(words[i]), attributes, [](size_t, size_t, int64_t) {});
      }
    });
    int64_t most = 0;
    for (int64_t i = 0; i < count; ++i) most = counts[i] > most ? counts[i] : most;
    int32_t extents[kMaxRank] = {};
    for (int axis = 0; axis < x.rank; ++axis) extents[axis] = x.extents[axis];
    extents[x.rank] = static_cast<int32_t>(most < INT32_MAX ? most : INT32_MAX);
    if (Status s = context.resize_output(0, {extents, size_t{x.rank} + 1}); !s) return s;
    auto* parts = context.output(0).as<StringRef>();
    for_strings(context, count, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) {
        // A string that lies nowhere has no parts either.
        const uint32_t offset = words[i].offset;
        StringRef* y = parts + i * most;
        for (int64_t part = counts[i]; part < most; ++part) y[part] = {};
        split(context.string(words[i]), attributes, [&](size_t begin, size_t length, int64_t part) {
          y[part] = {offset + static_cast<uint32_t>(begin), static_cast<uint32_t>(length)};
        });
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList string_split_kernels;
constinit const KernelList string_split_kernels = kernel_list<StringSplit>();

}  // namespace intarsia::cpu
