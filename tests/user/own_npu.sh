#!/bin/bash
# own_npu.sh SOURCE: the command builds an NPU of the user's own when a run needs it, once, and says why if it cannot.
set -euo pipefail
source=$1
unset GRADWEAVE_HOME GRADWEAVE_LIB_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state BUILD=$work/build
cd "$work"

fail() {
  printf 'FAIL: %s\n' "$*" >&2
  exit 1
}

"$source/scripts/build.sh" gradweave
sed 's/^name = .*/name = "own2x3"/; s/^rows = .*/rows = 2/; s/^cols = .*/cols = 3/; s/^bus_bytes = .*/bus_bytes = 4/' \
  "$source/configs/test8.toml" >"an own npu.toml"
printf 'a,20,30,40\n' >layers.csv
cosim=("$BUILD/bin/gradweave" cosim --model layers.csv --npu "an own npu.toml")
"${cosim[@]}" >out 2>errors || fail "exit code $?: $(cat out errors)"
tail -n 1 out | grep -qx PASS || fail "no PASS: $(cat out)"
grep -q "there is no Verilated NPU 'own2x3' yet" errors || fail "a build unannounced: $(cat errors)"
"${cosim[@]}" --fresh >out 2>errors || fail "exit code $? of the second run: $(cat out errors)"
! grep -q building errors || fail "it was built twice: $(cat errors)"

# Devices of a system, whose file is elsewhere, too.
sed -e 's/"own2x3"/"own3x2"/; s/^rows = .*/rows = 3/; s/^cols = .*/cols = 2/' "an own npu.toml" >other.toml
sed -e 's/^npu = .*test4x8.*/npu = "an own npu.toml"/; s/^npu = .*test.*/npu = "other.toml"/' "$source/configs/systems/test2.toml" >own_system.toml
train=("$BUILD/bin/gradweave" train --system own_system.toml --model "$source/tests/cosim/small_conv.graph" --data synthetic --steps 1
  --backend rtl)
"${train[@]}" >out 2>errors || fail "exit code $? of the system: $(cat out errors)"
grep -qx PASS out || fail "no PASS of the system: $(cat out)"
grep -q "there is no Verilated NPU 'own3x2' yet" errors || fail "a build unannounced: $(cat errors)"

# An NPU that no file has.
"${cosim[@]}" --set npu.rows=3 >out 2>errors || fail "exit code $? with --set: $(cat out errors)"
tail -n 1 out | grep -qx PASS || fail "no PASS with --set: $(cat out)"
grep -q "there is no Verilated NPU 'own2x3+rows=3' yet" errors || fail "a build unannounced: $(cat errors)"
"${cosim[@]}" --set npu.rows=3 --fresh >out 2>errors || fail "exit code $? of the second run with --set: $(cat out errors)"
! grep -q building errors || fail "it was built twice with --set: $(cat errors)"

# One of configs/ that no build makes by itself, 256 x 256, and as wide an array as there may be: several blocks and panels.
printf 'blocks,300,520,700\n' >blocks.csv
for npu in tpu1 "test512x16 --set npu.rows=16 --set npu.cols=512"; do
  # shellcheck disable=SC2086 # a name and options
  "$BUILD/bin/gradweave" cosim --model blocks.csv --npu $npu >out 2>errors || fail "exit code $? of $npu: $(cat out errors)"
  tail -n 1 out | grep -qx PASS || fail "no PASS of $npu: $(cat out)"
done

rm "$BUILD/lib/libgradweave_rtl_own2x3.so"
status=0
GRADWEAVE_LIB_DIR=$work "${cosim[@]}" --fresh >out 2>errors || status=$?
[ "$status" = 4 ] || fail "exit code $status instead of 4 for a directory of the user's without the NPU"
grep -q 'NOT RUN' errors || fail "no NOT RUN: $(cat errors)"
