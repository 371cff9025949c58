#!/bin/bash
# `make bench`: simulation speed of the RTL (array alone, whole NPU) and of the timing model, on one thread.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh run
choose_npu flexer5
configure "$npus"
compile gw_bench gradweave_rtl_small gradweave_rtl_large gradweave_rtl_flexer5
exec "$build/bin/gw_bench"
