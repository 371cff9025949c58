#!/bin/bash
# drawings.sh ROOT SCRATCH: the drawings of the docs are those of their sources, and the files that they name exist.
set -euo pipefail
root=$1 scratch=$2
failed=0
fail() {
  echo "FAIL $1"
  failed=1
}

mkdir -p "$scratch"
"$root/docs/drawings/draw.sh" "$scratch"
for drawing in house npu scratchpad; do
  cmp "$scratch/$drawing.svg" "$root/docs/drawings/$drawing.svg" || fail "docs/drawings/$drawing.svg is out of date; make docs draws it"
done
mapfile -t names < <(awk '$1 == "box" { gsub(",", "\n", $6); print $6 }' "$root/docs/drawings/npu.txt")
for name in "${names[@]}"; do
  [ -n "$(find "$root/rtl" -name "gw_$name.sv")" ] || fail "docs/drawings/npu.txt: there is no gw_$name.sv in rtl"
done
exit "$failed"
