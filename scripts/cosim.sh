#!/bin/bash
# `make cosim`: builds the gradweave command and the one NPU that is asked for, then runs. Variables: `make help`.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

model=${MODEL:-bert_tiny}
npu=${NPU:-small}
backend=${BACKEND:-rtl}

choose_npu "$npu"

args=(cosim --model "$model" --npu "$npu_argument" --backend "$backend" --trace-dir "$build/trace" --from-make)
add_work_args
[ -z "${DATA:-}" ] || args+=(--data "$DATA")
[ -z "${SEED:-}" ] || args+=(--seed "$SEED")
[ -z "${JOBS:-}" ] || args+=(--jobs "$JOBS")
[ -z "${TRACE:-}" ] || args+=(--trace "$TRACE")
[ -z "${FRESH:-}" ] || args+=(--fresh)
[ -z "${STEP:-}" ] || args+=(--step)
[ -z "${SPARSE:-}" ] || args+=(--sparse-embeddings)
[ -z "${OPERATORS:-}" ] || args+=(--operators "$OPERATORS")
# A script that waits for a verdict, as CI does, must not be told that the run has started: most CI systems set CI.
[ -n "${FOREGROUND:-}${CI:-}" ] || args+=(--background=auto)

scripts/bootstrap.sh run
configure "$npus"
programs=(gradweave)
[ -z "${STEP:-}${HTML:-}" ] || programs+=(gradweave-training)
compile "${programs[@]}"
# All arguments and files are checked before minutes are spent on verilating the NPU.
"$build/bin/gradweave" "${args[@]}" --dry-run
[ "$backend" != rtl ] || compile "gradweave_rtl_$npu_name"
exec "$build/bin/gradweave" "${args[@]}"
