// SPDX-License-Identifier: Apache-2.0
//
// Attention and what stands around it, as products, masks and Softmax.
#include <cmath>
#include <limits>
#include <optional>

#include "core/definitions/attention_terms.h"
#include "core/definitions/computed_types.h"
#include "core/definitions/expansion.h"
#include "core/definitions/gradient.h"
#include "core/definitions/rows.h"
#include "core/operators/nn/attention.h"

namespace intarsia::definitions {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The scale to a power.
Term scale_of(Term q, float scale, double power) {
  if (!std::isnan(scale)) return q.number(std::pow(double{scale}, power));
  const Dim size = q.extent(3);
  if (is_constant(size)) {
    return q.number(std::pow(static_cast<double>(constant_value(size)), -0.5 * power));
  }
  const Term known = cast_to(call("Squeeze", {extents(q, 3, 4)}), DataType::kDouble);
  return cast(call("Pow", {known, known.number(-0.5 * power)}), q);
}

/// How many heads of q share one of k.
int64_t members_of(Term q, Term k) {
  const Dim mine = q.extent(1), theirs = k.extent(1);
  if (mine == theirs) return 1;
  if (!is_constant(mine) || !is_constant(theirs) || constant_value(theirs) == 0 ||
      constant_value(mine) % constant_value(theirs) != 0) {
    q.context().refuse("has " + mine.to_string() + " heads of Q and " + theirs.to_string() +
                       " of K; the first number has to be a multiple of the second");
  }
  return constant_value(mine) / constant_value(theirs);
}

/// The scores of a single query: products of the keys as they lie by the query as a column, or by
/// those of all heads that share them.
Term scores_of_query(Term q, Term k) {
  const Term members = integers(q, {members_of(q, k)});
  const Term split = join({extents(k, 0, 2), members, extents(q, 3, 4)}, 0);
  const Term product = call("MatMul", {k, transpose(with_extents(q, split), {0, 1, 3, 2})});
  return with_extents(transpose(product, {0, 1, 3, 2}),
                      join({extents(q, 0, 3), extents(k, 2, 3)}, 0));
}

}  // namespace

Term product_of_heads(Term left, Term right, Term q, Term k) {
  const int64_t members = members_of(q, k);
  if (members == 1) return call("MatMul", {left, right});
  const int64_t groups = constant_value(k.extent(1));
  const Term split =
      join({extents(left, 0, 1), integers(left, {groups, members}), extents(left, 2, 4)}, 0);
  const Term many = call("MatMul", {with_extents(left, split), unsqueeze(right, {2})});
  return with_extents(many, join({extents(left, 0, 3), extents(right, 3, 4)}, 0));
}

Term scores_of_heads(Term q, Term k, float scale) {
  const Dim length = q.extent(2);
  const bool single = is_constant(length) && constant_value(length) == 1;
  // A scale above 1 is shared, so that no product with it overflows; there may be many more keys
  // than queries.
  if (scale > 1) {
    const Term root = scale_of(q, scale, 0.5);
    q = q * root;
    k = k * root;
  } else {
    q = q * scale_of(q, scale, 1);
  }
  return single ? scores_of_query(q, k) : product_of_heads(q, transpose(k, {0, 1, 3, 2}), q, k);
}

Term capped(Term scores, float cap) {
  return cap > 0 ? double{cap} * call("Tanh", {scores / double{cap}}) : scores;
}

Term without_closed_rows(Term weights, Term bias) {
  if (bias.rank() == 0) bias = unsqueeze(bias, {0});
  const Term largest = call("ReduceMax", {bias, integers(bias, {-1})});
  return where(call("Equal", {largest, bias.number(-kInfinity)}), 0, weights);
}

namespace {

// -- Attention
// ------------------------------------------------------------------------------------

class Attention {
 public:
  explicit Attention(ExpansionContext& e)
      : e_(e),
        a_(e.attributes<AttentionAttributes>()),
        given_(e.x(0).known().type),
        type_(given_ == DataType::kDouble ? DataType::kDouble : DataType::kFloat) {}

  /// Operands of 16 bits are computed with in float, and round once.
  void write() {
    validate();
    Term q = e_.x(kQuery), k = e_.x(kKey), v = e_.x(kValue);
    const bool packed = q.rank() == 3;
    if (packed) {
      q = heads(q, a_.q_num_heads);
      k = heads(k, a_.kv_num_heads);
      v = heads(v, a_.kv_num_heads);
    }
    if (e_.has_x(kPastKey)) {
      k = join({e_.x(kPastKey), k}, 2);
      v = join({e_.x(kPastValue), v}, 2);
    }
    e_.set(1, k);
    e_.set(2, v);
    q = cast_to(q, type_);
    k = cast_to(k, type_);
    v = cast_to(v, type_);

    Term scores = scores_of_heads(q, k, a_.scale);
    if (a_.qk_matmul_output_mode == 0) e_.set(3, cast_to(scores, given_));
    scores = capped(scores, a_.softcap);
    if (a_.qk_matmul_output_mode == 1) e_.set(3, cast_to(scores, given_));
    const std::optional<Term> bias = bias_of(q, k);
    if (bias) scores = scores + *bias;
    if (a_.qk_matmul_output_mode == 2) e_.set(3, cast_to(scores, given_));
    const auto precision = static_cast<DataType>(a_.softmax_precision);
    if (precision != DataType::kUndefined) scores = cast_to(scores, precision);
    Term weights = cast_to(call("Softmax", {scores}, {{"axis", int64_t{-1}}}), type_);
    if (bias) weights = without_closed_rows(weights, *bias);
    if (a_.qk_matmul_output_mode == 3) e_.set(3, cast_to(weights, given_));
    Term y = product_of_heads(weights, v, q, k);
    if (packed) y = with_extents(transpose(y, {0, 2, 1, 3}), integers(y, {0, 0, -1}));
    e_.set(0, cast_to(y, given_));
  }

 private:
  enum Input { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

  void validate() const {
    const int rank = e_.x(kQuery).rank();
    for (const int input : {kQuery, kKey, kValue}) {
      const int found = e_.x(input).rank();
      if ((found != 3 && found != 4) || found != rank) {
        e_.refuse("Q, K and V have to have 3 or 4 axes all; input " + std::to_string(input) +
                  " has " + std::to_string(found));
      }
    }
    if (rank == 3 && (a_.q_num_heads == 0 || a_.kv_num_heads == 0)) {
      e_.refuse("Q, K and V with 3 axes need attributes q_num_heads and kv_num_heads");
    }
    if (e_.has_x(kPastKey) != e_.has_x(kPastValue)) {
      e_.refuse("past_key and past_value belong together; one is missing");
    }
    if (e_.has_x(kPastKey) && e_.has_x(kLengths)) {
      e_.refuse("nonpad_kv_seqlen cannot be used together with past_key");
    }
  }

  /// [batch, length, heads * size] as [batch, heads, length, size].
  static Term heads(Term term, int64_t count) {
    return transpose(with_extents(term, integers(term, {0, 0, count, -1})), {0, 2, 1, 3});
  }

  Term open(Term condition) const {
    return where(condition, e_.number(type_, 0), e_.number(type_, -kInfinity));
  }

  /// What is added to the scores; nothing where every key is open to every query.
  std::optional<Term> bias_of(Term q, Term k) const {
    std::optional<Term> bias, allowed;
    const auto require = [&](Term condition) {
      allowed = allowed ? call("And", {*allowed, condition}) : condition;
    };
    if (e_.has_x(kMask)) bias = mask(k);
    const bool causal = a_.is_causal != 0;
    if (causal || a_.left_window_size >= 0 || a_.right_window_size >= 0) {
      const Term key = positions(k, 2);
      const Term query = unsqueeze(positions(q, 2), {1}) + offset(q);
      if (causal) require(call("LessOrEqual", {key, query}));
      if (a_.left_window_size >= 0) {
        require(call("GreaterOrEqual", {key, query - double(a_.left_window_size)}));
      }
      if (a_.right_window_size >= 0) {
        require(call("LessOrEqual", {key, query + double(a_.right_window_size)}));
      }
    }
    if (e_.has_x(kLengths)) require(call("Less", {positions(k, 2), lengths()}));
    if (!allowed) return bias;
    return bias ? *bias + open(*allowed) : open(*allowed);
  }

  /// The numbers of keys that are none of the padding, one for each item of the batch.
  Term lengths() const { return unsqueeze(e_.x(kLengths), {1, 2, 3}); }

  /// The position of the first query among the keys.
  Term offset(Term q) const {
    if (e_.has_x(kPastKey)) return call("Squeeze", {extents(e_.x(kPastKey), 2, 3)});
    if (e_.has_x(kLengths)) return lengths() - call("Squeeze", {extents(q, 2, 3)});
    return e_.number(DataType::kInt64, 0);
  }

  /// attn_mask as a bias, with -infinity for the keys that it does not reach to.
  Term mask(Term k) const {
    Term given = e_.x(kMask);
    Term bias = given.known().type == DataType::kBool ? open(given) : cast_to(given, type_);
    const int rank = bias.rank();
    if (rank == 0) return bias;
    const Dim reached = bias.extent(-1), keys = k.extent(2);
    if (reached == keys) return bias;
    const Term missing = extents(k, 2, 3) - extents(bias, rank - 1, rank);
    const std::vector<int64_t> zeros(static_cast<size_t>(2 * rank - 1), 0);
    return call("Pad",
                {bias, join({e_.integers(zeros), missing}, 0), e_.number(type_, -kInfinity)});
  }

  ExpansionContext& e_;
  const AttentionAttributes& a_;
  DataType given_, type_;  // of the operands, and of the computation
};

void attention(ExpansionContext& e) {
  Attention(e).write();
}

// -- Cache
// -------------------------------------------------------------------------------------------

/// Element i of an item's update along the axis becomes element write_indices[item] + i of its
/// cache.
void tensor_scatter(ExpansionContext& e) {
  const auto& a = e.attributes<TensorScatterAttributes>();
  const Term cache = e.x(0), update = e.x(1);
  const int rank = cache.rank(), axis = a.axis < 0 ? a.axis + rank : a.axis;
  if (axis < 1 || axis >= rank || update.rank() != rank) {
    e.refuse("axis " + std::to_string(a.axis) + " has to be one of the cache, which has " +
             std::to_string(rank) + ", without the first; the update has " +
             std::to_string(update.rank()) + " axes");
  }
  Term places = positions(update, axis);
  if (e.has_x(2)) places = places + unsqueeze(e.x(2), axes_between(1, axis + 1));
  if (a.mode == TensorScatterAttributes::kCircular) {
    places = call("Mod", {places, call("Squeeze", {extents(cache, axis, axis + 1)})});
  }
  // What lies behind the axis is moved as a whole: a place is one for each axis up to it.
  const Term moved = extents(update, 0, axis + 1);
  std::vector<Term> index;
  for (int i = 0; i <= axis; ++i) {
    const Term along =
        i == axis ? places : unsqueeze(positions(update, i), axes_between(1, axis + 1 - i));
    index.push_back(unsqueeze(call("Expand", {along, moved}), {axis + 1}));
  }
  const Term indices = e.add("Concat", index, {{"axis", int64_t{axis} + 1}}, 1).front();
  e.set(0, call("ScatterND", {cache, indices, update}));
}

// -- Rotary embedding
// -----------------------------------------------------------------------------

/// Of [batch, length, heads, size], or [batch, heads, length, size] as it is given.
void rotary_embedding(ExpansionContext& e) {
  const auto& a = e.attributes<RotaryEmbeddingAttributes>();
  const Term given = e.x(0);
  if (given.rank() != 3 && given.rank() != 4) {
    e.refuse("X has to have 3 or 4 axes, found " + std::to_string(given.rank()));
  }
  const bool packed = given.rank() == 3;
  if (packed && a.num_heads == 0) e.refuse("X with 3 axes needs attribute num_heads");
  const Term x = packed ? with_extents(given, integers(given, {0, 0, a.num_heads, -1})) : given;
  const Dim size = x.extent(3);
  if (!is_constant(size)) {
    e.refuse("the size of a head has to be known, found " + size.to_string() +
             "; give the dimension with --dim or --shape");
  }
  const int64_t whole = constant_value(size);
  const int64_t rotated = a.rotary_embedding_dim != 0 ? a.rotary_embedding_dim : whole;
  if (rotated > whole || rotated % 2 != 0) {
    e.refuse("rotates " + std::to_string(rotated) + " elements of heads of size " +
             std::to_string(whole) + "; expected an even number that is not larger");
  }
  const auto angles = [&](int input) {
    Term cache = e.x(input);
    if (e.has_x(3)) cache = call("Gather", {cache, e.x(3)}, {{"axis", int64_t{0}}});
    if (cache.rank() != 3) {
      e.refuse("the caches have to have 2 axes with position_ids and 3 without, found " +
               std::to_string(e.x(input).rank()));
    }
    const Dim half = cache.extent(2);
    if (is_constant(half) && constant_value(half) != rotated / 2) {
      e.refuse("the caches have " + half.to_string() + " angles, expected " +
               std::to_string(rotated / 2));
    }
    return unsqueeze(cache, {packed ? 2 : 1});
  };
  const Term y =
      call("intarsia:Rotate", {x, angles(1), angles(2)}, {{"interleaved", int64_t{a.interleaved}}});
  e.set(0, packed ? with_extents(y, integers(x, {0, 0, -1})) : y);
}

// -- Convolution with a state
// ---------------------------------------------------------------------

void causal_conv(ExpansionContext& e) {
  const auto& a = e.attributes<CausalConvAttributes>();
  const Term weight = e.x(1);
  if (e.x(0).rank() != 3 || weight.rank() != 3) {
    e.refuse("input and weight have to have 3 axes, found " + std::to_string(e.x(0).rank()) +
             " and " + std::to_string(weight.rank()));
  }
  const Dim channels = weight.extent(0), taps = weight.extent(2);
  if (!is_constant(channels) || !is_constant(taps) || constant_value(taps) < 1) {
    e.refuse("the extents of its weight have to be known, found " + channels.to_string() +
             " channels and " + taps.to_string() + " taps");
  }
  const int64_t before = constant_value(taps) - 1;
  const Term x = e.has_x(3) ? join({e.x(3), e.x(0)}, 2)
                            : call("Pad", {e.x(0), e.integers({0, 0, before, 0, 0, 0})});
  const AttributeMap attributes{{"group", constant_value(channels)}};
  Term y = e.has_x(2) ? call("Conv", {x, weight, e.x(2)}, attributes)
                      : call("Conv", {x, weight}, attributes);
  if (a.activation != CausalConvAttributes::kNone) y = y * call("Sigmoid", {y});
  e.set(0, y);
  if (!e.wants(1)) return;
  // -0 is no index from the end.
  const Term end = extents(x, 2, 3);
  e.set(1, call("Slice", {x, end - double(before), end, e.integers({2})}));
}

}  // namespace

void add_attention_definitions(DefinitionRows& rows) {
  constexpr auto kOptional = Parameter::kOptional;
  constexpr TypeSet kHalvesAndFloat =
      types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16});
  rows.push_back(
      {.name = "Attention",
       .since_version = 25,
       .inputs = {Parameter{"Q", "T1"}.with(
                      "B G*R S D | B S q_num_heads*D | B G*R S D | B S q_num_heads*D | B G*R S D"),
                  Parameter{"K", "T1"}.with(
                      "B G T D | B T kv_num_heads*D | B G T D | B T kv_num_heads*D | B G T D"),
                  Parameter{"V", "T2"}.with(
                      "B G T E | B T kv_num_heads*E | B G T E | B T kv_num_heads*E | B G T E"),
                  Parameter{"attn_mask", "U", kOptional}.with(
                      "S T | B 1 S T | B G*R S P+T | S P+T | 1 T"),
                  Parameter{"past_key", "T1", kOptional}.with(
                      "absent | absent | B G P D | B kv_num_heads P D | absent"),
                  Parameter{"past_value", "T2", kOptional}.with(
                      "absent | absent | B G P E | B kv_num_heads P E | absent"),
                  Parameter{"nonpad_kv_seqlen", "I", kOptional}
                      .with("absent | absent | absent | absent | B")
                      .of(Domain::kLength, 1)},
       .outputs = {{"Y", "T1"},
                   {"present_key", "T1", kOptional},
                   {"present_value", "T2", kOptional},
                   {"qk_matmul_output", "T1", kOptional}},
       .facts = {.expand = attention},
       .types = {{"T1", kFloatTypes},
                 {"T2", kFloatTypes},
                 {"U", kNumericTypes | kBoolType},
                 {"I", kInt64Type}},
       .kernel_types = {},
       .attributes = codec_of<AttentionAttributes>()});
  add<ops::Rotate>(rows,
                   {.domain = kInternalDomain,
                    .name = "Rotate",
                    .inputs = {same({"x", "T"}), apart({"cosines", "T"}), apart({"sines", "T"})},
                    .outputs = {same({"y", "T"})},
                    .facts = {.axes = {.form = AxisForm::kPosition}, .gradient = gradients::rotate},
                    .types = {{"T", kHalvesAndFloat}},
                    .kernel_types = {"T"},
                    .attributes = codec_of<RotateAttributes>()});
  rows.push_back(
      {.name = "RotaryEmbedding",
       .since_version = 23,
       .inputs =
           {same({"X", "T"}).with("B H S 2*D | B S num_heads*2*D | B H S 2*D | B S num_heads*2*D"),
            Parameter{"cos_cache", "T"}.with("B S D | B S D | P D | P D"),
            Parameter{"sin_cache", "T"}.with("B S D | B S D | P D | P D"),
            Parameter{"position_ids", "M", kOptional}
                .with("absent | absent | B S | B S")
                .of(Domain::kIndex, 1)},
       .outputs = {same({"Y", "T"})},
       .facts = {.expand = rotary_embedding},
       .types = {{"T", kHalvesAndFloat}, {"M", kInt64Type}},
       .kernel_types = {},
       .attributes = codec_of<RotaryEmbeddingAttributes>()});
  rows.push_back(
      {.name = "TensorScatter",
       .since_version = 24,
       .inputs = {Parameter{"past_cache", "T"}.with("B H M+U D | B M+U D"),
                  Parameter{"update", "T"}.with("B H U D | B U D"),
                  Parameter{"write_indices", "I", kOptional}.with("B").of(Domain::kNonNegative)},
       .outputs = {{"present_cache", "T"}},
       .facts = {.expand = tensor_scatter, .computed = bytes_for_small},
       .types = {{"T", kElementTypes}, {"I", kInt64Type}},
       .kernel_types = {},
       .attributes = codec_of<TensorScatterAttributes>()});
  rows.push_back(
      {.name = "CausalConvWithState",
       .since_version = 27,
       .inputs = {Parameter{"input", "T"}.with("B C L"), Parameter{"weight", "T"}.with("C 1 P+1"),
                  Parameter{"bias", "T", kOptional}.with("C"),
                  Parameter{"past_state", "T", kOptional}.with("B C P")},
       .outputs = {{"output", "T"}, {"present_state", "T"}},
       .facts = {.expand = causal_conv},
       .types = {{"T", kHalvesAndFloat}},
       .kernel_types = {},
       .attributes = codec_of<CausalConvAttributes>()});
}

}  // namespace intarsia::definitions
