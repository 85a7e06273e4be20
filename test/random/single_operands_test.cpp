// SPDX-License-Identifier: Apache-2.0
//
// What takes one element and is given two: refused at conversion, or taken. No operator is known
// here by name: of random nodes of all operators, each operand that may have one element gets a
// second one, its equal, so that nothing but the number of elements can be what the run refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "test/random/generator.h"
#include "test/random/plan_runner.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

/// The tensor's first element, `count` times in a tensor of these extents.
Constant repeated(const Constant& tensor, const std::vector<int64_t>& extents, int64_t count) {
  if (tensor.type == DataType::kString) {
    return Constant::strings(extents, std::vector<std::string>(static_cast<size_t>(count),
                                                               std::string(tensor.string(0))));
  }
  const size_t bytes = tensor.size / static_cast<size_t>(tensor.count());
  std::vector<std::byte> elements(bytes * static_cast<size_t>(count));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    std::memcpy(elements.data() + i * bytes, tensor.data.get(), bytes);
  }
  return Constant::own(tensor.type, extents, std::move(elements));
}

/// Elements that can be repeated: at least one, of whole bytes.
bool repeats(const RandomTensor& tensor) {
  return !tensor.values.empty() && tensor.values.front().count() > 0 &&
         element_bits(tensor.type) >= 8 && !holds_elements(tensor.type);
}

void give(RandomTensor& tensor, std::vector<int64_t> extents, int64_t count) {
  tensor.values = {repeated(tensor.values.front(), extents, count)};
  tensor.shape = {};
  for (int64_t extent : extents) tensor.shape.push(extent);
}

/// What came of a model: refused by the converter, refused by the runtime, or a result.
enum class Outcome : uint8_t { kRefused, kFailed, kRan };

class Trials {
 public:
  explicit Trials(const converter::OperatorLibrary& library) : library_(library) {
    options_.passes = {};
  }

  /// The node with all operands from `first` on as single elements, where they can be; those of
  /// which a second element was tried before, of another node of the operator, are left alone.
  void bend(const RandomModel& drawn, size_t first, std::set<std::pair<size_t, bool>>& tried) {
    RandomModel base = copy_of(drawn);
    const std::vector<int> operands = base.nodes.front().inputs;
    for (size_t i = first; i < operands.size(); ++i) {
      if (operands[i] >= 0 && repeats(base.tensor(operands[i]))) {
        give(base.tensor(operands[i]), {}, 1);
      }
    }
    for (const bool varying : {false, true}) {
      std::vector<size_t> open;
      for (size_t i = first; i < operands.size(); ++i) {
        if (operands[i] >= 0 && !tried.contains({i, varying})) open.push_back(i);
      }
      RandomModel model = copy_of(base);
      if (open.empty() || (varying && !vary(model)) || outcome(model) != Outcome::kRan) continue;
      for (size_t i : open) {
        if (lengthen(model, i)) tried.emplace(i, varying);
      }
    }
  }

  int bases = 0, refused = 0;
  std::vector<std::string> failures;

 private:
  /// Makes the first extent of the first operand a symbol, which is what lets operands pass that
  /// `open` would refuse.
  static bool vary(RandomModel& model) {
    RandomTensor& first = model.tensor(model.nodes.front().inputs.front());
    if (first.shape.rank == 0 || constant_value(first.shape[0]) < 2) return false;
    const int64_t extent = constant_value(first.shape[0]);
    first.kind = RandomTensor::kInput;
    model.runs = {{extent}};
    model.symbols->add("N", 1, extent);
    first.shape[0] = model.symbols->dim(0);
    return true;
  }

  /// False if the operand cannot be one element in this model.
  bool lengthen(const RandomModel& model, size_t operand) {
    const int number = model.nodes.front().inputs[operand];
    if (!repeats(model.tensor(number)) || model.tensor(number).values.front().count() != 1) {
      return false;
    }
    for (const auto kind : {RandomTensor::kInput, RandomTensor::kConstant}) {
      RandomModel bent = copy_of(model);
      bent.tensor(number).kind = kind;
      if (outcome(bent) != Outcome::kRan) continue;  // only as the other kind
      ++bases;
      give(bent.tensor(number), {2}, 2);
      const Outcome found = outcome(bent);
      if (found == Outcome::kRefused) ++refused;
      // Two equal axes are wrong by their values, which only the run knows.
      if (found != Outcome::kFailed || error_.find("expected 1, found 2") == std::string::npos)
        continue;
      const std::string error = error_;
      if (fits_with_zero(bent, number)) continue;
      failures.push_back(fmt::format("{}, input {}{}: {}", model.nodes.front().op->qualified_name(),
                                     operand, kind == RandomTensor::kConstant ? ", constant" : "",
                                     error));
    }
    return true;
  }

  /// True if two elements are taken where the second one is 0: lengths whose sum was too much.
  bool fits_with_zero(const RandomModel& bent, int number) {
    RandomModel other = copy_of(bent);
    const Constant& both = other.tensor(number).values.front();
    if (both.type == DataType::kString) return false;
    std::vector<std::byte> elements(both.size);
    std::memcpy(elements.data(), both.data.get(), both.size / 2);
    other.tensor(number).values = {Constant::own(both.type, {2}, std::move(elements))};
    return outcome(other) == Outcome::kRan;
  }

  Outcome outcome(const RandomModel& model) {
    ConvertedPlan plan = convert(model, onnx_bytes(model), options_);
    if (!plan.error.empty()) return Outcome::kRefused;
    PlanRunner runner(model, plan, library_.kernels(), library_.services(), Isa::kPortable);
    error_ = runner.run(0).error;
    return error_.empty() ? Outcome::kRan : Outcome::kFailed;
  }

  const converter::OperatorLibrary& library_;
  converter::ConvertOptions options_;
  std::string error_;
};

/// The node alone, at the extents of the first run; nothing if it has graphs or no tensors.
std::optional<RandomModel> alone(const RandomModel& model, const RandomNode& node) {
  if (!node.branches.empty() || node.inputs.size() < 2 || node.inputs.front() < 0) {
    return std::nullopt;
  }
  RandomModel single = copy_of(model);
  single.nodes = {node};
  single.outputs.clear();
  single.runs = {{}};
  single.symbols = std::make_unique<definitions::SymbolTable>();
  for (RandomTensor& tensor : single.tensors) {
    tensor.values.resize(std::min<size_t>(tensor.values.size(), 1));
    tensor.shape = {};
    for (const Constant& value : tensor.values) {
      for (int64_t extent : value.extents) tensor.shape.push(extent);
    }
    if (tensor.kind == RandomTensor::kResult) tensor.kind = RandomTensor::kInput;
  }
  for (int output : node.outputs) {
    if (output < 0) continue;
    single.tensor(output).kind = RandomTensor::kResult;
    single.outputs.push_back(output);
  }
  for (int input : node.inputs) {
    if (input >= 0 && holds_elements(single.tensor(input).type)) return std::nullopt;
  }
  return single;
}

TEST(SingleOperands, ASecondElementIsRefusedAtConversionOrTaken) {
  constexpr uint64_t kModels = test::kSlowBuild ? 8 : 150;
  const converter::OperatorLibrary& library = converter::builtin_library();
  Trials trials(library);
  std::map<const OperatorDefinition*, std::set<std::pair<size_t, bool>>> tried;
  Coverage coverage;
  for (uint64_t seed = 1; seed <= kModels; ++seed) {
    const RandomModel model = random_model(seed, library, coverage);
    for (const RandomNode& node : model.nodes) {
      const std::optional<RandomModel> single = alone(model, node);
      if (!single) continue;
      for (size_t first = 1; first < node.inputs.size(); ++first) {
        trials.bend(*single, first, tried[node.op]);
      }
    }
  }
  fmt::print("{} operands of one element given two, {} of them refused\n", trials.bases,
             trials.refused);
  for (const std::string& failure : trials.failures) ADD_FAILURE() << failure;
  if (!test::kSlowBuild) {
    EXPECT_GT(trials.bases, 200);
    EXPECT_GT(trials.refused, 50);
  }
}

}  // namespace
}  // namespace intarsia::test
