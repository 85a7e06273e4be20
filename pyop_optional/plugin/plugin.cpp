// SPDX-License-Identifier: Apache-2.0
//
// The plug-in that brings Python operators to the converter and the host tools
// (converter/plugin/plugin.h). It is loaded only where `--allow-pyop` or `--operators FILE.py` asks
// for it.
#include "converter/plugin/plugin.h"

#include <filesystem>
#include <memory>

#include "converter/graph/describe_text.h"
#include "core/kernel_descriptor.h"
#include "pyop_optional/plugin/pyop_definition.h"
#include "pyop_optional/plugin/python_file.h"

namespace intarsia::pyop {
namespace {

using converter::Extension;
using converter::PluginRequest;

/// What an extension refers to. Never freed by an interpreter that has ended: PyHost sees to it.
struct Owner {
  explicit Owner(PyHost started)
      : host(std::move(started)),
        state(*PyHost::State::of(host.service().pointer)),
        shapes(state),
        pyop(shapes),
        files(shapes) {}

  PyHost host;
  PyHost::State& state;
  ShapeInference shapes;
  PyOpDefinitions pyop;
  PythonFiles files;
};

std::string load(const PluginRequest& request, Extension& extension) {
  namespace fs = std::filesystem;
  try {
    // The folder of a file comes before those of --pyop-path: the file itself must be found there.
    std::vector<std::string> folders;
    for (const std::string& file : request.files) {
      std::error_code error;
      if (!fs::is_regular_file(file, error)) {
        return "--operators " + file + ": there is no such file";
      }
      folders.push_back(fs::absolute(file, error).parent_path().string());
    }
    const auto [first, last] = request.options.equal_range("pyop-path");
    for (auto option = first; option != last; ++option) folders.push_back(option->second);
    std::vector<const char*> paths;
    for (const std::string& folder : folders) paths.push_back(folder.c_str());

    const auto interpreter = request.options.find("pyop-python");
    const char* named =
        interpreter != request.options.end() ? interpreter->second.c_str() : nullptr;
    Diagnostic diagnostic;
    Result<PyHost> host = PyHost::start({.module_paths = paths, .interpreter = named}, &diagnostic);
    if (!host.ok()) return "Python operators: " + converter::describe_text(diagnostic);
    auto owner = std::make_shared<Owner>(std::move(host.value()));
    extension.services = {owner->host.service()};
    extension.owner = owner;
    const bool pyop_allowed = request.options.find("allow-pyop") != request.options.end();
    {
      const Gil gil;
      try {
        for (const std::string& file : request.files) {
          owner->files.read(fs::path(file).stem().string(), file, extension.definitions);
        }
      } catch (const Failure& failure) {
        owner->state.keep(failure);
        return failure.text;
      }
      // A file is the permission for its own operators, not for what else a plan may name.
      if (!pyop_allowed) owner->state.allowed = owner->files.functions();
    }
    if (pyop_allowed) {
      extension.find = [pyop = &owner->pyop](std::string_view domain, std::string_view name, int) {
        return pyop->find(domain, name);
      };
    }
    extension.kernels.assign(pyop_kernels.begin(), pyop_kernels.end());
    return "";
  } catch (const std::exception& error) {
    return std::string("Python operators: ") + error.what();
  }
}

}  // namespace
}  // namespace intarsia::pyop

INTARSIA_PLUGIN(&intarsia::pyop::load)
