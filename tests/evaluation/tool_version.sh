#!/bin/bash
# tool_version.sh SOURCE_TREE COMPILER SCRATCH: the version that results are kept by is another one if a library far below changes,
# and the same if one beside does.
set -euo pipefail
source_tree=$1 compiler=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cat >"$scratch/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(chain CXX)
add_custom_target(generated_headers)
add_library(low STATIC low.cpp)
add_library(middle STATIC middle.cpp)
target_link_libraries(middle PRIVATE low)
add_library(top STATIC top.cpp)
target_link_libraries(top PUBLIC middle)
add_library(beside STATIC beside.cpp)
target_link_libraries(beside PUBLIC top)
include($source_tree/app/evaluation/unit/tool_version.cmake)
gw_tool_version(\${CMAKE_CURRENT_BINARY_DIR}/version.hpp kVersion top)
END
write() { echo "int ${1}_value() { return $2; }" >"$scratch/$1.cpp"; }
version() {
  cmake --build "$scratch/build" --target beside kVersion_header >"$scratch/log" || { cat "$scratch/log"; exit 1; }
  grep -o '"[0-9a-f]*"' "$scratch/build/version.hpp"
}
for name in low middle top beside; do write $name 1; done
cmake -S "$scratch" -B "$scratch/build" -DCMAKE_CXX_COMPILER="$compiler" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
first=$(version)
write low 2
changed=$(version)
[ "$changed" != "$first" ] || { echo "version $first does not see a change of a library two floors below"; exit 1; }
write beside 2
[ "$(version)" = "$changed" ] || { echo "version $changed is another one after a change of a library beside"; exit 1; }
write low 1
[ "$(version)" = "$first" ] || { echo "the same libraries have two versions"; exit 1; }
