// SPDX-License-Identifier: Apache-2.0
//
// Attention as com.microsoft has it: products and a Softmax with one bias that holds all masks.
//
// Schemas: ONNX Runtime's documentation of its contrib operators, ContribOperators.md.
#include <cmath>

#include "core/definitions/contrib_scores.h"
#include "core/definitions/rows.h"

namespace intarsia::definitions {
namespace {

using namespace contrib;  // NOLINT: what the operators of attention are written with

constexpr auto kOptional = Parameter::kOptional;

// ---- Attention ----

struct AttentionAttributes {
  int32_t num_heads = 0;
  int32_t unidirectional = 0;
  IntList qkv_hidden_sizes;
  float mask_filter_value = -10000;
  float scale = kUnset;
  int32_t do_rotary = 0, rotary_embedding_dim = 0, past_present_share_buffer = 0;
  template <class V>
  void fields(V& v) {
    v.required("num_heads", num_heads, at_least(1));
    v("unidirectional", unidirectional, kFlag);
    v("qkv_hidden_sizes", qkv_hidden_sizes);
    v("mask_filter_value", mask_filter_value);
    v("scale", scale);
    v("do_rotary", do_rotary, between(0, 0));
    v("rotary_embedding_dim", rotary_embedding_dim);
    v("past_present_share_buffer", past_present_share_buffer, between(0, 0));
  }
};

/// Projections of one input, past keys and values in one tensor.
void attention(E& e) {
  enum { kInput, kWeights, kBias, kMask, kPast, kAttentionBias, kPastLength };
  const auto& a = e.attributes<AttentionAttributes>();
  refuse_inputs(e, {{kPastLength, "past_sequence_length"}});
  Term projected = call("MatMul", {e.x(kInput), e.x(kWeights)});
  if (e.has_x(kBias)) projected = projected + e.x(kBias);
  const auto sizes = a.qkv_hidden_sizes.view();
  if (!sizes.empty() && sizes.size() != 3) {
    e.refuse("attribute 'qkv_hidden_sizes' has " + std::to_string(sizes.size()) +
             " numbers, expected 3");
  }
  for (const int64_t size : sizes) {
    if (size < 1) {
      e.refuse("attribute 'qkv_hidden_sizes' has the number " + std::to_string(size) +
               ", expected 1 or more");
    }
  }
  const Integers parts = sizes.empty() ? Integers{0, 0, 0} : Integers{sizes.begin(), sizes.end()};
  const std::vector<Term> qkv = parts_of(e, projected, 2, parts);
  const Term q = heads_of(qkv[0], a.num_heads);
  Term k = heads_of(qkv[1], a.num_heads), v = heads_of(qkv[2], a.num_heads);
  const Term added = k;
  if (e.has_x(kPast)) {
    k = join({taken(e, e.x(kPast), 0, 0), k}, 2);
    v = join({taken(e, e.x(kPast), 0, 1), v}, 2);
  }
  if (e.wants(1)) e.set(1, join({unsqueeze(k, {0}), unsqueeze(v, {0})}, 0));
  Scores scores(e, q, k, static_cast<double>(a.mask_filter_value));
  if (e.has_x(kMask)) scores.require_mask(e.x(kMask), "mask_index");
  if (a.unidirectional != 0) scores.require_up_to(scores.queries(added));
  if (e.has_x(kAttentionBias)) scores.add(e.x(kAttentionBias));
  e.set(0, joined(attend(q, k, v, scores, a.scale)));
}

// ---- MultiHeadAttention ----

struct MultiHeadAttributes {
  int32_t num_heads = 0;
  int32_t unidirectional = 0;
  float mask_filter_value = -10000;
  float scale = kUnset;
  template <class V>
  void fields(V& v) {
    v.required("num_heads", num_heads, at_least(1));
    v("unidirectional", unidirectional, kFlag);
    v("mask_filter_value", mask_filter_value);
    v("scale", scale);
  }
};

class MultiHead {
 public:
  explicit MultiHead(E& e) : e_(e), a_(e.attributes<MultiHeadAttributes>()) {}

  void write() {
    refuse_inputs(e_, {{kPastLength, "past_sequence_length"}, {kCache, "cache_indirection"}});
    if (e_.wants(3)) e_.refuse("output 3 ('qk') is not supported");
    if (e_.has_x(kPastKey) != e_.has_x(kPastValue)) {
      e_.refuse("past_key and past_value belong together; one is missing");
    }
    std::vector<Term> qkv = operands();
    const Term q = qkv[0];
    Term k = qkv[1], v = qkv[2];
    const Term added = k;
    if (e_.has_x(kPastKey)) {
      k = join({e_.x(kPastKey), k}, 2);
      v = join({e_.x(kPastValue), v}, 2);
    }
    e_.set(1, k);
    e_.set(2, v);
    Scores scores(e_, q, k, static_cast<double>(a_.mask_filter_value));
    if (e_.has_x(kMask)) scores.require_mask(e_.x(kMask), "key_padding_mask");
    if (a_.unidirectional != 0) scores.require_up_to(scores.queries(added));
    if (e_.has_x(kAttentionBias)) scores.add(e_.x(kAttentionBias));
    e_.set(0, joined(attend(q, k, v, scores, a_.scale)));
  }

 private:
  enum {
    kQuery,
    kKey,
    kValue,
    kBias,
    kMask,
    kAttentionBias,
    kPastKey,
    kPastValue,
    kPastLength,
    kCache
  };

  /// [batch, heads, length, size], of the forms that the operator takes.
  std::vector<Term> operands() {
    const Term query = e_.x(kQuery);
    if (query.rank() == 5) return packed(query, {0, 1, 2});
    if (query.rank() != 3) refuse_rank("query", query);
    if (!e_.has_x(kKey)) e_.refuse("key is missing, and query is not packed with it");
    const Term key = e_.x(kKey);
    const Term q = heads_of(biased(query, 0), a_.num_heads);
    if (key.rank() == 5) {
      std::vector<Term> kv = packed(key, {1, 2});
      return {q, kv[0], kv[1]};
    }
    if (!e_.has_x(kValue)) e_.refuse("value is missing, and key is not packed with it");
    if (key.rank() == 4) return {q, key, e_.x(kValue)};
    if (key.rank() != 3) refuse_rank("key", key);
    return {q, heads_of(biased(key, 1), a_.num_heads),
            heads_of(biased(e_.x(kValue), 2), a_.num_heads)};
  }

  /// Of [batch, length, heads, parts, size]; `parts` number those of the bias.
  std::vector<Term> packed(Term whole, const Integers& parts) {
    std::vector<Term> result;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Term part =
          with_extents(taken(e_, whole, 3, static_cast<int64_t>(i)), e_.integers({0, 0, -1}));
      result.push_back(heads_of(biased(part, parts[i]), a_.num_heads));
    }
    return result;
  }

  /// With the bias of the query (0), the key or the value, which lie one behind the other.
  Term biased(Term term, int64_t part) {
    if (!e_.has_x(kBias)) return term;
    const Term bias = e_.x(kBias);
    const Term width = extents(term, 2, 3);
    if (part == 2) {  // at the end: the value may be of another width
      const Term end = extents(bias, 0, 1);
      return term + call("Slice", {bias, end - width, end});
    }
    const Term begin = static_cast<double>(part) * width;
    return term + call("Slice", {bias, begin, begin + width});
  }

  void refuse_rank(const char* name, Term term) const {
    e_.refuse(std::string(name) + " has " + std::to_string(term.rank()) +
              " axes, expected 3, or 5 where operands are packed");
  }

  E& e_;
  const MultiHeadAttributes& a_;
};

// ---- RelativePositionBias ----

struct RelativePositionAttributes {
  int32_t max_distance = 0;
  int32_t is_bidirectional = 0;
  template <class V>
  void fields(V& v) {
    v.required("max_distance", max_distance, at_least(1));
    v("is_bidirectional", is_bidirectional, kFlag);
  }
};

/// What is added to scores by the distance of query and key: one of the numbers that a head has, a
/// distance of its own for near keys, ranges that grow by a factor for those farther off.
void relative_position_bias(E& e) {
  const auto& a = e.attributes<RelativePositionAttributes>();
  const Term table = e.x(0);
  if (table.rank() != 2) {
    e.refuse("bias_table has to have 2 axes, found " + std::to_string(table.rank()));
  }
  const Dim rows = table.extent(0);
  const int64_t sides = a.is_bidirectional != 0 ? 2 : 1;
  if (!is_constant(rows) || constant_value(rows) < 2 * sides) {
    e.refuse("the first extent of bias_table has to be known and at least " +
             std::to_string(2 * sides) + ", found " + rows.to_string());
  }
  const int64_t buckets = constant_value(rows) / sides, exact = buckets / 2;
  if (a.max_distance <= exact) {
    e.refuse("attribute max_distance is " + std::to_string(a.max_distance) +
             "; has to be more than the distances that have a number each, " +
             std::to_string(exact));
  }
  const auto places = [&](int input, int64_t axis) {
    const Term length = with_extents(e.x(input), e.integers({}));
    return unsqueeze(call("Range", {length.number(0), length, length.number(1)}), {axis});
  };
  const Term ahead = places(2, 0) - places(1, 1);  // of the key
  const Term distance = sides == 2 ? call("Abs", {ahead}) : call("Max", {-ahead, ahead.number(0)});
  // Nearer ones have no logarithm that matters.
  const double growth = std::log(static_cast<double>(a.max_distance) / static_cast<double>(exact));
  const Term times = cast_to(call("Max", {distance, distance.number(1)}), DataType::kFloat) /
                     static_cast<double>(exact);
  const Term range = static_cast<double>(buckets - exact) * (call("Log", {times}) / growth);
  const Term far = cast(range, distance) + static_cast<double>(exact);
  const auto last = static_cast<double>(buckets - 1);
  Term bucket = where(call("Less", {distance, distance.number(static_cast<double>(exact))}),
                      distance, call("Min", {far, far.number(last)}));
  if (sides == 2) {
    const Term behind = call("Greater", {ahead, ahead.number(0)});
    bucket = bucket + where(behind, ahead.number(static_cast<double>(buckets)), 0);
  }
  // The numbers of a head follow one another, whatever the extents say.
  const Term of_heads = with_extents(table, join({extents(table, 1, 2), extents(table, 0, 1)}, 0));
  e.set(0, unsqueeze(call("Gather", {of_heads, bucket}, {{"axis", int64_t{1}}}), {0}));
}

}  // namespace

void add_contrib_attention_definitions(DefinitionRows& rows) {
  const TypeConstraint real{"T", kFloatTypes}, whole{"M", types({DataType::kInt32})};
  const auto optional = [](std::string_view name, std::string_view type) {
    return Parameter{name, type, kOptional};
  };
  rows.push_back(
      {.domain = kContribDomain,
       .name = "Attention",
       .inputs =
           {Parameter{"input", "T"}.with("B S I"),
            Parameter{"weights", "T"}.with("I 3*num_heads*D"),
            optional("bias", "T").with("3*num_heads*D"),
            optional("mask_index", "M").with("B | B S | B P+S | 2*B").of(Domain::kNonNegative),
            optional("past", "T").with("absent | absent | 2 B num_heads P D | absent"),
            optional("attention_bias", "T")
                .with("B num_heads S S | 1 1 S S | B num_heads S P+S | 1 num_heads S S"),
            optional("past_sequence_length", "M").with("absent")},
       .outputs = {{"output", "T"}, optional("present", "T")},
       .facts = {.expand = attention},
       .types = {real, whole},
       .kernel_types = {},
       .attributes = codec_of<AttentionAttributes>()});
  rows.push_back(
      {.domain = kContribDomain,
       .name = "MultiHeadAttention",
       .inputs =
           {Parameter{"query", "T"}.with("B S num_heads*D | B S num_heads 3 D | B S num_heads*D | "
                                         "B S num_heads*D | B S num_heads*D"),
            optional("key", "T")
                .with("B T num_heads*D | absent | B T num_heads 2 D | B num_heads T D | B T "
                      "num_heads*D"),
            optional("value", "T")
                .with("B T num_heads*E | absent | absent | B num_heads T E | B T num_heads*E"),
            optional("bias", "T")
                .with("num_heads*D+num_heads*D+num_heads*E | 3*num_heads*D | 3*num_heads*D | "
                      "absent | num_heads*D+num_heads*D+num_heads*E"),
            optional("key_padding_mask", "M")
                .with("B T | B S | B | B T | B P+T")
                .of(Domain::kNonNegative),
            optional("attention_bias", "T")
                .with("B num_heads S T | 1 num_heads S S | B 1 S T | 1 1 S T | B num_heads S P+T"),
            optional("past_key", "T").with("absent | absent | absent | absent | B num_heads P D"),
            optional("past_value", "T").with("absent | absent | absent | absent | B num_heads P E"),
            optional("past_sequence_length", "M").with("absent"),
            optional("cache_indirection", "M").with("absent")},
       .outputs = {{"output", "T"},
                   optional("present_key", "T"),
                   optional("present_value", "T"),
                   optional("qk", "T")},
       .facts = {.expand = [](E& e) { MultiHead(e).write(); }},
       .types = {real, whole},
       .kernel_types = {},
       .attributes = codec_of<MultiHeadAttributes>()});
  rows.push_back({.domain = kContribDomain,
                  .name = "RelativePositionBias",
                  .inputs = {Parameter{"bias_table", "T"}.with("R+4 H"),
                             Parameter{"query_length", "U"}.with("1").deciding(Domain::kAtLeastOne),
                             Parameter{"key_length", "U"}.with("1").deciding(Domain::kAtLeastOne)},
                  .outputs = {{"output", "T"}},
                  .facts = {.expand = relative_position_bias},
                  .types = {real, {"U", kInt64Type}},
                  .kernel_types = {},
                  .attributes = codec_of<RelativePositionAttributes>()});
}

}  // namespace intarsia::definitions
