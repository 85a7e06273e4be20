// SPDX-License-Identifier: Apache-2.0
//
// StringNormalizer: drops stop words and changes the case of letters. The output is resized to what
// is left, and is one empty string if nothing is.
// https://onnx.ai/onnx/operators/onnx__StringNormalizer.html
#include "core/kernel_list.h"
#include "core/operators/strings/strings.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/strings/case.h"
#include "kernels_cpu/strings/string_loops.h"

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
    constexpr uint32_t kDropped = UINT32_MAX;  // no characters lie there
    for_strings(context, count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const std::string_view word = context.string(x[i]);
        out[i] = word.empty() ? StringRef() : x[i];
        if (is_stopword(attributes, word)) out[i].offset = kDropped;
      }
    });
    int64_t left = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (out[i].offset != kDropped) out[left++] = out[i];
    }
    if (Status s = change_case(context, attributes.case_change_action, left, out); !s) return s;
    if (left == 0) *out = {};
    int32_t extents[2] = {1, 1};
    extents[y.rank - 1] = left > 0 ? static_cast<int32_t>(left) : 1;
    return context.resize_output(0, {extents, y.rank});
  }

 private:
  static bool is_stopword(const Attributes& attributes, std::string_view word) {
    for (const StringAttribute& stopword : attributes.stopwords.view()) {
      const bool same = attributes.is_case_sensitive != 0 ? word == stopword.view()
                                                          : equal_but_case(word, stopword.view());
      if (same) return true;
    }
    return false;
  }

  struct Changed {
    std::string_view text;
    std::span<const CaseRange> ranges;
    size_t bytes = 0;

    size_t size() const { return bytes; }
    void write(char* at) const { write_changed(text, ranges, at); }
  };

  static Status change_case(const KernelContext& context, int32_t action, int64_t count,
                            StringRef* words) {
    if (action == Attributes::kNone) return {};
    const std::span<const CaseRange> ranges = action == Attributes::kLower
                                                  ? std::span<const CaseRange>(kToLower)
                                                  : std::span<const CaseRange>(kToUpper);
    return make_strings<Changed>(context, count, words, [&](int64_t first, auto batch) {
      for (Changed& one : batch) {
        one.text = context.string(words[first++]);
        one.ranges = ranges;
        one.bytes = write_changed(one.text, ranges, nullptr);
      }
    });
  }
};

}  // namespace

extern const KernelList string_normalizer_kernels;
constinit const KernelList string_normalizer_kernels = kernel_list<StringNormalizer>();

}  // namespace intarsia::cpu
