# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs: public headers, static libraries, the command `intarsia`, and the
# package that find_package(Intarsia) loads.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Intarsia")

# A build without converter installs neither the tool nor what plug-ins link.
set(installed core kernels_cpu c intarsia)
if(TARGET intarsia::threads)
  list(APPEND installed threads c_host)
endif()
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

# The component `pyop`, targets of their own: only who asks for them needs Python's library and headers.
if(TARGET intarsia::pyop AND TARGET intarsia::tool)
  foreach(name IN ITEMS pyop_host pyop pyop_plugin)
    get_target_property(target intarsia::${name} ALIASED_TARGET)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS ${target} EXPORT IntarsiaPyopTargets
      ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
      LIBRARY DESTINATION lib)  # where the command looks for it
  endforeach()
  install(EXPORT IntarsiaPyopTargets NAMESPACE intarsia:: DESTINATION "${package_dir}")
  foreach(name IN ITEMS INTARSIA_PYTHON_VERSION INTARSIA_PYTHON_LIBRARY)
    get_property(${name} GLOBAL PROPERTY ${name})
  endforeach()
endif()

# Programs need the public headers alone: generated sources name kernels by key. Plug-ins with
# operators of one's own include what the converter knows of operators; intarsia::plugin finds it.
# A kernel that replaces a built-in one includes the operator's attributes and rule.
set(private include/intarsia_private)
install(DIRECTORY include/intarsia DESTINATION include)
install(DIRECTORY core/operators DESTINATION ${private}/core FILES_MATCHING PATTERN "*.h")
if(TARGET intarsia::tool)
  install(FILES core/kernel_descriptor.h DESTINATION ${private}/core)
  install(DIRECTORY core/definitions DESTINATION ${private}/core FILES_MATCHING PATTERN "*.h")
  install(FILES converter/plugin/extension.h converter/plugin/operator_extension.h
    converter/plugin/operator_test.h converter/plugin/plugin.h DESTINATION ${private}/converter/plugin)
endif()

configure_package_config_file(cmake/IntarsiaConfig.cmake.in "${PROJECT_BINARY_DIR}/IntarsiaConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before version 1.0 every minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/IntarsiaConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/IntarsiaConfig.cmake"
  "${PROJECT_BINARY_DIR}/IntarsiaConfigVersion.cmake" cmake/IntarsiaAddModel.cmake
  cmake/IntarsiaAddOperators.cmake
  DESTINATION "${package_dir}")
install(PROGRAMS cmake/intarsia_link_error.sh DESTINATION "${package_dir}")
