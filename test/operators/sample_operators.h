// SPDX-License-Identifier: Apache-2.0
//
// Operators for tests, one for each thing that an operator type may have.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "intarsia/operator.h"

namespace sample {

using namespace intarsia;  // NOLINT: a user's file would do the same

/// A number as an element; 0 where the type cannot hold it.
template <class T>
T element_of(float value) {
  if constexpr (std::is_integral_v<T>) {
    constexpr float kLimit = 1 << 30;
    return value > -kLimit && value < kLimit ? static_cast<T>(value) : T{0};
  } else {
    return static_cast<T>(value);
  }
}

/// A function that serves as an operator; any number of types, default shape (that of input 0).
template <class T>
struct Affine {
  static constexpr OperatorInfo info{.domain = "sample",
                                     .name = "Affine",
                                     .inputs = {"x", "bias", "scale"},
                                     .outputs = {"y", "negated"},
                                     .in_place = {0}};
  struct Attributes {
    float factor = 2.0f;
    template <class V>
    void fields(V& v) {
      v("factor", factor);
    }
  };
  /// A plan from outside may give tensors of any extents.
  static Status check(const KernelContext& context) {
    for (int input : {1, 2}) {
      const TensorView& number = context.input(input);
      if (number.present() && number.count() == 0) {
        return context.fail(Code::kInvalidValue, "elements", 1, 0, input);
      }
    }
    return {};
  }
  /// x * factor * scale + bias; an absent bias is 0, an absent scale 1.
  static void run(const Attributes& attributes, Input<T> x, Optional<Input<T>> bias,
                  Optional<Input<T>> scale, Output<T> y, Optional<Output<T>> negated) {
    for (int64_t i = 0; i < x.size(); ++i) {
      float value = static_cast<float>(x[i]) * attributes.factor;
      if (scale) value *= static_cast<float>((*scale)[0]);
      if (bias) value += static_cast<float>((*bias)[0]);
      y[i] = element_of<T>(value);
      if (negated) (*negated)[i] = element_of<T>(-value);
    }
  }
};

/// Every kind of attribute, given back as numbers: y = [int, float, |string|, ints..., floats...,
/// |strings[0]|, tensor...]. Read when the state is constructed.
struct ReadsAttributes {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "ReadsAttributes", .inputs = {"x"}, .outputs = {"y"}};
  struct Attributes {
    int64_t integer = 0;
    float real = 0.5f;
    StringAttribute text;
    ListAttribute<int64_t> integers;
    ListAttribute<float> reals;
    ListAttribute<StringAttribute> texts;
    TensorAttribute tensor;
    uint32_t reserved = 0;
    template <class V>
    void fields(V& v) {
      v.required("integer", integer);
      v("real", real);
      v("text", text, "four");
      v("integers", integers, {7, 8});
      v("reals", reals);
      v("texts", texts, {"abc"});
      v("tensor", tensor);
    }
  };
  explicit ReadsAttributes(const Attributes& a) {
    put(static_cast<float>(a.integer));
    put(a.real);
    put(static_cast<float>(a.text.view().size()));
    for (int64_t value : a.integers.view()) put(static_cast<float>(value));
    for (float value : a.reals.view()) put(value);
    for (const StringAttribute& text : a.texts.view()) put(static_cast<float>(text.view().size()));
    const TensorView tensor = a.tensor.view();
    const bool known = a.tensor.present() && tensor.type == DataType::kInt32;
    for (int64_t i = 0; known && i < tensor.count() && count_ < kMost; ++i) {
      put(static_cast<float>(tensor.as<const int32_t>()[i]));
    }
  }
  void run(Input<float> /*x*/, Output<float> y) {
    for (int64_t i = 0; i < y.size(); ++i) y[i] = i < count_ ? values_[i] : -1.0f;
  }

 private:
  void put(float value) {
    if (count_ < kMost) values_[count_++] = value;
  }
  static constexpr int kMost = 32;
  float values_[kMost] = {};
  int count_ = 0;
};

/// State: counts its runs. `alive` tells how many objects there are.
struct Counter {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Counter", .inputs = {{"x", "T"}}, .outputs = {{"count", "I"}}};
  struct Attributes {
    int64_t start = 0;
    template <class V>
    void fields(V& v) {
      v("start", start);
    }
  };
  static inline int alive = 0;
  static inline int made = 0;
  /// Objects that may still be made; below 0: any number.
  static inline int left = -1;

  Counter() { ++alive, ++made; }
  ~Counter() { --alive; }
  Status create(const Attributes& attributes) {
    if (attributes.start < 0 || left == 0) return Code::kInvalidValue;
    if (left > 0) --left;
    count_ = attributes.start;
    return {};
  }
  template <class S>
  static Status infer(S& s) {
    return s.set_output(0, DataType::kInt64, {});
  }
  void run(Input<float> /*x*/, Output<int64_t> count) { count[0] = ++count_; }

 private:
  int64_t count_ = 0;
};

/// Concatenates any number of vectors; `offset` binds to rank 0 and to [1].
struct Join {
  static constexpr OperatorInfo info{.domain = "sample",
                                     .name = "Join",
                                     .inputs = {{"offset", "I"}, {"parts", "T", 2}},
                                     .outputs = {"joined"}};
  template <class S>
  static Status infer(S& s) {
    typename S::Dim total = 0;
    for (int i = 1; i < s.input_count(); ++i) {
      if (s.rank(i) != 1) return s.fail(Code::kWrongRank, "part is no vector", 1, s.rank(i), i);
      total = total + s.dim(i, 0);
    }
    Shape<typename S::Dim> shape;
    shape.push(total);
    return s.set_output(0, s.type(1), shape);
  }
  static Status run(const KernelContext& context, int64_t offset, Variadic<Input<float>> parts,
                    Output<float> joined) {
    if (offset < 0) return context.fail(Code::kInvalidValue, "offset {} is negative", 0, offset, 0);
    int64_t at = 0;
    for (int part = 0; part < parts.size(); ++part) {
      for (float value : parts[part].span()) joined[at++] = value + static_cast<float>(offset);
    }
    return {};
  }
};

/// Two versions of one name.
struct Versioned2 {
  static constexpr OperatorInfo info{.domain = "sample",
                                     .name = "Versioned",
                                     .since_version = 2,
                                     .until_version = 3,
                                     .inputs = {"x"},
                                     .outputs = {"y"}};
  static void run(Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + 2;
  }
};
struct Versioned5 {
  static constexpr OperatorInfo info{.domain = "sample",
                                     .name = "Versioned",
                                     .since_version = 5,
                                     .inputs = {"x"},
                                     .outputs = {"y"}};
  static void run(Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + 5;
  }
};

/// Reverses a vector through scratch memory; any element type.
struct Reverse {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Reverse", .inputs = {"x"}, .outputs = {"y"}};
  static int64_t workspace(const KernelContext& context) { return context.input(0).bytes(); }
  static Status run(const KernelContext& context, Workspace scratch, Input<Any> x, Output<Any> y) {
    const int64_t count = x.view().count();
    if (element_bits(x.type()) < 8) return context.fail(Code::kUnsupported, "packed elements");
    const auto width = static_cast<size_t>(element_bits(x.type()) / 8);
    auto* to = scratch.as<std::byte>();
    const auto* from = x.view().as<const std::byte>();
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to + static_cast<size_t>(i) * width,
                  from + static_cast<size_t>(count - 1 - i) * width, width);
    }
    std::memcpy(y.view().data, to, static_cast<size_t>(x.view().bytes()));
    return {};
  }
};

/// Keeps the elements above a limit: only the run knows how many. There has to be an even number,
/// so that the shape function has something to refuse.
struct Above {
  static constexpr OperatorInfo info{.domain = "sample",
                                     .name = "Above",
                                     .inputs = {"x", "limit"},
                                     .outputs = {"y"},
                                     .extents_vary = true};
  template <class S>
  static Status infer(S& s) {
    const auto count = s.dim(0, 0);
    const Status status =
        s.require_equal(floor_div(count, 2) * 2, count, "even number of elements", 0, 0);
    return status.ok() ? s.set_output_type(0, s.type(0)) : status;
  }
  static Status run(Input<float> x, float limit, Output<float> y) {
    int32_t count = 0;
    for (float value : x.span()) count += value > limit ? 1 : 0;
    if (Status status = y.resize({&count, 1}); !status) return status;
    int64_t at = 0;
    for (float value : x.span()) {
      if (value > limit) y[at++] = value;
    }
    return {};
  }
};

/// The same with a bound that the shape function knows: by saying it, or by saying nothing, since
/// outputs are then like input 0.
struct AtMost : Above {
  static constexpr OperatorInfo info{.domain = "sample",
                                     .name = "AtMost",
                                     .inputs = {"x", "limit"},
                                     .outputs = {"y"},
                                     .extents_vary = true};
  template <class S>
  static Status infer(S& s) {
    Shape<typename S::Dim> shape;
    shape.push(floor_div(s.dim(0, 0), 2));
    return s.set_output(0, s.type(0), shape);
  }
};
struct AtMostAll {
  static constexpr OperatorInfo info{.domain = "sample",
                                     .name = "AtMostAll",
                                     .inputs = {"x", "limit"},
                                     .outputs = {"y"},
                                     .extents_vary = true};
  static Status run(Input<float> x, float limit, Output<float> y) {
    return Above::run(x, limit, y);
  }
};

/// y = the sum of the numbers of the outputs that the node has: 1 and 2.
struct Wanted {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Wanted", .inputs = {"x"}, .outputs = {"y", "one", "two"}};
  static void run(Input<float> x, Output<float> y, Optional<Output<float>> one,
                  Optional<Output<float>> two) {
    for (int64_t i = 0; i < x.size(); ++i) {
      y[i] = (one ? 1.0f : 0.0f) + (two ? 2.0f : 0.0f);
      if (one) (*one)[i] = 1;
      if (two) (*two)[i] = 2;
    }
  }
};

/// A free function as an operator; and one that fails with a message of its own.
inline Status refuse(const KernelContext& context, Input<float> x, Output<float> /*y*/) {
  static constexpr char kText[] = "line 1\nline 2 of a message that the operator has made";
  return x.size() > 0 ? context.fail(Code::kOperatorFailed, "refused", kText) : Status();
}
struct Refuse {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Refuse", .inputs = {"x"}, .outputs = {"y"}};
  static constexpr auto run = &refuse;
};

/// A free function that fails never, and a state that a run only reads.
inline void halve(Input<float> x, Output<float> y) noexcept {
  for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] / 2;
}
struct Halve {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Halve", .inputs = {"x"}, .outputs = {"y"}};
  static constexpr auto run = &halve;
};
struct AddsLength {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "AddsLength", .inputs = {"x"}, .outputs = {"y"}};
  Status create(const KernelContext& context) {
    const int64_t count = context.input(0).count();
    if (count > 100) return context.fail(Code::kUnsupported, "length", 100, count);
    length_ = static_cast<float>(count);
    return {};
  }
  void run(Input<float> x, Output<float> y) const noexcept {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + length_;
  }

 private:
  float length_ = 0;
};

/// Prepares the sum of a constant table: y = x * sum.
struct Prepared {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Prepared", .inputs = {"x", "table"}, .outputs = {"y"}};
  Status create(const KernelContext& context) {
    const TensorView& table = context.input(1);
    if (table.data == nullptr || context.input(0).data != nullptr) {
      return context.fail(Code::kUnsupported, "the table is not constant", 0, 0, 1);
    }
    for (int64_t i = 0; i < table.count(); ++i) sum_ += table.as<const float>()[i];
    return {};
  }
  void run(Input<float> x, Input<float> /*table*/, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] * sum_;
  }

 private:
  float sum_ = 0;
};

/// y = x weight, from a copy of the constant weight with its columns in rows that `create` makes.
struct PackedProduct {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "PackedProduct", .inputs = {"x", "weight"}, .outputs = {"y"}};
  static inline int packed = 0;

  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    if (s.rank(0) != 2) return s.fail(Code::kWrongRank, "rank of x", 2, s.rank(0), 0);
    if (s.rank(1) != 2) return s.fail(Code::kWrongRank, "rank of weight", 2, s.rank(1), 1);
    const Status inner = s.require_equal(s.dim(0, 1), s.dim(1, 0), "rows of weight", 1, 0);
    if (!inner) return inner;
    Shape<Dim> y = s.shape(0);
    y[1] = s.dim(1, 1);
    return s.set_output(0, s.type(0), y);
  }
  static int64_t state_bytes(const KernelContext& context) { return context.input(1).bytes(); }
  Status create(const KernelContext& context, StateMemory memory) {
    const TensorView& weight = context.input(1);
    if (weight.data == nullptr) {
      return context.fail(Code::kUnsupported, "the weight is not constant", 0, 0, 1);
    }
    ++packed;
    const int64_t rows = weight.extents[0], columns = weight.extents[1];
    for (int64_t i = 0; i < rows * columns; ++i) {
      memory.as<float>()[i % columns * rows + i / columns] = weight.as<const float>()[i];
    }
    return {};
  }
  void run(Input<float> x, Input<float> /*weight*/, StateMemory memory, Output<float> y) {
    const int64_t inner = x.dim(1), columns = y.dim(1);
    for (int64_t i = 0; i < y.size(); ++i) {
      const float* column = memory.as<const float>() + i % columns * inner;
      y[i] = 0;
      for (int64_t k = 0; k < inner; ++k) y[i] += x[i / columns * inner + k] * column[k];
    }
  }
};

/// y = x times the sum of the scalars, which are of every kind.
struct Scalars {
  static constexpr OperatorInfo info{
      .domain = "sample",
      .name = "Scalars",
      .inputs = {{"x", "T"}, {"f", "F"}, {"d", "D"}, {"h", "H"}, {"i", "I"}, {"b", "B"}},
      .outputs = {{"y", "T"}}};
  static void run(Input<float> x, float f, double d, Float16 h, int32_t i, bool b,
                  Output<float> y) {
    const float sum = f + static_cast<float>(d) + static_cast<float>(h) + static_cast<float>(i) +
                      (b ? 100.0f : 0.0f);
    for (int64_t k = 0; k < x.size(); ++k) y[k] = x[k] * sum;
  }
};

/// Two type variables, of which not every pair has a kernel: y = x[index].
template <class T, class I>
struct Pick {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Pick", .inputs = {"x", {"index", "I"}}, .outputs = {"y"}};
  template <class S>
  static Status infer(S& s) {
    return s.set_output(0, s.type(0), {});
  }
  static Status run(const KernelContext& context, Input<T> x, I index, Output<T> y) {
    if (index < 0 || index >= x.size()) return context.fail(Code::kInvalidValue, "index {}");
    y[0] = x[index];
    return {};
  }
};

/// In ONNX Runtime's domain, where a program may supply what the library lacks.
struct Rounded {
  static constexpr OperatorInfo info{
      .domain = "com.microsoft", .name = "Rounded", .inputs = {"x"}, .outputs = {"y"}};
  struct Attributes {
    int32_t mode = 0;
    template <class V>
    void fields(V& v) {
      v.choice("mode", mode, {"down", "up"});
    }
  };
  static void run(const Attributes& attributes, Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) {
      y[i] = attributes.mode == 0 ? std::floor(x[i]) : std::ceil(x[i]);
    }
  }
};

/// Writes x times 1, 2, ... to as many outputs as the node has.
struct Multiples {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Multiples", .inputs = {"x"}, .outputs = {{"multiples", "T", 2}}};
  static void run(Input<float> x, Variadic<Output<float>> multiples) {
    for (int k = 0; k < multiples.size(); ++k) {
      for (int64_t i = 0; i < x.size(); ++i) multiples[k][i] = x[i] * static_cast<float>(k + 1);
    }
  }
};
/// The same for those that somebody wants; the first result tells how many these are.
struct WantedMultiples {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "WantedMultiples", .inputs = {"x"}, .outputs = {"multiples"}};
  static void run(Input<float> x, Variadic<Optional<Output<float>>> multiples) {
    float wanted = 0;
    for (int k = 0; k < multiples.size(); ++k) wanted += multiples[k] ? 1.0f : 0.0f;
    for (int k = 0; k < multiples.size(); ++k) {
      if (!multiples[k]) continue;
      const Output<float> y = *multiples[k];
      for (int64_t i = 0; i < x.size(); ++i)
        y[i] = k == 0 ? wanted : x[i] * static_cast<float>(k + 1);
    }
  }
};

/// A scalar bool and a tensor of bools: y = x where both say so, else 0.
struct Gate {
  static constexpr OperatorInfo info{.domain = "sample",
                                     .name = "Gate",
                                     .inputs = {"x", {"open", "B"}, {"mask", "B"}},
                                     .outputs = {"y"}};
  template <class S>
  static Status infer(S& s) {
    if (s.rank(2) != s.rank(0)) return s.fail(Code::kWrongRank, "mask", s.rank(0), s.rank(2), 2);
    for (int axis = 0; axis < s.rank(0); ++axis) {
      Status status = s.require_equal(s.dim(0, axis), s.dim(2, axis), "mask", 2, axis);
      if (!status) return status;
    }
    return s.set_output(0, s.type(0), s.shape(0));
  }
  static void run(Input<float> x, bool open, Input<bool> mask, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = open && mask[i] ? x[i] : 0.0f;
  }
};

/// What an operator must not do: the negative control of tests that count heap calls.
struct Allocates {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Allocates", .inputs = {"x"}, .outputs = {"y"}};
  static void run(Input<float> x, Output<float> y) {
    const std::vector<float> copy(x.span().begin(), x.span().end());
    for (int64_t i = 0; i < y.size(); ++i) y[i] = copy[static_cast<size_t>(i)];
  }
};

using Operators =
    OperatorList<Affine<float>, Affine<double>, Affine<Float16>, Affine<int32_t>, ReadsAttributes,
                 Counter, Join, Versioned2, Versioned5, Reverse, Above, AtMost, AtMostAll, Wanted,
                 Refuse, Halve, AddsLength, Scalars, Pick<float, int32_t>, Pick<double, int64_t>,
                 Rounded, Multiples, WantedMultiples, Gate, Allocates>;
/// Those that refuse to open plans which the converter makes, so that fuzzing cannot have them: it
/// holds the converter to plans that open.
using Reluctant = OperatorList<Prepared, PackedProduct>;

}  // namespace sample
