// SPDX-License-Identifier: Apache-2.0
#include "intarsia/describe.h"
#include "pyop_optional/module/bindings.h"

namespace py = pybind11;

namespace intarsia::python {
namespace {

/// Bytes that a Python object lends for the length of a call. Made and destroyed with the
/// interpreter's lock held.
class Lent {
 public:
  Lent(py::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw py::error_already_set();
  }
  ~Lent() { PyBuffer_Release(&view_); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

/// Tells the module `logging`. With the interpreter's lock held.
void log_warning(const std::string& words) {
  try {
    py::module_::import("intarsia.logs").attr("warn")(text(words));
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("a warning of an operator");
  }
}

py::tuple tuple_of(const std::vector<int32_t>& numbers) {
  py::tuple result(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) result[i] = numbers[i];
  return result;
}

std::vector<int32_t> extents_of(py::handle shape) {
  std::vector<int32_t> extents;
  for (py::handle extent : shape) extents.push_back(py::cast<int32_t>(extent));
  return extents;
}

py::list ports_of(const std::vector<PortInfo>& ports) {
  py::list list;
  for (const PortInfo& port : ports) {
    list.append(py::make_tuple(text(port.name), static_cast<int>(port.type), tuple_of(port.extents),
                               tuple_of(port.symbols)));
  }
  return list;
}

py::list entries_of(const PlanSession& session) {
  py::list list;
  for (const EntryInfo& entry : session.entries()) {
    list.append(py::make_tuple(text(entry.name), ports_of(entry.inputs), ports_of(entry.outputs)));
  }
  return list;
}

py::list symbols_of(const PlanSession& session) {
  py::list list;
  for (const SymbolInfo& symbol : session.symbols()) {
    list.append(py::make_tuple(text(symbol.name), symbol.minimum, symbol.maximum));
  }
  return list;
}

py::object result_of(OutputData& output) {
  if (!output.wanted) return py::none();
  const py::object block = output.has_target ? py::none() : py::cast(std::move(output.own));
  return py::make_tuple(tuple_of(output.extents), block);
}

/// `inputs`: (shape, buffer, whether it is bound rather than copied) per input. `targets`: per
/// output a writable buffer, None for one of its own, or False where the output is not wanted.
/// Returns per output (shape, Block), where the Block is None if a target took the elements; None
/// for False.
py::list run(PlanSession& session, size_t entry, const py::list& inputs, const py::list& targets) {
  if (entry >= session.entries().size() ||
      inputs.size() != session.entries()[entry].inputs.size() ||
      targets.size() != session.entries()[entry].outputs.size()) {
    throw Failure(Code::kInvalidArgument, "number of inputs or outputs");
  }
  std::vector<std::unique_ptr<Lent>> lent;
  std::vector<InputData> sources;
  for (py::handle input : inputs) {
    const auto [shape, buffer, bound] = py::cast<std::tuple<py::object, py::object, bool>>(input);
    lent.push_back(std::make_unique<Lent>(buffer, PyBUF_SIMPLE));
    sources.push_back({extents_of(shape), lent.back()->bytes(), bound});
  }
  std::vector<OutputData> outputs(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].is_none()) continue;
    if (targets[i].ptr() == Py_False) {
      outputs[i].wanted = false;
      continue;
    }
    lent.push_back(std::make_unique<Lent>(targets[i], PyBUF_WRITABLE));
    outputs[i].has_target = true;
    outputs[i].target = lent.back()->bytes();
  }
  {
    const py::gil_scoped_release release;
    session.run(static_cast<int>(entry), sources, outputs);
  }
  py::list results;
  for (OutputData& output : outputs) results.append(result_of(output));
  return results;
}

bool may_bind(const PlanSession& session, size_t entry, size_t index, py::handle buffer) {
  if (entry >= session.entries().size() || index >= session.entries()[entry].inputs.size()) {
    throw Failure(Code::kInvalidArgument, "number of inputs");
  }
  return session.may_bind(static_cast<int>(entry), static_cast<int>(index),
                          Lent(buffer, PyBUF_SIMPLE).bytes());
}

py::list stop_profile(PlanSession& session) {
  std::vector<NodeTime> times;
  {
    const py::gil_scoped_release release;
    times = session.stop_profile();
  }
  py::list list;
  for (const NodeTime& time : times) list.append(py::make_tuple(time.nanoseconds, time.runs));
  return list;
}

int state_index(const PlanSession& session, int index) {
  if (index < 0 || static_cast<size_t>(index) >= session.states().size()) {
    throw Failure(Code::kInvalidArgument, "state index");
  }
  return index;
}

py::object read_state(PlanSession& session, int index) {
  OutputData value;
  {
    const py::gil_scoped_release release;
    value = session.read_state(state_index(session, index));
  }
  return result_of(value);
}

void write_state(PlanSession& session, int index, py::handle buffer) {
  const Lent lent(buffer, PyBUF_SIMPLE);
  const py::gil_scoped_release release;
  session.write_state(state_index(session, index), {{}, lent.bytes(), false});
}

void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Failure& failure) {
    const auto cause =
        py::reinterpret_steal<py::object>(static_cast<PyObject*>(failure.exception()));
    // KeyboardInterrupt and SystemExit are no errors of the model: they go on as what they are.
    if (cause && PyObject_IsInstance(cause.ptr(), PyExc_Exception) == 0) {
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause.ptr())), cause.ptr());
      return;
    }
    const py::object type = py::module_::import("intarsia.errors").attr("Error");
    const py::object code = failure.code() == Code::kOk
                                ? py::object(py::none())
                                : py::object(py::str(code_name(failure.code())));
    const py::object error = type(text(failure.what()), code);
    if (cause) PyException_SetCause(error.ptr(), cause.inc_ref().ptr());
    PyErr_SetObject(type.ptr(), error.ptr());
  }
}

}  // namespace

bool in_main_interpreter() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return true;
  PyErr_SetString(PyExc_ImportError,
                  "intarsia works in the main interpreter only, not in a sub-interpreter; use "
                  "threads (a session runs without the interpreter's lock) or processes");
  return false;
}

py::str text(const std::string& bytes) {
  PyObject* string =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (string == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(string);
}

OperatorRequest request_of(const py::tuple& operators) {
  OperatorRequest request;
  for (py::handle file : operators[0]) request.files.push_back(py::cast<std::string>(file));
  request.allow_pyop = py::cast<bool>(operators[1]);
  for (py::handle path : operators[2]) request.pyop_paths.push_back(py::cast<std::string>(path));
  return request;
}

void bind_session(py::module_& module) {
  // Python copies a module that the main interpreter has imported, and calls no entry for that. A
  // function of pybind11 would wait for ever there, as soon as it fails.
  static PyMethodDef plain[] = {{"require_main_interpreter",
                                 [](PyObject*, PyObject*) -> PyObject* {
                                   return in_main_interpreter() ? Py_NewRef(Py_None) : nullptr;
                                 },
                                 METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(module.ptr(), plain) != 0) throw py::error_already_set();
  py::register_exception_translator(&translate);
  py::class_<AlignedBytes>(module, "Block", py::buffer_protocol())
      .def_buffer([](AlignedBytes& memory) {
        return py::buffer_info(memory.data(), 1, "B",
                               static_cast<py::ssize_t>(memory.span().size()));
      });
  py::class_<PlanSession>(module, "PlanSession")
      .def(py::init([](py::handle source, bool is_path, const std::string& name, int threads,
                       const py::tuple& operators) {
        OperatorRequest request = request_of(operators);
        request.warning = &log_warning;
        const Lent lent(source, PyBUF_SIMPLE);
        const py::gil_scoped_release release;
        AlignedBytes plan = is_path ? read_plan(name) : copy_of(lent.bytes());
        return std::make_unique<PlanSession>(std::move(plan), name, threads, request);
      }))
      .def("plan",
           [](const PlanSession& session) {
             const auto bytes = session.plan();
             return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
           })
      .def("entries", &entries_of)
      .def("symbols", &symbols_of)
      .def("states", [](const PlanSession& session) { return ports_of(session.states()); })
      .def("run", &run)
      .def("may_bind", &may_bind)
      .def("start_profile", &PlanSession::start_profile, py::call_guard<py::gil_scoped_release>())
      .def("stop_profile", &stop_profile)
      .def("read_state", &read_state)
      .def("write_state", &write_state)
      .def("reset_states", &PlanSession::reset_states, py::call_guard<py::gil_scoped_release>());
}

}  // namespace intarsia::python
