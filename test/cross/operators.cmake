# SPDX-License-Identifier: Apache-2.0
# Operators of one's own in a cross build: the plug-in is that of the native build
# (INTARSIA_OPERATORS_DIR), the kernels are compiled for the target. For every kind of target.

set(model "${CMAKE_CURRENT_BINARY_DIR}/operators.onnx")
set(writer "${CMAKE_CURRENT_SOURCE_DIR}/make_operators_model.py")
add_custom_command(OUTPUT "${model}" COMMAND "${Python3_EXECUTABLE}" "${writer}" "${model}"
  DEPENDS "${writer}" "${PROJECT_SOURCE_DIR}/examples/common/onnx_writer.py" VERBATIM)
intarsia_add_operators(sample_operators
  HEADER ../operators/sample_operators.h LIST sample::Operators
  INCLUDE_DIRECTORY "${PROJECT_SOURCE_DIR}")
intarsia_add_model(cross_operators MODEL "${model}" NAME operators BOUND above=14
  OPERATORS sample_operators)
if(COMMAND board_program)
  board_program(test_cross_operators SOURCES operators_test.cpp LIBRARIES cross_operators)
else()
  add_executable(test_cross_operators operators_test.cpp)
  target_link_libraries(test_cross_operators PRIVATE cross_operators)
endif()
add_test(NAME cross.operators COMMAND test_cross_operators)
