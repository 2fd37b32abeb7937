# SHOAL_VERSION: the git tag vN.N of the commit, or the version of the project if the commit has no tag.
set(SHOAL_VERSION ${PROJECT_VERSION})
find_package(Git QUIET)
if(Git_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --tags --exact-match --match "v[0-9]*"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE tag OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(tag)
    string(SUBSTRING ${tag} 1 -1 SHOAL_VERSION)
  endif()
endif()
