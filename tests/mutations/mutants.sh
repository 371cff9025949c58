# shellcheck shell=bash
# What the runners of mutations have in common; they source this file, see README.md.
#
# A runner defines
#   targets NAME       prints what ninja has to build for a mutant; NAME is `none` for the unchanged copy
#   red NAME LOG       runs the check on a mutant: 0 if it turns red as it should, 1 if it does not, 2 if the check itself
#                      goes wrong; except for 1, `found` says what came out
#   keep               once, when the unchanged copy is built: sets aside what is needed of it; may be left out
# and ends with: main DIRECTORY_OF_ITS_LIST "$@"
# Set for them: tree (the copy of the sources), out (its build), work (around both), names (of the mutations).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
list=
found=
overlay= # a directory whose files stand in a copy of the tree in place of those with the same name
configure_flags=(-DCMAKE_UNITY_BUILD=OFF) # a fault recompiles only the file that it is in

keep() { :; }

die() {
  echo "error: $*" >&2
  exit 1
}

# read_mutation NAME: its fields into the array `mutation`, without a process of its own; \n stands for a line break.
declare -A mutation
read_mutation() {
  local line text
  [ -f "$list/$1.txt" ] || die "no mutation '$1' in $list"
  mutation=()
  while IFS= read -r line || [ -n "$line" ]; do
    text=${line#*: }
    mutation[${line%%: *}]=${text//'\n'/$'\n'}
  done <"$list/$1.txt"
}

# field NAME KEY: its text, empty if there is none.
field() {
  read_mutation "$1"
  printf '%s' "${mutation[$2]-}"
}

# read_faulty NAME TREE: what the tree's file says with the fault into `faulty`; dies unless the text occurs exactly once.
faulty=
read_faulty() {
  local file text old new before
  read_mutation "$1"
  file=$2/${mutation[file]-}
  old=${mutation[old]-}
  new=${mutation[new]-}
  [ -f "$file" ] || die "$1: there is no $file"
  if [ -z "$old" ] || [ "$old" = "$new" ]; then die "$1: old and new text must differ"; fi
  IFS= read -r -d '' text <"$file" || true
  before=${text%%"$old"*}
  if [ "$before" = "$text" ] || [ "$before" != "${text%"$old"*}" ]; then
    die "$1: '$old' does not occur exactly once in $file; rewrite the mutation for the changed source"
  fi
  faulty=$before$new${text:${#before}+${#old}}
}

# mutate NAME TREE: puts the fault into the tree.
mutate() {
  read_faulty "$1" "$2"
  printf '%s' "$faulty" >"$2/${mutation[file]}"
}

# restore NAME TREE: takes the fault out again.
restore() {
  local file
  file=$(field "$1" file)
  cp "$root/$file" "$2/$file"
}

# Every mutation of the list still applies.
apply_all() {
  local entry
  for entry in "$list"/*.txt; do
    entry=${entry##*/}
    read_faulty "${entry%.txt}" "$root"
  done
}

# sums DIR FILES: name and sum of those of the NUL-separated files that DIR has, sorted.
sums() {
  (
    cd "$1"
    xargs -0 -r md5sum -z -- <"$2" 2>/dev/null || true
  ) | sort -z
}

# copy_tree DIR: the sources as they are in the working tree. Unchanged files keep their times, for quick rebuilds. They are
# compared by sums, all at once: thousands of processes, one or three a file, took half of the time of quick mutants.
copy_tree() {
  local file files=$1.files
  mkdir -p "$1"
  (cd "$1" && find . -type f -print0 | while IFS= read -r -d '' file; do
    [ -f "$root/$file" ] || rm "$file"
  done)
  (cd "$root" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ -f "$file" ] || continue
    if [ -z "$overlay" ] || [ ! -f "$overlay/$file" ]; then
      printf '%s\0' "$file"
    elif ! cmp -s "$overlay/$file" "$1/$file"; then
      mkdir -p "$1/$(dirname "$file")"
      cp "$overlay/$file" "$1/$file"
    fi
  done) >"$files"
  comm -z -23 <(sums "$root" "$files") <(sums "$1" "$files") | cut -z -c 35- | (cd "$root" && xargs -0 -r cp --parents -t "$1" --)
}

# configure: the copy in $tree, its build in $out; again if another run had other flags.
configure() {
  local compiler c_compiler flags
  compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
  c_compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
  flags=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="$c_compiler" "${configure_flags[@]}")
  if [ ! -f "$out/build.ninja" ] || [ "$(cat "$out/flags" 2>/dev/null)" != "${flags[*]}" ]; then
    cmake -S "$tree" -B "$out" -G Ninja "${flags[@]}" >"$work/configure.log"
    printf '%s\n' "${flags[*]}" >"$out/flags"
  fi
}

make_mutant() {
  local wanted
  mapfile -t wanted < <(targets "$1")
  ninja -C "$out" "${wanted[@]}" >"$work/$1.build.log" 2>&1
}

# main LIST BUILD_DIR apply|all|NAME...
main() {
  local name status caught=0
  list=$root/tests/mutations/$1
  shift
  [ $# -ge 2 ] || {
    echo "usage: $0 BUILD_DIR apply|all|NAME..." >&2
    exit 2
  }
  build=$(realpath "$1")
  shift
  if [ "$1" = apply ]; then
    apply_all
    return
  fi
  names=("$@")
  if [ "$1" = all ]; then
    names=()
    for name in "$list"/*.txt; do names+=("$(basename "$name" .txt)"); done
  fi
  for name in "${names[@]}"; do [ -f "$list/$name.txt" ] || die "no mutation '$name' in $list"; done

  work=$build/mutations
  tree=$work/tree
  out=$work/build
  copy_tree "$tree"
  configure
  make_mutant none || die "the unchanged tree does not build, see $work/none.build.log"
  keep
  status=0
  red none "$work/none.log" || status=$?
  [ "$status" = 1 ] || die "the unchanged tree fails, so that no mutation means anything: $found; see $work/none.log"

  for name in "${names[@]}"; do
    mutate "$name" "$tree"
    status=2
    if make_mutant "$name"; then
      status=0
      red "$name" "$work/$name.log" || status=$?
    else
      found="does not build, see $work/$name.build.log"
    fi
    case $status in
    0) printf 'caught  %-26s %s\n' "$name" "$found" ;;
    1) printf 'MISSED  %-26s %s\n' "$name" "$(field "$name" why)" ;;
    *) printf 'ERROR   %-26s %s\n' "$name" "$found" ;;
    esac
    [ "$status" != 0 ] || caught=$((caught + 1))
    restore "$name" "$tree"
  done
  echo "$caught of ${#names[@]} mutants caught"
  [ "$caught" = "${#names[@]}" ]
}
