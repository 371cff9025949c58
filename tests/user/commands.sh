#!/bin/bash
# commands.sh BUILD SOURCE: the command knows every subcommand and option that README and docs write, and make every target and variable.
set -euo pipefail
gradweave=$1/bin/gradweave
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source"
failed=0
fail() {
  printf 'FAIL: %s\n' "$*" >&2
  failed=1
}
source tests/user/doc_lines.sh
# read_help SUBCOMMAND...: its help into the variable `help`, which each command is asked for once: no process for each line of the docs.
declare -A helps
help=
read_help() {
  [ -n "${helps[*$*]-}" ] || helps[*$*]=$("$gradweave" "$@" --help 2>/dev/null) || { helps[*$*]=''; return 1; }
  help=${helps[*$*]}
}
read -r -d '' -a variables < <(sed -n '/^variables :=/,/[^\\]$/p' Makefile | sed 's/^variables :=//; s/\\$//') || true
variables+=(BUILD SECONDS TARGET MERGE CXX CC CLANG_TIDY CI)
read -r -d '' -a targets < <(sed -n 's/^\.PHONY: *//p' Makefile) || true
has() { # WORD LIST...
  local wanted=$1 one
  shift
  for one in "$@"; do [ "$one" != "$wanted" ] || return 0; done
  return 1
}

check_gradweave() { # PLACE WORD...
  local place=$1 word sub break=$'\n'
  shift 2
  sub=${1:-}
  case $sub in --* | "") read_help ;; *)
    if [ "$sub ${2:-}" = "sweep collect" ]; then read_help sweep collect; else
      read_help "$sub" || { fail "$place: there is no 'gradweave $sub'"; return 0; }
    fi ;;
  esac
  for word in "$@"; do
    case $word in --help | --help-all | --version) continue ;; --?*) ;; *) continue ;; esac
    word=${word%%=*}
    [[ $break$help$break =~ [\ ,$break]"$word"[\ ,=[$break] ]] || fail "$place: 'gradweave $sub' has no option $word"
  done
}
check_make() { # PLACE WORD...
  local place=$1 word
  shift 2
  for word in "$@"; do
    case $word in
    [A-Z]*=*) has "${word%%=*}" "${variables[@]}" || fail "$place: make has no variable ${word%%=*}" ;;
    -*) ;;
    *)
      has "$word" "${targets[@]}" && continue
      [ "$word" != "$1" ] || fail "$place: make has no target $word"
      return 0 # what follows is text
      ;;
    esac
  done
}
count=0
check_file() { # FILE
  local line words
  while IFS= read -r line; do
    line=${line%%[ ]#*}
    line=${line%%[|&>;]*}
    set -f
    read -r -a words <<<"${line//[\'\"()…]/}"
    set +f
    [ "${#words[@]}" -gt 1 ] || continue
    count=$((count + 1))
    if [ "${words[0]}" = make ]; then check_make "$1" "${words[@]}"; else check_gradweave "$1" "${words[@]}"; fi
  done < <(lines_of "$1")
}
for file in README.md CONTRIBUTING.md models/README.md docs/*.md; do check_file "$file"; done
[ "$count" -gt 100 ] || fail "only $count commands were found"

# What it is for, it sees.
printf '    gradweave simulate --modle mlp\n    make simulat\n    make cosim MODLE=mlp\n    gradweave frobnicate\n' >"$work/bad.md"
before=$failed
seen=$(check_file "$work/bad.md" 2>&1 | grep -c '^FAIL') || true
[ "$before $seen" = "$failed 4" ] || fail "$seen of 4 wrong commands are seen"
exit "$failed"
