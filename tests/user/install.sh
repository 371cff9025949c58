#!/bin/bash
# install.sh BUILD SOURCE: an installation of the build, moved, uses what was installed with it and nothing else; a copy of the
# build uses nothing of the tree that it was copied from; an NPU that was not built is no obstacle.
set -euo pipefail
build=$1
source=$2
unset GRADWEAVE_HOME GRADWEAVE_LIB_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state
cd "$work"

fail() {
  printf 'FAIL: %s\n' "$*" >&2
  exit 1
}
# expect CODE TEXT COMMAND...: its exit code, and text that it prints.
expect() {
  local code=$1 text=$2 status=0
  shift 2
  "$@" >output 2>&1 || status=$?
  [ "$status" -eq "$code" ] || fail "exit code $status instead of $code: $*: $(cat output)"
  grep -qF -- "$text" output || fail "'$text' is not in the output of $*: $(cat output)"
}

cmake --install "$build" --prefix "$work/first" >install.log || fail "cmake --install: $(tail -n 5 install.log)"
mv first moved
gradweave=$work/moved/bin/gradweave
# What only the moved installation has shows where names come from.
mv moved/share/gradweave/models/mlp.graph moved/share/gradweave/models/only-here.graph
expect 0 only-here "$gradweave" models
! grep -q '^  mlp ' output || fail "the moved command lists a network that it does not have"
expect 0 "total" "$gradweave" simulate --model only-here --npu test8
module=$(find moved/lib -name '_core.*.so')
if [ -n "$module" ]; then
  expect 0 only-here env PYTHONPATH="$work/${module%/gradweave/*}" /usr/bin/python3 -c 'import gradweave; print(gradweave.models())'
fi
expect 3 "there are: dpt, flexer, igo" "$gradweave" reproduce nosuch
printf 'a,20,30,40\n' >layers.csv
if [ -f "$build/lib/libgradweave_rtl_test8.so" ]; then
  expect 0 PASS "$gradweave" cosim --model layers.csv --npu test8
  rm moved/lib/libgradweave_rtl_test8.so
fi
expect 4 "$work/moved/lib/libgradweave_rtl_test8.so" "$gradweave" cosim --model layers.csv --npu test8
expect 4 "make cosim NPU=test8" "$gradweave" cosim --model layers.csv --npu test8
rm -r moved/share
expect 3 GRADWEAVE_HOME "$gradweave" models

# A copy of the build without its source tree.
mkdir -p copy/build/bin
cp "$build/CMakeCache.txt" copy/build/
cp "$build/bin/gradweave" "$build/bin/gradweave-training" copy/build/bin/
expect 3 "cmake --install" copy/build/bin/gradweave models
expect 0 bert_tiny env GRADWEAVE_HOME="$source" copy/build/bin/gradweave models

# A program of the command that is not built yet is built first; here that is a copy.
mkdir late
sed -e "s|$build/bin/gradweave-all|$work/late/gradweave-all|g" \
  -e "s|COMMAND \"[^\"]*\" --build \"$build\" --target gradweave_programs|COMMAND cp \"$build/bin/gradweave-all\" late/gradweave-all|" \
  "$build/app/cli/cmake_install.cmake" >late/install.cmake
cmake -DCMAKE_INSTALL_PREFIX="$work/whole" -P late/install.cmake >late.log 2>&1 || fail "$(cat late.log)"
grep -q "building the programs of the command" late.log || fail "nothing is built for an installation: $(cat late.log)"
expect 0 "random graphs" "$work/whole/bin/gradweave" validate --graphs 2 --quiet

# NPUs that were not built: an install script that finds none of the libraries.
if [ -f "$build/rtl/cmake_install.cmake" ]; then
  sed "s|\"$build/lib/|\"$work/none/|g" "$build/rtl/cmake_install.cmake" >rtl_install.cmake
  grep -q "$work/none/" rtl_install.cmake || fail "the install script of rtl names no library"
  cmake -DCMAKE_INSTALL_PREFIX="$work/partial" -P rtl_install.cmake >partial.log 2>&1 ||
    fail "an NPU that was not built cannot be installed: $(cat partial.log)"
fi
