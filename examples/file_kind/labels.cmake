# SPDX-License-Identifier: Apache-2.0
# Writes the names of Magika's kinds as a C++ array: cmake -DCONFIG=config.min.json -DOUTPUT=labels.h
# -P labels.cmake. The order is that of the model's output.
file(READ "${CONFIG}" config)
string(JSON count LENGTH "${config}" target_labels_space)
math(EXPR last "${count} - 1")
set(lines "")
foreach(index RANGE ${last})
  string(JSON label GET "${config}" target_labels_space ${index})
  string(APPEND lines "    \"${label}\",\n")
endforeach()
file(WRITE "${OUTPUT}"
  "// Generated from ${CONFIG}; do not edit.\n#pragma once\n\n"
  "inline constexpr const char* kLabels[] = {\n${lines}};\n")
