// SPDX-License-Identifier: Apache-2.0
//
// Attention as com.microsoft has it, and what stands around it: each becomes products and a Softmax
// with one bias that holds all masks, or ONNX's RotaryEmbedding.
//
// Schemas: ONNX Runtime's documentation of its contrib operators, ContribOperators.md.
#include <cmath>
#include <limits>
#include <optional>

#include "core/definitions/attention_terms.h"
#include "core/definitions/expansion.h"
#include "core/definitions/gradient_terms.h"
#include "core/definitions/rows.h"

namespace intarsia::definitions {
namespace {

using E = ExpansionContext;
using gradients::wide;
using Integers = std::vector<int64_t>;
using Bias = std::optional<Term>;

constexpr auto kOptional = Parameter::kOptional;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kUnset = std::numeric_limits<float>::quiet_NaN();

/// [batch, length, heads * size] as [batch, heads, length, size].
Term heads_of(Term term, int64_t heads) {
  const Dim width = term.known().shape[term.rank() - 1];
  if (is_constant(width) && constant_value(width) % heads != 0) {
    term.context().refuse("attribute 'num_heads' or 'kv_num_heads' asks for " +
                          std::to_string(heads) + " heads, which do not divide a width of " +
                          width.to_string());
  }
  return transpose(with_extents(term, integers(term, {0, 0, heads, -1})), {0, 2, 1, 3});
}
/// And back.
Term joined(Term term) {
  return with_extents(transpose(term, {0, 2, 1, 3}), integers(term, {0, 0, -1}));
}

/// As many parts of an axis as `sizes` has; equal ones where all are 0.
std::vector<Term> parts_of(E& e, Term whole, int64_t axis, const Integers& sizes) {
  const auto count = static_cast<int>(sizes.size());
  std::vector<Term> operands{whole};
  AttributeMap attributes{{"axis", axis}};
  if (sizes.front() == 0) {
    attributes["num_outputs"] = int64_t{count};
  } else {
    operands.push_back(e.integers(sizes));
  }
  return e.add("Split", operands, attributes, count);
}

/// One of what an axis has, without the axis.
Term taken(E& e, Term whole, int64_t axis, int64_t index) {
  return call("Gather", {whole, e.number(DataType::kInt64, static_cast<double>(index))},
              {{"axis", axis}});
}

/// What is added to the scores of [batch, heads, queries, keys]; no narrower than float.
class Scores {
 public:
  Scores(E& e, Term q, Term k, double closed) : e_(e), q_(wide(q)), k_(k), closed_(closed) {}

  /// Of numbers that nothing is known of.
  void add(Term bias) {
    may_close_ = true;
    append(wide(bias));
  }
  /// Where the condition does not hold, a key is closed to a query.
  void require(Term condition) {
    may_close_ = may_close_ || std::isinf(static_cast<float>(closed_));
    append(where(condition, q_.number(0), q_.number(closed_)));
  }

  Term keys() const { return positions(k_, 2); }
  /// The queries are the last of the keys.
  Term queries() const {
    const Term before = call("Squeeze", {extents(k_, 2, 3) - extents(q_, 2, 3)});
    return unsqueeze(positions(q_, 2) + before, {1});
  }
  /// The first key is open to all.
  void require_up_to(Term queries) {
    append(where(call("LessOrEqual", {keys(), queries}), q_.number(0), q_.number(-kInfinity)));
  }

  /// A mask of integers: lengths [batch], ends and starts [2 * batch], or what is not 0 in [batch,
  /// keys], [batch, queries, keys] or [batch, 1, most, most].
  void require_mask(Term mask, const char* name) {
    const Dim batch = q_.known().shape[0];
    switch (mask.rank()) {
      case 1: {
        const Dim count = mask.known().shape[0];
        if (count == batch * Dim(2) && !(count == batch)) {
          const Term ends = slice(mask, 0, 0, constant_or_refuse(batch, name));
          const Term starts =
              slice(mask, 0, constant_or_refuse(batch, name), std::numeric_limits<int64_t>::max());
          require(call("And", {call("Less", {keys(), per_item(ends)}),
                               call("GreaterOrEqual", {keys(), per_item(starts)})}));
        } else if (is_constant(count) && is_constant(batch) && !(count == batch)) {
          e_.refuse(std::string(name) + " has " + count.to_string() +
                    " elements, expected one or two for each of " + batch.to_string() +
                    " items of the batch");
        } else {
          require(call("Less", {keys(), per_item(mask)}));
        }
        return;
      }
      case 2:
        return require(is_set(unsqueeze(mask, {1, 2})));
      case 3:
        return require(is_set(unsqueeze(mask, {1})));
      case 4: {
        const Term end = extents(k_, 2, 3), begin = end - extents(q_, 2, 3);
        const Term rows = call("Slice", {mask, begin, end, e_.integers({2})});
        return require(is_set(call("Slice", {rows, e_.integers({0}), end, e_.integers({3})})));
      }
      default:
        e_.refuse(std::string(name) + " has " + std::to_string(mask.rank()) +
                  " axes, expected 1 to 4");
    }
  }

  const Bias& bias() const { return bias_; }
  /// Whether the bias may be -infinity for every key of a query.
  bool may_close() const { return may_close_; }

 private:
  void append(Term bias) { bias_ = bias_ ? *bias_ + bias : bias; }
  static Term is_set(Term mask) { return call("Greater", {mask, mask.number(0)}); }
  static Term per_item(Term vector) {
    return unsqueeze(cast_to(vector, DataType::kInt64), {1, 2, 3});
  }
  int64_t constant_or_refuse(const Dim& batch, const char* name) const {
    if (!is_constant(batch)) {
      e_.refuse(std::string(name) + " of ends and starts needs a fixed batch, found " +
                batch.to_string());
    }
    return constant_value(batch);
  }

  E& e_;
  Term q_, k_;
  double closed_;
  bool may_close_ = false;
  Bias bias_;
};

/// The result of [batch, heads, queries, size], as ONNX's Attention computes it. Where every query
/// has an open key, nothing looks for one that has none.
Term attend(Term q, Term k, Term v, const Scores& given, float scale, float softcap = 0) {
  const DataType type = q.known().type;
  q = wide(q);
  k = wide(k);
  const Term root = root_of_scale(q, scale == 0 ? kUnset : scale);
  Term scores = product_of_heads(q * root, transpose(k, {0, 1, 3, 2}) * root, q, k);
  if (softcap > 0) scores = double{softcap} * call("Tanh", {scores / double{softcap}});
  if (given.bias()) scores = scores + *given.bias();
  Term weights = call("Softmax", {scores}, {{"axis", int64_t{-1}}});
  if (given.may_close()) weights = without_closed_rows(weights, *given.bias());
  return cast_to(product_of_heads(weights, wide(v), q, k), type);
}

void refuse_inputs(E& e, std::initializer_list<std::pair<int, const char*>> inputs) {
  for (const auto& [input, name] : inputs) {
    if (e.has_x(input)) e.refuse("input '" + std::string(name) + "' is not supported");
  }
}

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
  const Integers parts = sizes.empty() ? Integers{0, 0, 0} : Integers{sizes.begin(), sizes.end()};
  const std::vector<Term> qkv = parts_of(e, projected, 2, parts);
  const Term q = heads_of(qkv[0], a.num_heads);
  Term k = heads_of(qkv[1], a.num_heads), v = heads_of(qkv[2], a.num_heads);
  if (e.has_x(kPast)) {
    k = join({taken(e, e.x(kPast), 0, 0), k}, 2);
    v = join({taken(e, e.x(kPast), 0, 1), v}, 2);
  }
  if (e.wants(1)) e.set(1, join({unsqueeze(k, {0}), unsqueeze(v, {0})}, 0));
  Scores scores(e, q, k, static_cast<double>(a.mask_filter_value));
  if (e.has_x(kMask)) scores.require_mask(e.x(kMask), "mask_index");
  if (a.unidirectional != 0) scores.require_up_to(scores.queries());
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
    if (e_.has_x(kPastKey)) {
      k = join({e_.x(kPastKey), k}, 2);
      v = join({e_.x(kPastValue), v}, 2);
    }
    e_.set(1, k);
    e_.set(2, v);
    Scores scores(e_, q, k, static_cast<double>(a_.mask_filter_value));
    if (e_.has_x(kMask)) scores.require_mask(e_.x(kMask), "key_padding_mask");
    if (a_.unidirectional != 0) scores.require_up_to(scores.queries());
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
  const Dim half = cache.known().shape[cache.rank() - 1];
  if (!is_constant(half)) {
    e.refuse("the extents of cos_cache have to be known, found " + half.to_string());
  }
  return 2 * constant_value(half);
}

Term rotate(E& e, Term x, Term places, Term cosines, Term sines, int32_t interleaved) {
  const std::vector<Term> operands{x, cast_to(cosines, x.known().type),
                                   cast_to(sines, x.known().type), places};
  return e
      .add(
          "RotaryEmbedding", operands,
          {{"interleaved", int64_t{interleaved}}, {"rotary_embedding_dim", rotated_by(e, cosines)}},
          1)
      .front();
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
  if (packed) {
    if (a.rotary_embedding_dim != 0 && a.num_heads == 0) {
      e.refuse("attribute 'rotary_embedding_dim' needs attribute 'num_heads'");
    }
    const int64_t size = rotated_by(e, e.x(2));
    const Integers split =
        a.num_heads != 0 ? Integers{0, 0, a.num_heads, -1} : Integers{0, 0, -1, size};
    x = transpose(with_extents(x, e.integers(split)), {0, 2, 1, 3});
  }
  const Term y = rotate(e, x, places_of(e, x, e.x(1)), e.x(2), e.x(3), a.interleaved);
  e.set(0, packed ? joined(y) : y);
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
      const Term given = e_.has_x(kPlaces) ? cast_to(e_.x(kPlaces), DataType::kInt64) : places;
      q = rotate(e_, q, given, e_.x(kCosines), e_.x(kSines), a_.rotary_interleaved);
      k = rotate(e_, k, given, e_.x(kCosines), e_.x(kSines), a_.rotary_interleaved);
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
    if (e_.has_x(kAttentionBias)) scores.add(e_.x(kAttentionBias));
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

  /// The cache with what is new at its places: as long as the past or, where that is longer, as
  /// total_sequence_length says.
  Term cached(Term added, int past, Term starts) {
    if (!e_.has_x(past)) return added;
    const Term cache = e_.x(past), zeros = call("Mul", {added, added.number(0)});
    const std::vector<Term> operands{join({cache, zeros}, 2), added, starts};
    const Term whole = e_.add("TensorScatter", operands, {{"axis", int64_t{2}}}, 1).front();
    const Term total = with_extents(cast_to(e_.x(kTotal), DataType::kInt64), e_.integers({1}));
    const Term end = call("Max", {total, extents(cache, 2, 3)});
    return call("Slice", {whole, e_.integers({0}), end, e_.integers({2})});
  }

  E& e_;
  const GroupQueryAttributes& a_;
};

}  // namespace

void add_contrib_attention_definitions(DefinitionRows& rows) {
  const TypeConstraint real{"T", kFloatTypes}, whole{"M", types({DataType::kInt32})};
  const auto optional = [](std::string_view name, std::string_view type) {
    return Parameter{name, type, kOptional};
  };
  rows.push_back({.domain = kContribDomain,
                  .name = "Attention",
                  .inputs = {{"input", "T"},
                             {"weights", "T"},
                             optional("bias", "T"),
                             optional("mask_index", "M"),
                             optional("past", "T"),
                             optional("attention_bias", "T"),
                             optional("past_sequence_length", "M")},
                  .outputs = {{"output", "T"}, optional("present", "T")},
                  .facts = {.expand = attention},
                  .types = {real, whole},
                  .kernel_types = {},
                  .attributes = codec_of<AttentionAttributes>()});
  rows.push_back({.domain = kContribDomain,
                  .name = "MultiHeadAttention",
                  .inputs = {{"query", "T"},
                             optional("key", "T"),
                             optional("value", "T"),
                             optional("bias", "T"),
                             optional("key_padding_mask", "M"),
                             optional("attention_bias", "T"),
                             optional("past_key", "T"),
                             optional("past_value", "T"),
                             optional("past_sequence_length", "M"),
                             optional("cache_indirection", "M")},
                  .outputs = {{"output", "T"},
                              optional("present_key", "T"),
                              optional("present_value", "T"),
                              optional("qk", "T")},
                  .facts = {.expand = [](E& e) { MultiHead(e).write(); }},
                  .types = {real, whole},
                  .kernel_types = {},
                  .attributes = codec_of<MultiHeadAttributes>()});
  rows.push_back(
      {.domain = kContribDomain,
       .name = "RotaryEmbedding",
       .inputs = {{"input", "T"}, {"position_ids", "I"}, {"cos_cache", "T"}, {"sin_cache", "T"}},
       .outputs = {{"output", "T"}},
       .facts = {.expand = rotary_embedding},
       .types = {{"T", types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16})},
                 {"I", kInt64Type}},
       .kernel_types = {},
       .attributes = codec_of<RotaryAttributes>()});
  rows.push_back({.domain = kContribDomain,
                  .name = "GroupQueryAttention",
                  .inputs = {{"query", "T"},
                             optional("key", "T"),
                             optional("value", "T"),
                             optional("past_key", "T"),
                             optional("past_value", "T"),
                             {"seqlens_k", "M"},
                             {"total_sequence_length", "M"},
                             optional("cos_cache", "T"),
                             optional("sin_cache", "T"),
                             optional("position_ids", "I"),
                             optional("attention_bias", "T"),
                             optional("head_sink", "T"),
                             optional("k_scale", "S"),
                             optional("v_scale", "S")},
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
