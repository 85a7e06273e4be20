// SPDX-License-Identifier: Apache-2.0
//
// Operators of com.microsoft on weights of few bits, quantised block by block. The weights stay
// codes, packed as the model has them.
#include "core/definitions/quantized_terms.h"
#include "core/definitions/rows.h"
#include "core/operators/quantization/contrib.h"
#include "intarsia/describe.h"

namespace intarsia::definitions {
namespace {

constexpr auto kOptional = Parameter::kOptional;
constexpr TypeSet kRealTypes = types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16});

DataType code_type(int64_t bits) {
  return bits == 2 ? DataType::kUint2 : bits == 4 ? DataType::kUint4 : DataType::kUint8;
}

/// Bytes as elements of that type along the last axis, those of the lowest bits first.
Term unpacked(Term bytes, DataType type) {
  if (bytes.known().type == type) return bytes;
  return call("intarsia:Reinterpret", {bytes}, {{"to", static_cast<int64_t>(type)}});
}

/// The first elements of an axis; nothing to do where there are no more.
Term first(Term term, int64_t axis, Term count) {
  const auto wanted = known_integers(count);
  const Dim found = term.extent(axis);
  if (wanted && is_constant(found) && constant_value(found) == wanted->front()) return term;
  // Slices of codes below a byte exist as those of bytes only.
  const DataType type = term.known().type;
  const bool small = element_bits(type) < 8;
  const Term bytes = small ? cast_to(term, DataType::kUint8) : term;
  const Term part = call("Slice", {bytes, integers(term, {0}), count, integers(term, {axis})});
  return small ? cast_to(part, type) : part;
}

/// The code in the middle of its range, in the extents of the scales.
Term middle_codes(Term scales, int64_t bits) {
  const Term middle =
      scales.context().number(DataType::kUint8, static_cast<double>(int64_t{1} << (bits - 1)));
  return cast_to(expand(middle, scales), code_type(bits));
}

void require_power_of_two(ExpansionContext& e, int64_t block_size) {
  if (block_size >= 16 && (block_size & (block_size - 1)) == 0) return;
  e.refuse("attribute block_size has to be a power of 2 from 16 on, found " +
           std::to_string(block_size));
}

// -- MatMulNBits
// -----------------------------------------------------------------------------------

class MatMulNBits {
 public:
  explicit MatMulNBits(ExpansionContext& e) : e_(e), a_(e.attributes<MatMulNBitsAttributes>()) {
    require_power_of_two(e, a_.block_size);
    if (e.x(kA).rank() == 0) e.refuse("A has to have an axis");
    blocks_ = (a_.k + a_.block_size - 1) / a_.block_size;
  }

  /// The product is computed in float.
  void write() {
    const Dim found = e_.x(kA).extent(-1);
    if (is_constant(found) && constant_value(found) != a_.k) {
      e_.refuse("attribute K is " + std::to_string(a_.k) + ", but the last axis of A has " +
                found.to_string() + " elements");
    }
    const Term a = cast_to(e_.x(kA), DataType::kFloat);
    const Term y = has_plain_blocks() ? blocked(a) : call("MatMul", {a, weights()});
    e_.set(0, cast(e_.has_x(kBias) ? y + cast_to(e_.x(kBias), DataType::kFloat) : y, e_.x(kA)));
  }

 private:
  enum Input { kA, kB, kScales, kZeros, kGroups, kBias };

  Term matrix(Term term, int64_t columns) const {
    return with_extents(term, e_.integers({a_.n, columns}));
  }
  int64_t bytes_of(int64_t codes) const { return (codes * a_.bits + 7) / 8; }
  bool has_codes_as_zeros() const {
    return e_.has_x(kZeros) && e_.x(kZeros).known().type == DataType::kUint8;
  }
  bool has_plain_blocks() const {
    return !e_.has_x(kGroups) && (!e_.has_x(kZeros) || has_codes_as_zeros());
  }

  /// [N, blocks * block_size]
  Term codes() const {
    const Term packed = matrix(e_.x(kB), bytes_of(blocks_ * a_.block_size));
    return unpacked(packed, code_type(a_.bits));
  }
  Term scales() const { return cast_to(matrix(e_.x(kScales), blocks_), DataType::kFloat); }

  Term blocked(Term a) const {
    const AttributeMap attributes{{"block_size", int64_t{a_.block_size}}};
    if (!e_.has_x(kZeros)) {
      return call("intarsia:MatMulBlocks", {a, codes(), scales()}, attributes);
    }
    return call("intarsia:MatMulBlocks", {a, codes(), scales(), zero_codes()}, attributes);
  }

  /// [K, N]: each term has a group, whose zero may be any number.
  Term weights() const {
    const Term terms = e_.integers({a_.k});
    const Term groups = e_.has_x(kGroups) ? first(e_.x(kGroups), 0, terms) : blocks_in_order();
    const auto spread = [&](Term blocks) {
      return call("Gather", {blocks, groups}, {{"axis", int64_t{1}}});
    };
    const Term numbers = first(cast_to(codes(), DataType::kFloat), 1, terms);
    return transpose((numbers - spread(zeros())) * spread(scales()), {1, 0});
  }

  Term zeros() const {
    if (has_codes_as_zeros()) return cast_to(zero_codes(), DataType::kFloat);
    if (e_.has_x(kZeros)) return cast_to(matrix(e_.x(kZeros), blocks_), DataType::kFloat);
    return expand(e_.number(DataType::kFloat, static_cast<double>(int64_t{1} << (a_.bits - 1))),
                  scales());
  }
  /// A byte each.
  Term zero_codes() const {
    const Term packed = matrix(e_.x(kZeros), bytes_of(blocks_));
    const Term codes = cast_to(unpacked(packed, code_type(a_.bits)), DataType::kUint8);
    return first(codes, 1, e_.integers({blocks_}));
  }

  Term blocks_in_order() const {
    std::vector<int64_t> result;
    for (int64_t term = 0; term < a_.k; ++term) result.push_back(term / a_.block_size);
    return e_.integers(result);
  }

  ExpansionContext& e_;
  const MatMulNBitsAttributes& a_;
  int64_t blocks_ = 0;
};

void matmul_n_bits(ExpansionContext& e) {
  MatMulNBits(e).write();
}

// -- GatherBlockQuantized
// --------------------------------------------------------------------------

class GatherBlocks {
 public:
  explicit GatherBlocks(ExpansionContext& e)
      : e_(e),
        a_(e.attributes<GatherBlockQuantizedAttributes>()),
        type_(e.x(kData).known().type),
        rank_(e.x(kData).rank()),
        gathered_(axis("gather_axis", a_.gather_axis)),
        split_(axis("quantize_axis", a_.quantize_axis)),
        real_(contains(kSmallFloatTypes, type_)) {}

  void write() {
    validate();
    Term y = numbers();
    // What an index beyond the axis chooses is 0.
    std::vector<int64_t> behind;
    for (int64_t i = gathered_ + 1; i < rank_; ++i) {
      behind.push_back(e_.x(kIndices).rank() + i - gathered_ - 1);
    }
    e_.set(0, where(behind.empty() ? inside() : unsqueeze(inside(), behind), y, 0));
  }

 private:
  enum Input { kData, kIndices, kScales, kZeros };

  int64_t axis(const char* name, int64_t given) const {
    const int64_t result = given < 0 ? given + rank_ : given;
    if (result < 0 || result >= rank_) {
      e_.refuse("attribute " + std::string(name) + " is " + std::to_string(given) +
                ", but data has " + std::to_string(rank_) + " axes");
    }
    return result;
  }

  void validate() const {
    if (e_.x(kScales).rank() != rank_) {
      e_.refuse("data and scales have to have as many axes, found " + std::to_string(rank_) +
                " and " + std::to_string(e_.x(kScales).rank()));
    }
    if (!real_ || a_.block_size != 0) require_power_of_two(e_, a_.block_size);
    if (type_ == DataType::kUint8) {
      if (a_.bits < 8 && split_ != rank_ - 1) {
        e_.refuse(
            "attribute quantize_axis has to be the last axis of bytes that hold several "
            "codes each, found " +
            std::to_string(a_.quantize_axis));
      }
    } else if (!real_ && a_.bits != 4) {
      e_.refuse("attribute bits has to be 4 for data of " + std::string(data_type_name(type_)) +
                ", found " + std::to_string(a_.bits));
    }
    if (real_ && e_.has_x(kZeros)) {
      e_.refuse("data of " + std::string(data_type_name(type_)) + " has no zero_points");
    }
  }

  int64_t block_size() const {
    if (a_.block_size != 0) return a_.block_size;
    const Dim extent = e_.x(kData).extent(split_);
    if (!is_constant(extent)) {
      e_.refuse(
          "attribute block_size is 0, so that the extent of the quantised axis has to be "
          "known, found " +
          extent.to_string());
    }
    return std::max<int64_t>(1, constant_value(extent));
  }

  // -- Operands as they are
  // ------------------------------------------------------------------------

  Term codes(Term data) const {
    return type_ == DataType::kUint8 ? unpacked(data, code_type(a_.bits)) : data;
  }
  /// One for each block: floating-point codes may have fewer.
  Term scales() const {
    const Term scales = e_.x(kScales);
    if (!real_) return scales;
    const Term data = e_.x(kData);
    const Term blocks = extents(scales, split_, split_ + 1);
    return call(
        "Expand",
        {scales, join({extents(data, 0, split_), blocks, extents(data, split_ + 1, rank_)}, 0)});
  }
  std::optional<Term> middle(Term scales) const {
    if (type_ != DataType::kUint8) return std::nullopt;
    return middle_codes(scales, a_.bits);
  }
  /// Packed ones fill up whole bytes.
  Term whole_zeros(Term packed) const {
    return first(codes(packed), split_, extents(e_.x(kScales), split_, split_ + 1));
  }

  // -- Their chosen parts
  // --------------------------------------------------------------------------

  Term inside() const {
    const Term index = e_.x(kIndices), extent = codes_along(index);
    return call("And", {call("GreaterOrEqual", {index, -extent}), call("Less", {index, extent})});
  }
  /// How many codes the axis that is gathered has, in the type of `like`.
  Term codes_along(Term like) const {
    const Term extent = call("Squeeze", {extents(e_.x(kData), gathered_, gathered_ + 1)});
    const bool packed = type_ == DataType::kUint8 && gathered_ == rank_ - 1;
    return cast(packed ? static_cast<double>(8 / a_.bits) * extent : extent, like);
  }
  /// Positions along the axis that is gathered, of 0 to its extent: 0 in place of what lies beyond.
  Term chosen() const {
    const Term index = e_.x(kIndices), extent = codes_along(index);
    return where(inside(), where(call("Less", {index, index.number(0)}), index + extent, index), 0);
  }
  Term gather(Term from, Term index) const {
    return call("Gather", {from, index}, {{"axis", gathered_}});
  }
  /// Codes below a byte are gathered in the bytes that they lie in, or picked from them.
  Term gather_codes(Term index) const {
    const DataType type = type_ == DataType::kUint8 ? code_type(a_.bits) : type_;
    const int64_t each = 8 / element_bits(type);
    const Dim last = e_.x(kData).extent(-1);
    const bool whole =
        type_ == DataType::kUint8 || (is_constant(last) && constant_value(last) % each == 0);
    if (each > 1 && !whole) {
      const Term bytes = cast_to(bits_of(e_.x(kData), DataType::kUint4), DataType::kUint8);
      return bits_of(cast_to(gather(bytes, index), DataType::kUint4), type);
    }
    if (each == 1) return bits_of(gather(bits_of(e_.x(kData), DataType::kUint8), index), type);
    const Term bytes = unpacked(e_.x(kData), DataType::kUint8);
    if (gathered_ != rank_ - 1) return unpacked(gather(bytes, index), type);
    const Term several = index.number(static_cast<double>(each)), byte = index / several;
    const Term place = cast_to(index - byte * several, DataType::kUint8);
    const Term shift = place * place.number(static_cast<double>(element_bits(type)));
    const Term lowest = call("BitShift", {gather(bytes, byte), shift}, {{"direction", "RIGHT"}});
    const Term mask = lowest.number(static_cast<double>((1 << element_bits(type)) - 1));
    const DataType codes = code_type(element_bits(type));
    return bits_of(cast_to(call("BitwiseAnd", {lowest, mask}), codes), type);
  }
  static Term bits_of(Term codes, DataType type) {
    if (codes.known().type == type) return codes;
    return call("BitCast", {codes}, {{"to", static_cast<int64_t>(type)}});
  }
  std::optional<Term> gather_zeros(Term index) const {
    if (!e_.has_x(kZeros)) return middle(gather(e_.x(kScales), index));
    // Few, and of any extents.
    const Term each = cast_to(whole_zeros(e_.x(kZeros)), DataType::kInt8);
    return cast_to(gather(each, index), codes(e_.x(kZeros)).known().type);
  }

  /// Blocks lie along another axis than the one that is gathered, or each element takes the
  /// parameters of its block with it.
  Term numbers() const {
    const Term index = chosen();
    const bool along = gathered_ == split_;
    const Term block = along ? index / index.number(static_cast<double>(block_size())) : index;
    std::vector<Term> inputs{gather_codes(index), gather(scales(), block)};
    if (const auto zeros = gather_zeros(block)) inputs.push_back(*zeros);
    const int64_t rank = rank_ + e_.x(kIndices).rank() - 1;
    const int64_t behind = split_ < gathered_ ? split_ : split_ + e_.x(kIndices).rank() - 1;
    AttributeMap attributes;
    if (rank > 0) {
      attributes = {{"axis", along ? rank - 1 : behind}, {"block_size", along ? 1 : block_size()}};
    }
    return e_.add("DequantizeLinear", inputs, std::move(attributes), 1)[0];
  }

  ExpansionContext& e_;
  const GatherBlockQuantizedAttributes& a_;
  DataType type_;
  int64_t rank_, gathered_, split_;  // of data: rank, and the axes
  bool real_;
};

void gather_blocks(ExpansionContext& e) {
  GatherBlocks(e).write();
}

}  // namespace

void add_contrib_quantized_block_definitions(DefinitionRows& rows) {
  constexpr TypeSet kBytes = types({DataType::kUint8});
  rows.push_back(
      {.domain = kContribDomain,
       .name = "MatMulNBits",
       .inputs = {Parameter{"A", "T1"}.with("... K"),
                  Parameter{"B", "T2"}.with("N K/block_size block_size*bits/8"),
                  Parameter{"scales", "T1"}
                      .with("N*(K/block_size) | N K/block_size | N K/block_size | N*(K/block_size)")
                      .of(Domain::kPositive),
                  Parameter{"zero_points", "T3", kOptional}.with(
                      "absent | N*(K/block_size*bits/8) | N K/block_size | absent"),
                  Parameter{"g_idx", "T4", kOptional}
                      .with("absent | absent | absent | K")
                      .of(Domain::kBelow, 2),
                  Parameter{"bias", "T1", kOptional}.with("N")},
       .outputs = {{"Y", "T1"}},
       .facts = {.expand = matmul_n_bits},
       .types = {{"T1", kRealTypes},
                 {"T2", kBytes},
                 {"T3", kRealTypes | kBytes},
                 {"T4", types({DataType::kInt32})}},
       .kernel_types = {},
       .attributes = codec_of<MatMulNBitsAttributes>()});
  rows.push_back(
      {.domain = kContribDomain,
       .name = "GatherBlockQuantized",
       .inputs = {Parameter{"data", "T1"}.with("R 128*Q | R 128*Q*bits/8"),
                  Parameter{"indices", "Tind"}.of(Domain::kIndex),
                  Parameter{"scales", "T2"}.with("R Q").of(Domain::kPositive),
                  Parameter{"zero_points", "T1", kOptional}.with("R Q | R Q*bits/8")},
       .outputs = {{"output", "T2"}},
       .facts = {.expand = gather_blocks},
       .types = {{"T1", kBytes | kFloat8Types |
                            types({DataType::kInt4, DataType::kUint4, DataType::kFloat4E2M1})},
                 {"T2", kRealTypes},
                 {"Tind", kIndexTypes}},
       .kernel_types = {},
       .attributes = codec_of<GatherBlockQuantizedAttributes>()});
}

}  // namespace intarsia::definitions
