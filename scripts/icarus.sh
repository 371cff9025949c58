#!/bin/bash
# `make icarus`: runs of the Verilated NPU again on Icarus Verilog, four-valued, compared in every cycle; the long ones
# too (docs/icarus.md).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh run
configure "$(default_npus)"
compile gw_icarus
ctest --test-dir "$build" -R '^icarus\.' -j "${JOBS:-$(nproc)}" --output-on-failure --progress
