# SPDX-License-Identifier: Apache-2.0
# The program that every consumer builds, by whatever way it found Intarsia. The model is made by a
# rule of the build, and its folder has a space in its name.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(model "${CMAKE_CURRENT_BINARY_DIR}/a folder/tiny.onnx")
file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/a folder")
add_custom_command(OUTPUT "${model}"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_LIST_DIR}/make_model.py" "${model}"
  DEPENDS "${CMAKE_CURRENT_LIST_DIR}/make_model.py"
  VERBATIM)

intarsia_add_model(tiny_model MODEL "${model}" NAME app::tiny
  DIM batch=2..2 STATE total_next=total THREADS 1)
# The same model, smaller in two ways; the program compares the sizes.
intarsia_add_model(packed_less MODEL "${model}" DIM batch=2..2 STATE total_next=total PLAN_GROWTH 1)
intarsia_add_model(nameless MODEL "${model}" DIM batch=2..2 STATE total_next=total STRIP_NAMES)
# Twice over: two entry points that count one total.
intarsia_add_model(joined MODEL "${model}" ENTRY "again=${model}" DIM batch=2..2 STATE total_next=total)
add_executable(consumer "${CMAKE_CURRENT_LIST_DIR}/main.cpp")
target_link_libraries(consumer PRIVATE tiny_model packed_less nameless joined)

# A model with an operator of one's own, and one of strings; this program runs when it is built.
if(CONSUMER_OPERATORS)
  set(custom "${CMAKE_CURRENT_BINARY_DIR}/custom.onnx")
  set(words "${CMAKE_CURRENT_BINARY_DIR}/words.onnx")
  add_custom_command(OUTPUT "${custom}" "${words}"
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_LIST_DIR}/make_model.py"
      "${CMAKE_CURRENT_BINARY_DIR}/unused.onnx" "${custom}" "${words}"
    DEPENDS "${CMAKE_CURRENT_LIST_DIR}/make_model.py"
    VERBATIM)
  intarsia_add_operators(consumer_ops HEADER "${CMAKE_CURRENT_LIST_DIR}/twice.h" LIST consumer::Operators)
  intarsia_add_model(custom_model MODEL "${custom}" OPERATORS consumer_ops)
  intarsia_add_model(words MODEL "${words}")
  add_executable(consumer_custom "${CMAKE_CURRENT_LIST_DIR}/custom_main.cpp")
  target_link_libraries(consumer_custom PRIVATE custom_model words)
  add_custom_command(TARGET consumer_custom POST_BUILD COMMAND consumer_custom VERBATIM)
endif()

# A program in C, with a model linked in and the same model from its file, for which it needs every
# kernel.
if(CONSUMER_OPERATORS AND NOT INTARSIA_FAMILIES)
  enable_language(C)
  intarsia_add_model(tiny_c MODEL "${model}" NAME app::tiny_c C DIM batch=2..2 STATE total_next=total)
  add_executable(consumer_c "${CMAKE_CURRENT_LIST_DIR}/c_main.c")
  set_target_properties(consumer_c PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
  target_compile_options(consumer_c PRIVATE -pedantic-errors -Wall -Wextra -Werror)
  target_link_libraries(consumer_c PRIVATE tiny_c intarsia::c_host)
  add_custom_command(TARGET consumer_c POST_BUILD
    COMMAND consumer_c "${CMAKE_CURRENT_BINARY_DIR}/intarsia_models/tiny_c/tiny_c.plan" VERBATIM)
endif()
