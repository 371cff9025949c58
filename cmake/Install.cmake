# The library for programs of others, what they find it by, and packages. Included last: it looks at all other targets.
include(CMakePackageConfigHelpers)

# gw_closure(<variable> <variable> <target>...): the project's static libraries that the targets link, by whatever way, and
# what else they do.
function(gw_closure own others)
  set(found "")
  set(foreign "")
  set(open ${ARGN})
  while(open)
    list(POP_FRONT open target)
    if(target IN_LIST found)
      continue()
    endif()
    list(APPEND found ${target})
    gw_linked(linked beside ${target})
    list(APPEND open ${linked})
    list(APPEND foreign ${beside})
  endwhile()
  set(static "")
  foreach(target ${found})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL STATIC_LIBRARY)
      list(APPEND static ${target})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES foreign)
  set(${own} ${static} PARENT_SCOPE)
  set(${others} ${foreign} PARENT_SCOPE)
endfunction()

# All that runs networks: from files over the compiler to devices, checks and reports.
gw_closure(own others gw_runtime)
add_library(gradweave_library SHARED ${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp)
set_target_properties(gradweave_library PROPERTIES OUTPUT_NAME gradweave VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib UNITY_BUILD OFF)
set(files ${own})
list(TRANSFORM files REPLACE "(.+)" "$<TARGET_FILE:\\1>")
target_link_libraries(gradweave_library PRIVATE gw_options -Wl,--whole-archive ${files} -Wl,--no-whole-archive ${others})
add_dependencies(gradweave_library ${own})
set_property(TARGET gradweave_library APPEND PROPERTY LINK_DEPENDS ${files})
install(TARGETS gradweave_library LIBRARY DESTINATION lib OPTIONAL) # what is not built is not installed, as with NPUs

# Headers as they include each other, and in a directory of their own: <gradweave/compiler/compiler.hpp>.
foreach(top base isa sw_models graph device compiler trace runtime)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${top} DESTINATION include/gradweave
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/generated/isa_defs.hpp DESTINATION include/gradweave)

set(config ${PROJECT_BINARY_DIR}/install)
configure_package_config_file(cmake/install/gradweaveConfig.cmake.in ${config}/gradweaveConfig.cmake INSTALL_DESTINATION lib/cmake/gradweave)
write_basic_package_version_file(${config}/gradweaveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/install/gradweave.pc.in ${config}/gradweave.pc @ONLY)
install(FILES ${config}/gradweaveConfig.cmake ${config}/gradweaveConfigVersion.cmake DESTINATION lib/cmake/gradweave)
install(FILES ${config}/gradweave.pc DESTINATION lib/pkgconfig)

# From the options themselves: the manual page and what bash completes.
foreach(kind man bash)
  set(file ${config}/gradweave.${kind})
  add_custom_command(OUTPUT ${file} COMMAND gradweave-all reference ${kind} > ${file} DEPENDS gradweave-all VERBATIM)
  list(APPEND references ${file})
endforeach()
add_custom_target(gw_references ALL DEPENDS ${references})
install(FILES ${config}/gradweave.bash DESTINATION share/bash-completion/completions RENAME gradweave OPTIONAL)

if(NOT GW_PORTABLE)
  install(FILES ${config}/gradweave.man DESTINATION share/man/man1 RENAME gradweave.1 OPTIONAL)
  install(FILES LICENSE DESTINATION share/doc/gradweave)
  install(CODE "message(NOTICE \"compiled for the instructions of this machine; -DGW_PORTABLE=ON compiles for others\")")
  return()
endif()

# A package for Debian, as its policy has it.
set(GW_MAINTAINER "The gradweave authors <noreply@users.noreply.github.com>" CACHE STRING "Name and address of who makes the Debian package")
string(TIMESTAMP GW_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC) # of $SOURCE_DATE_EPOCH if that is set
configure_file(cmake/install/changelog.in ${config}/changelog @ONLY)
find_program(GW_GZIP gzip REQUIRED)
add_custom_command(OUTPUT ${config}/gradweave.1.gz ${config}/changelog.gz
  COMMAND ${GW_GZIP} -9nc ${config}/gradweave.man > ${config}/gradweave.1.gz
  COMMAND ${GW_GZIP} -9nc ${config}/changelog > ${config}/changelog.gz
  DEPENDS ${config}/gradweave.man ${config}/changelog VERBATIM)
add_custom_target(gw_compressed DEPENDS ${config}/gradweave.1.gz)
add_dependencies(gw_references gw_compressed)
install(FILES ${config}/gradweave.1.gz DESTINATION share/man/man1 OPTIONAL)
install(FILES ${config}/changelog.gz DESTINATION share/doc/gradweave OPTIONAL)
install(FILES cmake/install/copyright DESTINATION share/doc/gradweave)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gradweave)
set(CPACK_PACKAGE_CONTACT ${GW_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "backward passes of neural networks on a cycle-exact NPU")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Compiles the training of neural networks for an NPU described by a
 file, simulates it to the cycle of its RTL, and searches and sweeps
 schedules and designs.")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/install/triggers ${PROJECT_SOURCE_DIR}/cmake/install/prerm)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-numpy") # for those who want the module
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfmt-dev, nlohmann-json3-dev") # for those who link the library
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
