// SPDX-License-Identifier: Apache-2.0
//
// What the plan stores of a Python operator's node: which Python object to call and how, its
// operands, and its attributes with their types.
//
// Stored as a stream of bytes without alignment, so that no struct has to describe lists of values
// of mixed types. `decode` believes nothing: the plan may come from outside the program. No Python
// here; the converter's plug-in encodes, the kernel decodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/definitions/definition.h"
#include "intarsia/python_kernel.h"

namespace intarsia::pyop {

/// How the operator wants to be called.
enum class Convention : uint8_t {
  /// PyOp: attributes are keywords of the constructor; `method(*inputs)`.
  kCompute = 0,
  /// Defined in Python, or declared in C++: no arguments for the constructor; `method(inputs)` or
  /// `method(inputs, attributes)`.
  kForward = 1,
  /// The same; result i is the gradient of input i, and None is 0.
  kBackward = 2,
  /// The same; the object returns the results and the number of a context, which is the last output
  /// (`Function` of the module intarsia_operators).
  kFunction = 3,
};

struct NodeAttributes {
  Convention convention = Convention::kCompute;
  std::string module;
  std::string class_name;  ///< "" if the method is a function of the module.
  std::string method;
  /// Operands as declared; a node may leave out the last ones. kUndefined: any type.
  std::vector<DataType> inputs, outputs;
  definitions::AttributeMap values;

  /// What it calls, as entry points are written: "module:Class.method", "module:function".
  std::string function() const;
  /// Those of an operator that is declared in C++; its tensors' memory stays the plan's.
  static NodeAttributes of(const KernelContext& context, const internal::PythonCallee& callee);

  std::vector<std::byte> encode() const;
  /// Nothing if the bytes are damaged.
  static std::optional<NodeAttributes> decode(std::span<const std::byte> bytes);
};

/// What is wrong with an attribute that Python cannot have, a tensor of another type than operands
/// may be; "" of all others.
std::string problem_of(const std::string& name, const definitions::AttributeValue& value);

}  // namespace intarsia::pyop
