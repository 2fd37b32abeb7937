# The library as others use it: libshoal.so, libshoal.a, their installation, the CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)

set(exports ${CMAKE_CURRENT_LIST_DIR}/exports.map)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/library/empty.cc CONTENT "")
set(library_parts shoal_codegen shoal_onednn)  # opened when first needed
if(TARGET shoal_mpi)
  list(APPEND library_parts shoal_mpi)
endif()

add_library(shoal_shared SHARED ${CMAKE_BINARY_DIR}/library/empty.cc)
set_target_properties(shoal_shared PROPERTIES
  OUTPUT_NAME shoal VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} LINK_DEPENDS ${exports} DISABLE_PRECOMPILE_HEADERS ON)
target_link_libraries(shoal_shared PRIVATE
  -Wl,--whole-archive,$<TARGET_FILE:shoal_cpp>,$<TARGET_FILE:shoal_c>,--no-whole-archive shoal_c)
# No symbol of another library is exported, and shoal's own calls do not go through the dynamic linker's table.
target_link_options(shoal_shared PRIVATE -Wl,--version-script=${exports} -Wl,-Bsymbolic
  -Wl,--no-undefined)
add_dependencies(shoal_shared ${library_parts})

# libshoal.a has the objects of all folders.
set(archive ${CMAKE_BINARY_DIR}/libshoal.a)
set(script "create ${archive}\n")
set(archives "")
foreach(folder IN LISTS SHOAL_FOLDERS)
  if(NOT folder MATCHES "^(cli|serve)/")
    string(APPEND script "addlib $<TARGET_FILE:${SHOAL_TARGET_${folder}}>\n")
    list(APPEND archives ${SHOAL_TARGET_${folder}})
  endif()
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/library/archive.mri CONTENT "${script}save\nend\n")
add_custom_command(OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
  COMMAND ${CMAKE_AR} -M < ${CMAKE_BINARY_DIR}/library/archive.mri
  DEPENDS ${archives} ${CMAKE_BINARY_DIR}/library/archive.mri VERBATIM)
add_custom_target(shoal_static ALL DEPENDS ${archive} ${library_parts})

# Installation: the program, the library, the parts beside it, headers, machine descriptions.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)
install(TARGETS shoal_cli shoal_shared)
install(TARGETS ${library_parts} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/shoal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal FILES_MATCHING PATTERN "*.yaml")

# A program that links libshoal.a also links these.
cmake_path(GET OPENBLAS PARENT_PATH openblas_folder)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/shoalConfig.cmake.in ${CMAKE_BINARY_DIR}/library/shoalConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/library/shoalConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# Written out, because pkg-config would look for the packages of Requires.private even for a program that links libshoal.so.
find_package(PkgConfig REQUIRED)
pkg_check_modules(shoal_static REQUIRED QUIET absl_hash absl_raw_hash_set absl_strings absl_throw_delegate protobuf re2 yaml-cpp zlib)
list(JOIN shoal_static_STATIC_LDFLAGS " " shoal_static_libs)
configure_file(${CMAKE_CURRENT_LIST_DIR}/shoal.pc.in ${CMAKE_BINARY_DIR}/library/shoal.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/library/shoalConfig.cmake ${CMAKE_BINARY_DIR}/library/shoalConfigVersion.cmake
  DESTINATION ${package})
install(FILES ${CMAKE_BINARY_DIR}/library/shoal.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
