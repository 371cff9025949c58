#!/bin/bash
# `make waves`: the catalog's streams on the RTL against their golden waveforms. scripts/waves.sh [--accept] [STREAM...];
# ACCEPT=1 is --accept. BROKEN=all, or names: instead, the kept examples of registers that are a cycle late. See docs/waves.md.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh run
configure "$(default_npus)"
compile gw_waves gw_wave_recorders
if [ -n "${BROKEN:-}" ]; then
  read -r -a examples <<<"$BROKEN"
  exec tests/trace/wave/broken.sh "$build" "${examples[@]}"
fi
args=("$@")
[ -z "${ACCEPT:-}" ] || args+=(--accept)
exec "$build/tests/trace/wave/gw_waves" "${args[@]}"
