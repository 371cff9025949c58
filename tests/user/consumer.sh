#!/bin/bash
# consumer.sh BUILD SOURCE CXX: an installation, moved, is found by CMake and by pkg-config; a program that links it gives the cycles of the
# command, from the models that were installed with the library; manual page and completion are those of the command.
set -euo pipefail
build=$1 source=$2 cxx=$3
unset GRADWEAVE_HOME GRADWEAVE_LIB_DIR
export GRADWEAVE_PLAN_CACHE=off
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
  printf 'FAIL: %s\n' "$*" >&2
  exit 1
}

cmake --install "$build" --prefix "$work/first" >install.log 2>&1 || fail "cmake --install: $(tail -n 5 install.log)"
mv first moved
prefix=$work/moved
mv "$prefix/share/gradweave/models/mlp.graph" "$prefix/share/gradweave/models/only-here.graph"
cycles=$("$prefix/bin/gradweave" simulate --model only-here --npu test8 --quiet | sed -n 's/^time *\([0-9,]*\) cycles.*/\1/p' | tr -d ,)

cmake -S "$source/tests/user/consumer" -B by-cmake -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 ||
  fail "find_package: $(cat cmake.log)"
cmake --build by-cmake >cmake.log 2>&1 || fail "the consumer does not build: $(cat cmake.log)"
[ "$(by-cmake/consumer only-here test8)" = "$cycles" ] || fail "$(by-cmake/consumer only-here test8) cycles instead of $cycles"

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  read -r -a flags <<<"$(pkg-config --cflags --libs gradweave)"
  "$cxx" "$source/tests/user/consumer/consumer.cpp" "${flags[@]}" -o by-pkg-config
  [ "$(LD_LIBRARY_PATH=$prefix/lib ./by-pkg-config only-here test8)" = "$cycles" ] || fail "pkg-config: other cycles"
fi

man=$prefix/share/man/man1/gradweave.1
[ -f "$man" ] || gzip -dk "$man.gz" # as in a package
grep -q '^\.SS "sweep collect"' "$man" || fail "the manual page has no 'sweep collect'"
grep -qF '\-\-slurm\-partition' "$man" || fail "the manual page has no --slurm-partition"
if command -v groff >/dev/null; then
  groff -man -Tutf8 -ww "$man" >man.txt 2>groff.log || fail "groff: $(cat groff.log)"
  [ ! -s groff.log ] || fail "groff: $(head -n 5 groff.log)"
fi
# completes WORD... : what the completion offers for the last word. Whoever reads it reads all: a pipe that is closed early is an error.
completes() {
  PATH=$prefix/bin:$PATH bash -c 'source "$1"; shift; COMP_WORDS=(gradweave "$@"); COMP_CWORD=$#; _gradweave
    printf "%s\n" "${COMPREPLY[@]}"' _ "$prefix/share/bash-completion/completions/gradweave" "$@"
}
completes sim | grep -x simulate >/dev/null || fail "'sim' is not completed"
completes sweep --sl | grep -x -- --slurm-time >/dev/null || fail "'sweep --sl' is not completed"
completes simulate --model only | grep -qx only-here || fail "networks are not completed"
completes simulate --npu test1 | grep -qx test16 || fail "NPUs are not completed"

if [ "$(sed -n 's/^GW_PORTABLE:BOOL=//p' "$build/CMakeCache.txt")" != ON ]; then
  grep -q GW_PORTABLE install.log || fail "nothing says that this is for one machine"
fi
