// SPDX-License-Identifier: Apache-2.0
//
// Writes docs/operators.md from the definitions, the kernels' lists and the rules of the importer.
//
//     operator_table > docs/operators.md
//     operator_table --check docs/operators.md    fails where the file is another
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "converter/onnx/version_conversion.h"
#include "converter/plugin/extension.h"

namespace intarsia {
namespace {

using definitions::OperatorDefinition;

constexpr std::string_view kHead =
    R"(<!-- Written by `operator_table`, test/docs/operator_table.cpp: do not edit. -->
# Operators

What the converter takes, by domain. Forms of older operator sets are rewritten on import, down to version 1
where the table does not say otherwise in an error; *since* is the operator set of the newest form. *Types* are
those of each type variable as the specification names them. *CPU* lists kernels: `reference` is portable and
serves what the others do not; *in others* means that the operator becomes other operators, so that it runs
wherever they do. *CUDA*: a kernel for devices; the rest of a plan for CUDA runs on the host. *Gradient*: the
operator may stand between what is differentiated and what it is differentiated by; *in others* if the operators
that it becomes have gradients.

Groups: floats are float16, bfloat16, float, double; ints are int8 to int64, uints are uint8 to uint64; small floats
are those of 8 bits and less, small ints those of 4 and 2 bits.
)";

/// What the specification leaves open, and ONNX Runtime does otherwise.
constexpr std::string_view kNotes = R"(
## Notes

- **Resize** of integers computes in double, rounds to the nearest whole number, half to even, and saturates, as
  ONNX's reference implementation does. ONNX Runtime cuts the fraction off, so that a third to a half of the
  elements of its linear form are less by one; it has no cubic form for integers.
- **ImageDecoder** is in a target of its own, [kernels_cpu/images](../kernels_cpu/images/README.md).
)";

struct Group {
  std::string_view name;
  std::vector<DataType> types;
};

const std::vector<Group>& groups() {
  using D = DataType;
  static const std::vector<Group> kGroups = {
      {"floats", {D::kFloat16, D::kBfloat16, D::kFloat, D::kDouble}},
      {"ints", {D::kInt8, D::kInt16, D::kInt32, D::kInt64}},
      {"uints", {D::kUint8, D::kUint16, D::kUint32, D::kUint64}},
      {"small floats",
       {D::kFloat8E4M3FN, D::kFloat8E4M3FNUZ, D::kFloat8E5M2, D::kFloat8E5M2FNUZ, D::kFloat4E2M1,
        D::kFloat6E2M3, D::kFloat6E3M2, D::kFloat8E8M0}},
      {"small ints", {D::kInt4, D::kUint4, D::kInt2, D::kUint2}},
      {"complex", {D::kComplex64, D::kComplex128}},
  };
  return kGroups;
}

void append(std::string& text, std::string_view part, std::string_view between = ", ") {
  if (!text.empty()) text += between;
  text += part;
}

std::string types_text(definitions::TypeSet set) {
  std::string text;
  std::set<DataType> named;
  for (const Group& group : groups()) {
    bool whole = true;
    for (const DataType type : group.types) whole = whole && definitions::contains(set, type);
    if (!whole) continue;
    append(text, group.name);
    named.insert(group.types.begin(), group.types.end());
  }
  for (int i = 1; i <= static_cast<int>(DataType::kSequence); ++i) {
    const auto type = static_cast<DataType>(i);
    if (definitions::contains(set, type) && !named.contains(type))
      append(text, data_type_name(type));
  }
  return text;
}

struct Row {
  std::string since, types, cpu, cuda, gradient;
};

std::string gradient_of(const OperatorDefinition& op) {
  if (op.facts.is_differentiable()) return "yes";
  // Ways back through loops and branches are the converter's (gradient_body.h).
  using enum definitions::Control;
  if (!op.graphs.empty() && op.control != kMap && op.control != kInlined) return "yes";
  return op.facts.expand != nullptr ? "in others" : "";
}

Row row_of(const OperatorDefinition& op, const converter::OperatorLibrary& library) {
  Row row;
  row.since = std::to_string(op.since_version);
  for (const definitions::TypeConstraint& constraint : op.types) {
    append(row.types, std::string(constraint.variable) + ": " + types_text(constraint.allowed),
           "; ");
  }
  std::map<int, std::set<std::string>> variants;  // the fastest first
  for (const KernelDescriptor& kernel : library.rows()) {
    if (kernel.id.op != op.kernel_name()) continue;
    if (kernel.device == KernelDevice::kCuda) {
      row.cuda = "yes";
    } else {
      // "depthwise_3x1" serves one window, "bounded" activations that are bounds: no news to users.
      const std::string_view variant = kernel.id.variant.substr(0, kernel.id.variant.find('_'));
      if (variant == "bounded") continue;
      variants[kernel.cost].emplace(variant.empty() ? "reference" : variant);
    }
  }
  std::set<std::string> named;
  for (const auto& [cost, names] : variants) {
    for (const std::string& name : names) {
      if (named.insert(name).second) append(row.cpu, name);
    }
  }
  if (row.cpu.empty()) row.cpu = "in others";
  row.gradient = gradient_of(op);
  return row;
}

std::string table() {
  const converter::OperatorLibrary& library = converter::builtin_library();
  std::map<std::string, std::map<std::string, Row>> domains;
  for (const OperatorDefinition* op : library.operators().all()) {
    if (op->domain == "intarsia") continue;
    const std::string domain = op->domain.empty() ? "ai.onnx" : std::string(op->domain);
    domains[domain][std::string(op->name)] = row_of(*op, library);
  }
  for (const converter::VersionRule& rule : converter::version_rules()) {
    const size_t colon = rule.type.find(':');
    const std::string domain(colon == rule.type.npos ? "ai.onnx" : rule.type.substr(0, colon));
    const std::string name(colon == rule.type.npos ? rule.type : rule.type.substr(colon + 1));
    if (domain == "intarsia") continue;
    domains[domain].try_emplace(name, Row{"", "", "in others", "", "in others"});
  }
  std::ostringstream out;
  out << kHead;
  for (const auto& [domain, rows] : domains) {
    out << "\n## " << domain << "\n\nOperators: " << rows.size() << ".\n\n";
    out << "| operator | since | types | CPU | CUDA | gradient |\n|---|---:|---|---|---|---|\n";
    for (const auto& [name, row] : rows) {
      out << "| " << name << " | " << row.since << " | " << row.types << " | " << row.cpu << " | "
          << row.cuda << " | " << row.gradient << " |\n";
    }
  }
  out << kNotes;
  return out.str();
}

/// Says where the file differs first.
bool check(const char* path, const std::string& expected) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s cannot be read\n", path);
    return false;
  }
  std::istringstream lines(expected);
  std::string found, wanted;
  for (int number = 1;; ++number) {
    const bool more = static_cast<bool>(std::getline(file, found));
    const bool rest = static_cast<bool>(std::getline(lines, wanted));
    if (!more && !rest) return true;
    if (more == rest && found == wanted) continue;
    std::fprintf(stderr, "%s:%d is not what operator_table writes; run it again:\n  %s\n", path,
                 number, wanted.c_str());
    return false;
  }
}

}  // namespace
}  // namespace intarsia

int main(int argc, char** argv) {
  const std::string text = intarsia::table();
  if (argc == 3 && std::string_view(argv[1]) == "--check") {
    return intarsia::check(argv[2], text) ? 0 : 1;
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}
