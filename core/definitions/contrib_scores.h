// SPDX-License-Identifier: Apache-2.0
//
// What the operators of attention of com.microsoft are written with: heads, masks of every form as
// one bias, and the product with it. Host only.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/definitions/attention_terms.h"
#include "core/definitions/expansion.h"
#include "core/definitions/gradient_terms.h"

namespace intarsia::definitions::contrib {

using E = ExpansionContext;
using gradients::wide;
using Integers = std::vector<int64_t>;
using Bias = std::optional<Term>;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A scale that is not given.
inline constexpr float kUnset = std::numeric_limits<float>::quiet_NaN();

/// [batch, length, heads * size] as [batch, heads, length, size].
inline Term heads_of(Term term, int64_t heads) {
  const Dim width = term.extent(-1);
  if (is_constant(width) && constant_value(width) % heads != 0) {
    term.context().refuse("attribute 'num_heads' or 'kv_num_heads' asks for " +
                          std::to_string(heads) + " heads, which do not divide a width of " +
                          width.to_string());
  }
  return transpose(with_extents(term, integers(term, {0, 0, heads, -1})), {0, 2, 1, 3});
}
/// And back.
inline Term joined(Term term) {
  return with_extents(transpose(term, {0, 2, 1, 3}), integers(term, {0, 0, -1}));
}

/// As many parts of an axis as `sizes` has; equal ones where all are 0.
inline std::vector<Term> parts_of(E& e, Term whole, int64_t axis, const Integers& sizes) {
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
inline Term taken(E& e, Term whole, int64_t axis, int64_t index) {
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
  /// The positions of the queries, of which the first is that of the first key that is new; others
  /// are those of the past. The last one is behind all keys, however many there are: so ONNX
  /// Runtime computes.
  Term queries(Term added) const {
    const Term place = positions(q_, 2), count = call("Squeeze", {extents(k_, 2, 3)});
    const Term length = call("Squeeze", {extents(q_, 2, 3)});
    const Term before = count - call("Squeeze", {extents(added, 2, 3)});
    if (added.extent(2) == q_.extent(2)) return unsqueeze(place + before, {1});
    const Term last = call("Equal", {place, length - 1.0});
    return unsqueeze(where(last, count, place + before), {1});
  }
  /// The first key is open to all.
  void require_up_to(Term queries) {
    append(where(call("LessOrEqual", {keys(), queries}), q_.number(0), q_.number(-kInfinity)));
  }

  /// A mask of integers: lengths [batch], ends and starts [2 * batch], or what is not 0 in [batch,
  /// keys], [batch, queries, keys] or [batch, 1, most, most].
  void require_mask(Term mask, const char* name) {
    const Dim batch = q_.extent(0);
    switch (mask.rank()) {
      case 1: {
        const Dim count = mask.extent(0);
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
inline Term attend(Term q, Term k, Term v, const Scores& given, float scale, float softcap = 0) {
  const DataType type = q.known().type;
  q = wide(q);
  k = wide(k);
  Term scores = capped(scores_of_heads(q, k, scale == 0 ? kUnset : scale), softcap);
  if (given.bias()) scores = scores + *given.bias();
  Term weights = call("Softmax", {scores}, {{"axis", int64_t{-1}}});
  if (given.may_close()) weights = without_closed_rows(weights, *given.bias());
  return cast_to(product_of_heads(weights, wide(v), q, k), type);
}

inline void refuse_inputs(E& e, std::initializer_list<std::pair<int, const char*>> inputs) {
  for (const auto& [input, name] : inputs) {
    if (e.has_x(input)) e.refuse("input '" + std::string(name) + "' is not supported");
  }
}

}  // namespace intarsia::definitions::contrib
