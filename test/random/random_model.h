// SPDX-License-Identifier: Apache-2.0
//
// A random model: what it computes, what its tensors are in each of its runs, and its ONNX form.
//
// A run is a choice of the symbolic dimensions together with values of all inputs. The values of
// every other tensor come from the reference kernels, node by node, so that any tensor can be made
// an input (shrink.h) and every output has an expected value.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "converter/convert.h"
#include "core/definitions/definition.h"
#include "test/random/sizes.h"

namespace intarsia::test {

using converter::Constant;
using definitions::Dim;
using definitions::OperatorDefinition;

struct RandomTensor {
  enum Kind : uint8_t { kInput, kConstant, kResult };
  std::string name;
  Kind kind = kResult;
  DataType type = DataType::kUndefined;
  Shape<Dim> shape;
  /// The same as shape rules see it, with what shape arithmetic knows of the elements.
  definitions::SymbolicInput seen;
  /// Per run.
  std::vector<Constant> values;
  /// Per run, by how much an element may be off; 0 if it must be right to the bit.
  std::vector<double> errors;
  /// Of a result, as `--bound` gives them; empty where shape rules bound all extents.
  std::vector<int64_t> bounds = {};
  int uses = 0;
  /// Computed from a convolution or a transposition.
  bool behind_layout = false;
};

/// True if an extent is 0. Such a tensor has no symbolic extents if it is an input.
bool has_zero(const RandomTensor& tensor);

struct RandomNode;

/// A sub-graph. That of a loop has inputs, which are tensors of their own.
struct RandomBranch {
  std::vector<RandomNode> nodes;
  std::vector<int> inputs = {}, outputs = {};
};

struct RandomNode {
  const OperatorDefinition* op = nullptr;
  definitions::AttributeMap attributes;
  /// Tensors by number; -1 where an operand is absent.
  std::vector<int> inputs, outputs;
  /// In the order of the definition's `graphs`.
  std::vector<RandomBranch> branches;
};

struct RandomModel {
  uint64_t seed = 0;
  const Sizes* sizes = &kSmallSizes;
  std::unique_ptr<definitions::SymbolTable> symbols = std::make_unique<definitions::SymbolTable>();
  /// Per run, the values of the symbols. The first two are at the maxima.
  std::vector<std::vector<int64_t>> runs;
  std::vector<RandomTensor> tensors;
  std::vector<RandomNode> nodes;
  std::vector<int> outputs;
  /// Most trips of loops that nothing else bounds, by the node's name.
  std::map<std::string, int64_t, std::less<>> max_trips;

  const RandomTensor& tensor(int index) const { return tensors[static_cast<size_t>(index)]; }
  RandomTensor& tensor(int index) { return tensors[static_cast<size_t>(index)]; }
  /// Inputs that some node reads, in their order.
  std::vector<int> used_inputs() const;
  size_t node_count() const;
};

/// True if an input can have this shape: constants and single symbols.
bool fits_input(const RandomModel& model, const RandomTensor& tensor);

/// The name that a node has in the file: its first result's.
std::string node_name(const RandomModel& model, const RandomNode& node);

/// A copy; symbols are shared by number with a table of its own.
RandomModel copy_of(const RandomModel& model);

/// The model as ONNX has it, in operator set `opset`.
std::string onnx_bytes(const RandomModel& model, int opset = converter::kNewestOpset);

/// Range of every symbol, as `--dim` gives them, and bounds of what only values tell.
void set_extents(const RandomModel& model, converter::ConvertOptions& options);

/// Writes DIRECTORY/model.onnx and the inputs of one run, and returns the command that repeats it.
std::string write_model(const RandomModel& model, const std::string& directory, size_t run);

/// Writes DIRECTORY/model.onnx and, for each run, run_<run>/NAME.pb with the elements of every
/// tensor that has them but constants, and errors.txt with what each of them may be off by.
void write_case(const RandomModel& model, const std::string& directory, int opset);

}  // namespace intarsia::test
