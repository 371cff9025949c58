#!/bin/bash
# Usage: compare.sh STEP_DUMP NETWORK [VARIABLE=VALUE]...: the gradients of a whole step in fp64 against PyTorch's
# autograd, and what rounding costs them beside autocast. Exit status 77, and NOT RUN, without PyTorch.
set -euo pipefail
dump=$1
shift
here=$(dirname "$0")
# shellcheck source=tests/torch/python.sh
source "$here/python.sh"
python=$(find_python)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$dump" "$work" "$@"
"$python" "$here/compare.py" "$work"
"$python" "$here/quantiles.py" "$work"
