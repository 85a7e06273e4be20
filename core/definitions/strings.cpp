// SPDX-License-Identifier: Apache-2.0
//
// Operators on strings.
#include "core/operators/strings/strings.h"

#include "core/definitions/rows.h"
#include "core/operators/elementwise/elementwise.h"

namespace intarsia::definitions {

void add_string_definitions(DefinitionRows& rows) {
  add<ops::Broadcast>(rows, {.name = "StringConcat",
                             .since_version = 20,
                             .inputs = {broadcast({"X", "T"}), broadcast({"Y", "T"})},
                             .outputs = {same({"Z", "T"})},
                             .facts = {.element_wise = true, .exact = true},
                             .types = {{"T", kStringType}},
                             .attributes = codec_of<NoAttributes>()});
  add<ops::StringNormalizer>(rows, {.name = "StringNormalizer",
                                    .since_version = 10,
                                    .inputs = {apart({"X", "T"})},
                                    .outputs = {apart({"Y", "T"})},
                                    .facts = {.exact = true},
                                    .types = {{"T", kStringType}},
                                    .attributes = codec_of<StringNormalizerAttributes>()});
  add<ops::StringSplit>(rows, {.name = "StringSplit",
                               .since_version = 20,
                               .inputs = {apart({"X", "T"})},
                               .outputs = {apart({"Y", "T"}), apart({"Z", "I"})},
                               .facts = {.exact = true},
                               .types = {{"T", kStringType}, {"I", kInt64Type}},
                               .kernel_types = {"T"},
                               .attributes = codec_of<StringSplitAttributes>()});
}

}  // namespace intarsia::definitions
