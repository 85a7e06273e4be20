# SPDX-License-Identifier: Apache-2.0
# The CUDA compiler and how device code is compiled: for each architecture that it knows of those
# in INTARSIA_CUDA_ARCHITECTURES, and as PTX, which the driver compiles for any later architecture: of
# the newest for what comes later, and of the oldest that nvcc knows for all between and before.
find_program(INTARSIA_NVCC nvcc HINTS "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
if(NOT INTARSIA_NVCC)
  message(FATAL_ERROR "INTARSIA_CUDA is ON, but there is no nvcc; install NVIDIA's CUDA toolkit 12 "
    "or 13, or name its folder in CUDA_PATH")
endif()
set(INTARSIA_CUDA_ARCHITECTURES "80;87;90;120" CACHE STRING "Compute capabilities to compile for")
execute_process(COMMAND ${INTARSIA_NVCC} --list-gpu-arch OUTPUT_VARIABLE known)
set(architectures)
foreach(architecture IN LISTS INTARSIA_CUDA_ARCHITECTURES)
  if(known MATCHES "compute_${architecture}[ \n]")
    list(APPEND architectures ${architecture}-real)
    set(newest ${architecture})
  endif()
endforeach()
if(NOT architectures)
  message(FATAL_ERROR "this nvcc compiles for none of ${INTARSIA_CUDA_ARCHITECTURES}")
endif()
string(REGEX MATCHALL "[0-9]+" known "${known}")
list(SORT known COMPARE NATURAL)
list(GET known 0 oldest)
list(APPEND architectures ${oldest}-virtual ${newest}-virtual)
list(REMOVE_DUPLICATES architectures)

set(CMAKE_CUDA_ARCHITECTURES ${architectures})
set(CMAKE_CUDA_COMPILER ${INTARSIA_NVCC})
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
# CMake 3.25 does not know the standards of CUDA 13.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()

# As intarsia_runtime_settings; nvcc hands host options on to the host's compiler.
add_library(intarsia_cuda_settings INTERFACE)
# Toolkits warn that they will drop the oldest architecture one day.
target_compile_options(intarsia_cuda_settings INTERFACE --expt-relaxed-constexpr
  -Wno-deprecated-gpu-targets
  -Xcompiler=-fno-rtti,-fno-exceptions,-ffunction-sections,-fdata-sections)
if(INTARSIA_DEVELOPER)
  target_compile_options(intarsia_cuda_settings INTERFACE
    -Werror=all-warnings -Xcompiler=-Wall,-Wextra)
endif()
