#!/bin/bash
# tests/mutations/timing.sh BUILD_DIR apply|all|NAME...      faults that change a cycle or a counter, see README.md
source "$(dirname "${BASH_SOURCE[0]}")/mutants.sh"

in_rtl() { [[ $(field "$1" file) == rtl/* ]]; }

# runs NAME: NPU, first seed and watchdog (0: drawn) of each of its validations, a line each.
runs() {
  local name npu npus seed watchdog
  if [ "$1" = none ]; then
    for name in "${names[@]}"; do runs "$name"; done | sort -u
    return
  fi
  npus=$(field "$1" npu)
  seed=$(field "$1" seed)
  watchdog=$(field "$1" watchdog)
  for npu in ${npus:-test8 test6x10}; do echo "$npu ${seed:-1} ${watchdog:-0}"; done
}

# Only the side that has the fault. The DRAM channel is one class for both: its faults are put into the model only.
targets() {
  if [ "$1" = none ] || ! in_rtl "$1"; then echo gradweave-all; fi
  if [ "$1" = none ] || in_rtl "$1"; then runs "$1" | sed 's/ .*//; s/^/gradweave_rtl_/' | sort -u; fi
}

# The other side of every mutant is that of the unchanged copy.
keep() {
  rm -rf "$work/unchanged"
  mkdir "$work/unchanged"
  cp "$out/bin/gradweave-all" "$out"/lib/*.so "$work/unchanged"
}

# Validates random streams until some differ; names the first difference.
red() {
  local name=$1 log=$2 command=$work/unchanged libraries=$work/unchanged npu seed watchdog status
  if [ "$name" != none ]; then
    if in_rtl "$name"; then libraries=$out/lib; else command=$out/bin; fi
  fi
  while read -r npu seed watchdog; do
    local arguments=(--npu "$npu" --random 200 --seed "$seed")
    [ "$watchdog" = 0 ] || arguments+=(--watchdog "$watchdog")
    status=0
    GRADWEAVE_HOME=$tree GRADWEAVE_LIB_DIR=$libraries timeout 300 "$command/gradweave-all" validate "${arguments[@]}" \
      --quiet >"$log" 2>&1 </dev/null || status=$?
    case $status in
    0) ;;
    1)
      found="$npu: $(grep -m 1 -E '^  (first difference|counter|the run ends|the timing model)' "$log" | cut -c 3-150)"
      return 0
      ;;
    *)
      found="the validation itself went wrong (exit code $status), see $log"
      return 2
      ;;
    esac
  done < <(runs "$name")
  return 1
}

main timing "$@"
