# Headers of libraries, parsed once a build: parsing them in every file is half of a compilation. They only save time; each
# file includes what it uses, which clang-tidy sees to (`make lint`), as it compiles without them.
# The libraries behind compiler and models go without: gw_mutate reads their syntax trees by the commands that compile them.
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

# gw_precompile_test(<executable>): GoogleTest, too. What is compiled takes most of the time of a test's build, and what it
# computes itself little of that of its run: no optimisation.
find_package(GTest REQUIRED)
add_executable(gw_precompiled_test ${CMAKE_CURRENT_LIST_DIR}/precompiled.cpp)
target_link_libraries(gw_precompiled_test PRIVATE gw_options fmt::fmt nlohmann_json::nlohmann_json GTest::gtest)
target_compile_options(gw_precompiled_test PRIVATE -O0)
target_precompile_headers(gw_precompiled_test PRIVATE ${headers} <gtest/gtest.h>)
function(gw_precompile_test target)
  target_compile_options(${target} PRIVATE -O0)
  target_precompile_headers(${target} REUSE_FROM gw_precompiled_test)
endfunction()
