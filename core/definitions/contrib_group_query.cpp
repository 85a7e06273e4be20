// SPDX-License-Identifier: Apache-2.0
//
// Attention of decoders as com.microsoft has it: rotary embeddings, and queries that share keys and
// values which a cache keeps.
//
// Schemas: ONNX Runtime's documentation of its contrib operators, ContribOperators.md.
#include "core/definitions/contrib_scores.h"
#include "core/definitions/rows.h"

namespace intarsia::definitions {
namespace {

using namespace contrib;  // NOLINT: what the operators of attention are written with

constexpr auto kOptional = Parameter::kOptional;

// ---- RotaryEmbedding ----

struct RotaryAttributes {
  int32_t interleaved = 0, num_heads = 0, rotary_embedding_dim = 0, is_packed_batching = 0;
  float scale = 1;
  template <class V>
  void fields(V& v) {
    v("interleaved", interleaved, kFlag);
    v("num_heads", num_heads, at_least(0));
    v("rotary_embedding_dim", rotary_embedding_dim, at_least(0));
    v("is_packed_batching", is_packed_batching, between(0, 0));
    v("scale", scale);
  }
};

/// The positions of all elements, from [batch, length], or from the first element's.
Term places_of(E& e, Term x, Term given) {
  const int length = x.rank() == 4 ? 2 : 1;
  if (given.rank() == 2) return given;
  const Term all = unsqueeze(positions(x, length), {0}) + given;
  return call("Expand", {all, join({extents(x, 0, 1), e.integers({1})}, 0)});
}

/// How many elements the caches turn.
int64_t rotated_by(E& e, Term cache) {
  const Dim half = cache.extent(-1);
  if (!is_constant(half)) {
    e.refuse("the extents of cos_cache have to be known, found " + half.to_string());
  }
  return 2 * constant_value(half);
}

/// x, whose heads are axis `heads`, turned by the angles at its elements' places.
Term rotate(E& e, Term x, int64_t heads, Term places, Term cosines, Term sines,
            int32_t interleaved) {
  const auto angles = [&](Term cache) {
    if (cache.rank() != 2) {
      e.refuse("cos_cache and sin_cache have to have 2 axes, found " +
               std::to_string(cache.rank()));
    }
    const Term chosen = call("Gather", {cast_to(cache, x.known().type), places});
    return unsqueeze(chosen, {heads});
  };
  return call("intarsia:Rotate", {x, angles(cosines), angles(sines)},
              {{"interleaved", int64_t{interleaved}}});
}

void rotary_embedding(E& e) {
  const auto& a = e.attributes<RotaryAttributes>();
  if (a.scale != 1) {
    e.refuse("attribute 'scale' has to be 1, found " + std::to_string(a.scale));
  }
  Term x = e.x(0);
  if (x.rank() != 3 && x.rank() != 4) {
    e.refuse("input has " + std::to_string(x.rank()) + " axes, expected 3 or 4");
  }
  const bool packed = x.rank() == 3;
  if (packed && a.rotary_embedding_dim != 0 && a.num_heads == 0) {
    e.refuse("attribute 'rotary_embedding_dim' needs attribute 'num_heads'");
  }
  const int64_t size = rotated_by(e, e.x(2));
  if (a.rotary_embedding_dim != 0 && a.rotary_embedding_dim != size) {
    e.refuse("attribute 'rotary_embedding_dim' is " + std::to_string(a.rotary_embedding_dim) +
             ", expected twice the " + std::to_string(size / 2) + " columns of cos_cache");
  }
  if (packed) {
    const Integers split =
        a.num_heads != 0 ? Integers{0, 0, a.num_heads, -1} : Integers{0, 0, -1, size};
    x = with_extents(x, e.integers(split));
  }
  const Dim whole = x.extent(3);
  if (a.rotary_embedding_dim == 0 && is_constant(whole) && constant_value(whole) != size) {
    e.refuse(
        "cos_cache has " + std::to_string(size / 2) + " columns, expected half of the " +
        whole.to_string() +
        " elements of a head; attribute 'rotary_embedding_dim' says that only some are turned");
  }
  const Term y =
      rotate(e, x, packed ? 2 : 1, places_of(e, e.x(0), e.x(1)), e.x(2), e.x(3), a.interleaved);
  e.set(0, packed ? with_extents(y, e.integers({0, 0, -1})) : y);
}

// ---- GroupQueryAttention ----

struct GroupQueryAttributes {
  int32_t num_heads = 0, kv_num_heads = 0;
  float scale = kUnset;
  float softcap = 0;
  int32_t local_window_size = -1;
  int32_t do_rotary = 0, rotary_interleaved = 0, smooth_softmax = 0;
  template <class V>
  void fields(V& v) {
    v.required("num_heads", num_heads, at_least(1));
    v.required("kv_num_heads", kv_num_heads, at_least(1));
    v("scale", scale);
    v("softcap", softcap);
    v("local_window_size", local_window_size, at_least(-1));
    v("do_rotary", do_rotary, kFlag);
    v("rotary_interleaved", rotary_interleaved, kFlag);
    v("smooth_softmax", smooth_softmax, between(0, 0));
  }
};

/// New keys and values are put into the cache where each item of the batch ends, and queries see
/// what lies before them.
class GroupQuery {
 public:
  explicit GroupQuery(E& e) : e_(e), a_(e.attributes<GroupQueryAttributes>()) {}

  void write() {
    refuse_inputs(e_, {{kSink, "head_sink"}, {kSink + 1, "k_scale"}, {kSink + 2, "v_scale"}});
    if (e_.wants(3)) e_.refuse("output 3 ('output_qk') is not supported");
    if (e_.has_x(kKey) != e_.has_x(kValue)) e_.refuse("key and value belong together");
    if (e_.has_x(kPastKey) != e_.has_x(kPastValue)) {
      e_.refuse("past_key and past_value belong together; one is missing");
    }
    if (a_.do_rotary != 0 && (!e_.has_x(kCosines) || !e_.has_x(kSines))) {
      e_.refuse("attribute 'do_rotary' needs inputs cos_cache and sin_cache");
    }
    std::vector<Term> qkv = operands();
    Term q = qkv[0], k = qkv[1];
    const Term length = call("Squeeze", {extents(q, 2, 3)});
    const Term ends = with_extents(cast_to(e_.x(kLengths), DataType::kInt64), e_.integers({-1}));
    const Term before = ends + 1.0 - length;
    // Queries of a first run are padded behind.
    const Term starts = call("Max", {before, before.number(0)});
    const Term places = unsqueeze(starts, {1}) + positions(q, 2);
    if (a_.do_rotary != 0) {
      const Term given = e_.has_x(kPlaces) ? given_places(q, length) : places;
      q = rotate(e_, q, 1, given, e_.x(kCosines), e_.x(kSines), a_.rotary_interleaved);
      k = rotate(e_, k, 1, given, e_.x(kCosines), e_.x(kSines), a_.rotary_interleaved);
    }
    k = cached(k, kPastKey, starts);
    const Term v = cached(qkv[2], kPastValue, starts);
    e_.set(1, k);
    e_.set(2, v);

    Scores scores(e_, q, k, -kInfinity);
    const Term queries = unsqueeze(places, {1, 3});  // [batch, 1, queries, 1]
    scores.require_up_to(queries);
    if (a_.local_window_size >= 0) {
      const Term first = queries - static_cast<double>(a_.local_window_size);
      scores.require(call("Greater", {scores.keys(), first}));
    }
    if (e_.has_x(kAttentionBias)) scores.add(bias_of(k));
    e_.set(0, joined(attend(q, k, v, scores, a_.scale, a_.softcap)));
  }

 private:
  enum {
    kQuery,
    kKey,
    kValue,
    kPastKey,
    kPastValue,
    kLengths,
    kTotal,
    kCosines,
    kSines,
    kPlaces,
    kAttentionBias,
    kSink
  };

  std::vector<Term> operands() {
    const Term query = e_.x(kQuery);
    if (e_.has_x(kKey)) {
      return {heads_of(query, a_.num_heads), heads_of(e_.x(kKey), a_.kv_num_heads),
              heads_of(e_.x(kValue), a_.kv_num_heads)};
    }
    const int64_t all = int64_t{a_.num_heads} + 2 * int64_t{a_.kv_num_heads};
    return parts_of(e_, heads_of(query, all), 1, {a_.num_heads, a_.kv_num_heads, a_.kv_num_heads});
  }

  /// position_ids; of a first run, whose queries are all there is, only the first one is read.
  Term given_places(Term q, Term length) {
    const Term all = e_.x(kPlaces);
    const Term from_first = slice(slice(all, 0, 0, 1), 1, 0, 1) + positions(q, 2);
    return where(call("Equal", {total(), length}), from_first, all);
  }

  /// attention_bias is as long as total_sequence_length says; keys of the cache behind it are
  /// closed in any case.
  Term bias_of(Term k) {
    const Term bias = e_.x(kAttentionBias);
    if (bias.rank() != 4) {
      e_.refuse("attention_bias has " + std::to_string(bias.rank()) + " axes, expected 4");
    }
    if (bias.extent(3) == k.extent(2)) return bias;
    const Term missing = join({e_.integers({0}), extents(k, 2, 3) - extents(bias, 3, 4)}, 0);
    return call("Pad", {bias, missing, bias.number(0), e_.integers({3})});
  }

  Term total() { return with_extents(cast_to(e_.x(kTotal), DataType::kInt64), e_.integers({1})); }

  /// The cache with what is new at its places: as long as the past or, where that is longer, as
  /// total_sequence_length says.
  Term cached(Term added, int past, Term starts) {
    if (!e_.has_x(past)) return added;
    const Term cache = e_.x(past), zeros = call("Mul", {added, added.number(0)});
    const std::vector<Term> operands{join({cache, zeros}, 2), added, starts};
    const Term whole = e_.add("TensorScatter", operands, {{"axis", int64_t{2}}}, 1).front();
    const Term end = call("Max", {total(), extents(cache, 2, 3)});
    return call("Slice", {whole, e_.integers({0}), end, e_.integers({2})});
  }

  E& e_;
  const GroupQueryAttributes& a_;
};

}  // namespace

void add_contrib_group_query_definitions(DefinitionRows& rows) {
  const TypeConstraint real{"T", kFloatTypes}, whole{"M", types({DataType::kInt32})};
  const auto optional = [](std::string_view name, std::string_view type) {
    return Parameter{name, type, kOptional};
  };
  rows.push_back(
      {.domain = kContribDomain,
       .name = "RotaryEmbedding",
       .inputs = {Parameter{"input", "T"}.with("B S num_heads*2*D | B H S 2*D | B S H*2*D"),
                  Parameter{"position_ids", "I"}.with("B S | B S | 1").of(Domain::kNonNegative),
                  Parameter{"cos_cache", "T"}.with("P+S+3 D"),
                  Parameter{"sin_cache", "T"}.with("P+S+3 D")},
       .outputs = {{"output", "T"}},
       .facts = {.expand = rotary_embedding},
       .types = {{"T", types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16})},
                 {"I", kInt64Type}},
       .kernel_types = {},
       .attributes = codec_of<RotaryAttributes>()});
  rows.push_back(
      {.domain = kContribDomain,
       .name = "GroupQueryAttention",
       .inputs =
           {Parameter{"query", "T"}.with(
                "B S num_heads*2*D | B S num_heads*2*D | B S num_heads*2*D+kv_num_heads*4*D"),
            optional("key", "T").with("B S kv_num_heads*2*D | B S kv_num_heads*2*D | absent"),
            optional("value", "T").with("B S kv_num_heads*2*D | B S kv_num_heads*2*D | absent"),
            optional("past_key", "T").with("absent | B kv_num_heads P 2*D | absent"),
            optional("past_value", "T").with("absent | B kv_num_heads P 2*D | absent"),
            Parameter{"seqlens_k", "M"}.with("B").of(Domain::kNonNegative),
            Parameter{"total_sequence_length", "M"}.with("()").of(Domain::kNonNegative),
            optional("cos_cache", "T").with("M+6 D"), optional("sin_cache", "T").with("M+6 D"),
            optional("position_ids", "I").with("absent | B S | absent").of(Domain::kNonNegative),
            optional("attention_bias", "T").with("absent"),
            optional("head_sink", "T").with("absent"), optional("k_scale", "S").with("absent"),
            optional("v_scale", "S").with("absent")},
       .outputs = {{"output", "T"},
                   optional("present_key", "T"),
                   optional("present_value", "T"),
                   optional("output_qk", "T")},
       .facts = {.expand = [](E& e) { GroupQuery(e).write(); }},
       .types = {real, whole, {"I", kInt64Type}, {"S", types({DataType::kFloat})}},
       .kernel_types = {},
       .attributes = codec_of<GroupQueryAttributes>()});
}

}  // namespace intarsia::definitions
