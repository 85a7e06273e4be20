// SPDX-License-Identifier: Apache-2.0
//
// Models that become the entry points of one plan: which options concern which of them, and the
// states that they share.
//
// "ENTRY:NAME" names something of one entry point, if ENTRY is one; any other name is what every
// entry point has by that name. A model alone, that nobody has named, knows names alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "converter/memory/storage.h"

namespace intarsia::converter {

struct EntryModel {
  std::string name;
  Model model;
  /// Those that concern it, without the entry point's name.
  ConvertOptions options = {};
  /// What inputs that were initialisers are at open.
  std::map<const Value*, Constant> initial = {};
};

/// Gives every entry its options. Throws Error for names that no entry has, and for names of
/// entries that nothing could be named after. REQUIRES: the models are as imported.
void distribute_options(std::vector<EntryModel>& entries, const ConvertOptions& options);

/// Initialisers that `--state` names as its input become inputs. REQUIRES: as above.
void release_initialisers(std::vector<EntryModel>& entries, const ConvertOptions& options);

/// Finds the tensors of `--state`. Inputs that options name are states; those of one name are one
/// state. Throws Error for unknown names and for tensors that differ in type or extents. REQUIRES:
/// inferred, and outputs have the names of the model.
std::vector<State> find_states(const std::vector<EntryModel>& entries,
                               const ConvertOptions& options);

}  // namespace intarsia::converter
