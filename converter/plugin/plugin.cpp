// SPDX-License-Identifier: Apache-2.0
#include "converter/plugin/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "converter/plugin/plugin_error.h"

namespace intarsia::converter {
namespace {

namespace fs = std::filesystem;

/// Why dlopen refused a file that is there, without the path, which dlerror puts first.
std::string loader_message(const fs::path& path) {
  const char* message = dlerror();
  std::string text = message != nullptr ? message : "unknown failure of the loader";
  if (text.starts_with(path.string() + ": ")) text.erase(0, path.string().size() + 2);
  return text;
}

/// The folder of the file that this code is in. A program's own name may be relative to a working
/// directory of the past, or nothing but its name; the system knows where the program is.
fs::path own_folder() {
  Dl_info info{};
  link_map* file = nullptr;
  const int found = dladdr1(reinterpret_cast<const void*>(&plugin_abi), &info,
                            reinterpret_cast<void**>(&file), RTLD_DL_LINKMAP);
  const bool library = found != 0 && file != nullptr && file->l_name[0] != '\0';
  std::error_code ignored;
  const fs::path path =
      library ? fs::absolute(file->l_name, ignored) : fs::read_symlink("/proc/self/exe", ignored);
  return path.parent_path();
}

}  // namespace

std::shared_ptr<const Extension> load_plugin(const fs::path& path, const PluginRequest& request) {
  const std::string name = path.string();
  if (!fs::is_regular_file(path)) {
    throw Error(fmt::format("--operators {}: there is no such file", name),
                "name the shared library that intarsia_add_operators builds");
  }
  // A name without a slash would be searched for in the system's folders.
  const fs::path absolute = fs::absolute(path);
  void* library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(fmt::format("--operators {}: cannot be loaded: {}", name, loader_message(absolute)),
                "name the shared library that intarsia_add_operators builds");
  }
  const auto function = reinterpret_cast<PluginFunction>(dlsym(library, kPluginSymbol));
  if (function == nullptr) {
    dlclose(library);
    throw Error(fmt::format("--operators {}: is no library of operators: it does not export {}",
                            name, kPluginSymbol),
                "build it with intarsia_add_operators");
  }
  const Plugin* plugin = function();
  if (std::string_view(plugin->abi) != plugin_abi()) {
    const std::string found = plugin->abi;
    throw Error(
        fmt::format("--operators {}: was built for '{}', this is '{}'", name, found, plugin_abi()),
        "build it again with the headers of this Intarsia and the same C++ library");
  }
  auto extension = std::make_shared<Extension>();
  extension->name = path.filename().string();
  const std::string failure = plugin->load(request, *extension);
  if (!failure.empty()) throw PluginError(failure, std::move(extension));
  return extension;
}

fs::path find_plugin(const std::string& name, const std::string& purpose) {
  const std::string file = "lib" + name + ".so";
  const fs::path folder = own_folder();
  std::error_code ignored;
  for (const fs::path& candidate : {folder / file, folder / ".." / "lib" / file}) {
    if (fs::is_regular_file(candidate, ignored)) return candidate.lexically_normal();
  }
  throw Error(fmt::format("{} needs the plug-in {}, which is neither in '{}' nor in '{}'", purpose,
                          file, folder.string(), (folder.parent_path() / "lib").string()),
              "build or install Intarsia with the part that brings it (INTARSIA_PYOP=ON)");
}

std::shared_ptr<const OperatorLibrary> load_operators(
    const std::vector<std::string>& files, const std::multimap<std::string, std::string>& python) {
  Extensions extensions;
  PluginRequest request;
  request.options = python;
  for (const std::string& file : files) {
    if (fs::path(file).extension() == ".py") {
      request.files.push_back(file);
    } else {
      extensions.push_back(load_plugin(file, {}));
    }
  }
  if (!request.files.empty() || !request.options.empty()) {
    const std::string purpose = !request.files.empty() ? "--operators " + request.files.front()
                                                       : "--" + request.options.begin()->first;
    extensions.push_back(load_plugin(find_plugin("intarsia_pyop_plugin", purpose), request));
  }
  if (extensions.empty()) return nullptr;
  return std::make_shared<const OperatorLibrary>(std::move(extensions));
}

}  // namespace intarsia::converter
