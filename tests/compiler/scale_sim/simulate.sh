#!/bin/bash
# Usage: simulate.sh GRADWEAVE DIRECTORY [OPTION...]: counts the cycles of all .csv files there, with the options of
# `gradweave simulate`. Exit code, seconds and file of each; 3 has to be a file with letters for numbers, as the two LSTM
# templates of scale-sim-v2, or a layer that the NPU's memory does not hold.
#
#   git clone https://github.com/scalesim-project/scale-sim-v2
#   tests/compiler/scale_sim/simulate.sh build/bin/gradweave scale-sim-v2/topologies --npu small \
#     --set memory.size_bytes=17179869184
set -euo pipefail
gradweave=$1 directory=$2
shift 2
message=$(mktemp)
trap 'rm -f "$message"' EXIT
passed=0 refused=0 failed=0
while IFS= read -r -d '' file; do
  code=0
  began=$SECONDS
  "$gradweave" simulate --model "$file" --quiet "$@" </dev/null >"$message" 2>&1 || code=$?
  printf '%d %5d s  %s  %s\n' "$code" "$((SECONDS - began))" "$file" "$(grep -m 1 error: "$message" || true)"
  if [ "$code" = 0 ]; then
    passed=$((passed + 1))
  elif [ "$code" = 3 ] && grep -Eq "is not a whole number|bytes of device memory" "$message"; then
    refused=$((refused + 1))
  else
    failed=$((failed + 1))
  fi
done < <(find "$directory" -name '*.csv' -print0 | sort -z)
echo "$passed simulated, $refused refused, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
