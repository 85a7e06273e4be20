# SPDX-License-Identifier: Apache-2.0
# INTARSIA_FLATC, the compiler of schemas, and INTARSIA_FLATBUFFERS, a folder of this build that
# holds nothing but FlatBuffers' headers. Both come from the build machine, in cross builds too: the
# headers need no library, and the folder that they are installed in holds headers of that machine,
# which must not reach another one's compiler.

find_program(INTARSIA_FLATC flatc)
cmake_path(GET INTARSIA_FLATC PARENT_PATH folder)
find_path(INTARSIA_FLATBUFFERS_HEADERS flatbuffers/flatbuffers.h
  HINTS "${folder}/../include" NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(INTARSIA_FLATC INTARSIA_FLATBUFFERS_HEADERS)
if(NOT INTARSIA_FLATC OR NOT INTARSIA_FLATBUFFERS_HEADERS)
  message(FATAL_ERROR "FlatBuffers is missing: its compiler is '${INTARSIA_FLATC}', its headers lie in "
    "'${INTARSIA_FLATBUFFERS_HEADERS}'. Install flatbuffers-compiler and libflatbuffers-dev, or set "
    "INTARSIA_FLATC and INTARSIA_FLATBUFFERS_HEADERS.")
endif()

set(INTARSIA_FLATBUFFERS "${CMAKE_CURRENT_BINARY_DIR}/flatbuffers_headers")
file(MAKE_DIRECTORY "${INTARSIA_FLATBUFFERS}")
file(CREATE_LINK "${INTARSIA_FLATBUFFERS_HEADERS}/flatbuffers" "${INTARSIA_FLATBUFFERS}/flatbuffers"
  SYMBOLIC COPY_ON_ERROR)
