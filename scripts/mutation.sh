#!/bin/bash
# `make mutation`: how many of the faults put into RTL, compiler and models the tests find. Variables: `make help`.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/bootstrap.sh mutation
configure "$(default_npus)"
args=()
[ -z "${FILES:-}" ] || args+=(--files "$FILES")
args+=(--threshold 95 --jobs "${JOBS:-$(nproc)}")
[ -z "${MUTANT:-}" ] || args+=(--only "$MUTANT")
[ -z "${MUTANTS:-}" ] || args+=(--language "$MUTANTS")
[ -z "${SAMPLE:-}" ] || args+=(--sample "$SAMPLE")
[ -z "${SEED:-}" ] || args+=(--seed "$SEED")
[ -z "${BUDGET:-}" ] || args+=(--budget "$BUDGET")
[ -z "${JSON:-}" ] || args+=(--json "$(realpath -m "$JSON")")
[ -z "${FRESH:-}" ] || args+=(--fresh)
compile isa_generated gw_mutate gw_mutation_score
exec tests/mutation_score/run.sh "$build" "${EXTENT:-full}" "${args[@]}"
