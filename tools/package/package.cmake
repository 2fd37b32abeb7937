# The Debian package: `cpack -G DEB` in the build folder. It has what `cmake --install` installs, with shell completions
# and man pages, which the installed program prints itself.
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.hlo"
  PATTERN "embed/*")
set(generated ${CMAKE_BINARY_DIR}/generated)
install(CODE "execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/generate \"$<TARGET_FILE:shoal_cli>\" ${generated} COMMAND_ERROR_IS_FATAL ANY)")
install(FILES ${generated}/shoal.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME shoal)
install(FILES ${generated}/_shoal DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${generated}/shoal.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY ${generated}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME shoal)
set(CPACK_PACKAGE_VERSION ${SHOAL_VERSION})
set(CPACK_PACKAGE_CONTACT "The shoal developers <shoal@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "toolkit for XLA HLO modules")
set(CPACK_PACKAGE_DESCRIPTION "shoal checks, runs, analyzes and compares the compiled programs of distributed machine learning
(HLO modules of JAX, PyTorch/XLA and Alpa), without XLA and without an accelerator.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})
include(CPack)
