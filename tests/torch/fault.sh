#!/bin/bash
# Usage: fault.sh STEP_DUMP: compare.py must fail when one element of one gradient is a millionth off, quantiles.py when
# gradients under the contract are a fiftieth too large. Exit status 77, and
# NOT RUN, without PyTorch.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/torch/python.sh
source "$here/python.sh"
python=$(find_python)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" "$work" dlrm_block
"$python" "$here/compare.py" "$work"
"$python" - "$work" <<'PYTHON'
import json, pathlib, sys
import numpy
directory = pathlib.Path(sys.argv[1])
gradient = json.loads((directory / "manifest.json").read_text())["gradients"][0]
values = numpy.fromfile(directory / gradient["file"])
values[0] += 1e-6 * numpy.linalg.norm(values)
values.tofile(directory / gradient["file"])
PYTHON
if "$python" "$here/compare.py" "$work"; then
  echo "the fault was not found"
  exit 1
fi
"$1" "$work" gpt_block
"$python" "$here/quantiles.py" "$work"
"$python" - "$work" <<'PYTHON'
import json, pathlib, sys
import numpy
directory = pathlib.Path(sys.argv[1])
for gradient in json.loads((directory / "manifest.json").read_text())["gradients"]:
    values = numpy.fromfile(directory / gradient["contract"])
    (values * 1.02).tofile(directory / gradient["contract"])
PYTHON
if "$python" "$here/quantiles.py" "$work"; then
  echo "the fault was not found"
  exit 1
fi
