#!/bin/bash
# `make bench`: simulation speed of the RTL (array alone, whole NPU) and of the timing model, on one thread.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh run
configure "$(default_npus)"
compile gw_bench gradweave_rtl_small gradweave_rtl_large
exec "$build/bin/gw_bench"
