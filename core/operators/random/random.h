// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of RandomNormal, RandomUniform, their Like forms, Bernoulli,
// Multinomial and Dropout, and the key of the numbers that a node draws.
//
// Numbers come from a function of a key, a count of the node's executions and a position
// (docs/decisions/0031-random-numbers.md). The key follows from `seed`, or, where the model gives
// none, from `stream`, which the converter chooses.
#pragma once

#include <bit>

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

/// Any two numbers give different results, neighbours unlike ones. (The finaliser of SplitMix64:
/// G. L. Steele et al., "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.)
constexpr uint64_t mix_bits(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// What is drawn. Nodes of one seed that draw different things have nothing in common.
enum class Draws : uint8_t { kNormal = 1, kUniform, kBernoulli, kMultinomial, kDropout };

/// The key of a node's numbers. No stream has the key of a seed, but by chance.
template <class Attributes>
constexpr uint64_t random_key(const Attributes& attributes, Draws draws) {
  const auto bits = [&] {
    if constexpr (sizeof(attributes.seed) == 4) {
      return uint64_t{std::bit_cast<uint32_t>(attributes.seed)};
    } else {
      return static_cast<uint64_t>(attributes.seed);
    }
  }();
  const auto stream = static_cast<uint64_t>(attributes.stream);
  const uint64_t source = stream != 0 ? mix_bits(stream) : bits;
  return mix_bits(mix_bits(source) + static_cast<uint64_t>(draws));
}

/// Element types that a model may ask for.
inline constexpr AttributeLimits kDrawnReals = one_of({1, 10, 11, 16});
inline constexpr AttributeLimits kDrawnNumbers =
    one_of({1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16});
inline constexpr AttributeLimits kDrawnIndices = one_of({6, 7});

struct NormalAttributes {
  float mean = 0;
  float scale = 1;
  float seed = 0;
  int32_t dtype = 0;   ///< 0: the input's type, or float where there is no input.
  int64_t stream = 0;  ///< 0: the seed decides.
  template <class V>
  void fields(V& v) {
    v("mean", mean);
    v("scale", scale);
    v("seed", seed);
    v("dtype", dtype, kDrawnReals);
    v.internal("stream", stream);
  }
};
static_assert(is_plan_struct<NormalAttributes>);

struct UniformAttributes {
  float low = 0;
  float high = 1;
  float seed = 0;
  int32_t dtype = 0;
  int64_t stream = 0;
  template <class V>
  void fields(V& v) {
    v("low", low);
    v("high", high);
    v("seed", seed);
    v("dtype", dtype, kDrawnReals);
    v.internal("stream", stream);
  }
};
static_assert(is_plan_struct<UniformAttributes>);

/// Of operators that have no input to say the extents.
template <class Numbers>
struct ShapedAttributes {
  Numbers numbers;
  IntList shape;
  int32_t reserved = 0;
  template <class V>
  void fields(V& v) {
    numbers.fields(v);
    v.required("shape", shape, at_least(0));
  }
};
static_assert(is_plan_struct<ShapedAttributes<NormalAttributes>>);

struct BernoulliAttributes {
  float seed = 0;
  int32_t dtype = 0;
  int64_t stream = 0;
  template <class V>
  void fields(V& v) {
    v("seed", seed);
    v("dtype", dtype, kDrawnNumbers);
    v.internal("stream", stream);
  }
};
static_assert(is_plan_struct<BernoulliAttributes>);

struct MultinomialAttributes {
  float seed = 0;
  int32_t dtype = static_cast<int32_t>(DataType::kInt32);
  int64_t stream = 0;
  int32_t sample_size = 1;
  int32_t reserved = 0;
  template <class V>
  void fields(V& v) {
    v("seed", seed);
    v("dtype", dtype, kDrawnIndices);
    v.internal("stream", stream);
    v("sample_size", sample_size, at_least(0));
  }
};
static_assert(is_plan_struct<MultinomialAttributes>);

struct DropoutAttributes {
  int64_t seed = 0;
  int64_t stream = 0;
  template <class V>
  void fields(V& v) {
    v("seed", seed);
    v.internal("stream", stream);
  }
};
static_assert(is_plan_struct<DropoutAttributes>);

namespace ops {

/// The extents that the attributes list.
template <class Numbers>
struct OfOwnExtents {
  using Attributes = ShapedAttributes<Numbers>;
  template <class S>
  static Status infer(S& s) {
    const auto& attributes = s.template attributes<Attributes>();
    if (!attributes.shape.valid()) {
      return s.fail(Code::kCorruptPlan, "number of listed extents", kMaxRank,
                    attributes.shape.count);
    }
    Shape<typename S::Dim> shape;
    for (int32_t extent : attributes.shape.view()) {
      if (extent < 0) return s.fail(Code::kInvalidValue, "listed extent", 0, extent);
      shape.push(extent);
    }
    const int32_t dtype = attributes.numbers.dtype;
    return s.set_output(0, dtype == 0 ? DataType::kFloat : static_cast<DataType>(dtype), shape);
  }
};
struct RandomNormal : OfOwnExtents<NormalAttributes> {
  static constexpr std::string_view name = "RandomNormal";
};
struct RandomUniform : OfOwnExtents<UniformAttributes> {
  static constexpr std::string_view name = "RandomUniform";
};

/// The input's extents.
template <class A>
struct LikeInput {
  using Attributes = A;
  template <class S>
  static Status infer(S& s) {
    const int32_t dtype = s.template attributes<A>().dtype;
    const DataType type = dtype == 0 ? s.type(0) : static_cast<DataType>(dtype);
    if (dtype == 0 && !kDrawnReals.allow(static_cast<int64_t>(type))) {
      return s.fail(Code::kWrongType, "type of the input, which is drawn where dtype is missing",
                    static_cast<int64_t>(DataType::kFloat), static_cast<int64_t>(type), 0);
    }
    return s.set_output(0, type, s.shape(0));
  }
};
struct RandomNormalLike : LikeInput<NormalAttributes> {
  static constexpr std::string_view name = "RandomNormalLike";
};
struct RandomUniformLike : LikeInput<UniformAttributes> {
  static constexpr std::string_view name = "RandomUniformLike";
};
struct Bernoulli : LikeInput<BernoulliAttributes> {
  static constexpr std::string_view name = "Bernoulli";
};

/// [rows, classes] to [rows, samples].
struct Multinomial {
  using Attributes = MultinomialAttributes;
  static constexpr std::string_view name = "Multinomial";
  template <class S>
  static Status infer(S& s) {
    const auto& attributes = s.template attributes<Attributes>();
    if (s.rank(0) != 2) return s.fail(Code::kWrongRank, "rank", 2, s.rank(0), 0);
    if (attributes.sample_size < 0) {
      return s.fail(Code::kInvalidValue, "sample_size", 0, attributes.sample_size);
    }
    Shape<typename S::Dim> shape;
    shape.push(s.dim(0, 0));
    shape.push(attributes.sample_size);
    return s.set_output(0, static_cast<DataType>(attributes.dtype), shape);
  }
};

/// Output 0 is like input 0; a second output, Dropout's mask, has the same extents.
struct Dropout {
  using Attributes = DropoutAttributes;
  static constexpr std::string_view name = "Dropout";
  template <class S>
  static Status infer(S& s) {
    if (Status status = s.set_output(0, s.type(0), s.shape(0)); !status) return status;
    return s.set_output(1, DataType::kBool, s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
