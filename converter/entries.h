// SPDX-License-Identifier: Apache-2.0
//
// Models that become the entry points of one plan: which options concern which of them, and the
// states that they share.
//
// "ENTRY:NAME" names something of one entry point, if ENTRY is one; any other name is what every
// entry point has by that name. A model alone, that nobody has named, knows names alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "converter/convert.h"
#include "converter/memory/storage.h"

namespace intarsia::converter {

/// What gradients have added to a model (converter/backward.h): everything from these inputs and
/// outputs on.
struct Backward {
  size_t inputs = 0, outputs = 0;
  /// An output of several elements, and the input by which it is weighted.
  struct Seed {
    size_t output;
    Value* weight;
  };
  std::vector<Seed> seeds;
};

struct EntryModel {
  std::string name;
  Model model;
  /// Those that concern it, without the entry point's name.
  ConvertOptions options = {};
  /// What inputs that were initialisers are at open.
  std::map<const Value*, Constant> initial = {};
  /// Those of them by which `--trainable` asks for gradients.
  std::vector<Value*> trainable = {};
  std::optional<Backward> backward = {};
};

/// A model alone, which nobody has named: its options are names as they are.
bool is_plain(const std::vector<EntryModel>& entries);

/// The entry that `text` begins with, and takes its name away; null if it is of none.
const EntryModel* take_entry(const std::vector<EntryModel>& entries, std::string& text);

/// Turns an initialiser of the entry into an input, which begins with its values.
Value* release(EntryModel& entry, Value* constant);

/// Gives every entry its options. Throws Error for names that no entry has, and for names of
/// entries that nothing could be named after. REQUIRES: the models are as imported.
void distribute_options(std::vector<EntryModel>& entries, const ConvertOptions& options);

/// Initialisers that `--state` names as its input become inputs. REQUIRES: as above.
void release_initialisers(std::vector<EntryModel>& entries, const ConvertOptions& options);

/// Finds the tensors of `--state`. Inputs that options name are states, and so are those that were
/// initialisers; those of one name are one state. Throws Error for unknown names and for tensors
/// that differ in type or extents. REQUIRES: inferred, and outputs have the names of the model.
std::vector<State> find_states(const std::vector<EntryModel>& entries,
                               const ConvertOptions& options);

}  // namespace intarsia::converter
