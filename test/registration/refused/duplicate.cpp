// SPDX-License-Identifier: Apache-2.0
//
// A kernel, or a shape function, named twice.
// BROKEN=1 only: two kernels in one kernel_set have the same key
// BROKEN=2 only: two kernels in one kernel_set have the same key
// BROKEN=3 only: two operators in one shape_set have the same key
#include "intarsia/kernel_set.h"
#include "intarsia/shape.h"

#ifndef BROKEN
#define BROKEN 0
#endif

template <class T>
struct Twice {
  static constexpr intarsia::KernelId id{"test:Twice", "", {intarsia::data_type_of<T>}};
  static intarsia::Status run(const intarsia::KernelContext&) { return {}; }
};

struct Same {
  static constexpr std::string_view name = "test:Same";
  template <class S>
  static intarsia::Status infer(S& shapes) {
    return shapes.set_output(0, shapes.type(0), shapes.shape(0));
  }
};

#if BROKEN == 1
constexpr auto kKernels = intarsia::kernel_set<Twice<float>, Twice<std::int32_t>, Twice<float>>();
#elif BROKEN == 2
constexpr auto kKernels = intarsia::trusted_kernel_set<Twice<float>, Twice<float>>();
#else
constexpr auto kKernels = intarsia::kernel_set<Twice<float>, Twice<std::int32_t>>();
#endif

#if BROKEN == 3
constexpr auto kShapes = intarsia::shape_set<Same, Same>();
#else
constexpr auto kShapes = intarsia::shape_set<Same>();
#endif

static_assert(BROKEN != 0 || (kKernels.kernels.size() == 2 && kShapes.shapes.size() == 1));
