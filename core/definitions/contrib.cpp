// SPDX-License-Identifier: Apache-2.0
//
// Operators of ONNX Runtime's domain com.microsoft, which PyTorch's exporter and the graph
// optimisers write. Every version from 1 on is the same form.
#include "core/definitions/rows.h"
#include "core/operators/linear_algebra/inverse.h"

namespace intarsia::definitions {

void add_contrib_definitions(DefinitionRows& rows) {
  add<ops::Inverse>(
      rows, {.domain = "com.microsoft",
             .name = "Inverse",
             .inputs = {same({"X", "T"}).of(Domain::kInvertible)},
             .outputs = {same({"Y", "T"})},
             .facts = {.axes = {.form = AxisForm::kPosition}},
             .types = {{"T", types({DataType::kFloat16, DataType::kFloat, DataType::kDouble})}},
             .attributes = codec_of<NoAttributes>()});
}

}  // namespace intarsia::definitions
