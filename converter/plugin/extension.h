// SPDX-License-Identifier: Apache-2.0
//
// `Extension`: operators that do not come with Intarsia, as the converter and the host tools take
// them: definitions, kernels that this process can execute, and the services that those ask for.
//
// A library of operators makes one of itself (intarsia/operator.h); a plug-in hands one out
// (converter/plugin/plugin.h). Extensions outlive every conversion and session that uses them; they
// are read only, and may serve several threads if the functions in them can.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/definitions/kernel_descriptor.h"
#include "core/definitions/registry.h"
#include "intarsia/session.h"

namespace intarsia::converter {

struct Extension {
  /// For messages: the library's or file's name.
  std::string name;
  std::vector<definitions::OperatorDefinition> definitions;
  /// What the types of kernels say of operators that are defined elsewhere, one for each such
  /// kernel: `kernels` has it (OperatorInfo::replaces).
  std::vector<definitions::OperatorDefinition> replacements;
  definitions::KernelRows kernels;
  /// Supplies definitions that are no rows; may be empty.
  definitions::DefinitionFinder find;
  /// Shape functions for run time of definitions that `find` supplies.
  std::vector<ShapeFunction> shapes;
  /// What the kernels ask for, in trial executions of the converter and in sessions of the tool.
  std::vector<Service> services;
  /// Keeps alive what the rest refers to.
  std::shared_ptr<const void> owner;
};

using Extensions = std::vector<std::shared_ptr<const Extension>>;

/// The built-in operators and kernels together with those of extensions. Not movable: the registry
/// refers to the extensions' rows.
class OperatorLibrary {
 public:
  /// Throws Error if two extensions, or an extension and Intarsia, define the same operator or
  /// kernel; if two replace the same kernels, or one those of an operator that is not there or not
  /// as its type says.
  explicit OperatorLibrary(Extensions extensions);
  OperatorLibrary(const OperatorLibrary&) = delete;
  OperatorLibrary& operator=(const OperatorLibrary&) = delete;

  const definitions::OperatorRegistry& operators() const { return operators_; }
  /// Of all devices; those of extensions come first.
  const definitions::KernelRows& rows() const { return rows_; }
  std::span<const Service> services() const { return services_; }
  /// Every kernel and shape function, for sessions of a host tool.
  KernelSet kernels() const { return {kernels_, shapes_}; }

 private:
  void replace(const definitions::OperatorDefinition& own, const Extension& extension);

  Extensions extensions_;
  definitions::OperatorRegistry operators_;
  std::deque<definitions::OperatorDefinition> replaced_;
  definitions::KernelRows rows_;
  std::vector<Service> services_;
  std::vector<const Kernel*> kernels_;
  std::vector<const ShapeFunction*> shapes_;
};

/// The library without extensions; made once.
const OperatorLibrary& builtin_library();

}  // namespace intarsia::converter
