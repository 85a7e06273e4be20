// SPDX-License-Identifier: Apache-2.0
//
// How the converter hears that a plug-in has failed. Plug-ins themselves throw nothing and do not
// need this file.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "converter/graph/error.h"
#include "converter/plugin/extension.h"

namespace intarsia::converter {

/// What a plug-in reports.
class PluginError : public Error {
 public:
  PluginError(const std::string& text, std::shared_ptr<const Extension> filled)
      : Error(text), extension_(std::move(filled)) {}
  /// As far as the plug-in has filled it.
  const Extension& extension() const { return *extension_; }

 private:
  std::shared_ptr<const Extension> extension_;
};

}  // namespace intarsia::converter
