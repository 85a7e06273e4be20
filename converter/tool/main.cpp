// SPDX-License-Identifier: Apache-2.0
//
// The command `intarsia`. Exit status 0 only on success; errors go to standard error.
#include <fmt/format.h>

#include <cstdio>
#include <map>

#include "converter/tool/commands.h"
#include "core/plan_file.h"

namespace intarsia::tool {
namespace {

int run_command(int argc, char** argv) {
  CLI::App app{"Converts ONNX models to plans, runs, inspects and measures them."};
  app.set_version_flag("--version", fmt::format("intarsia {} (plan format {})", INTARSIA_VERSION,
                                                kPlanFormatVersion));
  app.require_subcommand(1);
  std::map<CLI::App*, Command> commands;
  const auto add = [&](const char* name, const char* description, Command (*make)(CLI::App&)) {
    CLI::App* command = app.add_subcommand(name, description);
    commands[command] = make(*command);
  };
  add("convert", "Convert an ONNX model to a plan", add_convert);
  add("run", "Run a plan or an ONNX model", add_run);
  add("inspect", "Show nodes, kernels and memory", add_inspect);
  add("bench", "Measure time and memory", add_bench);
  add("verify", "Compare every node with the reference kernels", add_verify);
  add("conformance", "Run ONNX backend-test folders", add_conformance);
  CLI11_PARSE(app, argc, argv);
  for (const auto& [command, run] : commands) {
    if (command->parsed()) return run();
  }
  return 1;
}

}  // namespace
}  // namespace intarsia::tool

int main(int argc, char** argv) {
  try {
    return intarsia::tool::run_command(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "intarsia: %s\n", error.what());
  }
  return 1;
}
