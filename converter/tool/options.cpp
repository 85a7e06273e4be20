// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "converter/lower/target.h"
#include "converter/onnx/tensor_file.h"
#include "converter/plugin/plugin.h"
#include "converter/tool/progress_line.h"

namespace intarsia::tool {
namespace {

using converter::Error;

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const converter::Target& target : converter::targets()) names.emplace_back(target.name);
  return names;
}

bool parse_integer(std::string_view text, int64_t& value) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

std::variant<converter::DimRange, std::string> parse_range(const std::string& text,
                                                           const std::string& option) {
  converter::DimRange range;
  const size_t dots = text.find("..");
  if (dots != std::string::npos) {
    if (!parse_integer(text.substr(0, dots), range.min) ||
        !parse_integer(text.substr(dots + 2), range.max)) {
      throw Error(option + ": expected MIN..MAX");
    }
    return range;
  }
  if (parse_integer(text, range.max)) return range;
  if (text.empty()) throw Error(option + ": expected MAX, MIN..MAX or the name of a dimension");
  return text;
}

/// Without a '=' the gradients are those by what is trainable.
converter::ConvertOptions::GradientRequest parse_gradient(const std::string& text) {
  converter::ConvertOptions::GradientRequest request;
  const size_t at = text.rfind('=');
  request.output = text.substr(0, at);
  if (at != std::string::npos) request.inputs = CLI::detail::split(text.substr(at + 1), ',');
  const bool nameless = std::any_of(request.inputs.begin(), request.inputs.end(),
                                    [](const std::string& name) { return name.empty(); });
  if (!request.output.empty() && !nameless) return request;
  throw Error(fmt::format("--gradient {}: expected OUTPUT=INPUT,... or OUTPUT", text));
}

}  // namespace

std::pair<std::string, std::string> split_assignment(const std::string& text,
                                                     const std::string& option) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    throw Error(fmt::format("{} {}: expected NAME=VALUE", option, text));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<int64_t> parse_extents(const std::string& text, const std::string& option) {
  std::vector<int64_t> extents;
  if (text == "scalar" || text == "[]") return extents;
  size_t begin = 0;
  while (begin <= text.size()) {
    size_t end = text.find_first_of("x,", begin);
    if (end == std::string::npos) end = text.size();
    int64_t extent = 0;
    if (!parse_integer(std::string_view(text).substr(begin, end - begin), extent)) {
      throw Error(fmt::format("{}: '{}' is no list of extents such as 1x3x224x224", option, text));
    }
    extents.push_back(extent);
    begin = end + 1;
  }
  return extents;
}

void ConversionArguments::add_to(CLI::App& app) {
  app.add_option("--dim", dims,
                 "NAME=MAX, NAME=MIN..MAX, INPUT@AXIS=MAX or INPUT@AXIS=NAME: range of a symbolic "
                 "dimension (from 1 unless MIN is given)")
      ->type_name("NAME=RANGE");
  app.add_option("--shape", shapes, "fix an input's extents, for instance x=1x3x224x224")
      ->type_name("INPUT=EXTENTS");
  app.add_option("--fix", fixed, "make an input a constant")
      ->type_name("INPUT=VALUE|[VALUE,...]|FILE.npy");
  app.add_option("--value", values,
                 "make the plan for this value of an input, which stays: a run with another fails")
      ->type_name("INPUT=VALUE|[VALUE,...]|FILE.npy");
  app.add_option("--bound", bounds, "bound of a tensor whose extents depend on values")
      ->type_name("TENSOR=EXTENTS");
  app.add_option("--max-trips", max_trips,
                 "the most trips of a loop, where nothing tells their number")
      ->type_name("NODE=N");
  app.add_option("--max-length", max_lengths,
                 "the most elements of an input that is a sequence, or entries of a map")
      ->type_name("INPUT=N");
  app.add_option("--max-string", max_string,
                 "the most bytes of a string, on average over those that inputs hold and operators "
                 "make")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 30))
      ->type_name("N");
  app.add_option("--state", states,
                 "keep an output as the next run's input, which may be an initialiser")
      ->type_name("OUTPUT=INPUT");
  app.add_option("--gradient", gradients,
                 "add an entry point that computes the gradients of an output by inputs, and by "
                 "everything trainable")
      ->type_name("OUTPUT=INPUT,...");
  app.add_option("--trainable", trainable,
                 "make an initialiser a state that begins with its values; a * at the end stands "
                 "for all whose names begin so")
      ->type_name("NAME");
  app.add_option("--seed", seed,
                 "other random numbers for nodes that have no seed of their own (0: the first)")
      ->type_name("N");
  app.add_option("--layout", layouts, "the caller's buffer of this input is channels-last")
      ->type_name("INPUT=nhwc");
  app.add_option("--target", target,
                 "the device that the plan is for; float32 plans run on every target, this decides "
                 "what is worth its bytes")
      ->check(CLI::IsMember(target_names()));
  app.add_option("--plan-growth", plan_growth,
                 "the most that a packed weight may take, as a multiple of its own bytes (1 for "
                 "cortex-m, no limit for the others)")
      ->check(CLI::Range(1.0, 1000.0))
      ->type_name("FACTOR");
  app.add_option("--device", device, "place nodes that have a kernel there on this device")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--precision", precision,
                 "what float32 tensors are stored as inside the plan, where kernels allow: f16 "
                 "takes half the memory, and results agree to about three digits")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}));
  app.add_flag("--strip-names", strip_names, "leave out the names of nodes, operators and kernels");
  app.add_option("--operators", operators,
                 "operators of one's own: a library that intarsia_add_operators has built, or a "
                 "Python file")
      ->type_name("LIB.so|FILE.py");
  app.add_flag("--allow-pyop", allow_pyop,
               "let Python operators of the model import and execute their modules");
  app.add_option("--pyop-path", pyop_paths, "where Python operators find their modules")
      ->type_name("DIR");
  app.add_option("--pyop-python", pyop_python,
                 "the Python whose library and packages they use, if not the one that Intarsia was "
                 "built with")
      ->type_name("FILE");
}

converter::ConvertOptions ConversionArguments::parse() const {
  converter::ConvertOptions options;
  for (const std::string& text : dims) {
    const auto [name, range] = split_assignment(text, "--dim");
    options.dims[name] = parse_range(range, "--dim " + text);
  }
  for (const std::string& text : shapes) {
    const auto [name, extents] = split_assignment(text, "--shape");
    options.shapes[name] = parse_extents(extents, "--shape " + text);
  }
  for (const std::string& text : fixed) {
    const auto [name, value] = split_assignment(text, "--fix");
    options.fixed[name] = value;
  }
  for (const std::string& text : values) {
    const auto [name, value] = split_assignment(text, "--value");
    options.values[name] = value;
  }
  for (const std::string& text : bounds) {
    const auto [name, extents] = split_assignment(text, "--bound");
    options.bounds[name] = parse_extents(extents, "--bound " + text);
  }
  const auto parse_limit = [](const std::string& text, const char* option, const char* what) {
    const auto [name, number] = split_assignment(text, option);
    int64_t most = 0;
    if (!parse_integer(number, most) || most < 0 || most > INT32_MAX) {
      throw Error(fmt::format("{} {}: '{}' is no number of {}", option, text, number, what));
    }
    return std::pair(name, most);
  };
  for (const std::string& text : max_trips) {
    const auto [name, most] = parse_limit(text, "--max-trips", "trips");
    options.max_trips[name] = most;
  }
  for (const std::string& text : max_lengths) {
    const auto [name, most] = parse_limit(text, "--max-length", "elements");
    options.max_lengths[name] = most;
  }
  for (const std::string& text : states) {
    const auto [output, input] = split_assignment(text, "--state");
    options.states[output] = input;
  }
  for (const std::string& text : gradients) options.gradients.push_back(parse_gradient(text));
  options.trainable = trainable;
  for (const std::string& text : layouts) {
    const auto [name, layout] = split_assignment(text, "--layout");
    options.layouts[name] = layout;
  }
  options.max_string = max_string;
  options.seed = seed;
  options.threads = threads;
  options.target = target;
  options.plan_growth = plan_growth;
  if (device == "cuda") options.device = converter::ConvertOptions::Device::kCuda;
  if (precision == "bf16") {
    throw Error("--precision bf16: not there yet", "f16 and f32 are");
  }
  if (precision == "f16") options.precision = converter::ConvertOptions::Precision::kFloat16;
  options.strip_names = strip_names;
  std::multimap<std::string, std::string> python;
  if (allow_pyop) python.emplace("allow-pyop", "");
  for (const std::string& folder : pyop_paths) python.emplace("pyop-path", folder);
  if (!pyop_python.empty()) python.emplace("pyop-python", pyop_python);
  options.library = converter::load_operators(operators, python);
  options.progress = progress_line();
  return options;
}

void InputArguments::add_to(CLI::App& app) {
  app.add_option("--input", inputs, "contents of an input")
      ->type_name("NAME=FILE.npy|FILE.pb|[FILE,...]|{KEYS,VALUES}");
}

std::map<std::string, converter::Constant> InputArguments::read() const {
  std::map<std::string, converter::Constant> values;
  for (const std::string& text : inputs) {
    const auto [name, path] = split_assignment(text, "--input");
    values[name] = converter::read_value(path);
  }
  return values;
}

}  // namespace intarsia::tool
