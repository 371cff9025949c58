#!/bin/bash
# `make lint`: static checks, one line of verdict each.
# shellcheck disable=SC2317 # the checks are functions that check() calls by name
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh lint
failed=0

# check NAME COMMAND...: silent if it passes.
check() {
  local name=$1 log
  shift
  log=$build/lint-$name.log
  if "$@" >"$log" 2>&1; then
    printf '%-14s pass\n' "$name"
  else
    printf '%-14s FAIL, see %s:\n' "$name" "$log"
    head -n 40 "$log"
    failed=1
  fi
}

clang_format_check() { git ls-files -z -- '*.cpp' '*.hpp' | xargs -0 clang-format --dry-run -Werror; }

# clang-tidy cannot read what another compiler precompiled; without it a file that lacks an #include shows.
commands_for_tidy() {
  mkdir -p "$build/lint"
  sed -E 's/ -Winvalid-pch//; s/( -Xclang)? -include(-pch)?( -Xclang)? [^ ]*cmake_pch[^ ]*//g' \
    "$build/compile_commands.json" >"$build/lint/compile_commands.json"
}

clang_tidy_check() {
  local tidy
  tidy=${CLANG_TIDY:-clang-tidy}
  commands_for_tidy
  git ls-files -- '*.cpp' | while read -r file; do
    if grep -q "\"file\": \"$root/$file\"" "$build/compile_commands.json"; then printf '%s\0' "$file"; fi
  done | xargs -0 -n 1 -P "$(nproc)" "$tidy" --quiet -p "$build/lint" 2>&1 |
    sed '/^[0-9]* warnings\? generated\.$/d' # counts those of system headers, which it does not show
}

shellcheck_check() { git ls-files -z -- '*.sh' '.ci/run' | xargs -0 shellcheck; }

configure "$(default_npus)"
# Generated headers, those of Verilated models too, and the parameter tool must exist; else only what these are made from.
mapfile -t verilated < <(sed -n 's/^ *"file": "\(.*\.cpp\)".*/\1/p' "$build/compile_commands.json" |
  grep "^$(realpath "$build")/" | sort -u)
compile isa_generated npu_params runtime/reproduce/reproduce_tool_version.hpp "${verilated[@]}"
check verilator scripts/lint_rtl.sh
check clang-tidy clang_tidy_check
check clang-format clang_format_check
check shellcheck shellcheck_check
exit "$failed"
