#!/bin/sh
# Usage: compare.sh STEP_DUMP NETWORK...: gradients of whole steps in fp64 against PyTorch's autograd.
# Exit status 77, and NOT RUN, without PyTorch.
set -eu
dump=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for network in "$@"; do
  "$dump" "$network" "$work/$(basename "$network")"
done
python3 "$(dirname "$0")/compare.py" "$work"/*
