# SPDX-License-Identifier: Apache-2.0
# Cross builds without an operating system: examples/mlp_cortex_m7 on an emulated board.

set(command "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/bare_metal_test.py"
  "${CMAKE_BINARY_DIR}" "${INTARSIA_TOOL}")
set(heap_program "${CMAKE_BINARY_DIR}/bin/mlp_with_heap")
add_test(NAME cross.mlp COMMAND ${command} run)
add_test(NAME cross.mlp.negative COMMAND ${command} run --shift 0.001)
add_test(NAME cross.mlp_size COMMAND ${command} size)
add_test(NAME cross.mlp_size.negative COMMAND ${command} size --scale 0)
add_test(NAME cross.mlp_heap COMMAND ${command} heap "${CMAKE_BINARY_DIR}/bin/mlp_cortex_m7")
add_test(NAME cross.mlp_heap.negative COMMAND ${command} heap "${heap_program}")
set_tests_properties(cross.mlp.negative PROPERTIES PASS_REGULAR_EXPRESSION "differs by")
set_tests_properties(cross.mlp_size.negative PROPERTIES
  PASS_REGULAR_EXPRESSION "mlp\\.text: [0-9]+ bytes, above the limit of 0")
set_tests_properties(cross.mlp_heap.negative PROPERTIES PASS_REGULAR_EXPRESSION "malloc: linked")

# The same program with the heap.
get_target_property(folder mlp_cortex_m7 SOURCE_DIR)
add_executable(mlp_with_heap "${folder}/main.cpp" "${folder}/board.cpp" heap.cpp)
target_link_libraries(mlp_with_heap PRIVATE mlp_model)
target_compile_options(mlp_with_heap PRIVATE -ffunction-sections -fno-exceptions -fno-rtti)
target_link_options(mlp_with_heap PRIVATE -nostartfiles -T "${folder}/board.ld" LINKER:--gc-sections
  LINKER:--undefined=malloc)
set_target_properties(mlp_with_heap PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
