// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/output_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "intarsia/describe.h"

namespace intarsia::tool {
namespace {

using converter::Constant;

OutputDifference compare_output(const std::string& name, const Constant& found,
                                const Constant& expected) {
  OutputDifference row{name, {}, {}};
  if (found.type != expected.type) {
    row.mismatch = fmt::format("type {} instead of {}", data_type_name(found.type),
                               data_type_name(expected.type));
  } else if (found.extents != expected.extents) {
    row.mismatch = fmt::format("extents {} instead of {}", converter::extents_text(found.extents),
                               converter::extents_text(expected.extents));
  } else if (expected.is_real() || expected.is_integer()) {
    row.difference = difference(found, expected);
    // Numbers that compare as equal may still not be the same: integers beyond 2^53.
    if (expected.is_integer() && row.difference.absolute == 0 && !(found == expected)) {
      row.mismatch = "elements differ in their low bits";
    }
  } else if (!(found == expected)) {
    row.mismatch = "bytes differ";
  }
  return row;
}

}  // namespace

std::vector<OutputDifference> compare_outputs(const Outputs& found, const Outputs& expected) {
  std::vector<OutputDifference> rows;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i < found.size()) {
      rows.push_back(compare_output(expected[i].first, found[i].second, expected[i].second));
    } else {
      rows.push_back({expected[i].first, {}, "missing"});
    }
  }
  return rows;
}

bool agree(const std::vector<OutputDifference>& rows, double limit) {
  return std::all_of(rows.begin(), rows.end(), [limit](const OutputDifference& row) {
    return row.mismatch.empty() && row.difference.relative <= limit;
  });
}

PassCheck check_passes(std::span<const converter::Pass> passes,
                       const std::function<Outputs(std::span<const converter::Pass>)>& run,
                       double limit) {
  const Outputs expected = run({});
  PassCheck check;
  check.rows = compare_outputs(run(passes), expected);
  check.agrees = agree(check.rows, limit);
  for (size_t count = 1; !check.agrees && count <= passes.size(); ++count) {
    if (agree(compare_outputs(run(passes.first(count)), expected), limit)) continue;
    check.first = &passes[count - 1];
    break;
  }
  return check;
}

}  // namespace intarsia::tool
