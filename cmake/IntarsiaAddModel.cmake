# SPDX-License-Identifier: Apache-2.0
#[[
intarsia_add_model(<target> MODEL <file.onnx>
  [ENTRY <name>=<file.onnx>...] further entry points, over one arena; MODEL, if given, is "main"
  [NAME <namespace>]           C++ namespace of the generated code, by default the target's name
  [DIM <name>=<max>...]        range of a symbolic dimension: NAME=MAX, NAME=MIN..MAX, INPUT@AXIS=MAX
  [SHAPE <input>=<extents>...] extents of an input, such as image=1x3x224x224
  [FIX <input>=<value>...]     makes an input a constant: a number, [1,2], or a file FILE.npy
  [VALUE <input>=<value>...]   makes the plan for this value; the input stays, other values fail
  [STATE <output>=<input>...]  keeps an output in the arena as the next run's input
  [GRADIENT <output>[=<input>,...]...]  an entry point that computes gradients (docs/training.md)
  [TRAINABLE <initialiser>...] makes it a state that begins with its values; may end with a *
  [BOUND <tensor>=<extents>...]
  [MAX_TRIPS <node>=<n>...]    the most trips of a loop, where nothing tells their number
  [LAYOUT <input>=nhwc...]     the caller's buffer is channels-last
  [THREADS <n>]                the largest number of threads that a session may use
  [SEED <n>]                   other random numbers for nodes that have no seed of their own
  [OPERATORS <target>|<file.py>...]  operators of one's own, of intarsia_add_operators or in Python
  [ALLOW_PYOP]                 lets Python operators of the model be executed, now and in the program
  [PYOP_PATH <folder>...]      where the conversion finds their modules
  [TARGET <name>]              what the cost model assumes: generic, x86-64-v3, aarch64, ...
  [PLAN_GROWTH <factor>]       the most that a packed weight may take, times its own bytes
  [STRIP_NAMES]                a plan without names of nodes, operators and kernels
  [C]                          also "<target>_c.h", for programs in C (docs/c_api.md)
  [DEPENDS <file>...])         more files that the conversion reads, such as external weights

Adds a static library that holds the model, converted when the program is built. Programs link
<target> and include "<target>.h". The options are those of `intarsia convert`.

Python operators need a build with INTARSIA_PYOP=ON, or its package: find_package(Intarsia COMPONENTS pyop).

The converter is the program that the variable INTARSIA_TOOL names, if it is set; else the one of
this project or package. Cross builds need INTARSIA_TOOL: the converter runs on the build machine.
]]

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/IntarsiaAddOperators.cmake")

# Sets `command` and `dependency` in the caller's scope: how to run the converter, and what a
# conversion depends on so that a new converter converts again.
function(intarsia_find_tool command dependency)
  if(INTARSIA_TOOL)
    get_filename_component(tool "${INTARSIA_TOOL}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
    if(NOT EXISTS "${tool}" OR IS_DIRECTORY "${tool}")
      message(FATAL_ERROR "INTARSIA_TOOL is '${INTARSIA_TOOL}', which is not a file. Set it to the "
        "command `intarsia`, such as build/release/bin/intarsia of an Intarsia checkout, or unset it.")
    endif()
    set(${command} "${tool}" PARENT_SCOPE)
    set(${dependency} "${tool}" PARENT_SCOPE)
    return()
  endif()
  foreach(target IN ITEMS intarsia::tool intarsia_tool)
    if(NOT TARGET ${target})
      continue()
    endif()
    get_target_property(imported ${target} IMPORTED)
    if(CMAKE_CROSSCOMPILING AND NOT imported AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
      break()
    endif()
    set(${command} ${target} PARENT_SCOPE)
    set(${dependency} ${target} PARENT_SCOPE)
    return()
  endforeach()
  message(FATAL_ERROR "intarsia_add_model needs the converter, and this build has none that runs "
    "here. Build the command `intarsia` on this machine and set INTARSIA_TOOL to it, or configure "
    "with INTARSIA_BUILD_CONVERTER=ON.")
endfunction()

function(intarsia_add_model target)
  set(one_value MODEL NAME THREADS SEED TARGET PLAN_GROWTH)
  set(repeated ENTRY DIM SHAPE FIX VALUE STATE BOUND MAX_TRIPS LAYOUT)
  set(names GRADIENT TRAINABLE)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STRIP_NAMES;ALLOW_PYOP;C" "${one_value}"
    "${repeated};${names};OPERATORS;PYOP_PATH;DEPENDS")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    list(JOIN arg_UNPARSED_ARGUMENTS " " unknown)
    list(JOIN repeated ", " keywords)
    list(JOIN names ", " name_keywords)
    message(FATAL_ERROR "intarsia_add_model(${target}): unknown arguments: ${unknown}. It takes "
      "MODEL, NAME, ${keywords}, ${name_keywords}, THREADS, SEED, TARGET, PLAN_GROWTH, STRIP_NAMES, C, OPERATORS, "
      "ALLOW_PYOP, PYOP_PATH and DEPENDS.")
  endif()
  if(DEFINED arg_KEYWORDS_MISSING_VALUES)
    list(JOIN arg_KEYWORDS_MISSING_VALUES " " missing)
    message(FATAL_ERROR "intarsia_add_model(${target}): no value after ${missing}.")
  endif()
  if(NOT DEFINED arg_MODEL AND NOT DEFINED arg_ENTRY)
    message(FATAL_ERROR "intarsia_add_model(${target}): MODEL is missing; name an ONNX file.")
  endif()

  # Relative paths are those of the caller's source folder, whether the file is there already or is
  # made by another rule of the build.
  set(models ${arg_ENTRY})
  list(TRANSFORM models REPLACE "^[^=]*=" "")
  list(PREPEND models ${arg_MODEL})
  set(depends "")
  foreach(model IN LISTS models)
    get_filename_component(model "${model}" ABSOLUTE)
    get_property(generated SOURCE "${model}" PROPERTY GENERATED)
    # A rule of another folder does not show here; what lies among the build's files comes from one.
    string(FIND "${model}" "${CMAKE_BINARY_DIR}/" place)
    if(NOT EXISTS "${model}" AND NOT generated AND NOT place EQUAL 0)
      message(FATAL_ERROR "intarsia_add_model(${target}): the model '${model}' does not exist.")
    endif()
    list(APPEND depends "${model}")
  endforeach()
  foreach(file IN LISTS arg_DEPENDS)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND depends "${file}")
  endforeach()

  if(NOT DEFINED arg_NAME)
    string(MAKE_C_IDENTIFIER "${target}" arg_NAME)
    string(REGEX REPLACE "__+" "_" arg_NAME "${arg_NAME}")
  endif()
  set(main "")
  if(DEFINED arg_MODEL)
    list(GET depends 0 main)
  endif()
  set(options --namespace "${arg_NAME}")
  foreach(keyword IN LISTS repeated)
    string(REPLACE "_" "-" option "--${keyword}")
    string(TOLOWER "${option}" option)
    foreach(value IN LISTS arg_${keyword})
      if(NOT value MATCHES "=")
        message(FATAL_ERROR "intarsia_add_model(${target}): ${keyword} '${value}' is not of the form "
          "name=value.")
      endif()
      if(keyword MATCHES "^(FIX|VALUE)$" AND value MATCHES "^(.*)=([^=]*\\.npy)$")
        get_filename_component(file "${CMAKE_MATCH_2}" ABSOLUTE)
        list(APPEND depends "${file}")
        set(value "${CMAKE_MATCH_1}=${file}")
      elseif(keyword STREQUAL "ENTRY")
        string(REGEX MATCH "^([^=]*)=(.*)$" all "${value}")
        get_filename_component(file "${CMAKE_MATCH_2}" ABSOLUTE)
        set(value "${CMAKE_MATCH_1}=${file}")
      endif()
      list(APPEND options ${option} "${value}")
    endforeach()
  endforeach()
  foreach(keyword IN LISTS names)
    string(TOLOWER "--${keyword}" option)
    foreach(value IN LISTS arg_${keyword})
      list(APPEND options ${option} "${value}")
    endforeach()
  endforeach()
  foreach(keyword IN ITEMS THREADS SEED TARGET PLAN_GROWTH)
    if(DEFINED arg_${keyword})
      string(REPLACE "_" "-" option "--${keyword}")
      string(TOLOWER "${option}" option)
      list(APPEND options ${option} "${arg_${keyword}}")
    endif()
  endforeach()
  if(arg_STRIP_NAMES)
    list(APPEND options --strip-names)
  endif()

  set(libraries)
  set(python)
  foreach(operators IN LISTS arg_OPERATORS)
    if(operators MATCHES "\\.py$")
      get_filename_component(file "${operators}" ABSOLUTE)
      if(NOT EXISTS "${file}")
        message(FATAL_ERROR "intarsia_add_model(${target}): OPERATORS ${operators}: there is no such "
          "file.")
      endif()
      set(dependency "${file}")
      set(python "OPERATORS ${operators}")
    else()
      intarsia_find_operators(${operators} file dependency)
      list(APPEND libraries ${operators})
    endif()
    list(APPEND options --operators "${file}")
    list(APPEND depends "${dependency}")
  endforeach()

  if(arg_ALLOW_PYOP)
    list(APPEND options --allow-pyop)
    set(python ALLOW_PYOP)
  endif()
  if(python)
    if(NOT TARGET intarsia::pyop)
      message(FATAL_ERROR "intarsia_add_model(${target}): ${python} needs the target intarsia::pyop, "
        "which there is in a build of Intarsia with INTARSIA_PYOP=ON. Set that, or install such a build "
        "and ask its package for it: find_package(Intarsia REQUIRED COMPONENTS pyop).")
    endif()
    list(APPEND libraries intarsia::pyop)
    if(TARGET intarsia::pyop_plugin)
      list(APPEND depends intarsia::pyop_plugin)
    endif()
  endif()
  foreach(path IN LISTS arg_PYOP_PATH)
    get_filename_component(path "${path}" ABSOLUTE)
    list(APPEND options --pyop-path "${path}")
  endforeach()

  intarsia_find_tool(tool tool_dependency)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/intarsia_models/${target}")
  file(MAKE_DIRECTORY "${folder}")
  set(plan "${folder}/${target}.plan")
  set(header "${folder}/${target}.h")
  set(source "${folder}/${target}.cpp")
  add_custom_command(
    OUTPUT "${plan}" "${header}" "${source}"
    COMMAND "${tool}" convert ${main} -o "${plan}" --header "${header}" --source "${source}"
            ${options}
    DEPENDS ${depends} ${tool_dependency}
    COMMENT "Converting ${arg_MODEL} ${arg_ENTRY}"
    VERBATIM)

  add_library(${target} STATIC "${source}" "${header}")
  # The plan enters the object file through the assembler, which no compiler reports as a dependency.
  # Link-time optimisation would lose sight of a symbol that only the assembler defines.
  set_source_files_properties("${source}" PROPERTIES
    OBJECT_DEPENDS "${plan}" COMPILE_OPTIONS "-fno-lto" SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${target} PUBLIC "${folder}")
  target_compile_options(${target} PRIVATE
    -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti)
  target_link_options(${target} INTERFACE LINKER:--gc-sections)
  target_link_libraries(${target} PUBLIC intarsia::intarsia ${libraries})
  if(arg_C)
    intarsia_add_c_header(${target} "${arg_NAME}" "${folder}")
  endif()
endfunction()

# What a program in C calls of a model: the functions' names begin with that of the target.
function(intarsia_add_c_header target namespace folder)
  string(MAKE_C_IDENTIFIER "${target}" prefix)
  file(CONFIGURE OUTPUT "${folder}/${target}_c.h" @ONLY CONTENT [[
// Generated by intarsia_add_model; do not edit.
#pragma once

#include "intarsia/intarsia_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The plan, in the program's read-only data, and the kernels that it requires: for
/// intarsia_open_trusted.
const void* @prefix@_plan(void);
size_t @prefix@_plan_bytes(void);
const intarsia_kernels* @prefix@_kernels(void);
/// Static memory for one session; programs that do not call this do not have it.
void* @prefix@_arena(void);
size_t @prefix@_arena_bytes(void);
/// Opens the model in that memory, or NULL with the reason. One session at a time has it.
intarsia_session* @prefix@_open(const intarsia_options* options, intarsia_diagnostic* why);

#ifdef __cplusplus
}  // extern "C"
#endif
]])
  file(CONFIGURE OUTPUT "${folder}/${target}_c.cpp" @ONLY CONTENT [[
// Generated by intarsia_add_model; do not edit.
#include "@target@_c.h"

#include "@target@.h"
#include "intarsia/c_kernels.h"

namespace model = @namespace@;

namespace {
alignas(INTARSIA_ALIGNMENT) std::byte arena[model::arena_bytes + INTARSIA_SESSION_BYTES];
}

const void* @prefix@_plan(void) { return model::plan().data(); }
size_t @prefix@_plan_bytes(void) { return model::plan_bytes; }
const intarsia_kernels* @prefix@_kernels(void) {
  static constexpr intarsia_kernels kernels{&model::kernels};
  return &kernels;
}
void* @prefix@_arena(void) { return arena; }
size_t @prefix@_arena_bytes(void) { return sizeof(arena); }
intarsia_session* @prefix@_open(const intarsia_options* options, intarsia_diagnostic* why) {
  return intarsia_open_trusted(@prefix@_plan(), @prefix@_plan_bytes(), @prefix@_kernels(), arena,
                               sizeof(arena), options, why);
}
]])
  target_sources(${target} PRIVATE "${folder}/${target}_c.cpp")
  # It includes a header that the conversion writes.
  set_source_files_properties("${folder}/${target}_c.cpp" PROPERTIES
    OBJECT_DEPENDS "${folder}/${target}.h")
  target_link_libraries(${target} PUBLIC intarsia::c)
endfunction()
