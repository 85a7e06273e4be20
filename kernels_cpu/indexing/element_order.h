// SPDX-License-Identifier: Apache-2.0
//
// Elements of every type as operators see them that tell what is 0 and what comes first: numbers
// with NaN last, complex ones by their real, then their imaginary part, strings by code points, the
// empty one for 0.
#pragma once

#include "intarsia/kernel.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/indexing/index_heap.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

/// `Number`: what an element is compared as, void where that is no number.
template <class T>
struct OrderedElement {
  using Stored = typename Element<T>::Stored;
  using Number = typename Element<T>::Value;
  static constexpr KernelType type = kernel_type_of<T>;
  static Number number(Stored x) { return Element<T>::load(x); }
  static bool is_zero(Stored x) { return Element<T>::load(x) == typename Element<T>::Value{}; }
  static bool before(const KernelContext&, Stored a, Stored b) {
    return less_nan_last(Element<T>::load(a), Element<T>::load(b));
  }
};

template <>
struct OrderedElement<StringRef> {
  using Stored = StringRef;
  using Number = void;
  static constexpr KernelType type = DataType::kString;
  static bool is_zero(Stored x) { return x.length == 0; }
  static bool before(const KernelContext& context, Stored a, Stored b) {
    return context.string(a) < context.string(b);  // bytes of UTF-8 have the order of code points
  }
};

/// A complex number of two R.
template <class R>
struct Complex {
  R real, imaginary;
};

template <class R>
struct OrderedElement<Complex<R>> {
  using Stored = Complex<R>;
  using Number = void;
  static constexpr KernelType type = sizeof(R) == 4 ? DataType::kComplex64 : DataType::kComplex128;
  static bool is_zero(const Stored& x) { return x.real == 0 && x.imaginary == 0; }
  static bool before(const KernelContext&, const Stored& a, const Stored& b) {
    if (less_nan_last(a.real, b.real)) return true;
    return !less_nan_last(b.real, a.real) && less_nan_last(a.imaginary, b.imaginary);
  }
};

using OrderedTypes = Join<Numbers, Types<bool, StringRef, Complex<float>, Complex<double>>>;

}  // namespace intarsia::cpu
