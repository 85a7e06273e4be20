// SPDX-License-Identifier: Apache-2.0
//
// Plug-ins: shared libraries that bring operators to the converter and the host tools.
//
// A plug-in exports one function, `intarsia_plugin`, made by INTARSIA_PLUGIN. The converter
// compares the text of `Plugin::abi` with its own before it touches anything else: a plug-in passes
// C++ objects, so layout and meaning of the shared types and the C++ ABI have to be the same,
// whatever versions of Intarsia the two are of. A plug-in links its own copy of what it uses of
// Intarsia and leaves no symbol to be resolved by the program that loads it. Once loaded it stays
// until the process ends.
//
// Plug-ins belong to the host. A program with a model linked in has the kernels themselves.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "converter/plugin/extension.h"

namespace intarsia::converter {

/// What the user asked of a plug-in beyond loading it.
struct PluginRequest {
  /// Files that the plug-in is to read operators from (`--operators FILE.py`).
  std::vector<std::string> files;
  /// Options by name without dashes, such as "allow-pyop" (value empty) and "pyop-path" (DIR).
  std::multimap<std::string, std::string> options;
};

struct Plugin {
  const char* abi;
  /// Fills `extension`, or returns what went wrong, with the file's name in it; services that tell
  /// more are then in `extension`. Throws nothing.
  std::string (*load)(const PluginRequest& request, Extension& extension);
};

/// The name of the exported function, of type PluginFunction.
inline constexpr const char* kPluginSymbol = "intarsia_plugin";
using PluginFunction = const Plugin* (*)();

/// The text that both sides must agree on.
const char* plugin_abi();

/// Loads the shared library `path` and lets it make an extension. Throws Error: the file is absent,
/// is no shared library, exports no `intarsia_plugin`, was built for other layouts or another C++
/// ABI, or reports a failure (PluginError).
std::shared_ptr<const Extension> load_plugin(const std::filesystem::path& path,
                                             const PluginRequest& request);

/// The library of operators that these options ask for: `files` (`--operators`) are shared
/// libraries and Python files; the latter, and any option in `python` ("allow-pyop", "pyop-path"),
/// are the business of the plug-in intarsia_pyop_plugin. Null if nothing is asked for.
std::shared_ptr<const OperatorLibrary> load_operators(
    const std::vector<std::string>& files, const std::multimap<std::string, std::string>& python);

/// What to do about an operator, or a kernel, that nothing here brings.
inline constexpr const char* kWhereOperatorsComeFrom =
    "operators of one's own come with --operators LIB.so or FILE.py";
inline constexpr const char* kWherePythonOperatorsComeFrom =
    "Python operators (PyOp) come with --allow-pyop";

/// The plug-in called `name` that was built or installed with this code: "lib<name>.so" beside the
/// file that holds this code (the command, or the Python extension), or in ../lib of its folder.
/// Throws Error with `purpose`, for instance "--allow-pyop", if there is none.
std::filesystem::path find_plugin(const std::string& name, const std::string& purpose);

}  // namespace intarsia::converter

/// Exports a function such as Plugin::load as the plug-in of this shared library.
#define INTARSIA_PLUGIN(...)                                                            \
  extern "C" __attribute__((visibility("default"))) const intarsia::converter::Plugin*  \
  intarsia_plugin() {                                                                   \
    static const intarsia::converter::Plugin kPlugin{intarsia::converter::plugin_abi(), \
                                                     __VA_ARGS__};                      \
    return &kPlugin;                                                                    \
  }
