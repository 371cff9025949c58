#!/bin/sh
# Usage: compare.sh STEP_DUMP NETWORK [VARIABLE=VALUE]...: the gradients of a whole step in fp64 against PyTorch's
# autograd. Exit status 77, and NOT RUN, without PyTorch.
set -eu
dump=$1
shift
if ! python3 -c 'import torch' 2>/dev/null; then
  echo "NOT RUN: PyTorch is not installed; apt-get install python3-torch"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$dump" "$work" "$@"
python3 "$(dirname "$0")/compare.py" "$work"
