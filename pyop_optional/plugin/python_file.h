// SPDX-License-Identifier: Apache-2.0
//
// Operators that are defined in a Python file (`--operators FILE.py`): definition, shape function
// and kernel, and nothing else to write or to build.
//
//     # user_relu.py: the module itself is an operator
//     name = "user_relu"                 # or "domain::user_relu"; by default the file's name
//     inputs = ["x: float32|float64"]    # "NAME", "NAME?" (optional), "NAME: TYPE|TYPE...",
//     outputs = ["y"]                    #   "NAME: T" (the type of the other operands with T)
//     attributes = {"slope": 0.0}        # name and default; a type makes it required
//
//     def infer(inputs, attributes): return inputs[0]             # optional
//
//     def forward(inputs, attributes): (x,) = inputs; return (x > 0) * x
//
// Classes with `inputs`, `outputs` and `forward` are operators too, named after the class; methods
// take the place of the functions. `infer` and `forward` may leave the second parameter out.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "core/definitions/definition.h"
#include "pyop_optional/plugin/shape_inference.h"

namespace intarsia::pyop {

class PythonFiles {
 public:
  explicit PythonFiles(const ShapeInference& shapes) : shapes_(shapes) {}

  /// Imports the file, whose folder is in the search path, and adds its definitions. Needs the GIL.
  /// Throws Failure.
  void read(const std::string& module, const std::string& file,
            std::vector<definitions::OperatorDefinition>& rows);

  /// NodeAttributes::function of everything that was read.
  const std::set<std::string>& functions() const { return functions_; }

 private:
  struct Source {
    std::string file, module, class_name;
  };
  void add(PyObject* object, const Source& source,
           std::vector<definitions::OperatorDefinition>& rows);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  const ShapeInference& shapes_;
  std::set<std::string> functions_;
  std::deque<std::string> texts_;  // what the definitions refer to
};

}  // namespace intarsia::pyop
