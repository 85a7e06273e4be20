// SPDX-License-Identifier: Apache-2.0
//
// Control flow. The extents of its outputs are those of the branches' outputs: the converter joins
// them, so that there is no shape function.
#include "core/operators/control/control.h"

#include "core/definitions/rows.h"

namespace intarsia::definitions {

void add_control_definitions(DefinitionRows& rows) {
  rows.push_back({.name = "If",
                  .since_version = 11,
                  .inputs = {apart({"cond", "B"})},
                  .outputs = {apart({"outputs", "", Parameter::kVariadic, 1, true})},
                  .types = {{"B", kBoolType}},
                  .kernel_types = {},
                  .attributes = codec_of<IfAttributes>(),
                  .graphs = {"then_branch", "else_branch"}});
  // Stands for a branch that cannot be executed; the converter writes the message, which is all
  // that its attributes hold.
  rows.push_back({.domain = "intarsia",
                  .name = "Contradiction",
                  .outputs = {apart({"outputs", "", Parameter::kVariadic, 1, true})},
                  .kernel_types = {},
                  .attributes = codec_of<NoAttributes>(),
                  .impure = true});
  // Copies between the memories of host and device, planned by the converter.
  for (const std::string_view name : {"ToDevice", "ToHost"}) {
    rows.push_back({.domain = "intarsia",
                    .name = name,
                    .inputs = {same({"x", "T"})},
                    .outputs = {same({"y", "T"})},
                    .facts = {.element_wise = true, .exact = true},
                    .types = {{"T", kAnyTypes}},
                    .kernel_types = {},
                    .attributes = codec_of<NoAttributes>(),
                    .impure = true});
  }
}

}  // namespace intarsia::definitions
