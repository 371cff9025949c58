#!/bin/bash
# tests/mutations/run.sh BUILD_DIR apply|all|NAME...      faults that change results, see README.md
source "$(dirname "${BASH_SOURCE[0]}")/mutants.sh"

# checks NAME: what judges a mutant, a line each: `test EXECUTABLE`, `npu NAME` or `layers`. Those of all mutants for the
# unchanged copy.
checks() {
  local name
  if [ "$1" = none ]; then
    for name in "${names[@]}"; do checks "$name"; done | sort -u
  elif [ -n "$(field "$1" test)" ]; then
    echo "test $(field "$1" test)"
  elif [ -n "$(field "$1" npu)" ]; then
    echo "npu $(field "$1" npu)"
  else
    echo layers
  fi
}

targets() {
  local kind what
  while read -r kind what; do
    case $kind in
    test) basename "$what" ;;
    npu) printf '%s\n' gw_random_streams "gradweave_rtl_$what" ;;
    layers) printf '%s\n' gradweave gradweave_rtl_test6x10 ;;
    esac
  done < <(checks "$1") | sort -u
}

# own_test EXECUTABLE LOG: as red(). A failed assertion of the RTL ends a test by SIGABRT.
own_test() {
  local status=0
  (cd "$tree" && timeout 300 "$out/$1"; exit $?) >"$2" 2>&1 </dev/null || status=$?
  case $status in
  0) return 1 ;;
  1 | 134)
    found="$(basename "$1"): $(grep -m 1 -o -E 'Assertion failed in .*|FAILED  \] .*' "$2" | cut -c 1-120)"
    return 0
    ;;
  *)
    found="$1 itself went wrong (exit code $status), see $2"
    return 2
    ;;
  esac
}

# streams NPU LOG: as red().
streams() {
  local status=0
  GRADWEAVE_HOME=$tree GRADWEAVE_LIB_DIR=$out/lib timeout 300 "$out/tests/validate/gw_random_streams" --npu "$1" \
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

# layers LOG: as red().
layers() {
  local log=$1 backend data status
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

# Runs the checks of a mutant until one fails as it should; names it.
red() {
  local kind what status
  while read -r kind what; do
    status=0
    case $kind in
    test) own_test "$what" "$2" || status=$? ;;
    npu) streams "$what" "$2" || status=$? ;;
    layers) layers "$2" || status=$? ;;
    esac
    [ "$status" = 1 ] || return "$status"
  done < <(checks "$1")
  return 1
}

main list "$@"
