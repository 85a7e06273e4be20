// SPDX-License-Identifier: Apache-2.0
//
// The commands of `intarsia`. Each adds its options to a sub-command of the command line; the
// returned function runs it and gives the exit status. Failures are thrown as converter::Error.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace intarsia::tool {

using Command = std::function<int()>;

Command add_convert(CLI::App& app);
Command add_run(CLI::App& app);
Command add_inspect(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_verify(CLI::App& app);
Command add_conformance(CLI::App& app);

}  // namespace intarsia::tool
