# SPDX-License-Identifier: Apache-2.0
# Sources of values in memory and in files that need no more than the runtime: tests on other
# machines take them without the converter.
set(value_sources
  graph/constant.cpp
  graph/string_walk.cpp
  graph/strings.cpp
  onnx/file.cpp
  onnx/npy.cpp)
list(TRANSFORM value_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
