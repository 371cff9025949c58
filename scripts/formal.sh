#!/bin/bash
# `make formal`: all proofs and their mutants, or those of PROOF ("fifo-depth3 mutant:fifo-wrap"), on all cores.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh run
if [ ! -f "$build/generated/gw_isa_pkg.sv" ] || [ isa/isa.toml -nt "$build/generated/gw_isa_pkg.sv" ]; then
  configure "$(default_npus)"
  compile isa_generated
fi
read -r -a names <<<"${PROOF:-all}"
exec formal/run.sh "$build" -j "${JOBS:-$(nproc)}" "${names[@]}"
