# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs: public headers, kernel headers (generated sources name kernels),
# static libraries, the command `intarsia`, and the package that find_package(Intarsia) loads.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Intarsia")

# A build without converter installs neither the tool nor what plug-ins link.
set(installed core kernels_cpu intarsia)
if(TARGET intarsia::tool)
  list(APPEND installed tool plugin definitions)
endif()
foreach(name IN LISTS installed)
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
  REGEX "kernels_cpu/rows\\.h$" EXCLUDE  # the converter's view of kernels
  PATTERN session_state.h EXCLUDE)  # needs FlatBuffers
install(FILES converter/graph/error.h DESTINATION include/intarsia_private/converter/graph)
install(FILES converter/plugin/extension.h converter/plugin/operator_extension.h
  converter/plugin/plugin.h DESTINATION include/intarsia_private/converter/plugin)

configure_package_config_file(cmake/IntarsiaConfig.cmake.in "${PROJECT_BINARY_DIR}/IntarsiaConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before version 1.0 every minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/IntarsiaConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/IntarsiaConfig.cmake"
  "${PROJECT_BINARY_DIR}/IntarsiaConfigVersion.cmake" cmake/IntarsiaAddModel.cmake
  cmake/IntarsiaAddOperators.cmake
  DESTINATION "${package_dir}")
