#!/bin/bash
# tests/mutation_score/run.sh BUILD_DIR full|quick [--files PATTERNS] [OPTION...]     the mutation score, see docs/mutation.md
#   full    mutants of all RTL, and of compiler, models and command set, by all tests of plan.toml
#   quick   mutants of a few blocks and of the command set, by their own tests: what `make test` has time for
# OPTIONs go to gw_mutation_score. BUILD_DIR holds the two commands; a build with the mutants is made below it.
# --files: patterns with blanks between; the mutants are of those files alone, as many as else of all.
source "$(dirname "${BASH_SOURCE[0]}")/../mutations/mutants.sh"
[ $# -ge 2 ] || {
  echo "usage: $0 BUILD_DIR full|quick [--files PATTERNS] [OPTION...]" >&2
  exit 2
}
build=$(realpath "$1")
extent=$2
shift 2
wanted=('*')
if [ "${1:-}" = --files ]; then
  read -rd '' -a wanted <<<"$2" || true # no delimiter: line breaks are blanks
  shift 2
fi
here=tests/mutation_score
tools=$build/$here
work=$build/mutation_score/$extent
tree=$work/tree
out=$work/build
overlay=$work/mutants
mkdir -p "$work"
cd "$root"

case $extent in
full)
  plan=$here/plan.toml
  mapfile -t rtl < <(git ls-files -- 'rtl/*.sv' | grep -v '_props\.sv$')
  mapfile -t cpp < <(git ls-files -- 'compiler/*.cpp' 'graph/*.cpp' 'sw_models/*.cpp' 'isa/*.cpp' | grep -vE '^isa/(isagen|vector/vectorgen)\.cpp$')
  counts=(--rtl-count 400 --cpp-count 220)
  npus="test8;test8p2;test6x10;test8c2;test6x10c3;test2x64c8;test8v2"
  ;;
quick)
  plan=$here/quick.toml
  rtl=(rtl/common/gw_fifo.sv rtl/cmd/gw_semaphores.sv rtl/cmd/gw_cmd_check.sv rtl/cmd/gw_tile_check.sv)
  cpp=(isa/check.cpp isa/command.cpp isa/assembler.cpp)
  counts=(--rtl-count 40 --cpp-count 30)
  npus=""
  ;;
*) die "'$extent' is neither full nor quick" ;;
esac

# matches FILE PATTERN...: whether one is that file's, as the plan reads them.
matches() {
  local file=$1 pattern
  shift
  for pattern; do
    # shellcheck disable=SC2053 # a pattern it is
    [[ $file != $pattern ]] || return 0
  done
  return 1
}

# chosen FILE...: those that are wanted, each on a line.
chosen() {
  local file
  for file; do
    ! matches "$file" "${wanted[@]}" || printf '%s\n' "$file"
  done
}
mapfile -t rtl < <(chosen "${rtl[@]}")
mapfile -t cpp < <(chosen "${cpp[@]}")
[ "${#rtl[@]}" != 0 ] || [ "${#cpp[@]}" != 0 ] || die "--files '${wanted[*]}' names no file that mutants are made of"

# needed: what ninja has to build for the plan's tests of these files.
needed() {
  local line targets=() patterns file
  while IFS= read -r line; do
    case $line in
    'targets = ['*) read -ra targets < <(tr -d '[]",' <<<"${line#*=}") ;;
    'files = ['*)
      read -ra patterns < <(tr -d '[]",' <<<"${line#*=}")
      for file in "${rtl[@]}" "${cpp[@]}"; do
        if matches "$file" "${patterns[@]}"; then
          printf '%s\n' "${targets[@]}"
          break
        fi
      done
      ;;
    esac
  done <"$plan" | sort -u
}

sources=()
[ "${#rtl[@]}" = 0 ] || sources+=(--rtl "${rtl[@]}")
if [ "${#cpp[@]}" = 0 ]; then
  :
elif command -v "${GW_CLANG:-clang++-19}" >/dev/null; then
  sources+=(--cpp "${cpp[@]}" --compile-commands "$build/compile_commands.json")
elif [ "$extent" = full ]; then
  die "clang++-19, which reads the C++, is missing: apt-get install clang-19, or set GW_CLANG to another clang++"
else
  echo "no clang++-19: RTL only" >&2
fi

# A file that has no mutants any more must not stay.
rm -rf "$overlay.new"
status=0
"$tools/gw_mutate" --root "$root" "${sources[@]}" \
  --out "$overlay.new" --catalog "$work/catalog.json" "${counts[@]}" --explained "$here/explained.toml" || status=$?
[ "$status" = 0 ] || exit "$status"
rm -rf "$overlay"
mv "$overlay.new" "$overlay"
copy_tree "$tree"

# Registers start as noise, so that a missing reset shows. What stands in a mutant's place may narrow.
# shellcheck disable=SC2034 # configure() has it
configure_flags=("-DGW_NPUS=$npus" "-DGW_VERILATOR_FLAGS=--x-initial;unique" -DCMAKE_CXX_FLAGS="-Wno-narrowing -w")
configure
mapfile -t targets < <(needed)
ninja -C "$out" "${targets[@]}" >"$work/build.log" 2>&1 || die "the tree with mutants does not build, see $work/build.log"

export GRADWEAVE_HOME=$tree GRADWEAVE_LIB_DIR=$out/lib
cd "$tree"
exec "$tools/gw_mutation_score" --catalog "$work/catalog.json" --plan "$root/$plan" --set "out=$out" \
  --explained "$root/$here/explained.toml" --work "$work/trials" --json "$work/report.json" "$@"
