#!/bin/bash
# system_sizes.sh SOURCE: layers of ResNet-50 forward and backward on four near-storage NPUs and one of the host, at the sizes of
# deep partitioned training, in one simulation: all bits, all times. Their RTL is built when the run needs it. Then DLRM on two of them.
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
"$BUILD/bin/gradweave" train --system dpt1x4 --model resnet50 --until conv2_1.sum --loss mse --batch 4 --data synthetic --steps 1 \
  --backend rtl >out 2>errors || fail "exit code $?: $(cat out errors)"
for npu in near32x16 host48x48; do
  grep -q "there is no Verilated NPU '$npu' yet" errors || fail "no build of $npu: $(cat errors)"
done
grep -qx PASS out || fail "no PASS: $(cat out)"
grep -q 'compared   292 tensors, 66,622,401 elements' out || fail "other tensors than expected: $(cat out)"

# DLRM with its table in flash, whose rows are updated there.
"$BUILD/bin/gradweave" train --system recommend --model dlrm_bags --data synthetic --steps 2 --sparse-embeddings --optimizer sgd --momentum 0 \
  --backend rtl >out 2>errors || fail "exit code $?: $(cat out errors)"
grep -qx PASS out || fail "no PASS: $(cat out)"
grep -q 'compared   142 tensors, 38,241,286 elements' out || fail "other tensors than expected: $(cat out)"
