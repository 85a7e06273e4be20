// SPDX-License-Identifier: Apache-2.0
//
// Quantised operators of com.microsoft.
#include "core/definitions/expansion.h"
#include "core/definitions/rows.h"

namespace intarsia::definitions {

void add_contrib_quantized_definitions(DefinitionRows&) {}

}  // namespace intarsia::definitions
