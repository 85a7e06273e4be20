// SPDX-License-Identifier: Apache-2.0
//
// StringConcat: z[i] = x[i] followed by y[i], with broadcasting; and Equal of strings, byte by
// byte. https://onnx.ai/onnx/operators/onnx__StringConcat.html, onnx__Equal.html
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/strings/string_loops.h"

namespace intarsia::cpu {
namespace {

/// Two strings, and the one that has the characters of both.
struct Joined {
  std::string_view x, y;

  size_t size() const { return x.size() + y.size(); }
  void write(char* at) const {
    if (!x.empty()) std::memcpy(at, x.data(), x.size());
    if (!y.empty()) std::memcpy(at + x.size(), y.data(), y.size());
  }
};

/// Calls `body(x, y, i)` for the elements [begin, end) of the output, in their order.
template <class Body>
void for_pairs(const KernelContext& context, const BroadcastLoop& loop, int64_t begin, int64_t end,
               const Body& body) {
  const auto* x = context.input(0).as<const StringRef>();
  const auto* y = context.input(1).as<const StringRef>();
  const int64_t x_step = loop.advances(0) ? 1 : 0, y_step = loop.advances(1) ? 1 : 0;
  loop.for_rows(begin, end, [&](int64_t first, int64_t length, const int64_t* offsets) {
    for (int64_t i = 0; i < length; ++i) {
      body(context.string(x[offsets[0] + i * x_step]), context.string(y[offsets[1] + i * y_step]),
           first + i);
    }
  });
}

BroadcastLoop loop_of(const KernelContext& context) {
  const TensorView* inputs[] = {&context.input(0), &context.input(1)};
  return BroadcastLoop(context.output(0), inputs);
}

struct StringConcat {
  static constexpr KernelId id{"StringConcat", "", {DataType::kString}};
  static constexpr InPlace in_place{0, 1};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = DataType::kString;
    return check_broadcast(context, {.inputs = {t, t}, .required_inputs = 2, .outputs = {t}});
  }
  static Status run(const KernelContext& context) {
    const BroadcastLoop loop = loop_of(context);
    auto* z = context.output(0).as<StringRef>();
    return make_strings<Joined>(context, loop.count, z, [&](int64_t first, auto batch) {
      const int64_t end = first + static_cast<int64_t>(batch.size());
      for_pairs(context, loop, first, end, [&](std::string_view x, std::string_view y, int64_t i) {
        batch[static_cast<size_t>(i - first)] = {x, y};
      });
    });
  }
};

struct EqualStrings {
  static constexpr KernelId id{"Equal", "", {DataType::kString}};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = DataType::kString;
    return check_broadcast(context,
                           {.inputs = {t, t}, .required_inputs = 2, .outputs = {DataType::kBool}});
  }
  static Status run(const KernelContext& context) {
    const BroadcastLoop loop = loop_of(context);
    auto* z = context.output(0).as<uint8_t>();
    for_strings(context, loop.count, [&](int64_t begin, int64_t end) {
      for_pairs(context, loop, begin, end,
                [z](std::string_view a, std::string_view b, int64_t i) { z[i] = a == b ? 1 : 0; });
    });
    return {};
  }
};

}  // namespace

extern const KernelList string_concat_kernels;
constinit const KernelList string_concat_kernels = kernel_list<StringConcat, EqualStrings>();

}  // namespace intarsia::cpu
