// SPDX-License-Identifier: Apache-2.0
#include "converter/plugin/extension.h"

#include <fmt/format.h>

#include <algorithm>

#include "converter/graph/error.h"
#include "converter/plugin/replacement.h"
#include "kernels_cpu/kernels.h"
#include "kernels_cuda/kernels.h"

namespace intarsia::converter {
namespace {

void refuse_duplicates(const definitions::KernelRows& rows) {
  std::map<uint64_t, const definitions::KernelRow*> known;
  for (const definitions::KernelRow& row : rows) {
    const auto [other, fresh] = known.emplace(row.key, &row);
    if (fresh) continue;
    throw Error(fmt::format("the kernels {} and {} have the same key",
                            kernel_text(other->second->id), kernel_text(row.id)),
                "give one of them another domain, name, variant or revision");
  }
}

/// Two libraries that replace kernels of one operator and types: neither is the one that is meant.
void refuse_ambiguous(const Extensions& extensions) {
  struct Owned {
    const std::string& library;
    const KernelId& id;
  };
  std::vector<Owned> owned;
  for (const auto& extension : extensions) {
    for (const definitions::KernelRow& row : extension->kernels) {
      if (!row.replaces) continue;
      for (const Owned& other : owned) {
        const size_t common = std::min(row.id.types.size(), other.id.types.size());
        if (&other.library == &extension->name || other.id.op != row.id.op ||
            !std::equal(row.id.types.begin(), row.id.types.begin() + common,
                        other.id.types.begin())) {
          continue;
        }
        throw Error(
            fmt::format("{} and {} both replace the kernels of {}: {}, {}", other.library,
                        extension->name, row.id.op, kernel_text(other.id), kernel_text(row.id)),
            "load one of the two libraries only");
      }
      owned.push_back({extension->name, row.id});
    }
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
  refuse_ambiguous(extensions_);
  for (const auto& extension : extensions_) {
    for (const auto& each : extension->replacements) replace(each, *extension);
  }
  for (const KernelList* list : cpu::kernel_lists()) {
    rows_.insert(rows_.end(), list->begin(), list->end());
  }
  const KernelList device = cuda::kernel_list();
  rows_.insert(rows_.end(), device.begin(), device.end());
  refuse_duplicates(rows_);
  for (const definitions::KernelRow& row : rows_) {
    if (row.kernel->run != nullptr) kernels_.push_back(row.kernel);
  }
  for (const definitions::OperatorDefinition* op : operators_.all()) {
    if (op->shape.infer != nullptr) shapes[op->shape.key] = &op->shape;
  }
  for (const auto& [key, shape] : shapes) shapes_.push_back(shape);
  std::sort(kernels_.begin(), kernels_.end(),
            [](const Kernel* a, const Kernel* b) { return a->key < b->key; });
}

/// Every form of the operator that the kernel's range of versions holds.
void OperatorLibrary::replace(const definitions::OperatorDefinition& own,
                              const Extension& extension) {
  bool found = false;
  const auto rows = operators_.all();
  for (const definitions::OperatorDefinition* row : rows) {
    if (row->domain != own.domain || row->name != own.name) continue;
    if (row->since_version > own.until_version || own.since_version > row->until_version) continue;
    found = true;
    replaced_.push_back(with_replacement(*row, own, extension.name));
    operators_.replace(row, &replaced_.back());
  }
  if (found) return;
  std::string hint = operators_.hint(own.domain, own.name);
  hint += hint.empty() ? "" : "; ";
  throw Error(fmt::format("{}: info.replaces: there is no operator {} whose kernels could be "
                          "replaced",
                          extension.name, own.qualified_name()),
              hint + "leave out info.replaces to define it");
}

const OperatorLibrary& builtin_library() {
  static const OperatorLibrary kLibrary({});
  return kLibrary;
}

}  // namespace intarsia::converter
