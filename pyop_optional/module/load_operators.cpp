// SPDX-License-Identifier: Apache-2.0
//
// What a session of the module can run: everything that the command can, plug-ins included.
#include "converter/plugin/extension.h"
#include "converter/plugin/plugin.h"
#include "converter/plugin/plugin_error.h"
#include "pyop_optional/module/plan_session.h"

namespace intarsia::python {

std::shared_ptr<const converter::OperatorLibrary> operator_library(const OperatorRequest& request) {
  std::multimap<std::string, std::string> options;
  if (request.allow_pyop) options.emplace("allow-pyop", "");
  for (const std::string& folder : request.pyop_paths) options.emplace("pyop-path", folder);
  try {
    return converter::load_operators(request.files, options);
  } catch (const converter::PluginError& error) {
    throw Failure(Code::kOk, error.what(), take_exception(error.extension().services));
  } catch (const converter::Error& error) {
    throw Failure(Code::kOk, error.what());
  }
}

Operators load_operators(const OperatorRequest& request) {
  auto library = operator_library(request);
  const converter::OperatorLibrary& used =
      library != nullptr ? *library : converter::builtin_library();
  return {used.kernels(), used.services(), std::move(library)};
}

}  // namespace intarsia::python
