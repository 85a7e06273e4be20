// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/instance.h"

#include <algorithm>
#include <set>

#include "intarsia/tensor.h"
#include "pyop_optional/host/buffer.h"
#include "pyop_optional/host/loan.h"
#include "pyop_optional/host/strings.h"

namespace intarsia::pyop {
namespace {

Ref python_value(const Tools&, int64_t value) {
  return checked(PyLong_FromLongLong(value), kMemory);
}
Ref python_value(const Tools&, float value) {
  return checked(PyFloat_FromDouble(static_cast<double>(value)), kMemory);
}
Ref python_value(const Tools&, const std::string& value) {
  return python_text(value);
}
Ref python_value(const Tools& tools, const definitions::TensorValue& value) {
  const std::vector<int32_t> extents(value.extents.begin(), value.extents.end());
  if (value.type == DataType::kString) {
    const auto characters = [&value](StringRef string) { return value.text(string); };
    return python_strings(tools,
                          {const_cast<std::byte*>(value.data.get()), extents.data(), value.type,
                           static_cast<uint8_t>(extents.size())},
                          characters);
  }
  const Ref buffer = copy_buffer(tools.buffer_type.get(), value.type, extents,
                                 {value.data.get(), value.size}, true);
  return tools.shown(buffer.get());
}
template <class T>
Ref python_value(const Tools& tools, const std::vector<T>& values) {
  Ref list = checked(PyList_New(static_cast<Py_ssize_t>(values.size())), kMemory);
  for (size_t i = 0; i < values.size(); ++i) {
    checked(PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i),
                           python_value(tools, values[i]).release()),
            kMemory);
  }
  return list;
}

}  // namespace

namespace {

/// Lets go of the variables of the functions that an exception came through, the inputs of the call
/// among them. Those that the exception came of are included.
void forget_variables(PyObject* exception) {
  const Ref module = Ref::take(PyImport_ImportModule("traceback"));
  std::set<PyObject*> seen;
  std::vector<PyObject*> left{exception};
  while (module && !left.empty()) {
    PyObject* each = left.back();
    left.pop_back();
    if (each == nullptr || !seen.insert(each).second) continue;
    const Ref trace = Ref::take(PyException_GetTraceback(each));
    if (trace) Ref::take(PyObject_CallMethod(module.get(), "clear_frames", "O", trace.get()));
    // They live as long as `exception`, which refers to them.
    left.push_back(Ref::take(PyException_GetCause(each)).get());
    left.push_back(Ref::take(PyException_GetContext(each)).get());
  }
  PyErr_Clear();
}

constexpr const char* kWantedOutputs = "wanted_outputs";
constexpr const char* kClass = "class";

}  // namespace

bool takes_two(PyObject* function) {
  const Ref inspect = Ref::take(PyImport_ImportModule("inspect"));
  const Ref signature =
      inspect ? Ref::take(PyObject_CallMethod(inspect.get(), "signature", "O", function)) : Ref();
  const Ref parameters =
      signature ? Ref::take(PyObject_GetAttrString(signature.get(), "parameters")) : Ref();
  const Py_ssize_t count = parameters ? PyObject_Size(parameters.get()) : -1;
  if (count < 0) PyErr_Clear();  // a function of an extension module: it gets the inputs alone
  return count >= 2;
}

Tools Tools::make() {
  Tools tools;
  tools.buffer_type = make_buffer_type();
  const Ref numpy = Ref::take(PyImport_ImportModule("numpy"));
  if (numpy) tools.as_array = Ref::take(PyObject_GetAttrString(numpy.get(), "asarray"));
  if (numpy) tools.make_array = Ref::take(PyObject_GetAttrString(numpy.get(), "array"));
  if (numpy) tools.scalar_type = Ref::take(PyObject_GetAttrString(numpy.get(), "generic"));
  PyErr_Clear();
  return tools;
}

Ref Tools::shown(PyObject* buffer) const {
  if (!as_array) return checked(PyMemoryView_FromObject(buffer), kMemory);
  return checked(PyObject_CallFunctionObjArgs(as_array.get(), buffer, nullptr), kMemory);
}

Instance::Instance(const Tools& tools, NodeAttributes attributes, std::vector<bool> wanted)
    : tools_(tools), attributes_(std::move(attributes)), wanted_(std::move(wanted)) {
  dictionary_ = checked(PyDict_New(), kMemory);
  for (const auto& [name, value] : attributes_.values) {
    if (const std::string problem = problem_of(name, value); !problem.empty()) {
      throw Failure(Code::kUnsupported, kOperator, problem);
    }
    const Ref object =
        std::visit([&tools](const auto& held) { return python_value(tools, held); }, value);
    checked(PyDict_SetItem(dictionary_.get(), python_text(name).get(), object.get()), kMemory);
  }
  Ref module = Ref::take(PyImport_Import(python_text(attributes_.module).get()));
  if (!module) fail_exception("importing module '" + attributes_.module + "'");
  // Import of "a.b" gives "a"; the table of modules has what was asked for.
  module = Ref::share(
      PyDict_GetItemWithError(PyImport_GetModuleDict(), python_text(attributes_.module).get()));
  if (!module) {
    throw Failure(Code::kOperatorFailed, kOperator,
                  "module '" + attributes_.module + "' is not among the loaded ones");
  }
  if (attributes_.class_name.empty()) {
    object_ = std::move(module);
  } else {
    const Ref type = lookup_class(std::move(module));
    const Ref none = checked(PyTuple_New(0), kMemory);
    const bool keywords = attributes_.convention == Convention::kCompute;
    object_ =
        Ref::take(PyObject_Call(type.get(), none.get(), keywords ? dictionary_.get() : nullptr));
    if (!object_)
      fail_exception("constructing " + attributes_.module + "." + attributes_.class_name);
  }
  method_ = lookup(object_.get(), attributes_.method, "method");
  wants_attributes_ = attributes_.convention != Convention::kCompute && takes_two(method_.get());
  if (attributes_.convention == Convention::kCompute ||
      PyObject_HasAttrString(object_.get(), kWantedOutputs) == 0) {
    return;
  }
  const auto count = static_cast<Py_ssize_t>(attributes_.outputs.size());
  const Ref flags = checked(PyTuple_New(count), kMemory);
  for (Py_ssize_t i = 0; i < count; ++i) {
    Ref flag = Ref::share(is_wanted(static_cast<size_t>(i)) ? Py_True : Py_False);
    checked(PyTuple_SetItem(flags.get(), i, flag.release()), kMemory);
  }
  checked(PyObject_SetAttrString(object_.get(), kWantedOutputs, flags.get()), kMemory);
}

Ref Instance::lookup_class(Ref module) const {
  const std::string& name = attributes_.class_name;
  Ref found = std::move(module);
  // "Outer.Inner" is a class in a class.
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    found = lookup(found.get(), name.substr(begin, end - begin), kClass);
    begin = end + 1;
  }
  return found;
}

Ref Instance::lookup(PyObject* object, const std::string& name, const char* kind) const {
  Ref found = Ref::take(PyObject_GetAttr(object, python_text(name).get()));
  if (found && PyCallable_Check(found.get()) != 0) return found;
  if (!found && PyErr_ExceptionMatches(PyExc_AttributeError) == 0) fail_exception(name);
  PyErr_Clear();
  const bool is_class = kind == kClass;
  std::string where = "module '" + attributes_.module + "'";
  if (!attributes_.class_name.empty() && !is_class) {
    where += ", class '" + attributes_.class_name + "'";
  }
  throw Failure(
      Code::kOperatorFailed, kOperator,
      where + ": there is no " + kind + " '" + (is_class ? attributes_.class_name : name) + "'");
}

void Instance::fail_exception(const std::string& function) const {
  Failure failure = take_exception(kOperator, function + " raised an exception\n");
  if (!tools_.keep_exceptions) failure.exception.reset();
  if (failure.exception) forget_variables(failure.exception->get());
  throw failure;
}

Ref Instance::call_with_attributes(const Ref& function, const Ref& inputs, bool attributes) const {
  return Ref::take(PyObject_CallFunctionObjArgs(function.get(), inputs.get(),
                                                attributes ? dictionary_.get() : nullptr, nullptr));
}

std::vector<Ref> Instance::results_of(Ref returned, std::span<const DataType> types) const {
  if (attributes_.convention == Convention::kBackward) {
    return split_gradients(std::move(returned), types, attributes_.function());
  }
  if (attributes_.convention != Convention::kFunction) {
    return split_results(std::move(returned), types);
  }
  Ref context = checked(PySequence_GetItem(returned.get(), 1), kOperator);
  Ref results = checked(PySequence_GetItem(returned.get(), 0), kOperator);
  returned = Ref();
  std::vector<Ref> all = split_results(std::move(results), types.first(types.size() - 1));
  all.push_back(std::move(context));
  return all;
}

void Instance::call(std::span<const TensorView> inputs, const Characters& characters,
                    std::span<const DataType> types,
                    const std::function<void(int, const ResultTensor&)>& take) {
  Loan loan(tools_, inputs, characters, keeps_inputs_);
  try {
    Ref returned = attributes_.convention == Convention::kCompute
                       ? Ref::take(PyObject_Call(method_.get(), loan.arguments().get(), nullptr))
                       : call_with_attributes(method_, loan.arguments(), wants_attributes_);
    if (!returned) fail_exception(attributes_.function());
    const std::vector<Ref> results = results_of(std::move(returned), types);
    for (size_t i = 0; i < results.size(); ++i) {
      if (!is_wanted(i)) continue;
      const auto output = static_cast<int>(i);
      const bool is_zero =
          attributes_.convention == Convention::kBackward && results[i].get() == Py_None;
      if (is_zero) {
        const bool present = i < inputs.size() && inputs[i].present();
        take(output, ResultTensor::zeros(types[i],
                                         present ? inputs[i].dims() : std::span<const int32_t>()));
      } else {
        take(output, ResultTensor(tools_, results[i].get(), types[i], output));
      }
    }
  } catch (...) {
    keeps_inputs_ |= loan.end();
    keeps_memory_ |= loan.is_lost();
    throw;
  }
  if (!loan.end()) return;
  keeps_inputs_ = true;
  keeps_memory_ |= loan.is_lost();
  throw Failure(Code::kOperatorFailed, kOperator,
                attributes_.function() +
                    " keeps an input beyond the call, but its memory is used again; keep a copy, "
                    "such as x.copy()");
}

}  // namespace intarsia::pyop
