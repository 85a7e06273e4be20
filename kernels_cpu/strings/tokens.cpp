// SPDX-License-Identifier: Apache-2.0
//
// Tokens: what a pattern matches in each string, from the left and as long as it goes, or what lies
// between. Tokens lie in the string itself: no character is copied. A string takes at most the
// square of its length in steps, and a multiple of it wherever a match is found or ruled out within
// a few bytes. The output is resized to the most tokens of a string.
#include "core/operators/strings/tokens.h"

#include <atomic>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/strings/regex_table.h"

namespace intarsia::cpu {
namespace {

constexpr bool begins_character(char c) {
  return (static_cast<uint8_t>(c) & 0xc0) != 0x80;
}

/// The first place behind `at` where a character begins, or the end.
size_t next_character(std::string_view text, size_t at) {
  do ++at;
  while (at < text.size() && !begins_character(text[at]));
  return at;
}

bool has_characters(std::string_view text, int64_t least) {
  for (size_t i = 0; i < text.size() && least > 0; ++i) least -= begins_character(text[i]) ? 1 : 0;
  return least <= 0;
}

/// Calls `token(begin, length, number)` for each token of `text`. Returns their number.
template <class Token>
int64_t cut(std::string_view text, const RegexTable& pattern, const TokensAttributes& a,
            const Token& token) {
  int64_t tokens = 0;
  const auto take = [&](size_t begin, size_t end) {
    if (!has_characters({text.data() + begin, end - begin}, a.least)) return false;
    token(begin, end - begin, tokens++);
    return true;
  };
  size_t between = 0;  // where what lies before the next match begins
  for (size_t at = 0; at < text.size();) {
    const int64_t found = pattern.longest({text.data() + at, text.size() - at});
    const size_t end = at + static_cast<size_t>(found > 0 ? found : 0);
    if (found >= 0 && a.separates != 0) {
      take(between, at);
      at = between = found > 0 ? end : next_character(text, at);
    } else {
      // What is too short may be longer from the next character on.
      at = found > 0 && a.separates == 0 && take(at, end) ? end : next_character(text, at);
    }
  }
  if (a.separates != 0) take(between, text.size());
  return tokens;
}

struct Tokens {
  static constexpr KernelId id{"intarsia:Tokens", "", {DataType::kString}};

  static Status check(const KernelContext& context) {
    constexpr KernelType s = DataType::kString;
    if (Status t = check_operand_types<ops::Tokens>(
            context, {.inputs = {s, DataType::kUint8, DataType::kUint16, DataType::kBool, s},
                      .required_inputs = 5,
                      .outputs = {s}});
        !t) {
      return t;
    }
    const ShapeContext tables(context);
    if (Status t = ops::require_tables(tables, 3); !t) return t;
    const TensorView &x = context.input(0), &words = context.input(4), &y = context.output(0);
    if (words.rank != 1 || words.extents[0] != 3) {
      return context.fail(Code::kWrongExtent, "words", 3, words.count(), 4, 0);
    }
    if (y.rank != x.rank + 1) return context.fail(Code::kWrongRank, "rank", x.rank + 1, y.rank, 5);
    for (int axis = 0; axis < x.rank; ++axis) {
      if (y.extents[axis] == x.extents[axis]) continue;
      return context.fail(Code::kWrongExtent, "extent", x.extents[axis], y.extents[axis], 5, axis);
    }
    return {};
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<TokensAttributes>();
    const RegexTable pattern(context);
    const TensorView& x = context.input(0);
    const auto* texts = x.as<const StringRef>();
    const auto* words = context.input(4).as<const StringRef>();
    const int64_t count = x.count(), marks = a.mark != 0 ? 1 : 0;
    // A text may be long: threads have them one by one.
    const auto for_texts = [&](const auto& body) {
      const auto share = [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) body(i);
      };
      context.parallel_for(count, share, Share::kAlways);
    };
    std::atomic<uint32_t> most{0};  // as long as a string may be
    for_texts([&](int64_t i) {
      const auto tokens = static_cast<uint32_t>(
          cut(context.string(texts[i]), pattern, a, [](size_t, size_t, int64_t) {}));
      uint32_t before = most.load();
      while (before < tokens && !most.compare_exchange_weak(before, tokens)) {
      }
    });
    const int64_t columns = most.load() > 0 ? most.load() + 2 * marks : 0;
    int32_t extents[kMaxRank] = {};
    for (int axis = 0; axis < x.rank; ++axis) extents[axis] = x.extents[axis];
    extents[x.rank] = static_cast<int32_t>(columns < INT32_MAX ? columns : INT32_MAX);
    if (Status s = context.resize_output(0, {extents, size_t{x.rank} + 1}); !s) return s;
    if (columns == 0) return {};
    for_texts([&](int64_t i) {
      StringRef* y = context.output(0).as<StringRef>() + i * columns;
      const uint32_t offset = texts[i].offset;
      int64_t column = marks;
      if (marks != 0) y[0] = words[1];
      column += cut(context.string(texts[i]), pattern, a,
                    [&](size_t begin, size_t length, int64_t number) {
                      y[marks + number] = {offset + static_cast<uint32_t>(begin),
                                           static_cast<uint32_t>(length)};
                    });
      if (marks != 0) y[column++] = words[2];
      while (column < columns) y[column++] = words[0];
    });
    return {};
  }
};

}  // namespace

extern const KernelList tokens_kernels;
constinit const KernelList tokens_kernels = kernel_list<Tokens>();

}  // namespace intarsia::cpu
