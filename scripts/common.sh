#!/bin/bash
# Sourced by the scripts behind the Makefile: directories, messages, compiler choice, configuration.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
build=${BUILD:-build}
export build

# The NPUs of configs/ that are verilated by default; keep in step with GW_NPUS in CMakeLists.txt by reading it there.
default_npus() { sed -n 's/^set(GW_NPUS "\([^"]*\)".*/\1/p' CMakeLists.txt; }

# npu_file FILE: the file with the table [npu] that FILE describes: itself, or the one that it names instead of the table.
npu_file() {
  local other
  other=$(sed -nE "s/^[[:space:]]*npu[[:space:]]*=[[:space:]]*(\"([^\"]+)\"|'([^']+)').*/\2\3/p" "$1" | head -n 1)
  case $other in
  '') printf '%s\n' "$1" ;;
  /*) printf '%s\n' "$other" ;;
  *) printf '%s\n' "$(dirname "$1")/$other" ;;
  esac
}

# npu_name FILE: the name in an NPU's file, as sw_models/config/npu_config.cpp takes it; empty if there is none.
npu_name() { sed -nE "s/^[[:space:]]*name[[:space:]]*=[[:space:]]*(\"([a-z0-9_-]+)\"|'([a-z0-9_-]+)').*/\2\3/p" "$1" | head -n 1; }

# choose_npu NPU: a name in configs/ or a file. Sets npus, what has to be configured to build its RTL, npu_name, and
# npu_argument, what the gradweave command takes. An NPU of the user's own joins those that CMake verilates, under the name
# in its file; a standard one of the same name gives way to it.
choose_npu() {
  local file copy
  npus=$(default_npus)
  npu_name=$1
  npu_argument=$1
  if [[ $1 == */* || $1 == *.toml ]]; then
    [ -f "$1" ] || die "NPU=$1: there is no such file; NPU takes the path of a .toml file or a name in configs/"
    npu_argument=$(realpath "$1")
    file=$(npu_file "$npu_argument") # what its RTL is made from; the memory is no part of that
    [ -f "$file" ] || die "$npu_argument: npu = \"...\" names $file, which is no file"
    file=$(realpath "$file")
    npu_name=$(npu_name "$file")
    [ -n "$npu_name" ] || die "$file: no line name = \"...\" of lower-case letters, digits, _ and - in it; add one under [npu]"
    if [ "$file" != "$root/configs/$npu_name.toml" ]; then
      copy=$build/npus/$npu_name.toml
      mkdir -p "$build/npus"
      cmp -s "$file" "$copy" || cp "$file" "$copy"
      npus=$(tr ';' '\n' <<<"$npus" | sed "/^$npu_name\$/d" | tr '\n' ';')$(realpath "$copy")
    fi
  fi
  # Those of configs/ that take long to verilate are built only on demand.
  if [ -f "$root/configs/$npu_name.toml" ] && [[ ";$npus;" != *[\;/]"$npu_name"[\;.]* ]]; then npus+=";$npu_name"; fi
}

say() { printf '%s\n' "gradweave: $*" >&2; }
die() {
  say "error: $*"
  exit 1
}

# Copies standard input to file $1; of ninja's "[3/80] ..." tells every tenth of the way, if the way is long.
log_progress() {
  local line told=0 tenth
  while IFS= read -r line || [ -n "$line" ]; do
    printf '%s\n' "$line"
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]] && [ "${BASH_REMATCH[2]}" -ge 40 ]; then
      tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      [ "$tenth" -le "$told" ] || say "  ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps"
      told=$tenth
    fi
  done >"$1"
}

# Runs a command; shows its output only if it fails. $1: what it is, in words.
quietly() {
  local what=$1 log status=0
  shift
  mkdir -p "$build"
  log=$build/last-step.log
  say "$what"
  "$@" 2>&1 | log_progress "$log" || status=$?
  if [ "$status" -ne 0 ]; then
    tail -n 60 "$log" >&2
    say "error: $what failed (exit code $status); the whole log is $log"
    return "$status"
  fi
}

# clang vectorises the array model best; g++ reaches 70 to 90 % of it.
choose_compiler() {
  local cxx
  if [ -n "${CXX:-}" ]; then
    command -v "$CXX" >/dev/null || die "CXX=$CXX is not a command; leave CXX unset to have one chosen"
    return
  fi
  for cxx in clang++-19 clang++-16 g++; do
    if command -v "$cxx" >/dev/null; then
      export CXX=$cxx
      if [ -z "${CC:-}" ]; then
        case $cxx in
        g++) export CC=gcc ;;
        *) export CC=${cxx/++/} ;;
        esac
      fi
      return
    fi
  done
  die "no C++ compiler found; install clang-19 or g++"
}

# The clang of this machine that brings libFuzzer.
clang_with_fuzzer() {
  local cxx
  for cxx in "${CXX:-}" clang++-19 clang++-16; do
    if [ -n "$cxx" ] && command -v "$cxx" >/dev/null && [ -f "$("$cxx" -print-file-name=libclang_rt.fuzzer-x86_64.a)" ]; then
      printf '%s\n' "$cxx"
      return
    fi
  done
  die "no clang with libFuzzer found; install clang-19 and libclang-rt-19-dev"
}

# configure NPU_LIST [RTL]: CMake, but only if there is no build directory yet or its NPUs change; after that ninja
# itself sees changed CMake files.
configure() {
  local npus=$1 rtl=${2:-ON} stamp=$build/.gw-configured wanted made_for
  local werror=${WERROR:-OFF} unity=${UNITY:-ON}
  wanted=$(printf '%s\n' "$root" "$npus" "$werror" "$rtl" "$unity")
  if [ -f "$build/build.ninja" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    return
  fi
  # A copy of a build directory holds paths into the tree that it was copied from.
  if [ -f "$build/CMakeCache.txt" ]; then
    made_for=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
    [ "$(realpath -m "$made_for")" = "$(realpath "$root")" ] ||
      die "$build was made for the source tree $made_for, not for $root; remove it (make clean), or name another with BUILD="
  fi
  local compiler=()
  if [ ! -f "$build/CMakeCache.txt" ]; then
    choose_compiler
    compiler=(-DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_C_COMPILER="${CC:-cc}" -DCMAKE_BUILD_TYPE=Release)
  fi
  quietly "configuring $build${CXX:+ with $CXX}" cmake -S . -B "$build" -G Ninja "${compiler[@]}" "-DGW_NPUS=$npus" \
    "-DGW_WERROR=$werror" "-DGW_RTL=$rtl" "-DCMAKE_UNITY_BUILD=$unity"
  printf '%s\n' "$wanted" >"$stamp"
}

# Configures for what needs no RTL. Whatever `make cosim` configured can build it. In a new build directory RTL is left out only
# where it cannot be built, so that a later `make cosim` starts from here.
configure_for_models() {
  local rtl=OFF
  [ ! -f "$build/build.ninja" ] || return 0
  if command -v verilator >/dev/null && [ -e /usr/include/systemc ]; then rtl=ON; fi
  configure "$(default_npus)" "$rtl"
}

# configure_python ON|AUTO: CMake looks again where an earlier configuration found nothing to build the Python module with.
configure_python() {
  ninja -C "$build" -t query python >/dev/null 2>&1 ||
    quietly "configuring $build for the Python module" cmake -B "$build" "-DGW_PYTHON=$1"
}

# compile TARGET...: a terminal sees ninja's own status line.
compile() {
  if [ -t 2 ]; then
    ninja -C "$build" "$@" >&2
  else
    local what="${*:1:3}"
    [ $# -le 3 ] || what="$what and $(($# - 3)) others"
    quietly "building $what" ninja -C "$build" "$@"
  fi
}

# add_work_args: adds to the array args what the variables of `make cosim` and `make simulate` say about work and reports.
add_work_args() {
  [ -z "${BATCH:-}" ] || args+=(--batch "$BATCH")
  local setting settings
  read -ra settings <<<"${SET:-}" # words, but no file patterns: npu.rows=[16] names no file
  for setting in "${settings[@]}"; do args+=(--set "$setting"); done
  [ -z "${TUNE:-}" ] || args+=(--tune="$TUNE")
  [ -z "${SCHEDULE:-}" ] || args+=(--schedule "$SCHEDULE")
  [ -z "${PASS:-}" ] || args+=(--pass "$PASS")
  [ -z "${PARTITION:-}" ] || args+=(--partition "$PARTITION")
  [ -z "${PARTS:-}" ] || args+=(--parts "$PARTS")
  [ -z "${REDUCTION:-}" ] || args+=(--reduction "$REDUCTION")
  [ -z "${SHARING:-}" ] || args+=(--sharing "$SHARING")
  [ -z "${CONVOLUTION:-}" ] || args+=(--convolution "$CONVOLUTION")
  [ -z "${LAYERS:-}" ] || args+=(--layers "$LAYERS")
  [ -z "${JSON:-}" ] || args+=(--json "$JSON")
  [ -z "${HTML:-}" ] || args+=(--html "$HTML")
  [ -z "${TIMES:-}" ] || args+=(--times "$TIMES")
  [ -z "${TIMELINE:-}" ] || args+=(--timeline "$TIMELINE")
}
