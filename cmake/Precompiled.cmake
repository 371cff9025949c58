# Headers of libraries, parsed once a build: parsing them in every file is half of a compilation. They only save time; each
# file includes what it uses, which clang-tidy sees to (`make lint UNITY=OFF`), as it compiles without them.
set(headers <algorithm> <array> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <optional> <random> <set>
  <string> <string_view> <vector> <fmt/format.h> <nlohmann/json.hpp>)

# gw_precompile(<library>...): in directories that set GW_UNOPTIMISED, the libraries are not optimised.
foreach(library gw_precompiled gw_precompiled_unoptimised)
  add_library(${library} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp)
  target_link_libraries(${library} PRIVATE gw_options fmt::fmt nlohmann_json::nlohmann_json)
  target_precompile_headers(${library} PRIVATE ${headers})
endforeach()
target_compile_options(gw_precompiled_unoptimised PRIVATE -O0)
function(gw_precompile)
  foreach(target ${ARGN})
    if(GW_UNOPTIMISED)
      target_compile_options(${target} PRIVATE -O0)
      target_precompile_headers(${target} REUSE_FROM gw_precompiled_unoptimised)
    else()
      target_precompile_headers(${target} REUSE_FROM gw_precompiled)
    endif()
  endforeach()
endfunction()

# The same for libraries that read, look up and print, and compute nothing to speak of: not optimised, they compile in half the
# time and less.
function(gw_precompile_cold)
  set(GW_UNOPTIMISED ON)
  gw_precompile(${ARGN})
endfunction()

# For executables, with GoogleTest's header, too: gw_compile_quickly(<executable>) for tests and tools whose own code runs for
# a moment and is compiled for long, which is not optimised; gw_compile_optimised(<executable>) for the others.
find_package(GTest REQUIRED)
foreach(kind quick optimised)
  add_executable(gw_precompiled_${kind} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp)
  target_link_libraries(gw_precompiled_${kind} PRIVATE gw_options fmt::fmt nlohmann_json::nlohmann_json GTest::gtest)
  target_precompile_headers(gw_precompiled_${kind} PRIVATE ${headers} <gtest/gtest.h>)
endforeach()
target_compile_options(gw_precompiled_quick PRIVATE -O0)
function(gw_reuse_precompiled target kind)
  # The macros must be those that the headers were compiled with.
  target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:GTest::gtest,INTERFACE_COMPILE_OPTIONS>)
  target_precompile_headers(${target} REUSE_FROM gw_precompiled_${kind})
endfunction()
function(gw_compile_quickly target)
  target_compile_options(${target} PRIVATE -O0)
  gw_reuse_precompiled(${target} quick)
endfunction()
function(gw_compile_optimised target)
  if(GW_SANITIZE) # fewer cases run, and to instrument optimised code takes long
    gw_compile_quickly(${target})
  else()
    gw_reuse_precompiled(${target} optimised)
  endif()
endfunction()
