# Several files of a target are compiled as one: what they include and instantiate is compiled once, and a whole build takes less
# time. A name in an unnamed namespace therefore occurs once in a target. For work on a few files, -DCMAKE_UNITY_BUILD=OFF
# (make's UNITY=OFF) recompiles less.
set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile several files of a target as one")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
if(CMAKE_UNITY_BUILD) # g++ takes the files of a batch for headers, which unnamed namespaces would not belong in
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

# gw_file_by_file(<target>...): not in these, whose sources have names in common or are the code of others.
function(gw_file_by_file)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD OFF)
endfunction()
