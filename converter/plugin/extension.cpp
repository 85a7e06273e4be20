// SPDX-License-Identifier: Apache-2.0
#include "converter/plugin/extension.h"

#include <fmt/format.h>

#include <algorithm>

#include "converter/graph/error.h"
#include "kernels_cpu/kernels.h"
#include "kernels_cuda/kernels.h"

namespace intarsia::converter {
namespace {

void refuse_duplicates(const definitions::KernelRows& rows) {
  std::map<uint64_t, const definitions::KernelDescriptor*> known;
  for (const definitions::KernelDescriptor& row : rows) {
    const auto [other, fresh] = known.emplace(row.key, &row);
    if (fresh) continue;
    throw Error(fmt::format("the kernels {} and {} have the same key",
                            kernel_text(other->second->id), kernel_text(row.id)),
                "give one of them another domain, name, variant or revision");
  }
}

}  // namespace

OperatorLibrary::OperatorLibrary(Extensions extensions)
    : extensions_(std::move(extensions)), operators_(definitions::OperatorRegistry::builtin()) {
  std::map<uint64_t, const ShapeFunction*> shapes;
  for (const auto& extension : extensions_) {
    const std::vector<std::string> refused = operators_.add(extension->definitions);
    if (!refused.empty()) {
      throw Error(fmt::format("{}: the operator {} is defined already, for some of its versions",
                              extension->name, refused.front()),
                  "load one of the two libraries only, or give one another domain");
    }
    if (extension->find) operators_.add(extension->find);
    rows_.insert(rows_.end(), extension->kernels.begin(), extension->kernels.end());
    services_.insert(services_.end(), extension->services.begin(), extension->services.end());
    for (const ShapeFunction& shape : extension->shapes) shapes[shape.key] = &shape;
  }
  for (const KernelList* list : cpu::kernel_lists()) {
    rows_.insert(rows_.end(), list->begin(), list->end());
  }
  const KernelList device = cuda::kernel_list();
  rows_.insert(rows_.end(), device.begin(), device.end());
  refuse_duplicates(rows_);
  for (const definitions::KernelDescriptor& row : rows_) {
    if (row.kernel->run != nullptr) kernels_.push_back(row.kernel);
  }
  for (const definitions::OperatorDefinition* op : operators_.all()) {
    if (op->shape.infer != nullptr) shapes[op->shape.key] = &op->shape;
  }
  for (const auto& [key, shape] : shapes) shapes_.push_back(shape);
  std::sort(kernels_.begin(), kernels_.end(),
            [](const Kernel* a, const Kernel* b) { return a->key < b->key; });
}

const OperatorLibrary& builtin_library() {
  static const OperatorLibrary kLibrary({});
  return kLibrary;
}

}  // namespace intarsia::converter
