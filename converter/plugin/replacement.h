// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the program's own for operators that are defined elsewhere (OperatorInfo::replaces).
//
// What such a kernel's type says of its operator is compared with the definition, for an attribute
// that it reads from a wrong place, or an operand that it takes for another, would only show as a
// wrong result.
#pragma once

#include <vector>

#include "core/definitions/definition.h"

namespace intarsia::converter {

/// The definition of an operator some of whose kernels are replaced, made from `row`; `signature`
/// is what the type of such a kernel says. May be applied again for the next type. Throws Error,
/// which names `library` and what does not agree.
definitions::OperatorDefinition with_replacement(const definitions::OperatorDefinition& row,
                                                 const definitions::OperatorDefinition& signature,
                                                 const std::string& library);

}  // namespace intarsia::converter
