# SPDX-License-Identifier: Apache-2.0
# Cross builds without an operating system: examples/mlp_cortex_m7 on an emulated board, and other
# programs with the start-up code of that example.

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

# A program for the emulated board: its sources beside the board's own.
get_target_property(board mlp_cortex_m7 SOURCE_DIR)
set(emulator qemu-system-arm -machine mps2-an500 -display none -monitor none -serial none
  -semihosting-config enable=on,target=native -kernel)
function(runs_on_board target)
  target_sources(${target} PRIVATE "${board}/board.cpp")
  target_compile_options(${target} PRIVATE -ffunction-sections -fno-exceptions -fno-rtti)
  target_link_options(${target} PRIVATE -nostartfiles -T "${board}/board.ld" LINKER:--gc-sections)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin"
    CROSSCOMPILING_EMULATOR "${emulator}")
endfunction()

# The same program with the heap.
add_executable(mlp_with_heap "${board}/main.cpp" heap.cpp)
target_link_libraries(mlp_with_heap PRIVATE mlp_model)
runs_on_board(mlp_with_heap)
target_link_options(mlp_with_heap PRIVATE LINKER:--undefined=malloc)

include(operators.cmake)
runs_on_board(test_cross_operators)
