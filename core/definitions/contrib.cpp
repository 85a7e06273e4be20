// SPDX-License-Identifier: Apache-2.0
//
// Operators of com.microsoft that fuse activations, products and normalisations.
#include "core/definitions/expansion.h"
#include "core/definitions/rows.h"

namespace intarsia::definitions {

void add_contrib_definitions(DefinitionRows&) {}

}  // namespace intarsia::definitions
