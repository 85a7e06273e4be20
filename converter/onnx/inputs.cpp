// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>

#include "converter/graph/sequence.h"
#include "converter/onnx/npy.h"

namespace intarsia::converter {
namespace {

using definitions::Dim;
using definitions::SymbolTable;

Value* find_input(Model& model, const std::string& name, std::string_view option) {
  for (Value* input : model.graph->inputs()) {
    if (input->name == name) return input;
  }
  throw Error(fmt::format("{}: the model has no input '{}'", option, name),
              fmt::format("its inputs are {}", names_of(model.graph->inputs())));
}

/// Number of the symbol that an axis of an input consists of, or -1.
int symbol_of(const Model& model, const Dim& extent) {
  const std::vector<int> used = extent.symbols();
  return used.size() == 1 && model.symbols->dim(used[0]) == extent ? used[0] : -1;
}

/// The symbol that `--dim` names: by its own name, or as INPUT@AXIS.
int find_symbol(Model& model, const std::string& name) {
  if (const int symbol = model.symbols->find(name); symbol >= 0) return symbol;
  const size_t at = name.rfind('@');
  if (at != std::string::npos) {
    const std::string axis_text = name.substr(at + 1);
    int axis = -1;
    const auto parsed =
        std::from_chars(axis_text.data(), axis_text.data() + axis_text.size(), axis);
    const Value* input = find_input(model, name.substr(0, at), "--dim");
    if (parsed.ec == std::errc() && input->shape && axis >= 0 && axis < input->shape->rank) {
      const int symbol = symbol_of(model, (*input->shape)[axis]);
      if (symbol >= 0) return symbol;
      throw Error(fmt::format("--dim {}: that extent is fixed in the model", name));
    }
  }
  std::vector<std::string> names;
  for (int i = 0; i < model.symbols->size(); ++i) names.push_back((*model.symbols)[i].name);
  throw Error(fmt::format("--dim: the model has no symbolic dimension '{}'", name),
              names.empty() ? std::string("it has none at all")
                            : fmt::format("it has {}", fmt::join(names, ", ")));
}

/// True if the model uses the name for extents of results, and of no input.
bool names_result(const Model& model, const std::string& name) {
  bool found = false;
  for_each_value(*model.graph, [&](Value& value) {
    if (!value.declared) return;
    for (const DeclaredExtent& extent : *value.declared) found |= extent.symbol == name;
  });
  return found && model.symbols->find(name) < 0;
}

void substitute_everywhere(Model& model, const std::function<Dim(int)>& replace) {
  for_each_value(*model.graph, [&](Value& value) {
    if (!value.shape) return;
    for (int axis = 0; axis < value.shape->rank; ++axis) {
      (*value.shape)[axis] = (*value.shape)[axis].substitute(replace);
    }
  });
}

void fix_symbol(Model& model, int symbol, int64_t extent, std::string_view option) {
  SymbolTable::Symbol& entry = (*model.symbols)[symbol];
  if (entry.min == entry.max && entry.max != extent) {
    throw Error(fmt::format("{} gives dimension '{}' the extent {}, another option gives it {}",
                            option, entry.name, extent, entry.max));
  }
  entry.min = entry.max = extent;
}

/// What an input that is a sequence may hold: what is given on trial, or else what its type,
/// --shape (of each element, at most) and --max-length say. From that follow its bytes, at most.
void bound_sequence(Model& model, Value& input, const ConvertOptions& options) {
  auto type = std::make_shared<definitions::SequenceType>(*input.sequence);
  const auto given = options.probe.find(input.name);
  const auto length = options.max_lengths.find(input.name);
  const auto shape = options.shapes.find(input.name);
  if (length != options.max_lengths.end()) type->count = Dim::unknown(0, length->second);
  if (given != options.probe.end() && given->second.type == input.type &&
      length == options.max_lengths.end()) {
    input.sequence = sequence_type(given->second);
    return;  // the bytes are fixed with the extents of what is given
  }
  if (shape != options.shapes.end() && input.type == DataType::kMap) {
    throw Error(
        fmt::format("--shape {}: the input is a map, whose values are single elements", input.name),
        fmt::format("give the number of its entries with --max-length {}=N", input.name));
  }
  if (shape != options.shapes.end() && !holds_elements(type->type)) {
    type->shape.emplace();
    for (int64_t extent : shape->second) type->shape->push(Dim::unknown(0, extent));
  }
  const int64_t most = sequence_bytes(*type).upper();
  if (most > INT32_MAX) {
    throw Error(Problem{
        input.name, "",
        fmt::format("nothing says how long this {} may be", data_type_name(input.type)),
        input.type == DataType::kMap
            ? fmt::format("give the number of its entries with --max-length {}=N", input.name)
            : fmt::format("give the number of its elements with --max-length {}=N, and "
                          "their largest extents with --shape {}=EXTENTS",
                          input.name, input.name)});
  }
  input.sequence = type;
  (*model.symbols)[symbol_of(model, (*input.shape)[0])].max = most;
}

/// `option` is what gives the extents.
void apply_shape(Model& model, Value& input, const std::vector<int64_t>& extents,
                 const std::string& option) {
  for (int64_t extent : extents) {
    if (extent < 0 || extent > INT32_MAX) throw Error(option + ": extents lie in 0 to 2147483647");
  }
  if (!input.shape) {
    input.shape.emplace();
    for (int64_t extent : extents) input.shape->push(extent);
    return;
  }
  if (input.shape->rank != static_cast<int>(extents.size())) {
    throw Error(fmt::format("{}: the input has rank {}", option, input.shape->rank));
  }
  for (int axis = 0; axis < input.shape->rank; ++axis) {
    const Dim& planned = (*input.shape)[axis];
    const int64_t extent = extents[static_cast<size_t>(axis)];
    if (const int symbol = symbol_of(model, planned); symbol >= 0) {
      fix_symbol(model, symbol, extent, option);
    } else if (is_constant(planned) && constant_value(planned) != extent) {
      throw Error(
          fmt::format("{}: axis {} is {} in the model", option, axis, constant_value(planned)));
    }
  }
}

bool is_list(const std::string& text) {
  return text.starts_with('[') && text.ends_with(']');
}

/// The elements that `text` lists in brackets, or the one that it is.
std::vector<std::string> elements_in(const std::string& text) {
  if (!is_list(text)) return {text};
  std::vector<std::string> elements;
  for (size_t begin = 1; begin < text.size() - 1;) {
    const size_t end = std::min(text.find(',', begin), text.size() - 1);
    const size_t first = std::min(text.find_first_not_of(' ', begin), end);
    elements.push_back(text.substr(first, end - first));
    begin = end + 1;
  }
  return elements;
}

/// One element of the type; nothing if the text is none.
std::optional<Constant> element_of(DataType type, const std::string& text) {
  const auto parse = [&text](auto& number) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  };
  if (type == DataType::kInt64) {
    // Beyond 2^53 a double would not hold the value that was written.
    int64_t integer = 0;
    if (!parse(integer)) return std::nullopt;
    return Constant::scalar<int64_t>(integer);
  }
  double number = text == "true" ? 1 : 0;
  if (text != "true" && text != "false" && !parse(number)) return std::nullopt;
  return Constant::scalar_of(type, number);
}

/// The extents of a value for `input` that is written as so many elements, or as one for all.
std::vector<int64_t> written_extents(const Value& input, bool list, size_t count,
                                     const std::string& option) {
  const bool open = !input.shape || (input.shape->rank == 1 && !is_constant((*input.shape)[0]));
  if (list && open) return {static_cast<int64_t>(count)};
  std::vector<int64_t> extents;
  for (int axis = 0; input.shape && axis < input.shape->rank; ++axis) {
    if (!is_constant((*input.shape)[axis])) {
      throw Error(fmt::format("{}: axis {} of the input varies", option, axis),
                  "fix its extents with --shape, or give a .npy file");
    }
    extents.push_back(constant_value((*input.shape)[axis]));
  }
  return extents;
}

/// `text` as a constant for `input`: a number for all elements, a list of all in brackets, or the
/// contents of a .npy file.
Constant written_value(const Value& input, const std::string& text, const std::string& option) {
  if (text.size() > 4 && text.ends_with(".npy")) {
    Constant constant = read_npy(text);
    if (constant.type != input.type) {
      throw Error(fmt::format("{}: the file holds {}, the input is {}", option,
                              data_type_name(constant.type), data_type_name(input.type)));
    }
    return constant;
  }
  const std::vector<std::string> elements = elements_in(text);
  const bool list = is_list(text);
  std::vector<int64_t> extents = written_extents(input, list, elements.size(), option);
  std::vector<std::byte> bytes;
  const int64_t count =
      std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies());
  if (list && count != static_cast<int64_t>(elements.size())) {
    throw Error(
        fmt::format("{}: lists {} elements, the input has {}", option, elements.size(), count));
  }
  for (const std::string& written : elements) {
    const std::optional<Constant> element = element_of(input.type, written);
    if (!element) {
      throw Error(
          fmt::format("{}: '{}' is no {}; expected a number, a list of them such as [1,2], "
                      "or a file that ends in .npy",
                      option, written, data_type_name(input.type)));
    }
    for (int64_t i = 0; i < (list ? 1 : count); ++i) {
      bytes.insert(bytes.end(), element->bytes().begin(), element->bytes().end());
    }
  }
  return Constant::own(input.type, std::move(extents), std::move(bytes));
}

/// Makes the model one for this value of the input: what reads it reads a constant, and a node
/// checks what a run is given.
void apply_value(Model& model, Value& input, Constant value) {
  Graph& graph = *model.graph;
  Value* expected = graph.add_constant(graph.unique_name(input.name + "_value"), std::move(value));
  Graph::replace_uses(&input, expected);
  Value* const operands[] = {&input, expected};
  Node* first = graph.nodes().empty() ? nullptr : graph.nodes().front().get();
  Node* check = graph.add_node(definitions::kInternalDomain, "ValueCheck", input.name + "_check",
                               operands, 0, first);
  check->resolve_as(
      *definitions::OperatorRegistry::builtin().find(definitions::kInternalDomain, "ValueCheck"));
}

/// The values of `--value`, whose extents become those of their inputs.
std::vector<std::pair<Value*, Constant>> read_values(Model& model, const ConvertOptions& options) {
  std::vector<std::pair<Value*, Constant>> values;
  for (const auto& [name, given] : options.values) {
    Value* input = find_input(model, name, "--value");
    const auto* text = std::get_if<std::string>(&given);
    const std::string option =
        text != nullptr ? fmt::format("--value {}={}", name, *text) : "--value " + name;
    if (options.fixed.contains(name)) {
      throw Error(option + ": --fix takes the same input away", "give one of them");
    }
    if (element_bits(input->type) % 8 != 0 || input->type == DataType::kString ||
        holds_elements(input->type)) {
      throw Error(fmt::format("{}: the input holds {}; numbers and truth values can be given so",
                              option, data_type_name(input->type)));
    }
    Constant value =
        text != nullptr ? written_value(*input, *text, option) : std::get<Constant>(given);
    if (value.type != input->type) {
      throw Error(fmt::format("{}: the value holds {}, the input is {}", option,
                              data_type_name(value.type), data_type_name(input->type)));
    }
    apply_shape(model, *input, value.extents, option);
    values.emplace_back(input, std::move(value));
  }
  return values;
}

void require_ranges(const Model& model) {
  std::vector<Problem> problems;
  std::vector<int> reported;
  for (const Value* input : model.graph->inputs()) {
    if (!input->shape) {
      problems.push_back({input->name, "", "the model does not say the rank of this input",
                          fmt::format("give its extents with --shape {}=EXTENTS", input->name)});
      continue;
    }
    for (int axis = 0; axis < input->shape->rank; ++axis) {
      const int symbol = symbol_of(model, (*input->shape)[axis]);
      if (symbol < 0 || (*model.symbols)[symbol].max != definitions::kInfinite) continue;
      if (std::find(reported.begin(), reported.end(), symbol) != reported.end()) continue;
      reported.push_back(symbol);
      const std::string& name = (*model.symbols)[symbol].name;
      problems.push_back(
          {input->name, "",
           fmt::format("axis {} is the symbolic dimension '{}', which has no maximum", axis, name),
           fmt::format("add --dim {}=MAX, or --shape {}=EXTENTS", name, input->name)});
    }
  }
  if (!problems.empty()) throw Error(std::move(problems));
}

}  // namespace

void apply_input_options(Model& model, const ConvertOptions& options) {
  for (const auto& [name, length] : options.max_lengths) {
    if (!holds_elements(find_input(model, name, "--max-length")->type)) {
      throw Error(fmt::format("--max-length {}={}: the input is no sequence", name, length));
    }
  }
  for (Value* input : model.graph->inputs()) {
    if (input->sequence != nullptr) bound_sequence(model, *input, options);
  }
  for (const auto& [name, extents] : options.shapes) {
    Value* input = find_input(model, name, "--shape");
    const bool elements = input->sequence != nullptr && options.probe.count(name) == 0;
    if (elements) continue;
    apply_shape(model, *input, extents,
                fmt::format("--shape {}={}", name, fmt::join(extents, "x")));
  }
  std::map<int, int> same_as;
  for (const auto& [name, range] : options.dims) {
    if (const auto* other = std::get_if<std::string>(&range)) {
      const int symbol = find_symbol(model, name);
      same_as[symbol] = find_symbol(model, *other);
      continue;
    }
    const auto& limits = std::get<DimRange>(range);
    if (limits.min < 0 || limits.max < limits.min || limits.max > INT32_MAX) {
      throw Error(fmt::format("--dim {}: {}..{} is not a range within 0..2147483647", name,
                              limits.min, limits.max));
    }
    if (names_result(model, name)) continue;  // declared_bounds
    const int symbol = find_symbol(model, name);
    if (limits.min == limits.max) {
      fix_symbol(model, symbol, limits.max, fmt::format("--dim {}", name));
    } else {
      (*model.symbols)[symbol].min = limits.min;
      (*model.symbols)[symbol].max = limits.max;
    }
  }
  const auto settled = [&](int symbol) -> Dim {
    for (int hops = 0; same_as.count(symbol) != 0; ++hops) {
      if (hops > model.symbols->size()) {
        throw Error(
            fmt::format("--dim: '{}' is equated with itself", (*model.symbols)[symbol].name));
      }
      symbol = same_as.at(symbol);
    }
    const SymbolTable::Symbol& entry = (*model.symbols)[symbol];
    return entry.min == entry.max ? Dim(entry.max) : model.symbols->dim(symbol);
  };
  substitute_everywhere(model, settled);
  auto values = read_values(model, options);
  if (!values.empty()) substitute_everywhere(model, settled);
  for (const auto& [name, text] : options.fixed) {
    Value* input = find_input(model, name, "--fix");
    input->constant = written_value(*input, text, fmt::format("--fix {}={}", name, text));
    model.graph->remove_input(input);
  }
  for (auto& [input, value] : values) apply_value(model, *input, std::move(value));
  require_ranges(model);
}

Bounds declared_bounds(const Model& model, const ConvertOptions& options) {
  Bounds bounds = options.bounds;
  for_each_value(*model.graph, [&](Value& value) {
    if (!value.declared) return;
    std::vector<int64_t> limits;
    bool bounded = false;
    for (const DeclaredExtent& extent : *value.declared) {
      const auto named = options.dims.find(extent.symbol);
      const auto* range =
          named != options.dims.end() ? std::get_if<DimRange>(&named->second) : nullptr;
      const bool here = range != nullptr && model.symbols->find(extent.symbol) < 0;
      limits.push_back(here ? range->max : definitions::kInfinite);
      bounded |= here;
    }
    if (bounded) bounds.emplace(value.name, std::move(limits));
  });
  return bounds;
}

void apply_layouts(Model& model, const ConvertOptions& options) {
  for (const auto& [name, layout] : options.layouts) {
    const std::string option = fmt::format("--layout {}={}", name, layout);
    Value* input = find_input(model, name, option);
    if (layout != "nhwc") throw Error(option + ": the only layout is nhwc");
    if (!input->shape || input->shape->rank < 3) throw Error(option + ": the input is no image");
    const int rank = input->shape->rank;
    std::vector<int64_t> order{0, rank - 1};
    for (int axis = 1; axis < rank - 1; ++axis) order.push_back(axis);
    Shape<Dim> last = *input->shape;
    for (int axis = 2; axis < rank; ++axis) last[axis - 1] = (*input->shape)[axis];
    last[rank - 1] = (*input->shape)[1];
    input->shape = last;

    Value* const inputs[] = {input};
    Node* first = model.graph->nodes().empty() ? nullptr : model.graph->nodes().front().get();
    Node* node = model.graph->add_node("", "Transpose", model.graph->unique_name(name + "_nchw"),
                                       inputs, 1, first);
    Graph::replace_uses_if(input, node->outputs[0],
                           [node](const Use& use) { return use.node != node; });
    node->attributes["perm"] = order;
    node->resolve_as(*definitions::OperatorRegistry::builtin().find("", "Transpose"));
  }
}

}  // namespace intarsia::converter
