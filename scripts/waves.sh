#!/bin/bash
# `make waves`: the catalog's streams on the RTL against their golden waveforms. scripts/waves.sh [--accept] [STREAM...];
# ACCEPT=1 is --accept. What each option means: docs/waves.md.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh run
configure "$(default_npus)"
compile gw_waves gw_wave_recorders
args=("$@")
[ -z "${ACCEPT:-}" ] || args+=(--accept)
exec "$build/tests/wave/gw_waves" "${args[@]}"
