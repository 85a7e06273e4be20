// SPDX-License-Identifier: Apache-2.0
//
// StringNormalizer: drops stop words and changes the case of letters. The output is resized to what
// is left, and is one empty string if nothing is.
// https://onnx.ai/onnx/operators/onnx__StringNormalizer.html
#include "core/kernel_list.h"
#include "core/operators/strings/strings.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/strings/case.h"

namespace intarsia::cpu {
namespace {

struct StringNormalizer {
  using Attributes = StringNormalizerAttributes;
  static constexpr KernelId id{"StringNormalizer", "", {DataType::kString}};
  static Status check(const KernelContext& context) {
    if (Status s = check_operand_types<ops::StringNormalizer>(
            context, {.inputs = {DataType::kString}, .outputs = {DataType::kString}});
        !s) {
      return s;
    }
    const TensorView &x = context.input(0), &y = context.output(0);
    if (x.rank != 1 && x.rank != 2) return context.fail(Code::kWrongRank, "rank", 1, x.rank, 0);
    if (y.rank != x.rank) return context.fail(Code::kWrongRank, "rank", x.rank, y.rank, 1);
    if (x.rank == 2 && (x.extents[0] != 1 || y.extents[0] != 1)) {
      return context.fail(Code::kWrongExtent, "rows", 1, x.extents[0], 0, 0);
    }
    const int32_t room = y.extents[y.rank - 1], words = x.extents[x.rank - 1];
    if (room >= words && room >= 1) return {};
    return context.fail(Code::kWrongExtent, "elements of the output", words, room, 1, y.rank - 1);
  }
  static Status run(const KernelContext& context) {
    const auto& attributes = context.attributes<Attributes>();
    const int64_t count = context.input(0).count();
    const auto* x = context.input(0).as<const StringRef>();
    const TensorView& y = context.output(0);
    auto* out = y.as<StringRef>();
    *out = {};
    context.parallel_for(count, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) out[i] = measured(attributes, context.string(x[i]));
    });
    if (attributes.case_change_action != Attributes::kNone) {
      if (Status s = change(context, ranges_of(attributes), count, x, out); !s) return s;
    } else {
      for (int64_t i = 0; i < count; ++i) {
        if (out[i].offset != kDropped) out[i] = x[i].offset == kDropped ? StringRef() : x[i];
      }
    }
    int32_t left = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (out[i].offset != kDropped) out[left++] = out[i];
    }
    int32_t extents[2] = {1, 1};
    extents[y.rank - 1] = left > 0 ? left : 1;
    return context.resize_output(0, {extents, y.rank});
  }

 private:
  /// The offset of a stop word, where no string lies.
  static constexpr uint32_t kDropped = UINT32_MAX;

  static bool is_stopword(const Attributes& attributes, std::string_view word) {
    for (const StringAttribute& stopword : attributes.stopwords.view()) {
      const bool same = attributes.is_case_sensitive != 0 ? word == stopword.view()
                                                          : equal_but_case(word, stopword.view());
      if (same) return true;
    }
    return false;
  }

  static std::span<const CaseRange> ranges_of(const Attributes& attributes) {
    if (attributes.case_change_action == Attributes::kLower) return kToLower;
    return kToUpper;
  }

  /// Length of the result, or the mark of a stop word.
  static StringRef measured(const Attributes& attributes, std::string_view word) {
    if (is_stopword(attributes, word)) return {kDropped, 0};
    if (attributes.case_change_action == Attributes::kNone) return {};
    return {0, static_cast<uint32_t>(write_changed(word, ranges_of(attributes), nullptr))};
  }

  /// Writes all results, whose lengths are known, into one range of new characters. What a
  /// reference that nobody wrote names may lie there; it was measured as the empty string.
  static Status change(const KernelContext& context, std::span<const CaseRange> ranges,
                       int64_t count, const StringRef* x, StringRef* out) {
    size_t bytes = 0;
    for (int64_t i = 0; i < count; ++i) bytes += out[i].length;
    StringRef range{};
    char* at = nullptr;
    if (Status s = context.add_string(bytes, range, at); !s) return s;
    uint32_t offset = range.offset;
    for (int64_t i = 0; i < count; ++i) {
      if (out[i].length == 0) continue;
      out[i].offset = offset;
      offset += out[i].length;
    }
    context.parallel_for(count, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        if (out[i].length == 0) continue;
        write_changed(context.string(x[i]), ranges, at + (out[i].offset - range.offset));
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList string_normalizer_kernels;
constinit const KernelList string_normalizer_kernels = kernel_list<StringNormalizer>();

}  // namespace intarsia::cpu
