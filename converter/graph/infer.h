// SPDX-License-Identifier: Apache-2.0
//
// Inference of types and extents: one pass in execution order.
//
// A node whose inputs are all constant is executed, its results are known (`Value::known`; `fold`
// makes constants of them); integer tensors that are computed from extents (Shape -> Gather ->
// Concat -> Reshape) are followed symbolically; an If whose condition is decided is replaced by its
// branch. Every value has a type and extents, as expressions over the model's symbols, each with a
// bound or an error that names the option that gives one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "converter/graph/evaluate.h"
#include "converter/graph/graph.h"
#include "converter/progress.h"
#include "core/definitions/kernel_descriptor.h"
#include "core/definitions/symbolic_shape.h"
#include "intarsia/session.h"

namespace intarsia::converter {

/// What folding and the trial execution may cost, so that a small model cannot use up the machine:
/// a node that would go beyond stays in the plan, or has no bounds from the trial.
struct FoldingLimits {
  /// Bytes of all results, beyond eight times those of the model's own constants.
  int64_t bytes = int64_t{1} << 28;
  /// Elementary steps of all nodes that are executed, as `work_of` counts them.
  double steps = 3e10;
};

struct InferenceOptions {
  /// Declared bounds of extents that depend on values, by tensor name (`--bound`).
  std::map<std::string, std::vector<int64_t>, std::less<>> bounds;
  /// Values of inputs for a trial execution: it gives the bounds that nothing else tells, and has
  /// no other effect on the model.
  std::map<std::string, Constant> probe;
  /// Most trips of loops whose count nothing tells, by the node's name (`--max-trips`).
  std::map<std::string, int64_t, std::less<>> max_trips;
  /// What kernels may ask of the host program while they are executed.
  std::span<const Service> services;
  FoldingLimits limits = {};
  Progress* progress = nullptr;  ///< Of the stage that the nodes of the main graph are.
};

/// A node that contradicts its specification at the extents it is given. In a branch that is not
/// certain to run, this becomes a node that fails when it is reached.
class ContradictionError : public Error {
 public:
  using Error::Error;
};

/// A node that would do if an operand had another extent.
class ExtentError : public Error {
 public:
  ExtentError(Problem problem, const Diagnostic& diagnostic)
      : Error(std::move(problem)), diagnostic_(diagnostic) {}
  const Diagnostic& diagnostic() const { return diagnostic_; }

 private:
  Diagnostic diagnostic_;
};

/// What is known of a value, and of a node's inputs, as shape functions and rules of facts take it.
definitions::SymbolicInput symbolic_input(const Value* value);
std::vector<definitions::SymbolicInput> symbolic_inputs(const Node& node);
/// The same without expressions: numbers and symbols stay, anything else is an unknown within its
/// bounds, equal ones the same. For where expressions would become too large.
std::vector<definitions::SymbolicInput> shortened(std::vector<definitions::SymbolicInput> inputs,
                                                  const definitions::SymbolTable& symbols);
/// The one element of a tensor of integers, if it is known.
std::optional<definitions::Dim> known_scalar(const Value& value);
/// The elements that data propagation has found, as a constant if every one is known.
std::optional<Constant> propagated_constant(const Value& value);

/// True if both have the same extents; false where those of one are not known.
bool same_extents(const Value& a, const Value& b);

/// What is true of the extents in both branches of an If, which have one rank.
Shape<definitions::Dim> joined_shape(const Shape<definitions::Dim>& a,
                                     const Shape<definitions::Dim>& b);
/// Fails if an input of a node with sub-graphs is there and is not one element in any run.
void require_single(const Node& node, int input);

class Inference {
 public:
  /// `rows` execute what is folded; they must outlive the object.
  Inference(Model& model, const definitions::KernelRows& rows, InferenceOptions options)
      : model_(model), rows_(rows), options_(std::move(options)) {}

  /// Infers the whole model. Throws Error with every problem found in the first graph that has one.
  void run();

  /// Infers the outputs of one node that a pass has made. The node is not folded.
  void infer_outputs(Node& node);
  /// The same, and executes a node of constants, so that the pass `fold` finds the results.
  void infer_and_execute(Node& node);

 private:
  void infer_graph(Graph& graph);
  /// Infers the outputs of a node from what is known of its inputs.
  void infer_outputs(Node& node, const std::vector<definitions::SymbolicInput>& inputs);
  void visit(Node* node);
  void visit_if(Node* node);
  void take_branch(Node* node, size_t branch);
  /// Infers these nodes, at the end of each branch.
  void infer_branches(Node* node, const std::vector<std::vector<Node*>>& nodes);
  void join_branches(Node* node);
  /// The If in the node's own graph that decides the rank of something that the node reads; null if
  /// all ranks are known.
  Node* open_rank_of(const Node& node) const;
  void move_into_branches(Node* branches, Node* reader);
  /// At the end of a graph: fails if the rank of one of its outputs is open.
  void settle_ranks(Graph& graph);
  void require_rank(const Node& branches) const;
  void visit_loop(Node* node);
  void visit_scan(Node* node);
  void visit_sequence_map(Node* node);
  void visit_expansion(Node* node);
  /// Puts casts around a node and infers them and it, where a rule of its operator wants that.
  bool compute_in_others(Node& node);
  /// Lets what a node takes out of a sequence be the value that was put in, where that is known;
  /// the node is gone then.
  bool take_members(Node& node);
  void execute_if_constant(Node& node);
  bool afford(const Node& node, const std::vector<const Constant*>& inputs,
              const std::vector<OutputPlan>& outputs, bool by_values);
  void check_types(const Node& node) const;
  void apply_bounds(Value& value) const;
  void settle_open_extents(const Node& node, const std::vector<definitions::SymbolicInput>& inputs,
                           std::vector<definitions::SymbolicOutput>& outputs) const;
  Shape<definitions::Dim> declared_shape(const Value& value,
                                         const definitions::SymbolicOutput& inferred) const;
  bool try_node(const Node& node);
  void bound_by_trial(const Node& node);
  void join_trials(const Node& node);
  /// What the value is in the trial, or always; null if that is not known.
  const Constant* tried(const Value* value) const;
  bool tries() const { return !options_.probe.empty(); }
  friend class LoopInference;
  friend class LoopCollections;
  friend class Rewriting;
  friend class LoopTrial;

  Model& model_;
  const definitions::KernelRows& rows_;
  InferenceOptions options_;
  /// Nodes of loops that may still be inferred on trial: loops in loops multiply them.
  int64_t loop_nodes_left_ = 1'000'000;
  /// An If has results whose rank its condition decides.
  bool has_open_ranks_ = false;
  /// Nodes that may still move into branches, where they double.
  int64_t moved_nodes_left_ = 20'000;
  /// Copies of bodies that are being inferred; what they lack the loop itself may still be given.
  int copies_ = 0;
  /// What is left of the limits.
  FoldingLimits left_;
};

}  // namespace intarsia::converter
