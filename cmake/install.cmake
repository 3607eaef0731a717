# SPDX-License-Identifier: MIT
# Everything installed is text for any machine, hence share/ and ARCH_INDEPENDENT. Nothing holds an absolute path, so the
# prefix may be moved afterwards.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/scratchpad)
install(TARGETS scratchpad EXPORT scratchpad-targets FILE_SET HEADERS FILE_SET adapters)
install(EXPORT scratchpad-targets NAMESPACE scratchpad:: DESTINATION ${package_dir})
configure_package_config_file(cmake/scratchpad-config.cmake.in ${PROJECT_BINARY_DIR}/scratchpad-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# While the major version is 0, a new minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/scratchpad-config-version.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/scratchpad-config.cmake ${PROJECT_BINARY_DIR}/scratchpad-config-version.cmake
        DESTINATION ${package_dir})
