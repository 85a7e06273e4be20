// SPDX-License-Identifier: Apache-2.0
//
// A kernel that is declared and named, but not linked.
// BROKEN=1: undefined (reference to|symbol:) [`']?app::Missing<float>::run\(intarsia::KernelContext
#include "intarsia/kernel_set.h"

namespace app {

template <class T>
struct Missing {
  static constexpr intarsia::KernelId id{"app:Missing", "", {intarsia::data_type_of<T>}};
  static intarsia::Status run(const intarsia::KernelContext&);
};

#if BROKEN != 1
template <class T>
intarsia::Status Missing<T>::run(const intarsia::KernelContext&) {
  return {};
}
#endif
// As a kernel's header does for the instances in its .cpp file.
extern template struct Missing<float>;
#if BROKEN != 1
template struct Missing<float>;
#endif

}  // namespace app

constexpr intarsia::KernelSet kKernels = intarsia::kernel_set<app::Missing<float>>();

int main() {
  // Volatile: the compiler must not conclude that the table is never read.
  const intarsia::Kernel* volatile kernel = kKernels.kernels[0];
  return kernel->run != nullptr ? 0 : 1;
}
