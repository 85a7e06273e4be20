# SPDX-License-Identifier: Apache-2.0
#[[
add_firmware(<target> SOURCES <file>...
  [LIBRARIES <target>...]        models of intarsia_add_model, and other libraries
  FLASH <origin> <length>        where the program lies; the vector table comes first
  RAM <origin> <length>
  STACK <length>)                lengths as in linker scripts: 8K, 4M, 0x400

Adds a program for a Cortex-M without an operating system: SOURCES with the start-up code and linker
script of this folder, for `main` and LIBRARIES. Makes <target> (ELF) and <target>.bin (flash image).
Constructors of static objects run before main; destructors are left out.
]]
include_guard(GLOBAL)

function(add_firmware target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "STACK" "SOURCES;LIBRARIES;FLASH;RAM")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_firmware(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}. It "
      "takes SOURCES, LIBRARIES, FLASH, RAM and STACK.")
  endif()
  foreach(memory FLASH RAM)
    list(LENGTH arg_${memory} count)
    if(NOT count EQUAL 2)
      message(FATAL_ERROR "add_firmware(${target}): ${memory} is '${arg_${memory}}'; it takes an "
        "origin and a length, such as 0x20000000 512K.")
    endif()
    list(GET arg_${memory} 0 ${memory}_ORIGIN)
    list(GET arg_${memory} 1 ${memory}_LENGTH)
  endforeach()
  foreach(name SOURCES STACK)
    if(NOT arg_${name})
      message(FATAL_ERROR "add_firmware(${target}): ${name} is missing.")
    endif()
  endforeach()
  set(STACK_LENGTH "${arg_STACK}")
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${target}.ld")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/link.ld.in" "${script}" @ONLY)

  add_executable(${target} ${arg_SOURCES}
    "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/start.cpp" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/semihosting.cpp")
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  target_compile_features(${target} PRIVATE cxx_std_20)
  # Destructors of static objects would register themselves for an exit that does not come.
  target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections -fno-exceptions
    -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit)
  target_link_options(${target} PRIVATE -nostartfiles -T "${script}" LINKER:--gc-sections
    LINKER:--fatal-warnings)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${script}")
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND "${CMAKE_OBJCOPY}" -O binary $<TARGET_FILE:${target}> $<TARGET_FILE:${target}>.bin
    VERBATIM)
endfunction()

#[[
add_stack_bound(<model> <namespace>)

For a model of intarsia_add_model, and its NAME: makes the header <model>_stack.h, which programs that link
<model>_stack include. <namespace>::stack_bytes is the most stack that open, run and close take: see
stack_bound.py, which needs Python 3.8.
]]
function(add_stack_bound model namespace)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${model}_stack")
  set(source "${folder}/probe.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT [[
#include "@model@.h"
// What a program does with a session.
extern "C" void stack_probe(std::byte* arena) {
  auto session = @namespace@::open({arena, @namespace@::arena_bytes});
  if (session.ok() && session->run().ok()) session->close();
}
]])
  add_executable(${model}_probe "${source}")
  target_link_libraries(${model}_probe PRIVATE ${model})
  target_compile_features(${model}_probe PRIVATE cxx_std_20)
  target_compile_options(${model}_probe PRIVATE -ffunction-sections -fno-exceptions -fno-rtti)
  target_link_options(${model}_probe PRIVATE -nostartfiles LINKER:--gc-sections,--entry=stack_probe)
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/stack_bound.py")
  set(header "${folder}/${model}_stack.h")
  add_custom_command(OUTPUT "${header}"
    COMMAND "${Python3_EXECUTABLE}" "${script}" $<TARGET_FILE:${model}_probe> ${namespace} "${header}"
      "${CMAKE_OBJDUMP}"
    DEPENDS ${model}_probe "${script}" COMMENT "Bounding the stack of ${model}" VERBATIM)
  add_library(${model}_stack INTERFACE "${header}")
  target_include_directories(${model}_stack INTERFACE "${folder}")
endfunction()
