// SPDX-License-Identifier: Apache-2.0
//
// The converter's API: from an ONNX model to a plan.
//
// `convert` imports the model, converts versions, infers shapes, applies the passes (passes.h) and
// writes the plan. Nothing it throws leaves it, but for what `progress` throws: failure is a
// `ConversionFailure` whose text names every problem found. Not for concurrent use of one
// ConvertOptions; otherwise free of state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "converter/emit/plan_writer.h"
#include "converter/graph/graph.h"
#include "converter/graph/infer.h"
#include "converter/graph/kernel_selection.h"
#include "converter/memory/storage.h"
#include "converter/passes/passes.h"
#include "converter/plugin/extension.h"
#include "converter/progress.h"
#include "core/definitions/kernel_descriptor.h"

namespace intarsia::converter {

/// Range of a symbolic dimension.
struct DimRange {
  int64_t min = 1;
  int64_t max = 1;
};

/// What converting may cost at most, however hostile the model is. A model beyond a limit is still
/// converted if that is possible: less is folded, the arena may be less tight.
struct ConversionLimits {
  FoldingLimits folding;
  /// Elementary steps of the memory planner's searches: for places, and for an order of nodes.
  int64_t planner_steps = StorageOptions().planner_steps;
};

/// The options of `intarsia convert`, see `intarsia convert --help`.
///
/// Where a plan has several entry points, "ENTRY:NAME" is a dimension, an input, an output, a
/// tensor or a node of one of them; a name alone is that of every entry point that has it.
struct ConvertOptions {
  /// `--dim NAME=MAX` and friends: symbol, or "INPUT@AXIS", to range or to another symbol.
  std::map<std::string, std::variant<DimRange, std::string>> dims;
  /// `--shape INPUT=1x3x224x224`.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// `--fix INPUT=VALUE|[VALUE,...]|FILE.npy`.
  std::map<std::string, std::string> fixed;
  /// `--value INPUT=...`, as written there, or the value itself: the plan is made for this value.
  /// The input stays, and a run with another value fails.
  std::map<std::string, std::variant<std::string, Constant>> values;
  /// `--bound TENSOR=EXTENTS`.
  std::map<std::string, std::vector<int64_t>, std::less<>> bounds;
  /// `--max-trips NODE=N`.
  std::map<std::string, int64_t, std::less<>> max_trips;
  /// `--max-length INPUT=N`: the most elements of an input that is a sequence.
  std::map<std::string, int64_t> max_lengths;
  /// `--max-string N`: the most bytes of a string, on average over those that inputs hold and nodes
  /// make in a run.
  int64_t max_string = kDefaultMaxString;
  /// `--state OUTPUT=INPUT`, by output. An initialiser as INPUT is what the state begins with.
  /// Inputs of one name are one state, whichever entry point has them.
  std::map<std::string, std::string> states;
  /// `--gradient OUTPUT=INPUT,...`: the plan gets an entry point that computes the gradients of the
  /// output by the inputs, and by everything trainable (converter/backward.h).
  struct GradientRequest {
    std::string output;
    std::vector<std::string> inputs;
  };
  std::vector<GradientRequest> gradients;
  /// `--trainable NAME`: an initialiser that becomes a state, which begins with its values. A `*`
  /// at the end stands for any end: all floating-point initialisers whose names begin so.
  std::vector<std::string> trainable;
  /// `--layout INPUT=nhwc`.
  std::map<std::string, std::string> layouts;
  /// Values of inputs, by name, with which the model is executed on trial to find bounds that
  /// nothing else tells. They are never folded into the plan, but for a few integers or truth
  /// values on which the form of a node depends: these are taken as `values`, with a warning.
  std::map<std::string, Constant> probe;
  /// `--seed`: what nodes draw that have no seed of their own.
  uint64_t seed = 0;
  int threads = 1;
  /// `--target` and, where it is not the target's own, `--plan-growth` (converter/lower/target.h).
  std::string target = "generic";
  std::optional<double> plan_growth;
  /// `--device`: the CPU alone, or CUDA for every node that has a kernel there.
  enum class Device : uint8_t { kCpu, kCuda } device = Device::kCpu;
  /// `--precision`: what float32 tensors are stored as, where there are kernels for it
  /// (converter/passes/halves.h). Inputs, outputs and states stay float32.
  enum class Precision : uint8_t { kFloat32, kFloat16 } precision = Precision::kFloat32;
  bool strip_names = false;
  /// Models may name the converter's own operators, which other models become: for tests.
  bool own_operators = false;
  /// The passes to apply, in this order: all of them, a prefix (none: the model as imported), or a
  /// list of the caller's, which must outlive the conversion.
  std::span<const Pass> passes = optimisation_passes();
  ConversionLimits limits;
  /// Told how far the conversion is.
  ProgressListener progress;
  /// Operators and kernels to choose from (`--operators`); null: those that come with Intarsia.
  std::shared_ptr<const OperatorLibrary> library;

  const OperatorLibrary& operators() const {
    return library != nullptr ? *library : builtin_library();
  }
};

/// A named input, output or state, with its planned extents.
struct PortSummary {
  std::string name;
  DataType type = DataType::kUndefined;
  std::vector<int64_t> extents;
  /// Per axis the text of the symbolic extent; empty where it is fixed.
  std::vector<std::string> symbols;
};

struct EntrySummary {
  std::string name;
  std::vector<PortSummary> inputs, outputs;
};

struct Conversion {
  PlanFile plan;
  std::vector<EntrySummary> entries;
  std::vector<PortSummary> states;
  std::vector<std::string> warnings;
  bool varying = false;
};

/// Why there is no plan: one line per problem.
struct ConversionFailure {
  std::vector<Problem> problems;
  std::string text() const;
};

using ConversionResult = std::variant<Conversion, ConversionFailure>;

/// An input of a model: what a file has to hold that is given for it.
struct ModelInput {
  std::string name;
  DataType type = DataType::kUndefined;
};

/// The model's inputs, without those that have an initialiser. Throws Error.
std::vector<ModelInput> model_inputs(const std::filesystem::path& model);

/// The entry point of a model that is not given a name; of one whose gradients are asked for.
inline constexpr const char* kMainEntry = "main";
inline constexpr const char* kForwardEntry = "forward";

/// A model of a plan with several entry points.
struct EntrySource {
  std::string name;
  std::filesystem::path file;
  std::span<const std::byte> bytes = {};  ///< The model itself, where `file` is empty.
};

/// The plan has one entry point, kMainEntry.
ConversionResult convert_file(const std::filesystem::path& model, const ConvertOptions& options);
ConversionResult convert_bytes(std::span<const std::byte> model, const ConvertOptions& options);
/// One plan of several models: an entry point each, over one arena and one weights segment.
ConversionResult convert_entries(std::span<const EntrySource> entries,
                                 const ConvertOptions& options);

}  // namespace intarsia::converter
