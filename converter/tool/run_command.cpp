// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>

#include "converter/graph/sequence.h"
#include "converter/onnx/npy.h"
#include "converter/tool/commands.h"
#include "converter/tool/options.h"
#include "converter/tool/plan_text.h"
#include "converter/tool/program.h"

namespace intarsia::tool {
namespace {

struct Arguments {
  std::string model, entry, output_dir = ".", dump_dir;
  ConversionArguments conversion;
  InputArguments inputs;
};

/// Writes every node's outputs as DIR/<node>_<output>.npy.
struct Dump {
  std::filesystem::path folder;

  static void after(void* self, const KernelContext& context) {
    const Dump& dump = *static_cast<Dump*>(self);
    for (int i = 0; i < context.output_count(); ++i) {
      const TensorView& tensor = context.output(i);
      if (!tensor.present()) continue;
      converter::write_npy(dump.folder / fmt::format("{}_{}.npy", context.node(), i),
                           constant_of(tensor, context));
    }
  }
};

/// Names of the dumped nodes, one line each: index, operator, name.
void write_index(const std::filesystem::path& folder, std::span<const std::byte> plan) {
  const PlanText names(plan);
  std::string text;
  for (uint32_t i = 0; i < names.node_count(); ++i) {
    text += fmt::format("{} {} {}\n", i, names.operator_name(i), names.node_name(i));
  }
  converter::write_file(folder / "nodes.txt", std::as_bytes(std::span(text.data(), text.size())));
}

/// Writes FILE.npy; of a sequence its elements, as FILE_0.npy, FILE_1.npy, ...; of a map its keys
/// and its values, as FILE_keys.npy and FILE_values.npy.
void write(const std::filesystem::path& file, const std::string& name,
           const converter::Constant& value) {
  if (!holds_elements(value.type)) {
    const std::string path = file.string() + ".npy";
    converter::write_npy(path, value);
    fmt::print("{}: {} {} {}\n", path, name, data_type_name(value.type),
               converter::extents_text(value.extents));
    return;
  }
  const auto elements = converter::elements_of(value);
  if (elements.empty()) fmt::print("{}: an empty {}\n", name, data_type_name(value.type));
  for (size_t i = 0; i < elements.size(); ++i) {
    const bool map = value.type == DataType::kMap;
    const std::string part = map ? (i == 0 ? "keys" : "values") : std::to_string(i);
    write(fmt::format("{}_{}", file.string(), part), fmt::format("{}[{}]", name, part),
          elements[i]);
  }
}

int run(const Arguments& arguments) {
  namespace fs = std::filesystem;
  const Values inputs = arguments.inputs.read();
  Dump dump{arguments.dump_dir};
  const Observer observer{&dump, nullptr, &Dump::after};
  Program::Options options;
  options.conversion = arguments.conversion.parse();
  options.open_on_device = open_on_device();
  if (!arguments.dump_dir.empty()) {
    fs::create_directories(arguments.dump_dir);
    options.observer = &observer;
  }
  Program program(arguments.model, inputs, options);
  for (const std::string& warning : program.warnings())
    fmt::print(stderr, "warning: {}\n", warning);
  const int entry = program.find_entry(arguments.entry);
  const std::vector<int> runs = program.runs_for(entry);
  program.require_inputs(inputs, runs);
  for (const int each : runs) {
    for (int i = 0; i < program.session().input_count(each); ++i) {
      const std::string name(program.session().input_port(i, each).value().name);
      if (inputs.count(name) != 0) continue;
      throw converter::Error(fmt::format("input '{}' is not given", name),
                             fmt::format("add --input {}=FILE.npy", name));
    }
  }
  for (const int each : runs) {
    program.set_inputs(program.inputs_among(inputs, each), each);
    program.run(each);
  }
  fs::create_directories(arguments.output_dir);
  int index = 0;
  for (const auto& [name, value] : program.outputs(entry)) {
    write(fs::path(arguments.output_dir) / fmt::format("output_{}", index++), name, value);
  }
  if (!arguments.dump_dir.empty()) write_index(arguments.dump_dir, program.plan());
  return 0;
}

}  // namespace

Command add_run(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  app.add_option("model", arguments->model, "a plan, or an ONNX model to convert and run")
      ->required()
      ->type_name("MODEL.plan|MODEL.onnx");
  arguments->inputs.add_to(app);
  app.add_option("--entry", arguments->entry,
                 "entry point to run, behind the one that it continues");
  app.add_option("--output-dir", arguments->output_dir, "folder for output_<i>.npy")
      ->type_name("DIR");
  app.add_option("--threads", arguments->conversion.threads, "threads to run on")
      ->check(CLI::Range(1, 1024));
  app.add_option("--dump", arguments->dump_dir, "folder for every node's outputs")
      ->type_name("DIR");
  arguments->conversion.add_to(app);
  return [arguments] { return run(*arguments); };
}

}  // namespace intarsia::tool
