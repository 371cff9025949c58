#!/bin/bash
# Usage: check.sh GRADWEAVE FILE_OR_DIRECTORY...: M, K and N of all layers of SCALE-Sim topologies, as gradweave reads
# them, against its own rule (rule.awk). Of directories: all .csv files whose heading has an IFMAP; those with letters
# for numbers, as the two LSTM templates of scale-sim-v2, have to be refused.
#
# All of what is published:
#   git clone https://github.com/scalesim-project/scale-sim-v2
#   tests/compiler/scale_sim/check.sh build/bin/gradweave scale-sim-v2/topologies
set -euo pipefail
gradweave=$1
shift
here=$(dirname "$0")
passed=0 refused=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while IFS= read -r -d '' file; do
  head -n 1 "$file" | grep -qi ifmap || continue
  if ! LC_ALL=C awk -f "$here/rule.awk" "$file" >"$work/rule" 2>"$work/letters"; then
    if "$gradweave" models "$file" >/dev/null 2>"$work/message"; then
      echo "FAIL $file: read, though it has letters for numbers"
      failed=$((failed + 1))
    else
      refused=$((refused + 1))
    fi
    continue
  fi
  "$gradweave" models "$file" >"$work/text" 2>&1 || true
  sed -nE 's/.* M +([0-9]+) +K +([0-9]+) +N +([0-9]+) .*/\1 \2 \3/p' "$work/text" >"$work/ours"
  if [ -s "$work/ours" ] && cmp -s "$work/rule" "$work/ours"; then
    passed=$((passed + 1))
  else
    echo "FAIL $file: $(diff "$work/rule" "$work/ours" | head -n 4 | tr '\n' ';') $(tail -n 1 "$work/text")"
    failed=$((failed + 1))
  fi
done < <(find "$@" -name '*.csv' -print0 | sort -z)
echo "$passed equal to SCALE-Sim's rule, $refused with letters refused, $failed not"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
