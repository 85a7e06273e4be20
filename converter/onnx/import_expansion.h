// SPDX-License-Identifier: Apache-2.0
//
// What inlining functions may make of a model: each call is a copy of the function's body, so a
// small file could become nodes, operands and names without bound. Tensors do not count: all calls
// share them.
#pragma once

#include <cstdint>
#include <string>

#include "converter/onnx/onnx.pb.h"

namespace intarsia::converter {

/// Counts what is imported and throws Error, naming the node, where a limit is passed.
class Expansion {
 public:
  /// Real models stay far below: the largest known have some ten thousand nodes.
  static constexpr int64_t kMaxNodes = 250'000;
  /// Operands, names in scope and attributes of all nodes, graphs and calls.
  static constexpr int64_t kMaxOperands = 8'000'000;
  /// Bytes of names and attributes that are copied for the calls.
  static constexpr int64_t kMaxCopiedBytes = int64_t{1} << 28;
  /// Names inside of a function stand behind those of its calls; a longer one loses its beginning.
  static constexpr size_t kMaxName = 512;

  /// A node, with its names; those outside of functions are bounded by the file.
  void add(const onnx::NodeProto& node, bool in_function);
  /// A call of `function` by `node`.
  void add(const onnx::FunctionProto& function, const onnx::NodeProto& node);
  void add(const onnx::GraphProto& graph);
  /// Bytes of an attribute of `node`, which stands in a function.
  void add_copied(size_t bytes, const onnx::NodeProto& node);

  /// `name` behind `prefix`, cut to kMaxName.
  static std::string scoped(const std::string& prefix, const std::string& name);

 private:
  void add_operands(int64_t count, const onnx::NodeProto* node);

  int64_t nodes_ = 0;
  int64_t operands_ = 0;
  int64_t copied_bytes_ = 0;
};

}  // namespace intarsia::converter
