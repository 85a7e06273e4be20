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
//     def backward(args): x, y, dy = args; return (y > 0) * dy    # optional: the gradients of the
//                                        # inputs, from inputs, outputs and the outputs' gradients
//     gradient = "dx = Mul(y, dy)"       # or in other operators:
//     converter/graph/gradient_formula.h
//
// Classes with `inputs`, `outputs` and `forward` are operators too, named after the class; methods
// take the place of the functions. `infer`, `forward` and `backward` may leave the second parameter
// out.
//
// A class may derive from `Function` of the module intarsia_operators: its `forward` leaves in a
// context what its `backward` reads. The operator has one output more, the number of the context,
// which nobody sees and its `backward` takes: so a node finds the context of its own forward node,
// however often nodes are copied.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/definitions/definition.h"
#include "pyop_optional/host/node_attributes.h"
#include "pyop_optional/plugin/shape_inference.h"

namespace intarsia::pyop {

/// An operand as it is written: "NAME", "NAME?", "NAME: TYPE|TYPE", "NAME: VARIABLE".
struct PythonOperand {
  std::string name;
  bool optional = false;
  std::string variable;
  definitions::TypeSet types = 0;  ///< 0: any type.
};

/// An attribute: its default, or only its kind where it is required.
struct PythonAttribute {
  definitions::AttributeValue value;
  bool required = false;
};

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
  /// What a function or method computes.
  struct Operation {
    std::string domain, name, method;
    std::vector<PythonOperand> inputs, outputs;
    std::string gradient = {};  ///< converter/graph/gradient_formula.h
    Convention convention = Convention::kForward;
  };
  using Attributes = std::map<std::string, PythonAttribute>;

  void add(PyObject* object, const Source& source,
           std::vector<definitions::OperatorDefinition>& rows);
  /// Adds the output that is the number of a context.
  static void add_context(Operation& forward);
  /// The gradients of the inputs, from the inputs, the outputs (or the context) and the outputs'
  /// gradients.
  static Operation backward_of(const Operation& forward);
  /// The rule that calls it.
  static std::string call_of(const Operation& backward, const Attributes& attributes);
  definitions::OperatorDefinition row(const Operation& operation, const Source& source,
                                      const Attributes& attributes);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  const ShapeInference& shapes_;
  std::set<std::string> functions_;
  std::deque<std::string> texts_;  // what the definitions refer to
};

}  // namespace intarsia::pyop
