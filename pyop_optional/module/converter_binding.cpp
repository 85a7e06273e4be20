// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <cstring>

#include "converter/convert.h"
#include "converter/graph/error.h"
#include "converter/onnx/import.h"
#include "converter/tool/plan_json.h"
#include "pyop_optional/module/bindings.h"

namespace py = pybind11;

namespace intarsia::python {
namespace {

using Range = std::pair<int64_t, int64_t>;
using Strings = std::map<std::string, std::string>;
using Extents = std::map<std::string, std::vector<int64_t>>;

/// The name of an entry point, and a path, or the model itself.
using Entry = std::tuple<std::string, std::string, bool>;

template <class T>
T get(const py::dict& options, const char* name) {
  return py::cast<T>(options[name]);
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
  if (!given["max_string"].is_none()) options.max_string = get<int64_t>(given, "max_string");
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
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!listener.is_none()) listener(py::str(stage.data(), stage.size()), fraction);
  };
}

/// The plan as a Block, and the converter's warnings.
py::tuple convert_model(const std::vector<Entry>& models, const py::dict& given,
                        const py::tuple& operators, const py::object& progress) {
  converter::ConvertOptions options = options_of(given);
  options.progress = progress_of(progress);
  const OperatorRequest request = request_of(operators);
  std::vector<converter::EntrySource> entries;
  for (const auto& [name, model, is_path] : models) {
    entries.push_back({name, is_path ? model : "", std::as_bytes(std::span(model))});
  }
  AlignedBytes plan;
  std::vector<std::string> warnings;
  {
    const py::gil_scoped_release release;
    options.library = operator_library(request);
    const converter::ConversionResult result = converter::convert_entries(entries, options);
    if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
      throw Failure(Code::kOk, failure->text());
    }
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
  module.def("external_files", [](const std::string& path) {
    try {
      py::list files;
      for (const auto& file : converter::external_files(path)) {
        files.append(py::bytes(file.string()));
      }
      return files;
    } catch (const converter::Error& error) {
      throw Failure(Code::kOk, error.what());
    }
  });
  module.def("plan_json", [](const PlanSession& session) {
    return text(tool::plan_json(session.plan()).dump());
  });
  module.def("convert_model", &convert_model);
}

}  // namespace intarsia::python
