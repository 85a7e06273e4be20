// SPDX-License-Identifier: Apache-2.0
//
// What a plug-in and the converter have to agree on, as a text: the version, the C++ library's ABI
// and the sizes of the types that pass between them. A source of its own, so that a plug-in links
// nothing else of the converter.
#include <string>

#include "converter/plugin/plugin.h"

namespace intarsia::converter {

const char* plugin_abi() {
#if defined(_LIBCPP_VERSION)
  constexpr const char* kLibrary = "libc++";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
  constexpr const char* kLibrary = "libstdc++ (cxx11)";
#else
  constexpr const char* kLibrary = "libstdc++ (old)";
#endif
  static const std::string kText = [] {
    std::string text = "intarsia " INTARSIA_VERSION ", " + std::string(kLibrary) + ", layout";
    for (size_t size :
         {sizeof(Extension), sizeof(PluginRequest), sizeof(KernelContext), sizeof(KernelHost),
          sizeof(Diagnostic), sizeof(TensorView), sizeof(definitions::OperatorDefinition),
          sizeof(definitions::Parameter), sizeof(definitions::KernelRow),
          sizeof(definitions::AttributeValue), sizeof(definitions::SymbolicShapeContext)}) {
      text += " " + std::to_string(size);
    }
    return text;
  }();
  return kText.c_str();
}

}  // namespace intarsia::converter
