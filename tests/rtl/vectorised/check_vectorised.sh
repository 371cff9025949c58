#!/bin/bash
# check_vectorised.sh CXX UNIT DIR FLAGS...
# Compiles a Verilated array, or the vector unit, and demands that the compiler reports the loops of its arithmetic as vectorised.
# Without that, simulation is six to eight times slower, and nothing else would say so.
set -euo pipefail
cxx=$1 unit=$2 dir=$3
shift 3

# The loops: the nearest `while` above each line with the canonical NaN, which only the arithmetic has.
file=$(grep -l '0x7fc00000U' "$dir"/*.cpp | head -n 1)
mapfile -t lines < <(awk '/while/ { loop = NR } /0x7fc00000U/ { print loop }' "$file" | sort -nu)
[ ${#lines[@]} -gt 0 ] || { echo "no loop of arithmetic in $dir: did Verilator unroll it?"; exit 1; }

case $("$cxx" --version) in
*clang*) remarks=(-Rpass=loop-vectorize) pattern='vectorized loop' ;;
*) remarks=(-fopt-info-vec) pattern='loop vectorized' ;;
esac
report=$("$cxx" -std=c++17 -w "$@" "${remarks[@]}" -c -o /dev/null "$unit" 2>&1 | grep "$pattern" || true)
name=$(basename "$file")
for line in "${lines[@]}"; do
  # Compilers name the loop's first line or its condition's.
  grep -E "$name:($line|$((line + 1))|$((line - 1))):" <<<"$report" && continue
  echo "$name:$line: this loop of arithmetic is not vectorised by $cxx $*"
  echo "loops that are: $(grep -cE "$name:" <<<"$report" || true)"
  exit 1
done
