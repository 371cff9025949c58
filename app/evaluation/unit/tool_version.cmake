# gw_tool_version(HEADER CONSTANT LIBRARY...): a header with a hash of static libraries and of all own ones that they stand on, so
# that no result is taken for today's that another library beneath would change.
set(hash_files_script ${CMAKE_CURRENT_LIST_DIR}/hash_files.cmake CACHE INTERNAL "")

# Adds LIBRARY and the static libraries below it to the list OUT.
function(gw_add_libraries_below out library)
  string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}")
  if(NOT TARGET "${library}")
    return()
  endif()
  get_target_property(imported ${library} IMPORTED)
  get_target_property(type ${library} TYPE)
  if(imported OR "${library}" IN_LIST ${out} OR NOT type MATCHES "^(STATIC|INTERFACE)_LIBRARY$")
    return()
  endif()
  if(type STREQUAL STATIC_LIBRARY)
    list(APPEND ${out} ${library})
  endif()
  get_target_property(below ${library} INTERFACE_LINK_LIBRARIES)
  if(below)
    foreach(one ${below})
      gw_add_libraries_below(${out} "${one}")
    endforeach()
  endif()
  set(${out} "${${out}}" PARENT_SCOPE)
endfunction()

function(gw_tool_version header constant)
  set(libraries "")
  foreach(library ${ARGN})
    gw_add_libraries_below(libraries ${library})
  endforeach()
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  add_custom_command(OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DHEADER=${header} -DCONSTANT=${constant} -P ${hash_files_script}
    DEPENDS ${libraries} ${hash_files_script} ${files} VERBATIM)
  add_custom_target(${constant}_header DEPENDS ${header})
  add_dependencies(generated_headers ${constant}_header)
endfunction()
