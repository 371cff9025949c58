#!/bin/bash
# `make coverage`: counts what tests run of the RTL (lines, toggles, functional bins) and of the C++, judges it and writes a
# report. docs/coverage.md describes it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh coverage

npus="test8;test5x2;test8c2;test8p2;test8v2" # docs/coverage.md says why these
where=$build/coverage
report=$where/report
runs=$where/runs
jobs=${JOBS:-$(nproc)}

choose_compiler
case $CXX in
*clang++*) ;;
*) die "coverage of C++ is clang's; $CXX is not clang: set CXX=clang++-19" ;;
esac
version=${CXX##*clang++} # -19
for tool in "llvm-profdata$version" "llvm-cov$version" verilator_coverage genhtml; do
  command -v "$tool" >/dev/null || die "$tool is missing; install llvm${version}, verilator and lcov"
done

# One file for each program and library, that all processes add to: also those that the build runs.
case $where in
/*) export LLVM_PROFILE_FILE=$where/cxx/%m.profraw ;;
*) export LLVM_PROFILE_FILE=$root/$where/cxx/%m.profraw ;;
esac
quietly "configuring $where" cmake -S . -B "$where" -G Ninja "-DCMAKE_CXX_COMPILER=$CXX" "-DCMAKE_C_COMPILER=$CC" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DGW_COVERAGE=ON "-DGW_NPUS=$npus"
quietly "building what is measured, into $where" ninja -C "$where" coverage_stimuli

rm -rf "$runs" "$report"
mkdir -p "$runs" "$report"
GRADWEAVE_LIB_DIR=$(realpath "$where/lib")
export GRADWEAVE_LIB_DIR
rm -rf "$where/cxx"

# run_stimulus NAME COMMAND...
run_stimulus() {
  local name=$1
  shift
  mkdir -p "$runs/$name"
  GRADWEAVE_COVERAGE_DIR=$(realpath "$runs/$name")
  export GRADWEAVE_COVERAGE_DIR
  if [ "$1" = ctest ]; then
    quietly "running $name" ctest --test-dir "$where" -R "$2" -j "$jobs" --output-on-failure --no-tests=error
  else
    local program=$1
    shift
    [ -x "$where/bin/$program" ] && program=$where/bin/$program || program=$where/tests/validate/$program
    quietly "running $name" "$program" "$@"
  fi
  # What thousands of processes counted is one file at once, so that the directory stays small.
  local parts=("$GRADWEAVE_COVERAGE_DIR"/*.dat)
  if [ -e "${parts[0]}" ]; then
    verilator_coverage --write "$GRADWEAVE_COVERAGE_DIR/all" "${parts[@]}" >/dev/null
    rm "${parts[@]}"
    mv "$GRADWEAVE_COVERAGE_DIR/all" "$GRADWEAVE_COVERAGE_DIR/all.dat"
  fi
}

while read -r name command; do
  case $name in '' | \#*) continue ;; esac
  read -ra words <<<"$command"
  run_stimulus "$name" "${words[@]}"
done < <(cat "${STIMULI:-tests/coverage/stimuli.txt}")

say "merging"
"llvm-profdata$version" merge -sparse "$where"/cxx/*.profraw -o "$where/cxx/all.profdata"
objects=()
while read -r object; do objects+=(-object "$object"); done < <(
  find "$where/" -type f \( -perm -u+x -o -name 'libgradweave_*.so' \) \( -name '*_test' -o -name gradweave -o -name 'gw_*' -o -name '*.so' \) -not -path '*/CMakeFiles/*')
"llvm-cov$version" export -format=lcov -instr-profile "$where/cxx/all.profdata" "${objects[@]}" \
  -ignore-filename-regex '(^/usr/|/tests/|/generated/|\.dir/)' >"$where/cxx/all.info" 2>"$where/cxx/export.log" ||
  die "llvm-cov$version export failed: $(tail -n 3 "$where/cxx/export.log")"
verilator_coverage --write "$runs/all.merged" "$runs"/*/*.dat >/dev/null
verilator_coverage --write-info "$runs/rtl.info" "$runs/all.merged" >/dev/null
quietly "drawing the RTL" genhtml --title "gradweave RTL" --output-directory "$report/rtl" "$runs/rtl.info"
quietly "drawing the C++" genhtml --title "gradweave C++" --output-directory "$report/cxx" "$where/cxx/all.info"

"$where/tests/coverage/gw_coverage" --runs "$runs" --bins tests/coverage/bins.toml --waivers tests/coverage/waivers.toml \
  --cxx "$where/cxx/all.info" --source "$root" --out "$report" \
  --measured "NPUs: ${npus//;/, }."
