#!/bin/bash
# `make lint`: static checks, one line of verdict each.   scripts/lint.sh [CHECK]...
# shellcheck disable=SC2317 # the checks are functions that check() calls by name
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
all=(verilator clang-tidy undecided-fields clang-format shellcheck)
for name; do
  [[ " ${all[*]} " == *" $name "* ]] || die "usage: scripts/lint.sh [CHECK]... of ${all[*]}, not $name"
done
[ $# -gt 0 ] || set -- "${all[@]}"
scripts/bootstrap.sh lint
failed=0

# check NAME COMMAND...: its output is shown only if it fails.
check() {
  local name=$1 log
  shift
  log=$build/lint-$name.log
  say "checking: $name"
  if "$@" >"$log" 2>&1; then
    printf '%-14s pass\n' "$name"
  else
    printf '%-14s FAIL, see %s:\n' "$name" "$log"
    head -n 40 "$log"
    failed=1
  fi
}

clang_format_check() { git ls-files -z -- '*.cpp' '*.hpp' | xargs -0 -n 50 -P "$(nproc)" clang-format --dry-run -Werror; }

compiled_files() { sed -n 's/^ *"file": "\(.*\)".*/\1/p' "$build/compile_commands.json" | sort -u; }

# clang-tidy cannot read what another compiler precompiled; without it a file that lacks an #include shows, if UNITY=OFF.
commands_for_tidy() {
  mkdir -p "$build/lint"
  sed -E 's/ -Winvalid-pch//; s/( -Xclang)? -include(-pch)?( -Xclang)? [^ ]*cmake_pch[^ ]*//g' \
    "$build/compile_commands.json" >"$build/lint/compile_commands.json"
}

# compiled: what the build compiles of the project, also as batches of files (cmake/Unity.cmake), but each batch once only.
compiled() {
  local file sum seen=
  compiled_files | while read -r file; do
    case $file in
    "$generated"/*/Unity/*)
      sum=$(md5sum <"$file")
      [[ $seen != *"$sum"* ]] || continue
      seen+=$sum
      ;;
    "$generated"/*) continue ;;
    "$root"/*) ;;
    *) continue ;;
    esac
    printf '%s\0' "$file"
  done
}

# Generated headers, those of Verilated models too, must exist; else only what these are made from is built.
clang_tidy_check() {
  local verilated
  mapfile -t verilated < <(compiled_files | grep "^$generated/.*\.cpp$")
  compile generated_headers "${verilated[@]}"
  commands_for_tidy
  compiled | xargs -0 -n 1 -P "$(nproc)" "${CLANG_TIDY:-clang-tidy}" --quiet -p "$build/lint" 2>&1 |
    sed '/^[0-9]* warnings\? generated\.$/d' # counts those of system headers, which it does not show
}

shellcheck_check() { git ls-files -z -- '*.sh' '.ci/run' | xargs -0 shellcheck; }

undecided_fields_check() {
  compile generated_headers
  tests/house/undecided_fields.sh "$root" "$generated/generated" "$build/lint/undecided_fields" \
    "$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")"
}

verilator_check() {
  compile npu_params
  scripts/lint_rtl.sh
}

configure "$(default_npus)"
generated=$(realpath "$build")
for name; do check "$name" "${name//-/_}_check"; done
exit "$failed"
