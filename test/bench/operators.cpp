// SPDX-License-Identifier: Apache-2.0
//
// Lists the operators of the definitions, one qualified name a line, without those that only the
// converter makes. The sweep asks it what it has to cover.
#include <cstdio>
#include <set>
#include <string>

#include "core/definitions/registry.h"

int main() {
  using intarsia::definitions::OperatorDefinition;
  using intarsia::definitions::OperatorRegistry;
  std::set<std::string> names;  // a name may have several rows, one per range of versions
  for (const OperatorDefinition* row : OperatorRegistry::builtin().all()) {
    if (row->domain != intarsia::definitions::kInternalDomain) names.insert(row->qualified_name());
  }
  for (const std::string& name : names) std::puts(name.c_str());
  return 0;
}
