// SPDX-License-Identifier: Apache-2.0
//
// Operators on strings.
#include "core/operators/strings/strings.h"

#include "core/definitions/rows.h"
#include "core/operators/elementwise/elementwise.h"
#include "core/operators/strings/lookup.h"
#include "core/operators/strings/murmur_hash.h"
#include "core/operators/strings/ngrams.h"
#include "core/operators/strings/regex.h"
#include "core/operators/strings/tokens.h"

namespace intarsia::definitions {
namespace {

constexpr TypeSet kInt32Type = types({DataType::kInt32});

/// The converter's own, of which version conversion makes operators that look values up; the tables
/// are constants.
void add_tabular(DefinitionRows& rows) {
  constexpr TypeSet kKeyTypes = types({DataType::kString, DataType::kFloat, DataType::kDouble,
                                       DataType::kInt16, DataType::kInt32, DataType::kInt64});
  add<ops::Lookup>(rows, {.domain = kInternalDomain,
                          .name = "Lookup",
                          .inputs = {same({"X", "T"}), apart({"keys", "T"}), apart({"slots", "I"})},
                          .outputs = {same({"Y", "I"})},
                          .facts = {.exact = true},
                          .types = {{"T", kKeyTypes}, {"I", kInt32Type}},
                          .attributes = codec_of<LookupAttributes>()});
  add<ops::NgramCounts>(
      rows, {.domain = kInternalDomain,
             .name = "NgramCounts",
             .inputs = {apart({"X", "I"}), apart({"edges", "I"}), apart({"ngrams", "I"}),
                        apart({"weights", "F", Parameter::kOptional})},
             .outputs = {apart({"Y", "F"})},
             .facts = {.exact = true},
             .types = {{"I", kInt32Type}, {"F", types({DataType::kFloat})}},
             .kernel_types = {},
             .attributes = codec_of<NgramAttributes>()});
  add<ops::RegexFullMatch>(
      rows, {.domain = kInternalDomain,
             .name = "RegexFullMatch",
             .inputs = {same({"X", "T"}), apart({"classes", "C"}), apart({"transitions", "S"}),
                        apart({"accepting", "B"})},
             .outputs = {same({"Y", "B"})},
             .facts = {.exact = true},
             .types = {{"T", kStringType},
                       {"C", types({DataType::kUint8})},
                       {"S", types({DataType::kUint16})},
                       {"B", kBoolType}},
             .attributes = codec_of<NoAttributes>()});
  add<ops::RegexStates>(
      rows, {.domain = kInternalDomain,
             .name = "RegexStates",
             .inputs = {same({"X", "T"}), apart({"classes", "C"}), apart({"begins", "I"}),
                        apart({"next", "I"}), apart({"accepting", "B"})},
             .outputs = {same({"Y", "B"})},
             .facts = {.exact = true},
             .types = {{"T", kStringType},
                       {"C", types({DataType::kUint8})},
                       {"I", kInt32Type},
                       {"B", kBoolType}},
             .attributes = codec_of<NoAttributes>()});
  add<ops::Tokens>(
      rows, {.domain = kInternalDomain,
             .name = "Tokens",
             .inputs = {apart({"X", "T"}), apart({"classes", "C"}), apart({"transitions", "S"}),
                        apart({"accepting", "B"}), apart({"words", "T"})},
             .outputs = {apart({"Y", "T"})},
             .facts = {.exact = true},
             .types = {{"T", kStringType},
                       {"C", types({DataType::kUint8})},
                       {"S", types({DataType::kUint16})},
                       {"B", kBoolType}},
             .attributes = codec_of<TokensAttributes>()});
}

}  // namespace

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
  add<ops::MurmurHash3>(
      rows, {.domain = kContribDomain,
             .name = "MurmurHash3",
             .inputs = {same({"X", "T1"})},
             .outputs = {same({"Y", "T2"})},
             .facts = {.element_wise = true, .exact = true},
             .types = {{"T1", kStringType |
                                  types({DataType::kInt32, DataType::kUint32, DataType::kInt64,
                                         DataType::kUint64, DataType::kFloat, DataType::kDouble})},
                       {"T2", types({DataType::kInt32, DataType::kUint32})}},
             .kernel_types = {"T1"},
             .attributes = codec_of<MurmurHash3Attributes>()});
  add_tabular(rows);
}

}  // namespace intarsia::definitions
