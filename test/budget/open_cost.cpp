// SPDX-License-Identifier: Apache-2.0
//
// Opens a plan of N records of one kind, for open_cost_test.py, which counts the instructions that
// `Session::open` takes. Prints the plan's bytes.
//   open_cost KIND N
#include <charconv>
#include <cstdio>
#include <functional>
#include <map>

#include "test/runtime/built_plan.h"

namespace intarsia::test {
namespace {

struct Nothing {
  static constexpr KernelId id{"test:Nothing", "", {}};
  static Status run(const KernelContext&) { return {}; }
};
/// What the test must find: work for every pair of operands.
struct Pairs {
  static constexpr KernelId id{"test:Pairs", "", {}};
  static Status check(const KernelContext& context) {
    volatile int pairs = 0;
    for (int i = 0; i < context.input_count(); ++i) {
      for (int j = 0; j < i; ++j) pairs = pairs + 1;
    }
    return {};
  }
  static Status run(const KernelContext&) { return {}; }
};

/// One node; operands in an order that is neither ascending nor descending.
void add_node(BuiltPlan& plan, uint32_t inputs, uint32_t outputs) {
  for (uint32_t i = 0; i < inputs + outputs; ++i) {
    const uint32_t place = i < inputs ? 0 : 1 + i * 7919 % outputs;
    plan.operands.push_back(plan.add_tensor(DataType::kUint8, 0, 1, 16 * place));
  }
  plan.nodes.emplace_back(kNone, 0, kNoShape, static_cast<uint16_t>(inputs),
                          static_cast<uint16_t>(outputs));
  plan.views = std::max(plan.views, inputs + outputs);
  plan.tensor_bytes = 16 * (uint64_t{outputs} + 2);
}

using Fill = std::function<void(BuiltPlan&, uint32_t)>;

const std::map<std::string_view, Fill>& kinds() {
  static const std::map<std::string_view, Fill> all{
      {"inputs", [](BuiltPlan& plan, uint32_t n) { add_node(plan, n, 1); }},
      {"outputs", [](BuiltPlan& plan, uint32_t n) { add_node(plan, 1, n); }},
      {"operands", [](BuiltPlan& plan, uint32_t n) { add_node(plan, n / 2, n / 2); }},
      {"pairs",
       [](BuiltPlan& plan, uint32_t n) {
         add_node(plan, n, 1);
         plan.kernels = {kernel_key(Pairs::id)};
       }},
      {"nodes",
       [](BuiltPlan& plan, uint32_t n) {
         for (uint32_t i = 0; i < n; ++i) {
           plan.nodes.emplace_back(kNone, 0, kNoShape, uint16_t{0}, uint16_t{0});
         }
       }},
      {"attributes",
       [](BuiltPlan& plan, uint32_t n) {
         for (uint32_t i = 0; i < n; ++i) {
           plan.nodes.emplace_back(static_cast<uint32_t>(plan.attributes.size()), 0, kNoShape,
                                   uint16_t{0}, uint16_t{0});
           plan.attributes.push_back(264);
           plan.attributes.resize(plan.attributes.size() + 33);
         }
       }},
      {"states",
       [](BuiltPlan& plan, uint32_t n) {
         plan.tensor_bytes = uint64_t{16} * n;
         for (uint32_t i = 0; i < n; ++i) {
           const uint32_t tensor = plan.add_slot(DataType::kUint8, 0, 1, 16 * i, 3);
           plan.state_ports.push_back(plan.port("s", i));
           plan.states.emplace_back(i, tensor);
         }
       }},
      {"ports",
       [](BuiltPlan& plan, uint32_t n) {
         plan.symbols = static_cast<int>(n);
         for (uint32_t i = 0; i < n; ++i) {
           plan.add_slot(DataType::kUint8, 0, 1, 0, kReadOnlySlot);
           plan.inputs.push_back(plan.port("x", i, {static_cast<int32_t>(i)}));
         }
       }},
  };
  return all;
}

int open(std::string_view kind, uint32_t n) {
  const auto found = kinds().find(kind);
  if (found == kinds().end()) {
    for (const auto& [name, fill] : kinds()) std::printf("%s\n", std::string(name).c_str());
    return 2;
  }
  BuiltPlan plan;
  plan.extents = {16};
  plan.kernels = {kernel_key(Nothing::id)};
  found->second(plan, n);
  const auto session = plan.open(kernel_set<Nothing, Pairs>());
  std::printf("%zu\n", plan.bytes());
  if (session.ok()) return 0;
  std::fprintf(stderr, "%s\n", plan.diagnostic.what);
  return 1;
}

}  // namespace
}  // namespace intarsia::test

/// Without arguments it lists the kinds.
int main(int count, char** arguments) {
  const std::string_view number = count > 2 ? arguments[2] : "0";
  uint32_t n = 0;
  std::from_chars(number.data(), number.data() + number.size(), n);
  return intarsia::test::open(count > 1 ? arguments[1] : "", n);
}
