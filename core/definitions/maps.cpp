// SPDX-License-Identifier: Apache-2.0
//
// The converter's own operators on maps, of which version conversion makes those of ai.onnx.ml.
#include "core/definitions/rows.h"

namespace intarsia::definitions {
namespace {

using Context = SymbolicShapeContext;

constexpr TypeSet kKeyTypes = types({DataType::kInt64, DataType::kString});

/// A map for each row of X; an X of rank 1 is one row.
Status infer_zip_map(Context& context) {
  const int rank = context.rank(0);
  if (rank != 1 && rank != 2) return context.fail(Code::kWrongRank, "rank of X", 2, rank, 0);
  const Dim labels = context.dim(1, 0);
  if (Status s = context.require_equal(labels, context.dim(0, rank - 1), "columns of X", 0); !s) {
    return s;
  }
  auto map = std::make_shared<SequenceType>();
  map->type = context.type(0);
  map->key = context.type(1);
  map->count = labels;
  SequenceType maps;
  maps.type = DataType::kMap;
  maps.shape.emplace();
  maps.shape->push(sequence_bytes(*map));
  maps.count = rank == 2 ? context.dim(0, 0) : Dim(1);
  maps.inner = map;
  Shape<Dim> shape;
  shape.push(sequence_bytes(maps));
  if (Status s = context.set_output(0, DataType::kSequence, shape); !s) return s;
  context.set_sequence(0, std::make_shared<SequenceType>(maps));
  return {};
}

/// One row with the values of the map in `columns` columns.
Status set_row(Context& context, const Dim& columns) {
  const SequencePointer& map = context.sequence(0);
  if (map == nullptr) return context.set_output_type(0, DataType::kUndefined);
  Shape<Dim> shape;
  shape.push(1);
  shape.push(columns);
  return context.set_output(0, map->type, shape);
}

Status infer_look_up(Context& context) {
  const Dim keys = context.dim(1, 0);
  if (Status s = context.require_equal(keys, context.dim(2, 0), "positions", 2, 0); !s) return s;
  const SequencePointer& map = context.sequence(0);
  if (map != nullptr && map->key != context.type(1)) {
    return context.fail(Code::kWrongType, "type of the map's keys",
                        static_cast<int64_t>(context.type(1)), static_cast<int64_t>(map->key), 0);
  }
  return set_row(context, keys);
}

Status infer_values(Context& context) {
  const SequencePointer& map = context.sequence(0);
  return set_row(context, map != nullptr ? fresh(map->count) : Dim::unknown(0));
}

}  // namespace

void add_map_definitions(DefinitionRows& rows) {
  const auto add = [&rows](OperatorDefinition definition, SymbolicRule infer) {
    definition.domain = kInternalDomain;
    definition.infer = std::move(infer);
    definition.kernel_types = {};
    definition.attributes = codec_of<NoAttributes>();
    definition.facts.exact = true;
    rows.push_back(std::move(definition));
  };
  const Parameter map = apart({"X", "M"}), row = apart({"Y", "V"});
  const TypeConstraint m{"M", kMapType}, k{"K", kKeyTypes}, v{"V", kPlainTypes};

  add({.name = "ZipMap",
       .inputs = {apart({"X", "T"}), apart({"labels", "K"})},
       .outputs = {apart({"Z", "S"})},
       .types = {{"T", types({DataType::kFloat})}, k, {"S", types({DataType::kSequence})}}},
      infer_zip_map);
  // The keys ascend; `positions` has the column of each.
  add({.name = "MapLookup",
       .inputs = {map, apart({"keys", "K"}), apart({"positions", "I"})},
       .outputs = {row},
       .types = {m, k, {"I", kInt64Type}, v}},
      infer_look_up);
  // In the order of the keys.
  add({.name = "MapValues", .inputs = {map}, .outputs = {row}, .types = {m, v}}, infer_values);
}

}  // namespace intarsia::definitions
