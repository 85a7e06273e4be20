// SPDX-License-Identifier: Apache-2.0
//
// The command line's options, shared by the commands.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "converter/convert.h"

namespace intarsia::tool {

/// The conversion options as they are written on the command line; `parse` checks and converts
/// them.
struct ConversionArguments {
  int64_t max_string = converter::kDefaultMaxString;
  std::vector<std::string> dims, shapes, fixed, values, bounds, max_trips, max_lengths, states,
      gradients, trainable, layouts;
  std::string target = "generic";
  std::optional<double> plan_growth;
  std::string device = "cpu", precision = "f32";
  uint64_t seed = 0;
  int threads = 1;
  bool strip_names = false;
  std::vector<std::string> operators, pyop_paths;
  std::string pyop_python;
  bool allow_pyop = false;

  /// Adds the options to a command. `--threads` is left to the command: it means more there.
  void add_to(CLI::App& app);
  /// Throws converter::Error that names the option.
  converter::ConvertOptions parse() const;
};

/// Inputs of a run as written: "NAME=FILE.npy" or "NAME=FILE.pb".
struct InputArguments {
  std::vector<std::string> inputs;
  void add_to(CLI::App& app);
  std::map<std::string, converter::Constant> read() const;
};

/// "1x3x224x224" or "1,3,224,224" as extents. Throws converter::Error that names `option`.
std::vector<int64_t> parse_extents(const std::string& text, const std::string& option);

/// Splits "NAME=VALUE" at the last '='; names may contain colons and '='. Throws converter::Error.
std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     const std::string& option);

}  // namespace intarsia::tool
