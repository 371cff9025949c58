#!/bin/bash
# `make bench`: simulation speed of the systolic array alone, in MAC/s of one thread.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh run
configure "$(default_npus)"
compile gw_bench_array
exec "$build/bin/gw_bench_array"
