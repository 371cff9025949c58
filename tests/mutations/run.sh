#!/bin/bash
# tests/mutations/run.sh BUILD_DIR apply|all|NAME...      faults that change results, see README.md
source "$(dirname "${BASH_SOURCE[0]}")/mutants.sh"

targets() { printf '%s\n' gradweave gradweave_rtl_test6x10; }

# Runs the layers until a run fails as it should; names it.
red() {
  local log=$2 backend data status
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
