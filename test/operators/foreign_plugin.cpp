// SPDX-License-Identifier: Apache-2.0
//
// Shared libraries that the converter must refuse: built for another Intarsia (FOREIGN), failing by
// themselves (FAILING), or no plug-in at all.
#include "converter/plugin/plugin.h"

#if defined(FOREIGN)
extern "C" const intarsia::converter::Plugin* intarsia_plugin() {
  static const intarsia::converter::Plugin kPlugin{"intarsia 0.0.1, another layout", nullptr};
  return &kPlugin;
}
#elif defined(FAILING)
INTARSIA_PLUGIN([](const intarsia::converter::PluginRequest&, intarsia::converter::Extension&) {
  return std::string("this plug-in has nothing to give");
})
#else
extern "C" int something_else() {
  return 1;
}
#endif
