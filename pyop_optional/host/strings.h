// SPDX-License-Identifier: Apache-2.0
//
// Tensors of strings as Python has them: arrays of str objects. Characters that are no UTF-8 become
// surrogates and bytes again on the way back (PEP 383), so nothing is lost.
#pragma once

#include <string>
#include <vector>

#include "intarsia/tensor.h"
#include "pyop_optional/host/loan.h"
#include "pyop_optional/host/python.h"

namespace intarsia::pyop {

/// An array of str of its own. Throws Failure, where numpy is not installed above all.
Ref python_strings(const Tools& tools, const TensorView& tensor, const Characters& characters);

struct StringArray {
  std::vector<std::string> elements;
  std::vector<int32_t> extents;
};
/// The strings of a str or bytes object, or of an array of them. Throws Failure.
StringArray strings_of(const Tools& tools, PyObject* object, int output);

}  // namespace intarsia::pyop
