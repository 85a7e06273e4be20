// SPDX-License-Identifier: Apache-2.0
//
// The converter's intermediate representation: models, graphs, nodes and values.
//
// A graph owns its nodes (in execution order) and its values. A value is one tensor; it is produced
// by a node, or is a graph input, or holds a constant. Nodes refer to values by pointer; a node of
// a sub-graph (a branch of If, a body of Loop) that refers to a value of an enclosing graph
// captures it, with no further record. Every reference to a value, from a node's input at any depth
// or from a graph's output list, is in the value's list of uses, and knows its place there: adding,
// replacing and removing need no search, however many uses a value has.
//
// Not thread-safe. Functions throw `converter::Error`.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "converter/graph/constant.h"
#include "converter/graph/error.h"
#include "core/definitions/definition.h"
#include "core/definitions/dim.h"
#include "core/definitions/registry.h"
#include "intarsia/shape.h"

namespace intarsia::converter {

/// Operator-set version of ai.onnx whose forms the operator definitions describe.
inline constexpr int kNewestOpset = 28;

class Graph;
struct Node;

/// One reference to a value: input `index` of `node`, or, where `node` is null, output `index` of
/// `graph`.
struct Use {
  Node* node = nullptr;
  Graph* graph = nullptr;
  int index = 0;
  friend bool operator==(const Use&, const Use&) = default;
};

/// An extent as a model declares it: a number, the name of a symbol, or neither.
struct DeclaredExtent {
  int64_t value = -1;
  std::string symbol;
};

/// What the trial execution of a model finds of a value.
struct Trial {
  std::optional<Constant> value;
  /// The largest extents that a value inside of a loop had; empty elsewhere.
  std::optional<std::vector<int64_t>> largest;
};

/// One tensor, or a sequence or an optional value: a vector of bytes (intarsia/sequence.h).
struct Value {
  std::string name;
  DataType type = DataType::kUndefined;
  /// Extents; absent until known. An extent is an expression over the model's symbols.
  std::optional<Shape<definitions::Dim>> shape;
  /// What a sequence or an optional value holds; null if that is not known.
  definitions::SequencePointer sequence;
  /// The elements, if the value is a constant. Such a value has no producer.
  std::optional<Constant> constant;
  /// What the model says of the extents (value_info, graph outputs). Inference uses it only for
  /// operators whose results nothing else tells: models in circulation declare wrong extents of
  /// values inside. Those of an output are a promise to the caller, and have to agree.
  std::optional<std::vector<DeclaredExtent>> declared;
  DataType declared_type = DataType::kUndefined;  ///< Has to agree with the inferred one.
  bool declared_as_output = false;                ///< By the main graph.
  /// Elements of a small tensor that is computed from extents (Shape -> Gather -> Concat).
  definitions::Elements elements;
  /// What inference has found the elements of a node's result to be, in every run. The node still
  /// computes them until `fold` takes it away.
  std::optional<Constant> known;
  /// For inference only, which keeps it here so that it goes with the value.
  mutable Trial trial;

  Graph* graph = nullptr;    ///< Owner.
  Node* producer = nullptr;  ///< Null for graph inputs and constants.
  int output = 0;            ///< Which output of the producer.
  bool is_input = false;     ///< One of the owner's inputs.
  /// In no particular order. Changed by the two functions below, which Node and Graph call.
  std::vector<Use> uses;
  std::list<std::unique_ptr<Value>>::iterator self;  ///< Place in the owner's list.

  bool is_constant() const { return constant.has_value(); }
  void add_use(const Use& use);
  void remove_use(const Use& use);
};

/// The only node that reads `value`, if it stands in the same graph.
Node* only_reader(const Value* value);

/// Where a use stands in the list of its value.
size_t& use_place(const Use& use);

/// A graph-valued attribute; made by `Graph::adopt`.
struct SubGraph {
  std::string attribute;
  std::unique_ptr<Graph> graph;
};

struct Node {
  /// Null until `resolve` has found the operator.
  const definitions::OperatorDefinition* op = nullptr;
  std::string domain;  ///< "" for ai.onnx.
  std::string type;    ///< "Conv".
  std::string name;    ///< Unique among the model's nodes.
  int version = 0;     ///< Operator-set version that the node's form belongs to.

  /// ONNX attributes as imported, versions converted; read into `attribute_bytes` by `resolve`.
  definitions::AttributeMap attributes;
  /// Tensor-valued attributes.
  std::map<std::string, Constant, std::less<>> tensors;
  /// The operator's attributes struct; empty before `resolve` and for operators without attributes.
  std::vector<std::byte> attribute_bytes;
  /// Graph-valued attributes; after `resolve` in the order of the definition's `graphs`.
  std::vector<SubGraph> graphs;

  std::vector<Value*> inputs;   ///< Null where an optional input is absent. Change by `set_input`.
  std::vector<Value*> outputs;  ///< Null where an optional output is absent.
  std::vector<size_t> use_places;  ///< `use_place` of the inputs.

  /// Of a loop: the most trips that inference knows of.
  int64_t most_trips = definitions::kInfinite;

  Graph* graph = nullptr;                           ///< Owner.
  std::list<std::unique_ptr<Node>>::iterator self;  ///< Place in the owner's list.

  /// The attributes struct. REQUIRES: resolved, and A is the operator's.
  template <class A>
  A& typed() {
    return *reinterpret_cast<A*>(attribute_bytes.data());
  }
  template <class A>
  const A& typed() const {
    return *reinterpret_cast<const A*>(attribute_bytes.data());
  }
  bool is(std::string_view operator_type, std::string_view operator_domain = "") const {
    return type == operator_type && domain == operator_domain;
  }
  /// The same, of a node that a pass may put into another one, or another one into it.
  bool fuses_as(std::string_view operator_type, std::string_view operator_domain = "") const {
    return is(operator_type, operator_domain) && (op == nullptr || !op->has_replacement);
  }
  /// "Conv" or "com.microsoft:Inverse".
  std::string qualified_type() const { return domain.empty() ? type : domain + ":" + type; }
  Value* input(int index) const {
    return index < static_cast<int>(inputs.size()) ? inputs[static_cast<size_t>(index)] : nullptr;
  }
  Value* output(int index) const {
    return index < static_cast<int>(outputs.size()) ? outputs[static_cast<size_t>(index)] : nullptr;
  }
  /// Replaces input `index` (null: absent), growing the list as needed, and keeps the uses in step.
  void set_input(int index, Value* value);
  /// Drops inputs from `count` on.
  void truncate_inputs(int count);
  /// Gives output `index` a value, which nobody uses, if it is absent.
  void complete_output(int index);
  /// Drops absent operands at the end of both lists.
  void trim();
  /// Makes this a node of `definition`: reads the attributes into `attribute_bytes`. Returns "" or
  /// what is wrong with them.
  std::string resolve_as(const definitions::OperatorDefinition& definition);
  /// A problem at this node, to be thrown or collected.
  Problem problem(std::string message, std::string hint = {}) const;

  const definitions::AttributeValue* attribute(std::string_view attribute_name) const;
  /// The attribute's value or the default; throws if it has another type.
  int64_t integer(std::string_view attribute_name, int64_t fallback) const;
  float real(std::string_view attribute_name, float fallback) const;
  std::string text(std::string_view attribute_name, std::string_view fallback) const;
  std::vector<int64_t> integers(std::string_view attribute_name) const;
  std::vector<float> reals(std::string_view attribute_name) const;
};

class Graph {
 public:
  using NodeList = std::list<std::unique_ptr<Node>>;
  using ValueList = std::list<std::unique_ptr<Value>>;

  explicit Graph(Graph* parent = nullptr, std::string name = {});
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const std::string& name() const { return name_; }
  /// The enclosing graph; null for the main graph.
  Graph* parent() const { return parent_; }
  /// The node whose attribute this graph is; null for the main graph.
  Node* owner() const { return owner_; }
  Graph& root();
  const Graph& root() const { return const_cast<Graph*>(this)->root(); }

  /// Nodes in execution order. Erase and insert by the member functions only.
  const NodeList& nodes() const { return nodes_; }
  /// A copy of the list, for passes that change the graph while they walk it.
  std::vector<Node*> node_list() const;
  const ValueList& values() const { return values_; }
  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }

  /// A value without producer. Names serve messages and options only, but are unique in the model
  /// if made by `unique_name`.
  Value* add_value(std::string value_name);
  Value* add_constant(std::string value_name, Constant constant);
  Value* add_input(std::string value_name);
  /// Takes `value` out of the inputs; it stays as a value (to become a constant, or to be swept).
  void remove_input(Value* value);
  void add_output(Value* value);
  void set_output(int index, Value* value);

  /// Adds a node before `before` (null: at the end) with the given inputs and fresh outputs, named
  /// after the node. The operator-set version is that of `like`, or the newest where `like` is
  /// null.
  Node* add_node(std::string_view domain, std::string_view type, std::string node_name,
                 std::span<Value* const> inputs, int output_count, Node* before = nullptr,
                 const Node* like = nullptr);
  /// Adds a node whose outputs are existing values that lack a producer.
  Node* add_node_for(std::string_view domain, std::string_view type, std::string node_name,
                     std::span<Value* const> inputs, std::span<Value* const> outputs,
                     Node* before = nullptr, const Node* like = nullptr);
  /// Makes `graph` a graph-valued attribute of `node`; its parent is this graph.
  Graph* adopt(Node* node, std::string attribute, std::unique_ptr<Graph> graph);
  /// Removes a node (with its sub-graphs) and those of its outputs that nothing uses any more; the
  /// others lose their producer.
  void remove(Node* node);
  void move_before(Node* node, Node* before);
  /// An inferred Identity at the end of this graph; returns its output. REQUIRES: `value` is
  /// inferred.
  Value* add_copy(Value* value);

  /// Lets everything that refers to `value` refer to `replacement`, at any depth, outputs of graphs
  /// included.
  static void replace_uses(Value* value, Value* replacement);
  /// The same for the uses that `filter` accepts.
  static void replace_uses_if(Value* value, Value* replacement,
                              const std::function<bool(const Use&)>& filter);

  /// Reorders nodes so that producers come first, keeping the given order where possible. Captured
  /// values count as inputs of the node that holds the sub-graph. Sorts nested graphs too. Throws,
  /// naming a node, if there is a cycle.
  void sort();

  /// Moves the nodes and values of `graph`, a graph-valued attribute of one of this graph's nodes,
  /// in front of `before`, its inputs replaced by `arguments`. Returns what its outputs became.
  std::vector<Value*> splice(std::unique_ptr<Graph> graph, std::span<Value* const> arguments,
                             Node* before);

  /// Cuts the graph in two: these nodes, in their order, and the inputs and outputs from
  /// `input_count` and `output_count` on become a graph of their own, without a parent. What it
  /// reads of this one, which must outlive it, is captured as by a sub-graph.
  std::unique_ptr<Graph> cut(std::span<Node* const> nodes, size_t input_count, size_t output_count);

  /// A deep copy under another parent, and of the same owner until it is adopted. Captured values
  /// stay what they are unless `map` names a replacement; on return `map` also has every value of
  /// the copied graphs. Names are copied.
  std::unique_ptr<Graph> clone(Graph* parent, std::unordered_map<const Value*, Value*>& map) const;

  /// Removes values that are neither produced, nor used, nor inputs; here and in nested graphs.
  void sweep();

  /// Calls `visit` for every node here and in nested graphs; a node comes before those of its
  /// sub-graphs. `visit` may change the node and insert before it, not remove it.
  void walk(const std::function<void(Node&)>& visit);
  void walk(const std::function<void(const Node&)>& visit) const;

  /// `wanted` if no value or node of the model had that name yet, else `wanted` with a number.
  std::string unique_name(std::string_view wanted);

  /// First broken invariant (uses out of step, order, owners), or "". For tests and assertions.
  std::string check() const;

 private:
  std::string name_;
  Graph* parent_ = nullptr;
  Node* owner_ = nullptr;
  NodeList nodes_;
  ValueList values_;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
  std::vector<size_t> use_places_;  // of the outputs
  friend size_t& use_place(const Use& use);
  std::unordered_map<std::string, int> taken_names_;  // of the root only
};

/// Calls `visit` for every value that `graph` or a graph nested in it owns.
void for_each_value(Graph& graph, const std::function<void(Value&)>& visit);

/// Calls `visit` for every value that a node needs before it can run: its inputs and what its
/// sub-graphs refer to, those values included that the sub-graphs produce themselves.
void for_each_needed(const Node& node, const std::function<void(const Value*)>& visit);

/// Type and extents of a value or constant. REQUIRES: inferred.
DataType type_of(const Value& value);
Shape<definitions::Dim> shape_of(const Value& value);
/// "[batch,3,224]".
std::string shape_text(const Shape<definitions::Dim>& shape);

/// "x, y": for messages.
std::string names_of(std::span<Value* const> values);

/// True if an extent of the value is an expression over symbols or values.
bool varies(const Value& value);

struct Model {
  /// Symbols of the extents of all values. First, so that it outlives them. Models whose graphs
  /// were one share it.
  std::shared_ptr<definitions::SymbolTable> symbols;
  /// The graph from which `graph` was cut, and whose values its nodes read besides; mostly null.
  std::shared_ptr<Graph> continued;
  std::shared_ptr<Graph> graph;
  /// The operators that the model may use.
  const definitions::OperatorRegistry* operators = &definitions::OperatorRegistry::builtin();
  /// Nodes may name the converter's own as well.
  bool own_operators = false;
  /// Domain ("" for ai.onnx) and operator-set version.
  std::map<std::string, int, std::less<>> opsets;
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, std::string, std::less<>> metadata;
  /// What the user should know although it stops nothing.
  std::vector<std::string> warnings;
};

}  // namespace intarsia::converter
