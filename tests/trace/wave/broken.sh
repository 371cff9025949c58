#!/bin/bash
# tests/trace/wave/broken.sh BUILD_DIR apply|all|NAME...      registers of rtl/ that are a cycle late, see docs/waves.md
source "$(dirname "${BASH_SOURCE[0]}")/../../mutations/mutants.sh"

# npu NAME: whose streams show it.
npu() {
  local npu
  npu=$(field "$1" npu)
  echo "${npu:-test8}"
}

npus() {
  local name
  if [ "$1" != none ]; then
    npu "$1"
  else
    for name in "${names[@]}"; do npu "$name"; done | sort -u
  fi
}

targets() {
  echo gw_waves
  npus "$1" | sed 's/^/gw_wave_record_/'
}

# The streams of the mutant's NPU; the first line has to be the expected one.
red() {
  local name=$1 log=$2 status=0 streams expected
  mapfile -t streams < <("$out/tests/trace/wave/gw_waves" --list | awk -v npus="$(npus "$name" | tr '\n' ' ')" \
    'index(" " npus, " " $2 " ") { print $1 }')
  timeout 300 "$out/tests/trace/wave/gw_waves" "${streams[@]}" >"$log" 2>&1 || status=$?
  found=$(head -n 1 "$log")
  case $status in
  0) return 1 ;;
  1) ;;
  *) return 2 ;;
  esac
  [ "$name" != none ] || return 2
  expected=$(field "$name" first)
  [ "$found" = "$expected" ] || {
    found="'$found' instead of '$expected', see $log"
    return 2
  }
}

main ../trace/wave/broken "$@"
