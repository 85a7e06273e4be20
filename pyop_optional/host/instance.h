// SPDX-License-Identifier: Apache-2.0
//
// One node's operator: the Python object that a node calls, and the call.
//
// The kernel keeps one for as long as a session is open; the converter's plug-in makes one to ask
// for shapes. All functions need the GIL and throw Failure.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pyop_optional/host/loan.h"
#include "pyop_optional/host/node_attributes.h"
#include "pyop_optional/host/python.h"
#include "pyop_optional/host/result.h"

namespace intarsia::pyop {

/// What of Python every instance needs.
struct Tools {
  Ref buffer_type;
  // Empty where numpy is not installed.
  Ref as_array;     ///< numpy.asarray
  Ref scalar_type;  ///< numpy.generic
  Ref make_array;   ///< numpy.array
  /// Failures carry what operators raise.
  bool keep_exceptions = false;

  static Tools make();
  /// A buffer as operators see it: a numpy array, or a memoryview.
  Ref shown(PyObject* buffer) const;
};

/// Type and extents of a tensor, as a shape function sees or says them.
struct TensorDescription {
  DataType type = DataType::kUndefined;  ///< kUndefined: absent, or left open.
  std::vector<int64_t> extents;
};

/// What Failure::what_failed says of everything that an operator does.
inline constexpr const char* kOperator = "Python operator";
inline constexpr const char* kMemory = "memory for Python";

/// True if a function takes a second argument.
bool takes_two(PyObject* function);

class Instance {
 public:
  /// Imports the module, constructs the class and finds the method. `wanted`: which outputs
  /// somebody reads, all of them if it is empty; an object that has an attribute `wanted_outputs`
  /// is told.
  Instance(const Tools& tools, NodeAttributes attributes, std::vector<bool> wanted = {});

  const NodeAttributes& attributes() const { return attributes_; }

  /// Calls the operator, and `take` for each of its results that is wanted, in their order. `types`
  /// are those that Python numbers become.
  void call(std::span<const TensorView> inputs, const Characters& characters,
            std::span<const DataType> types,
            const std::function<void(int output, const ResultTensor& result)>& take);

  /// True once native code that the operator calls has kept an address of an input: the memory must
  /// stay what it is for ever.
  bool keeps_memory() const { return keeps_memory_; }

  /// What the operator's own shape function says of its outputs: `infer_shape(*shapes)` of a PyOp,
  /// `infer(inputs)` or `infer(inputs, attributes)` of an operator defined in Python. Nothing if it
  /// has none.
  std::optional<std::vector<TensorDescription>> infer(
      std::span<const TensorDescription> inputs) const;

 private:
  Ref lookup_class(Ref module) const;
  Ref lookup(PyObject* object, const std::string& name, const char* kind) const;
  /// Calls a function of an operator defined in Python; null with an exception on failure.
  Ref call_with_attributes(const Ref& function, const Ref& inputs, bool attributes) const;
  [[noreturn]] void fail_exception(const std::string& function) const;
  std::vector<Ref> results_of(Ref returned, std::span<const DataType> types) const;
  bool is_wanted(size_t output) const { return wanted_.empty() || wanted_[output]; }

  const Tools& tools_;
  NodeAttributes attributes_;
  std::vector<bool> wanted_;
  Ref object_;  // an instance of the class, or the module
  Ref method_;
  bool wants_attributes_ = false;
  bool keeps_inputs_ = false;  // has once, and gets copies since
  bool keeps_memory_ = false;
  Ref dictionary_;  // the attributes as Python values
};

}  // namespace intarsia::pyop
