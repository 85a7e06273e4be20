// SPDX-License-Identifier: Apache-2.0
//
// A set of all kernels and shape functions, for programs that open any plan. The lists are known
// when a program is linked, not when it is compiled, so their rows are sorted at the first call.
#include "kernels_cpu/kernels.h"

#include <algorithm>
#include <new>

#include "intarsia/c_kernels.h"
#include "intarsia/intarsia_host_c.h"

namespace intarsia {
namespace ops {
extern const std::span<const ShapeFunction* const> shape_functions;
}

namespace c {
namespace {

template <class Row>
std::span<const Row* const> sorted(const Row** rows, size_t count) {
  std::sort(rows, rows + count, [](const Row* a, const Row* b) { return a->key < b->key; });
  return {rows, count};
}

/// Its memory is kept as long as the process lives.
KernelSet make_set() {
  size_t count = 0;
  for (const KernelList* list : cpu::kernel_lists()) count += list->size();
  auto** kernels = new (std::nothrow) const Kernel*[count];
  auto** shapes = new (std::nothrow) const ShapeFunction*[ops::shape_functions.size()];
  if (kernels == nullptr || shapes == nullptr) return {};
  size_t next = 0;
  for (const KernelList* list : cpu::kernel_lists()) {
    for (const KernelDescriptor& row : *list) kernels[next++] = row.kernel;
  }
  std::copy(ops::shape_functions.begin(), ops::shape_functions.end(), shapes);
  return {sorted(kernels, count), sorted(shapes, ops::shape_functions.size()), &string_support};
}

KernelSet all() {
  static const KernelSet kAll = make_set();
  return kAll;
}

}  // namespace
}  // namespace c
}  // namespace intarsia

const intarsia_kernels* intarsia_all_kernels(void) {
  static constexpr intarsia_kernels kAll{&intarsia::c::all};
  return intarsia::c::all().kernels.empty() ? nullptr : &kAll;
}
