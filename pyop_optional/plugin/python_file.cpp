// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/plugin/python_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "pyop_optional/host/buffer.h"
#include "pyop_optional/plugin/pyop_definition.h"

namespace intarsia::pyop {
namespace {

using definitions::AttributeMap;
using definitions::AttributeValue;
using definitions::Parameter;
using definitions::TypeSet;

using Operand = PythonOperand;
using Attribute = PythonAttribute;

[[noreturn]] void fail(const std::string& file, const std::string& text) {
  throw Failure(Code::kInvalidValue, kOperator, file + ": " + text);
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

Operand parse_operand(const std::string& text, const std::string& file) {
  Operand operand;
  const size_t colon = text.find(':');
  operand.name = trimmed(text.substr(0, colon));
  if (!operand.name.empty() && operand.name.back() == '?') {
    operand.optional = true;
    operand.name.pop_back();
  }
  if (operand.name.empty()) fail(file, "the operand '" + text + "' has no name");
  operand.variable = operand.name;
  if (colon == std::string::npos) return operand;
  std::string rest = text.substr(colon + 1);
  size_t types = 0, names = 0;
  for (size_t begin = 0; begin <= rest.size(); ++names) {
    const size_t end = std::min(rest.find('|', begin), rest.size());
    const std::string name = trimmed(rest.substr(begin, end - begin));
    const DataType type = type_named(name);
    if (type != DataType::kUndefined) {
      operand.types |= definitions::types({type});
      ++types;
    } else {
      operand.variable = name;
    }
    begin = end + 1;
  }
  // Either types, or one variable.
  if (operand.variable.empty() || (types != names && names != 1)) {
    fail(file, "the operand '" + text +
                   "' has a type that does not exist; types are written such "
                   "as float32, several separated by |, or one letter for 'the same type'");
  }
  return operand;
}

std::vector<Operand> read_operands(PyObject* object, const char* list, const std::string& file) {
  const Ref names = checked(PyObject_GetAttrString(object, list), kOperator);
  if (PyList_Check(names.get()) == 0 && PyTuple_Check(names.get()) == 0) {
    fail(file, std::string(list) + " must be a list of strings");
  }
  std::vector<Operand> operands;
  const Py_ssize_t count = PySequence_Size(names.get());
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Ref name = checked(PySequence_GetItem(names.get(), i), kOperator);
    if (PyUnicode_Check(name.get()) == 0) {
      fail(file, std::string(list) + " must be a list of strings");
    }
    operands.push_back(parse_operand(utf8(name.get()), file));
  }
  return operands;
}

/// A number or text as an attribute's value; a list takes its kind from its first element.
AttributeValue value_of(PyObject* object, const std::string& where, const std::string& file) {
  if (PyLong_Check(object) != 0) return int64_t{PyLong_AsLongLong(object)};
  if (PyFloat_Check(object) != 0) return static_cast<float>(PyFloat_AsDouble(object));
  if (PyUnicode_Check(object) != 0) return utf8(object);
  const bool sequence = PyList_Check(object) != 0 || PyTuple_Check(object) != 0;
  const Py_ssize_t count = sequence ? PySequence_Size(object) : 0;
  std::vector<AttributeValue> elements;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Ref element = checked(PySequence_GetItem(object, i), kOperator);
    elements.push_back(value_of(element.get(), where, file));
    if (elements.back().index() > 2 || elements.back().index() != elements.front().index()) {
      fail(file, where + " must be a list of numbers or strings of one kind");
    }
  }
  if (!sequence) fail(file, where + " is " + kind_of(object) + ", which no attribute can be");
  if (elements.empty()) return std::vector<int64_t>();
  return std::visit(
      [&elements](const auto& first) -> AttributeValue {
        using T = std::decay_t<decltype(first)>;
        if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, float> ||
                      std::is_same_v<T, std::string>) {
          std::vector<T> list;
          for (const AttributeValue& element : elements) list.push_back(std::get<T>(element));
          return list;
        } else {
          return first;
        }
      },
      elements.front());
}

std::map<std::string, Attribute> read_attributes(PyObject* object, const std::string& file) {
  std::map<std::string, Attribute> result;
  const Ref declared = Ref::take(PyObject_GetAttrString(object, "attributes"));
  if (!declared) {
    PyErr_Clear();
    return result;
  }
  if (PyDict_Check(declared.get()) == 0) {
    fail(file, "attributes must be a dict of names and defaults");
  }
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t place = 0;
  while (PyDict_Next(declared.get(), &place, &name, &value) != 0) {
    const std::string key = utf8(name);
    const std::string where = "attribute '" + key + "'";
    Attribute& attribute = result[key];
    const auto* type = reinterpret_cast<PyTypeObject*>(value);
    attribute.required = type == &PyLong_Type || type == &PyFloat_Type || type == &PyUnicode_Type;
    if (type == &PyLong_Type) attribute.value = int64_t{};
    if (type == &PyFloat_Type) attribute.value = float{};
    if (type == &PyUnicode_Type) attribute.value = std::string();
    if (!attribute.required) attribute.value = value_of(value, where, file);
    if (PyErr_Occurred() != nullptr) throw_exception(kOperator);
  }
  return result;
}

const char* kind_name(const AttributeValue& value) {
  static constexpr const char* kKinds[std::variant_size_v<AttributeValue>] = {
      "an integer",       "a float",           "a string", "a list of integers",
      "a list of floats", "a list of strings", "a tensor"};
  return kKinds[value.index()];
}

/// The node's attributes with the defaults of those that it leaves out.
std::string complete(const std::map<std::string, Attribute>& declared, const AttributeMap& given,
                     AttributeMap& result) {
  for (const auto& [name, value] : given) {
    const auto known = declared.find(name);
    if (known == declared.end()) return "attribute \"" + name + "\" is unknown to the operator";
    const bool empty_list = value.index() >= 3 && known->second.value.index() >= 3 &&
                            std::visit(
                                [](const auto& list) {
                                  if constexpr (requires { list.empty(); })
                                    return list.empty();
                                  else
                                    return false;
                                },
                                known->second.value);
    if (value.index() != known->second.value.index() && !empty_list) {
      return "attribute \"" + name + "\" must be " + kind_name(known->second.value) + ", but is " +
             kind_name(value);
    }
    result[name] = value;
  }
  for (const auto& [name, attribute] : declared) {
    if (given.find(name) != given.end()) continue;
    if (attribute.required) return "attribute \"" + name + "\" is required";
    result[name] = attribute.value;
  }
  return "";
}

std::string text_attribute(PyObject* object, const char* name) {
  const Ref text = Ref::take(PyObject_GetAttrString(object, name));
  if (!text) PyErr_Clear();
  return utf8(text.get());
}

bool has_forward(PyObject* object) {
  return PyObject_HasAttrString(object, "forward") != 0 &&
         PyObject_HasAttrString(object, "inputs") != 0 &&
         PyObject_HasAttrString(object, "outputs") != 0;
}

/// True of a class that derives from intarsia_operators.Function.
bool is_function(PyObject* object) {
  if (PyType_Check(object) == 0) return false;
  const Ref module = checked(PyImport_ImportModule("intarsia_operators"), kOperator);
  const Ref function = checked(PyObject_GetAttrString(module.get(), "Function"), kOperator);
  const int derives = PyObject_IsSubclass(object, function.get());
  checked(derives, kOperator);
  return derives == 1;
}

/// Formulas name gradients so; an operand of such a name would be taken for one.
void require_distinct(const std::vector<Operand>& inputs, const std::vector<Operand>& outputs,
                      const std::string& file) {
  for (const Operand& output : outputs) {
    for (const Operand& input : inputs) {
      if (input.name != "d" + output.name) continue;
      fail(file, "the input '" + input.name + "' has the name of the gradient of the output '" +
                     output.name + "'; one of them needs another name");
    }
  }
}

/// Imports without leaving files of bytecode: they would be new ones in the user's folder, and
/// Python takes them for current if a source changes within a second and keeps its length.
Ref import_from_source(const std::string& module) {
  const Ref before = Ref::share(PySys_GetObject("dont_write_bytecode"));
  checked(PySys_SetObject("dont_write_bytecode", Py_True), kOperator);
  Ref imported = Ref::take(PyImport_ImportModule(module.c_str()));
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PySys_SetObject("dont_write_bytecode", before ? before.get() : Py_False);
  PyErr_Restore(type, value, traceback);
  return imported;
}

/// Python keeps modules by name: one that has been read before is as its file was then. Executes
/// the file again in it if that has changed since. Null: an exception is pending.
Ref follow_source(Ref module, const std::string& file) {
  constexpr const char* kSource = "__intarsia_source__";
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const Ref source = checked(
      PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())), kOperator);
  const Ref known = Ref::take(PyObject_GetAttrString(module.get(), kSource));
  if (!known) PyErr_Clear();
  if (known && PyObject_RichCompareBool(known.get(), source.get(), Py_NE) == 1) {
    const Ref loader = checked(PyObject_GetAttrString(module.get(), "__loader__"), kOperator);
    const Ref code = Ref::take(
        PyObject_CallMethod(loader.get(), "source_to_code", "Os", source.get(), file.c_str()));
    if (!code) return {};
    PyObject* names = PyModule_GetDict(module.get());
    if (!Ref::take(PyEval_EvalCode(code.get(), names, names))) return {};
  }
  checked(PyObject_SetAttrString(module.get(), kSource, source.get()), kOperator);
  return module;
}

}  // namespace

void PythonFiles::read(const std::string& module, const std::string& file,
                       std::vector<definitions::OperatorDefinition>& rows) {
  if (module.find('.') != std::string::npos) {
    fail(file, "its name has a dot more than that of .py, and Python takes '" + module +
                   "' for a module inside a package; give the file another name");
  }
  PyObject* standard = PySys_GetObject("stdlib_module_names");
  if (standard != nullptr && PySet_Contains(standard, python_text(module).get()) == 1) {
    fail(file, "Python's standard library has a module '" + module +
                   "', which the file would hide from every other module; give it another name");
  }
  const std::string raised = file + ": importing it raised an exception\n";
  Ref imported = import_from_source(module);
  if (!imported) throw take_exception(kOperator, raised);
  const std::string loaded = text_attribute(imported.get(), "__file__");
  std::error_code ignored;
  if (!std::filesystem::equivalent(file, loaded, ignored)) {
    fail(file, "Python has loaded another module '" + module + "'" +
                   (loaded.empty() ? "" : " from " + loaded) +
                   ", and knows modules by name; give the file another name");
  }
  imported = follow_source(std::move(imported), file);
  if (!imported) throw take_exception(kOperator, raised);
  const size_t before = rows.size();
  if (has_forward(imported.get())) add(imported.get(), {file, module, ""}, rows);
  const Ref names = checked(PyObject_Dir(imported.get()), kOperator);
  const Py_ssize_t count = PyList_Size(names.get());
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyList_GetItem(names.get(), i);
    const Ref member = checked(PyObject_GetAttr(imported.get(), name), kOperator);
    if (PyType_Check(member.get()) == 0 || !has_forward(member.get())) continue;
    if (text_attribute(member.get(), "__module__") != module) continue;  // imported from elsewhere
    add(member.get(), {file, module, utf8(name)}, rows);
  }
  if (rows.size() == before) {
    fail(file,
         "defines no operator: neither the file nor a class in it has inputs, outputs and "
         "forward");
  }
}

void PythonFiles::add(PyObject* object, const Source& source,
                      std::vector<definitions::OperatorDefinition>& rows) {
  const std::string where =
      source.file + (source.class_name.empty() ? "" : ", class " + source.class_name);
  const std::vector<Operand> inputs = read_operands(object, "inputs", where);
  const std::vector<Operand> outputs = read_operands(object, "outputs", where);
  if (outputs.empty()) fail(where, "outputs is empty; an operator has at least one");

  std::string name = text_attribute(object, "name");
  std::string domain = text_attribute(object, "domain");
  if (name.empty()) name = source.class_name.empty() ? source.module : source.class_name;
  if (const size_t colons = name.find("::"); colons != std::string::npos) {
    domain = name.substr(0, colons);
    name.erase(0, colons + 2);
  }
  const std::map<std::string, Attribute> attributes = read_attributes(object, where);
  Operation forward{domain, name, "forward", inputs, outputs};
  forward.gradient = text_attribute(object, "gradient");
  if (is_function(object)) {
    forward.convention = Convention::kFunction;
    add_context(forward);
  }
  if (PyObject_HasAttrString(object, "backward") != 0) {
    if (!forward.gradient.empty()) {
      fail(where, "has both backward and gradient; they say the same thing, so one has to go");
    }
    require_distinct(inputs, outputs, where);
    const Operation backward = backward_of(forward);
    forward.gradient = call_of(backward, attributes);
    rows.push_back(row(backward, source, attributes));
  }
  rows.push_back(row(forward, source, attributes));
}

void PythonFiles::add_context(Operation& forward) {
  std::string name = "context";
  const auto is_taken = [&name](const std::vector<Operand>& operands) {
    return std::any_of(operands.begin(), operands.end(), [&name](const Operand& operand) {
      return operand.name == name || "d" + operand.name == name;
    });
  };
  while (is_taken(forward.inputs) || is_taken(forward.outputs)) name += '_';
  forward.outputs.push_back({name, true, name, definitions::types({DataType::kInt64})});
}

PythonFiles::Operation PythonFiles::backward_of(const Operation& forward) {
  Operation backward{forward.domain, forward.name + "_backward", "backward", forward.inputs, {}};
  backward.convention = Convention::kBackward;
  const auto gradient_of = [](Operand operand) {
    operand.name = "d" + operand.name;
    return operand;
  };
  auto first = forward.outputs.begin(), last = forward.outputs.end();
  const bool has_context = forward.convention == Convention::kFunction;
  if (has_context)
    backward.inputs.push_back(*--last);
  else
    backward.inputs.insert(backward.inputs.end(), first, last);
  for (; first != last; ++first) backward.inputs.push_back(gradient_of(*first));
  for (const Operand& input : forward.inputs) {
    backward.outputs.push_back(gradient_of(input));
    backward.outputs.back().optional = true;  // it is left out where nobody asks for it
  }
  return backward;
}

std::string PythonFiles::call_of(const Operation& backward, const Attributes& attributes) {
  const auto join = [](const auto& list, const auto& text_of) {
    std::string text;
    for (const auto& each : list) text += (text.empty() ? "" : ", ") + text_of(each);
    return text;
  };
  const auto name_of = [](const Operand& operand) { return operand.name; };
  const std::string given =
      join(attributes, [](const auto& each) { return each.first + " = @" + each.first; });
  return join(backward.outputs, name_of) + " = " +
         (backward.domain.empty() ? "" : backward.domain + ":") + backward.name +
         (given.empty() ? "" : "<" + given + ">") + "(" + join(backward.inputs, name_of) + ")";
}

definitions::OperatorDefinition PythonFiles::row(const Operation& operation, const Source& source,
                                                 const Attributes& attributes) {
  definitions::OperatorDefinition definition = python_definition(shapes_);
  definition.domain = keep(operation.domain);
  definition.name = keep(operation.name);
  definition.facts.gradient_formula = keep(operation.gradient);

  NodeAttributes node;
  node.convention = operation.convention;
  node.module = source.module;
  node.class_name = source.class_name;
  node.method = operation.method;
  functions_.insert(node.function());
  const auto add_operand = [&](const Operand& operand, std::vector<Parameter>& parameters,
                               std::vector<DataType>& types) {
    const std::string_view variable = keep(operand.variable);
    parameters.push_back({keep(operand.name), variable,
                          operand.optional ? Parameter::kOptional : Parameter::kRequired});
    DataType only = DataType::kUndefined;
    for (uint8_t type = 1; type <= kLastDataType; ++type) {
      if (operand.types == definitions::types({static_cast<DataType>(type)})) {
        only = static_cast<DataType>(type);
      }
    }
    const auto known = std::find_if(definition.types.begin(), definition.types.end(),
                                    [&](const auto& each) { return each.variable == variable; });
    if (operand.types != 0 && known == definition.types.end()) {
      definition.types.push_back({variable, operand.types});
    }
    types.push_back(only);
  };
  const std::vector<Operand>&inputs = operation.inputs, &outputs = operation.outputs;
  for (const Operand& input : inputs) add_operand(input, definition.inputs, node.inputs);
  for (const Operand& output : outputs) add_operand(output, definition.outputs, node.outputs);

  definition.attributes.read = [node, attributes](const AttributeMap& given,
                                                  std::vector<std::byte>& blob) {
    NodeAttributes complete_node = node;
    std::string problem = complete(attributes, given, complete_node.values);
    if (problem.empty()) blob = complete_node.encode();
    return problem;
  };
  if (operation.convention == Convention::kBackward) {
    // Nobody is asked, nor reads the gradient of an input that is not there.
    definition.infer = [](definitions::SymbolicShapeContext& context) {
      Status status;
      for (int i = 0; status.ok() && i < context.output_count(); ++i) {
        status = context.has_input(i) ? context.set_output(i, context.type(i), context.shape(i))
                                      : context.set_output(i, DataType::kFloat, {});
      }
      return status;
    };
    return definition;
  }
  // Outputs of a type variable have the type of the input that shares it.
  std::vector<int> same_as(outputs.size(), -1);
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (outputs[i].variable == inputs[j].variable && same_as[i] < 0) {
        same_as[i] = static_cast<int>(j);
      }
    }
  }
  definition.infer = [this, same_as](definitions::SymbolicShapeContext& context) {
    if (Status status = shapes_.infer(context); !status) return status;
    for (int i = 0; i < context.output_count(); ++i) {
      const int input = same_as[static_cast<size_t>(i)];
      if (input < 0 || !context.has_input(input)) continue;
      const definitions::SymbolicOutput& known = context.outputs()[static_cast<size_t>(i)];
      if (known.type != DataType::kUndefined) continue;
      if (Status status = context.set_output_type(i, context.type(input)); !status) return status;
    }
    return Status();
  };
  return definition;
}

}  // namespace intarsia::pyop
