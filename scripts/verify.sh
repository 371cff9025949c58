#!/bin/bash
# `make verify`: all that judges the project beyond `make test`, step by step; VERIFY="formal waves" picks. A line each; what a
# step printed is in build/verify. Each step is also a target of its own; `broken` is `make waves BROKEN=all`, and `lint` goes file
# by file (UNITY=OFF).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
all=(waves broken formal synth icarus coverage sanitize lint fuzz mutation)
read -r -a steps <<<"${VERIFY:-${all[*]}}"
for step in "${steps[@]}"; do
  [[ " ${all[*]} " == *" $step "* ]] || die "VERIFY: no step '$step'; there are: ${all[*]}"
done

logs=$build/verify
mkdir -p "$logs"
failed=()
for step in "${steps[@]}"; do
  say "$step, see $logs/$step.log"
  begin=$SECONDS
  command=("$step")
  case $step in
  broken) command=(waves BROKEN=all) ;;
  lint) command=(lint UNITY=OFF BUILD="$build/files") ;;
  esac
  if make --no-print-directory "${command[@]}" >"$logs/$step.log" 2>&1; then verdict=pass; else
    verdict=FAIL
    failed+=("$step")
  fi
  printf '%-10s %-4s %6d s\n' "$step" "$verdict" $((SECONDS - begin))
done
[ "${#failed[@]}" -eq 0 ] || die "failed: ${failed[*]}; their output is in $logs"
