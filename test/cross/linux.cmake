# SPDX-License-Identifier: Apache-2.0
# Cross builds for Linux: the runtime's life cycle on a plan of two nodes, stored plans, operators of
# one's own, and programs of the examples.

set(model "${CMAKE_CURRENT_BINARY_DIR}/tiny.onnx")
add_custom_command(OUTPUT "${model}"
  COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/test/consumer/make_model.py" "${model}"
  DEPENDS "${PROJECT_SOURCE_DIR}/test/consumer/make_model.py"
    "${PROJECT_SOURCE_DIR}/examples/common/onnx_writer.py" VERBATIM)
intarsia_add_model(cross_tiny MODEL "${model}" NAME tiny DIM batch=4)
intarsia_test(test_cross_session LIBRARIES cross_tiny SOURCES session_test.cpp)

# The program of boards, for processors whose preset does not build test_kernels.
add_executable(test_cross_kernels kernels_test.cpp)
target_include_directories(test_cross_kernels PRIVATE hosted)
target_link_libraries(test_cross_kernels PRIVATE intarsia_kernels_cpu)
add_test(NAME cross.kernels COMMAND test_cross_kernels)
add_custom_target(small_tests DEPENDS test_cross_session test_cross_kernels)
set_tests_properties(cross.include_path test_cross_session cross.kernels PROPERTIES LABELS small)

# What the tests of the runtime cover by models that they convert is covered by stored plans here:
# the converter's libraries are not there for the target.
include(${PROJECT_SOURCE_DIR}/converter/value_sources.cmake)
intarsia_test(test_cross_golden LIBRARIES intarsia_definitions intarsia_kernels_cpu SOURCES
  golden_test.cpp
  ${value_sources})
target_compile_definitions(test_cross_golden PRIVATE
  INTARSIA_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/test/golden")

include(operators.cmake)

# Programs of the examples with the expected output of the build machine's tests, where their models
# are there; test/run.sh sees to it.
list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
set(cache "$ENV{INTARSIA_CACHE}")
if(TARGET speech_segments AND EXISTS "${cache}/speech/report.txt")
  add_test(NAME cross.speech_segments COMMAND "${Python3_EXECUTABLE}"
    "${PROJECT_SOURCE_DIR}/test/examples/programs_test.py" speech_segments
    $<TARGET_FILE:speech_segments> "${cache}/speech" --emulator "${emulator}")
  set_tests_properties(cross.speech_segments PROPERTIES TIMEOUT 300)
endif()
foreach(example IN ITEMS group_norm inverse)
  if(TARGET ${example})
    add_test(NAME cross.${example} COMMAND ${example} "${INTARSIA_EXAMPLE_EXPORTS}/${example}")
  endif()
endforeach()
