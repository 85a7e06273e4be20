// SPDX-License-Identifier: Apache-2.0
//
// RegexFullMatch: whether all of a string matches a pattern, of which the converter has made a
// deterministic automaton over bytes (core/operators/strings/regex.h): one step for each byte.
// RegexStates: the same where the automaton is not deterministic, in sets of states, of which each
// thread has two in the workspace.
// https://onnx.ai/onnx/operators/onnx__RegexFullMatch.html
#include "core/operators/strings/regex.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/strings/regex_table.h"
#include "kernels_cpu/strings/string_loops.h"

namespace intarsia::cpu {
namespace {

struct RegexFullMatch {
  static constexpr KernelId id{"intarsia:RegexFullMatch", "", {DataType::kString}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::RegexFullMatch>(
        context,
        {.inputs = {DataType::kString, DataType::kUint8, DataType::kUint16, DataType::kBool},
         .required_inputs = 4,
         .outputs = {DataType::kBool}});
  }
  static Status run(const KernelContext& context) {
    const RegexTable automaton(context);
    const auto* x = context.input(0).as<const StringRef>();
    auto* y = context.output(0).as<uint8_t>();
    for_strings(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        y[i] = automaton.accepts(context.string(x[i])) ? 1 : 0;
      }
    });
    return {};
  }
};

/// A set of states, one bit for each.
constexpr int kStateBits = 64;

struct StateLists {
  const uint8_t* class_of;
  const int32_t* begins;
  const int32_t* next;
  const uint8_t* accepting;
  int64_t states;
  int64_t classes;
  int64_t listed;
  int64_t words;

  bool accepts(std::string_view text, uint64_t* now, uint64_t* then) const {
    std::fill(now, now + words, 0);
    now[0] = 1;
    for (const char c : text) {
      const int64_t column = class_of[static_cast<uint8_t>(c)];
      if (column >= classes) return false;
      std::fill(then, then + words, 0);
      if (!visit(now, [&](int64_t state) { return add(state, column, then); })) return false;
      std::swap(now, then);
    }
    return visit(now, [this](int64_t state) { return accepting[state] != 0; });
  }

  /// True if `body` is for one of the states of a set, each of which it is called for.
  template <class Body>
  bool visit(const uint64_t* set, const Body& body) const {
    bool any = false;
    for (int64_t word = 0; word < words; ++word) {
      for (uint64_t bits = set[word]; bits != 0; bits &= bits - 1) {
        if (body(word * kStateBits + std::countr_zero(bits))) any = true;
      }
    }
    return any;
  }

  /// Adds the states behind one by a byte of a class; false if there is none.
  bool add(int64_t state, int64_t column, uint64_t* set) const {
    const int64_t place = state * classes + column;
    const int64_t stop = place + 1 < states * classes ? begins[place + 1] : listed;
    bool any = false;
    for (int64_t i = begins[place] > 0 ? begins[place] : 0; i < stop && i < listed; ++i) {
      const auto behind = static_cast<uint32_t>(next[i]);
      if (behind >= static_cast<uint64_t>(states)) continue;
      set[behind / kStateBits] |= uint64_t{1} << behind % kStateBits;
      any = true;
    }
    return any;
  }
};

struct RegexStates {
  static constexpr KernelId id{"intarsia:RegexStates", "", {DataType::kString}};

  static int64_t words(const KernelContext& context) {
    return (int64_t{context.input(2).extents[0]} + kStateBits - 1) / kStateBits;
  }
  static int64_t workspace(const KernelContext& context) {
    return 2 * context.threads() * words(context) * static_cast<int64_t>(sizeof(uint64_t));
  }

  static Status check(const KernelContext& context) {
    constexpr KernelType i = DataType::kInt32, b = DataType::kBool;
    if (Status s = check_operands<ops::RegexStates>(
            context, {.inputs = {DataType::kString, DataType::kUint8, i, i, b},
                      .required_inputs = 5,
                      .outputs = {b}});
        !s) {
      return s;
    }
    return check_workspace(context, workspace(context));
  }

  static Status run(const KernelContext& context) {
    const TensorView &begins = context.input(2), &next = context.input(3);
    const StateLists lists{context.input(1).as<const uint8_t>(),
                           begins.as<const int32_t>(),
                           next.as<const int32_t>(),
                           context.input(4).as<const uint8_t>(),
                           begins.extents[0],
                           begins.extents[1],
                           next.extents[0],
                           words(context)};
    const auto* x = context.input(0).as<const StringRef>();
    auto* y = context.output(0).as<uint8_t>();
    const PerThread<uint64_t> sets(context.workspace(), context.threads(), 2 * lists.words);
    context.parallel_for(context.output(0).count(), [&](int64_t begin, int64_t end, int thread) {
      uint64_t* now = sets[thread];
      for (int64_t i = begin; i < end; ++i) {
        y[i] = lists.accepts(context.string(x[i]), now, now + lists.words) ? 1 : 0;
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList regex_kernels;
constinit const KernelList regex_kernels = kernel_list<RegexFullMatch, RegexStates>();

}  // namespace intarsia::cpu
