#!/bin/bash
# `make fuzz`: libFuzzer on the targets of tests/fuzz, one after the other (docs/fuzzing.md).
#   FUZZ_TARGET=    one or more of them; empty: all
#   FUZZ_SECONDS=60 for each target
#   FUZZ_MERGE=     1: add to the kept corpus, instead, the inputs found so far that reach anything new
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh fuzz
directory=$build/fuzz
tests=tests/fuzz
quietly "configuring $directory" cmake -S . -B "$directory" -G Ninja -DCMAKE_CXX_COMPILER="$(clang_with_fuzzer)" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGW_SANITIZE=ON -DGW_FUZZ=ON -DGW_RTL=OFF

known=()
for seeds in "$directory"/fuzz/*.seeds; do known+=("$(basename "$seeds" .seeds)"); done
read -r -a targets <<<"${FUZZ_TARGET:-${known[*]}}"
for target in "${targets[@]}"; do
  [ -f "$directory/fuzz/$target.seeds" ] || die "no fuzz target '$target'; there are: ${known[*]}"
done
quietly "building ${targets[*]}" ninja -C "$directory" "${targets[@]/#/gw_fuzz_}"

# A hang is 10 s on one input, an explosion of memory 1 GB.
limits=(-timeout=10 -rss_limit_mb=1024 -max_len=4096)

# fuzz TARGET: its executions, coverage and finding on a line; returns 1 if there is one.
fuzz() {
  local target=$1 found=$directory/found/$1 log=$directory/$1.log status=0 seeds dictionary=()
  IFS=';' read -r -a seeds <"$directory/fuzz/$target.seeds" || true
  [ ! -f "$tests/dictionaries/$target.dict" ] || dictionary=(-dict="$tests/dictionaries/$target.dict")
  mkdir -p "$found" "$directory/findings"
  "$directory/fuzz/gw_fuzz_$target" "${limits[@]}" "${dictionary[@]}" -max_total_time="${FUZZ_SECONDS:-60}" \
    -print_final_stats=1 -artifact_prefix="$directory/findings/$target-" \
    "$found" "$tests/corpus/$target" "${seeds[@]}" >"$log" 2>&1 || status=$?
  printf '%-14s %10s executions  coverage %6s  %s\n' "$target" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -d ' ' -f 2)" \
    "$([ "$status" -eq 0 ] && echo 'no finding' || echo "FINDING: $log")"
  return "$status"
}

# merge TARGET: few inputs that reach what the kept corpus does not; counts of loops are no reason to keep one.
merge() {
  local target=$1 found=$directory/found/$1 seeds
  IFS=';' read -r -a seeds <"$directory/fuzz/$target.seeds" || true
  [ -d "$found" ] || die "nothing was found for $target yet; run make fuzz TARGET=$target first"
  "$directory/fuzz/gw_fuzz_$target" "${limits[@]}" -set_cover_merge=1 -use_counters=0 "$tests/corpus/$target" \
    "$found" "${seeds[@]}" >"$directory/$target.merge.log" 2>&1
  say "$tests/corpus/$target has $(find "$tests/corpus/$target" -type f | wc -l) inputs"
}

status=0
for target in "${targets[@]}"; do
  if [ -n "${FUZZ_MERGE:-}" ]; then merge "$target"; else
    say "fuzzing $target for ${FUZZ_SECONDS:-60} s"
    fuzz "$target" || status=1
  fi
done
[ "$status" -eq 0 ] || die "the inputs at fault are in $directory/findings; docs/fuzzing.md says what to do with them"
