# SPDX-License-Identifier: Apache-2.0
# Settings that the project's own targets share; nothing here leaks into an embedding project.

add_library(intarsia_settings INTERFACE)
target_compile_features(intarsia_settings INTERFACE cxx_std_20)
target_compile_options(intarsia_settings INTERFACE
  -ffunction-sections -fdata-sections -fno-math-errno -fno-trapping-math -ffp-contract=off
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
if(INTARSIA_DEVELOPER)
  target_compile_options(intarsia_settings INTERFACE -Wall -Wextra -Wpedantic -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 sees overlaps in std::string concatenation that cannot be (its bug 105651).
    target_compile_options(intarsia_settings INTERFACE -Wno-restrict)
  else()
    # Clang reports each element type for which a loop that asks for it cannot be vectorised.
    target_compile_options(intarsia_settings INTERFACE -Wno-pass-failed)
  endif()
endif()
if(INTARSIA_SANITIZE)
  target_compile_options(intarsia_settings INTERFACE
    -fsanitize=${INTARSIA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # Checks of every pointer make half of the text of what moves data, and of the time to compile it.
  # AddressSanitizer sees what goes wrong behind them; targets that read a plan keep them.
  if(INTARSIA_SANITIZE_WITHOUT)
    target_compile_options(intarsia_settings INTERFACE
      $<$<NOT:$<BOOL:$<TARGET_PROPERTY:INTARSIA_READS_PLANS>>>:-fno-sanitize=${INTARSIA_SANITIZE_WITHOUT}>)
  endif()
  target_link_options(intarsia_settings INTERFACE -fsanitize=${INTARSIA_SANITIZE})
  # Programs of hundreds of megabytes: gold writes them in a third of the time.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=gold INTARSIA_HAVE_GOLD)
  if(INTARSIA_HAVE_GOLD)
    target_link_options(intarsia_settings INTERFACE -fuse-ld=gold)
  endif()
endif()
if(INTARSIA_FUZZ)
  # Coverage feedback for everything that the targets of test/fuzz/ reach.
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "INTARSIA_FUZZ needs clang++ (libFuzzer); the preset `fuzz` names it")
  endif()
  target_compile_options(intarsia_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The runtime's rules: what test/checks/check_symbols.py verifies on the archives.
add_library(intarsia_runtime_settings INTERFACE)
target_link_libraries(intarsia_runtime_settings INTERFACE intarsia_settings)
target_compile_options(intarsia_runtime_settings INTERFACE
  -fno-exceptions -fno-rtti -fno-threadsafe-statics)

# A static library with the project's settings and include paths.
function(intarsia_library target settings)
  add_library(${target} STATIC ${ARGN})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:include> $<INSTALL_INTERFACE:include/intarsia_private>)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${settings}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL Generic)  # nothing moves a program there
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
endfunction()

# With INTARSIA_UNITY several sources of the target are compiled as one, because most of what is compiled
# is what their headers instantiate: a whole build takes less time, a changed source more. Names
# within anonymous namespaces are told apart for it. Code that is embedded is not compiled so.
function(intarsia_unity target)
  if(INTARSIA_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

# Headers that most sources of a target include, parsed once by developers and for the wheel, which
# compiles a third less for it. Other builds go without, so a source that forgets an include is found there.
#   intarsia_precompile(TARGET HEADER...)
#   intarsia_precompile(TARGET REUSE_FROM OTHER)   of a target with the same options
function(intarsia_precompile target)
  if(INTARSIA_PRECOMPILE)
    if("${ARGV1}" STREQUAL "REUSE_FROM")
      target_precompile_headers(${target} REUSE_FROM ${ARGV2})
    else()
      target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
    # GCC 12 no longer knows the strings of a precompiled header for the system's, and misjudges them.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  endif()
endfunction()
