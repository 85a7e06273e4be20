// SPDX-License-Identifier: Apache-2.0
#include "converter/extension.h"

#include <fmt/format.h>

#include <algorithm>

#include "converter/error.h"
#include "kernels_cpu/rows.h"

namespace intarsia::converter {
namespace {

template <class Row>
void sort_by_key(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.key < b.key; });
}

void refuse_duplicates(const definitions::KernelRows& rows) {
  std::map<uint64_t, const definitions::KernelDescriptor*> known;
  for (const definitions::KernelDescriptor& row : rows) {
    const auto [other, fresh] = known.emplace(row.key, &row);
    if (fresh) continue;
    throw Error(fmt::format("the kernels {} and {} have the same key", other->second->cpp_name,
                            row.cpp_name),
                "give one of them another domain, name, variant or revision");
  }
}

}  // namespace

OperatorLibrary::OperatorLibrary(Extensions extensions)
    : extensions_(std::move(extensions)), operators_(definitions::OperatorRegistry::builtin()) {
  std::map<uint64_t, ShapeFunction> shapes;
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
    for (const ShapeFunction& shape : extension->shapes) shapes[shape.key] = shape;
  }
  const definitions::KernelRows& builtin = cpu::kernel_rows();
  rows_.insert(rows_.end(), builtin.begin(), builtin.end());
  if (!extensions_.empty()) refuse_duplicates(rows_);
  for (const definitions::KernelDescriptor& row : rows_) {
    if (row.kernel.run != nullptr) kernels_.push_back(row.kernel);
  }
  for (const definitions::OperatorDefinition* op : operators_.all()) {
    if (op->shape.infer != nullptr) shapes[op->shape.key] = op->shape;
  }
  for (const auto& [key, shape] : shapes) shapes_.push_back(shape);
  sort_by_key(kernels_);
}

const OperatorLibrary& builtin_library() {
  static const OperatorLibrary kLibrary({});
  return kLibrary;
}

}  // namespace intarsia::converter
