// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <cstring>

#include "converter/convert.h"
#include "pyop_optional/module/bindings.h"

namespace py = pybind11;

namespace intarsia::python {
namespace {

using Range = std::pair<int64_t, int64_t>;
using Strings = std::map<std::string, std::string>;
using Extents = std::map<std::string, std::vector<int64_t>>;

/// The name of an entry point, and a path, or the model itself.
using Entry = std::tuple<std::string, std::string, bool>;

/// The plan as a Block, and the converter's warnings.
py::tuple convert_model(const std::vector<Entry>& models,
                        const std::map<std::string, std::variant<Range, std::string>>& dims,
                        const Extents& shapes, const Strings& fixed, const Strings& values,
                        const Extents& bounds, const std::map<std::string, int64_t>& max_trips,
                        const Strings& states, const Strings& layouts, uint64_t seed, int threads,
                        bool strip_names, const std::string& target,
                        std::optional<double> plan_growth, const py::tuple& operators) {
  converter::ConvertOptions options;
  for (const auto& [name, limits] : dims) {
    if (const auto* range = std::get_if<Range>(&limits)) {
      options.dims[name] = converter::DimRange{range->first, range->second};
    } else {
      options.dims[name] = std::get<std::string>(limits);
    }
  }
  options.shapes = shapes;
  options.fixed = fixed;
  options.values.insert(values.begin(), values.end());
  options.bounds.insert(bounds.begin(), bounds.end());
  options.max_trips.insert(max_trips.begin(), max_trips.end());
  options.states = states;
  options.layouts = layouts;
  options.seed = seed;
  options.threads = threads;
  options.strip_names = strip_names;
  options.target = target;
  options.plan_growth = plan_growth;

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
  module.def("convert_model", &convert_model);
}

}  // namespace intarsia::python
