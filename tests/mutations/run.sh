#!/bin/bash
# tests/mutations/run.sh BUILD_DIR apply|all|NAME...      faults that change results, see README.md
source "$(dirname "${BASH_SOURCE[0]}")/mutants.sh"

# npus NAME: the NPU of each random-stream check; of all mutants' for the unchanged copy.
npus() {
  local name
  if [ "$1" != none ]; then
    field "$1" npu
  else
    for name in "${names[@]}"; do
      field "$name" npu
      echo
    done | sort -u
  fi
}

targets() {
  printf '%s\n' gradweave gradweave_rtl_test6x10 gw_random_streams
  npus "$1" | sed -n 's/^./gradweave_rtl_&/p'
}

# streams NPU LOG: as red().
streams() {
  local status=0
  GRADWEAVE_HOME=$tree GRADWEAVE_LIB_DIR=$out/lib timeout 300 "$out/tests/tb/gw_random_streams" --npu "$1" \
    --seed 1 --count 100 >"$2" 2>&1 || status=$?
  case $status in
  0) return 1 ;;
  1)
    found="random streams, $1: $(grep -m 1 -o 'FAILED.*' "$2" | cut -c 1-120)"
    return 0
    ;;
  *)
    found="the random streams themselves went wrong (exit code $status), see $2"
    return 2
    ;;
  esac
}

# Runs the layers, or random streams on the mutant's NPU, until a run fails as it should; names it.
red() {
  local log=$2 backend data status npu
  if [ -n "$(npus "$1")" ]; then
    for npu in $(npus "$1"); do
      status=0
      streams "$npu" "$log" || status=$?
      [ "$status" = 1 ] || return "$status"
    done
    [ "$1" = none ] || return 1
  fi
  for backend in rtl functional; do
    for data in normal special; do
      local arguments=(--backend "$backend" --data "$data")
      [ "$backend" = functional ] || arguments+=(--stall-probability 0.1)
      status=0
      GRADWEAVE_HOME=$tree timeout 300 "$out/bin/gradweave" cosim --model "$tree/tests/mutations/layers.csv" \
        --npu test6x10 --schedule all --pass both --quiet "${arguments[@]}" >"$log" 2>&1 || status=$?
      case $status in
      0) ;;
      1 | 4)
        found="$backend backend, $data data: $(grep -m 1 '^error' "$log" | cut -c 8-120)"
        return 0
        ;;
      *)
        found="the run itself went wrong (exit code $status), see $log"
        return 2
        ;;
      esac
    done
  done
  return 1
}

main list "$@"
