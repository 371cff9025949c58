#!/bin/bash
# docs/drawings/draw.sh [DIRECTORY]: draws the house, the NPU and the scratchpad from their sources, there or beside this script.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
to=${1:-$here}
awk -f "$here/house.awk" "$here/../architecture.md" >"$to/house.svg"
awk -f "$here/npu.awk" "$here/npu.txt" >"$to/npu.svg"
awk -f "$here/scratchpad.awk" "$here/scratchpad.txt" >"$to/scratchpad.svg"
