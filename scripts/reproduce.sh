#!/bin/bash
# `make reproduce`: builds the gradweave command and, for a sample on it, the small NPU, and repeats a paper's evaluation. Variables:
# `make help`.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

args=(reproduce "${STUDY:-igo}" --out "${OUT:-$build/reproduce}")
[ -z "${FIGURE:-}" ] || args+=(--figure "$FIGURE")
[ -z "${NETWORK:-}" ] || args+=(--network "$NETWORK")
[ -z "${POLICY:-}" ] || args+=(--policy "$POLICY")
[ -z "${SAMPLE:-}" ] || args+=(--sample "$SAMPLE")
[ -z "${SEED:-}" ] || args+=(--seed "$SEED")
[ -z "${JOBS:-}" ] || args+=(--jobs "$JOBS")

scripts/bootstrap.sh run
configure "$(default_npus)"
compile gradweave gradweave-all
# The sample runs on the small NPU; of the memory model and of partitioned training nothing does.
[ "${SAMPLE:-}" = 0 ] || [[ ${STUDY:-} =~ ^(memory|dpt|layerweaver|flexer)$ ]] || compile gradweave_rtl_small
exec "$build/bin/gradweave" "${args[@]}"
