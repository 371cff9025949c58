# Headers of libraries, parsed once a build: parsing them in every file is half of a compilation. They only save time; each
# file includes what it uses, which clang-tidy sees to (`make lint`), as it compiles without them.
set(headers <algorithm> <array> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <optional> <random> <set>
  <string> <string_view> <vector> <fmt/format.h> <nlohmann/json.hpp>)

# gw_precompile(<library>...)
add_library(gw_precompiled OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp)
target_link_libraries(gw_precompiled PRIVATE gw_options fmt::fmt nlohmann_json::nlohmann_json)
target_precompile_headers(gw_precompiled PRIVATE ${headers})
function(gw_precompile)
  foreach(target ${ARGN})
    target_precompile_headers(${target} REUSE_FROM gw_precompiled)
  endforeach()
endfunction()

# gw_compile_quickly(<executable>): for tests and tools whose own code runs for a moment and is compiled for long: with
# GoogleTest's header, too, and not optimised.
find_package(GTest REQUIRED)
add_executable(gw_precompiled_executable ${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp)
target_link_libraries(gw_precompiled_executable PRIVATE gw_options fmt::fmt nlohmann_json::nlohmann_json GTest::gtest)
target_compile_options(gw_precompiled_executable PRIVATE -O0)
target_precompile_headers(gw_precompiled_executable PRIVATE ${headers} <gtest/gtest.h>)
function(gw_compile_quickly target)
  target_compile_options(${target} PRIVATE -O0)
  target_precompile_headers(${target} REUSE_FROM gw_precompiled_executable)
endfunction()
