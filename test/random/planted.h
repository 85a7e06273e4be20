// SPDX-License-Identifier: Apache-2.0
//
// An operator of a plug-in that is wrong on request, which the oracles have to find.
#pragma once

#include <memory>

#include "converter/plugin/extension.h"
#include "core/definitions/rows.h"
#include "core/operators/elementwise/elementwise.h"

namespace intarsia::test {

/// Reverses a tensor of floats: element 0 is written before it is read as the last one.
struct Reversed {
  static constexpr KernelId id{"random.test:Reversed", "", {DataType::kFloat}};
  static Status check(const KernelContext&) { return {}; }
  static Status run(const KernelContext& context) {
    const auto* x = context.input(0).as<const float>();
    auto* y = context.output(0).as<float>();
    const int64_t count = context.output(0).count();
    for (int64_t i = 0; i < count; ++i) y[i] = x[count - 1 - i];
    return {};
  }
};

/// All operators and `Reversed`, which permits its output to lie in its input's memory, wrongly,
/// where `in_place` says so.
inline std::shared_ptr<const converter::OperatorLibrary> library_with_reversed(bool in_place) {
  auto extension = std::make_shared<converter::Extension>();
  extension->name = "random";
  definitions::DefinitionRows rows;
  definitions::add<ops::SameShape>(rows, {.domain = "random.test",
                                          .name = "Reversed",
                                          .inputs = {{"X", "T"}},
                                          .outputs = {{"Y", "T"}},
                                          .facts = {.exact = true},
                                          .types = {{"T", definitions::types({DataType::kFloat})}},
                                          .attributes = definitions::codec_of<NoAttributes>()});
  extension->definitions = std::move(rows);
  extension->kernels = {describe<Reversed>()};
  static const Kernel kInPlace = [] {
    Kernel row = *describe<Reversed>().kernel;
    row.in_place = {0};
    return row;
  }();
  if (in_place) extension->kernels.back().kernel = &kInPlace;
  return std::make_shared<converter::OperatorLibrary>(converter::Extensions{extension});
}

}  // namespace intarsia::test
