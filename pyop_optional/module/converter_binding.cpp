// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "converter/convert.h"
#include "converter/graph/error.h"
#include "converter/onnx/import.h"
#include "converter/tool/plan_json.h"
#include "pyop_optional/module/bindings.h"

namespace py = nanobind;

namespace intarsia::python {
namespace {

using Range = std::pair<int64_t, int64_t>;
using Strings = std::map<std::string, std::string>;
using Extents = std::map<std::string, std::vector<int64_t>>;

template <class T>
T get(const py::dict& options, const char* name) {
  const py::object given = options[name];
  T value{};
  if (!py::try_cast<T>(given, value)) {
    throw py::type_error(
        ("the option " + std::string(name) + " cannot be " + std::string(py::repr(given).c_str()))
            .c_str());
  }
  return value;
}

converter::ConvertOptions options_of(const py::dict& given) {
  converter::ConvertOptions options;
  for (const auto& [name, limits] :
       get<std::map<std::string, std::variant<Range, std::string>>>(given, "dims")) {
    if (const auto* range = std::get_if<Range>(&limits)) {
      options.dims[name] = converter::DimRange{range->first, range->second};
    } else {
      options.dims[name] = std::get<std::string>(limits);
    }
  }
  const auto values = get<Strings>(given, "values");
  const auto bounds = get<Extents>(given, "bounds");
  const auto max_trips = get<std::map<std::string, int64_t>>(given, "max_trips");
  options.shapes = get<Extents>(given, "shapes");
  options.fixed = get<Strings>(given, "fixed");
  options.values.insert(values.begin(), values.end());
  options.bounds.insert(bounds.begin(), bounds.end());
  options.max_trips.insert(max_trips.begin(), max_trips.end());
  options.max_lengths = get<std::map<std::string, int64_t>>(given, "max_lengths");
  const auto max_string = get<std::optional<int64_t>>(given, "max_string");
  if (max_string) options.max_string = *max_string;
  options.states = get<Strings>(given, "states");
  options.layouts = get<Strings>(given, "layouts");
  options.seed = get<uint64_t>(given, "seed");
  options.threads = get<int>(given, "threads");
  options.strip_names = get<bool>(given, "strip_names");
  options.target = get<std::string>(given, "target");
  options.plan_growth = get<std::optional<double>>(given, "plan_growth");
  for (const auto& [output, inputs] :
       get<std::map<std::string, std::vector<std::string>>>(given, "gradients")) {
    options.gradients.push_back({output, inputs});
  }
  options.trainable = get<std::vector<std::string>>(given, "trainable");
  return options;
}

/// Calls `listener`, unless it is None, and lets signals (Ctrl-C) be seen. REQUIRES: the listener
/// outlives the conversion, which copies functions without the interpreter's lock.
converter::ProgressListener progress_of(py::handle listener) {
  return [listener](std::string_view stage, double fraction) {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::python_error();
    if (!listener.is_none()) listener(py::str(stage.data(), stage.size()), fraction);
  };
}

/// What Python operators raise during a conversion, for the Failure. Without the interpreter's
/// lock.
class Raised {
 public:
  /// REQUIRES: `library`, which may be null, outlives the object.
  explicit Raised(const converter::OperatorLibrary* library)
      : services_(library != nullptr ? library->services() : std::span<const Service>()) {
    void* before = take_exception(services_);  // from now on they are kept
    const py::gil_scoped_acquire acquire;
    py::steal<py::object>(static_cast<PyObject*>(before));
  }
  /// `text`: why there is no plan, or "". Throws if there is any, and after an interruption in any
  /// case: a conversion may go on without what it has tried in vain.
  void throw_if_failed(const std::string& text) const {
    void* taken = take_exception(services_);
    const py::gil_scoped_acquire acquire;
    auto exception = py::steal<py::object>(static_cast<PyObject*>(taken));
    const bool is_error =
        !exception.is_valid() || PyObject_IsInstance(exception.ptr(), PyExc_Exception) == 1;
    if (text.empty() && is_error) return;
    throw Failure(Code::kOk, text, exception.release().ptr());
  }

 private:
  std::span<const Service> services_;
};

/// `models`: of each entry point the name, the bytes of a path or of the model itself, and whether
/// they are a path. Returns the plan as a Block, and the converter's warnings.
py::tuple convert_model(const py::list& models, const py::dict& given, const py::tuple& operators,
                        const py::object& progress) {
  converter::ConvertOptions options = options_of(given);
  options.progress = progress_of(progress);
  const OperatorRequest request = request_of(operators);
  std::vector<py::bytes> held;  // what `entries` refers to
  std::vector<converter::EntrySource> entries;
  for (py::handle model : models) {
    const auto [name, bytes, is_path] = py::cast<std::tuple<std::string, py::bytes, bool>>(model);
    held.push_back(bytes);
    if (is_path) {
      entries.push_back({name, path_of(bytes), {}});
    } else {
      entries.push_back({name, "", std::as_bytes(std::span(bytes.c_str(), bytes.size()))});
    }
  }
  AlignedBytes plan;
  std::vector<std::string> warnings;
  {
    const py::gil_scoped_release release;
    options.library = operator_library(request);
    const Raised raised(options.library.get());
    const converter::ConversionResult result = converter::convert_entries(entries, options);
    const auto* failure = std::get_if<converter::ConversionFailure>(&result);
    raised.throw_if_failed(failure != nullptr ? failure->text() : "");
    const auto& conversion = std::get<converter::Conversion>(result);
    plan = AlignedBytes(conversion.plan.bytes.size());
    std::memcpy(plan.data(), conversion.plan.bytes.data(), conversion.plan.bytes.size());
    warnings = conversion.warnings;
  }
  py::list texts;
  for (const std::string& warning : warnings) texts.append(text(warning));
  return py::make_tuple(py::cast(std::move(plan)), texts);
}

}  // namespace

void bind_converter(py::module_& module) {
  module.def("external_files", [](py::handle path) {
    try {
      py::list files;
      for (const auto& file : converter::external_files(path_of(path))) {
        files.append(py::bytes(file.c_str(), file.native().size()));
      }
      return files;
    } catch (const converter::Error& error) {
      throw Failure(Code::kOk, error.what());
    }
  });
  module.def("plan_json", [](const PlanSession& session) {
    return text(tool::plan_json(session.plan()).dump());
  });
  module.def("convert_model", &convert_model, py::arg(), py::arg(), py::arg(), py::arg().none());
}

}  // namespace intarsia::python
