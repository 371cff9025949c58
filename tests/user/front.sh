#!/bin/bash
# front.sh BUILD SOURCE: what Makefile and scripts say to wrong words, that `make help` has all variables and names, that the
# scripts read the names of NPUs as the command does, and that git ignores what commands leave behind by default.
set -euo pipefail
build=$1
source=$2
gradweave=$build/bin/gradweave
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL

fail() {
  printf 'FAIL: %s\n' "$*" >&2
  exit 1
}
# refused TEXT ARGUMENT...: make ends with an error and says so.
refused() {
  local text=$1
  shift
  if make -C "$source" "$@" >"$work/output" 2>&1; then fail "make $* succeeds"; fi
  grep -qF -- "$text" "$work/output" || fail "'$text' is not in the output of make $*: $(cat "$work/output")"
}

refused "no target 'cosm'; make help" cosm
refused "no variable MODLE" help MODLE=mlp
refused "no variable model" help model=mlp

mkdir "$work/times"
printf '# ninja log v5\n0\t1500\t1\tbase/a.cpp.o\tx\n0\t9000\t1\tbase/gone.o\tx\n1500\t2000\t2\tbin/tool\tx\n' >"$work/times/.ninja_log"
mkdir "$work/times/base" "$work/times/bin"
touch "$work/times/base/a.cpp.o" "$work/times/bin/tool"
make -s --no-print-directory -C "$source" build-times BUILD="$work/times" >"$work/output" 2>&1 || fail "$(cat "$work/output")"
for line in "2 steps, 2 s" "1.5 s  75.0 %  compilation" "0.5 s  25.0 %  links" "1.5 s  75.0 %  base/a.cpp.o"; do
  grep -qF -- "$line" "$work/output" || fail "'$line' is not in the times of a build: $(cat "$work/output")"
done
refused "has no .ninja_log" build-times BUILD="$work/none"

help=$(make -s --no-print-directory -C "$source" help)
read -r -d '' -a variables < <(sed -n '/^variables :=/,/[^\\]$/p' "$source/Makefile" | sed 's/^variables :=//; s/\\$//') || true
read -r -d '' -a targets < <(sed -n 's/^\.PHONY: help//p' "$source/Makefile") || true
if [ "${#variables[@]}" -lt 20 ] || [ "${#targets[@]}" -lt 10 ]; then fail "the Makefile is not read"; fi
for variable in "${variables[@]}"; do
  grep -qw -- "$variable" <<<"$help" || fail "make help does not mention $variable"
done
for target in "${targets[@]}"; do
  grep -qw -- "$target" <<<"$help" || fail "make help does not mention make $target"
done
# names OPTION: those that the command lists for a wrong one.
names() { "$gradweave" cosim "$1" frobnicate 2>&1 | sed -n 's/.*use one of: //p' | sed 's/, or /, /; s/,//g' || true; }
for option in --schedule --pass --partition --reduction --backend --data; do
  list=$(names "$option")
  [ -n "$list" ] || fail "cosim $option frobnicate lists no names"
  variable=$(tr '[:lower:]' '[:upper:]' <<<"${option#--}")
  line=$(grep -A 1 "^[* ] $variable=" <<<"$help")
  for name in $list; do grep -qw -- "$name" <<<"$line" || fail "make help does not mention $name of $variable"; done
done

# SET is words, not patterns that files match.
mkdir "$work/patterns"
touch "$work/patterns/npu.rows=1"
of_set=$(cd "$work/patterns" && SET='npu.rows=? net.name=*  npu.cols=8' bash -c 'source "$1/scripts/common.sh"; cd "$2"; args=(); add_work_args; printf "%s|" "${args[@]}"' _ "$source" "$work/patterns")
[ "$of_set" = '--set|npu.rows=?|--set|net.name=*|--set|npu.cols=8|' ] || fail "SET is read as $of_set"

npu_name() { bash -c 'source "$1/scripts/common.sh" && npu_name "$2"' _ "$source" "$1"; }
count=0
while IFS= read -r line; do
  sed "s/^name *=.*/$line/" "$source/configs/test8.toml" >"$work/npu.toml"
  of_command=$("$gradweave" models "$work/npu.toml" 2>/dev/null | sed -n '1s/: .*//p') || true
  of_script=$(npu_name "$work/npu.toml")
  [ "$of_script" = "$of_command" ] || fail "$line: the scripts read '$of_script', the command '$of_command'"
  count=$((count + 1))
done <<'LINES'
name = "mine"
name = "my-own"
name="my-own_2"
name = 'my-own' # a comment
  name   =   "x"   # "y"
name = "My"
name = "a b"
name = ""
LINES
[ "$count" -eq 8 ] || fail "$count names tried"

# A file may name that of its NPU instead of having its table.
npu_file() { bash -c 'source "$1/scripts/common.sh" && npu_file "$2"' _ "$source" "$1"; }
mkdir -p "$work/machines"
cp "$source/configs/test8.toml" "$work/npu.toml"
count=0
while IFS= read -r line; do
  {
    printf '%s\n' "$line"
    sed -n '/^\[memory\]/,$p' "$source/configs/test8.toml"
  } >"$work/machines/machine.toml"
  of_command=$("$gradweave" models "$work/machines/machine.toml" 2>&1 | sed -n '1s/: .*//p') || true
  of_script=$(npu_name "$(npu_file "$work/machines/machine.toml")")
  [ "$of_command $of_script" = "test8 test8" ] || fail "$line: the scripts read '$of_script', the command '$of_command'"
  count=$((count + 1))
done <<LINES
npu = "../npu.toml"
npu='../npu.toml' # a comment
  npu   =   "$work/npu.toml"
LINES
[ "$count" -eq 3 ] || fail "$count files tried"
[ "$(npu_file "$work/npu.toml")" = "$work/npu.toml" ] || fail "a file with a table [npu] is not its own"

# A build directory that was copied along with the tree is not used.
mkdir -p "$work/build"
sed 's|^CMAKE_HOME_DIRECTORY:INTERNAL=.*|CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere|' "$build/CMakeCache.txt" >"$work/build/CMakeCache.txt"
BUILD=$work/build bash -c 'source "$1/scripts/common.sh" && configure small' _ "$source" >"$work/output" 2>&1 &&
  fail "a copied build directory is configured"
grep -qF "made for the source tree /elsewhere" "$work/output" || fail "$(cat "$work/output")"

for directory in reproduce:--out gradweave-trace:--trace-dir; do
  "$gradweave" --help-all | grep -F -- "${directory#*:} " | grep -qF "=${directory%%:*}" ||
    "$gradweave" --help-all | grep -F -- "${directory#*:}" | grep -qF "[${directory%%:*}]" ||
    fail "${directory%%:*} is not the default of ${directory#*:}"
  grep -qx "/${directory%%:*}/" "$source/.gitignore" || fail "git does not ignore ${directory%%:*}"
done
