// SPDX-License-Identifier: Apache-2.0
//
// Intarsia's operators and those of a list, for converter and runtime alike: what loading a plug-in
// with the list would give.
#pragma once

#include <memory>
#include <stdexcept>

#include "converter/convert.h"
#include "converter/plugin/operator_extension.h"

namespace intarsia::test {

/// Throws std::logic_error if the operators contradict one another. `source`: how programs name the
/// list.
template <class List>
std::shared_ptr<converter::Extension> extension_with(const char* name,
                                                     const ProgramSource& source = {"own.h",
                                                                                    "own::List"}) {
  auto extension = std::make_shared<converter::Extension>();
  extension->name = name;
  const std::string problem = converter::extension_of<List>(*extension, source);
  if (!problem.empty()) throw std::logic_error(problem);
  return extension;
}

inline converter::ConvertOptions options_with(const converter::Extensions& extensions) {
  converter::ConvertOptions options;
  options.library = std::make_shared<const converter::OperatorLibrary>(extensions);
  return options;
}
template <class List>
converter::ConvertOptions options_with() {
  return options_with({extension_with<List>("own")});
}

}  // namespace intarsia::test
