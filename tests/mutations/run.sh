#!/bin/bash
# tests/mutations/run.sh BUILD_DIR apply|all|NAME...      see README.md
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
list=$root/tests/mutations/list
[ $# -ge 2 ] || {
  echo "usage: $0 BUILD_DIR apply|all|NAME..." >&2
  exit 2
}
build=$(realpath "$1")
shift

die() {
  echo "error: $*" >&2
  exit 1
}

# field NAME KEY: its text; \n stands for a line break.
field() {
  local text
  text=$(sed -n "s/^$2: //p" "$list/$1.txt")
  printf '%s' "${text//'\n'/$'\n'}"
}

# mutate NAME TREE: puts the fault into the tree; dies unless its text occurs exactly once.
mutate() {
  local name=$1 file text old new rest
  [ -f "$list/$name.txt" ] || die "no mutation '$name' in $list"
  file=$2/$(field "$name" file)
  old=$(field "$name" old)
  new=$(field "$name" new)
  [ -f "$file" ] || die "$name: there is no $file"
  if [ -z "$old" ] || [ "$old" = "$new" ]; then die "$name: old and new text must differ"; fi
  text=$(<"$file")
  rest=${text//"$old"/}
  [ $((${#text} - ${#rest})) -eq ${#old} ] ||
    die "$name: '$old' does not occur exactly once in $file; rewrite the mutation for the changed source"
  printf '%s\n' "${text/"$old"/"$new"}" >"$file"
}

# copy_tree DIR: the sources as they are in the working tree. Unchanged files keep their times, for quick rebuilds.
copy_tree() {
  mkdir -p "$1"
  (cd "$1" && find . -type f -print0 | while IFS= read -r -d '' file; do
    [ -f "$root/$file" ] || rm "$file"
  done)
  (cd "$root" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ -f "$file" ] || continue
    if ! cmp -s "$file" "$1/$file"; then
      mkdir -p "$1/$(dirname "$file")"
      cp "$file" "$1/$file"
    fi
  done)
}

# red: runs the layers on the mutant; true, and the run named, as soon as one fails as it should. Sets `found`.
red() {
  local command=$1 log=$2 backend data status
  for backend in rtl functional; do
    for data in normal special; do
      local arguments=(--backend "$backend" --data "$data")
      [ "$backend" = functional ] || arguments+=(--stall-probability 0.1)
      status=0
      GRADWEAVE_HOME=$tree timeout 300 "$command" cosim --model "$tree/tests/mutations/layers.csv" --npu test6x10 \
        --schedule all --pass both --quiet "${arguments[@]}" >"$log" 2>&1 || status=$?
      case $status in
      0) ;;
      1 | 4)
        found="$backend backend, $data data: $(grep -m 1 '^error' "$log" | cut -c 8-120)"
        return 0
        ;;
      *) die "the run itself went wrong (exit code $status), see $log" ;;
      esac
    done
  done
  return 1
}

if [ "$1" = apply ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  for entry in "$list"/*.txt; do
    name=$(basename "$entry" .txt)
    file=$(field "$name" file)
    mkdir -p "$scratch/$(dirname "$file")"
    cp "$root/$file" "$scratch/$file"
    mutate "$name" "$scratch"
  done
  exit 0
fi

names=("$@")
if [ "$1" = all ]; then
  names=()
  for entry in "$list"/*.txt; do names+=("$(basename "$entry" .txt)"); done
fi

tree=$build/mutations/tree
out=$build/mutations/build
copy_tree "$tree"
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
c_compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
[ -f "$out/build.ninja" ] || cmake -S "$tree" -B "$out" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="$c_compiler" >"$build/mutations/configure.log"

make_mutant() { ninja -C "$out" gradweave gradweave_rtl_test6x10 >"$build/mutations/$1.build.log" 2>&1; }

make_mutant none || die "the unchanged tree does not build, see $build/mutations/none.build.log"
if red "$out/bin/gradweave" "$build/mutations/none.log"; then die "the unchanged tree fails, so that no mutation means anything"; fi

missed=0
for name in "${names[@]}"; do
  mutate "$name" "$tree"
  make_mutant "$name" || {
    copy_tree "$tree"
    die "$name does not build, see $build/mutations/$name.build.log"
  }
  if red "$out/bin/gradweave" "$build/mutations/$name.log"; then
    printf 'caught  %-24s %s\n' "$name" "$found"
  else
    printf 'MISSED  %-24s %s\n' "$name" "$(field "$name" why)"
    missed=1
  fi
  copy_tree "$tree"
done
exit "$missed"
