// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/tuple.h>

#include <utility>

#include "intarsia/describe.h"
#include "pyop_optional/module/bindings.h"

namespace py = nanobind;

namespace intarsia::python {
namespace {

/// Bytes that a Python object lends for the length of a call. Made and destroyed with the
/// interpreter's lock held.
class Lent {
 public:
  Lent(py::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw py::python_error();
  }
  Lent(Lent&& other) noexcept : view_(std::exchange(other.view_, {})) {}
  ~Lent() { PyBuffer_Release(&view_); }

  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

/// Tells the module `logging`. With the interpreter's lock held.
void log_warning(const std::string& words) {
  try {
    py::module_::import_("intarsia.logs").attr("warn")(text(words));
  } catch (py::python_error& error) {
    error.discard_as_unraisable("a warning of an operator");
  }
}

py::tuple tuple_of(const std::vector<int32_t>& numbers) {
  py::list list;
  for (int32_t number : numbers) list.append(number);
  return py::tuple(list);
}

void read_extents(py::handle shape, std::vector<int32_t>& extents) {
  extents.clear();
  for (py::handle extent : shape) extents.push_back(py::cast<int32_t>(extent));
}

/// What the arguments of one call of `run` are, with what they lend. The memory is kept for the
/// next call, of any session, so that runs allocate nothing but results. Made and destroyed with
/// the interpreter's lock held; a run within or beside a run has an object of its own.
class Arguments {
 public:
  Arguments(size_t inputs, size_t outputs)
      : room_(taken()), input_count_(inputs), output_count_(outputs) {
    if (room_->inputs.size() < inputs) room_->inputs.resize(inputs);
    if (room_->outputs.size() < outputs) room_->outputs.resize(outputs);
  }
  ~Arguments() {
    room_->lent.clear();
    for (OutputData& output : outputs()) output.own.reset();
    kept.push_back(std::move(room_));
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  std::span<InputData> inputs() const { return {room_->inputs.data(), input_count_}; }
  std::span<OutputData> outputs() const { return {room_->outputs.data(), output_count_}; }
  std::span<std::byte> lend(py::handle object, int flags) {
    return room_->lent.emplace_back(object, flags).bytes();
  }

 private:
  struct Room {
    std::vector<InputData> inputs;
    std::vector<OutputData> outputs;
    std::vector<Lent> lent;
  };
  static std::unique_ptr<Room> taken() {
    if (kept.empty()) return std::make_unique<Room>();
    std::unique_ptr<Room> room = std::move(kept.back());
    kept.pop_back();
    return room;
  }

  static std::vector<std::unique_ptr<Room>> kept;  // under the interpreter's lock
  std::unique_ptr<Room> room_;
  size_t input_count_, output_count_;
};
std::vector<std::unique_ptr<Arguments::Room>> Arguments::kept;

py::list ports_of(const std::vector<PortInfo>& ports) {
  py::list list;
  for (const PortInfo& port : ports) {
    list.append(py::make_tuple(text(port.name), static_cast<int>(port.type), tuple_of(port.extents),
                               tuple_of(port.symbols), tuple_of(port.holds)));
  }
  return list;
}

py::list entries_of(const PlanSession& session) {
  py::list list;
  for (const EntryInfo& entry : session.entries()) {
    list.append(py::make_tuple(text(entry.name), ports_of(entry.inputs), ports_of(entry.outputs),
                               entry.continues));
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
  const py::object block = output.own ? py::cast(std::move(*output.own)) : py::none();
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
  Arguments arguments(inputs.size(), targets.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto [shape, buffer, bound] =
        py::cast<std::tuple<py::object, py::object, bool>>(inputs[i]);
    InputData& input = arguments.inputs()[i];
    read_extents(shape, input.extents);
    input.bytes = arguments.lend(buffer, PyBUF_SIMPLE);
    input.bound = bound;
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    OutputData& output = arguments.outputs()[i];
    output.wanted = targets[i].ptr() != Py_False;
    output.has_target = output.wanted && !targets[i].is_none();
    output.target = {};
    if (output.has_target) output.target = arguments.lend(targets[i], PyBUF_WRITABLE);
  }
  {
    const py::gil_scoped_release release;
    session.run(static_cast<int>(entry), arguments.inputs(), arguments.outputs());
  }
  py::list results;
  for (OutputData& output : arguments.outputs()) results.append(result_of(output));
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

/// `source`: the plan's bytes, or, if `is_path`, none; then `name` is the path.
void make_session(PlanSession* place, py::handle source, bool is_path, py::handle name, int threads,
                  const py::tuple& operators) {
  OperatorRequest request = request_of(operators);
  request.warning = &log_warning;
  const std::string path = path_of(name);
  const Lent lent(source, PyBUF_SIMPLE);
  const py::gil_scoped_release release;
  AlignedBytes plan = is_path ? read_plan(path) : copy_of(lent.bytes());
  new (place) PlanSession(std::move(plan), path, threads, request);
}

int show_block(PyObject* self, Py_buffer* view, int flags) {
  const auto bytes = py::inst_ptr<AlignedBytes>(self)->span();
  return PyBuffer_FillInfo(view, self, bytes.data(), static_cast<Py_ssize_t>(bytes.size()), 0,
                           flags);
}

py::object read_state(PlanSession& session, int index) {
  OutputData value;
  {
    const py::gil_scoped_release release;
    value = session.read_state(state_index(session, index));
  }
  return result_of(value);
}

void write_state(PlanSession& session, int index, py::handle shape, py::handle buffer) {
  const Lent lent(buffer, PyBUF_SIMPLE);
  InputData value{{}, lent.bytes(), false};
  read_extents(shape, value.extents);
  const py::gil_scoped_release release;
  session.write_state(state_index(session, index), value);
}

void raise(const Failure& failure) {
  auto cause = py::steal<py::object>(static_cast<PyObject*>(failure.exception()));
  // KeyboardInterrupt and SystemExit are no errors of the model: they go on as what they are.
  if (cause.is_valid() && PyObject_IsInstance(cause.ptr(), PyExc_Exception) == 0) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause.ptr())), cause.ptr());
    return;
  }
  const py::object type = py::module_::import_("intarsia.errors").attr("Error");
  const py::object code = failure.code() == Code::kOk
                              ? py::object(py::none())
                              : py::object(py::str(code_name(failure.code())));
  const py::object error = type(text(failure.what()), code);
  if (cause.is_valid()) PyException_SetCause(error.ptr(), cause.release().ptr());
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Failure& failure) {
    try {
      raise(failure);
    } catch (py::python_error& error) {  // Ctrl-C at this moment, for instance
      error.restore();
    }
  }
}

}  // namespace

bool in_main_interpreter() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return true;
  PyErr_SetString(PyExc_ImportError,
                  "intarsia works in the main interpreter only, not in a sub-interpreter; use "
                  "threads (a session runs without the interpreter's lock) or processes");
  return false;
}

py::str text(const std::string& bytes) {
  PyObject* string =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (string == nullptr) throw py::python_error();
  return py::steal<py::str>(string);
}

std::string path_of(py::handle bytes) {
  const auto given = py::cast<py::bytes>(bytes);
  return {given.c_str(), given.size()};
}

OperatorRequest request_of(const py::tuple& operators) {
  OperatorRequest request;
  for (py::handle file : py::list(operators[0])) request.files.push_back(path_of(file));
  request.allow_pyop = py::cast<bool>(operators[1]);
  for (py::handle path : py::list(operators[2])) request.pyop_paths.push_back(path_of(path));
  return request;
}

void bind_session(py::module_& module) {
  py::set_leak_warnings(false);  // a program may end while it holds a session
  py::register_exception_translator(&translate);
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&show_block)},
                                {0, nullptr}};
  py::class_<AlignedBytes>(module, "Block", py::type_slots(slots));
  py::class_<PlanSession>(module, "PlanSession")
      .def("__init__", &make_session)
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
