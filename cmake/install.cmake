# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs: public headers, kernel headers (generated sources name kernels),
# static libraries, the command `intarsia`, and the package that find_package(Intarsia) loads.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Intarsia")

foreach(name IN ITEMS core kernels_cpu intarsia tool)
  if(NOT TARGET intarsia::${name})
    continue()  # a build without converter installs no tool
  endif()
  get_target_property(target intarsia::${name} ALIASED_TARGET)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${target} EXPORT IntarsiaTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endforeach()
install(EXPORT IntarsiaTargets NAMESPACE intarsia:: DESTINATION "${package_dir}")

# The folders that the targets' $<INSTALL_INTERFACE> names (IntarsiaTargets.cmake).
install(DIRECTORY include/intarsia DESTINATION include)
install(DIRECTORY core kernels_cpu DESTINATION include/intarsia_private
  FILES_MATCHING PATTERN "*.h"
  PATTERN definitions EXCLUDE  # the converter's view of operators and kernels
  PATTERN rows.h EXCLUDE
  PATTERN session_state.h EXCLUDE)  # needs FlatBuffers

configure_package_config_file(cmake/IntarsiaConfig.cmake.in "${PROJECT_BINARY_DIR}/IntarsiaConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before version 1.0 every minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/IntarsiaConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/IntarsiaConfig.cmake"
  "${PROJECT_BINARY_DIR}/IntarsiaConfigVersion.cmake" cmake/IntarsiaAddModel.cmake
  DESTINATION "${package_dir}")
