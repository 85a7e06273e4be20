// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "converter/emit/program_emitter.h"
#include "converter/onnx/file.h"
#include "converter/tool/commands.h"
#include "converter/tool/options.h"

namespace intarsia::tool {
namespace {

using converter::Conversion;
using converter::ProgramDescription;

struct Arguments {
  std::string model, plan, header, source, name_space;
  std::vector<std::string> entries;
  ConversionArguments conversion;
};

/// The model, if there is one, and those of `--entry`.
std::vector<converter::EntrySource> entries_of(const Arguments& arguments) {
  std::vector<converter::EntrySource> entries;
  if (!arguments.model.empty()) entries.push_back({converter::kMainEntry, arguments.model});
  for (const std::string& text : arguments.entries) {
    const size_t at = text.find('=');
    if (at == std::string::npos || at + 1 == text.size()) {
      throw converter::Error(fmt::format("--entry {}: expected NAME=MODEL.onnx", text));
    }
    entries.push_back({text.substr(0, at), text.substr(at + 1)});
  }
  if (entries.empty()) {
    throw converter::Error("no model is given", "name MODEL.onnx, or --entry NAME=MODEL.onnx");
  }
  return entries;
}

ProgramDescription describe_program(const Conversion& conversion, const Arguments& arguments) {
  namespace fs = std::filesystem;
  ProgramDescription program;
  for (const converter::EntrySource& entry : entries_of(arguments)) {
    if (!program.model_name.empty()) program.model_name += ", ";
    program.model_name += entry.file.filename().string();
  }
  program.header_name = fs::path(arguments.header).filename().string();
  program.namespace_name = arguments.name_space;
  if (program.namespace_name.empty()) {
    program.namespace_name =
        converter::identifier_of(fs::path(program.header_name).stem().string());
  }
  program.plan_path = fs::absolute(arguments.plan).string();
  program.arena_bytes = conversion.plan.summary.arena_bytes;
  program.plan_bytes = conversion.plan.summary.plan_bytes;
  program.threads = arguments.conversion.threads;
  program.varying = conversion.varying;
  program.strings = conversion.plan.summary.strings;
  const auto copy = [](const std::vector<converter::PortSummary>& from,
                       std::vector<ProgramDescription::Port>& to) {
    for (const auto& port : from) to.push_back({port.name, port.type, port.extents, port.symbols});
  };
  for (const converter::EntrySummary& entry : conversion.entries) {
    ProgramDescription::Entry& described = program.entries.emplace_back();
    described.name = entry.name;
    copy(entry.inputs, described.inputs);
    copy(entry.outputs, described.outputs);
  }
  copy(conversion.states, program.states);
  program.cuda = arguments.conversion.device == "cuda";
  program.device_arena_bytes = conversion.plan.summary.device_arena_bytes;
  program.device_weights_bytes = conversion.plan.summary.device_weights_bytes;
  program.kernels = conversion.plan.summary.kernels;
  program.shapes = conversion.plan.summary.shapes;
  return program;
}

void write_text(const std::string& path, const std::string& text) {
  converter::write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

int convert(const Arguments& arguments) {
  if (!arguments.source.empty() && arguments.header.empty()) {
    throw converter::Error("--source needs --header: the source includes it");
  }
  const converter::ConversionResult result =
      converter::convert_entries(entries_of(arguments), arguments.conversion.parse());
  if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
    throw converter::Error(failure->problems);
  }
  const auto& conversion = std::get<Conversion>(result);
  for (const std::string& warning : conversion.warnings) {
    fmt::print(stderr, "warning: {}\n", warning);
  }
  converter::write_file(arguments.plan, conversion.plan.bytes);
  if (!arguments.header.empty()) {
    const converter::ProgramText text =
        converter::emit_program(describe_program(conversion, arguments));
    write_text(arguments.header, text.header);
    if (!arguments.source.empty()) write_text(arguments.source, text.source);
  }
  const converter::PlanSummary& summary = conversion.plan.summary;
  fmt::print(
      "{}: plan {} bytes (weights {}), arena {} bytes (metadata {}, largest workspace {}, "
      "padding {}, lower bound {}), {} kernels\n",
      arguments.plan, summary.plan_bytes, summary.weights_bytes, summary.arena_bytes,
      summary.metadata_bytes, summary.workspace_bytes, summary.padding_bytes,
      summary.lower_bound_bytes, summary.kernels.size());
  if (summary.segments > 0) {
    fmt::print("{}: device arena {} bytes (lower bound {}), device weights {}, {} graphs\n",
               arguments.plan, summary.device_arena_bytes, summary.device_lower_bound_bytes,
               summary.device_weights_bytes, summary.segments);
  }
  return 0;
}

}  // namespace

Command add_convert(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  app.add_option("model", arguments->model, "the ONNX model")->type_name("MODEL.onnx");
  app.add_option("--entry", arguments->entries,
                 "a further entry point, over the same arena and weights. ENTRY:NAME in other "
                 "options is of one entry point, a name alone of all")
      ->type_name("NAME=MODEL.onnx");
  app.add_option("-o,--output", arguments->plan, "the plan")->required()->type_name("OUT.plan");
  app.add_option("--header", arguments->header, "also write the typed C++ header")
      ->type_name("OUT.h");
  app.add_option("--source", arguments->source, "also write the C++ source that embeds the plan")
      ->type_name("OUT.cpp");
  app.add_option("--namespace", arguments->name_space, "namespace of the header and source");
  app.add_option("--threads", arguments->conversion.threads,
                 "the largest number of threads that workspace is planned for")
      ->check(CLI::Range(1, 1024));
  arguments->conversion.add_to(app);
  return [arguments] { return convert(*arguments); };
}

}  // namespace intarsia::tool
