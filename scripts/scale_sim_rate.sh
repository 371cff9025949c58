#!/bin/bash
# scripts/scale_sim_rate.sh SCALE_SIM [GRADWEAVE]: two layers of AlexNet, forward, on an output-stationary array of 45 x 45 with 1 MB of scratchpad, by SCALE-Sim v2
# (a directory with its repository) and by gradweave, one after the other: cycles of each layer, wall and CPU seconds from call to end.
# gradweave searches its plans anew. SCALE-Sim is run twice: without limit of bandwidth, which is its way by default (CALC), and with that of `small` (USER).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scale_sim=${1:-} gradweave=${2:-$root/build/bin/gradweave} python=${PYTHON:-/usr/bin/python3}

die() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}
[ -f "$scale_sim/scalesim/scale.py" ] || die "${scale_sim:-the first argument} is no directory with SCALE-Sim (scalesim/scale.py); get SCALE-Sim v2 and name its directory:
  git clone https://github.com/scalesim-project/scale-sim-v2
  scripts/scale_sim_rate.sh scale-sim-v2"
"$python" -c 'import numpy, pandas, tqdm' 2>/dev/null ||
  die "SCALE-Sim needs more of $python: apt-get install python3-numpy python3-pandas python3-tqdm, or name another with PYTHON"
[ -x "$gradweave" ] || die "$gradweave is no program; make simulate builds it, or name another after the directory"
scale_sim=$(realpath "$scale_sim")
gradweave=$(realpath "$gradweave")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Padding is part of the sizes, which is how SCALE-Sim takes it.
cat >alexnet.csv <<'LAYERS'
Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
Conv1, 227, 227, 11, 11, 3, 96, 4,
Conv3, 15, 15, 3, 3, 256, 384, 1,
LAYERS
# It counts in words: 22 GB/s at 1 GHz are 11 words of 2 bytes a cycle; 1 MB are three buffers of 170 k words.
for mode in CALC USER; do
  cat >$mode.cfg <<CONFIG
[general]
run_name = run
[architecture_presets]
ArrayHeight: 45
ArrayWidth: 45
IfmapSramSzkB: 170
FilterSramSzkB: 170
OfmapSramSzkB: 170
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Bandwidth: 11
Dataflow: os
MemoryBanks: 1
[run_presets]
InterfaceBandwidth: $mode
CONFIG
done

row() { printf '%-46s %10s %10s %9s %9s\n' "$@"; }
# timed COMMAND...: leaves wall and CPU seconds in `wall` and `cpu`.
timed() {
  local TIMEFORMAT='%R %U %S' _
  { time "$@" >output 2>&1; } 2>"$work/times" || die "$*: $(tail -n 5 output)"
  read -r wall _ <"$work/times"
  cpu=$(awk '{ printf "%.2f", $2 + $3 }' "$work/times")
}
row "" Conv1 Conv3 "wall, s" "CPU, s"
timed env GRADWEAVE_PLAN_CACHE=off "$gradweave" simulate --model ./alexnet.csv --npu small --pass forward --json report.json
read -r first second < <("$python" -c 'import json; print(*(layer["cycles"] for layer in json.load(open("report.json"))["layers"]))')
row "gradweave, 22 GB/s" "$first" "$second" "$wall" "$cpu"
for mode in CALC USER; do
  timed env PYTHONPATH="$scale_sim" "$python" "$scale_sim/scalesim/scale.py" -c $mode.cfg -t alexnet.csv -p $mode
  read -r -d '' first second < <(awk -F', *' '/^[0-9]/ { print $2 }' $mode/run/COMPUTE_REPORT.csv) || true
  [ -n "$second" ] || die "SCALE-Sim has no cycles of two layers: $(tail -n 5 output)"
  limit="22 GB/s (USER)"
  [ $mode = USER ] || limit="no limit of bandwidth (CALC)"
  row "SCALE-Sim v2, $limit" "$first" "$second" "$wall" "$cpu"
done
