// SPDX-License-Identifier: Apache-2.0
//
// Attention as com.microsoft has it, and what stands around it.
#include "core/definitions/expansion.h"
#include "core/definitions/rows.h"

namespace intarsia::definitions {

void add_contrib_attention_definitions(DefinitionRows&) {}

}  // namespace intarsia::definitions
