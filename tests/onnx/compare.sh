#!/bin/bash
# Usage: compare.sh ONNX_FORWARD GRADWEAVE NETWORK: a network that torch exports, against torch and against ONNX's shape
# inference, and a simulation on two NPUs.
# Exit status 77, and NOT RUN, without torch, torchvision and onnx.
set -euo pipefail
here=$(dirname "$0")
for python in python3 /usr/bin/python3 none; do
  if [ "$python" = none ]; then
    echo "NOT RUN: apt-get install python3-torch python3-torchvision python3-onnx" >&2
    exit 77
  fi
  if "$python" -c 'import torch, torchvision, onnx, numpy' 2>/dev/null; then break; fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$here/compare.py" "$1" "$work" "$3"
files=("$work"/*.onnx) # of several opsets
for npu in small large; do
  began=$SECONDS
  "$2" simulate --model "${files[0]}" --npu "$npu" --quiet --plan-cache off >"$work/simulation" 2>&1 || true
  tail -n 1 "$work/simulation" | grep -qx PASS || { cat "$work/simulation" && exit 1; }
  echo "simulated on $npu in $((SECONDS - began)) s"
done
