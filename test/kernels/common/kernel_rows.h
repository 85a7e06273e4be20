// SPDX-License-Identifier: Apache-2.0
//
// Kernels as tests hold them: the descriptors of all CPU kernels in one list, and sets whose rows
// may be changed.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels_cpu/kernels.h"

namespace intarsia::test {

inline const std::vector<KernelDescriptor>& cpu_kernels() {
  static const std::vector<KernelDescriptor> kRows = [] {
    std::vector<KernelDescriptor> rows;
    for (const KernelList* list : cpu::kernel_lists())
      rows.insert(rows.end(), list->begin(), list->end());
    return rows;
  }();
  return kRows;
}

/// Rows of the caller's own as a set. They outlive it and keep their order of keys.
template <class Row>
class RowSet {
 public:
  explicit RowSet(std::vector<Row> rows) : rows_(std::move(rows)) {
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.key < b.key; });
    for (const Row& row : rows_) pointers_.push_back(&row);
  }
  RowSet(const RowSet&) = delete;
  RowSet& operator=(const RowSet&) = delete;

  std::vector<Row>& rows() { return rows_; }
  std::span<const Row* const> span() const { return pointers_; }

 private:
  std::vector<Row> rows_;
  std::vector<const Row*> pointers_;
};

/// Copies of the rows of a set.
template <class Row>
std::vector<Row> copies(std::span<const Row* const> rows) {
  std::vector<Row> result;
  for (const Row* row : rows) result.push_back(*row);
  return result;
}

}  // namespace intarsia::test
