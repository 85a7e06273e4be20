# SPDX-License-Identifier: Apache-2.0
# Cross builds without an operating system: the examples for Cortex-M on an emulated board, and other
# programs with the start-up code of examples/firmware.

include("${PROJECT_SOURCE_DIR}/examples/firmware/firmware.cmake")
include("${PROJECT_SOURCE_DIR}/examples/firmware/emulated_boards.cmake")

# A program for the emulated board, started with memory full of rubbish, as a real one has it.
set(rubbish "${CMAKE_CURRENT_BINARY_DIR}/rubbish")
string(REPEAT "rubbish!" 8192 text)  # 64 KiB
file(CONFIGURE OUTPUT "${rubbish}" CONTENT "${text}" @ONLY)
list(FIND EMULATED_BOARD RAM place)
math(EXPR place "${place} + 1")
list(GET EMULATED_BOARD ${place} ram)
set(emulator ${EMULATOR})
list(INSERT emulator 1 -device "loader,file=${rubbish},addr=${ram},force-raw=on")
function(board_program target)
  add_firmware(${target} ${ARGN} ${EMULATED_BOARD} STACK 8K)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin"
    CROSSCOMPILING_EMULATOR "${emulator}")
endfunction()

list(JOIN emulator " " words)
set(test "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/bare_metal_test.py"
  "${CMAKE_BINARY_DIR}" "${INTARSIA_TOOL}" ${EMULATED_MHZ} "${words}")
foreach(name IN ITEMS mlp keywords)
  add_test(NAME cross.${name} COMMAND ${test} ${name} run)
  add_test(NAME cross.${name}.negative COMMAND ${test} ${name} run --shift 0.001)
  add_test(NAME cross.${name}_size COMMAND ${test} ${name} size)
  add_test(NAME cross.${name}_size.negative COMMAND ${test} ${name} size --scale 0)
  add_test(NAME cross.${name}_heap COMMAND ${test} ${name} heap)
  add_test(NAME cross.${name}_stack COMMAND ${test} ${name} stack)
  add_test(NAME cross.${name}_stack.negative COMMAND ${test} ${name} stack --scale 0.8)
  set_tests_properties(cross.${name}_stack.negative PROPERTIES
    PASS_REGULAR_EXPRESSION "bytes of stack, above the bound")
  set_tests_properties(cross.${name}.negative PROPERTIES PASS_REGULAR_EXPRESSION "differs by")
  set_tests_properties(cross.${name}_size.negative PROPERTIES
    PASS_REGULAR_EXPRESSION "${name}\\.text: [0-9]+ bytes, above the limit of 0")
endforeach()

# The perceptron with the heap.
get_target_property(mlp mlp_cortex_m7 SOURCE_DIR)
board_program(mlp_with_heap_cortex_m7 SOURCES "${mlp}/main.cpp" heap.cpp
  LIBRARIES mlp_model mlp_model_stack)
target_link_options(mlp_with_heap_cortex_m7 PRIVATE LINKER:--undefined=malloc)
add_test(NAME cross.mlp_heap.negative COMMAND ${test} mlp_with_heap heap)
set_tests_properties(cross.mlp_heap.negative PROPERTIES PASS_REGULAR_EXPRESSION "malloc: linked")

board_program(test_cross_start SOURCES start_test.cpp)
add_test(NAME cross.start COMMAND test_cross_start)

# A copy of the folder, as a firmware project begins.
set(copy "${CMAKE_CURRENT_BINARY_DIR}/firmware_copy")
file(COPY "${PROJECT_SOURCE_DIR}/examples/firmware/" DESTINATION "${copy}")
set(FIRMWARE_MODEL "${CMAKE_BINARY_DIR}/examples/mlp_cortex_m7/mlp.onnx")
add_subdirectory("${copy}" "${CMAKE_CURRENT_BINARY_DIR}/firmware")
add_dependencies(firmware_model mlp_model)  # whose build makes the file
set_target_properties(firmware PROPERTIES CROSSCOMPILING_EMULATOR "${emulator}")
add_test(NAME cross.firmware COMMAND firmware)
set_tests_properties(cross.firmware PROPERTIES
  PASS_REGULAR_EXPRESSION "cycles [1-9][0-9]*\nstack [1-9][0-9]*\nstack of the model, at most [1-9][0-9]*\narena 896")

board_program(test_cross_kernels SOURCES kernels_test.cpp LIBRARIES intarsia_kernels_cpu)
add_test(NAME cross.kernels COMMAND test_cross_kernels)

include(operators.cmake)

# What the presets of other processors than the Cortex-M7 build and run.
add_custom_target(small_tests
  DEPENDS mlp_cortex_m7 keywords_cortex_m7 firmware test_cross_start test_cross_kernels)
set_tests_properties(cross.include_path cross.mlp cross.keywords cross.mlp_heap cross.mlp_stack
  cross.keywords_stack cross.firmware
  cross.start cross.kernels PROPERTIES LABELS small)
