// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <random>

#include "converter/backward.h"
#include "converter/graph/strings.h"
#include "converter/plugin/plugin.h"
#include "converter/tool/plan_text.h"
#include "intarsia/describe.h"

namespace intarsia::tool {

using converter::Constant;
using converter::Error;

Constant constant_of(const TensorView& tensor, const ReadString& read) {
  const auto* data = tensor.as<const std::byte>();
  const auto bytes = static_cast<size_t>(tensor.bytes());
  return converter::with_characters(tensor.type, {tensor.extents, tensor.extents + tensor.rank},
                                    std::vector<std::byte>(data, data + bytes), read);
}

Constant constant_of(const TensorView& tensor, const KernelContext& context) {
  return constant_of(tensor, [&context](StringRef string) { return context.string(string); });
}

namespace {

/// Fills a tensor with seeded values: reals in [-1, 1], integers 0 or 1, which are valid indices
/// almost everywhere. Throws for types that have no such values.
void fill_random(const TensorView& tensor, std::mt19937& random) {
  std::uniform_real_distribution<double> real(-1, 1);
  const int64_t count = tensor.count();
  for (int64_t i = 0; i < count; ++i) {
    switch (tensor.type) {
      case DataType::kFloat:
        tensor.as<float>()[i] = static_cast<float>(real(random));
        break;
      case DataType::kDouble:
        tensor.as<double>()[i] = real(random);
        break;
      case DataType::kFloat16:
        tensor.as<Float16>()[i] = Float16(static_cast<float>(real(random)));
        break;
      case DataType::kBfloat16:
        tensor.as<BFloat16>()[i] = BFloat16(static_cast<float>(real(random)));
        break;
      case DataType::kInt64:
      case DataType::kUint64:
        tensor.as<int64_t>()[i] = random() & 1;
        break;
      case DataType::kInt32:
      case DataType::kUint32:
        tensor.as<int32_t>()[i] = random() & 1;
        break;
      case DataType::kInt16:
      case DataType::kUint16:
        tensor.as<int16_t>()[i] = random() & 1;
        break;
      case DataType::kInt8:
      case DataType::kUint8:
      case DataType::kBool:
        tensor.as<uint8_t>()[i] = random() & 1;
        break;
      default:
        throw Error("inputs of this type have no random values; give them with --input");
    }
  }
}

Constant random_value(const TensorView& tensor, std::mt19937& random) {
  if (tensor.type == DataType::kString) {
    std::vector<std::string> words(static_cast<size_t>(tensor.count()));
    for (std::string& word : words) word = fmt::format("word{}", random() % 100);
    return Constant::strings({tensor.extents, tensor.extents + tensor.rank}, words);
  }
  fill_random(tensor, random);
  return constant_of(tensor, [](StringRef) { return std::string_view(); });
}

/// True of the nodes that check the value of an input (`--value`).
bool checks_value(const PlanText& plan, uint32_t node) {
  constexpr uint64_t kCheck = kernel_key({"intarsia:ValueCheck", "", {}});
  return plan.root().kernels()->Get(plan.node(node).kernel()) == kCheck;
}

/// The value that the plan is made for of the input in slot `slot`, if it is for one.
std::optional<Constant> checked_value(std::span<const std::byte> bytes, uint32_t slot) {
  const PlanText plan(bytes);
  for (uint32_t i = 0; i < plan.node_count(); ++i) {
    if (!checks_value(plan, i)) continue;
    const plan::Tensor *input = plan.operand(i, 0), *value = plan.operand(i, 1);
    if (input == nullptr || static_cast<Memory>(input->memory()) != Memory::kSlot ||
        input->place() != slot || value == nullptr ||
        static_cast<Memory>(value->memory()) != Memory::kWeights) {
      continue;
    }
    std::vector<int64_t> extents;
    for (uint32_t axis = 0; axis < value->rank(); ++axis) {
      extents.push_back(plan.root().extents()->Get(value->extents() + axis));
    }
    const auto weights = bytes.subspan(plan.header().weights_offset + value->place() * kWeightUnit,
                                       static_cast<size_t>(plan.bytes(*value)));
    return Constant::own(static_cast<DataType>(value->type()), std::move(extents),
                         {weights.begin(), weights.end()});
  }
  return std::nullopt;
}

}  // namespace

LoadedPlan::LoadedPlan(const std::filesystem::path& path, const Values& inputs,
                       const converter::ConvertOptions& options) {
  if (path.extension() == ".plan") {
    file_ = converter::MappedFile::open(path);
    bytes_ = file_->bytes();
  } else {
    converter::ConvertOptions conversion = options;
    // What weights gradients has the extents that a run finds.
    const auto weights = [&options](const std::string& name) {
      return std::any_of(options.gradients.begin(), options.gradients.end(),
                         [&name](const auto& request) {
                           return name == request.output + converter::kGradientSuffix;
                         });
    };
    for (const auto& [name, value] : inputs) {
      if (conversion.fixed.count(name) != 0 || weights(name)) continue;
      conversion.shapes.try_emplace(name, value.extents);
    }
    conversion.probe = inputs;
    converter::ConversionResult result = converter::convert_file(path, conversion);
    if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
      throw Error(failure->problems);
    }
    auto& made = std::get<converter::Conversion>(result);
    converted_ = std::make_unique<AlignedBytes>(made.plan.bytes.size());
    std::memcpy(converted_->span().data(), made.plan.bytes.data(), made.plan.bytes.size());
    bytes_ = converted_->span();
    warnings_ = std::move(made.warnings);
  }
  Diagnostic diagnostic;
  const Result<PlanInfo> info = plan_info(bytes_, &diagnostic);
  if (!info.ok()) {
    throw Error(fmt::format("{}: {}", path.string(), describe_text(diagnostic, bytes_)));
  }
  info_ = info.value();
}

namespace {

std::unique_ptr<AlignedBytes> arena_of(const std::filesystem::path& path, size_t bytes) try {
  return std::make_unique<AlignedBytes>(bytes);
} catch (const std::bad_alloc&) {
  throw Error(fmt::format("{}: the plan needs an arena of {} bytes, more than there is memory",
                          path.string(), bytes),
              "smaller bounds of dimensions make it smaller: --dim, --shape, --bound");
}

std::unique_ptr<OpenPlan> open_on_cpu(std::span<const std::byte> plan, std::span<std::byte> arena,
                                      KernelSet kernels, const SessionOptions& options,
                                      Diagnostic& diagnostic) {
  auto session = Session::open(plan, arena, kernels, options, &diagnostic);
  if (!session.ok()) return nullptr;
  return std::make_unique<OpenPlanOf<Session>>(std::move(session.value()));
}

}  // namespace

Program::Program(const std::filesystem::path& path, const Values& inputs, const Options& options)
    : plan_(path, inputs, options.conversion), arena_(arena_of(path, plan_.info().arena_bytes)) {
  Diagnostic diagnostic;
  SessionOptions session_options;
  session_options.observer = options.observer;
  if (options.force_isa) session_options.isa = options.isa;
  const auto threads =
      std::min<int>(options.conversion.threads, static_cast<int>(plan_.info().threads));
  if (threads > 1) {
    team_ = std::make_unique<ThreadTeam>(threads);
    session_options.parallel = &team_->parallel();
  }
  const converter::OperatorLibrary& library = options.conversion.operators();
  session_options.services = library.services();
  const bool on_device = uses_device() && options.open_on_device != nullptr;
  if (on_device && options.observer != nullptr) {
    throw Error("nodes on a device run as one graph, without their results or times one by one",
                "leave out --dump or --per-node, or convert without --device");
  }
  session_ = (on_device ? options.open_on_device : &open_on_cpu)(
      plan(), arena_->span(), library.kernels(), session_options, diagnostic);
  if (session_ == nullptr) {
    const bool lacks = diagnostic.code == Code::kMissingKernel;
    throw Error(fmt::format("{}: {}", path.string(), describe_text(diagnostic, plan())),
                lacks ? fmt::format("{}; {}", converter::kWhereOperatorsComeFrom,
                                    converter::kWherePythonOperatorsComeFrom)
                      : "");
  }
}

Program::~Program() = default;

std::string Program::failure() const {
  return describe_text(session_->diagnostic(), plan());
}

int Program::find_entry(const std::string& name) const {
  if (name.empty()) return 0;
  const Result<int> found = session_->find_entry(name);
  if (found.ok()) return found.value();
  std::vector<std::string> names;
  const PlanText text(plan());
  for (const plan::Entry* each : *text.root().entries()) names.push_back(shown_name(each->name()));
  throw Error(fmt::format("the plan has no entry point '{}'", name),
              fmt::format("it has {}", fmt::join(names, ", ")));
}

Values Program::completed(const Values& given, int entry) const {
  std::mt19937 random(1);
  Values values = given;
  const auto* inputs =
      PlanText(plan()).root().entries()->Get(static_cast<uint32_t>(entry))->inputs();
  for (int i = 0; i < session_->input_count(entry); ++i) {
    const Port port = session_->input_port(i, entry).value();
    if (values.count(std::string(port.name)) != 0) continue;
    const uint32_t slot = inputs->Get(static_cast<uint32_t>(i))->slot();
    const std::optional<Constant> checked = checked_value(plan(), slot);
    values[std::string(port.name)] = checked ? *checked : random_value(port.tensor, random);
  }
  return values;
}

bool Program::checks_values() const {
  const PlanText text(plan());
  for (uint32_t i = 0; i < text.node_count(); ++i) {
    if (checks_value(text, i)) return true;
  }
  return false;
}

std::vector<int> Program::runs_for(int entry) const {
  const PlanText text(plan());
  const uint32_t before = text.root().entries()->Get(static_cast<uint32_t>(entry))->continues();
  std::vector<int> runs;
  if (before != kNone && before != static_cast<uint32_t>(entry)) {
    runs.push_back(static_cast<int>(before));
  }
  runs.push_back(entry);
  return runs;
}

Values Program::inputs_among(const Values& values, int entry) const {
  Values found;
  for (int i = 0; i < session_->input_count(entry); ++i) {
    const auto value = values.find(std::string(session_->input_port(i, entry).value().name));
    if (value != values.end()) found.insert(*value);
  }
  return found;
}

void Program::require_inputs(const Values& values, const std::vector<int>& entries) const {
  std::vector<std::string_view> names;
  for (const int entry : entries) {
    for (int i = 0; i < session_->input_count(entry); ++i) {
      names.push_back(session_->input_port(i, entry).value().name);
    }
  }
  for (const auto& [name, value] : values) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw Error(fmt::format("the plan has no input '{}'", name),
                fmt::format("its inputs are {}", fmt::join(names, ", ")));
  }
}

void Program::set_inputs(const Values& values, int entry) {
  for (const auto& [name, value] : values) {
    require_inputs({{name, value}}, {entry});
    const Result<int> index = session_->find_input(name, entry);
    const TensorView planned = session_->input_port(index.value(), entry).value().tensor;
    if (planned.type != value.type) {
      throw Error(fmt::format("input '{}' takes {}, the given values are {}", name,
                              data_type_name(planned.type), data_type_name(value.type)));
    }
    const std::vector<int32_t> extents(value.extents.begin(), value.extents.end());
    if (Status status = session_->resize_input(index.value(), extents, entry); !status) {
      throw Error(fmt::format("input '{}' with extents {}: {}", name,
                              converter::extents_text(value.extents), failure()));
    }
    const TensorView tensor = session_->input_port(index.value(), entry).value().tensor;
    const std::vector<std::byte> bytes = converter::with_strings(value, [&](std::string_view text) {
      if (text.empty()) return StringRef();
      const Result<StringRef> added = session_->add_string(text, entry);
      if (!added.ok()) {
        throw Error(fmt::format("strings of input {}: {}", index.value(), failure()));
      }
      return added.value();
    });
    if (!bytes.empty()) std::memcpy(tensor.data, bytes.data(), bytes.size());
  }
}

void Program::run(int entry) {
  if (Status status = session_->run(entry); !status) throw Error(failure());
}

std::vector<std::pair<std::string, Constant>> Program::outputs(int entry) const {
  std::vector<std::pair<std::string, Constant>> results;
  for (int i = 0; i < session_->output_count(entry); ++i) {
    const Port port = session_->output_port(i, entry).value();
    results.emplace_back(port.name, constant_of(port.tensor, [this](StringRef string) {
                           return session_->string(string);
                         }));
  }
  return results;
}

}  // namespace intarsia::tool
